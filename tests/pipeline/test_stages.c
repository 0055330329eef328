/* The stages of the pipeline with a source, an engine and a sink that fail on purpose. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "tests/pipeline/bench.h"

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
static void test_engine_is_made_anew(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undisturbed),
        cmocka_unit_test(test_engine_breaks),
        cmocka_unit_test(test_engine_is_made_anew),
        cmocka_unit_test(test_device_rests),
        cmocka_unit_test(test_no_engine_works),
        cmocka_unit_test(test_camera_goes_and_comes_back),
        cmocka_unit_test(test_stop_while_the_camera_is_gone),
        cmocka_unit_test(test_sink_fails),
    };

    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests_name("stages", tests, NULL, NULL);
}
