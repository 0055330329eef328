#pragma once
/* The third stage: writes to the sinks, keeps the readers of a virtual camera going while there
 * is nothing new, notices whether there are any, and counts. */
#include <pthread.h>
#include <stdatomic.h>

#include "picture/snapshot.h"
#include "pipeline/outlet.h"
#include "pipeline/ring.h"
#include "pipeline/trace.h"
#include "source/source.h"

#define OUTPUT_MAX_SINKS 2

/* A snapshot that somebody waits for. */
struct snapshot_request {
    bool asked;       /* main's own, until it has told what came of it */
    int64_t t_end_ns; /* main's own; no frame is waited for any longer */
    atomic_bool wanted;
    pthread_mutex_t lock; /* guards `wanted` becoming false, and what follows */
    char name[SNAPSHOT_NAME_MAX + 1];
    struct snapshot *snapshot; /* once it is taken */
    int result;
};

struct output {
    struct stream *stream;
    struct outlet outlets[OUTPUT_MAX_SINKS]; /* the first is the one that counts */
    int n_outlets;
    struct ring *in;
    struct slot *slot;        /* taken last */
    const struct frame *last; /* its picture while that can be shown again, or NULL */
    uint64_t n_shown;

    bool on_demand;       /* the camera is released while nobody reads */
    bool logged_unknown;  /* that it cannot be known */
    int64_t t_watched_ns; /* when somebody last did, as far as is known */
    struct snapshot_request request;

    struct trace *trace;               /* or NULL */
    const struct source *truth_source; /* NULL: the clean picture is not known */
    struct frame truth, truth_raw;     /* in the working layout; as the source gives it */
};

/* -ENOMEM. Context: main, before all else. */
int output_init(struct output *o, struct stream *stream);

/* Adds a sink; @wait as for outlet_open(). Context: main. */
int output_open(struct output *o, const struct sink_ops *ops, const struct sink_config *config,
                bool wait, struct error *err);

/* Makes the stage measure the filter's gain where @source knows its clean picture; only the
 * source's `truth` is called then. Context: main, before the thread starts. */
int output_measure(struct output *o, const struct source *source, struct error *err);

/* Makes the stage release the camera while nobody reads the first sink. Context: main, before the
 * thread starts, as for the next two. */
void output_release_unread(struct output *o);

/* Makes the stage write one line of CSV per frame to the file at @path; see trace.h. */
int output_trace(struct output *o, const char *path, struct error *err);

/* Gives the stage the ring that it empties, and a slot to begin with. */
void output_connect(struct output *o, struct ring *in, struct slot *slot);

/* Begins to write the next frame, before and after, to files; @name as for snapshot_start().
 * -EINVAL: that is no name for it. -EBUSY: another one is being written. Context: main, as for the
 * next. */
int output_snapshot(struct output *o, const char *name, struct error *err);

/* What came of it, told once, @path and errors as by snapshot_finish(); -EINPROGRESS: nothing yet,
 * or nothing was asked for. -EAGAIN: there are no pictures now, which nothing announces; all
 * else is announced by STREAM_EVENT_CHANGE. */
int output_snapshot_result(struct output *o, char *path, size_t size, struct error *err);

/* The stage is left to itself: what is in the trace is written as far as it goes. Context: any
 * thread. */
void output_abandon(struct output *o);

/* Returns the first error of closing, which has been logged, or 0. */
int output_close(struct output *o);

/* The thread. */
void *output_run(void *output);
