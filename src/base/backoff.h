#pragma once
/* When to try again what failed: after pauses that double. What has worked for some time starts
 * again at the first pause; what fails soon after it came goes on with longer and longer ones.
 * Pure arithmetic: the caller says what time it is, and waits. */
#include <stdint.h>

struct backoff_limits {
    int64_t first_ns, last_ns; /* pauses */
    int64_t steady_ns;         /* what worked for longer has not failed "soon" */
};

/* Of all zeros: nothing has failed yet. */
struct backoff {
    int64_t pause_ns;   /* the last one */
    int64_t t_works_ns; /* since when it works; 0 = it does not */
};

/* For devices that are waited for. */
extern const struct backoff_limits backoff_device;

/* It works at @t_ns. Only the first time after a failure counts. */
void backoff_works(struct backoff *b, int64_t t_ns);

/* It failed at @t_ns, for the first time or again. Returns the pause before the next attempt. */
int64_t backoff_fails(struct backoff *b, const struct backoff_limits *limits, int64_t t_ns);
