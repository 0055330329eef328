#include "base/clock.h"

#include <limits.h>

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t processor_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

int poll_ms(int64_t t_ns, int64_t t_now_ns)
{
    int64_t ms;

    if (t_ns == INT64_MAX)
        return -1;
    if (t_ns <= t_now_ns)
        return 0;
    ms = (t_ns - t_now_ns - 1) / NS_PER_MS + 1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}
