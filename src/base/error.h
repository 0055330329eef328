#pragma once
/* What went wrong, in words. A function that can fail for reasons a user must understand
 * takes a `struct error`, fills it and returns a negative errno; it never logs. Whoever
 * decides what happens next (main, the pipeline) prints the text once.
 *
 * The text has the form "what failed on what: why", without the program's name and without
 * a full stop, and is one line. */
#include <stdbool.h>

struct error {
    char text[512];
    bool usage; /* the request itself was wrong, on any machine: exit status 2, not 1 */
};

/* Formats into @e (which may be NULL) and returns @code, so that a failing function can end
 * with `return error_set(err, -EINVAL, "...")`. */
int error_set(struct error *e, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a request that is wrong in itself; returns -EINVAL. */
int error_usage(struct error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
