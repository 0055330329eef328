#include "filter/governor.h"

#include <math.h>
#include <string.h>

#define STALL_NS 1000000000
#define PROBE_NS 1000000000
#define PROBE_SHARE 20 /* probes take at most one part in this of the time */

/* All times cost[0]. The first, until a change of rung teaches better, is rather too much, so
 * that the first step down is far enough. */
#define BASE_START 40.0
#define BASE_MAX 400.0
#define ALONE_START 0.6 /* of base */
#define ALONE_MAX 0.95
#define SEARCH_MAX 1000.0
#define SEARCH_SECONDS 60 /* what was too dear for so long is tried again */

#define LEARN_FRAMES 3
#define UP_MARGIN 0.95         /* of the budget: what a higher rung must fit in */
#define RELIEF 0.8             /* of the scale that failed: the load has gone */
#define JITTER_FRAMES 5        /* stamps that jitter are rarely off to the same side for longer */
#define CAMERA_STEP_NS 5000000 /* more than the estimate of the camera's delay wavers */

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static double budget_ns(const struct governor *g)
{
    return g->config.budget_ns > 0 ? (double)g->config.budget_ns : g->interval_ns;
}

static struct governor_cost cost_of(const struct governor *g, int64_t ns, int rung)
{
    const struct governor_config *c = &g->config;

    return (struct governor_cost){.ns = (double)ns,
                                  .units = c->cost[rung],
                                  .searched = c->search && rung >= c->search,
                                  .alone = rung < c->mean};
}

static bool same_rung(struct governor_cost a, struct governor_cost b)
{
    return a.alone == b.alone && a.units >= b.units && a.units <= b.units;
}

static double units_of(const struct governor *g, struct governor_cost c)
{
    return c.units + (c.searched ? g->search : 0.0) + (c.alone ? g->alone : g->base);
}

static double scale_of(const struct governor *g, struct governor_cost c)
{
    return c.ns / units_of(g, c);
}

/* What the table says of @rung, less what it saves without the mean. */
static double rated(const struct governor *g, int rung)
{
    return g->config.cost[rung] - (rung < g->config.mean ? g->base - g->alone : 0.0);
}

/* The cheapest rung from @from to @to; of several the highest. */
static int cheapest(const struct governor *g, int from, int to)
{
    int best = to;

    for (int r = to - 1; r >= from; r--)
        if (rated(g, r) < rated(g, best))
            best = r;
    return best;
}

static void set_config(struct governor *g, const struct governor_config *config)
{
    const bool alone = config->lowest < config->mean;

    g->config = *config;
    g->config.lowest = cheapest(g, config->lowest, alone ? config->mean - 1 : config->top);
}

/* Where the ladder of @g has what @rung of @before was. */
static int moved(const struct governor *g, const struct governor_config *before, int rung)
{
    const struct governor_config *c = &g->config;

    if (!c->mean != !before->mean)
        return c->top;
    if (!c->mean)
        return least(rung, c->top);
    if (rung >= before->search)
        return least(rung - before->search + c->search, c->top);
    if (rung >= before->mean)
        return least(rung - before->mean + c->mean, c->search - 1);
    return least(rung, c->mean - 1);
}

void governor_init(struct governor *g, const struct governor_config *config)
{
    memset(g, 0, sizeof(*g));
    g->base = BASE_START * config->cost[0];
    g->alone = ALONE_START * g->base;
    g->interval_ns = (double)config->interval_ns;
    g->limit = config->top;
    for (int i = 0; i < GOVERNOR_SECONDS; i++)
        g->high_cost[i].units = 1.0;
    set_config(g, config);
}

static bool same_config(const struct governor_config *a, const struct governor_config *b)
{
    return a->budget_ns == b->budget_ns && a->interval_ns == b->interval_ns && a->top == b->top &&
           a->lowest == b->lowest && a->mean == b->mean && a->search == b->search &&
           a->warm_up == b->warm_up && !memcmp(a->cost, b->cost, sizeof(a->cost));
}

void governor_configure(struct governor *g, const struct governor_config *config)
{
    const struct governor_config before = g->config;

    set_config(g, config);
    if (same_config(&before, &g->config))
        return;
    if (memcmp(before.cost, config->cost, sizeof(before.cost)))
        g->now_frames = 0;
    if (g->passing)
        g->t_probe_ns = g->t_last_ns; /* what did not fit may fit now */
    else if (g->fail_scale <= 0.0)
        g->limit = config->top;
    else
        g->limit = cheapest(g, most(moved(g, &before, g->limit), g->config.lowest), config->top);
}

