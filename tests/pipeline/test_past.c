/* What engines are told: of every frame, once and in order, and of every break in the stream. */
#include "tests/pipeline/recorder.h"

#include <string.h>

#include "base/log.h"
#include "base/thread.h"

#define N_FRAMES 40

/* Checks a run with the camera. */
static void check_camera_run(struct bench *b)
{
    recording.n_breaks = camera.n_first;
    memcpy(recording.breaks, camera.first, sizeof(recording.breaks));
    check_calls(false);
    close_bench(b);
}

/* --- streams that do not break --- */

static void test_file(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 4; depth++) {
        struct bench b = {0};

        reset(UINT64_MAX, N_FRAMES, -1);
        camera.file = true;
        open_recorded(&b, depth, RECORDED_NEVER, 0);
        recording.mixed = depth % 2 == 0;
        run_bench(&b);
        assert_int_equal(last_seq(), N_FRAMES - 1);
        assert_int_equal(count_calls('-'), recording.mixed ? N_FRAMES / 3 : 0);
        assert_int_equal(count_calls('|'), 0);
        check_camera_run(&b);
    }
}

static void play_radius_0(struct bench *b)
{
    assert_true(await_calls(b, 10));
    set_radius(0);
    assert_true(await_calls(b, 10));
    set_radius(2);
    assert_true(await_calls(b, 10));
}

static void test_radius_0(void **state)
{
    struct bench b = {0};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.pause_ms = 2;
    open_recorded(&b, 1, RECORDED_NEVER, 0);
    run_script(&b, play_radius_0);
    assert_true(count_calls('-') > 0);
    assert_int_equal(count_calls('|'), 0);
    check_camera_run(&b);
}

static bool probe_came(struct bench *b)
{
    int i = 0;

    (void)b;
    while (i < recording.n_calls && recording.calls[i].what == 'x')
        i++;
    while (i < recording.n_calls && recording.calls[i].what == '-')
        i++;
    return i + 1 < recording.n_calls;
}

static void play_probe(struct bench *b)
{
    assert_true(eventually(probe_came, b));
}

/* Too slow at any radius: frames pass, but for the probes, which the engine sees as all others. */
static void test_governor_passes(void **state)
{
    struct bench b = {0};
    struct filter_request w;

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.fps = 30;
    camera.pause_ms = 33;
    open_recorded(&b, 1, RECORDED_NEVER, 0);
    recording.delay_ms = 50;
    w = stream_filter_request(b.stages.stream);
    w.latency_budget = 20000000;
    w.radius_min = 1;
    stream_set_filter_request(b.stages.stream, &w);
    run_script(&b, play_probe);
    assert_int_equal(count_calls('|'), 0);
    check_camera_run(&b);
}

/* --- streams that break --- */

static enum stream_state reason;

static bool is_held(struct bench *b)
{
    return stream_state(b->stages.stream) == reason;
}

static void play_hold(struct bench *b)
{
    assert_true(eventually(runs, b));
    assert_true(await_calls(b, 5));
    stream_hold(b->stages.stream, reason, true);
    assert_true(eventually(is_held, b));
    stream_hold(b->stages.stream, reason, false);
    assert_true(eventually(runs, b));
    assert_true(await_calls(b, 10));
}

/* Whether it is closed meanwhile or not. */
static void test_holds(void **state)
{
    static const enum stream_state reasons[] = {STREAM_PAUSED, STREAM_IDLE, STREAM_ASLEEP};

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct bench b = {0};

        reset(UINT64_MAX, UINT64_MAX, -1);
        camera.pause_ms = 2;
        camera.stays = i >= 3;
        reason = reasons[i % 3];
        open_recorded(&b, 1, RECORDED_NEVER, 0);
        run_script(&b, play_hold);
        assert_int_equal(camera.n_first, 1);
        assert_int_equal(count_calls('|'), 1);
        check_camera_run(&b);
    }
}

static void test_camera_lost(void **state)
{
    struct bench b = {0};

    (void)state;
    reset(10, N_FRAMES, -1);
    camera.fails = 2;
    open_recorded(&b, 1, RECORDED_NEVER, 0);
    run_bench(&b);
    assert_int_equal(camera.n_first, 1);
    assert_int_equal(count_calls('|'), 1);
    check_camera_run(&b);
}

