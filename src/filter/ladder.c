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

int ladder_top(const struct filter *f)
{
    return filter_acts(f) ? most(f->radius, 1) + filter_averages(f) : 0;
}

int ladder_lowest(const struct filter *f, int radius_min)
{
    return filter_acts(f) ? least(most(f->radius, 1), radius_min) : 0;
}

int ladder_search(const struct filter *f, int radius_min)
{
    const int searchless = least(f->radius, most(radius_min, SEARCHLESS_RADIUS));

    return filter_averages(f) ? most(searchless, 1) + 1 : 0;
}

struct filter ladder_filter(const struct filter *f, int radius_min, int rung)
{
    const int search = ladder_search(f, radius_min);
    struct filter ret = *f;

    ret.no_search = search && rung < search;
    if (rung == 0)
        ret.temporal = 1;
    if (f->radius > 0)
        ret.radius = least(search && !ret.no_search ? rung - 1 : rung, FILTER_MAX_RADIUS);
    return ret;
}

void ladder_cost(const struct filter *f, int radius_min, double ret_cost[LADDER_RUNGS])
{
    for (int rung = 0; rung < LADDER_RUNGS; rung++) {
        const struct filter step = ladder_filter(f, radius_min, rung);

        ret_cost[rung] = filter_cost(&step);
    }
}
