#pragma once
/* What the three stages of the pipeline share beside the rings between them. Each stage is a
 * thread that owns one end: capture.h the source, filtering.h the engine and the governor,
 * output.h the sinks.
 *
 * The stream ends from the front: capture closes its ring and leaves, filtering empties that,
 * closes the next and leaves, output empties that and tells main through done_fd. A stage that
 * fails records why, closes the rings on its sides and asks for a stop, which ends the others. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "filter.h"
#include "stats.h"

/* What a change of live keys can touch. */
struct wishes {
    struct filter filter;
    int64_t latency_budget; /* ns, BUDGET_OFF or BUDGET_AUTO */
    int radius_min;
};

struct shared {
    int stop_fd; /* main's eventfd, readable once the stages shall end */
    int done_fd; /* eventfd, readable once the output stage has ended */
    bool live;
    int64_t interval_ns; /* of the source as announced; 0 = unknown */
    uint64_t max_frames; /* 0 = no limit */
    struct stats_recorder *stats;

    pthread_mutex_t lock; /* guards the rest */
    struct wishes wishes;
    int64_t other_ns;  /* newest latency less what filtering takes, of it and of those before */
    int64_t budget_ns; /* the latency that is held; 0 = none */
    char engine[16], device[128]; /* what filters at present */
    bool source_lost;             /* capture waits for the camera to come back */
    int result;                   /* first error of the run */
};

/* Logs and keeps the first error of the run. Context: any thread. */
void shared_fail(struct shared *s, int code, const struct error *err);

/* Asks all stages to end. What they have not begun is not shown any more. Context: any thread. */
void shared_stop(struct shared *s);
bool shared_stopping(const struct shared *s);
