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

#include "base/error.h"
#include "filter/filter.h"
#include "pipeline/stats.h"

/* What a change of live keys can touch. */
struct filter_request {
    struct filter filter;
    int64_t latency_budget; /* ns, BUDGET_OFF or BUDGET_AUTO */
    int radius_min;
    double cost[FILTER_MAX_RADIUS + 1]; /* of a frame at each radius, as in the governor's config */
};

/* Why there is no picture; of several reasons the last one counts. */
enum stream_state {
    STREAM_RUNS,
    STREAM_STARTS, /* the camera has been opened, or is about to be */
    STREAM_LOST,   /* the camera is not there, or gives nothing */
    STREAM_IDLE,   /* nobody looks at the virtual camera */
    STREAM_PAUSED, /* the user said so */
    STREAM_ASLEEP, /* the machine goes to sleep */
};

/* "running", "starting", "no camera", "idle", "paused", "asleep" */
const char *stream_state_name(enum stream_state state);

struct shared {
    int stop_fd; /* main's eventfd, readable once the stages shall end */
    int done_fd; /* eventfd, readable once the output stage has ended */
    int wake_fd; /* eventfd: the capture stage shall look at what is wanted */
    int news_fd; /* eventfd: the state or a live setting changed, or a snapshot is written */
    bool live;
    int64_t interval_ns; /* of the source as announced; 0 = unknown */
    uint64_t max_frames; /* 0 = no limit */
    struct stats_recorder *stats;

    pthread_mutex_t lock; /* guards the rest */
    struct filter_request request;
    bool unwatched, paused, asleep; /* reasons to release the camera */
    unsigned device_news;           /* changes in /dev so far */
    enum stream_state state;
    int64_t t_ended_ns;  /* when it last was not STREAM_RUNS any more; pictures of before are old */
    char reason[160];    /* why the camera is lost */
    char no_output[160]; /* why the virtual camera is; empty: it is not */
    int readers;         /* of the virtual camera; -1 = not known */
    uint64_t n_rounds;   /* of the output stage: it is alive while this grows */
    int64_t other_ns;    /* newest added latency less what filtering takes, also of frames before */
    int64_t camera_ns;   /* the camera's own delay as it was known for that */
    int64_t budget_ns;   /* the added latency that is held; 0 = none */
    char engine[16], device[128]; /* what filters now */
    int result;                   /* first error of the run */
};

/* Makes the lock and the eventfds but stop_fd. A negative errno on failure, which leaves nothing
 * to finish. */
int shared_init(struct shared *s, int stop_fd);
void shared_finish(struct shared *s);

/* Sets one of the reasons to release the camera, &s->paused for one, and wakes the capture stage
 * if that is a change. Context: any thread. */
void shared_hold(struct shared *s, bool *reason, bool on);

/* A device came, went or changed: whoever waits for one tries at once. Context: any thread. */
void shared_devices_changed(struct shared *s);

/* Context: the capture thread; @reason may be NULL. */
void shared_set_state(struct shared *s, enum stream_state state, const char *reason);
enum stream_state shared_state(struct shared *s);

/* Logs and keeps the first error of the run. Context: any thread. */
void shared_fail(struct shared *s, int code, const struct error *err);

/* Asks all stages to end. What they have not begun is not shown any more. Context: any thread. */
void shared_stop(struct shared *s);
bool shared_stopping(const struct shared *s);
