#pragma once
/* The ladder by which a filter becomes cheaper, for the governor. Rung 0 lets frames pass, and the
 * top is all that was asked for. Between them a rung is a radius. Where the filter averages over
 * frames, what is left out comes in this order, from the top:
 *   - the radius goes down to 3, or to radius_min where that is more. With a mean over frames a
 *     radius above 3 improves a picture least (docs/quality.md: 0.4 dB);
 *   - the search for motion is left out, and the radius goes down further, to radius_min;
 *   - the mean itself is left out: each frame by itself, with a radius from that asked for to
 *     radius_min. A mean with any radius is better, but on a CPU it costs more than a small one.
 * Where a radius of 0 was asked for, time is all that is left: there is no radius to lower, and no
 * frame by itself.
 *
 * Pure arithmetic. */
#include "filter/filter.h"

/* Each radius without a mean, with one, the smallest also without a search, and 0. */
#define LADDER_RUNGS (2 * FILTER_MAX_RADIUS + 2)

struct ladder {
    int top;    /* the rung of all that was asked for; 0: it does nothing */
    int lowest; /* at least 1, where there is a top */
    int mean; /* the first rung with a mean over frames, those below have none; 0: there is none */
    int search; /* the first rung with a search for motion; 0: there is none */

    /* What a frame costs on each rung, compared with others, but for a fixed part: above 0, in
     * taps, or another unit that stays the same. cost[0] is a window of one pixel. */
    double cost[LADDER_RUNGS];
};

void ladder_init(struct ladder *l, const struct filter *asked, int radius_min);

/* What is done on @rung. */
struct filter ladder_filter(const struct filter *asked, int radius_min, int rung);

/* Where @to has what @rung of @from was. */
int ladder_moved(const struct ladder *from, const struct ladder *to, int rung);
