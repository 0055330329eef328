#pragma once
/* Limits what the filter does so that no frame is late: per frame it is told what the frame cost,
 * and it answers with the rung (ladder.h) for the next one. Pure arithmetic: no clock, no I/O, no
 * allocation; its notion of time is the camera's timestamps. Context: plain data, one owner (the
 * filter thread).
 *
 * What it costs on other rungs is known from cost_model.h. What is held against the budget is a
 * high percentile, the second highest of the last GOVERNOR_WINDOW frames, so that one spike changes
 * nothing and a step in load acts after two frames. The present rung is judged by what it was
 * measured to cost, others by the model.
 *   down: at once, to the highest rung that fits. The mean over frames, which takes long to come
 *         back, ends only where a rung with it was measured after a first step down.
 *   up:   one rung per frame, where the higher one would have fitted every frame of the last
 *         10 s, or where the load has clearly gone (scale below 0.8 of what it was). Noise
 *         around a constant load therefore cannot make the picture pump. Before the mean or the
 *         search begins, and after, it stays for a few frames, so that what either costs is learnt
 *         from it alone. The first frames of a mean, and those after it, cost less and are ignored.
 *   wait: after a step down it stays for 1/4 s, whatever the rung, and twice as long each time
 *         that what was tried next did not hold for 30 s, up to a minute. So bursts of load do
 *         not make the picture change all the time. A changed request is tried at once.
 * A rung that does not cost less than all higher ones is never taken, nor tried. So where all
 * cost the same, frames get the whole filter or pass unfiltered.
 *
 * Where the lowest rung was tried and one in five of its frames is late, frames pass unfiltered: a
 * few spikes do less harm than no filter. After a second some frames are filtered on the lowest
 * rung to find out whether that is still so: a probe, which is not shown, so that the picture does
 * not flicker. Its last frame is measured: a filter that looks back does less in the first frames
 * after a gap. The next probe comes about a second later; where the filter came back and did not
 * hold for 5 s, the first one comes twice as late each time, up to a minute.
 *
 * The latency that counts is what the program adds, from when a frame could be read to the end of
 * the sink's write; the camera's own delay (camera_delay.h) is not held against anybody. */
#include <stdbool.h>
#include <stdint.h>

#include "base/retry.h"
#include "filter/cost_model.h"
#include "filter/frame_interval.h"

#define GOVERNOR_WINDOW 24
#define GOVERNOR_SECONDS 10

struct governor_config {
    int64_t budget_ns;   /* > 0: fixed; 0: one frame interval */
    int64_t interval_ns; /* of the source, as announced; 0 = unknown, will be measured */
    int warm_up;         /* frames, after a gap, until one costs what all that follow do; 0 = 1 */
    struct ladder ladder;
};

struct governor_sample {
    int64_t t_capture_ns; /* camera timestamp of the frame */
    uint64_t seq;         /* camera's frame number: gaps are frames that were lost */
    int64_t filter_ns;    /* what filtering cost */
    int64_t other_ns;  /* the rest of the newest added latency: late reading, conversion, write */
    int64_t camera_ns; /* the camera's own delay as it was known for that latency */
    int rung;          /* what it was filtered with */
};

struct governor {
    struct governor_config config;
    int limit;    /* the answer: rung for the next frame */
    bool passing; /* even the lowest is too slow: limit is 0, or the lowest for a probe */

    struct frame_interval interval;
    struct cost_model model;
    struct retry retry; /* of a higher rung */
    struct retry probe; /* of any, while frames pass */
    int n_probed;       /* frames of this probe so far, and their cost */
    int64_t probed_ns;
    int64_t camera_ns; /* lowest delay of the camera that the window and the seconds know of */

    double mean_scale; /* ns per unit, smoothed; 0 = not known yet */
    double fail_scale; /* highest mean_scale since the limit went down; 0 = not limited */
    int n_falls;       /* steps down in a row, each after too few frames to learn from */
    int n_cold;        /* frames that were ignored, as the mean has just begun or ended */

    int n; /* frames in the window, the newest at (next - 1) */
    int next;
    struct frame_cost cost[GOVERNOR_WINDOW];
    double other[GOVERNOR_WINDOW];
    struct frame_cost high_cost[GOVERNOR_SECONDS]; /* percentile of each of the last seconds */
    double high_other[GOVERNOR_SECONDS];
    int64_t second;
};

void governor_init(struct governor *g, const struct governor_config *config);

/* Takes over changed settings, which act on the next frame, and keeps what was learnt. */
void governor_configure(struct governor *g, const struct governor_config *config);

/* The latency that is held now, in ns; 0 while the interval is not known. */
int64_t governor_budget_ns(const struct governor *g);

/* How long the filter can take, in ns, and nothing is late: what the rest of the last frames leaves
 * of the budget, and a frame interval at most. 0 or less: there is no room, or it is not known. */
int64_t governor_room_ns(const struct governor *g);

/* One frame was filtered, or passed; returns the rung for the next. */
int governor_step(struct governor *g, const struct governor_sample *sample);
