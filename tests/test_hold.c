/* What happens while there is no camera or no virtual camera: pauses, nobody looking, devices that
 * come back as others. */
#include "stages.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "thread.h"

#define LIMIT_MS 20000

static bool eventually(bool (*is_so)(struct bench *b), struct bench *b)
{
    for (int i = 0; i < LIMIT_MS; i++) {
        if (is_so(b))
            return true;
        (void)poll(NULL, 0, 1);
    }
    return false;
}

static bool runs(struct bench *b)
{
    return shared_state(&b->shared) == STREAM_RUNS;
}

static bool is_paused(struct bench *b)
{
    return shared_state(&b->shared) == STREAM_PAUSED;
}

static bool is_idle(struct bench *b)
{
    return shared_state(&b->shared) == STREAM_IDLE;
}

static bool is_asleep(struct bench *b)
{
    return shared_state(&b->shared) == STREAM_ASLEEP;
}

static bool is_lost(struct bench *b)
{
    return shared_state(&b->shared) == STREAM_LOST;
}

struct script {
    struct bench *b;
    void (*play)(struct bench *b);
};

static void *play(void *arg)
{
    const struct script *s = arg;

    s->play(s->b);
    shared_stop(&s->b->shared);
    return NULL;
}

/* Runs the stages while another thread plays @script. */
static void run_script(struct bench *b, void (*script)(struct bench *b))
{
    struct script s = {b, script};
    pthread_t player;

    assert_int_equal(thread_start(&player, "player", play, &s), 0);
    run_bench(b);
    assert_int_equal(pthread_join(player, NULL), 0);
    assert_int_equal(b->shared.result, 0);
}

static void open_live(struct bench *b)
{
    camera.pause_ms = 2;
    open_bench(b, make_flaky(1, 1000000, false));
    b->shared.live = true;
}

static void play_holds(struct bench *b)
{
    struct shared *s = &b->shared;

    for (int i = 0; i < 3; i++) {
        int closed;

        assert_true(eventually(runs, b));
        closed = camera.closed;
        shared_hold(s, &s->paused, true);
        assert_true(eventually(is_paused, b));
        assert_int_equal(camera.closed, closed + 1);
        shared_hold(s, &s->asleep, true);
        assert_true(eventually(is_asleep, b));
        shared_hold(s, &s->unwatched, true);
        shared_hold(s, &s->paused, false);
        shared_hold(s, &s->asleep, false);
        assert_true(eventually(is_idle, b));
        assert_int_equal(camera.closed, closed + 1);
        shared_hold(s, &s->unwatched, false);
        assert_true(eventually(runs, b));
    }
}

/* A reason to let the camera go closes it, and it comes back when the last reason has gone. */
static void test_holds(void **state)
{
    struct bench b = {.screen = &device_screen_ops};
    struct stats stats;

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    open_live(&b);
    run_script(&b, play_holds);
    stats_snapshot(b.shared.stats, &stats);
    assert_int_equal(stats.reconnects, 0); /* nothing was lost */
    assert_true(screen.n_cards > 0);
    close_bench(&b);
}

static void play_replug(struct bench *b)
{
    assert_true(eventually(is_lost, b));
    assert_true(eventually(runs, b));
    (void)poll(NULL, 0, 50);
}

/* A camera that comes back with another size gives pictures of the old one. */
static void test_other_size(void **state)
{
    struct bench b = {.screen = &device_screen_ops};
    struct stats stats;

    (void)state;
    reset(10, UINT64_MAX, -1);
    camera.other_width = 2 * WIDTH;
    camera.other_height = HEIGHT + 1;
    camera.fails = 1;
    open_live(&b);
    run_script(&b, play_replug);
    stats_snapshot(b.shared.stats, &stats);
    assert_int_equal(stats.reconnects, 1);
    assert_true(screen.n > 10);
    assert_int_equal(b.capture.picture.width, WIDTH);
    close_bench(&b);
}

static void play_late_start(struct bench *b)
{
    assert_true(is_lost(b));
    (void)poll(NULL, 0, 50);
    assert_int_equal(camera.opened, 0);
    camera.absent = false;
    shared_devices_changed(&b->shared);
    assert_true(eventually(runs, b));
}

/* A start with no camera at all: the placeholder, then the camera as soon as it is plugged in. */
static void test_no_camera_at_start(void **state)
{
    struct bench b = {.screen = &device_screen_ops, .wait = true};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.absent = true;
    open_live(&b);
    assert_string_not_equal(b.shared.reason, "");
    run_script(&b, play_late_start);
    assert_true(screen.n_cards > 0);
    close_bench(&b);
}

static bool screen_is_back(struct bench *b)
{
    (void)b;
    return screen.opened == 2;
}

static void play_screen(struct bench *b)
{
    assert_true(eventually(screen_is_back, b));
    (void)poll(NULL, 0, 50);
}

/* A virtual camera that goes is opened again; frames meanwhile count as dropped. */
static void test_screen_comes_back(void **state)
{
    struct bench b = {.screen = &device_screen_ops};
    struct stats stats;

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, 5);
    open_live(&b);
    screen.open_failures = 2;
    run_script(&b, play_screen);
    stats_snapshot(b.shared.stats, &stats);
    assert_true(stats.frames_unshown > 0);
    assert_true(screen.n > 5);
    close_bench(&b);
}

static void check_snapshots(struct bench *b)
{
    char path[512];
    struct error err;
    struct stat st;
    const int r = output_snapshot(&b->output, "one", path, sizeof(path), &err);

    if (r == -ENOTSUP)
        return; /* built without libpng */
    assert_int_equal(r, 0);
    assert_int_equal(*path, '/');
    assert_string_equal(strrchr(path, '/'), "/one-after.png");
    assert_int_equal(stat("one-before.png", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600); /* it shows somebody's room */
    assert_int_equal(output_snapshot(&b->output, "one", path, sizeof(path), &err), -EEXIST);
    assert_int_equal(unlink("one-after.png"), 0);
    assert_int_equal(unlink("one-before.png"), 0);
    assert_int_equal(output_snapshot(&b->output, "../one", path, sizeof(path), &err), -EINVAL);
    assert_int_equal(output_snapshot(&b->output, ".one", path, sizeof(path), &err), -EINVAL);
}

/* Snapshots are taken from frames; without frames there is an answer all the same. */
static void play_snapshot(struct bench *b)
{
    char path[512];
    struct error err;

    assert_true(eventually(runs, b));
    check_snapshots(b);
    shared_hold(&b->shared, &b->shared.paused, true);
    assert_true(eventually(is_paused, b));
    (void)poll(NULL, 0, 50);
    assert_int_equal(output_snapshot(&b->output, "two", path, sizeof(path), &err), -EAGAIN);
}

static void test_snapshot(void **state)
{
    struct bench b = {.screen = &device_screen_ops};
    char folder[] = "/tmp/test-hold-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(setenv("XDG_PICTURES_DIR", ".", 1), 0);
    reset(UINT64_MAX, UINT64_MAX, -1);
    open_live(&b);
    run_script(&b, play_snapshot);
    close_bench(&b);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holds),
        cmocka_unit_test(test_other_size),
        cmocka_unit_test(test_no_camera_at_start),
        cmocka_unit_test(test_screen_comes_back),
        cmocka_unit_test(test_snapshot),
    };

    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
