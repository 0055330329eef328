/* The governor and cameras as they are: stamps that are old when the frame comes, and jitter, rates
 * that change, frames that are lost. */
#include "tests/filter/governor_run.h"

#include <math.h>

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

/* A server that begins with what it has kept, all at once, leaves as much time for a frame as
 * before. A camera that stays so much faster does not. */
static void test_burst(void **state)
{
    struct run r;

    (void)state;
    start(&r, 5, 33333333, fast);
    r.interval_ns = 300000;
    frames(&r, 60, 1.0);
    r.interval_ns = 33333333;
    frames(&r, 1, 1.0);
    assert_true(fabs(r.governor.interval.ns - 33333333) < MS);
    frames(&r, 60, 1.0);
    assert_int_equal(r.radius[r.n - 1], 5);
    r.interval_ns = 5000000;
    frames(&r, 400, 1.0);
    assert_true(fabs(r.governor.interval.ns - 5000000) < MS);
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
    assert_true(fabs(r.governor.interval.ns - 33333333) < 3 * MS);
    assert_int_equal(r.radius[r.n - 1], 10);
}

/* Nor does a clock that runs back make a wait longer. */
static void test_clock_runs_back_in_a_wait(void **state)
{
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    r.t_ns += 7200000000000;
    frames(&r, 10, 8.0);
    assert_true(r.governor.limit < 10);
    r.t_ns -= 3600000000000;
    frames(&r, 120, 1.0);
    assert_int_equal(r.radius[r.n - 1], 10);
}

/* A camera that is many times slower than it said leaves time for what would not fit else. */
static void test_wrong_rate_announced(void **state)
{
    struct governor_config request = request_of(5, 33333333);
    const struct machine slow = {10 * MS, 70 * MS / 81, 20 * MS, 0.05, 0};
    struct run r;

    (void)state;
    start_camera(&r, slow, 30, 690, 0);
    request.budget_ns = 600000000;
    governor_configure(&r.governor, &request);
    r.interval_ns = 700000000;
    frames(&r, 30, 1.0);
    assert_int_equal(changes(&r, 0, r.n), 0);
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
            assert_true(fabs(r.governor.interval.ns - 33333333) < 1.2 * MS);
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
        cmocka_unit_test(test_frame_rate_change),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_strange_clocks),
        cmocka_unit_test(test_clock_runs_back_in_a_wait),
        cmocka_unit_test(test_wrong_rate_announced),
        cmocka_unit_test(test_old_stamps_cost_nothing),
        cmocka_unit_test(test_old_stamps_under_load),
        cmocka_unit_test(test_stamps_become_older),
        cmocka_unit_test(test_odd_first_stamp),
        cmocka_unit_test(test_late_reading_counts),
        cmocka_unit_test(test_jittering_stamps),
        cmocka_unit_test(test_limited_by_jitter),
    };

    return cmocka_run_group_tests_name("governor-camera", tests, NULL, NULL);
}
