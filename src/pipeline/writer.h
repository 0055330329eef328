#pragma once
/* One of the outputs: a sink and the thread that writes to it, so that what holds up one holds up
 * nothing else. It takes the next slot from the fan, keeps the readers of a virtual camera going
 * while there is nothing new, and tells what all outputs share (tally.h) what it did.
 * Context: its thread, once that runs. */
#include "pipeline/outlet.h"
#include "pipeline/tally.h"

struct writer {
    struct tally *tally;
    struct outlet outlet;
    int number;               /* as a reader of the fan, and of its output in the stream */
    bool wants_card;          /* while there are no pictures */
    struct slot *slot;        /* taken last */
    const struct frame *last; /* its picture while that can be shown again, or NULL */
    uint64_t n_written;       /* frames */
    bool logged_unknown;      /* that nobody knows of its readers */
};

/* @w is zero; @number: among the outputs, in order. Others as for outlet_open(). Context: main. */
int writer_open(struct writer *w, struct tally *tally, int number, const struct sink_ops *ops,
                const struct sink_config *config, bool wait, struct error *err);

/* The thread. */
void *writer_run(void *writer);
