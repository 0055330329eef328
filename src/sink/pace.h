#pragma once
/* Keeps the rate of pictures that come as fast as they can, to the nanosecond and without rounding
 * errors that add up. Context: one thread. */
#include <stdbool.h>

#include "picture/frame.h"

#define PACE_ASSUMED_FPS 25 /* of files that do not tell theirs */

struct pace {
    bool on, running;
    bool assumed; /* @fps is not what the source tells */
    struct fraction fps;
    int64_t t_due;
    int64_t remainder; /* in units of 1/fps.num ns, not yet in t_due */
};

/* @on: frames are held back until they are due, by @fps or, where the source tells none that can
 * be meant, by PACE_ASSUMED_FPS. */
void pace_init(struct pace *p, bool on, struct fraction fps);

/* Sleeps until the next frame is due: 0, or -ECANCELED once @stop_fd is readable. */
int pace_wait(struct pace *p, int stop_fd);
