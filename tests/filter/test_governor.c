/* The governor against models of a machine: tables of loads, with limits on what it may do. */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filter/camera_delay.h"
#include "filter/governor.h"

#define MS 1e6
#define MAX_FRAMES 4000
#define RECORDED_NS_PER_TAP (15.5 * MS / 441) /* of the machine of the recorded trace, alone */
#define RECORDED_BUDGET_NS 22000000

/* A machine whose filter costs load * (fixed + per_tap * taps), with noise. */
struct machine {
    double fixed_ns, per_tap_ns, other_ns;
    double noise; /* of the cost, uniform, +- this part */
    uint64_t rng;
};

/* Stamps frames so long before they can be read, plus anything from 0 to the jitter. Either the
 * frames are late by the jitter, or their stamps are early. */
struct camera {
    double age_ns, jitter_ns;
    bool early;
    struct camera_delay delay;
};

struct run {
    struct governor governor;
    struct machine machine;
    struct camera camera;
    double late_ns; /* our own reading */
    int64_t t_ns, interval_ns;
    uint64_t seq;
    int n;
    int radius[MAX_FRAMES];
    double latency_ns[MAX_FRAMES];
};

static double uniform(uint64_t *rng)
{
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (double)(*rng >> 11) / 9007199254740992.0;
}

static void start(struct run *r, int radius, int64_t interval_ns, struct machine m)
{
    const struct governor_config config = {
        .interval_ns = interval_ns, .radius = radius, .radius_min = 1, .window = WINDOW_DISC};

    memset(r, 0, sizeof(*r));
    r->machine = m;
    r->machine.rng = 42;
    r->interval_ns = interval_ns;
    r->t_ns = 1000000000;
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

static void frame(struct run *r, double load)
{
    struct machine *m = &r->machine;
    int64_t t_capture_ns, camera_ns;
    const double other_ns = m->other_ns + late_reading(r, &t_capture_ns, &camera_ns);
    const int radius = r->governor.limit;
    const double noise = 1.0 + m->noise * (2.0 * uniform(&m->rng) - 1.0);
    const double cost =
        radius ? load * (m->fixed_ns + m->per_tap_ns * filter_taps(WINDOW_DISC, radius)) * noise
               : 0.0;
    const struct governor_sample s = {.t_capture_ns = t_capture_ns,
                                      .seq = r->seq,
                                      .filter_ns = (int64_t)cost,
                                      .other_ns = (int64_t)other_ns,
                                      .camera_ns = camera_ns,
                                      .radius = radius};

    assert_true(r->n < MAX_FRAMES);
    r->radius[r->n] = radius;
    r->latency_ns[r->n++] = cost + other_ns;
    r->t_ns += r->interval_ns;
    r->seq++;
    (void)governor_step(&r->governor, &s);
}

static void frames(struct run *r, int n, double load)
{
    for (int i = 0; i < n; i++)
        frame(r, load);
}

static int changes(const struct run *r, int from, int to)
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

/* What the governor promises of a stretch: 95 % in time, and never late for long. */
static void check_budget(const struct run *r, int from, int to, double budget_ns)
{
    int late_now = 0;

    assert_true(late_frames(r, from, to, budget_ns) <= (to - from) / 20);
    for (int i = from; i < to; i++) {
        late_now = r->latency_ns[i] > budget_ns ? late_now + 1 : 0;
        assert_true(late_now <= 5);
    }
}

static void check_rises_by_one(const struct run *r)
{
    for (int i = 1; i < r->n; i++)
        assert_true(r->radius[i] <= r->radius[i - 1] + 1);
}

/* 10 ms at radius 10 of 33 ms: fits alone, not when the load is four times that. */
static const struct machine laptop = {1 * MS, 9 * MS / 317, 4 * MS, 0.05, 0};

static void test_idle_machine_keeps_the_radius(void **state)
{
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 600, 1.0);
    assert_int_equal(changes(&r, 0, r.n), 0);
}

