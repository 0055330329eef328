#pragma once
/* The three stages of the pipeline, each a thread that owns one end of it: capture the source,
 * filter the engine and the governor, output the sinks. What they share is `struct shared` and
 * the rings between them.
 *
 * The stream ends from the front: capture closes its ring and leaves, filter empties that,
 * closes the next and leaves, output empties that and tells main through done_fd. A stage that
 * fails records why, closes the rings on its sides and asks for a stop, which ends the others. */
#include <pthread.h>

#include "config.h"
#include "convert.h"
#include "engine.h"
#include "governor.h"
#include "ring.h"
#include "sink.h"
#include "source.h"
#include "stats.h"

#define STAGE_MAX_DEPTH 8 /* frames that an engine is given at once */
#define STAGE_MAX_SINKS 2

/* What a change of live keys can touch. */
struct wishes {
    struct filter filter;
    int64_t latency_budget; /* ns, BUDGET_OFF or BUDGET_AUTO */
    int radius_min;
};

struct shared {
    int stop_fd; /* eventfd, readable once the stages shall end */
    int done_fd; /* eventfd, readable once the output stage has ended */
    bool live;
    int64_t interval_ns; /* of the source as announced; 0 = unknown */
    uint64_t max_frames; /* 0 = no limit */
    struct stats_recorder *stats;

    pthread_mutex_t lock; /* guards the rest */
    struct wishes wishes;
    int64_t other_ns; /* newest latency less its filter time */
    bool source_lost; /* capture waits for the camera to come back */
    int result;       /* first error of the run */
};

/* Logs and keeps the first error of the run. Context: any thread. */
void shared_fail(struct shared *s, int code, const struct error *err);

/* Asks all stages to end. Context: any thread. */
void shared_stop(struct shared *s);

struct capture {
    struct shared *shared;
    struct source *source; /* NULL while the camera is gone */
    struct source_config config;
    struct mjpeg *mjpeg;
    struct ring *out;
    struct slot *slot; /* to fill next */
    uint64_t n_delivered, n_bad_jpegs, n_reconnects;
    uint64_t n_dropped_before, n_bad_before; /* by sources that were opened again */
};

/* Opens the source and tells @shared what it is like. Context: main. */
int capture_open(struct capture *c, const struct source_ops *ops,
                 const struct source_config *config, struct error *err);
void capture_close(struct capture *c);
void *capture_run(void *capture);

/* A frame inside the filter stage. */
struct job {
    struct slot *slot;
    struct filter filter;
    int64_t t_start_ns;
    bool submitted; /* else it needs no engine, or no more */
};

struct filtering {
    struct shared *shared;
    struct engine *engine;
    struct engine_config config;
    int depth; /* frames in flight at most */
    struct governor governor;
    struct ring *in, *out;
    struct job jobs[STAGE_MAX_DEPTH]; /* first in, first out */
    int n_jobs;
    struct slot *spare[STAGE_MAX_DEPTH]; /* to exchange for captured ones */
    int n_spare;
};

int filtering_open(struct filtering *f, const char *engine, const struct engine_config *config,
                   struct error *err);
void filtering_close(struct filtering *f);
void *filtering_run(void *filtering);

/* A sink and what is needed to feed it. */
struct outlet {
    struct sink *sink;
    struct frame scratch; /* in the sink's layout */
    void *scratch_memory;
};

struct output {
    struct shared *shared;
    struct outlet outlets[STAGE_MAX_SINKS];
    int n_outlets;
    struct ring *in;
    struct slot *slot; /* shown last */

    const struct source *truth_source; /* NULL: the clean picture is not known */
    struct frame truth, truth_raw;     /* in the working layout; as the source gives it */
};

/* Adds a sink. Context: main. */
int output_open(struct output *o, const struct sink_ops *ops, const struct sink_config *config,
                struct error *err);

/* Makes the stage measure the filter's gain where @source knows its clean picture. */
int output_measure(struct output *o, const struct source *source, struct error *err);

/* Returns the first error of closing, which has been logged, or 0. */
int output_close(struct output *o);
void *output_run(void *output);
