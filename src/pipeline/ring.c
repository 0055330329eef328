/* DESIGN: two lists under one mutex, `full` in order and `empty`, with one condition variable
 * for both sides: a ring has one reader and one writer, and they never wait at the same time,
 * since one waits for a full slot and the other for an empty one and the ring holds at least
 * one slot. The lock covers pointer moves only, never a copy. */
#include "pipeline/ring.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"

struct ring {
    enum ring_policy policy;
    int capacity;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed;
    bool closed;
    int n_full, n_empty;
    int first;           /* index of the oldest full slot */
    struct slot **full;  /* circular, `capacity` long */
    struct slot **empty; /* a stack, `capacity` long; n_full + n_empty == capacity */
    uint64_t dropped;
};

int ring_create(struct ring **ret, enum ring_policy policy, int capacity)
{
    struct ring *r = calloc(1, sizeof(*r));

    if (!r)
        return -ENOMEM;
    r->policy = policy;
    r->capacity = capacity;
    r->full = calloc((size_t)capacity, sizeof(*r->full));
    r->empty = calloc((size_t)capacity, sizeof(*r->empty));
    if (!r->full || !r->empty || pthread_mutex_init(&r->lock, NULL)) {
        free(r->full);
        free(r->empty);
        free(r);
        return -ENOMEM;
    }
    if (condition_init(&r->changed)) {
        (void)pthread_mutex_destroy(&r->lock);
        free(r->full);
        free(r->empty);
        free(r);
        return -ENOMEM;
    }
    *ret = r;
    return 0;
}

void ring_destroy(struct ring *r)
{
    if (!r)
        return;
    (void)pthread_cond_destroy(&r->changed);
    (void)pthread_mutex_destroy(&r->lock);
    free(r->full);
    free(r->empty);
    free(r);
}

void ring_add(struct ring *r, struct slot *empty)
{
    r->empty[r->n_empty++] = empty;
}

static struct slot *pop_full(struct ring *r)
{
    struct slot *s = r->full[r->first];

    r->first = (r->first + 1) % r->capacity;
    r->n_full--;
    return s;
}

int ring_put(struct ring *r, struct slot **slot)
{
    struct slot *next;

    (void)pthread_mutex_lock(&r->lock);
    while (!r->closed && r->policy == RING_LOSSLESS && r->n_empty == 0)
        (void)pthread_cond_wait(&r->changed, &r->lock);
    if (r->closed) {
        (void)pthread_mutex_unlock(&r->lock);
        return -EPIPE;
    }
    if (r->n_empty > 0) {
        next = r->empty[--r->n_empty];
    } else {
        next = pop_full(r);
        r->dropped++;
    }
    r->full[(r->first + r->n_full++) % r->capacity] = *slot;
    (void)pthread_cond_signal(&r->changed);
    (void)pthread_mutex_unlock(&r->lock);
    *slot = next;
    return 0;
}

static int wait_until(struct ring *r, int64_t deadline_ns)
{
    struct timespec t;

    if (deadline_ns == INT64_MAX)
        return pthread_cond_wait(&r->changed, &r->lock);
    if (deadline_ns < 0)
        deadline_ns = 0;
    t = timespec_of(deadline_ns);
    return pthread_cond_timedwait(&r->changed, &r->lock, &t);
}

int ring_take(struct ring *r, struct slot **slot, int64_t deadline_ns)
{
    int result = 0;

    (void)pthread_mutex_lock(&r->lock);
    while (r->n_full == 0 && !r->closed && result == 0)
        if (wait_until(r, deadline_ns) == ETIMEDOUT)
            result = -EAGAIN;
    if (r->n_full > 0) {
        struct slot *full = pop_full(r);

        r->empty[r->n_empty++] = *slot;
        *slot = full;
        result = 0;
        (void)pthread_cond_signal(&r->changed);
    } else if (r->closed) {
        result = -EPIPE;
    }
    (void)pthread_mutex_unlock(&r->lock);
    return result;
}

void ring_close(struct ring *r)
{
    (void)pthread_mutex_lock(&r->lock);
    r->closed = true;
    (void)pthread_cond_broadcast(&r->changed);
    (void)pthread_mutex_unlock(&r->lock);
}

uint64_t ring_discard(struct ring *r, struct slot **slot)
{
    uint64_t n = 0;

    ring_close(r);
    while (ring_take(r, slot, INT64_MAX) == 0)
        n++;
    return n;
}

uint64_t ring_dropped(struct ring *r)
{
    uint64_t n;

    (void)pthread_mutex_lock(&r->lock);
    n = r->dropped;
    (void)pthread_mutex_unlock(&r->lock);
    return n;
}
