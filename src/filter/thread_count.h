#pragma once
/* How many CPU threads filter a frame: as few as keep it well within the latency budget, because
 * each one that takes part costs the processor something (docs/numbers.md), and all of them where
 * the governor limits the filter.
 *
 * A third of the room that the budget leaves is aimed at, so that a frame that takes much longer
 * than those before is not late. Beyond it there are more threads with the next frame, fewer after
 * THREAD_COUNT_FRAMES that would have taken 0.7 of it at most. Both reckon that n threads take 1/n
 * of the time.
 *
 * Pure arithmetic. Context: plain data, one owner (the filter thread). */
#include <stdbool.h>
#include <stdint.h>

#define THREAD_COUNT_FRAMES 60

struct thread_count {
    int n;        /* the answer: threads for the next frame; 0 = none was filtered, all */
    int n_frames; /* since it changed, and the longest of them */
    int64_t longest_ns;
};

/* A frame took @filter_ns with as many threads as the last answer said. @most: how many there are.
 * @room_ns: what it could have taken (governor_room_ns()); 0 or less: all are to work. @limited:
 * the filter does less than was asked for. Returns the number for the next frame. */
int thread_count_step(struct thread_count *t, int most, int64_t filter_ns, int64_t room_ns,
                      bool limited);
