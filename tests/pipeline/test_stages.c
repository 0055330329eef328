/* The stages of the pipeline with a source, an engine and a sink that fail on purpose. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "settings/settings.h"
#include "tests/pipeline/bench.h"
#include "tests/pipeline/require.h"

/* What the frames must look like, whatever fails: the checksums of an undisturbed run. */
static uint64_t expected[40];

static void test_undisturbed(void **state)
{
    struct bench b = {0};

    (void)state;
    reset(UINT64_MAX, 40, -1);
    camera.file = true;
    open_bench(&b, make_flaky(3, 1000, false));
    run_bench(&b);
    assert_int_equal(stream_result(b.stages.stream), 0);
    assert_int_equal(screen.n, 40);
    for (int i = 0; i < 40; i++)
        assert_int_equal(screen.seq[i], i);
    memcpy(expected, screen.sum, sizeof(expected));
    assert_int_not_equal(expected[0], expected[1]);
    close_bench(&b);
}

/* The engine breaks at every possible place: all frames still come, in order and right. */
static void test_engine_breaks(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 4; depth++)
        for (int at = 0; at < 8; at++)
            for (int in_submit = 0; in_submit < 2; in_submit++) {
                struct bench b = {0};

                reset(UINT64_MAX, 40, -1);
                camera.file = true;
                open_bench(&b, make_flaky(depth, at, in_submit));
                run_bench(&b);
                assert_int_equal(stream_result(b.stages.stream), 0);
                assert_int_equal(screen.n, 40);
                for (int i = 0; i < 40; i++)
                    assert_int_equal(screen.seq[i], i);
                assert_memory_equal(screen.sum, expected, sizeof(expected));
                close_bench(&b);
                assert_int_equal(engines.n_destroyed, 1);
            }
}

/* The engine breaks, cannot be made at once, and then can: it filters again. */
static void test_engine_is_made_again(void **state)
{
    (void)state;
    for (int live = 0; live < 2; live++) {
        struct bench b = {0};

        reset(UINT64_MAX, UINT64_MAX, -1);
        camera.file = !live;
        open_bench(&b, make_flaky(3, 2, false));
        camera.until_flaky = b.stages.stream;
        engines.n_failures = 1;
        run_bench(&b);
        assert_int_equal(stream_result(b.stages.stream), 0);
        assert_null(camera.until_flaky);
        assert_ptr_equal(b.stages.filtering.engine->ops, &flaky_ops);
        assert_int_equal(b.stages.filtering.depth, live ? 1 : 2);
        assert_int_equal(engines.n_pinned, 2);
        assert_int_equal(screen.n, (int)camera.ends_at);
        for (int i = 0; i < 40 && i < screen.n; i++)
            assert_int_equal(screen.sum[i], expected[i]);
        close_bench(&b);
        assert_int_equal(engines.n_destroyed, 2);
    }
}

/* With nothing to filter the device is released, and taken again when there is. */
static void test_device_rests(void **state)
{
    struct bench b = {.rest_ns = 1000000}; /* less than the time between two frames */

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    open_bench(&b, make_flaky(1, 1000, false));
    camera.until_flaky = b.stages.stream;
    engines.n_failures = 0;
    run_bench(&b);
    assert_int_equal(stream_result(b.stages.stream), 0);
    assert_true(engines.n_pinned >= 2);
    assert_true(engines.n_destroyed >= 1);
    assert_int_equal(screen.n, (int)camera.ends_at);
    for (int i = 0; i < 40 && i < screen.n; i++)
        assert_int_equal(screen.sum[i], expected[i]);
    close_bench(&b);
    assert_int_equal(engines.n_destroyed, engines.n_pinned);
}

/* Neither the engine nor the one that should take over works: an error, and all is counted. */
static void test_no_engine_works(void **state)
{
    (void)state;
    assert_int_equal(setenv("BILATCAM_CPU", "none", 1), 0);
    for (int depth = 1; depth <= 4; depth++) {
        struct bench b = {0};

        reset(UINT64_MAX, 40, -1);
        camera.file = true;
        open_bench(&b, make_flaky(depth, 0, true));
        run_bench(&b);
        assert_int_not_equal(stream_result(b.stages.stream), 0);
        assert_int_equal(screen.n, 0);
        close_bench(&b);
    }
    assert_int_equal(unsetenv("BILATCAM_CPU"), 0);
}

static void test_camera_goes_and_comes_back(void **state)
{
    struct bench b = {0};
    struct stats s;

    (void)state;
    reset(10, 40, -1);
    camera.fails = 2;
    open_bench(&b, make_flaky(1, 1000, false));
    run_bench(&b);
    stats_snapshot(stream_stats(b.stages.stream), &s);
    assert_int_equal(s.reconnects, 1);
    assert_int_equal(screen.n, 40);
    assert_memory_equal(screen.sum, expected, sizeof(expected));
    assert_int_equal(stream_state(b.stages.stream), STREAM_RUNS);
    close_bench(&b);
    assert_int_equal(camera.opened, camera.closed);
}

static void *stop_when_lost(void *arg)
{
    struct bench *b = arg;
    bool lost = false;

    while (!lost) {
        (void)poll(NULL, 0, 1);
        lost = stream_state(b->stages.stream) == STREAM_LOST;
    }
    stream_signal(b->stages.stream, STREAM_EVENT_STOP);
    return NULL;
}

