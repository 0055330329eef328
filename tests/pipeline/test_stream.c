#include "tests/lib/unit.h"

#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "pipeline/stream.h"

static int stop_fd;

static int setup(void **state)
{
    struct stream *s = NULL;

    stop_fd = event_open();
    assert_int_equal(stream_create(&s, stop_fd, 7), 0);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    stream_destroy(*state);
    event_close(stop_fd);
    return 0;
}

/* Whether @event happened since this was asked last. */
static bool happened(struct stream *s, enum stream_event event)
{
    return event_clear(stream_fd(s, event));
}

static void test_events(void **state)
{
    struct stream *s = *state;

    for (int i = 0; i < STREAM_N_EVENTS; i++) {
        stream_signal(s, (enum stream_event)i);
        for (int k = 0; k < STREAM_N_EVENTS; k++)
            assert_int_equal(happened(s, (enum stream_event)k), i == k);
    }
    assert_int_equal(stream_fd(s, STREAM_EVENT_STOP), stop_fd);
    assert_false(stream_stopping(s));
    event_ring(stop_fd);
    assert_true(stream_stopping(s));
}

static void test_first_error(void **state)
{
    const struct error err = {.text = "it failed"};
    struct stream *s = *state;

    assert_int_equal(stream_result(s), 0);
    stream_fail(s, -EIO, &err);
    stream_fail(s, -ENOSPC, &err);
    assert_int_equal(stream_result(s), -EIO);
}

/* The last of several reasons counts, and the capture stage is woken by changes alone. */
static void test_holds(void **state)
{
    static const struct {
        enum stream_state reason;
        bool on;
        enum stream_state held;
        bool wakes;
    } steps[] = {
        {STREAM_PAUSED, false, STREAM_RUNS, false},  {STREAM_PAUSED, true, STREAM_PAUSED, true},
        {STREAM_IDLE, true, STREAM_PAUSED, true},    {STREAM_ASLEEP, true, STREAM_ASLEEP, true},
        {STREAM_ASLEEP, true, STREAM_ASLEEP, false}, {STREAM_PAUSED, false, STREAM_ASLEEP, true},
        {STREAM_ASLEEP, false, STREAM_IDLE, true},   {STREAM_IDLE, false, STREAM_RUNS, true},
    };
    struct stream *s = *state;

    assert_int_equal(stream_held(s), STREAM_RUNS);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        stream_hold(s, steps[i].reason, steps[i].on);
        assert_int_equal(stream_held(s), steps[i].held);
        assert_int_equal(happened(s, STREAM_EVENT_WAKE), steps[i].wakes);
    }
}

static void test_device_changes(void **state)
{
    struct stream *s = *state;
    const unsigned before = stream_device_changes(s);

    stream_devices_changed(s);
    assert_int_equal(stream_device_changes(s), before + 1);
    assert_true(happened(s, STREAM_EVENT_WAKE));
}

/* Main is told when it changes, with the reason; pictures of before it stopped running are old. */
static void test_state(void **state)
{
    struct stream *s = *state;
    const int64_t t_before = now_ns();
    struct status status = {.frames_out = 0};

    stream_set_state(s, STREAM_STARTS, NULL);
    assert_true(happened(s, STREAM_EVENT_CHANGE));
    stream_set_state(s, STREAM_RUNS, NULL);
    assert_true(happened(s, STREAM_EVENT_CHANGE));
    stream_set_state(s, STREAM_LOST, "it is not there");
    assert_true(happened(s, STREAM_EVENT_CHANGE));
    stream_set_state(s, STREAM_LOST, "it is busy");
    assert_false(happened(s, STREAM_EVENT_CHANGE));
    assert_int_equal(stream_state(s), STREAM_LOST);
    stream_fill_status(s, &status);
    assert_string_equal(status.state, "no camera");
    assert_string_equal(status.reason, "it is busy");
    assert_true(stream_outdated(s, t_before));
    assert_false(stream_outdated(s, now_ns()));
    stream_set_state(s, STREAM_RUNS, NULL);
    assert_true(stream_outdated(s, t_before));
    stream_fill_status(s, &status);
    assert_string_equal(status.reason, "");
}

/* An output that does not tell of its readers may have some. */
static const struct stream_output outputs[] = {
    {.name = "a", .virtual_camera = true, .readers = 2, .n_written = 5},
    {.name = "b", .trouble = "it is busy", .readers = -1},
    {.name = "c", .virtual_camera = true, .readers = 4},
    {.name = "d", .virtual_camera = true, .readers = -1},
};