static struct governor_cost second_highest_cost(const struct governor *g)
{
    struct governor_cost first = {.units = 1.0}, second = {.units = 1.0};

    for (int i = 0; i < g->n; i++) {
        if (scale_of(g, g->cost[i]) > scale_of(g, first)) {
            second = first;
            first = g->cost[i];
        } else if (scale_of(g, g->cost[i]) > scale_of(g, second)) {
            second = g->cost[i];
        }
    }
    return second;
}

static double second_highest_other(const struct governor *g)
{
    double first = 0.0, second = 0.0;

    for (int i = 0; i < g->n; i++) {
        second = fmax(second, fmin(first, g->other[i]));
        first = fmax(first, g->other[i]);
    }
    return second;
}

/* Stamps that jitter must not make the budget waver with them: too long an interval makes the next
 * one too short. A camera that has changed its rate is off to the same side every time. No jitter
 * makes two intervals in a row more than twice as long, and the first one is only compared with
 * what the camera announced. */
static void smooth_interval(struct governor *g, double interval)
{
    const double off = interval - g->interval_ns;
    const bool first = g->n_off == 0;
    double weight = 0.05;

    g->n_off = (off > 0.0) == g->off_above ? g->n_off + 1 : 1;
    g->off_above = off > 0.0;
    if (off > g->interval_ns && (first || g->n_off > 1))
        weight = 0.5;
    else if (g->n_off > JITTER_FRAMES)
        weight = 0.2;
    g->interval_ns += weight * off;
}

/* The frame interval, from timestamps and frame numbers, so that frames lost on the way do not
 * count as a slower camera. A pause, a clock that stands still or runs back says nothing. */
static void follow_interval(struct governor *g, const struct governor_sample *s)
{
    const int64_t dt = s->t_capture_ns - g->t_last_ns;
    const uint64_t frames = s->seq - g->last_seq;

    if (g->started && dt > 0 && dt < STALL_NS && s->seq > g->last_seq && frames < 100) {
        const double interval = (double)dt / (double)frames;

        if (g->interval_ns > 0.0)
            smooth_interval(g, interval);
        else
            g->interval_ns = interval;
    }
    g->started = true;
    g->t_last_ns = s->t_capture_ns;
    g->last_seq = s->seq;
}

/* What the search comes to is learnt only where the rung rises, as the load is steady then. */
static void learn_search(struct governor *g, double slope)
{
    const double *cost = g->config.cost;
    const double none = cost[g->config.search - 1] - cost[g->config.search];
    double fixed = g->now.ns / slope - g->now.units;

    if (!g->old.searched)
        fixed = g->now.ns / scale_of(g, g->old) - g->now.units;
    else if (slope <= 0.0 || fixed > BASE_MAX * cost[0])
        return;
    g->search = fmin(fmax(fixed - g->base, none), SEARCH_MAX * cost[0]);
}

/* Two rungs and what they cost under the same load tell the fixed part of the cost: -1 where the
 * load changed with the rung, which gives nonsense that is mostly out of range. */
static double fixed_part(const struct governor *g)
{
    const double slope = (g->now.ns - g->old.ns) / (g->now.units - g->old.units);
    const double fixed = slope > 0.0 ? g->now.ns / slope - g->now.units : -1.0;

    return fixed <= BASE_MAX * g->config.cost[0] ? fixed : -1.0;
}

/* The mean costs something. */
static void set_base(struct governor *g, double base)
{
    g->base = fmax(base, g->alone / ALONE_MAX);
}

/* From a rung with the mean to one without it, or back. The search's cost is not known well enough
 * to learn from. */
static void learn_mean(struct governor *g)
{
    const struct governor_cost without = g->now.alone ? g->now : g->old;
    const struct governor_cost with = g->now.alone ? g->old : g->now;
    const double base = with.ns / scale_of(g, without) - with.units;

    if (!with.searched && without.ns > 0.0)
        set_base(g, base);
}

/* From one rung without the mean to another. What the lowest with it costs beside them stays. */
static void learn_alone(struct governor *g)
{
    const double fixed = fixed_part(g), lowest = g->config.cost[g->config.mean];
    const double times = (lowest + g->base) / (g->now.units + g->alone);

    if (fixed < 0.0)
        return;
    g->alone += 0.3 * (fixed - g->alone);
    set_base(g, times * (g->now.units + g->alone) - lowest);
}

