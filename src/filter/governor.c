#include "filter/governor.h"

#include <math.h>
#include <string.h>

#define PROBE_NS INT64_C(1000000000)
#define PROBE_SHARE 20 /* probes take at most one part in this of the time */
#define PASS_SHARE 5   /* frames pass where one in so many is late on the lowest rung */

#define UP_MARGIN 0.95         /* of the budget: what a higher rung must fit in */
#define RELIEF 0.8             /* of the scale that failed: the load has gone */
#define CAMERA_STEP_NS 5000000 /* more than the estimate of the camera's delay wavers */

#define LONGEST_NS INT64_C(60000000000)

/* How long a rung that did not hold is left alone, and the filter where none did. */
static const struct retry_limits patience = {
    .first_ns = INT64_C(250000000),
    .last_ns = LONGEST_NS,
    .steady_ns = INT64_C(30000000000),
};
static const struct retry_limits passing_patience = {
    .first_ns = PROBE_NS,
    .last_ns = LONGEST_NS,
    .steady_ns = INT64_C(5000000000),
};

static double budget_ns(const struct governor *g)
{
    return g->config.budget_ns > 0 ? (double)g->config.budget_ns : g->interval.ns;
}

static void set_config(struct governor *g, const struct governor_config *config)
{
    const struct ladder *l = &config->ladder;

    g->config = *config;
    g->config.ladder.lowest =
        cheapest_rung(&g->model, l, l->lowest, l->lowest < l->mean ? l->mean - 1 : l->top);
}

void governor_init(struct governor *g, const struct governor_config *config)
{
    memset(g, 0, sizeof(*g));
    cost_model_init(&g->model, &config->ladder);
    g->interval.ns = (double)config->interval_ns;
    g->limit = config->ladder.top;
    for (int i = 0; i < GOVERNOR_SECONDS; i++)
        g->high_cost[i].units = 1.0;
    set_config(g, config);
}

static bool same_config(const struct governor_config *a, const struct governor_config *b)
{
    return a->budget_ns == b->budget_ns && a->interval_ns == b->interval_ns &&
           a->warm_up == b->warm_up && !memcmp(&a->ladder, &b->ladder, sizeof(a->ladder));
}

void governor_configure(struct governor *g, const struct governor_config *config)
{
    const struct governor_config before = g->config;
    const struct ladder *l = &g->config.ladder;

    set_config(g, config);
    if (same_config(&before, &g->config))
        return;
    if (memcmp(before.ladder.cost, l->cost, sizeof(l->cost)))
        cost_model_restart(&g->model);
    g->retry = g->probe = (struct retry){0}; /* what did not fit may fit now */
    if (g->passing)
        return;
    if (g->fail_scale <= 0.0)
        g->limit = l->top;
    else
        g->limit = cheapest_rung(&g->model, l, ladder_moved(&before.ladder, l, g->limit), l->top);
}

static struct frame_cost second_highest_cost(const struct governor *g)
{
    struct frame_cost first = {.units = 1.0}, second = {.units = 1.0};

