#include "tests/pipeline/bench.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/thread.h"
#include "tests/lib/images.h"

struct test_camera camera;
struct test_screen screen;
atomic_int n_destroyed, n_pinned, n_failures, engine_ms, n_submitted;

/* The stream breaks before the next frame. */
static void note_break(void)
{
    if (camera.n_first < (int)(sizeof(camera.first) / sizeof(camera.first[0])))
        camera.first[camera.n_first++] = camera.next;
}

static int camera_open(struct source **ret, const struct source_config *config, struct error *err)
{
    struct source *s;

    if (camera.busy) {
        camera.refused++;
        return error_set(err, -EBUSY, "camera is taken");
    }
    if (camera.absent || (camera.opened && camera.fails-- > 0))
        return error_set(err, -ENODEV, "camera is not there");
    if (camera.opened)
        assert_true(config->again && config->width == WIDTH && config->height == HEIGHT);
    s = calloc(1, sizeof(*s));
    assert_non_null(s);
    if (camera.opened++)
        note_break();
    camera.wait_fd = config->stop_fd;
    s->format = FRAME_UYVY;
    s->width = camera.opened > 1 && camera.other_width ? camera.other_width : WIDTH;
    s->height = camera.opened > 1 && camera.other_height ? camera.other_height : HEIGHT;
    (void)snprintf(s->name, sizeof(s->name), "test camera");
    (void)snprintf(s->reopen, sizeof(s->reopen), "camera");
    s->live = !camera.file;
    s->fps = (struct fraction){camera.fps ? camera.fps : 1000, 1};
    *ret = s;
    return 0;
}

static const struct source_ops scene_ops;

static int camera_open_ops(struct source **ret, const struct source_config *config,
                           struct error *err)
{
    const int r = camera_open(ret, config, err);

    if (r == 0)
        (*ret)->ops = camera.stays ? &scene_ops : &camera_ops;
    return r;
}

static void camera_close(struct source *s)
{
    camera.closed++;
    free(s);
}

static bool flaky_filters(struct stream *s)
{
    struct status status = {.frames_out = 0};

    stream_fill_status(s, &status);
    return !strcmp(status.engine, "flaky");
}

/* The stamp of the next frame: as real cameras give it, long before the frame can be read. */
static int64_t stamp(void)
{
    const int64_t part = (int64_t)(camera.next * 7919 % 1000); /* of 1000: no two frames alike */

    return now_ns() - camera.age_ns - camera.jitter_ns * part / 1000;
}

static int camera_read(struct source *s, struct frame *ret, struct error *err)
{
    struct pollfd wake = {.fd = camera.wait_fd, .events = POLLIN};

    if (s->rested) {
        camera.n_rested++;
        note_break();
    }
    s->rested = false;
    if (poll(&wake, 1, camera.pause_ms) > 0)
        return -ECANCELED;
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
                          .t_capture_ns = stamp(),
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

const struct source_ops camera_ops = {
    .name = "test camera",
    .device = true,
    .open = camera_open_ops,
    .close = camera_close,
    .read = camera_read,
    .release = camera_release,
    .truth = camera_truth,
};

static const struct source_ops scene_ops = {
    .name = "test scene",
    .close = camera_close,
    .read = camera_read,
    .release = camera_release,
};

/* An engine like the CPU's, several deep, that breaks for good at a given frame. */
struct flaky {
    struct engine base;
    int n_submitted, n_collected, breaks_at;
    bool breaks_in_submit;
    struct frame *out[4];
};

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
    n_submitted++;
    (void)poll(NULL, 0, engine_ms);
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

const struct engine_ops flaky_ops = {
    .name = "flaky",
    .on_device = true,
    .create = flaky_create,
    .pin = flaky_pin,
    .destroy = flaky_destroy,
    .release = engine_release_nothing,
    .submit = flaky_submit,
    .collect = flaky_collect,
    .pass = engine_pass_nothing,
    .forget = engine_forget_nothing,
};

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
    assert_int_equal(config->picture.format, FRAME_YUYV);
    if (screen.open_failures-- > 0)
        return error_set(err, -EBUSY, "screen is taken");
    if (screen.opened++ && screen.fails_always)
        screen.fails_at = screen.n + 1;
    screen.sink.picture = config->picture;
    (void)frame_layout_packed(&screen.sink.picture);
    *ret = &screen.sink;
    return 0;
}

static int screen_write(struct sink *s, const struct frame *f, const struct frame *before,
                        struct error *err)
{
    assert_int_equal(f->stride[0], s->picture.stride[0]);
    if (screen.n == screen.fails_at) {
        screen.fails_at = -1;
        return error_set(err, -ENOSPC, "screen is full");
    }
    if (!before && s->ops->compare) {
        screen.n_cards++;
        return 0;
    }
    assert_true(screen.n < (int)(sizeof(screen.sum) / sizeof(screen.sum[0])));
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

const struct sink_ops screen_ops = {
    .name = "screen", .open = screen_open, .write = screen_write, .close = screen_close};

static int card_screen_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    const int r = screen_open(ret, config, err);

