#include "filter/cost_model.h"

#include <math.h>

/* All times cost[0]. The first, until a change of rung teaches better, is rather too much, so
 * that the first step down is far enough. */
#define BASE_START 40.0
#define BASE_MAX 400.0
#define ALONE_START 0.6 /* of base */
#define ALONE_MAX 0.95
#define SEARCH_MAX 1000.0
#define DEAR_SECONDS 60 /* what was too dear for so long is tried again */

#define LEARN_FRAMES 3
#define NOISE 0.25 /* of what a frame costs: so much less than nothing can be nothing */

void cost_model_init(struct cost_model *m, const struct ladder *l)
{
    const double base = BASE_START * l->cost[0];

    *m = (struct cost_model){.base = base, .alone = ALONE_START * base};
}

struct frame_cost frame_cost(const struct ladder *l, int64_t ns, int rung)
{
    return (struct frame_cost){.ns = (double)ns,
                               .units = l->cost[rung],
                               .searched = l->search && rung >= l->search,
                               .alone = rung < l->mean};
}

bool same_rung(struct frame_cost a, struct frame_cost b)
{
    return a.alone == b.alone && a.units >= b.units && a.units <= b.units;
}

double cost_units(const struct cost_model *m, struct frame_cost c)
{
    return c.units + (c.searched ? m->search : 0.0) + (c.alone ? m->alone : m->base);
}

double cost_scale(const struct cost_model *m, struct frame_cost c)
{
    return c.ns / cost_units(m, c);
}

/* What the table says of @rung, less what it saves without the mean. */
static double rated(const struct cost_model *m, const struct ladder *l, int rung)
{
    return l->cost[rung] - (rung < l->mean ? m->base - m->alone : 0.0);
}

int cheapest_rung(const struct cost_model *m, const struct ladder *l, int from, int to)
{
    int best = to;

    for (int r = to - 1; r >= from; r--)
        if (rated(m, l, r) < rated(m, l, best))
            best = r;
    return best;
}

/* What the search comes to is learnt only where the rung rises, as the load is steady then. */
static void learn_search(struct cost_model *m, const struct ladder *l, double slope)
{
    const double *cost = l->cost;
    const double none = cost[l->search - 1] - cost[l->search];
    double fixed = m->now.ns / slope - m->now.units;

    if (!m->old.searched)
        fixed = m->now.ns / cost_scale(m, m->old) - m->now.units;
    else if (slope <= 0.0 || fixed > BASE_MAX * cost[0])
        return;
    m->search = fmin(fmax(fixed - m->base, none), SEARCH_MAX * cost[0]);
}

/* Two rungs and what they cost under the same load tell the fixed part of the cost: -1 where the
 * load changed with the rung, which gives nonsense that is mostly out of range. */
static double fixed_part(const struct cost_model *m, const struct ladder *l)
{
    const double slope = (m->now.ns - m->old.ns) / (m->now.units - m->old.units);
    const double fixed = slope > 0.0 ? m->now.ns / slope - m->now.units : -m->now.units;

    if (fixed > BASE_MAX * l->cost[0] || fixed < -NOISE * m->now.units)
        return -1.0;
    return fmax(fixed, 0.0);
}

/* The mean costs something. */
static void set_base(struct cost_model *m, double base)
{
    m->base = fmax(base, m->alone / ALONE_MAX);
}

/* From a rung with the mean to one without it, or back. The search's cost is not known well enough
 * to learn from. */
static void learn_mean(struct cost_model *m)
{
    const struct frame_cost without = m->now.alone ? m->now : m->old;
    const struct frame_cost with = m->now.alone ? m->old : m->now;
    const double base = with.ns / cost_scale(m, without) - with.units;

    if (!with.searched && without.ns > 0.0)
        set_base(m, base);
}

/* From one rung without the mean to another. What the lowest with it costs beside them stays. */
static void learn_alone(struct cost_model *m, const struct ladder *l)
{
    const double fixed = fixed_part(m, l), lowest = l->cost[l->mean];
    const double times = (lowest + m->base) / (m->now.units + m->alone);

    if (fixed < 0.0)
        return;
    m->alone += 0.3 * (fixed - m->alone);
    set_base(m, times * (m->now.units + m->alone) - lowest);
}

void cost_model_learn(struct cost_model *m, const struct ladder *l)
{
    const double base = m->base;
    double fixed;

    if (m->old.units <= 0.0 || same_rung(m->old, m->now))
        return;
    if (m->now.alone != m->old.alone) {
        learn_mean(m);
        return;
    }
    if (m->now.alone) {
        learn_alone(m, l);
        return;
    }
    if (m->now.searched && m->now.units > m->old.units)
        learn_search(m, l, (m->now.ns - m->old.ns) / (m->now.units - m->old.units));
    if (m->now.searched || m->old.searched)
        return;
    fixed = fixed_part(m, l);
    if (fixed >= 0.0)
        m->base += (m->base_known ? 0.3 : 1.0) * (fixed - m->base);
    m->base_known = true;
    m->alone *= base > 0.0 ? m->base / base : 1.0;
}

bool cost_model_settled(const struct cost_model *m)
{
    return m->now_frames >= LEARN_FRAMES;
}

/* The costs that are learnt from are those just before and just after a change of rung, so that
 * a step in load that caused it is in both. Rungs that it only passed on the way tell nothing. */
void cost_model_follow(struct cost_model *m, const struct ladder *l, struct frame_cost c)
{
    if (!same_rung(c, m->now)) {
        if (cost_model_settled(m))
            m->old = m->now;
        m->now = c;
        m->now_frames = 0;
    }
    m->now_frames++;
    m->now.ns += 0.5 * (c.ns - m->now.ns);
    if (m->now_frames == LEARN_FRAMES)
        cost_model_learn(m, l);
}

void cost_model_restart(struct cost_model *m)
{
    m->old = (struct frame_cost){0};
    m->now_frames = 0;
}

void cost_model_forget(struct cost_model *m, struct frame_cost c, int64_t second)
{
    if (c.searched)
        m->search_second = second;
    if (!c.alone)
        m->mean_second = second;
    if (second - m->search_second > DEAR_SECONDS) {
        m->search = 0.0;
        m->search_second = second;
    }
    if (second - m->mean_second > DEAR_SECONDS) {
        set_base(m, fmin(m->base, m->alone / ALONE_START));
        m->mean_second = second;
    }
}
