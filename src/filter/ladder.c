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

/* The first rung with a mean over frames, and the first with a search; 0: there is none. */
static int first_mean(const struct filter *f)
{
    return filter_averages(f) ? f->radius + 1 : 0;
}

static int first_search(const struct filter *f, int radius_min)
{
    const int radii = searched_radius(f, radius_min) - least_radius(f, radius_min) + 1;

    return filter_averages(f) ? first_mean(f) + radii : 0;
}

struct filter ladder_filter(const struct filter *f, int radius_min, int rung)
{
    const int mean = first_mean(f), search = first_search(f, radius_min);
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

void ladder_init(struct ladder *l, const struct filter *f, int radius_min)
{
    *l = (struct ladder){.mean = first_mean(f), .search = first_search(f, radius_min)};
    if (filter_acts(f)) {
        l->top =
            l->search ? l->search + f->radius - searched_radius(f, radius_min) : most(f->radius, 1);
        l->lowest = most(least_radius(f, radius_min), 1);
    }
    for (int rung = 0; rung < LADDER_RUNGS; rung++) {
        const struct filter step = ladder_filter(f, radius_min, rung);

        l->cost[rung] = filter_cost(&step);
    }
}

int ladder_moved(const struct ladder *from, const struct ladder *to, int rung)
{
    int ret = least(rung, to->mean - 1);

    if (!to->mean != !from->mean)
        return to->top;
    if (!to->mean)
        ret = least(rung, to->top);
    else if (rung >= from->search)
        ret = least(rung - from->search + to->search, to->top);
    else if (rung >= from->mean)
        ret = least(rung - from->mean + to->mean, to->search - 1);
    return most(ret, to->lowest);
}
