#include "base/workers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"

struct worker {
    struct workers *pool;
    int index;
    pthread_t thread;
    pthread_cond_t job_ready;
};

struct workers {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t job_done;
    bool stop;
    void (*fn)(void *arg, int worker, int item);
    void *arg;
    int next, n_items; /* the next item to hand out, and how many there are */
    int n_left;        /* items not yet finished */
    int n_started;     /* threads in `worker`, the caller not among them */

    /* The caller's own: */
    int n_used;     /* threads in `worker` that get work */
    int caller_cpu; /* that these were kept off, of those below; -1: none */
    cpu_set_t cpus;
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
    struct worker *self = arg;
    struct workers *w = self->pool;

    (void)pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        work(w, self->index);
        if (!w->stop)
            (void)pthread_cond_wait(&self->job_ready, &w->lock);
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
        (void)pthread_cond_init(&self->job_ready, NULL);
        (void)snprintf(thread_name, sizeof(thread_name), "%s-%d", name, self->index);
        r = thread_start(&self->thread, thread_name, worker_main, self);
        if (r) {
            (void)pthread_cond_destroy(&self->job_ready);
            return r;
        }
    }
    return 0;
}

static int nth_cpu(const cpu_set_t *set, int n)
{
    int cpu = 0;

    while (!CPU_ISSET(cpu, set) || n-- > 0)
        cpu++;
    return cpu;
}

/* Keeps the threads off the caller's processor, and from each other's if they are as many as there
 * are other ones. By itself the system may wake a thread on that of its waker or of another thread,
 * and where none is idle, if only because of programs that are niced, leaves it waiting there until
 * the job is done. Where there are too few processors, threads may run on all. */
static void spread(struct workers *w)
{
    const int cpu = sched_getcpu();
    cpu_set_t cpus;
    int n;

    if (!w->n_used || cpu < 0 || sched_getaffinity(0, sizeof(cpus), &cpus) ||
        (cpu == w->caller_cpu && CPU_EQUAL(&cpus, &w->cpus)))
        return;
    w->caller_cpu = cpu;
    w->cpus = cpus;
    n = CPU_COUNT(&cpus) - 1;
    for (int i = 0; i < w->n_used; i++) {
        cpu_set_t set = cpus;

        if (w->n_used == n) {
            const int own = nth_cpu(&cpus, i);

            /* Who was where the caller is now has the last one: the others stay. */
            CPU_ZERO(&set);
            CPU_SET(own == cpu ? nth_cpu(&cpus, n) : own, &set);
        } else if (w->n_used < n) {
            CPU_CLR(cpu, &set);
        }
        (void)pthread_setaffinity_np(w->worker[i].thread, sizeof(set), &set);
    }
}

int workers_create(struct workers **ret, const char *name, int n_threads)
{
    const int n = n_threads - 1;
    struct workers *w = calloc(1, sizeof(*w) + (size_t)n * sizeof(w->worker[0]));
    int r;

    if (!w)
        return -ENOMEM;
    w->caller_cpu = -1;
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->job_done, NULL);
    r = start_threads(w, name, n);
    if (r) {
        workers_destroy(w);
        return r;
    }
    w->n_used = n;
    *ret = w;
    return 0;
}

void workers_destroy(struct workers *w)
{
    if (!w)
        return;
    (void)pthread_mutex_lock(&w->lock);
    w->stop = true;
    for (int i = 0; i < w->n_started; i++)
        (void)pthread_cond_signal(&w->worker[i].job_ready);
    (void)pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->n_started; i++) {
        (void)pthread_join(w->worker[i].thread, NULL);
        (void)pthread_cond_destroy(&w->worker[i].job_ready);
    }
    (void)pthread_cond_destroy(&w->job_done);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

void workers_use(struct workers *w, int n_threads)
{
    if (w->n_used != n_threads - 1)
        w->caller_cpu = -1;
    w->n_used = n_threads - 1;
}

int workers_used(const struct workers *w)
{
    return 1 + w->n_used;
}

void workers_run(struct workers *w, void (*fn)(void *arg, int worker, int item), void *arg,
                 int n_items)
{
    spread(w);
    (void)pthread_mutex_lock(&w->lock);
    w->fn = fn;
    w->arg = arg;
    w->next = 0;
    w->n_items = w->n_left = n_items;
    for (int i = 0; i < w->n_used && i < n_items - 1; i++)
        (void)pthread_cond_signal(&w->worker[i].job_ready);
    work(w, 0);
    while (w->n_left > 0)
        (void)pthread_cond_wait(&w->job_done, &w->lock);
    (void)pthread_mutex_unlock(&w->lock);
}
