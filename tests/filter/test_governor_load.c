/* The governor under loads of all kinds: tables of them, with limits on what it may do. */
#include "tests/filter/governor_run.h"

#include <math.h>
#include <stdio.h>

#define RECORDED_NS_PER_TAP (15.5 * MS / 441) /* of the machine of the recorded trace, alone */
#define RECORDED_BUDGET_NS 22000000

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

/* A machine on which a frame costs little besides its taps or nothing, and one or a few of them
 * take long: what a rung costs that was tried in vain is known from then on. */
static void test_no_pumping_of_few_taps(void **state)
{
    static const int radii[] = {2, 3, 5, 17};

    (void)state;
    for (int k = 0; k < 4; k++)
        for (double fixed = 0.0; fixed <= 4.0; fixed += 0.5)
            for (double share = 0.2; share <= 0.7; share += 0.05) { /* of the interval, radius 1 */
                const double tap_ns = share * 33333333 / (5 + fixed);
                struct run r;

                start(&r, radii[k], 33333333,
                      (struct machine){fixed * tap_ns, tap_ns, 1 * MS, 0.06, 0});
                frames(&r, 1800, 1.0);
                assert_true(changes(&r, 300, r.n) <= 2);
                check_budget(&r, 300, r.n, 33333333);
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

/* Every twelfth frame is late on the lowest rung, which is better than no filter. */
static void test_spikes_on_the_lowest_rung(void **state)
{
    struct run r;

    (void)state;
    start(&r, 1, 33333333, (struct machine){1 * MS, 9 * MS / 5, 4 * MS, 0.05, 0});
    for (int i = 0; i < 1200; i++) {
        assert_false(r.governor.passing);
        frame(&r, i % 12 ? 1.0 : 4.0);
    }
}

/* Loads of @busy frames in @period that are too much for any filter. Returns how many frames passed
 * or were probes, and how often the picture changed between both. */
static int overload(struct run *r, int n, int period, int busy, int *ret_flips)
{
    int passed = 0;

    *ret_flips = 0;
    for (int i = 0; i < n; i++) {
        const bool passing = r->governor.passing;

        passed += passing;
        frame(r, i % period < busy ? 60.0 : 1.0);
        *ret_flips += passing != r->governor.passing;
    }
    return passed;
}

/* What takes a second now and then costs the filter little more than that second. Where it comes
 * all the time frames pass, so that the picture does not flicker. */
static void test_seconds_of_overload(void **state)
{
    struct run r;
    int flips;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 60, 1.0);
    assert_true(overload(&r, 1800, 300, 30, &flips) <= 6 * 40);
    assert_int_equal(flips, 2 * 6);
    start(&r, 10, 33333333, laptop);
    (void)overload(&r, 1800, 60, 15, &flips);
    assert_in_range(flips, 2, 16);
}

/* Steps down in a row are one failure, so that what is gone soon does not make the wait longer. */
static void test_one_wait_for_steps_in_a_row(void **state)
{
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 60, 1.0);
    for (double load = 4.0; load <= 12.0; load += 4.0)
        frames(&r, 5, load);
    assert_int_equal(changes(&r, 60, r.n), 3);
    assert_int_equal(r.governor.retry.pause_ns, 250000000);
}

/* What small radii cost is overrated until it has been measured. */
static void test_tenfold_step_is_still_filtered(void **state)
{
    static const double fps[] = {30, 60};
    static const int radii[] = {5, 10, 16, 32};

    (void)state;
    for (int f = 0; f < 2; f++)
        for (int k = 0; k < 4; k++) {
            const struct machine m = {0.1 * MS, 11 * MS / filter_taps(WINDOW_DISC, radii[k]),
                                      1 * MS, 0.05, 0};
            struct run r;
            int fitting = 1;

            start(&r, radii[k], (int64_t)(1000 * MS / fps[f]), m);
            frames(&r, 300, 1.0);
            frames(&r, 600, 10.0);
            for (int i = 0; i < r.n; i++)
                assert_true(r.radius[i] > 0);
            while (10.0 * 1.05 *
                           (m.fixed_ns + m.per_tap_ns * filter_taps(WINDOW_DISC, fitting + 1)) +
                       m.other_ns <=
                   0.95 * 1000 * MS / fps[f])
                fitting++;
            assert_true(r.radius[340] >= fitting - 1 && r.radius[340] <= fitting + 1);
            check_budget(&r, 300, r.n, 1000 * MS / fps[f]);
        }
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

/* The load of a real machine with a busy neighbour, frame by frame: traces/busy.csv was written by
 * `bilatcam --trace` on two cores, the second of which had other work for a third of the time.
 * What each frame cost there, over what it would cost alone, is the load here. */
static void test_recorded_load(void **state)
{
    const struct machine m = {0.3 * MS, RECORDED_NS_PER_TAP, 0.4 * MS, 0.0, 0};
    struct governor_config request = request_of(12, 33333333);
    FILE *trace = fopen(TRACE_FOLDER "/busy.csv", "r");
    char line[256];
    double load = 1.0;
    struct run r;

    (void)state;
    assert_non_null(trace);
    assert_non_null(fgets(line, sizeof(line), trace));
    start(&r, 12, 33333333, m);
    request.budget_ns = RECORDED_BUDGET_NS;
    governor_configure(&r.governor, &request);
    while (fgets(line, sizeof(line), trace)) {
        double filter_ms;
        int radius;

        assert_int_equal(sscanf(line, "%*f,%*d,%*d,%d,%*f,%*f,%lf", &radius, &filter_ms), 2);
        if (radius)
            load = filter_ms * MS / (m.fixed_ns + m.per_tap_ns * r.cost[radius]);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_machine_keeps_the_radius),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_no_pumping),
        cmocka_unit_test(test_no_pumping_of_few_taps),
        cmocka_unit_test(test_spikes),
        cmocka_unit_test(test_ramp),
        cmocka_unit_test(test_sinusoid),
        cmocka_unit_test(test_bimodal),
        cmocka_unit_test(test_too_slow_for_anything),
        cmocka_unit_test(test_spikes_on_the_lowest_rung),
        cmocka_unit_test(test_seconds_of_overload),
        cmocka_unit_test(test_one_wait_for_steps_in_a_row),
        cmocka_unit_test(test_tenfold_step_is_still_filtered),
        cmocka_unit_test(test_probes_are_told_apart),
        cmocka_unit_test(test_recorded_load),
    };

    return cmocka_run_group_tests_name("governor-load", tests, NULL, NULL);
}
