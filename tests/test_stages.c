/* The stages of the pipeline with a source, an engine and a sink that fail on purpose. */
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capture.h"
#include "filtering.h"
#include "images.h"
#include "log.h"
#include "output.h"
#include "thread.h"

#define WIDTH 34
#define HEIGHT 19
#define N_SLOTS 16

/* A camera that goes at frame `goes_at` and comes back after `fails` attempts to open it. */
static struct {
    int opened, closed, fails;
    uint64_t next, goes_at, ends_at;
    struct shared *until_flaky; /* goes on, slowly, for 10 frames after that engine filters */
    uint8_t memory[WIDTH * HEIGHT * 2];
} camera;

static int camera_open(struct source **ret, const struct source_config *config, struct error *err)
{
    struct source *s;

    if (camera.opened && camera.fails-- > 0)
        return error_set(err, -ENODEV, "camera is not there");
    if (camera.opened)
        assert_true(config->exact && config->width == WIDTH && config->height == HEIGHT);
    s = calloc(1, sizeof(*s));
    assert_non_null(s);
    camera.opened++;
    s->format = FRAME_UYVY;
    s->width = WIDTH;
    s->height = HEIGHT;
    s->live = true;
    s->fps = (struct fraction){1000, 1};
    *ret = s;
    return 0;
}

static const struct source_ops camera_ops;

static int camera_open_ops(struct source **ret, const struct source_config *config,
                           struct error *err)
{
    const int r = camera_open(ret, config, err);

    if (r == 0)
        (*ret)->ops = &camera_ops;
    return r;
}

static void camera_close(struct source *s)
{
    camera.closed++;
    free(s);
}

static bool flaky_filters(struct shared *s)
{
    bool does;

    (void)pthread_mutex_lock(&s->lock);
    does = !strcmp(s->engine, "flaky");
    (void)pthread_mutex_unlock(&s->lock);
    return does;
}

static int camera_read(struct source *s, struct frame *ret, struct error *err)
{
    if (camera.until_flaky) {
        (void)poll(NULL, 0, 20);
        if (camera.next > 5 && flaky_filters(camera.until_flaky)) {
            camera.until_flaky = NULL;
            camera.ends_at = camera.next + 10;
        }
    }
    if (camera.next == camera.ends_at)
        return -ENODATA;
    if (camera.next == camera.goes_at) {
        camera.goes_at = UINT64_MAX;
        return error_set(err, -ENODEV, "camera went");
    }
    *ret = (struct frame){.format = FRAME_UYVY,
                          .width = s->width,
                          .height = s->height,
                          .t_capture_ns = now_ns(),
                          .seq = camera.next++};
    (void)frame_layout_packed(ret);
    frame_attach(ret, camera.memory);
    image_fill(ret, IMAGE_NATURAL, ret->seq);
    return 0;
}

static void camera_release(struct source *s)
{
    (void)s;
}

static int camera_truth(const struct source *s, uint64_t seq, struct frame *clean)
{
    (void)s;
    (void)seq;
    (void)clean;
    return -ENOTSUP;
}

static const struct source_ops camera_ops = {
    "test camera", camera_open_ops, camera_close, camera_read, camera_release, camera_truth,
};

/* An engine like the CPU's, several deep, that breaks for good at a given frame. */
struct flaky {
    struct engine base;
    int n_submitted, n_collected, breaks_at;
    bool breaks_in_submit;
    struct frame *out[4];
};

static int n_destroyed;
static int n_pinned;
static int n_failures; /* of attempts to create one */

static void flaky_destroy(struct engine *e)
{
    n_destroyed++;
    free(e);
}

static int flaky_submit(struct engine *e, const struct frame *in, struct frame *out,
                        const struct filter *filter)
{
    struct flaky *f = (struct flaky *)e;
    struct engine *cpu = NULL;
    struct error err;

    if (f->breaks_in_submit && f->n_submitted >= f->breaks_at)
        return -EIO;
    assert_true(f->n_submitted - f->n_collected < f->base.depth);
    f->n_submitted++;
    assert_int_equal(engine_simd.create(&cpu, &(struct engine_config){.threads = 1}, &err), 0);
    assert_int_equal(cpu->ops->submit(cpu, in, out, filter), 0);
    assert_int_equal(cpu->ops->collect(cpu), 0);
    cpu->ops->destroy(cpu);
    return 0;
}

