#pragma once
/* A sink takes filtered frames: a virtual camera, a window, a file, nothing.
 * Context: open and close by main, write by its output's thread. A sink that needs a thread of
 * its own (the preview) starts it in open and never lets write wait for it. */
#include <stdbool.h>

#include "base/error.h"
#include "picture/film_tags.h"
#include "picture/frame.h"
#include "picture/y4m.h"
#include "settings/status.h"

/* What a sink with a user in front of it can ask and do. */
struct sink_control {
    void *user;
    /* Context: any thread; waits for nothing. */
    void (*status)(void *user, struct status *ret);
    /* Moves the live setting called @key by @steps of a size of its own, within what is allowed,
     * or of a choice to the next one, and says the new value in @text ("radius 6"). Context: any
     * thread. */
    void (*adjust)(void *user, const char *key, int steps, char *text, size_t size);
    /* Switches the filter in time off, or back to what it was, and says so ("temporal 16").
     * Context: any thread. */
    void (*toggle_time)(void *user, char *text, size_t size);
    /* The user ends the program. Context: any thread. */
    void (*quit)(void *user);
};

struct sink_config {
    const char *name;     /* what to open, as given on the command line */
    const char *instance; /* which of several bilatcams this is, "" = the only one */
    struct frame picture; /* format, size and colour of the frames to come; no planes */
    int format;           /* wanted enum frame_format of the output; -1 = the sink's choice */
    int depth;            /* as in struct source, of pictures of 16 bits */
    bool unstretched;     /* grey of more than 8 bits, of which nobody chose levels or bits */
    struct fraction fps;  /* 0/0 = unknown */
    bool pace;            /* frames come as fast as they can: the sink keeps the rate */
    int stop_fd;          /* readable once write must not wait any more */
    bool alone;           /* there is no other output: without this one nothing is seen */
    bool single_taken;    /* another output is of a kind of which a run has one */
    const struct sink_control *control; /* lives longer than the sink */
    const struct y4m_header *y4m;       /* of the source, for open alone; or NULL */
    const char *film; /* the file that the source reads, for what else is in it; or NULL */
    const struct film_tags *tags; /* of the source, for open alone; or NULL */
    const char *left_out;         /* as in struct source; or NULL */
    struct fraction tick; /* of what the frames' t_show_ns are multiples; 0/0: they have none */
    int threads;          /* that encode, at most; 0 = the sink's choice */
    const char *encoder;  /* "NAME[:OPTIONS]"; "auto" or NULL = the sink's choice */
};

struct sink {
    const struct sink_ops *ops;
    char name[160];       /* in words: "bilatcam (/dev/video20)" */
    struct frame picture; /* format, size, colour and strides that write wants; no planes */
};

struct sink_ops {
    const char *name;
    const char *missing; /* in words, why it is not built in: nothing else is set then; or NULL */
    bool device;         /* what fails may work again later */
    bool unannounced;    /* of which no change in /dev tells */
    bool single;         /* a run has no two of it */
    bool virtual_camera; /* other programs take pictures from it, and expect some at all times */
    bool card;           /* write takes the card (picture/card.h), too, while nothing comes */
    bool compare;        /* write wants the picture before the filter, too */
    bool finishes;       /* close makes a file whole, which takes a while */
    bool discards;       /* nobody gets to see what it takes */

    /* Whether open would choose more than 8 bits for a sample of such pictures, going by `name`,
     * `picture`, `format`, `pace` and `encoder` alone. NULL: never. */
    bool (*words)(const struct sink_config *config);

    int (*open)(struct sink **ret, const struct sink_config *config, struct error *err);

    /* Takes one frame laid out as `picture` says (rows packed where strides are packed there);
     * samples and counts are the caller's again on return. @before is the same picture unfiltered
     * and laid out alike; NULL where the sink does not `compare`, and for cards. 0; -EPIPE: the
     * reader closed; -ENOSPC; -EIO; -ENODEV; -ECANCELED: stopped while it kept pace. */
    int (*write)(struct sink *s, const struct frame *f, const struct frame *before,
                 struct error *err);

    /* Programs that take pictures from it now; -1: cannot be told. Of a virtual camera only. */
    int (*readers)(struct sink *s);

    /* Flushes and closes. An error here means that something written before is lost. */
    int (*close)(struct sink *s, struct error *err);
};

extern const struct sink_ops sink_v4l2loopback;
extern const struct sink_ops sink_auto;     /* opens a sink of others; linked as the next */
extern const struct sink_ops sink_pipewire; /* linked only where HAVE_PIPEWIRE is set */
extern const struct sink_ops sink_preview;  /* linked only where HAVE_PREVIEW is set */
extern const struct sink_ops sink_y4m;
extern const struct sink_ops sink_null;
extern const struct sink_ops sink_video; /* linked only where HAVE_VIDEO is set */