static void learn(struct governor *g)
{
    const double fixed = fixed_part(g), base = g->base;

    if (g->old.units <= 0.0)
        return;
    if (g->now.alone != g->old.alone) {
        learn_mean(g);
        return;
    }
    if (g->now.alone) {
        learn_alone(g);
        return;
    }
    if (g->now.searched && g->now.units > g->old.units)
        learn_search(g, (g->now.ns - g->old.ns) / (g->now.units - g->old.units));
    if (g->now.searched || g->old.searched)
        return;
    if (fixed >= 0.0)
        g->base += (g->base_known ? 0.3 : 1.0) * (fixed - g->base);
    g->base_known = true;
    g->alone *= base > 0.0 ? g->base / base : 1.0;
}

/* The costs that are learnt from are those just before and just after a change of rung, so that
 * a step in load that caused it is in both. */
static void follow_cost(struct governor *g, struct governor_cost c)
{
    if (!same_rung(c, g->now)) {
        g->old = g->now_frames >= LEARN_FRAMES ? g->now : (struct governor_cost){0};
        g->now = c;
        g->now_frames = 0;
    }
    g->now_frames++;
    g->now.ns += 0.5 * (c.ns - g->now.ns);
    if (g->now_frames == LEARN_FRAMES) {
        g->n_falls = 0;
        learn(g);
    }
}

/* Clears what the last ten seconds held before, up to @second. */
static void forget_seconds(struct governor *g, int64_t second)
{
    const int64_t passed = second - g->second;

    for (int64_t k = 0; k < GOVERNOR_SECONDS && passed != 0; k++) {
        const int slot = (int)((uint64_t)(second - k) % GOVERNOR_SECONDS);

        if (passed > 0 && k >= passed)
            break;
        g->high_cost[slot] = (struct governor_cost){.units = 1.0};
        g->high_other[slot] = 0.0;
    }
    g->second = second;
}

/* A camera that has become slower made frames look as if they had been read late, until that was
 * known: what was held against us then was not ours. */
static void follow_camera(struct governor *g, int64_t camera_ns)
{
    if (camera_ns <= g->camera_ns + CAMERA_STEP_NS) {
        g->camera_ns = camera_ns < g->camera_ns ? camera_ns : g->camera_ns;
        return;
    }
    g->camera_ns = camera_ns;
    memset(g->other, 0, sizeof(g->other));
    memset(g->high_other, 0, sizeof(g->high_other));
    if (g->passing)
        g->t_probe_ns = g->t_last_ns;
}

static void follow_load(struct governor *g, const struct governor_sample *s, struct governor_cost c)
{
    const double scale = scale_of(g, c);
    const int64_t second = s->t_capture_ns / 1000000000;
    const int slot = (int)((uint64_t)second % GOVERNOR_SECONDS);
    struct governor_cost high;

    g->mean_scale = g->mean_scale > 0.0 ? g->mean_scale + 0.1 * (scale - g->mean_scale) : scale;
    if (g->fail_scale > 0.0 && g->mean_scale > g->fail_scale)
        g->fail_scale = g->mean_scale;
    g->cost[g->next] = c;
    g->other[g->next] = (double)s->other_ns;
    g->next = (g->next + 1) % GOVERNOR_WINDOW;
    g->n += g->n < GOVERNOR_WINDOW;

    if (c.searched || second - g->search_second > SEARCH_SECONDS) {
        g->search = c.searched ? g->search : 0.0;
        g->search_second = second;
    }
    forget_seconds(g, second);
    high = second_highest_cost(g);
    if (scale_of(g, high) > scale_of(g, g->high_cost[slot]))
        g->high_cost[slot] = high;
    g->high_other[slot] = fmax(g->high_other[slot], second_highest_other(g));
}

/* A rung fits when the picture is not late and the filter keeps up with the camera. */
static bool fits(const struct governor *g, double scale, double other, int rung, double margin)
{
    const double cost = scale * units_of(g, cost_of(g, 0, rung));

    return other + cost <= margin * budget_ns(g) && cost <= g->interval_ns;
}

static bool fits_recently(const struct governor *g, int rung, double margin)
{
    const double scale = scale_of(g, second_highest_cost(g));

    return fits(g, scale, second_highest_other(g), rung, margin);
}

/* Whether two of the last frames on the present rung say that it does not fit: measured, not
 * reckoned from what other rungs cost. */
