#pragma once
/* Waiting for a device that cannot be used: it is tried after pauses, at once when a device came,
 * went or changed, and soon after another program has released it.
 * Context: one thread, as for struct device_release. */
#include "base/retry.h"
#include "v4l2/watch.h"

struct device_retry {
    const struct retry_limits *limits;
    struct retry pauses;
    struct device_release release; /* of a device that another program has */
    unsigned changes;              /* in /dev, of those that are counted by the caller */
};

/* @limits live as long as it is used. */
void device_retry_init(struct device_retry *d, const struct retry_limits *limits);

/* It failed with @code. @name as for device_release_watch(). */
void device_retry_fails(struct device_retry *d, int code, const char *name);

/* There were so many @changes in /dev so far: a new one is a reason to try at once. */
void device_retry_heed(struct device_retry *d, unsigned changes);

/* When to try next. */
int64_t device_retry_due(struct device_retry *d);
