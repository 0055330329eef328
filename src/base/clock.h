#pragma once
/* Time: int64_t nanoseconds of CLOCK_MONOTONIC, INT64_MAX for never. Context: any thread. */
#include <stdint.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

int64_t now_ns(void);

/* Processor time that all threads of this process have taken. */
int64_t processor_ns(void);

/* As the system's calls take a time, or a duration. Not for less than 0. */
struct timespec timespec_of(int64_t ns);

/* What poll() is told at @t_now_ns to wait until @t_ns: milliseconds, rounded up so that it is not
 * early; 0 for what has passed; -1, without end, for never. A wait of more than INT_MAX ends after
 * that. */
int poll_ms(int64_t t_ns, int64_t t_now_ns);
