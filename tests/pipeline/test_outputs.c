/* Several outputs at once: what troubles one of them troubles no other, nor the camera. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/event.h"
#include "base/log.h"
#include "tests/pipeline/bench.h"
#include "tests/pipeline/require.h"

#define N_FRAMES 40
#define KEEPS 4096

/* Three sinks beside the screen, by the names that the bench gives them. */
static struct side {
    struct sink sink;
    atomic_int n; /* frames so far */
    uint64_t seq[KEEPS];
    uint64_t sum[KEEPS];
    atomic_bool hangs;   /* in the next write, until this ends or a stop */
    atomic_bool hung;    /* it does now */
    atomic_bool missing; /* it cannot be opened */
    atomic_int error;    /* of the next write, once */
    atomic_int slow_ms;  /* for each frame */
    atomic_int opened, readers;
    int stop_fd;
} sides[3];

static void reset_sides(uint64_t ends_at)
{
    reset(UINT64_MAX, ends_at, -1);
    screen.any_counts = true; /* a busy machine has frames shown again */
    memset(sides, 0, sizeof(sides));
}

static int open_side(struct sink **ret, const struct sink_ops *ops,
                     const struct sink_config *config, struct error *err)
{
    struct side *side = &sides[*config->name - '1'];

    if (side->missing)
        return error_set(err, -ENODEV, "'%s' is not there", config->name);
    side->sink = (struct sink){.ops = ops, .picture = config->picture};
    (void)snprintf(side->sink.name, sizeof(side->sink.name), "%s", config->name);
    (void)frame_layout_packed(&side->sink.picture);
    side->stop_fd = config->stop_fd;
    side->opened++;
    *ret = &side->sink;
    return 0;
}

static uint64_t checksum(const struct frame *f)
{
    uint64_t sum = f->seq;

    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < 2 * f->width; x++)
            sum = sum * 31 + f->plane[0][(size_t)y * f->stride[0] + (size_t)x];
    return sum;
}

static int write_side(struct sink *s, const struct frame *f, const struct frame *before,
                      struct error *err)
{
    struct side *side = (struct side *)s;
    const int error = atomic_exchange(&side->error, 0);

    while (side->hangs) {
        struct pollfd stop = {.fd = side->stop_fd, .events = POLLIN};

        side->hung = true;
        if (poll(&stop, 1, 1) > 0)
            return error_set(err, -ECANCELED, "stopped");
    }
    side->hung = false;
    (void)poll(NULL, 0, side->slow_ms);
    if (error)
        return error_set(err, error, "'%s' failed", s->name);
    if (!before) /* a card, or the last frame again */
        return 0;
    require(before->seq == f->seq);
    require(side->n < KEEPS);
    side->seq[side->n] = f->seq;
    side->sum[side->n] = checksum(f);
    side->n++;
    return 0;
}

static int close_side(struct sink *s, struct error *err)
{
    (void)s;
    (void)err;
    return 0;
}

static int count_side(struct sink *s)
{
    return ((struct side *)s)->readers;
}

static int file_open(struct sink **ret, const struct sink_config *config, struct error *err);
static int camera_side_open(struct sink **ret, const struct sink_config *config, struct error *err);

static const struct sink_ops file_ops = {
    .name = "file",
    .compare = true,
    .open = file_open,
    .write = write_side,
    .close = close_side,
};

static const struct sink_ops virtual_ops = {
    .name = "virtual",
    .device = true,
    .virtual_camera = true,
    .compare = true,
    .open = camera_side_open,
    .write = write_side,
    .readers = count_side,
    .close = close_side,
};

static int file_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    return open_side(ret, &file_ops, config, err);
}

static int camera_side_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    return open_side(ret, &virtual_ops, config, err);
}

static struct status status_of(struct bench *b)
{
    struct status status;

    status_init(&status);
    stream_fill_status(b->stages.stream, &status);
    return status;
}

static void run_files(struct bench *b)
{
    camera.file = true;
    open_bench(b, make_flaky(3, 1000, false));
    run_bench(b);
}

/* --- from a file --- */

/* Every output gets every frame, however long one of them takes. */
static void test_files(void **state)
{
    struct bench b = {.more = {&file_ops, &file_ops, &virtual_ops}};
    struct stats s;

    (void)state;
    reset_sides(N_FRAMES);
    sides[1].slow_ms = 5;
    run_files(&b);
    assert_int_equal(stream_result(b.stages.stream), 0);
    stages_stats(&b.stages, &s);
    assert_int_equal(s.frames_out, N_FRAMES);
    assert_int_equal(s.frames_dropped, 0);
    assert_int_equal(screen.n, N_FRAMES);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sides[i].n, N_FRAMES);
        for (int k = 0; k < N_FRAMES; k++) {
            assert_int_equal(sides[i].seq[k], k);
            assert_int_equal(sides[i].sum[k], sides[0].sum[k]);
        }
    }
    assert_string_equal(status_of(&b).outputs,
                        "screen: 40 frames; 1: 40 frames; 2: 40 frames; 3: 40 frames, 0 readers");
    close_bench(&b);
}