    screen.sink.ops = &card_screen_ops;
    return r;
}

const struct sink_ops card_screen_ops = {.name = "window",
                                         .card = true,
                                         .compare = true,
                                         .open = card_screen_open,
                                         .write = screen_write,
                                         .close = screen_close};

static int device_screen_open(struct sink **ret, const struct sink_config *config,
                              struct error *err)
{
    const int r = screen_open(ret, config, err);

    screen.sink.ops = &device_screen_ops;
    return r;
}

static int device_screen_readers(struct sink *s)
{
    (void)s;
    return -1;
}

/* It asks for the picture before the filter, which cards have not: so they are told apart. */
const struct sink_ops device_screen_ops = {.name = "device",
                                           .device = true,
                                           .virtual_camera = true,
                                           .compare = true,
                                           .open = device_screen_open,
                                           .write = screen_write,
                                           .readers = device_screen_readers,
                                           .close = screen_close};

void open_bench(struct bench *b, struct engine *engine)
{
    const struct sink_config sink = {
        .name = b->node ? b->node : "auto",
        .picture = {.format = FRAME_YUYV, .width = WIDTH, .height = HEIGHT}};
    const struct engine_config config = {.threads = 1};
    struct stages *s = &b->stages;
    struct filter_request filter = {.filter = {.radius = 2, .sigma_space = 1, .sigma_color = 20},
                                    .radius_min = 1};
    struct error err;
    struct capture_request request = {.ops = &camera_ops,
                                      .width = b->wait ? WIDTH : 0,
                                      .height = b->wait ? HEIGHT : 0,
                                      .format = -1};

    (void)snprintf(request.name, sizeof(request.name), "%s", sink.name);
    filter_cost(&filter.filter, filter.cost);
    assert_int_equal(stages_init(s, event_open(), 0), 0);
    stream_set_filter_request(s->stream, &filter);
    screen.sink.ops = &screen_ops;
    assert_int_equal(capture_open(&s->capture, s->stream, &request, b->wait, &err), 0);
    filtering_open(&s->filtering, s->stream, engine, &config,
                   b->rest_ns ? b->rest_ns : FILTERING_REST_NS);
    assert_int_equal(
        output_open(&s->output, b->screen ? b->screen : &screen_ops, &sink, b->wait, &err), 0);
    assert_int_equal(stages_connect(s, b->drops ? RING_LATEST : RING_LOSSLESS, &err), 0);
}

void run_bench(struct bench *b)
{
    struct error err;

    assert_int_equal(stages_start(&b->stages, &err), 0);
    stages_join(&b->stages);
}

/* Every frame that the source had is accounted for. */
void close_bench(struct bench *b)
{
    const int stop_fd = stream_fd(b->stages.stream, STREAM_EVENT_STOP);
    const int result = stream_result(b->stages.stream);
    struct stats s;

    stages_stats(&b->stages, &s);
    assert_int_equal(s.frames_in, s.frames_out + s.frames_dropped);
    assert_int_equal(stages_close(&b->stages), result);
    event_close(stop_fd);
}

struct engine *make_flaky(int depth, int breaks_at, bool in_submit)
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

void reset(uint64_t goes_at, uint64_t ends_at, int fails_at)
{
    memset(&camera, 0, sizeof(camera));
    memset(&screen, 0, sizeof(screen));
    camera.goes_at = goes_at;
    camera.ends_at = ends_at;
    screen.fails_at = fails_at;
    n_destroyed = n_pinned = n_submitted = engine_ms = 0;
    n_failures = 1000000;
}

bool eventually(bool (*is_so)(struct bench *b), struct bench *b)
{
    for (int i = 0; i < LIMIT_MS; i++) {
        if (is_so(b))
            return true;
        (void)poll(NULL, 0, 1);
    }
    return false;
}

bool runs(struct bench *b)
{
    return stream_state(b->stages.stream) == STREAM_RUNS;
}

bool is_paused(struct bench *b)
{
    return stream_state(b->stages.stream) == STREAM_PAUSED;
}

bool is_lost(struct bench *b)
{
    return stream_state(b->stages.stream) == STREAM_LOST;
}

struct script {
    struct bench *b;
    void (*play)(struct bench *b);
};

static void *play(void *arg)
{
    const struct script *s = arg;

    s->play(s->b);
    stream_signal(s->b->stages.stream, STREAM_EVENT_STOP);
    return NULL;
}

void run_script(struct bench *b, void (*script)(struct bench *b))
{
    struct script s = {b, script};
    pthread_t player;

    assert_int_equal(thread_start(&player, "player", play, &s), 0);
    run_bench(b);
    assert_int_equal(pthread_join(player, NULL), 0);
    assert_int_equal(stream_result(b->stages.stream), 0);
}

void open_live(struct bench *b)
{
    camera.pause_ms = 2;
    open_bench(b, make_flaky(1, 1000000, false));
}
