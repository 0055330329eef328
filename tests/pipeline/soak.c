/* soak FRAMES [SEED]: the stages at full speed, with faults at random from a seed.
 *
 * The camera errs, goes, and comes back with other sizes and formats; the engine breaks and is made
 * anew; the virtual camera fails and is taken by others; pauses, sleep, watchers and settings
 * change all the time. At the end every frame must be accounted for, and memory, descriptors and
 * threads must be what they were after the first tenth. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "pipeline/stages.h"
#include "tests/lib/images.h"

#define WIDTH 64
#define HEIGHT 37
#define MEMORY_SLACK_KB 4096

/* One generator for each thread that draws from it. */
struct dice {
    uint64_t state;
};

static struct dice camera_dice, engine_dice, rebuild_dice, screen_dice, player_dice;

static unsigned roll(struct dice *d, unsigned sides)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(d->state >> 33) % sides;
}

static atomic_int n_faults; /* played so far */

static bool fault(struct dice *d, unsigned one_in)
{
    if (roll(d, one_in))
        return false;
    n_faults++;
    return true;
}

/* --- the camera --- */

static uint8_t pictures[2 * (WIDTH + 16) * (HEIGHT + 8)];

static const struct source_ops camera_ops;

static int camera_open(struct source **ret, const struct source_config *config, struct error *err)
{
    static const enum frame_format formats[] = {FRAME_YUYV, FRAME_UYVY, FRAME_NV12, FRAME_GREY};
    struct source *s;

    if (config->again && fault(&camera_dice, 3))
        return error_set(err, -ENODEV, "camera is not there");
    s = calloc(1, sizeof(*s));
    if (!s)
        return error_set(err, -ENOMEM, "out of memory");
    s->ops = &camera_ops;
    s->format = config->again ? formats[roll(&camera_dice, 4)] : FRAME_YUYV;
    s->width = WIDTH + (config->again ? 2 * (int)roll(&camera_dice, 8) : 0);
    s->height = HEIGHT + (config->again ? (int)roll(&camera_dice, 8) : 0);
    s->live = true;
    s->fps = (struct fraction){1000, 1};
    (void)snprintf(s->reopen, sizeof(s->reopen), "camera");
    *ret = s;
    return 0;
}

static void camera_close(struct source *s)
{
    free(s);
}

static int camera_read(struct source *s, struct frame *ret, struct error *err)
{
    static const int errors[] = {-ENODEV, -EIO, -ETIMEDOUT, -ECANCELED};
    static uint64_t seq;

    if (fault(&camera_dice, 800))
        return error_set(err, errors[roll(&camera_dice, 4)], "camera failed");
    if (fault(&camera_dice, 100))
        s->n_dropped += roll(&camera_dice, 5);
    if (fault(&camera_dice, 100))
        s->n_bad++;
    *ret = (struct frame){.format = s->format,
                          .width = s->width,
                          .height = s->height,
                          .t_capture_ns = now_ns(),
                          .seq = seq++};
    (void)frame_layout_packed(ret);
    frame_attach(ret, pictures);
    return 0;
}

static void camera_release(struct source *s)
{
    (void)s;
}

static const struct source_ops camera_ops = {
    .name = "camera",
    .device = true,
    .open = camera_open,
    .close = camera_close,
    .read = camera_read,
    .release = camera_release,
};

/* --- the engine: the CPU's, but as brittle as a device --- */

struct brittle {
    struct engine base;
    struct engine *cpu;
};

static const struct engine_ops brittle_ops;

static int brittle_create(struct engine **ret, const struct engine_config *config,
                          struct error *err)
{
    struct brittle *b;
    int r;

    if (fault(&rebuild_dice, 3))
        return error_set(err, -ENODEV, "no device");
    b = calloc(1, sizeof(*b));
    if (!b)
        return error_set(err, -ENOMEM, "out of memory");
    r = engine_simd.create(&b->cpu, config, err);
    if (r) {
        free(b);
        return r;
    }
    b->base = (struct engine){.ops = &brittle_ops, .depth = 1};
    *ret = &b->base;
    return 0;
}

