#pragma once
/* The second stage: filters, with the radius that the governor allows. Live video has one frame
 * in flight, files as many as the engine takes.
 *
 * The engine sees every frame that gets here, in order and once: filtered, passed or a probe. Where
 * the stream broke between two of them it forgets the first.
 *
 * Where the device fails, the CPU takes over with the frame in hand, and the engine is made again
 * in the background. The same serves to let a GPU sleep while there is nothing to filter: the stage
 * always has an engine that works. */
#include "base/clock.h"
#include "base/flips.h"
#include "engine/engine.h"
#include "filter/governor.h"
#include "filter/thread_count.h"
#include "pipeline/fan.h"
#include "pipeline/restart.h"
#include "pipeline/stream.h"

#define FILTERING_MAX_DEPTH 8
#define FILTERING_REST_NS (30 * NS_PER_S) /* what users get */

struct filtering_config {
    struct engine_config engine;       /* what the engine was made with */
    const struct engine_ops *stand_in; /* takes over when a device fails or rests */
    int64_t rest_ns;                   /* idle time before a device is released */
};

/* A frame inside the stage. */
struct job {
    struct slot *slot;
    int rung;                    /* of the ladder; 0 = it passes */
    struct filter asked, filter; /* what the user wants, and what of it is done */
    int64_t t_start_ns;
    bool submitted; /* the engine has it until it is collected */
    bool probe;     /* filtered to see what that costs, and shown unfiltered */
};

struct filtering {
    struct stream *stream;
    struct engine *engine;
    struct filtering_config config;
    int depth;    /* frames in flight at most */
    void *memory; /* of all slots, which engines pin */
    size_t memory_size;
    const struct engine_ops *lost; /* what another one stands in for, NULL: nothing */
    struct rebuild *rebuild;       /* under way, or NULL */
    struct retry retry;            /* of the engine; of `rebuild` while that is under way */
    struct governor governor;
    struct thread_count threads; /* of an engine that leaves their number to us */
    /* For the log: whether frames pass unfiltered, are filtered each by itself though a mean was
     * asked for, or are averaged without a search for motion. */
    struct flips passing, alone, searchless;
    struct ring *in;
    struct fan *out;
    struct job jobs[FILTERING_MAX_DEPTH]; /* first in, first out */
    int n_jobs;
    unsigned run;                            /* of the newest frame that the engine saw */
    int64_t t_collected_ns;                  /* when the engine gave back its last one */
    int64_t t_done_ns;                       /* when the frame before was done */
    struct slot *spare[FILTERING_MAX_DEPTH]; /* to exchange for captured ones */
    int n_spare;
};

/* @engine is the stage's from now on and filters for the source that @stream describes. Context:
 * main. */
void filtering_open(struct filtering *f, struct stream *stream, struct engine *engine,
                    const struct filtering_config *config);
void filtering_close(struct filtering *f);

/* Gives the stage its ring and its fan, and as many @slots as its depth; @memory is that of all
 * slots, which engines pin. Context: main, before the thread starts. */
void filtering_connect(struct filtering *f, struct ring *in, struct fan *out, struct slot *slots,
                       void *memory, size_t bytes);

/* The thread. */
void *filtering_run(void *filtering);
