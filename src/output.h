#pragma once
/* The third stage: writes to the sinks, keeps the readers of a virtual camera going while there
 * is nothing new, and counts. */
#include <stdio.h>

#include "ring.h"
#include "sink.h"
#include "source.h"
#include "stage.h"

#define OUTPUT_MAX_SINKS 2

/* A sink and what is needed to feed it. */
struct outlet {
    struct sink *sink;
    struct frame scratch, scratch_before; /* in the sink's layout */
    void *scratch_memory;                 /* of both */
};

struct output {
    struct shared *shared;
    struct outlet outlets[OUTPUT_MAX_SINKS];
    int n_outlets;
    struct ring *in;
    struct slot *slot; /* shown last */

    FILE *trace; /* or NULL */
    const char *trace_path;
    const struct source *truth_source; /* NULL: the clean picture is not known */
    struct frame truth, truth_raw;     /* in the working layout; as the source gives it */
};

/* Adds a sink. Context: main. */
int output_open(struct output *o, const struct sink_ops *ops, const struct sink_config *config,
                struct error *err);

/* Makes the stage measure the filter's gain where @source knows its clean picture; only the
 * source's `truth` is called then. Context: main, before the thread starts. */
int output_measure(struct output *o, const struct source *source, struct error *err);

/* Makes the stage write one line of CSV per frame to the file at @path, which stays the
 * caller's. */
int output_trace(struct output *o, const char *path, struct error *err);

/* Returns the first error of closing, which has been logged, or 0. */
int output_close(struct output *o);

/* The thread. */
void *output_run(void *output);