static void test_status(void **state)
{
    struct stream *s = *state;
    struct status status = {.frames_out = 0};

    stream_fill_status(s, &status);
    assert_int_equal(status.readers, -1);
    stream_set_engine(s, "cuda", "a GPU");
    stream_set_device_memory(s, 5 << 19);
    stream_fill_status(s, &status);
    assert_float_equal(status.gpu_memory_mib, 2.5, 1e-9);
    stream_set_engine(s, "simd", "a processor");
    assert_int_equal(stream_round(s, 0, &outputs[0]), 2);
    assert_false(happened(s, STREAM_EVENT_CHANGE));
    assert_int_equal(stream_round(s, 1, &outputs[1]), 2);
    assert_true(happened(s, STREAM_EVENT_CHANGE));
    stream_fill_status(s, &status);
    assert_string_equal(status.state, "running");
    assert_int_equal(stream_round(s, 0, &outputs[1]), -1);
    assert_int_equal(stream_round(s, 0, &outputs[2]), 4);
    assert_int_equal(stream_round(s, 1, &outputs[0]), 6);
    assert_int_equal(stream_round(s, 0, &outputs[3]), -1);
    stream_fill_status(s, &status);
    assert_string_equal(status.outputs, "d: 0 frames; a: 5 frames, 2 readers");
    (void)stream_round(s, 0, &outputs[1]);
    (void)stream_round(s, 1, &outputs[1]);
    stream_fill_status(s, &status);
    assert_string_equal(status.engine, "simd");
    assert_string_equal(status.device, "a processor");
    assert_float_equal(status.gpu_memory_mib, 0.0, 0.0);
    assert_string_equal(status.state, "no virtual camera");
    assert_string_equal(status.reason, "it is busy");
    assert_string_equal(status.outputs, "b: it is busy; b: it is busy");
    assert_int_equal(status.readers, -1);
    assert_int_equal(status.n_rounds, 8);
}

static void test_what_is_set(void **state)
{
    const struct filter_request request = {.filter = {.radius = 3}, .radius_min = 1};
    const struct stream_feedback feedback = {.other_ns = 1, .camera_ns = 2, .budget_ns = 3};
    struct stream *s = *state;

    stream_announce(s, true, 1000);
    assert_true(stream_live(s));
    assert_int_equal(stream_interval_ns(s), 1000);
    assert_int_equal(stream_max_frames(s), 7);
    assert_non_null(stream_stats(s));
    stream_set_filter_request(s, &request);
    assert_true(happened(s, STREAM_EVENT_CHANGE));
    assert_int_equal(stream_filter_request(s).filter.radius, 3);
    stream_set_feedback(s, &feedback);
    assert_int_equal(stream_feedback(s).other_ns, 1);
    assert_int_equal(stream_feedback(s).camera_ns, 2);
    assert_int_equal(stream_feedback(s).budget_ns, 3);
}

/* What each rung costs goes with the filter. */
static void test_ladder(void **state)
{
    static const int taps[] = {81, 121};
    struct stream *s = *state;

    for (int window = WINDOW_DISC; window <= WINDOW_SQUARE; window++) {
        const struct filter_request request = {
            .filter = {.radius = 5, .window = (enum window_shape)window}, .radius_min = 2};
        struct ladder l;

        stream_set_filter_request(s, &request);
        l = stream_filter_request(s).ladder;
        assert_int_equal(l.top, 5);
        assert_int_equal(l.lowest, 2);
        assert_int_equal((int)l.cost[l.top], taps[window]);
    }
}

/* The number that was given, or the one that auto stands for. */
static void test_sigma_color(void **state)
{
    static const struct {
        struct filter filter;
        double noise, sigma_color;
    } cases[] = {
        {{.radius = 5, .sigma_color = 18}, 0.0, 18.0},
        {{.radius = 5, .sigma_color = 18}, 4.0, 18.0},
        {{.radius = 5}, 0.0, 0.0}, /* not known yet */
        {{.radius = 5}, 1.0, 2.592},
        {{.radius = 5, .range = RANGE_LORENTZIAN}, 10.0, 11.783},
        {{.radius = 5, .distance = DISTANCE_MANHATTAN}, 10.0, 41.475},
        {{.radius = 5, .temporal = 16}, 10.0, 23.565},
        {{.kind = FILTER_GAUSSIAN, .radius = 5, .sigma_color = 18}, 4.0, 0.0},
    };
    struct stream *s = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct filter_request request = {.filter = cases[i].filter};
        const struct stream_feedback feedback = {.noise = cases[i].noise, .frames = 7.5};
        struct status status;

        stream_set_filter_request(s, &request);
        stream_set_feedback(s, &feedback);
        stream_fill_status(s, &status);
        assert_true(fabs(status.sigma_color - cases[i].sigma_color) < 0.001);
        assert_true(status.noise == cases[i].noise && status.frames_averaged == 7.5);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_events),         TEST(test_first_error), TEST(test_holds),
        TEST(test_device_changes), TEST(test_state),       TEST(test_status),
        TEST(test_what_is_set),    TEST(test_sigma_color), TEST(test_ladder),
    };

    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
