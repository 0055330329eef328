#pragma once
/* When to try again what failed: after pauses that double. What has worked for some time starts
 * again at the first pause; what fails soon after it came goes on with longer and longer ones.
 * Pure arithmetic: the caller says what time it is, waits, and knows what else is worth a try. */
#include <stdbool.h>
#include <stdint.h>

struct retry_limits {
    int64_t first_ns, last_ns; /* pauses */
    int64_t steady_ns;         /* what worked for longer has not failed "soon" */
};

/* Of all zeros: nothing has failed yet, and the first try is due. */
struct retry {
    int64_t pause_ns;   /* the last one */
    int64_t t_works_ns; /* since when it works; 0 = it does not */
    int64_t t_next_ns;  /* when to try next; the caller may set it, too */
};

/* For devices that are waited for. */
extern const struct retry_limits retry_device;

/* Those, or shorter ones where nothing else tells that they are there again. */
const struct retry_limits *retry_limits_of(bool unannounced);

/* It works at @t_ns. Only the first time after a failure counts. */
void retry_works(struct retry *r, int64_t t_ns);

/* It failed at @t_ns, for the first time or again. Returns the pause before the next attempt. */
int64_t retry_fails(struct retry *r, const struct retry_limits *limits, int64_t t_ns);