static int flaky_collect(struct engine *e)
{
    struct flaky *f = (struct flaky *)e;

    if (f->n_collected >= f->breaks_at)
        return -EIO;
    f->n_collected++;
    return 0;
}

static int flaky_pin(struct engine *e, void *memory, size_t bytes)
{
    (void)e;
    (void)memory;
    (void)bytes;
    n_pinned++;
    return 0;
}

static int flaky_create(struct engine **ret, const struct engine_config *config, struct error *err);

static const struct engine_ops flaky_ops = {
    .name = "flaky",
    .create = flaky_create,
    .pin = flaky_pin,
    .destroy = flaky_destroy,
    .submit = flaky_submit,
    .collect = flaky_collect,
};

/* A sink that keeps checksums, or fails at a frame. */
static struct {
    struct sink sink;
    int n, fails_at;
    uint64_t seq[1024];
    uint64_t sum[1024];
    struct frame first;
} screen;

static uint64_t checksum(const struct frame *f)
{
    uint64_t sum = 0;

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH * 2; x++)
            sum = sum * 31 + f->plane[0][(size_t)y * f->stride[0] + (size_t)x];
    return sum;
}

static int screen_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    (void)err;
    assert_int_equal(config->picture.format, FRAME_YUYV);
    screen.sink.picture = config->picture;
    (void)frame_layout_packed(&screen.sink.picture);
    *ret = &screen.sink;
    return 0;
}

static int screen_write(struct sink *s, const struct frame *f, struct error *err)
{
    assert_int_equal(f->stride[0], s->picture.stride[0]);
    if (screen.n == screen.fails_at)
        return error_set(err, -ENOSPC, "screen is full");
    screen.seq[screen.n] = f->seq;
    screen.sum[screen.n++] = checksum(f);
    return 0;
}

static int screen_close(struct sink *s, struct error *err)
{
    (void)s;
    (void)err;
    return 0;
}

static const struct sink_ops screen_ops = {"screen", screen_open, screen_write, screen_close};

struct bench {
    struct shared shared;
    struct capture capture;
    struct filtering filtering;
    struct output output;
    struct ring *captured, *filtered;
    struct slot slots[N_SLOTS];
    int next;
};

static struct slot *next_slot(struct bench *b)
{
    struct slot *s = &b->slots[b->next++];

    s->raw = (struct frame){.format = FRAME_YUYV, .width = WIDTH, .height = HEIGHT};
    s->out = s->raw;
    assert_int_equal(frame_alloc(&s->raw), 0);
    assert_int_equal(frame_alloc(&s->out), 0);
    return s;
}

static void open_bench(struct bench *b, struct engine *engine)
{
    const struct sink_config sink = {
        .picture = {.format = FRAME_YUYV, .width = WIDTH, .height = HEIGHT}};
    struct error err;

    memset(b, 0, sizeof(*b));
    b->shared.stop_fd = eventfd(0, EFD_NONBLOCK);
    b->shared.done_fd = eventfd(0, EFD_NONBLOCK);
    b->shared.wishes.filter = (struct filter){.radius = 2, .sigma_space = 1, .sigma_color = 20};
    assert_int_equal(pthread_mutex_init(&b->shared.lock, NULL), 0);
    assert_int_equal(stats_create(&b->shared.stats), 0);
    b->capture.shared = b->filtering.shared = b->output.shared = &b->shared;
    screen.sink.ops = &screen_ops;
    assert_int_equal(capture_open(&b->capture, &camera_ops,
                                  &(struct source_config){.stop_fd = b->shared.stop_fd}, &err),
                     0);
    assert_int_equal(output_open(&b->output, &screen_ops, &sink, &err), 0);
    b->filtering.engine = engine;
    b->filtering.rest_ns = INT64_C(30000000000);
    b->filtering.depth = engine->depth;
    b->filtering.config.threads = 1;
    assert_int_equal(ring_create(&b->captured, RING_LOSSLESS, 2), 0);
    assert_int_equal(ring_create(&b->filtered, RING_LOSSLESS, 2), 0);
    for (int i = 0; i < 2; i++) {
        ring_add(b->captured, next_slot(b));
        ring_add(b->filtered, next_slot(b));
    }
    b->capture.out = b->filtering.in = b->captured;
    b->filtering.out = b->output.in = b->filtered;
    b->capture.slot = next_slot(b);
    b->output.slot = next_slot(b);
    while (b->filtering.n_spare < engine->depth)
        b->filtering.spare[b->filtering.n_spare++] = next_slot(b);
}

