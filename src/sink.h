#pragma once
/* A sink takes filtered frames: a virtual camera, a window, a file, nothing.
 * Context: open and close by main, write by the output thread. A sink that needs a thread of
 * its own (the preview) starts it in open and never lets write wait for it. */
#include <stdbool.h>

#include "error.h"
#include "frame.h"

struct sink_config {
    const char *name;     /* what to open, as given on the command line */
    struct frame picture; /* format, size and colour of the frames to come; no planes */
    int format;           /* wanted enum frame_format of the output; -1 = the sink's choice */
    struct fraction fps;  /* 0/0 = unknown */
    bool pace;            /* frames come as fast as they can: the sink keeps the rate */
    int stop_fd;          /* readable once write must not wait any more */
    int quit_fd;          /* an eventfd the sink writes to when its user ends the program */
};

struct sink {
    const struct sink_ops *ops;
    char name[160];       /* in words: "bilatcam (/dev/video20)" */
    struct frame picture; /* format, size, colour and strides that write wants; no planes */
    bool hold;            /* readers expect frames at all times: repeat the last one */
};

struct sink_ops {
    const char *name;
    int (*open)(struct sink **ret, const struct sink_config *config, struct error *err);

    /* Takes one frame laid out as `picture` says (rows packed where strides are packed there);
     * the samples are the caller's again on return. 0; -EPIPE: the reader closed; -ENOSPC;
     * -EIO; -ENODEV; -ECANCELED: stopped while it kept pace. */
    int (*write)(struct sink *s, const struct frame *f, struct error *err);

    /* Flushes and closes. An error here means that something written before is lost. */
    int (*close)(struct sink *s, struct error *err);
};

extern const struct sink_ops sink_v4l2loopback;
extern const struct sink_ops sink_preview; /* linked only where HAVE_PREVIEW is set */
extern const struct sink_ops sink_y4m;
extern const struct sink_ops sink_null;
