#pragma once
/* The third stage: the outputs, each a writer with a thread of its own, and what they share.
 * Context: main. */
#include "pipeline/tally.h"
#include "pipeline/writer.h"

#define OUTPUT_MAX_WRITERS FAN_MAX_READERS

_Static_assert(OUTPUT_MAX_WRITERS <= STREAM_MAX_OUTPUTS, "each has its place in the status");

struct output {
    struct tally tally;
    struct writer writers[OUTPUT_MAX_WRITERS];
    int n_writers;
};

/* -ENOMEM. To be called before all else. */
int output_init(struct output *o, struct stream *stream);

/* Adds a sink; @wait as for outlet_open(). */
int output_open(struct output *o, const struct sink_ops *ops, const struct sink_config *config,
                bool wait, struct error *err);

/* Gives the stage the fan that it empties. */
void output_connect(struct output *o, struct fan *in);

/* Returns the first error of closing, which has been logged, or 0. */
int output_close(struct output *o);
