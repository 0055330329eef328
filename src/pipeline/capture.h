#pragma once
/* The first stage: takes pictures from the source and brings them to the working layout.
 *
 * A camera is released while there is a reason to (paused, nobody looks, the machine sleeps), and
 * one that went is opened again until it is back, after pauses that double and that end at once
 * when a device comes or is released. The picture keeps the size that it had first, whatever comes
 * back: all that is behind this stage does not notice. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "filter/camera_delay.h"
#include "picture/convert.h"
#include "picture/scale.h"
#include "picture/stretch.h"
#include "pipeline/ring.h"
#include "pipeline/stream.h"
#include "source/source.h"
#include "v4l2/device_retry.h"

/* What to take pictures from. */
struct capture_request {
    const struct source_ops *ops;
    char name[SOURCE_NAME_MAX];
    int width, height;               /* 0 = the source's choice */
    struct fraction fps;             /* 0/0 = the source's choice */
    int format;                      /* enum frame_format; -1 = the source's choice */
    int depth, live_depth;           /* as in struct source_config */
    int threads;                     /* likewise */
    int levels[2];                   /* as in struct stretch */
    const struct jpeg_device *jpegs; /* NULL: the CPU decodes all */
};

struct capture {
    struct stream *stream;
    struct ring *out;
    struct slot *slot; /* to fill next */
    unsigned run;      /* another number after each break of the stream */

    /* What it was like when it was opened first, or shall be; it stays so for all that follows. */
    char name[160];
    enum frame_format format; /* of the source */
    struct frame picture;     /* of the slots: working layout and size, no planes */
    struct fraction fps;

    struct capture_request request;
    pthread_mutex_t lock;                /* guards the two below */
    struct capture_request next_request; /* to be taken over */
    bool has_next_request;

    int wait_fd;                 /* epoll: a stop, a wake-up, and @retry.release */
    struct source *source;       /* NULL while it is closed */
    struct camera_delay delay;   /* of the source */
    bool became_interlaced;      /* as in struct source */
    char found[SOURCE_NAME_MAX]; /* the camera that was opened; empty: none yet */
    struct mjpeg *mjpeg;         /* NULL until a camera gives MJPG */
    bool direct;                 /* pictures need no more than to be decoded or converted */
    struct frame scratch;        /* else: in the source's size; owns its memory */
    struct scaler *scaler;       /* and from there to the slot's */
    struct stretch stretch;      /* of what is in the slot */

    enum stream_state state; /* as published */
    bool lost;               /* from the first trouble until pictures come again */
    int64_t t_lost_ns;
    struct device_retry retry; /* of a lost source */
    int64_t t_whole_ns;        /* when the last whole picture came, or the source was opened */
    uint64_t n_delivered, n_bad_jpegs, n_reconnects;
    uint64_t n_dropped_before, n_bad_before; /* by sources that were opened again */
};

/* Opens the source and tells @stream what it is like. @wait: a device that is not there is waited
 * for in the thread, with a picture of the size that is asked for. Context: main. */
int capture_open(struct capture *c, struct stream *stream, const struct capture_request *request,
                 bool wait, struct error *err);
void capture_close(struct capture *c);

/* Gives the stage the ring that it fills, and a slot to begin with. Context: main, before the
 * thread starts. */
void capture_connect(struct capture *c, struct ring *out, struct slot *slot);

/* Releases the source and takes another live one. Context: any thread. */
void capture_change(struct capture *c, const struct capture_request *request);

/* The thread. */
void *capture_run(void *capture);