static void test_step(void **state)
{
    static const double loads[] = {3.2, 4.0, 8.0, 16.0};
    static const int radii[] = {5, 10, 16};

    (void)state;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 4; i++) {
            struct machine m = laptop;
            struct run r;

            m.per_tap_ns = 9 * MS / filter_taps(WINDOW_DISC, radii[k]);
            start(&r, radii[k], 33333333, m);
            frames(&r, 300, 1.0);
            frames(&r, 300, loads[i]);
            assert_true(r.radius[599] < radii[k]);
            check_budget(&r, 300, 600, 33333333);
            frames(&r, 300, 1.0);
            assert_int_equal(r.radius[599 + 60], radii[k]);
            check_budget(&r, 600, 900, 33333333);
            check_rises_by_one(&r);
        }
}

/* Constant loads from idle to hopeless, 15 % noise: at most one change in any 10 s once it has
 * settled, and 95 % of the frames in time. */
static void test_no_pumping(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        struct machine m = laptop;
        struct run r;

        m.noise = 0.15;
        start(&r, 10, 33333333, m);
        frames(&r, 3600, 1.0 + i * 0.1);
        for (int from = 300; from + 300 <= r.n; from += 30)
            assert_true(changes(&r, from, from + 300) <= 1);
        check_budget(&r, 300, r.n, 33333333);
        check_rises_by_one(&r);
    }
}

static void test_spikes(void **state)
{
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    for (int i = 0; i < 20; i++) {
        frames(&r, 59, 1.0);
        frame(&r, 10.0);
    }
    assert_int_equal(changes(&r, 0, r.n), 0);
}

static void test_ramp(void **state)
{
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    for (int i = 0; i < 900; i++)
        frame(&r, 1.0 + 7.0 * i / 900);
    check_budget(&r, 0, r.n, 33333333);
    for (int i = 0; i < 900; i++)
        frame(&r, 8.0 - 7.0 * i / 900);
    frames(&r, 360, 1.0);
    assert_int_equal(r.radius[r.n - 1], 10);
    check_rises_by_one(&r);
}

static void test_sinusoid(void **state)
{
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    for (int i = 0; i < 1800; i++) /* a period of 10 s */
        frame(&r, 2.5 + 1.5 * sin(i * 2 * 3.14159265 / 300));
    check_budget(&r, 0, r.n, 33333333);
    check_rises_by_one(&r);
}

/* Every fourth frame costs twice as much: that is what the machine is like, not a spike. */
static void test_bimodal(void **state)
{
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    for (int i = 0; i < 1800; i++)
        frame(&r, i % 4 ? 2.0 : 4.0);
    check_budget(&r, 60, r.n, 33333333);
    assert_true(changes(&r, 60, r.n) <= 6);
}

static void test_too_slow_for_anything(void **state)
{
    struct run r;
    int filtered = 0;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 300, 1.0);
    frames(&r, 1800, 60.0);
    assert_true(r.governor.passing);
    for (int i = 310; i < 2100; i++)
        filtered += r.radius[i] > 0;
    assert_true(filtered > 0 && filtered <= 1790 / 20); /* probes */
    frames(&r, 60, 1.0);
    assert_false(r.governor.passing);
    assert_int_equal(r.radius[r.n - 1], 10);
}

/* A camera that halves its rate in the dark doubles the budget, and back. */
static void test_frame_rate_change(void **state)
{
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 300, 4.0);
    assert_true(r.radius[299] < 10);
    r.interval_ns = 66666666;
    frames(&r, 300, 4.0);
    assert_int_equal(r.radius[599], 10);
    r.interval_ns = 33333333;
    frames(&r, 300, 4.0);
    assert_true(r.radius[899] < 10);
    check_budget(&r, 630, 900, 33333333);
}

/* The load of a real machine with a busy neighbour, frame by frame: traces/busy.csv was written by
 * `bilatcam --trace` on two cores, the second of which had other work for a third of the time.
 * What each frame cost there, over what it would cost alone, is the load here. */
