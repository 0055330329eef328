/* What happens while there is no camera or no virtual camera: pauses, nobody looking, devices that
 * come back as others. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/pipeline/bench.h"

static bool is_idle(struct bench *b)
{
    return stream_state(b->stages.stream) == STREAM_IDLE;
}

static bool is_asleep(struct bench *b)
{
    return stream_state(b->stages.stream) == STREAM_ASLEEP;
}

static bool is_taken(struct bench *b)
{
    return !atomic_load(&b->stages.output.tally.request.wanted);
}

static void play_holds(struct bench *b)
{
    struct stream *s = b->stages.stream;

    for (int i = 0; i < 3; i++) {
        int closed;

        assert_true(eventually(runs, b));
        closed = camera.closed;
        stream_hold(s, STREAM_PAUSED, true);
        assert_true(eventually(is_paused, b));
        assert_int_equal(camera.closed, closed + 1);
        stream_hold(s, STREAM_ASLEEP, true);
        assert_true(eventually(is_asleep, b));
        stream_hold(s, STREAM_IDLE, true);
        stream_hold(s, STREAM_PAUSED, false);
        stream_hold(s, STREAM_ASLEEP, false);
        assert_true(eventually(is_idle, b));
        assert_int_equal(camera.closed, closed + 1);
        stream_hold(s, STREAM_IDLE, false);
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
    stats_snapshot(stream_stats(b.stages.stream), &stats);
    assert_int_equal(stats.reconnects, 0); /* nothing was lost */
    assert_true(screen.n_cards > 0);
    close_bench(&b);
}

static void play_rests(struct bench *b)
{
    for (int i = 0; i < 3; i++) {
        assert_true(eventually(runs, b));
        stream_hold(b->stages.stream, STREAM_PAUSED, true);
        assert_true(eventually(is_paused, b));
        stream_hold(b->stages.stream, STREAM_PAUSED, false);
    }
    assert_true(eventually(runs, b));
}

/* A source that is no device stays open, and is told that nobody wanted what it had meanwhile. */
static void test_source_that_stays(void **state)
{
    struct bench b = {.screen = &device_screen_ops};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.stays = true;
    open_live(&b);
    run_script(&b, play_rests);
    assert_int_equal(camera.n_rested, 3);
    assert_int_equal(camera.opened, 1);
    close_bench(&b);
}

/* More than there were before camera or screen failed. */
static bool shows_more(struct bench *b)
{
    (void)b;
    return screen.n > 10;
}

static void play_replug(struct bench *b)
{
    assert_true(eventually(is_lost, b));
    assert_true(eventually(runs, b));
    assert_true(eventually(shows_more, b));
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
    stats_snapshot(stream_stats(b.stages.stream), &stats);
    assert_int_equal(stats.reconnects, 1);
    assert_int_equal(b.stages.capture.picture.width, WIDTH);
    close_bench(&b);
}

static void play_late_start(struct bench *b)
{
    assert_true(is_lost(b));
    (void)poll(NULL, 0, 50);
    assert_int_equal(camera.opened, 0);
    camera.absent = false;
    stream_devices_changed(b->stages.stream);
    assert_true(eventually(runs, b));
}

/* A start with no camera at all: the card, then the camera as soon as it is plugged in. */
static void test_no_camera_at_start(void **state)
{
    struct bench b = {.screen = &device_screen_ops, .wait = true};
    struct status status = {.frames_out = 0};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.absent = true;
    open_live(&b);
    stream_fill_status(b.stages.stream, &status);
    assert_string_not_equal(status.reason, "");
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
    assert_true(eventually(shows_more, b));
}

/* A virtual camera that goes is opened again; frames meanwhile count as dropped. */
static void test_screen_comes_back(void **state)
{
    struct bench b = {.screen = &device_screen_ops};
    struct stats stats;

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, 5);
    screen.any_counts = true; /* a busy machine has frames shown again */
    open_live(&b);
    screen.open_failures = 2;
    run_script(&b, play_screen);
    stages_stats(&b.stages, &stats);
    assert_true(stats.frames_dropped > 0);
    close_bench(&b);
}

