#pragma once
/* A connection to PipeWire's daemon, and the thread that serves it. What it calls back runs in that
 * thread, with the loop locked; others lock the loop for each call of the library.
 * Context: one thread, which may be another one each time, where nothing else is said. */
#include <stdbool.h>

#include <pipewire/pipewire.h>

#include "base/clock.h"
#include "base/error.h"

#define PIPEWIRE_NODE_NAME "bilatcam"     /* of our own cameras, or begins it, before a point */
#define PIPEWIRE_ANSWER_NS (5 * NS_PER_S) /* the daemon answers within milliseconds */

struct pipewire_connection {
    struct pw_thread_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct spa_hook listener;
    int event_fd;             /* rung when there is something new to look at */
    bool lost;                /* the daemon has gone; guarded by the loop's lock */
    int answered;             /* the last question that it answered; likewise */
    struct spa_source *drain; /* an event of the loop, to know that it came so far */
    bool drained;             /* it did; guarded by the loop's lock */
};

/* Whether the environment says where the daemon's socket is. */
bool pipewire_has_folder(void);

/* @c: event_fd -1, the rest zeros. pipewire_disconnect is to follow even where this fails. -ENODEV:
 * no daemon runs. */
int pipewire_connect(struct pipewire_connection *c, struct error *err);

/* Destroys @stream, the only one, not with the loop locked. The library's threads have the loop
 * call functions with the bare stream, which may be late; so the loop is stopped first, and nothing
 * is called back after this. */
void pipewire_end_stream(struct pipewire_connection *c, struct pw_stream *stream);

/* Nothing may be left of what was made with it. Does nothing to what was never connected. */
void pipewire_disconnect(struct pipewire_connection *c);

void pipewire_lock(struct pipewire_connection *c);
void pipewire_unlock(struct pipewire_connection *c);

/* Waits until the event is rung, which this takes back, not with the loop locked. -ECANCELED:
 * @stop_fd is readable. -ETIMEDOUT: nothing came until @t_ns. */
int pipewire_wait(struct pipewire_connection *c, int stop_fd, int64_t t_ns);

/* Waits until the daemon has told all that it was asked before, not with the loop locked.
 * -ECANCELED as above; -ETIMEDOUT: it does not answer; -ENODEV: it has gone. */
int pipewire_round_trip(struct pipewire_connection *c, int stop_fd, struct error *err);

/* The error of a daemon that takes the connection, and says no more. */
int pipewire_silent(struct error *err);

/* That of a daemon that took the connection, and has gone. */
int pipewire_ended(struct error *err);
