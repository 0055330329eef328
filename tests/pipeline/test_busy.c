/* Devices that another program has and releases, with a file in the place of the node; and devices
 * that never stay. */
#include "tests/lib/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "tests/pipeline/bench.h"

/* A file in the place of the node that another program has. */
static int node_fd = -1;

static void take_node(struct bench *b, char *path)
{
    node_fd = mkstemp(path);
    assert_true(node_fd >= 0);
    b->node = path;
}

static void let_node_go(void)
{
    assert_int_equal(close(node_fd), 0);
}

static bool is_refused(struct bench *b)
{
    (void)b;
    return camera.refused > 1;
}

static void use_node(const struct bench *b)
{
    const int fd = open(b->node, O_RDWR);

    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static uint64_t frames_out(struct bench *b)
{
    struct stats s;

    stats_snapshot(stream_stats(b->stages.stream), &s);
    return s.frames_out;
}

/* The first alarm is false, and later ones do not matter. */
static void play_camera_released(struct bench *b)
{
    uint64_t n;

    assert_true(is_lost(b));
    (void)poll(NULL, 0, 50);
    assert_int_equal(camera.refused, 1);
    use_node(b);
    assert_true(eventually(is_refused, b));
    camera.busy = false;
    let_node_go();
    assert_true(eventually(runs, b));
    use_node(b);
    (void)poll(NULL, 0, 50);
    n = frames_out(b);
    for (int i = 0; frames_out(b) < n + 10 && i < LIMIT_MS; i++)
        (void)poll(NULL, 0, 1);
    assert_true(frames_out(b) >= n + 10);
}

/* Plays @script while another program has the camera, which no pause ends. */
static void play_with_busy_camera(void (*script)(struct bench *b))
{
    char path[] = "/tmp/test-hold-XXXXXX";
    struct bench b = {.screen = &device_screen_ops, .wait = true};

    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.busy = true;
    take_node(&b, path);
    open_live(&b);
    b.stages.capture.retry.pauses.t_next_ns = INT64_MAX;
    run_script(&b, script);
    close_bench(&b);
    assert_int_equal(unlink(path), 0);
}

/* A camera that another program has is tried as soon as that lets it go, whatever the pause. */
static void test_camera_released(void **state)
{
    (void)state;
    play_with_busy_camera(play_camera_released);
}

static void play_pause_of_a_busy_camera(struct bench *b)
{
    int64_t begun;

    stream_hold(b->stages.stream, STREAM_PAUSED, true);
    assert_true(eventually(is_paused, b));
    use_node(b);
    begun = processor_ns();
    (void)poll(NULL, 0, 1000);
    assert_true(processor_ns() - begun < 300000000);
    assert_int_equal(camera.refused, 1);
    stream_hold(b->stages.stream, STREAM_PAUSED, false);
    assert_true(eventually(is_refused, b));
    let_node_go();
}

/* A camera that is not wanted is not waited for, and its news keep nobody busy. */
static void test_pause_of_a_busy_camera(void **state)
{
    (void)state;
    play_with_busy_camera(play_pause_of_a_busy_camera);
}

static bool screen_is_there(struct bench *b)
{
    (void)b;
    return screen.opened == 1;
}

static void play_screen_released(struct bench *b)
{
    (void)poll(NULL, 0, 50);
    assert_int_equal(screen.opened, 0);
    let_node_go();
    assert_true(eventually(screen_is_there, b));
}

/* And so is a virtual camera. */
static void test_screen_released(void **state)
{
    char path[] = "/tmp/test-hold-XXXXXX";
    struct bench b = {.screen = &device_screen_ops, .wait = true};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    screen.open_failures = 1;
    screen.any_counts = true; /* a busy machine has frames shown again */
    take_node(&b, path);
    open_live(&b);
    b.stages.output.writers[0].outlet.retry.pauses.t_next_ns = INT64_MAX;
    run_script(&b, play_screen_released);
    close_bench(&b);
    assert_int_equal(unlink(path), 0);
}

static bool screen_is_back_again(struct bench *b)
{
    (void)b;
    return screen.opened == 4;
}

static void play_unsteady_screen(struct bench *b)
{
    assert_true(eventually(screen_is_back_again, b));
}

/* A virtual camera that goes soon after each time that it came gets longer and longer pauses. */
static void test_unsteady_screen(void **state)
{
    struct bench b = {.screen = &device_screen_ops};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, 5);
    screen.fails_always = true;
    screen.any_counts = true; /* a busy machine has frames shown again */
    open_live(&b);
    stream_devices_changed(b.stages.stream); /* which is no news any more when it goes */
    run_script(&b, play_unsteady_screen);
    assert_true(b.stages.output.writers[0].outlet.retry.pauses.pause_ns >= 1000000000);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_camera_released),
        cmocka_unit_test(test_pause_of_a_busy_camera),
        cmocka_unit_test(test_screen_released),
        cmocka_unit_test(test_unsteady_screen),
    };

    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests_name("busy", tests, NULL, NULL);
}