    for (int i = 0; i < g->n; i++) {
        if (cost_scale(&g->model, g->cost[i]) > cost_scale(&g->model, first)) {
            second = first;
            first = g->cost[i];
        } else if (cost_scale(&g->model, g->cost[i]) > cost_scale(&g->model, second)) {
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

/* Clears what the last ten seconds held before, up to @second. */
static void forget_seconds(struct governor *g, int64_t second)
{
    const int64_t passed = second - g->second;

    for (int64_t k = 0; k < GOVERNOR_SECONDS && passed != 0; k++) {
        const int slot = (int)((uint64_t)(second - k) % GOVERNOR_SECONDS);

        if (passed > 0 && k >= passed)
            break;
        g->high_cost[slot] = (struct frame_cost){.units = 1.0};
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
    g->retry.t_next_ns = g->probe.t_next_ns = g->interval.t_last_ns;
}

/* Whether to try again. A wait that is too long is that of a clock that ran back. */
static bool due(const struct governor *g, const struct retry *r)
{
    const int64_t wait_ns = r->t_next_ns - g->interval.t_last_ns;

    return wait_ns <= 0 || wait_ns > LONGEST_NS;
}

/* Steps down in a row are one failure, of the rung that was tried last. */
static void fail(struct governor *g)
{
    if (g->retry.t_works_ns || !g->retry.pause_ns)
        (void)retry_fails(&g->retry, &patience, g->interval.t_last_ns);
}

static void follow_load(struct governor *g, const struct governor_sample *s, struct frame_cost c)
{
    const double scale = cost_scale(&g->model, c);
    const int64_t second = s->t_capture_ns / 1000000000;
    const int slot = (int)((uint64_t)second % GOVERNOR_SECONDS);
    struct frame_cost high;

    g->mean_scale = g->mean_scale > 0.0 ? g->mean_scale + 0.1 * (scale - g->mean_scale) : scale;
    if (g->fail_scale > 0.0 && g->mean_scale > g->fail_scale)
        g->fail_scale = g->mean_scale;
    g->cost[g->next] = c;
    g->other[g->next] = (double)s->other_ns;
    g->next = (g->next + 1) % GOVERNOR_WINDOW;
    g->n += g->n < GOVERNOR_WINDOW;

    cost_model_forget(&g->model, c, second);
    forget_seconds(g, second);
    high = second_highest_cost(g);
    if (cost_scale(&g->model, high) > cost_scale(&g->model, g->high_cost[slot]))
        g->high_cost[slot] = high;
    g->high_other[slot] = fmax(g->high_other[slot], second_highest_other(g));
}

/* A rung fits when the picture is not late and the filter keeps up with the camera. */
static bool fits(const struct governor *g, double scale, double other, int rung, double margin)
{
    const double cost = scale * cost_units(&g->model, frame_cost(&g->config.ladder, 0, rung));

    return other + cost <= margin * budget_ns(g) && cost <= g->interval.ns;
}

static bool fits_recently(const struct governor *g, int rung, double margin)
{
    const double scale = cost_scale(&g->model, second_highest_cost(g));

    return fits(g, scale, second_highest_other(g), rung, margin);
}

/* Whether two of the last frames on the present rung were late: measured, not reckoned from what
 * other rungs cost. Below the lowest there is no filter, which a few spikes must not end. */
static bool measured_too_slow(const struct governor *g)
{
    const struct frame_cost own = frame_cost(&g->config.ladder, 0, g->limit);
    int n = 0, late = 0;

    for (int i = 0; i < g->n; i++)
        if (same_rung(g->cost[i], own)) {
            n++;
            late += g->other[i] + g->cost[i].ns > budget_ns(g) || g->cost[i].ns > g->interval.ns;
        }
    return late > 1 && (g->limit > g->config.ladder.lowest || late * PASS_SHARE >= n);
}

static bool fitted_for_long(const struct governor *g, int rung)
{
    double scale = 0.0, other = 0.0;

    for (int i = 0; i < GOVERNOR_SECONDS; i++) {
        scale = fmax(scale, cost_scale(&g->model, g->high_cost[i]));
        other = fmax(other, g->high_other[i]);
    }
    return fits(g, scale, other, rung, UP_MARGIN);
}

/* The model overrates what low rungs cost until it has learnt better. So nothing passes
 * unfiltered before the lowest itself has been tried. */
static void go_down(struct governor *g)
{
    const struct ladder *l = &g->config.ladder;
    int lowest = l->lowest;

    /* A higher rung that was just tried costs more than the model said. */
    if (!cost_model_settled(&g->model))
        cost_model_learn(&g->model, l);
    g->fail_scale = fmax(g->fail_scale, g->mean_scale);
    fail(g);
    if (g->limit <= l->lowest) {
        g->limit = 0;
        g->passing = true;
        (void)retry_fails(&g->probe, &passing_patience, g->interval.t_last_ns);
        return;
    }
    /* The mean, which takes long to come back, does not end with the first fall. After a second the
     * model is far off: what to try next is the lowest rung with the mean, or one without. */
    if (++g->n_falls > 1 && g->limit > l->mean && l->lowest < l->mean)
        g->limit = l->mean;
    else if (g->limit > l->mean && l->lowest < l->mean)
        lowest = l->mean;
    do
        g->limit--; /* what costs no less fits no better */
    while (g->limit > lowest && !fits_recently(g, g->limit, UP_MARGIN));
}

/* Whether what begins on rung @first did on the way from @limit to @rung, or just has. */
static bool begins(int first, int limit, int rung)
{
    return limit <= first && first <= rung;
}

static void go_up(struct governor *g)
{
    const struct ladder *l = &g->config.ladder;
    const int rung = cheapest_rung(&g->model, l, g->limit + 1, l->top);
    const bool relieved = g->mean_scale < RELIEF * g->fail_scale;

    if (!due(g, &g->retry))
        return;
    /* What the mean or the search costs is learnt from it alone: from steady costs before it, and
     * before more comes to it. */
    if ((begins(l->mean, g->limit, rung) || begins(l->search, g->limit, rung)) &&
        !cost_model_settled(&g->model))
        return;
    if (!fitted_for_long(g, rung) && !(relieved && fits_recently(g, rung, UP_MARGIN)))
        return;
    g->limit = rung;
    retry_works(&g->retry, g->interval.t_last_ns);
    if (g->limit == l->top)
        g->fail_scale = 0.0;
}

static int64_t probe_pause(const struct governor *g)
{
    const int64_t wait_ns = PROBE_SHARE * g->probed_ns;

    return wait_ns < PROBE_NS ? PROBE_NS : wait_ns > LONGEST_NS ? LONGEST_NS : wait_ns;
}

/* While frames pass, nothing is learnt but from a probe. */
static int step_passing(struct governor *g, const struct governor_sample *s)
{
    if (s->rung == 0) {
        g->n_probed = 0;
        g->probed_ns = 0;
        return due(g, &g->probe) ? g->config.ladder.lowest : 0;
    }
    g->probed_ns += s->filter_ns;
    if (++g->n_probed < g->config.warm_up)
        return g->config.ladder.lowest;
    g->mean_scale = cost_scale(&g->model, frame_cost(&g->config.ladder, s->filter_ns, s->rung));
    if (!fits(g, g->mean_scale, (double)s->other_ns, g->config.ladder.lowest, UP_MARGIN)) {
        g->probe.t_next_ns = s->t_capture_ns + probe_pause(g);
        return 0;
    }
    retry_works(&g->probe, s->t_capture_ns);
    g->passing = false;
    g->n = g->next = 0;
    return g->config.ladder.lowest;
}

int64_t governor_budget_ns(const struct governor *g)
{
    return (int64_t)budget_ns(g);
}

int64_t governor_room_ns(const struct governor *g)
{
    return (int64_t)fmin(budget_ns(g) - second_highest_other(g), g->interval.ns);
}

int governor_step(struct governor *g, const struct governor_sample *s)
{
    const struct ladder *l = &g->config.ladder;

    frame_interval_step(&g->interval, s->t_capture_ns, s->seq);
    follow_camera(g, s->camera_ns);
    if (l->top == 0 || g->interval.ns <= 0.0)
        return g->limit = l->top;
    if (g->passing)
        return g->limit = step_passing(g, s);
    if (s->rung > 0) {
        const struct frame_cost c = frame_cost(l, s->filter_ns, s->rung);

        if (c.alone != g->model.now.alone && g->n_cold < g->config.warm_up - 1) {
            g->n_cold++;
            return g->limit;
        }
        g->n_cold = 0;
        cost_model_follow(&g->model, l, c);
        if (cost_model_settled(&g->model))
            g->n_falls = 0;
        follow_load(g, s, c);
    }
    if (measured_too_slow(g))
        go_down(g);
    else if (g->limit < l->top)
        go_up(g);
    return g->limit;
}
