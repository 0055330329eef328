#pragma once
/* A fan hands slots from the filter stage to several outputs. Every reader gets the same slots, in
 * order and at its own pace; a slot is empty again when its last reader has released it. So a slow
 * reader loses only its own frames with RING_LATEST: each has the newest one waiting for it. With
 * RING_LOSSLESS the slowest sets the pace. */
#include "pipeline/ring.h"

#define FAN_MAX_READERS 9

struct fan;

/* How many slots a fan needs from fan_add() before it is used. */
int fan_capacity(enum ring_policy policy, int n_readers);

/* -ENOMEM. Readers are called 0, 1, ... */
int fan_create(struct fan **ret, enum ring_policy policy, int n_readers);

/* Accepts NULL. The slots are the caller's. */
void fan_destroy(struct fan *f);

/* Adds an empty slot. Context: before the threads start. */
void fan_add(struct fan *f, struct slot *empty);

/* Hands over the full *@slot and sets it to an empty one to fill next. -EPIPE: the fan is closed,
 * or nobody reads; *@slot stays the caller's. Context: the writer thread. */
int fan_put(struct fan *f, struct slot **slot);

/* Releases the slot that @reader holds and sets *@slot to the next one, waiting for it as
 * ring_take() does. Its readers share it and change nothing in it. On error the reader goes on
 * holding what it has: -EAGAIN, the deadline passed; -EPIPE, closed, and nothing is left.
 * Context: that reader's thread, as for the next two. */
int fan_take(struct fan *f, int reader, struct slot **slot, int64_t deadline_ns);

/* @slot, which the caller holds, has been shown. Whether it is the first that says so. A slot of
 * which nobody did counts as dropped. */
bool fan_show(struct fan *f, struct slot *slot);

/* The reader releases all that it has, and takes no more. */
void fan_leave(struct fan *f, int reader);

/* Ends the stream with what was put so far. Context: any thread, more than once. */
void fan_close(struct fan *f);

/* Slots that no reader has shown. Context: any thread. */
uint64_t fan_dropped(struct fan *f);