static void brittle_destroy(struct engine *e)
{
    struct brittle *b = (struct brittle *)e;

    b->cpu->ops->destroy(b->cpu);
    free(b);
}

static int brittle_pin(struct engine *e, void *memory, size_t bytes)
{
    (void)e;
    (void)memory;
    (void)bytes;
    return 0;
}

static int brittle_submit(struct engine *e, const struct frame *in, struct frame *out,
                          const struct filter *filter)
{
    struct brittle *b = (struct brittle *)e;

    return fault(&engine_dice, 5000) ? -EIO : b->cpu->ops->submit(b->cpu, in, out, filter);
}

static int brittle_collect(struct engine *e)
{
    struct brittle *b = (struct brittle *)e;

    return fault(&engine_dice, 5000) ? -EIO : b->cpu->ops->collect(b->cpu);
}

static int brittle_pass(struct engine *e, const struct frame *in)
{
    struct brittle *b = (struct brittle *)e;

    return fault(&engine_dice, 5000) ? -EIO : b->cpu->ops->pass(b->cpu, in);
}

static const struct engine_ops brittle_ops = {
    .name = "brittle",
    .on_device = true,
    .create = brittle_create,
    .destroy = brittle_destroy,
    .release = engine_release_nothing,
    .pin = brittle_pin,
    .submit = brittle_submit,
    .collect = brittle_collect,
    .pass = brittle_pass,
    .forget = engine_forget_nothing,
};

/* --- the virtual camera --- */

static int screen_open(struct sink **ret, const struct sink_config *config, struct error *err);

static int screen_write(struct sink *s, const struct frame *f, const struct frame *before,
                        struct error *err)
{
    (void)s;
    (void)f;
    (void)before;
    return fault(&screen_dice, 2000) ? error_set(err, -EBUSY, "screen failed") : 0;
}

static int screen_close(struct sink *s, struct error *err)
{
    (void)err;
    free(s);
    return 0;
}

static int screen_readers(struct sink *s)
{
    (void)s;
    return (int)roll(&screen_dice, 4);
}

static const struct sink_ops screen_ops = {
    .name = "screen",
    .device = true,
    .virtual_camera = true,
    .open = screen_open,
    .write = screen_write,
    .close = screen_close,
    .readers = screen_readers,
};

static int screen_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    struct sink *s;

    if (fault(&screen_dice, 3))
        return error_set(err, -EBUSY, "screen is taken");
    s = calloc(1, sizeof(*s));
    if (!s)
        return error_set(err, -ENOMEM, "out of memory");
    s->ops = &screen_ops;
    s->picture = config->picture;
    s->picture.width += 2 * (int)roll(&screen_dice, 3); /* held at another size by a reader */
    (void)frame_layout_packed(&s->picture);
    *ret = s;
    return 0;
}

/* --- the stages --- */

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "FAIL %s\n", what);
    exit(1);
}

static void open_soak(struct stages *s)
{
    const struct capture_request request = {.ops = &camera_ops, .name = "auto", .format = -1};
    const struct engine_config config = {.threads = 1};
    const struct filter_request filter = {
        .filter = {.radius = 1, .sigma_space = 1, .sigma_color = 20}};
    struct sink_config sink = {.name = "screen"};
    struct engine *engine;
    struct error err;

    require(stages_init(s, event_open(), 0) == 0, "a stream");
    stream_set_filter_request(s->stream, &filter);
    require(capture_open(&s->capture, s->stream, &request, true, &err) == 0, "the camera");
    while (brittle_create(&engine, &config, &err))
        ;
    filtering_open(&s->filtering, s->stream, engine, &config, FILTERING_REST_NS);
    sink.picture = s->capture.picture;
    require(output_open(&s->output, &screen_ops, &sink, true, &err) == 0, "the screen");
    require(stages_connect(s, RING_LATEST, &err) == 0, "slots and rings");
}

/* --- what must stay flat --- */

struct usage {
    long memory_kb;
    int descriptors, threads;
};

