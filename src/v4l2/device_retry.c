#include "v4l2/device_retry.h"

#include <errno.h>

#include "base/clock.h"

void device_retry_init(struct device_retry *d, const struct retry_limits *limits)
{
    *d = (struct device_retry){.limits = limits};
    device_release_init(&d->release);
}

/* Where another program has it, no device will come or go when that releases it. */
void device_retry_fails(struct device_retry *d, int code, const char *name)
{
    (void)retry_fails(&d->pauses, d->limits, now_ns());
    if (code == -EBUSY)
        device_release_watch(&d->release, name);
}

void device_retry_heed(struct device_retry *d, unsigned changes)
{
    if (changes != d->changes)
        d->pauses = (struct retry){0};
    d->changes = changes;
}

int64_t device_retry_due(struct device_retry *d)
{
    const int64_t t_released_ns = device_release_due(&d->release);

    return t_released_ns < d->pauses.t_next_ns ? t_released_ns : d->pauses.t_next_ns;
}
