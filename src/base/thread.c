#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

int thread_start(pthread_t *ret, const char *name, void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    sigset_t all, before;
    int r;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&thread, NULL, fn, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r)
        return -r;
    (void)pthread_setname_np(thread, name);
    *ret = thread;
    return 0;
}

int condition_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    int r = pthread_condattr_init(&attr);

    if (r)
        return -r;
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    r = pthread_cond_init(cond, &attr);
    (void)pthread_condattr_destroy(&attr);
    return -r;
}

int online_cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set))
        return 1;
    return CPU_COUNT(&set);
}
