#include "tests/pipeline/fakes.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "tests/lib/images.h"
#include "tests/pipeline/require.h"

struct fake_camera camera;
struct fake_engines engines;
struct fake_screen screen;

void reset(uint64_t goes_at, uint64_t ends_at, int fails_at)
{
    memset(&camera, 0, sizeof(camera));
    memset(&engines, 0, sizeof(engines));
    memset(&screen, 0, sizeof(screen));
    camera.goes_at = goes_at;
    camera.ends_at = ends_at;
    screen.fails_at = fails_at;
    engines.n_failures = 1000000;
}

/* ---------------------------------------------------------------- the camera */

static const struct source_ops scene_ops;

/* The stream breaks before the next frame. */
static void note_break(void)
{
    if (camera.n_first < (int)(sizeof(camera.first) / sizeof(camera.first[0])))
        camera.first[camera.n_first++] = camera.next;
}

static void describe(struct source *s)
{
    const bool other = camera.opened && camera.other_width;

    s->ops = camera.stays ? &scene_ops : &camera_ops;
    s->format = FRAME_UYVY;
    s->width = other ? camera.other_width : WIDTH;
    s->height = other ? camera.other_height : HEIGHT;
    s->live = !camera.file;
    s->fps = (struct fraction){camera.fps ? camera.fps : 1000, 1};
    (void)snprintf(s->name, sizeof(s->name), "test camera");
    (void)snprintf(s->reopen, sizeof(s->reopen), "camera");
}

static int camera_open(struct source **ret, const struct source_config *config, struct error *err)
{
    struct source *s;
    int r;

    if (camera.busy) {
        camera.refused++;
        return error_set(err, -EBUSY, "camera is taken");
    }
    if (camera.absent || (camera.opened && camera.fails-- > 0))
        return error_set(err, -ENODEV, "camera is not there");
    if (camera.opened)
        require(config->again && config->width == WIDTH && config->height == HEIGHT);
    s = calloc(1, sizeof(*s));
    require(s);
    describe(s);
    r = camera.on_open ? camera.on_open(s, config->again) : 0;
    if (r) {
        free(s);
        return error_set(err, r, "camera is not there");
    }
    if (camera.opened++)
        note_break();
    camera.wait_fd = config->stop_fd;
    *ret = s;
    return 0;
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

/* What keeps the next frame from coming. */
static int camera_fault(struct source *s)
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
        return -ENODEV;
    }
    return camera.on_read ? camera.on_read(s) : 0;
}

static int camera_read(struct source *s, struct frame *ret, struct error *err)
{
    struct pollfd wake = {.fd = camera.wait_fd, .events = POLLIN};
    int r;

    if (s->rested) {
        camera.n_rested++;
        note_break();
    }
    s->rested = false;
    if (poll(&wake, 1, camera.pause_ms) > 0)
        return -ECANCELED;
    r = camera_fault(s);
    if (r)
        return error_set(err, r, "camera went");
    *ret = (struct frame){.format = s->format,
                          .width = s->width,
                          .height = s->height,
                          .t_capture_ns = stamp(),
                          .seq = camera.next++};
    require(frame_layout_packed(ret) <= sizeof(camera.memory));
    frame_attach(ret, camera.memory);
    if (!camera.still)
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
    .open = camera_open,
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

/* ---------------------------------------------------------------- the engine */

struct flaky {
    struct engine base;
    struct engine *cpu; /* which does the work; NULL until there is some */
    int n_submitted, n_collected, breaks_at;
    bool breaks_in_submit;
    uint64_t seq[8]; /* of the frames submitted last */
    uint8_t counts[WIDTH * HEIGHT];
};

struct engine *make_flaky(int depth, int breaks_at, bool in_submit)
{
    struct flaky *f = calloc(1, sizeof(*f));

    require(f);
    f->base.ops = &flaky_ops;
    f->base.depth = depth;
    f->breaks_at = breaks_at;
    f->breaks_in_submit = in_submit;
    return &f->base;
}

static int flaky_create(struct engine **ret, const struct engine_config *config, struct error *err)
{
    int r = engines.on_create ? engines.on_create() : 0;

    (void)config;
    if (engines.n_failures-- > 0)
        r = -ENODEV;
    if (r)
        return error_set(err, r, "the device does not answer");
    *ret = make_flaky(2, INT_MAX, false);
    return 0;
}

static void flaky_destroy(struct engine *e)
{
    struct flaky *f = (struct flaky *)e;

    engines.n_destroyed++;
    engine_simd.destroy(f->cpu);
    free(f);
}

static int flaky_submit(struct engine *e, const struct frame *in, struct frame *out,
                        const struct filter *filter)
{
    const struct engine_config config = {.threads = 1};
    struct flaky *f = (struct flaky *)e;
    const int r = engines.on_frame ? engines.on_frame() : 0;
    struct error err;

    if (r || (f->breaks_in_submit && f->n_submitted >= f->breaks_at))
        return r ? r : -EIO;
    require(f->n_submitted - f->n_collected < f->base.depth);
    require(filter->kind == FILTER_BILATERAL && filter->distance == DISTANCE_EUCLIDEAN);
    f->seq[f->n_submitted++ % 8] = in->seq;
    engines.n_submitted++;
    (void)poll(NULL, 0, engines.frame_ms);
    require(f->cpu || engine_simd.create(&f->cpu, &config, &err) == 0);
    require(engine_simd.submit(f->cpu, in, out, filter) == 0);
    require(engine_simd.collect(f->cpu) == 0);
    return 0;
}

static int flaky_collect(struct engine *e)
{
    struct flaky *f = (struct flaky *)e;
    const int r = engines.on_frame ? engines.on_frame() : 0;

    if (r || f->n_collected >= f->breaks_at)
        return r ? r : -EIO;
    f->n_collected++;
    return 0;
}

static int flaky_pass(struct engine *e, const struct frame *in)
{
    (void)e;
    (void)in;
    return engines.on_frame ? engines.on_frame() : 0;
}

static void flaky_report(struct engine *e, struct engine_report *ret)
{
    struct flaky *f = (struct flaky *)e;
    const uint64_t seq = f->seq[(f->n_collected - 1) % 8];

    require(f->n_collected > 0);
    memset(f->counts, reported_count(seq), sizeof(f->counts));
    *ret = (struct engine_report){.noise = reported_noise(seq),
                                  .noise_share = reported_share(seq),
                                  .frames = reported_frames(seq),
                                  .counts = f->counts};
}

static int flaky_pin(struct engine *e, void *memory, size_t bytes)
{
    (void)e;
    (void)memory;
    (void)bytes;
    engines.n_pinned++;
    return 0;
}

const struct engine_ops flaky_ops = {
    .name = "flaky",
    .on_device = true,
    .create = flaky_create,
    .pin = flaky_pin,
    .destroy = flaky_destroy,
    .release = engine_release_nothing,
    .submit = flaky_submit,
    .collect = flaky_collect,
    .pass = flaky_pass,
    .forget = engine_forget_nothing,
    .report = flaky_report,
};

/* ---------------------------------------------------------------- the screens */

static uint64_t checksum(const struct frame *f)
{
    uint64_t sum = 0;

    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < 2 * f->width; x++)
            sum = sum * 31 + f->plane[0][(size_t)y * f->stride[0] + (size_t)x];
    return sum;
}