/* Asks for one, and looks whenever there is news. Without pictures there is none. */
static int take_snapshot(struct bench *b, const char *name, char *path, size_t size)
{
    const bool pictures = runs(b);
    struct pollfd news = {.fd = stream_fd(b->stages.stream, STREAM_EVENT_CHANGE), .events = POLLIN};
    struct error err;
    uint64_t n;
    int r;

    assert_int_equal(tally_snapshot_result(&b->stages.output.tally, path, size, &err),
                     -EINPROGRESS);
    assert_int_equal(tally_snapshot(&b->stages.output.tally, name, &err), 0);
    assert_int_equal(tally_snapshot(&b->stages.output.tally, "other", &err), -EBUSY);
    while ((r = tally_snapshot_result(&b->stages.output.tally, path, size, &err)) == -EINPROGRESS)
        if (poll(&news, 1, pictures ? LIMIT_MS : 100) > 0)
            assert_int_equal(read(news.fd, &n, sizeof(n)), sizeof(n));
        else
            assert_false(pictures);
    assert_int_equal(tally_snapshot_result(&b->stages.output.tally, path, size, &err),
                     -EINPROGRESS);
    return r;
}

static bool shows_pictures(struct bench *b)
{
    (void)b;
    return screen.n > 1;
}

static void play_window(struct bench *b)
{
    int n_cards;

    assert_true(eventually(runs, b));
    assert_true(eventually(shows_pictures, b));
    n_cards = screen.n_cards;
    (void)poll(NULL, 0, 1000);
    assert_int_equal(screen.n_cards, n_cards); /* the last picture stays by itself */
    stream_hold(b->stages.stream, STREAM_PAUSED, true);
    assert_true(eventually(is_paused, b));
    for (int i = 0; screen.n_cards == n_cards && i < LIMIT_MS; i++)
        (void)poll(NULL, 0, 1);
    assert_true(screen.n_cards > n_cards);
}

/* A window shows the card, too, but only while there are no pictures. */
static void test_window(void **state)
{
    struct bench b = {.screen = &card_screen_ops};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    open_live(&b);
    camera.pause_ms = 300;
    run_script(&b, play_window);
    close_bench(&b);
}

/* The checksum of what is shown in @state while there is no picture. */
static uint64_t card_of(struct outlet *o, enum stream_state state)
{
    struct error err;

    assert_int_equal(outlet_write_card(o, state, &err), 0);
    return screen.card_sum;
}

/* When the camera runs again its first picture is not filtered yet: the card stays till then. */
static void test_card_stays(void **state)
{
    struct sink_config config = {
        .name = "screen",
        .picture = {.format = FRAME_YUYV, .width = 320, .height = 180}, /* room for the text */
    };
    struct outlet o = {0};
    struct error err;
    uint64_t starting, lost;

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    assert_int_equal(outlet_open(&o, NULL, &device_screen_ops, &config, false, &err), 0);
    starting = card_of(&o, STREAM_RUNS);
    assert_int_equal(card_of(&o, STREAM_STARTS), starting);
    lost = card_of(&o, STREAM_LOST);
    assert_int_not_equal(lost, starting);
    assert_int_equal(card_of(&o, STREAM_RUNS), lost);
    assert_int_equal(card_of(&o, STREAM_STARTS), starting);
    assert_int_equal(outlet_close(&o, &err), 0);
}

/* Not of a file: from its first frame to its last there is always a picture. */
static void test_window_of_a_file(void **state)
{
    struct bench b = {.screen = &card_screen_ops};

    (void)state;
    reset(UINT64_MAX, 3, -1);
    camera.pause_ms = 300;
    camera.file = true;
    open_bench(&b, make_flaky(1, 1000000, false));
    run_bench(&b);
    assert_int_equal(screen.n, 3);
    assert_int_equal(screen.n_cards, 0);
    close_bench(&b);
}

