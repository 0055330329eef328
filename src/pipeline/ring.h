#pragma once
/* A ring hands slots from one thread to the next. A slot is room for one picture on its way
 * through the program, raw and filtered; its memory is made once and pinned for the engine.
 * Hand-over is by exchange: whoever gives a slot gets another back, so that nothing is
 * allocated or copied per frame and a slot always has exactly one owner. */
#include <stdbool.h>
#include <stdint.h>

#include "picture/frame.h"
#include "picture/y4m.h"

struct slot {
    struct frame raw;           /* as captured, in the working layout */
    struct frame out;           /* as filtered */
    const struct frame *result; /* &out, or &raw where the frame passes unfiltered */
    unsigned run; /* another than that of the frame before: the stream broke between */
    int radius;   /* the radius it was filtered with, 0 = passed, or it is a mean over frames */
    int radius_requested;
    const char *search;    /* filter_search(); "" also where it passed */
    int64_t budget_ns;     /* the added latency that it was held to; 0 = none */
    int64_t camera_ns;     /* the camera's own delay, from its stamp until the frame can be read */
    int64_t t_readable_ns; /* when that was over: what comes later is ours */
    int64_t wait_ns;       /* from the camera's stamp until read returned */
    int64_t convert_ns;    /* camera layout to working layout */
    int64_t t_ready_ns;    /* when it was handed to the filter stage */
    int64_t queue_ns;      /* from then until filtering began */
    int64_t filter_ns;     /* submit to collected */
    int threads;           /* of the CPU that filtered it, where their number is ours to say; 0 */

    /* As the engine reports of `out`; 0 where that is not shown. */
    double noise, noise_share, frames;

    /* Where `y4m_tags` of both frames points, and `counts` of the second. */
    char y4m_tags[Y4M_LINE_MAX];
    uint8_t *counts;

    /* The fan's own (pipeline/fan.h), but for the number, which all may read. */
    uint64_t number; /* of those that the filter stage handed on */
    int n_users;     /* readers that hold it, or have yet to take it */
    bool shown;      /* by one of them */
};

enum ring_policy {
    RING_LATEST,   /* put never waits: a slot not taken is recycled and counted */
    RING_LOSSLESS, /* put waits for room */
};

struct ring;

/* -ENOMEM. A ring of @capacity needs as many slots from ring_add() before it is used. */
int ring_create(struct ring **ret, enum ring_policy policy, int capacity);

/* Accepts NULL. The slots are the caller's. */
void ring_destroy(struct ring *r);

/* Adds an empty slot. Context: before the threads start. */
void ring_add(struct ring *r, struct slot *empty);

/* Hands over the full *@slot and sets it to an empty one to fill next. -EPIPE: the ring is
 * closed; *@slot stays the caller's. Context: the writer thread. */
int ring_put(struct ring *r, struct slot **slot);

/* Hands back the empty *@slot and sets it to the next full one, waiting for it until
 * @deadline_ns (CLOCK_MONOTONIC; INT64_MAX = for ever; the past = not at all). On error *@slot
 * stays the caller's. -EAGAIN: the deadline passed. -EPIPE: closed, and nothing is left.
 * Context: the reader thread. */
int ring_take(struct ring *r, struct slot **slot, int64_t deadline_ns);

/* Ends the stream from either side: the reader still gets what is in the ring, the writer
 * nothing more. Context: any thread, more than once. */
void ring_close(struct ring *r);

/* Closes the ring and takes all that is left in it, of which it returns the number. *@slot is
 * exchanged as in ring_take(). Context: the reader thread. */
uint64_t ring_discard(struct ring *r, struct slot **slot);

/* Slots recycled before they were taken. Context: any thread. */
uint64_t ring_dropped(struct ring *r);