static void run_bench(struct bench *b)
{
    pthread_t threads[3];

    assert_int_equal(thread_start(&threads[0], "output", output_run, &b->output), 0);
    assert_int_equal(thread_start(&threads[1], "filter", filtering_run, &b->filtering), 0);
    assert_int_equal(thread_start(&threads[2], "capture", capture_run, &b->capture), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Every frame that the source had is accounted for. */
static void close_bench(struct bench *b)
{
    struct stats s;

    stats_snapshot(b->shared.stats, &s);
    assert_int_equal(s.frames_in, s.frames_out + s.frames_unshown + s.frames_dropped);
    capture_close(&b->capture);
    filtering_close(&b->filtering);
    assert_int_equal(output_close(&b->output), 0);
    ring_destroy(b->captured);
    ring_destroy(b->filtered);
    stats_destroy(b->shared.stats);
    for (int i = 0; i < b->next; i++) {
        frame_free(&b->slots[i].raw);
        frame_free(&b->slots[i].out);
    }
    (void)close(b->shared.stop_fd);
    (void)close(b->shared.done_fd);
    (void)pthread_mutex_destroy(&b->shared.lock);
}

static struct engine *make_flaky(int depth, int breaks_at, bool in_submit)
{
    struct flaky *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->base.ops = &flaky_ops;
    f->base.depth = depth;
    f->breaks_at = breaks_at;
    f->breaks_in_submit = in_submit;
    return &f->base;
}

static int flaky_create(struct engine **ret, const struct engine_config *config, struct error *err)
{
    (void)config;
    if (n_failures-- > 0)
        return error_set(err, -ENODEV, "the device does not answer");
    *ret = make_flaky(2, 1000, false);
    return 0;
}

static void reset(uint64_t goes_at, uint64_t ends_at, int fails_at)
{
    memset(&camera, 0, sizeof(camera));
    memset(&screen, 0, sizeof(screen));
    camera.goes_at = goes_at;
    camera.ends_at = ends_at;
    screen.fails_at = fails_at;
    n_destroyed = n_pinned = 0;
    n_failures = 1000000;
}

/* What the frames must look like, whatever fails: the checksums of an undisturbed run. */
static uint64_t expected[40];

static void test_undisturbed(void **state)
{
    struct bench b;

    (void)state;
    reset(UINT64_MAX, 40, -1);
    open_bench(&b, make_flaky(3, 1000, false));
    run_bench(&b);
    assert_int_equal(b.shared.result, 0);
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
                struct bench b;

                reset(UINT64_MAX, 40, -1);
                open_bench(&b, make_flaky(depth, at, in_submit));
                run_bench(&b);
                assert_int_equal(b.shared.result, 0);
                assert_int_equal(n_destroyed, 1);
                assert_int_equal(screen.n, 40);
                for (int i = 0; i < 40; i++)
                    assert_int_equal(screen.seq[i], i);
                assert_memory_equal(screen.sum, expected, sizeof(expected));
                close_bench(&b);
            }
}

/* The engine breaks, cannot be made at once, and then can: it filters again. */
static void test_engine_is_made_anew(void **state)
{
    struct bench b;

    (void)state;
    for (int live = 0; live < 2; live++) {
        reset(UINT64_MAX, UINT64_MAX, -1);
        open_bench(&b, make_flaky(3, 2, false));
        b.shared.live = live;
        camera.until_flaky = &b.shared;
        n_failures = 1;
        run_bench(&b);
        assert_int_equal(b.shared.result, 0);
        assert_null(camera.until_flaky);
        assert_ptr_equal(b.filtering.engine->ops, &flaky_ops);
        assert_int_equal(b.filtering.depth, live ? 1 : 2);
        assert_int_equal(n_pinned, 1);
        assert_int_equal(screen.n, (int)camera.ends_at);
        for (int i = 0; i < 40 && i < screen.n; i++)
            assert_int_equal(screen.sum[i], expected[i]);
        close_bench(&b);
        assert_int_equal(n_destroyed, 2);
    }
}

/* With nothing to filter the device is let go, and taken again when there is. */
static void test_device_rests(void **state)
{
    struct bench b;

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    open_bench(&b, make_flaky(1, 1000, false));
    b.shared.live = true;
    b.filtering.rest_ns = 1000000; /* less than the time between two frames */
    camera.until_flaky = &b.shared;
    n_failures = 0;
    run_bench(&b);
    assert_int_equal(b.shared.result, 0);
    assert_true(n_pinned >= 1);
    assert_true(n_destroyed >= 1);
    assert_int_equal(screen.n, (int)camera.ends_at);
    for (int i = 0; i < 40 && i < screen.n; i++)
        assert_int_equal(screen.sum[i], expected[i]);
    close_bench(&b);
    assert_int_equal(n_destroyed, n_pinned + 1);
}

/* Neither the engine nor the one that should take over works: an error, and all is counted. */
static void test_no_engine_works(void **state)
{
    (void)state;
    assert_int_equal(setenv("BILATCAM_CPU", "none", 1), 0);
    for (int depth = 1; depth <= 4; depth++) {
        struct bench b;

        reset(UINT64_MAX, 40, -1);
        open_bench(&b, make_flaky(depth, 0, true));
        run_bench(&b);
        assert_int_not_equal(b.shared.result, 0);
        assert_int_equal(screen.n, 0);
        close_bench(&b);
    }
    assert_int_equal(unsetenv("BILATCAM_CPU"), 0);
}

static void test_camera_goes_and_comes_back(void **state)
{
    struct bench b;
    struct stats s;

    (void)state;
    reset(10, 40, -1);
    camera.fails = 2;
    open_bench(&b, make_flaky(1, 1000, false));
    run_bench(&b);
    stats_snapshot(b.shared.stats, &s);
    assert_int_equal(s.reconnects, 1);
    assert_int_equal(screen.n, 40);
    assert_memory_equal(screen.sum, expected, sizeof(expected));
    assert_false(b.shared.source_lost);
    close_bench(&b);
    assert_int_equal(camera.opened, camera.closed);
}

static void *stop_when_lost(void *arg)
{
    struct bench *b = arg;
    bool lost = false;

    while (!lost) {
        (void)poll(NULL, 0, 1);
        (void)pthread_mutex_lock(&b->shared.lock);
        lost = b->shared.source_lost;
        (void)pthread_mutex_unlock(&b->shared.lock);
    }
    (void)!write(b->shared.stop_fd, &(uint64_t){1}, sizeof(uint64_t));
    return NULL;
}

static void test_stop_while_the_camera_is_gone(void **state)
{
    struct bench b;
    pthread_t stopper;

    (void)state;
    reset(10, 40, -1);
    camera.fails = 1000000;
    open_bench(&b, make_flaky(1, 1000, false));
    assert_int_equal(thread_start(&stopper, "stopper", stop_when_lost, &b), 0);
    run_bench(&b);
    assert_int_equal(pthread_join(stopper, NULL), 0);
    assert_int_equal(b.shared.result, 0);
    assert_in_range(screen.n, 0, 10); /* what the stop overtook is counted, not shown */
    close_bench(&b);
}

static void test_sink_fails(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 4; depth++) {
        struct bench b;

        reset(UINT64_MAX, 40, 5);
        open_bench(&b, make_flaky(depth, 1000, false));
        run_bench(&b);
        assert_int_equal(b.shared.result, -ENOSPC);
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
