#pragma once
/* A source hands out frames: a camera, a file, a generated scene. It lends each frame in its
 * own layout and memory; the pipeline's conversion to the working layout is the one copy.
 * Context: everything is called by the capture thread, except the first open and the last close
 * (main) and truth (any). */
#include <stdbool.h>

#include "base/error.h"
#include "picture/film_tags.h"
#include "picture/frame.h"
#include "picture/y4m.h"

#define SOURCE_NAME_MAX 1024

struct source_config {
    const char *name;    /* what to open, as given on the command line */
    int width, height;   /* wanted size; 0 = the source's choice */
    struct fraction fps; /* wanted frame rate; 0/0 = the source's choice */
    int format;          /* wanted enum frame_format; -1 = the source's choice */
    int depth;      /* bits of a sample, if it can choose: at most 8, or 0 = all that it has; */
    int live_depth; /* the same where it turns out to be live */
    int threads;    /* that decode a film, at most; 0 = the source's choice */
    bool again;     /* reopening: what differs from the request is not logged */
    bool returns;   /* one that was open before is to come back */
    bool became_interlaced; /* as in struct source, of that */
    int stop_fd; /* readable while read must return -ECANCELED: at a stop, or for a look */
};

struct source {
    const struct source_ops *ops;
    char name[160];               /* in words: "Integrated Camera (/dev/video0)" */
    char reopen[SOURCE_NAME_MAX]; /* what to open if it went and shall come back */
    enum frame_format format;
    int width, height;
    struct colour colour;
    int depth;            /* bits that a sample of 16 has of the source; 0: all, or 8 */
    bool reduced;         /* it has more bits than 8, to which it takes them */
    struct fraction fps;  /* 0/0 where the source does not know */
    struct fraction tick; /* s, of what the frames' t_show_ns are multiples; 0/0: they have none */
    bool live;            /* frames come at their own pace and untaken ones are lost */
    uint64_t n_frames;    /* that there will be, or about as many; 0 = not known */
    uint64_t n_dropped;   /* frames lost before read, so far */
    uint64_t n_bad;       /* damaged frames passed over by read, so far */
    bool became_interlaced; /* since it was first open, which ended it once */
    bool rested;            /* set by the reader: what passed since the last read was not wanted */

    struct film_tags tags; /* of a film */

    /* What else it has that cannot go with its pictures, and why: "sound (...)"; or empty. */
    char left_out[80];

    /* What the header of a y4m file or pipe says; NULL where there is none. */
    const struct y4m_header *y4m;
};

struct source_ops {
    const char *name;
    const char *missing; /* in words, why it is not built in: no function is set then; or NULL */
    bool device;         /* may go and come back: is waited for, and closed while nobody looks */
    bool unannounced;    /* nothing changes in /dev when it comes back */
    bool file;           /* reads what must not be written meanwhile */
    bool films;          /* can choose how many bits the samples have that it gives */
    bool reopens;        /* can take the place of another source while frames flow, if it is live */

    /* -ENOENT, -ENODEV, -EBUSY, -EACCES: the device; -EINVAL: it cannot give what is wanted. */
    int (*open)(struct source **ret, const struct source_config *config, struct error *err);
    void (*close)(struct source *s); /* accepts NULL and what open left half-done */

    /* Waits for the next frame (a live source: the newest) and lends it in @ret until release.
     *   -ENODATA    the end of the stream
     *   -EBADMSG    the stream is broken from here on; what came before was whole
     *   -ECANCELED  stop_fd is readable; once it is not, the next read goes on without a loss
     *   -ETIMEDOUT  a device gave nothing for max(5 frame intervals, 1 s): reopen it
     *   -ENODEV     unplugged     -EIO  broken: reopen it
     * Damaged frames are passed over and counted. @err says more on errors. */
    int (*read)(struct source *s, struct frame *ret, struct error *err);
    void (*release)(struct source *s);

    /* Writes the noise-free picture of frame number @seq to @clean, a frame of the source's
     * format and size. -ENOTSUP where it is not known. */
    int (*truth)(const struct source *s, uint64_t seq, struct frame *clean);
};

extern const struct source_ops source_v4l2;
extern const struct source_ops source_y4m;
extern const struct source_ops source_pattern;
/* Linked only where HAVE_VIDEO is set. */
extern const struct source_ops source_video;
extern const struct source_ops source_network;
/* Linked only where HAVE_PIPEWIRE is set. */
extern const struct source_ops source_pipewire;
extern const struct source_ops source_auto; /* the one of what it opens does the rest */
