#pragma once
/* A pool of threads that share out the items of one job at a time. The calling thread works
 * along, so a pool of one starts no thread. Threads sleep between jobs, and work on other
 * processors than the caller where there are enough. */

struct workers;

/* @n_threads counts the caller and is at least 1; the others are called @name-1, @name-2 and so on.
 * -ENOMEM, -EAGAIN (no more threads). */
int workers_create(struct workers **ret, const char *name, int n_threads);
void workers_destroy(struct workers *w); /* accepts NULL */

/* How many threads, with the caller, share out the jobs to come: from 1 to all, which it is at
 * first. Context: that of workers_run(). */
void workers_use(struct workers *w, int n_threads);
int workers_used(const struct workers *w);

/* Calls @fn(@arg, worker, item) for every item in 0..@n_items-1, in any order and on several
 * threads, and returns when all are done. Calls of one worker (0 is the caller) never overlap.
 * Context: one thread at a time. */
void workers_run(struct workers *w, void (*fn)(void *arg, int worker, int item), void *arg,
                 int n_items);