static bool measured_too_slow(const struct governor *g)
{
    const struct governor_cost own = cost_of(g, 0, g->limit);
    const double other = second_highest_other(g);
    double first = 0.0, second = 0.0;

    for (int i = 0; i < g->n; i++)
        if (same_rung(g->cost[i], own)) {
            second = fmax(second, fmin(first, g->cost[i].ns));
            first = fmax(first, g->cost[i].ns);
        }
    return second > 0.0 && (other + second > budget_ns(g) || second > g->interval_ns);
}

static bool fitted_for_long(const struct governor *g, int rung)
{
    double scale = 0.0, other = 0.0;

    for (int i = 0; i < GOVERNOR_SECONDS; i++) {
        scale = fmax(scale, scale_of(g, g->high_cost[i]));
        other = fmax(other, g->high_other[i]);
    }
    return fits(g, scale, other, rung, UP_MARGIN);
}

/* The model overrates what low rungs cost until it has learnt better. So nothing passes
 * unfiltered before the lowest itself has been tried. */
static void go_down(struct governor *g)
{
    /* A higher rung that was just tried costs more than the model said. */
    if (g->now_frames < LEARN_FRAMES)
        learn(g);
    g->fail_scale = fmax(g->fail_scale, g->mean_scale);
    if (g->limit <= g->config.lowest) {
        g->limit = 0;
        g->passing = true;
        g->t_probe_ns = g->t_last_ns + PROBE_NS;
        return;
    }
    /* The model is far off: what to try next is the lowest rung with the mean, or one without. */
    if (++g->n_falls > 1 && g->limit > g->config.mean && g->config.lowest < g->config.mean)
        g->limit = g->config.mean;
    do
        g->limit--; /* what costs no less fits no better */
    while (g->limit > g->config.lowest && !fits_recently(g, g->limit, UP_MARGIN));
}

/* Whether what begins on rung @first did on the way from @limit to @rung, or just has. */
static bool begins(int first, int limit, int rung)
{
    return limit <= first && first <= rung;
}

static void go_up(struct governor *g)
{
    const int rung = cheapest(g, g->limit + 1, g->config.top);
    const bool relieved = g->mean_scale < RELIEF * g->fail_scale;

    /* What the mean or the search costs is learnt from it alone: from steady costs before it, and
     * before more comes to it. */
    if ((begins(g->config.mean, g->limit, rung) || begins(g->config.search, g->limit, rung)) &&
        g->now_frames < LEARN_FRAMES)
        return;
    if (!fitted_for_long(g, rung) && !(relieved && fits_recently(g, rung, UP_MARGIN)))
        return;
    g->limit = rung;
    if (g->limit == g->config.top)
        g->fail_scale = 0.0;
}

/* While frames pass, nothing is learnt but from a probe. */
static int step_passing(struct governor *g, const struct governor_sample *s)
{
    int64_t wait_ns;

    if (s->rung == 0) {
        g->n_probed = 0;
        g->probed_ns = 0;
        return s->t_capture_ns < g->t_probe_ns ? 0 : g->config.lowest;
    }
    g->probed_ns += s->filter_ns;
    if (++g->n_probed < g->config.warm_up)
        return g->config.lowest;
    g->mean_scale = scale_of(g, cost_of(g, s->filter_ns, s->rung));
    if (!fits(g, g->mean_scale, (double)s->other_ns, g->config.lowest, UP_MARGIN)) {
        wait_ns = PROBE_SHARE * g->probed_ns;
        g->t_probe_ns = s->t_capture_ns + (wait_ns > PROBE_NS ? wait_ns : PROBE_NS);
        return 0;
    }
    g->passing = false;
    g->n = g->next = 0;
    return g->config.lowest;
}

int64_t governor_budget_ns(const struct governor *g)
{
    return (int64_t)budget_ns(g);
}

int governor_step(struct governor *g, const struct governor_sample *s)
{
    follow_interval(g, s);
    follow_camera(g, s->camera_ns);
    if (g->config.top == 0 || g->interval_ns <= 0.0)
        return g->limit = g->config.top;
    if (g->passing)
        return g->limit = step_passing(g, s);
    if (s->rung > 0) {
        const struct governor_cost c = cost_of(g, s->filter_ns, s->rung);

        if (c.alone != g->now.alone && g->n_cold < g->config.warm_up - 1) {
            g->n_cold++;
            return g->limit;
        }
        g->n_cold = 0;
        follow_cost(g, c);
        follow_load(g, s, c);
    }
    if (measured_too_slow(g))
        go_down(g);
    else if (g->limit < g->config.top)
        go_up(g);
    return g->limit;
}
