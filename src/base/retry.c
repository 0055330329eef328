#include "base/retry.h"

const struct retry_limits retry_device = {
    .first_ns = INT64_C(250000000),
    .last_ns = INT64_C(30000000000),
    .steady_ns = INT64_C(10000000000),
};

static const struct retry_limits retry_unannounced = {
    .first_ns = INT64_C(250000000),
    .last_ns = INT64_C(2000000000),
    .steady_ns = INT64_C(10000000000),
};

const struct retry_limits *retry_limits_of(bool unannounced)
{
    return unannounced ? &retry_unannounced : &retry_device;
}

void retry_works(struct retry *r, int64_t t_ns)
{
    if (!r->t_works_ns)
        r->t_works_ns = t_ns;
}

int64_t retry_fails(struct retry *r, const struct retry_limits *limits, int64_t t_ns)
{
    const bool steady = r->t_works_ns && t_ns - r->t_works_ns > limits->steady_ns;

    r->t_works_ns = 0;
    if (steady || !r->pause_ns)
        r->pause_ns = limits->first_ns;
    else if (r->pause_ns > limits->last_ns / 2)
        r->pause_ns = limits->last_ns;
    else
        r->pause_ns *= 2;
    r->t_next_ns = t_ns < INT64_MAX - r->pause_ns ? t_ns + r->pause_ns : INT64_MAX;
    return r->pause_ns;
}
