#pragma once
/* Says when a state that can flip is to be logged: its first change at once, and after that at most
 * once a minute, with the number of changes since. The last change is always told in the end.
 * Pure arithmetic: the caller says what time it is, and logs. */
#include <stdbool.h>
#include <stdint.h>

/* Of all zeros: the state is false, and nothing was logged yet. */
struct flips {
    bool state, logged;
    int n;               /* changes that were not logged yet */
    int64_t t_logged_ns; /* if one was */
};

/* The state at @t_ns. Returns 0, or how many changes a message has to tell of now. */
int flips_step(struct flips *f, bool state, int64_t t_ns);
