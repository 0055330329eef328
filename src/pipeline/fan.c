/* DESIGN: the slots that somebody has yet to take stand in one circular list, by their numbers. A
 * reader is a place in it. With RING_LATEST all places move to the end when a slot is put, so that
 * readers hold one slot each, one more waits for them, and the writer finds an empty one at any
 * time. The lock covers moves of pointers only. */
#include "pipeline/fan.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"

#define LOSSLESS_WAITING 2

struct fan_reader {
    uint64_t next;     /* number of the slot to take next */
    struct slot *held; /* or NULL */
    bool left;
};

struct fan {
    enum ring_policy policy;
    int n_readers, capacity;
    pthread_mutex_t lock; /* guards all below, and in slots what is the fan's */
    pthread_cond_t filled, emptied;
    bool closed;
    uint64_t n_put;
    struct slot **queue; /* circular, `capacity` long: number n is at n % capacity */
    struct slot **empty; /* a stack, `capacity` long */
    int n_empty;
    struct fan_reader readers[FAN_MAX_READERS];
    uint64_t dropped;
};

int fan_capacity(enum ring_policy policy, int n_readers)
{
    return n_readers + (policy == RING_LATEST ? 1 : LOSSLESS_WAITING);
}

static int init_locks(struct fan *f)
{
    if (pthread_mutex_init(&f->lock, NULL))
        return -ENOMEM;
    if (condition_init(&f->filled)) {
        (void)pthread_mutex_destroy(&f->lock);
        return -ENOMEM;
    }
    if (condition_init(&f->emptied)) {
        (void)pthread_cond_destroy(&f->filled);
        (void)pthread_mutex_destroy(&f->lock);
        return -ENOMEM;
    }
    return 0;
}

int fan_create(struct fan **ret, enum ring_policy policy, int n_readers)
{
    struct fan *f = calloc(1, sizeof(*f));

    if (!f)
        return -ENOMEM;
    f->policy = policy;
    f->n_readers = n_readers;
    f->capacity = fan_capacity(policy, n_readers);
    f->queue = calloc((size_t)f->capacity, sizeof(struct slot *));
    f->empty = calloc((size_t)f->capacity, sizeof(struct slot *));
    if (!f->queue || !f->empty || init_locks(f)) {
        free(f->queue);
        free(f->empty);
        free(f);
        return -ENOMEM;
    }
    *ret = f;
    return 0;
}

void fan_destroy(struct fan *f)
{
    if (!f)
        return;
    (void)pthread_cond_destroy(&f->filled);
    (void)pthread_cond_destroy(&f->emptied);
    (void)pthread_mutex_destroy(&f->lock);
    free(f->queue);
    free(f->empty);
    free(f);
}

void fan_add(struct fan *f, struct slot *empty)
{
    f->empty[f->n_empty++] = empty;
}

/* These three: with the lock. */
static void release(struct fan *f, struct slot *slot)
{
    if (!slot || --slot->n_users)
        return;
    f->dropped += !slot->shown;
    f->empty[f->n_empty++] = slot;
    (void)pthread_cond_signal(&f->emptied);
}

static struct slot *take_next(struct fan *f, struct fan_reader *r)
{
    return f->queue[r->next++ % (uint64_t)f->capacity];
}

static int count_readers(const struct fan *f)
{
    int n = 0;

    for (int i = 0; i < f->n_readers; i++)
        n += !f->readers[i].left;
    return n;
}

int fan_put(struct fan *f, struct slot **slot)
{
    struct slot *full = *slot;
    int r = 0;

    (void)pthread_mutex_lock(&f->lock);
    while (!f->closed && f->policy == RING_LOSSLESS && !f->n_empty)
        (void)pthread_cond_wait(&f->emptied, &f->lock);
    full->n_users = count_readers(f);
    if (f->closed || !full->n_users) {
        r = -EPIPE;
    } else {
        for (int i = 0; f->policy == RING_LATEST && i < f->n_readers; i++)
            while (!f->readers[i].left && f->readers[i].next < f->n_put)
                release(f, take_next(f, &f->readers[i]));
        assert(f->n_empty > 0);
        full->shown = false;
        full->number = f->n_put++;
        f->queue[full->number % (uint64_t)f->capacity] = full;
        *slot = f->empty[--f->n_empty];
        (void)pthread_cond_broadcast(&f->filled);
    }
    (void)pthread_mutex_unlock(&f->lock);
    return r;
}

int fan_take(struct fan *f, int reader, struct slot **slot, int64_t deadline_ns)
{
    struct fan_reader *r = &f->readers[reader];
    const struct timespec deadline = timespec_of(deadline_ns > 0 ? deadline_ns : 0);
    int result = 0;

    (void)pthread_mutex_lock(&f->lock);
    while (r->next == f->n_put && !f->closed && result == 0)
        if (pthread_cond_timedwait(&f->filled, &f->lock, &deadline) == ETIMEDOUT)
            result = -EAGAIN;
    if (r->next < f->n_put) {
        release(f, r->held);
        r->held = *slot = take_next(f, r);
        result = 0;
    } else if (f->closed) {
        result = -EPIPE;
    }
    (void)pthread_mutex_unlock(&f->lock);
    return result;
}

bool fan_show(struct fan *f, struct slot *slot)
{
    bool first;

    (void)pthread_mutex_lock(&f->lock);
    first = !slot->shown;
    slot->shown = true;
    (void)pthread_mutex_unlock(&f->lock);
    return first;
}

void fan_leave(struct fan *f, int reader)
{
    struct fan_reader *r = &f->readers[reader];

    (void)pthread_mutex_lock(&f->lock);
    release(f, r->held);
    r->held = NULL;
    while (r->next < f->n_put)
        release(f, take_next(f, r));
    r->left = true;
    (void)pthread_mutex_unlock(&f->lock);
}

void fan_close(struct fan *f)
{
    (void)pthread_mutex_lock(&f->lock);
    f->closed = true;
    (void)pthread_cond_broadcast(&f->filled);
    (void)pthread_cond_broadcast(&f->emptied);
    (void)pthread_mutex_unlock(&f->lock);
}

uint64_t fan_dropped(struct fan *f)
{
    uint64_t n;

    (void)pthread_mutex_lock(&f->lock);
    n = f->dropped;
    (void)pthread_mutex_unlock(&f->lock);
    return n;
}