/* One that fails for good makes the run fail, and the others get all the same. */
static void test_one_file_fails(void **state)
{
    struct bench b = {.more = {&file_ops, &file_ops}};

    (void)state;
    reset_sides(N_FRAMES);
    sides[0].error = -ENOSPC;
    run_files(&b);
    assert_int_equal(stream_result(b.stages.stream), -ENOSPC);
    assert_int_equal(sides[0].n, 0);
    assert_int_equal(sides[1].n, N_FRAMES);
    assert_int_equal(screen.n, N_FRAMES);
    assert_non_null(strstr(status_of(&b).outputs, "1: '1' failed; 2: 40 frames"));
    close_bench(&b);
}

/* When all have failed, nothing is read any more. */
static void test_all_fail(void **state)
{
    struct bench b = {.more = {&file_ops}};

    (void)state;
    reset_sides(UINT64_MAX);
    screen.fails_at = 3;
    sides[0].error = -EIO;
    run_files(&b);
    assert_true(stream_result(b.stages.stream) == -EIO ||
                stream_result(b.stages.stream) == -ENOSPC);
    close_bench(&b);
}

/* A window beside them is no reason to go on. */
static void test_window_is_left(void **state)
{
    struct bench b = {.screen = &card_screen_ops, .more = {&file_ops}};

    (void)state;
    reset_sides(UINT64_MAX);
    sides[0].error = -ENOSPC;
    run_files(&b);
    assert_int_equal(stream_result(b.stages.stream), -ENOSPC);
    close_bench(&b);
}

/* --- live --- */

static int n_before[3];

static void note_counts(void)
{
    for (int i = 0; i < 3; i++)
        n_before[i] = sides[i].n;
}

static bool second_goes_on(struct bench *b)
{
    (void)b;
    return sides[1].n >= n_before[1] + 50;
}

static bool first_hangs(struct bench *b)
{
    (void)b;
    return sides[0].hung;
}

static void play_hung(struct bench *b)
{
    require(eventually(runs, b));
    sides[0].hangs = true;
    sides[2].error = -ENODEV;
    sides[2].missing = true;
    require(eventually(first_hangs, b));
    note_counts();
    require(eventually(second_goes_on, b));
    require(sides[0].n == n_before[0]);
    require(!strcmp(status_of(b).state, "running"));
    require(strstr(status_of(b).outputs, "3: '3' failed"));
    sides[0].hangs = false;
    sides[2].missing = false;
    stream_devices_changed(b->stages.stream);
    note_counts();
}

static bool all_go_on(struct bench *b)
{
    (void)b;
    return sides[0].n > n_before[0] && sides[2].n > n_before[2] && screen.n > 0;
}

static void play_troubles(struct bench *b)
{
    play_hung(b);
    require(eventually(all_go_on, b));
    sides[1].hangs = true; /* and a stop ends that */
}

/* One hangs, one goes and comes back, one has what is newest, and one is a file. */
static void test_troubles(void **state)
{
    struct bench b = {.drops = true, .more = {&file_ops, &file_ops, &virtual_ops}};

    (void)state;
    reset_sides(UINT64_MAX);
    open_live(&b);
    run_script(&b, play_troubles);
    assert_int_equal(sides[2].opened, 2);
    for (int i = 0; i < 3; i++)
        for (int k = 1; k < sides[i].n; k++)
            assert_true(sides[i].seq[k] > sides[i].seq[k - 1]);
    close_bench(&b);
}

static bool nothing_to_write_to(struct bench *b)
{
    return !strcmp(status_of(b).state, "no virtual camera");
}

static bool something_to_write_to(struct bench *b)
{
    return !strcmp(status_of(b).state, "running");
}

static void play_lost(struct bench *b)
{
    require(eventually(runs, b));
    sides[0].missing = true;
    sides[0].error = -ENODEV;
    screen.open_failures = 1000000;
    screen.fails_at = screen.n + 5;
    require(eventually(nothing_to_write_to, b));
    sides[0].missing = false;
    stream_devices_changed(b->stages.stream);
    require(eventually(something_to_write_to, b));
}

/* There is no virtual camera only where none of them can be used. */
static void test_all_lost(void **state)
{
    struct bench b = {.drops = true, .screen = &device_screen_ops, .more = {&virtual_ops}};

    (void)state;
    reset_sides(UINT64_MAX);
    open_live(&b);
    run_script(&b, play_lost);
    close_bench(&b);
}