static void check_snapshots(struct bench *b)
{
    char path[512];
    struct stat st;
    const int r = take_snapshot(b, "one", path, sizeof(path));

    if (r == -ENOTSUP)
        return; /* built without libpng */
    assert_int_equal(r, 0);
    assert_int_equal(*path, '/');
    assert_string_equal(strrchr(path, '/'), "/one-after.png");
    assert_int_equal(stat("one-before.png", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600); /* it shows somebody's room */
    assert_int_equal(take_snapshot(b, "one", path, sizeof(path)), -EEXIST);
    assert_int_equal(unlink("one-after.png"), 0);
    assert_int_equal(unlink("one-before.png"), 0);
}

/* What cannot be a name is refused at once, in words, and keeps no other from being taken. */
static void check_names(struct bench *b)
{
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"../one", "'../one': must be a plain file name"},
        {".one", "'.one': must be a plain file name"},
        {"a/b", "must be a plain file name"},
        {"a\nb", "must be a plain file name"},
        {"0123456789012345678901234567890123456789012345678901234567890123x",
         "the name has 65 bytes, at most 64 are allowed"},
    };
    char longest[SNAPSHOT_NAME_MAX + 1], path[512];
    struct error err;
    int r;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(tally_snapshot(&b->stages.output.tally, cases[i].name, &err), -EINVAL);
        if (!strstr(err.text, cases[i].text))
            fail_msg("'%s': %s", cases[i].name, err.text);
    }
    memset(longest, 'x', SNAPSHOT_NAME_MAX);
    longest[SNAPSHOT_NAME_MAX] = '\0';
    r = take_snapshot(b, longest, path, sizeof(path));
    if (r == -ENOTSUP)
        return; /* built without libpng */
    assert_int_equal(r, 0);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof(path), "%s-before.png", longest);
    assert_int_equal(unlink(path), 0);
}

/* Snapshots are taken from frames; without frames there is an answer all the same. */
static void play_snapshot(struct bench *b)
{
    char path[512];

    assert_true(eventually(runs, b));
    check_snapshots(b);
    check_names(b);
    stream_hold(b->stages.stream, STREAM_PAUSED, true);
    assert_true(eventually(is_paused, b));
    (void)poll(NULL, 0, 50);
    assert_int_equal(take_snapshot(b, "two", path, sizeof(path)), -EAGAIN);
}

/* One whose end nobody waits for. */
static void play_last_snapshot(struct bench *b)
{
    struct error err;

    assert_true(eventually(runs, b));
    assert_int_equal(tally_snapshot(&b->stages.output.tally, "last", &err), 0);
    assert_true(eventually(is_taken, b));
}

static void check_last_snapshot(void)
{
    struct stat st;

    if (stat("last-after.png", &st))
        return; /* built without libpng */
    assert_true(st.st_size > 100);
    assert_int_equal(unlink("last-after.png"), 0);
    assert_int_equal(unlink("last-before.png"), 0);
}

static void test_snapshot(void **state)
{
    struct bench b = {.screen = &device_screen_ops}, last = b;
    char folder[] = "/tmp/test-hold-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(setenv("XDG_PICTURES_DIR", ".", 1), 0);
    reset(UINT64_MAX, UINT64_MAX, -1);
    screen.any_counts = true; /* a busy machine has frames shown again */
    open_live(&b);
    run_script(&b, play_snapshot);
    close_bench(&b);
    reset(UINT64_MAX, UINT64_MAX, -1);
    screen.any_counts = true;
    open_live(&last);
    run_script(&last, play_last_snapshot);
    close_bench(&last);
    check_last_snapshot();
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holds),
        cmocka_unit_test(test_source_that_stays),
        cmocka_unit_test(test_other_size),
        cmocka_unit_test(test_no_camera_at_start),
        cmocka_unit_test(test_screen_comes_back),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_card_stays),
        cmocka_unit_test(test_window_of_a_file),
        cmocka_unit_test(test_snapshot),
    };

    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