static void test_recorded_load(void **state)
{
    const struct machine m = {0.3 * MS, RECORDED_NS_PER_TAP, 0.4 * MS, 0.0, 0};
    const struct governor_config request = {.budget_ns = RECORDED_BUDGET_NS,
                                            .interval_ns = 33333333,
                                            .radius = 12,
                                            .radius_min = 1,
                                            .window = WINDOW_DISC};
    FILE *trace = fopen(TRACE_FOLDER "/busy.csv", "r");
    char line[256];
    double load = 1.0;
    struct run r;

    (void)state;
    assert_non_null(trace);
    assert_non_null(fgets(line, sizeof(line), trace));
    start(&r, 12, 33333333, m);
    governor_configure(&r.governor, &request);
    while (fgets(line, sizeof(line), trace)) {
        double filter_ms;
        int radius;

        assert_int_equal(sscanf(line, "%*f,%*d,%*d,%d,%*f,%*f,%lf", &radius, &filter_ms), 2);
        if (radius)
            load = filter_ms * MS / (m.fixed_ns + m.per_tap_ns * filter_taps(WINDOW_DISC, radius));
        frame(&r, load);
    }
    assert_int_equal(fclose(trace), 0);
    assert_int_equal(r.n, 900);
    check_budget(&r, 0, r.n, RECORDED_BUDGET_NS);
    check_rises_by_one(&r);
    assert_int_equal(changes(&r, 0, 298), 0); /* before the neighbour came */
    assert_true(r.radius[320] < 12);
    assert_int_equal(r.radius[660], 12); /* 2 s after it went */
}

/* Stalls, clocks that stand still or run back, and frames lost on the way. */
static void test_strange_clocks(void **state)
{
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 300, 1.0);
    r.t_ns += 3600000000000;
    frames(&r, 30, 1.0);
    r.interval_ns = 0;
    frames(&r, 30, 1.0);
    r.t_ns -= 1800000000000;
    r.interval_ns = 33333333;
    frames(&r, 30, 1.0);
    for (int i = 0; i < 200; i++) { /* every second frame lost: the camera is as fast as before */
        frame(&r, 1.0);
        r.seq++;
        r.t_ns += r.interval_ns;
    }
    assert_true(fabs(r.governor.interval_ns - 33333333) < 3 * MS);
    assert_int_equal(r.radius[r.n - 1], 10);
}

static void test_changed_requests(void **state)
{
    struct governor_config request = {
        .interval_ns = 33333333, .radius = 4, .radius_min = 1, .window = WINDOW_DISC};
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 100, 1.0);
    governor_configure(&r.governor, &request);
    assert_int_equal(r.governor.limit, 4);
    request.radius = 12;
    governor_configure(&r.governor, &request);
    frames(&r, 60, 1.0);
    assert_int_equal(r.radius[r.n - 1], 12);
    request.radius = 0;
    governor_configure(&r.governor, &request);
    assert_int_equal(r.governor.limit, 0);
    frames(&r, 60, 1.0);
    assert_false(r.governor.passing);
    request.radius = 10;
    governor_configure(&r.governor, &request);
    frames(&r, 2, 1.0);
    assert_int_equal(r.radius[r.n - 1], 10);
    request.radius_min = 9; /* a minimum that the load does not allow: unfiltered, not late */
    governor_configure(&r.governor, &request);
    frames(&r, 60, 6.0);
    assert_true(r.governor.passing);
}

/* --- cameras as they are: stamps that are old when the frame comes, and jitter --- */

static const double camera_fps[] = {30, 60};

/* 1.7 ms at radius 5, as a GPU or a fast CPU has it. */
static const struct machine fast = {0.2 * MS, 1.5 * MS / 81, 0.5 * MS, 0.05, 0};

static void start_camera(struct run *r, struct machine m, double fps, double age_ms,
                         double jitter_ms)
{
    start(r, 5, (int64_t)(1000 * MS / fps), m);
    r->camera.age_ns = age_ms * MS;
    r->camera.jitter_ns = jitter_ms * MS;
}

static void test_old_stamps_cost_nothing(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++)
        for (int age = 0; age <= 60; age++)
            for (int jitter = 0; jitter <= 8; jitter += 2) {
                struct run r;

                start_camera(&r, fast, camera_fps[f], age, jitter);
                frames(&r, 900, 1.0);
                assert_int_equal(changes(&r, 0, r.n), 0);
                assert_int_equal(r.radius[0], 5);
            }
}