static bool is_idle(struct bench *b)
{
    return stream_state(b->stages.stream) == STREAM_IDLE;
}

/* As if nobody had looked for a long time. */
static void let_time_pass(struct bench *b)
{
    struct tally *t = &b->stages.output.tally;

    (void)pthread_mutex_lock(&t->lock);
    t->t_watched_ns -= INT64_C(60000000000);
    (void)pthread_mutex_unlock(&t->lock);
}

static bool three_read(struct bench *b)
{
    return status_of(b).readers == 3;
}

static uint64_t rounds_before;

static bool rounds_passed(struct bench *b)
{
    return status_of(b).n_rounds > rounds_before + 40;
}

static void play_readers(struct bench *b)
{
    for (int i = 0; i < 2; i++) {
        sides[i].readers = 3; /* one of them, whichever, is enough */
        sides[1 - i].readers = 0;
        require(eventually(runs, b));
        require(eventually(three_read, b));
        for (int k = 0; k < 3; k++) {
            let_time_pass(b);
            rounds_before = status_of(b).n_rounds;
            require(eventually(rounds_passed, b));
            require(!is_idle(b));
        }
        sides[i].readers = 0;
        rounds_before = status_of(b).n_rounds;
        require(eventually(rounds_passed, b));
        let_time_pass(b);
        require(eventually(is_idle, b));
        sides[0].readers = sides[1].readers = 1;
        require(eventually(runs, b));
        rounds_before = status_of(b).n_rounds;
        require(eventually(rounds_passed, b));
        require(status_of(b).readers == 2);
    }
}

/* The camera is on while anybody reads any of them. */
static void test_readers(void **state)
{
    struct bench b = {.drops = true, .more = {&virtual_ops, &virtual_ops}};

    (void)state;
    reset_sides(UINT64_MAX);
    sides[0].readers = sides[1].readers = 1;
    open_live(&b);
    tally_release_unread(&b.stages.output.tally);
    run_script(&b, play_readers);
    close_bench(&b);
}

/* How many frames got to the screen or to any side. */
static int count_frames(void)
{
    static bool there[KEEPS];
    int n = 0;

    for (int i = 0; i < screen.n; i++)
        there[screen.seq[i]] = true;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < sides[i].n; k++)
            there[sides[i].seq[k]] = true;
    for (int i = 0; i < KEEPS; i++)
        n += there[i];
    return n;
}

/* It ends with so many, and with what others were about to write just then. */
static void test_limit(void **state)
{
    struct bench b = {.drops = true, .max_frames = 20, .more = {&file_ops, &file_ops}};
    struct stats s;

    (void)state;
    reset_sides(UINT64_MAX);
    sides[1].slow_ms = 7;
    open_live(&b);
    run_bench(&b);
    stages_stats(&b.stages, &s);
    assert_in_range(s.frames_out, 20, 22);
    assert_int_equal(stream_result(b.stages.stream), 0);
    assert_int_equal(count_frames(), s.frames_out);
    close_bench(&b);
}

/* Who is in the middle of a picture when there are enough of them still gets the last one. */
static void test_limit_for_all(void **state)
{
    struct bench b = {.drops = true, .max_frames = 20, .more = {&file_ops, &file_ops}};
    uint64_t last[2];

    (void)state;
    reset_sides(UINT64_MAX);
    sides[1].slow_ms = 40;
    open_live(&b);
    run_bench(&b);
    for (int i = 0; i < 2; i++) {
        require(sides[i].n > 0);
        last[i] = sides[i].seq[sides[i].n - 1];
    }
    assert_true(last[1] >= last[0]);
    close_bench(&b);
}

/* One that hangs does not keep the run from ending with so many. */
static void test_limit_hung(void **state)
{
    struct bench b = {.drops = true, .max_frames = 20, .more = {&file_ops, &file_ops}};

    (void)state;
    reset_sides(UINT64_MAX);
    sides[1].hangs = true;
    open_live(&b);
    run_bench(&b);
    assert_true(sides[0].n > 0);
    assert_int_equal(stream_result(b.stages.stream), 0);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),         cmocka_unit_test(test_one_file_fails),
        cmocka_unit_test(test_all_fail),      cmocka_unit_test(test_window_is_left),
        cmocka_unit_test(test_troubles),      cmocka_unit_test(test_all_lost),
        cmocka_unit_test(test_readers),       cmocka_unit_test(test_limit),
        cmocka_unit_test(test_limit_for_all), cmocka_unit_test(test_limit_hung),
    };

    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests_name("outputs", tests, NULL, NULL);
}
