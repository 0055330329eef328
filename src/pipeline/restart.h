#pragma once
/* Makes an engine in a thread of its own while another one filters: after the device failed, or
 * when a GPU that was released is needed again. What fails is retried, after pauses that
 * double up to a minute, until it works or is given up. */
#include "base/retry.h"
#include "engine/engine.h"

struct rebuild_config {
    struct engine *remains; /* what failed, to be destroyed first; NULL: begin at once */
    const struct engine_ops *ops;
    struct engine_config engine;
    void *memory; /* to pin; lives longer than the engine */
    size_t bytes;
    struct retry *retry; /* the thread's until rebuild_stop() */
};

struct rebuild;

/* -ENOMEM, -EAGAIN: no thread. */
int rebuild_start(struct rebuild **ret, const struct rebuild_config *config);

/* The engine, which is the caller's from now on, or NULL while there is none. Does not wait. */
struct engine *rebuild_take(struct rebuild *r);

/* Accepts NULL. Waits for an attempt under way; destroys what was not taken. */
void rebuild_stop(struct rebuild *r);
