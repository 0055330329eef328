#pragma once
/* The first stage: takes pictures from the source, brings them to the working layout, and opens
 * a camera that went again until it is back. */
#include <stdbool.h>
#include <stdint.h>

#include "convert.h"
#include "ring.h"
#include "source.h"
#include "stage.h"

struct capture {
    struct shared *shared;
    struct source *source; /* NULL while the camera is gone */
    struct source_config config;
    char name[SOURCE_NAME_MAX]; /* config.name from the first reopening on */
    struct mjpeg *mjpeg;        /* NULL unless the camera gives MJPG */
    struct ring *out;
    struct slot *slot; /* to fill next */
    bool lost;         /* from the first trouble until pictures come again */
    int64_t wait_ns;   /* before the next attempt to open it */
    uint64_t n_delivered, n_bad_jpegs, n_reconnects;
    uint64_t n_dropped_before, n_bad_before; /* by sources that were opened again */
};

/* Opens the source and tells @shared what it is like. @c->shared is set. Context: main. */
int capture_open(struct capture *c, const struct source_ops *ops,
                 const struct source_config *config, struct error *err);
void capture_close(struct capture *c);

/* The thread. */
void *capture_run(void *capture);
