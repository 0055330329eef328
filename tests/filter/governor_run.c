#include "tests/filter/governor_run.h"

#include <string.h>

const struct machine laptop = {1 * MS, 9 * MS / 317, 4 * MS, 0.05, 0};

static double uniform(uint64_t *rng)
{
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (double)(*rng >> 11) / 9007199254740992.0;
}

struct governor_config request_of(int radius, int64_t interval_ns)
{
    const struct filter disc = {.radius = radius, .window = WINDOW_DISC};
    struct governor_config ret = {.interval_ns = interval_ns};

    ladder_init(&ret.ladder, &disc, 1);
    return ret;
}

void start(struct run *r, int radius, int64_t interval_ns, struct machine m)
{
    const struct governor_config config = request_of(radius, interval_ns);

    memset(r, 0, sizeof(*r));
    r->machine = m;
    r->machine.rng = 42;
    r->interval_ns = interval_ns;
    r->t_ns = 1000000000;
    memcpy(r->cost, config.ladder.cost, sizeof(r->cost));
    governor_init(&r->governor, &config);
}

/* What is held against us of the time until the frame was read. */
static double late_reading(struct run *r, int64_t *t_capture_ns, int64_t *camera_ns)
{
    struct camera *c = &r->camera;
    const double jitter_ns = c->jitter_ns > 0.0 ? c->jitter_ns * uniform(&r->machine.rng) : 0.0;
    const int64_t wait_ns = (int64_t)(c->age_ns + jitter_ns + r->late_ns);

    *t_capture_ns = r->t_ns - (c->early ? (int64_t)jitter_ns : 0);
    /* Who reads late was not waiting. */
    *camera_ns = camera_delay_step(&c->delay, *t_capture_ns,
                                   *t_capture_ns + (r->late_ns > 0.0 ? wait_ns : 0),
                                   *t_capture_ns + wait_ns);
    return wait_ns > *camera_ns ? (double)(wait_ns - *camera_ns) : 0.0;
}

void frame(struct run *r, double load)
{
    struct machine *m = &r->machine;
    int64_t t_capture_ns, camera_ns;
    const double other_ns = m->other_ns + late_reading(r, &t_capture_ns, &camera_ns);
    const int radius = r->governor.limit;
    const double noise = 1.0 + m->noise * (2.0 * uniform(&m->rng) - 1.0);
    const bool alone = radius < r->governor.config.ladder.mean;
    const bool fresh =
        r->fresh > 0.0 && (alone != r->alone || r->t_ns - r->t_filtered_ns > 250000000);
    const double taps = r->cost[radius] * (fresh ? r->fresh : 1.0);
    const double cost = radius ? load * (m->fixed_ns + m->per_tap_ns * taps) * noise : 0.0;
    const struct governor_sample s = {.t_capture_ns = t_capture_ns,
                                      .seq = r->seq,
                                      .filter_ns = (int64_t)cost,
                                      .other_ns = (int64_t)other_ns,
                                      .camera_ns = camera_ns,
                                      .rung = radius};

    assert_true(r->n < MAX_FRAMES);
    r->radius[r->n] = radius;
    r->latency_ns[r->n++] = cost + other_ns;
    r->alone = alone;
    r->t_filtered_ns = radius ? r->t_ns : r->t_filtered_ns;
    r->t_ns += r->interval_ns;
    r->seq++;
    (void)governor_step(&r->governor, &s);
}

void frames(struct run *r, int n, double load)
{
    for (int i = 0; i < n; i++)
        frame(r, load);
}

int changes(const struct run *r, int from, int to)
{
    int n = 0;

    for (int i = from + 1; i < to; i++)
        n += r->radius[i] != r->radius[i - 1];
    return n;
}

static int late_frames(const struct run *r, int from, int to, double budget_ns)
{
    int n = 0;

    for (int i = from; i < to; i++)
        n += r->latency_ns[i] > budget_ns;
    return n;
}

void check_budget(const struct run *r, int from, int to, double budget_ns)
{
    int late_now = 0;

    assert_true(late_frames(r, from, to, budget_ns) <= (to - from) / 20);
    for (int i = from; i < to; i++) {
        late_now = r->latency_ns[i] > budget_ns ? late_now + 1 : 0;
        assert_true(late_now <= 5);
    }
}

void check_rises_by_one(const struct run *r)
{
    for (int i = 1; i < r->n; i++)
        assert_true(r->radius[i] <= r->radius[i - 1] + 1);
}
