#pragma once
/* The ladder by which a filter becomes cheaper, for the governor. Rung 0 lets frames pass, and
 * ladder_top() is all that was asked for. Between them a rung is a radius. Where the filter
 * averages over frames there is one rung more: under pressure the radius first goes down to 3, or
 * to radius_min where that is more; then the search for motion is left out; then the radius goes
 * down further, to radius_min. With a mean over frames a radius above 3 improves a picture least
 * (docs/quality.md: 0.4 dB). Where a radius of 0 was asked for, time is all that is left, and there
 * is no radius to lower.
 *
 * Pure arithmetic. */
#include "filter/filter.h"

#define LADDER_RUNGS (FILTER_MAX_RADIUS + 2) /* the highest, and 0 */

/* The rung of @asked itself; 0: it does nothing. */
int ladder_top(const struct filter *asked);

/* The lowest rung but 0. */
int ladder_lowest(const struct filter *asked, int radius_min);

/* The first rung with a search for motion; 0: there is none. */
int ladder_search(const struct filter *asked, int radius_min);

/* What is done on @rung. */
struct filter ladder_filter(const struct filter *asked, int radius_min, int rung);

/* What a frame costs on each rung, in taps. */
void ladder_cost(const struct filter *asked, int radius_min, double ret_cost[LADDER_RUNGS]);