static int count_entries(const char *folder)
{
    DIR *dir = opendir(folder);
    int n = 0;

    require(dir, folder);
    while (readdir(dir))
        n++;
    (void)closedir(dir);
    return n;
}

static struct usage measure(void)
{
    struct usage u = {.descriptors = count_entries("/proc/self/fd"),
                      .threads = count_entries("/proc/self/task")};
    FILE *f = fopen("/proc/self/statm", "re");
    long pages = 0;

    require(f && fscanf(f, "%*d %ld", &pages) == 1, "/proc/self/statm");
    (void)fclose(f);
    u.memory_kb = pages * (sysconf(_SC_PAGESIZE) / 1024);
    return u;
}

/* --- the run --- */

static uint64_t frames_in(struct stages *s)
{
    struct stats stats;

    stages_stats(s, &stats);
    return stats.frames_in;
}

/* All that users and the system do to a daemon, every millisecond some of it. */
static void play(struct stages *s)
{
    static const enum stream_state reasons[] = {STREAM_PAUSED, STREAM_ASLEEP, STREAM_IDLE};
    const enum stream_state reason = reasons[roll(&player_dice, 3)];

    stream_hold(s->stream, reason, roll(&player_dice, 8) == 0);
    if (roll(&player_dice, 4) == 0)
        stream_devices_changed(s->stream);
    if (roll(&player_dice, 50) == 0) {
        struct filter_request request = stream_filter_request(s->stream);

        request.filter.radius = (int)roll(&player_dice, 3);
        stream_set_filter_request(s->stream, &request);
    }
    (void)poll(NULL, 0, 1);
}

int main(int argc, char **argv)
{
    const uint64_t n_frames = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct dice *const dice[] = {&camera_dice, &engine_dice, &rebuild_dice, &screen_dice,
                                 &player_dice};
    static struct stages k;
    struct usage first = {0}, last;
    struct stats s;
    struct error err;
    int stop_fd;

    if (!n_frames) {
        fprintf(stderr, "usage: soak FRAMES [SEED]\n");
        return 2;
    }
    log_set_level(LOG_QUIET);
    for (size_t i = 0; i < sizeof(dice) / sizeof(dice[0]); i++)
        dice[i]->state = seed * 1000003 + i;
    for (size_t i = 0; i < sizeof(pictures); i++)
        pictures[i] = (uint8_t)(16 + i * 7 % 200);
    open_soak(&k);
    require(stages_start(&k, &err) == 0, "threads");
    while (frames_in(&k) < n_frames) {
        play(&k);
        if (!first.threads && frames_in(&k) > n_frames / 10)
            first = measure();
    }
    last = measure();
    stream_signal(k.stream, STREAM_EVENT_STOP);
    stages_join(&k);
    stages_stats(&k, &s);
    printf("seed %" PRIu64 ": %" PRIu64 " frames in = %" PRIu64 " out + %" PRIu64
           " dropped + %" PRIu64 " bad; %d faults, %" PRIu64 " reconnects\n"
           "memory %ld -> %ld KiB, descriptors %d -> %d, threads %d -> %d\n",
           seed, s.frames_in, s.frames_out, s.frames_dropped, s.frames_bad, n_faults, s.reconnects,
           first.memory_kb, last.memory_kb, first.descriptors, last.descriptors, first.threads,
           last.threads);
    require(s.frames_in == s.frames_out + s.frames_dropped + s.frames_bad, "frames add up");
    require(s.frames_out > s.frames_in / 100, "frames came out");
    require(s.reconnects > 0 && n_faults > 100, "there were faults");
    require(last.memory_kb < first.memory_kb + MEMORY_SLACK_KB, "memory is flat");
    require(last.descriptors <= first.descriptors, "descriptors are flat");
    /* An engine that is just being made has a thread, and one of the CPU's. */
    require(last.threads <= first.threads + 2, "threads are flat");
    stop_fd = stream_fd(k.stream, STREAM_EVENT_STOP);
    require(stages_close(&k) == 0, "no error ended the run");
    event_close(stop_fd);
    return 0;
}