static int open_screen(struct sink **ret, const struct sink_ops *ops,
                       const struct sink_config *config, struct error *err)
{
    struct sink *s = &screen.sink;
    int r;

    require(config->picture.format == FRAME_YUYV);
    *s = (struct sink){.ops = ops, .name = "screen", .picture = config->picture};
    r = screen.on_open ? screen.on_open(s) : 0;
    if (screen.open_failures-- > 0)
        r = -EBUSY;
    if (r)
        return error_set(err, r, "screen is taken");
    if (screen.opened++ && screen.fails_always)
        screen.fails_at = screen.n + 1;
    (void)frame_layout_packed(&s->picture);
    *ret = s;
    return 0;
}

static int screen_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    return open_screen(ret, &screen_ops, config, err);
}

static int card_screen_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    return open_screen(ret, &card_screen_ops, config, err);
}

static int device_screen_open(struct sink **ret, const struct sink_config *config,
                              struct error *err)
{
    return open_screen(ret, &device_screen_ops, config, err);
}

/* The counts of a frame are those that the engine reported of it. */
static void check_counts(const struct frame *f)
{
    require(f->width == WIDTH && f->height == HEIGHT);
    for (size_t i = 0; i < frame_counts_size(f); i++)
        require(f->counts[i] == reported_count(f->seq));
    screen.n_counted++;
}

static int screen_write(struct sink *s, const struct frame *f, const struct frame *before,
                        struct error *err)
{
    const int r = screen.on_write ? screen.on_write() : 0;

    require(f->stride[0] == s->picture.stride[0]);
    require(!before ||
            (s->ops->compare && before->seq == f->seq && before->stride[0] == f->stride[0]));
    if (r)
        return error_set(err, r, "screen failed");
    if (screen.n == screen.fails_at) {
        screen.fails_at = -1;
        return error_set(err, -ENOSPC, "screen is full");
    }
    if (!before && s->ops->compare) {
        require(!f->counts || screen.any_counts);
        screen.n_cards++;
        screen.card_sum = checksum(f);
        return 0;
    }
    if (f->counts && !screen.any_counts)
        check_counts(f);
    if (screen.n < SCREEN_KEEPS) {
        screen.seq[screen.n] = f->seq;
        screen.sum[screen.n] = checksum(f);
    }
    screen.n++;
    return 0;
}

static int screen_readers(struct sink *s)
{
    (void)s;
    return screen.on_count ? screen.on_count() : -1;
}

static int screen_close(struct sink *s, struct error *err)
{
    (void)s;
    (void)err;
    screen.closed++;
    return 0;
}

const struct sink_ops screen_ops = {
    .name = "screen",
    .open = screen_open,
    .write = screen_write,
    .close = screen_close,
};

/* These ask for the picture before the filter, which cards have not: so they are told apart. */
const struct sink_ops card_screen_ops = {
    .name = "window",
    .card = true,
    .compare = true,
    .open = card_screen_open,
    .write = screen_write,
    .close = screen_close,
};

const struct sink_ops device_screen_ops = {
    .name = "device",
    .device = true,
    .virtual_camera = true,
    .compare = true,
    .open = device_screen_open,
    .write = screen_write,
    .readers = screen_readers,
    .close = screen_close,
};
