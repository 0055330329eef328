#include "filter/ladder.h"

#define SEARCHLESS_RADIUS 3

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* The least radius, and the least with a search for motion. */
static int least_radius(const struct filter *f, int radius_min)
{
    return least(f->radius, radius_min);
}

static int searched_radius(const struct filter *f, int radius_min)
{
    return least(f->radius, most(radius_min, SEARCHLESS_RADIUS));
}

int ladder_top(const struct filter *f, int radius_min)
{
    const int search = ladder_search(f, radius_min);

    if (search)
        return search + f->radius - searched_radius(f, radius_min);
    return filter_acts(f) ? most(f->radius, 1) : 0;
}

int ladder_lowest(const struct filter *f, int radius_min)
{
    return filter_acts(f) ? most(least_radius(f, radius_min), 1) : 0;
}

int ladder_mean(const struct filter *f)
{
    return filter_averages(f) ? f->radius + 1 : 0;
}

int ladder_search(const struct filter *f, int radius_min)
{
    const int radii = searched_radius(f, radius_min) - least_radius(f, radius_min) + 1;

    return filter_averages(f) ? ladder_mean(f) + radii : 0;
}

struct filter ladder_filter(const struct filter *f, int radius_min, int rung)
{
    const int mean = ladder_mean(f), search = ladder_search(f, radius_min);
    struct filter ret = *f;
    int radius = rung;

    if (rung == 0 || rung < mean) {
        ret.temporal = 1;
    } else if (mean) {
        ret.no_search = rung < search;
        radius = ret.no_search ? rung - mean + least_radius(f, radius_min)
                               : rung - search + searched_radius(f, radius_min);
    }
    if (f->radius > 0)
        ret.radius = least(radius, FILTER_MAX_RADIUS);
    return ret;
}

void ladder_cost(const struct filter *f, int radius_min, double ret_cost[LADDER_RUNGS])
{
    for (int rung = 0; rung < LADDER_RUNGS; rung++) {
        const struct filter step = ladder_filter(f, radius_min, rung);

        ret_cost[rung] = filter_cost(&step);
    }
}