/* A load that needs a smaller radius gets the same one however old the stamps are. */
static void test_old_stamps_under_load(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++)
        for (int jitter = 0; jitter <= 8; jitter += 2) {
            const double load = 900 / camera_fps[f];
            struct run fresh;

            start_camera(&fresh, fast, camera_fps[f], 0, jitter);
            frames(&fresh, 1800, load);
            assert_true(fresh.radius[1799] < 5);
            for (int i = 0; i < fresh.n; i++)
                assert_true(fresh.radius[i] > 0);
            for (int from = 300; from + 600 <= fresh.n; from += 30)
                assert_true(changes(&fresh, from, from + 600) <= 1);

            for (int age = 5; age <= 60; age += 5) {
                struct run r;

                start_camera(&r, fast, camera_fps[f], age, jitter);
                frames(&r, 1800, load);
                for (int i = 0; i < r.n; i++)
                    assert_int_equal(r.radius[i], fresh.radius[i]);
            }
        }
}

/* In the dark a camera exposes for longer, and frames are older when they come. That is believed
 * after some frames. */
static void test_stamps_become_older(void **state)
{
    struct run r;

    (void)state;
    start_camera(&r, fast, 30, 8, 2);
    frames(&r, 300, 1.0);
    r.camera.age_ns = 40 * MS;
    frames(&r, 300, 1.0);
    for (int i = 300 + 20; i < r.n; i++)
        assert_int_equal(r.radius[i], 5);
    r.camera.age_ns = 8 * MS;
    frames(&r, 300, 1.0);
    assert_int_equal(changes(&r, 600, r.n), 0);
}

/* A camera that is many times slower than it said leaves time for what would not fit else. */
static void test_wrong_rate_announced(void **state)
{
    const struct governor_config request = {
        .budget_ns = 600000000, .interval_ns = 33333333, .radius = 5, .radius_min = 1};
    const struct machine slow = {10 * MS, 70 * MS / 81, 20 * MS, 0.05, 0};
    struct run r;

    (void)state;
    start_camera(&r, slow, 30, 690, 0);
    governor_configure(&r.governor, &request);
    r.interval_ns = 700000000;
    frames(&r, 30, 1.0);
    assert_int_equal(changes(&r, 0, r.n), 0);
}

/* The first frame can be younger, or much older, than what follows. */
static void test_odd_first_stamp(void **state)
{
    static const double ages[] = {0, 500};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct run r;

        start_camera(&r, fast, 30, ages[i], 0);
        frame(&r, 1.0);
        r.camera.age_ns = 34 * MS;
        frames(&r, 300, 1.0);
        assert_int_equal(changes(&r, 0, r.n), 0);
    }
}

/* What we read too late is ours, as long as some frames are read in time. */
static void test_late_reading_counts(void **state)
{
    struct run r;

    (void)state;
    start_camera(&r, laptop, 30, 34, 0);
    frames(&r, 300, 4.5);
    assert_int_equal(changes(&r, 0, r.n), 0);
    for (int i = 0; i < 300; i++) {
        r.late_ns = i % 3 ? 15 * MS : 0;
        frame(&r, 4.5);
    }
    assert_true(r.radius[320] < r.radius[299]);
    assert_true(r.radius[599] < r.radius[299]);
}

/* What small radii cost is overrated until it has been measured. */
static void test_tenfold_step_is_still_filtered(void **state)
{
    static const int radii[] = {5, 10, 16, 32};

    (void)state;
    for (int f = 0; f < 2; f++)
        for (int k = 0; k < 4; k++) {
            const struct machine m = {0.1 * MS, 11 * MS / filter_taps(WINDOW_DISC, radii[k]),
                                      1 * MS, 0.05, 0};
            struct run r;
            int fitting = 1;

            start(&r, radii[k], (int64_t)(1000 * MS / camera_fps[f]), m);
            frames(&r, 300, 1.0);
            frames(&r, 600, 10.0);
            for (int i = 0; i < r.n; i++)
                assert_true(r.radius[i] > 0);
            while (10.0 * 1.05 *
                           (m.fixed_ns + m.per_tap_ns * filter_taps(WINDOW_DISC, fitting + 1)) +
                       m.other_ns <=
                   0.95 * 1000 * MS / camera_fps[f])
                fitting++;
            assert_true(r.radius[340] >= fitting - 1 && r.radius[340] <= fitting + 1);
            check_budget(&r, 300, r.n, 1000 * MS / camera_fps[f]);
        }
}

