#include "base/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"

struct worker {
    struct workers *pool;
    int index;
    pthread_t thread;
};

struct workers {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t job_ready, job_done;
    bool stop;
    void (*fn)(void *arg, int worker, int item);
    void *arg;
    int next, n_items; /* the next item to hand out, and how many there are */
    int n_left;        /* items not yet finished */
    int n_started;     /* threads in `worker`, the caller not among them */
    struct worker worker[];
};

/* Works until no item is left to hand out. Called and left with the lock held; an item is
 * thousands of times longer than the hand-over, so one lock serves all threads. */
static void work(struct workers *w, int index)
{
    while (w->next < w->n_items) {
        const int item = w->next++;

        (void)pthread_mutex_unlock(&w->lock);
        w->fn(w->arg, index, item);
        (void)pthread_mutex_lock(&w->lock);
        if (--w->n_left == 0)
            (void)pthread_cond_signal(&w->job_done);
    }
}

static void *worker_main(void *arg)
{
    const struct worker *self = arg;
    struct workers *w = self->pool;

    (void)pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        work(w, self->index);
        if (!w->stop)
            (void)pthread_cond_wait(&w->job_ready, &w->lock);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

static int start_threads(struct workers *w, const char *name, int n)
{
    for (; w->n_started < n; w->n_started++) {
        struct worker *self = &w->worker[w->n_started];
        char thread_name[32];
        int r;

        self->pool = w;
        self->index = w->n_started + 1;
        (void)snprintf(thread_name, sizeof(thread_name), "%s-%d", name, self->index);
        r = thread_start(&self->thread, thread_name, worker_main, self);
        if (r)
            return r;
    }
    return 0;
}

int workers_create(struct workers **ret, const char *name, int n_threads)
{
    const int n = n_threads - 1;
    struct workers *w = calloc(1, sizeof(*w) + (size_t)n * sizeof(w->worker[0]));
    int r;

    if (!w)
        return -ENOMEM;
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->job_ready, NULL);
    (void)pthread_cond_init(&w->job_done, NULL);
    r = start_threads(w, name, n);
    if (r) {
        workers_destroy(w);
        return r;
    }
    *ret = w;
    return 0;
}

void workers_destroy(struct workers *w)
{
    if (!w)
        return;
    (void)pthread_mutex_lock(&w->lock);
    w->stop = true;
    (void)pthread_cond_broadcast(&w->job_ready);
    (void)pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->n_started; i++)
        (void)pthread_join(w->worker[i].thread, NULL);
    (void)pthread_cond_destroy(&w->job_done);
    (void)pthread_cond_destroy(&w->job_ready);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

void workers_run(struct workers *w, void (*fn)(void *arg, int worker, int item), void *arg,
                 int n_items)
{
    (void)pthread_mutex_lock(&w->lock);
    w->fn = fn;
    w->arg = arg;
    w->next = 0;
    w->n_items = w->n_left = n_items;
    (void)pthread_cond_broadcast(&w->job_ready);
    work(w, 0);
    while (w->n_left > 0)
        (void)pthread_cond_wait(&w->job_done, &w->lock);
    (void)pthread_mutex_unlock(&w->lock);
}
