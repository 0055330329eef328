#pragma once
/* An engine in a process of its own, for a device that its driver refuses to this process for good.
 *
 * The process is this program, started again under another name, with one engine of its table in
 * it. Pictures go there and back through shared memory, one at a time; orders and answers through
 * a socket, whose end is also the end of the process. Whatever happens to it, the functions here
 * come back within seconds, with -EIO.
 *
 * Each kind of engine that is to run so has operations of its own: the functions below, its name,
 * by which the process finds it in the table, and a `create` that calls the one below. One that has
 * no past does not pass and forget across the border, but nothing, as it does at home. What it
 * reports comes with each picture. */
#include "engine/engine.h"

/* How long the process may take, beyond which it is given up. Time in which its owner is stopped,
 * as by Ctrl-Z, does not count. */
struct engine_process_limits {
    int first_ms;  /* to start, and for its first frame */
    int answer_ms; /* for each frame after that */
};

extern const struct engine_process_limits engine_process_limits; /* the usual ones */

/* -ENOMEM, -ENODEV, -EIO, or what the engine's own `create` answers in the process. */
int engine_process_create(struct engine **ret, const struct engine_ops *ops,
                          const struct engine_config *config,
                          const struct engine_process_limits *limits, struct error *err);
void engine_process_destroy(struct engine *e);
int engine_process_pin(struct engine *e, void *memory, size_t bytes);
void engine_process_unpin(struct engine *e, void *memory);
int engine_process_submit(struct engine *e, const struct frame *in, struct frame *out,
                          const struct filter *filter);
int engine_process_collect(struct engine *e);
int engine_process_pass(struct engine *e, const struct frame *in);
void engine_process_forget(struct engine *e);
void engine_process_report(struct engine *e, struct engine_report *ret);

/* The work of such a process with one of @engines, NULL at their end, until its owner is gone: the
 * exit status. -1: this is an ordinary start of the program. Context: first of all in main. */
int engine_process_main(const struct engine_ops *const *engines, int argc, char **argv);