static bool is_reopened(struct bench *b)
{
    (void)b;
    return camera.opened == 2;
}

static void play_other_camera(struct bench *b)
{
    const struct capture_request request = {
        .ops = &camera_ops, .name = "other", .width = WIDTH, .height = HEIGHT, .format = -1};

    assert_true(await_calls(b, 10));
    capture_change(&b->stages.capture, &request);
    assert_true(eventually(is_reopened, b));
    assert_true(await_calls(b, 10));
}

static void test_other_camera(void **state)
{
    struct bench b = {0};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.pause_ms = 2;
    open_recorded(&b, 1, RECORDED_NEVER, 0);
    run_script(&b, play_other_camera);
    assert_int_equal(count_calls('|'), 1);
    check_camera_run(&b);
}

/* --- filtering alone, with frames that a test puts into its ring --- */

static pthread_t filter_thread, output_thread;

static void start_feeding(struct bench *b, int n_frames)
{
    assert_int_equal(
        thread_start(&output_thread, "output", writer_run, &b->stages.output.writers[0]), 0);
    assert_int_equal(thread_start(&filter_thread, "filter", filtering_run, &b->stages.filtering),
                     0);
    stats_input(stream_stats(b->stages.stream), (uint64_t)n_frames, 0, 0, 0);
}

static void feed(struct bench *b, int seq)
{
    struct slot *slot = b->stages.capture.slot;

    slot->run = 0;
    for (int i = 0; i < recording.n_breaks; i++)
        slot->run += (uint64_t)seq >= recording.breaks[i];
    slot->raw.seq = slot->out.seq = (uint64_t)seq;
    assert_int_equal(ring_put(b->stages.captured, &slot), 0);
    b->stages.capture.slot = slot;
}

static void end_feeding(struct bench *b)
{
    ring_close(b->stages.captured);
    assert_int_equal(pthread_join(filter_thread, NULL), 0);
    assert_int_equal(pthread_join(output_thread, NULL), 0);
    assert_int_equal(stream_result(b->stages.stream), 0);
}

/* The first frames after a break can be dropped, as others can. */
static void test_dropped_after_a_break(void **state)
{
    struct bench b = {.drops = true};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    open_recorded(&b, 1, RECORDED_NEVER, 0);
    recording.breaks[recording.n_breaks++] = 5;
    recording.breaks[recording.n_breaks++] = 6;
    start_feeding(&b, 9);
    recording.gate_shut = true;
    feed(&b, 0);
    assert_true(await_calls(&b, 1 - recording.n_calls));
    for (int i = 1; i < 9; i++)
        feed(&b, i);
    recording.gate_shut = false;
    end_feeding(&b);
    assert_int_equal(recording.n_calls, 3);
    assert_int_equal(recording.calls[1].what, '|');
    assert_int_equal(last_seq(), 8);
    check_calls(true);
    close_bench(&b);
}

/* The engine breaks at every possible place, beside or between breaks in the stream. */
static void test_engine_lost(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 4; depth++)
        for (int in = 0; in < RECORDED_NEVER; in++)
            for (int at = 0; at < 12; at++)
                for (int k = 0; k < 2; k++) {
                    struct bench b = {0};

                    reset(UINT64_MAX, UINT64_MAX, -1);
                    camera.file = true;
                    open_recorded(&b, depth, (enum recorded)in, at);
                    recording.mixed = k > 0 || in == RECORDED_PASS;
                    recording.breaks[recording.n_breaks++] = 6;
                    recording.breaks[recording.n_breaks++] = 7;
                    recording.breaks[recording.n_breaks++] = 10;
                    start_feeding(&b, 20);
                    for (int i = 0; i < 20; i++)
                        feed(&b, i);
                    end_feeding(&b);
                    assert_int_equal(recording.n_engines, 2);
                    assert_int_equal(last_seq(), 19);
                    check_calls(false);
                    close_bench(&b);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_radius_0),
        cmocka_unit_test(test_governor_passes),
        cmocka_unit_test(test_holds),
        cmocka_unit_test(test_camera_lost),
        cmocka_unit_test(test_other_camera),
        cmocka_unit_test(test_dropped_after_a_break),
        cmocka_unit_test(test_engine_lost),
    };

    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests_name("past", tests, NULL, NULL);
}