static void test_stop_while_the_camera_is_gone(void **state)
{
    struct bench b = {0};
    pthread_t stopper;

    (void)state;
    reset(10, 40, -1);
    camera.fails = 1000000;
    open_bench(&b, make_flaky(1, 1000, false));
    assert_int_equal(thread_start(&stopper, "stopper", stop_when_lost, &b), 0);
    run_bench(&b);
    assert_int_equal(pthread_join(stopper, NULL), 0);
    assert_int_equal(stream_result(b.stages.stream), 0);
    assert_in_range(screen.n, 0, 10); /* what the stop overtook is counted, not shown */
    close_bench(&b);
}

static void test_sink_fails(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 4; depth++) {
        struct bench b = {0};

        reset(UINT64_MAX, 40, 5);
        camera.file = true;
        open_bench(&b, make_flaky(depth, 1000, false));
        run_bench(&b);
        assert_int_equal(stream_result(b.stages.stream), -ENOSPC);
        assert_int_equal(screen.n, 5);
        close_bench(&b);
    }
}

/* --- what the engine reports --- */

static struct status status_of(struct bench *b)
{
    struct status status;

    status_init(&status);
    stream_fill_status(b->stages.stream, &status);
    return status;
}

/* Each frame comes with its own counts (fakes.c), however many are in flight, and also when an
 * engine breaks; the status has the figures of the last. */
static void test_reports(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 4; depth++)
        for (int at = 5; at < 1000; at += 500) {
            struct bench b = {.stand_in = &flaky_ops};

            reset(UINT64_MAX, 40, -1);
            camera.file = true;
            engines.n_failures = 0;
            open_bench(&b, make_flaky(depth, at, false));
            run_bench(&b);
            assert_int_equal(screen.n, 40);
            assert_int_equal(screen.n_counted, 40);
            assert_true(status_of(&b).noise == reported_noise(39));
            assert_true(status_of(&b).frames_averaged == reported_frames(39));
            assert_true(stream_feedback(b.stages.stream).noise_share == reported_share(39));
            close_bench(&b);
        }
}

static int other_size(struct sink *s)
{
    s->picture.width = 2 * WIDTH;
    return 0;
}

/* A sink with pictures of another size gets none. */
static void test_counts_are_for_one_size(void **state)
{
    struct bench b = {0};

    (void)state;
    reset(UINT64_MAX, 40, -1);
    camera.file = true;
    screen.on_open = other_size;
    open_bench(&b, make_flaky(1, 1000, false));
    run_bench(&b);
    assert_int_equal(screen.n, 40);
    assert_int_equal(screen.n_counted, 0);
    close_bench(&b);
}

static bool is_reported(struct bench *b)
{
    return status_of(b).noise > 0.0;
}

static bool is_not_reported(struct bench *b)
{
    return !is_reported(b);
}

static void play_radius_0(struct bench *b)
{
    struct filter_request w = stream_filter_request(b->stages.stream);

    require(eventually(is_reported, b));
    w.filter.radius = 0;
    stream_set_filter_request(b->stages.stream, &w);
    require(eventually(is_not_reported, b));
    require(status_of(b).frames_averaged == 1.0);
}

static struct bench *_Atomic passing; /* from now on frames pass; NULL: not yet */
static int n_before;

/* Between two frames. */
static int check_passing(void)
{
    require(!passing || is_not_reported(passing));
    return 0;
}

static bool is_probed(struct bench *b)
{
    (void)b;
    return engines.n_submitted >= n_before + 3;
}

static void play_probes(struct bench *b)
{
    require(eventually(is_reported, b));
    require(eventually(is_not_reported, b));
    passing = b;
    n_before = engines.n_submitted;
    require(eventually(is_probed, b));
    passing = NULL;
}

/* Of frames that are shown as they came nothing is told: no figures of frames before, nor those of
 * a probe. */
static void test_unfiltered_frames(void **state)
{
    for (int probes = 0; probes < 2; probes++) {
        struct bench b = {0};
        struct filter_request w;

        (void)state;
        reset(UINT64_MAX, UINT64_MAX, -1);
        engines.frame_ms = probes ? 50 : 0;
        screen.on_write = check_passing;
        camera.fps = probes ? 30 : 0;
        open_live(&b);
        camera.pause_ms = probes ? 33 : 2;
        w = stream_filter_request(b.stages.stream);
        w.latency_budget = probes ? 20000000 : BUDGET_OFF;
        stream_set_filter_request(b.stages.stream, &w);
        run_script(&b, probes ? play_probes : play_radius_0);
        close_bench(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undisturbed),
        cmocka_unit_test(test_engine_breaks),
        cmocka_unit_test(test_engine_is_made_again),
        cmocka_unit_test(test_device_rests),
        cmocka_unit_test(test_no_engine_works),
        cmocka_unit_test(test_camera_goes_and_comes_back),
        cmocka_unit_test(test_stop_while_the_camera_is_gone),
        cmocka_unit_test(test_sink_fails),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_counts_are_for_one_size),
        cmocka_unit_test(test_unfiltered_frames),
    };

    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests_name("stages", tests, NULL, NULL);
}
