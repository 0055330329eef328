#pragma once
/* When pictures are due at a rate of num / den a second, to the nanosecond and without rounding
 * errors that add up. Pure arithmetic: the caller says what time it is, and waits. */
#include <stdint.h>

/* Of all zeros but the rate, none of whose parts may be 0: not started. */
struct pace {
    uint32_t num, den;
    uint64_t next;        /* the picture that comes next; the caller counts it up */
    uint64_t first;       /* the one that was due when it started */
    int64_t t_started_ns; /* 0 = not started */
};

/* How long @n pictures take. */
int64_t pace_ns(uint32_t num, uint32_t den, uint64_t n);

/* From now on picture number @next is due at @t_ns, and those after it by the rate. */
void pace_start(struct pace *p, int64_t t_ns);

/* When the picture that comes @n after the next one is due. */
int64_t pace_due(const struct pace *p, uint64_t n);
