#include "base/backoff.h"

#include <stdbool.h>

const struct backoff_limits backoff_device = {
    .first_ns = INT64_C(250000000),
    .last_ns = INT64_C(30000000000),
    .steady_ns = INT64_C(10000000000),
};

void backoff_works(struct backoff *b, int64_t t_ns)
{
    if (!b->t_works_ns)
        b->t_works_ns = t_ns;
}

int64_t backoff_fails(struct backoff *b, const struct backoff_limits *limits, int64_t t_ns)
{
    const bool steady = b->t_works_ns && t_ns - b->t_works_ns > limits->steady_ns;

    b->t_works_ns = 0;
    if (steady || !b->pause_ns)
        b->pause_ns = limits->first_ns;
    else if (b->pause_ns > limits->last_ns / 2)
        b->pause_ns = limits->last_ns;
    else
        b->pause_ns *= 2;
    return b->pause_ns;
}
