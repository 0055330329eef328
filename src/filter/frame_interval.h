#pragma once
/* How long a camera takes from frame to frame, from the stamps and numbers of its frames. Pure
 * arithmetic. Context: plain data, one owner. */
#include <stdbool.h>
#include <stdint.h>

/* Of all zeros, but for ns where the camera announced an interval. */
struct frame_interval {
    double ns;          /* estimate; 0 = not known yet */
    bool off_above;     /* whether the last interval was longer than that */
    int n_off;          /* intervals in a row that were off to that side */
    int64_t t_burst_ns; /* since when frames come far too fast; 0 = they do not */
    int64_t t_last_ns;
    uint64_t last_seq;
    bool started;
};

/* The next frame, with its stamp and the camera's number: gaps are frames that were lost. */
void frame_interval_step(struct frame_interval *f, int64_t t_capture_ns, uint64_t seq);