static void test_minimum_acts_at_once(void **state)
{
    struct governor_config request = {
        .interval_ns = 33333333, .radius = 10, .radius_min = 1, .window = WINDOW_DISC};
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 300, 8.0);
    assert_true(r.governor.limit > 0 && r.governor.limit < 6);
    request.radius_min = 6;
    governor_configure(&r.governor, &request);
    assert_int_equal(r.governor.limit, 6);
    frames(&r, 10, 8.0);
    assert_true(r.governor.passing); /* it was said not to go below */
    request.radius_min = 1;
    governor_configure(&r.governor, &request);
    frames(&r, 4, 8.0);
    assert_false(r.governor.passing);
}

/* A probe is the one frame that is filtered while others pass, and every one says so. */
static void test_probes_are_told_apart(void **state)
{
    struct run r;
    int probes = 0;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 60, 60.0);
    for (int i = 0; i < 600; i++) {
        assert_true(r.governor.passing);
        probes += r.governor.limit > 0;
        frame(&r, 60.0);
    }
    assert_in_range(probes, 5, 20);
}

/* The budget of one frame interval is measured from stamps, and does not waver with them. */
static void test_jittering_stamps(void **state)
{
    static const double jitter_ms[] = {5, 10, 15};
    struct run r;

    (void)state;
    for (int i = 0; i < 3; i++) {
        start(&r, 7, 33333333, (struct machine){2 * MS, 0.1 * MS, 1 * MS, 0.03, 0});
        r.camera =
            (struct camera){.age_ns = 20 * MS, .jitter_ns = jitter_ms[i] * MS, .early = true};
        for (int n = 0; n < 1200; n++) {
            frame(&r, 1.0);
            assert_true(fabs(r.governor.interval_ns - 33333333) < 1.2 * MS);
        }
        assert_int_equal(changes(&r, 300, 1200), 0);
    }
}

/* Nor does a radius that is limited because of them rise and fall with the estimate of the
 * camera's delay. */
static void test_limited_by_jitter(void **state)
{
    struct run r;

    (void)state;
    start(&r, 7, 33333333, (struct machine){2 * MS, 0.14 * MS, 1 * MS, 0.03, 0});
    r.camera = (struct camera){.age_ns = 20 * MS, .jitter_ns = 15 * MS, .early = true};
    frames(&r, 3600, 1.0);
    assert_true(r.radius[3599] < 7);
    assert_true(changes(&r, 600, 3600) <= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_machine_keeps_the_radius),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_no_pumping),
        cmocka_unit_test(test_spikes),
        cmocka_unit_test(test_ramp),
        cmocka_unit_test(test_sinusoid),
        cmocka_unit_test(test_bimodal),
        cmocka_unit_test(test_too_slow_for_anything),
        cmocka_unit_test(test_frame_rate_change),
        cmocka_unit_test(test_recorded_load),
        cmocka_unit_test(test_strange_clocks),
        cmocka_unit_test(test_changed_requests),
        cmocka_unit_test(test_old_stamps_cost_nothing),
        cmocka_unit_test(test_old_stamps_under_load),
        cmocka_unit_test(test_stamps_become_older),
        cmocka_unit_test(test_wrong_rate_announced),
        cmocka_unit_test(test_odd_first_stamp),
        cmocka_unit_test(test_late_reading_counts),
        cmocka_unit_test(test_tenfold_step_is_still_filtered),
        cmocka_unit_test(test_minimum_acts_at_once),
        cmocka_unit_test(test_probes_are_told_apart),
        cmocka_unit_test(test_jittering_stamps),
        cmocka_unit_test(test_limited_by_jitter),
    };

    return cmocka_run_group_tests_name("governor", tests, NULL, NULL);
}
