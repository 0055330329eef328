/* soak FRAMES [SEED]: the stages at full speed, with faults at random from a seed.
 *
 * The camera errs, goes, and comes back with other sizes and formats; the engine breaks and is made
 * again; the virtual camera fails and is taken by others; pauses, sleep, watchers and settings
 * change all the time. At the end every frame must be accounted for, and memory, descriptors and
 * threads must be what they were after the first tenth. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/pipeline/require.h"
#include "tests/pipeline/bench.h"

/* The thread sanitizer remembers who touched which memory, and what filters over time keep is
 * touched for the first time late. */
#ifdef __SANITIZE_THREAD__
#define MEMORY_SLACK_KB 16384
#else
#define MEMORY_SLACK_KB 4096
#endif

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

/* @code once in so many, else 0. */
static int fault(struct dice *d, unsigned one_in, int code)
{
    if (roll(d, one_in))
        return 0;
    n_faults++;
    return code;
}

/* --- what fails --- */

static int open_camera(struct source *s, bool again)
{
    static const enum frame_format formats[] = {FRAME_YUYV, FRAME_UYVY, FRAME_NV12, FRAME_GREY};

    if (!again)
        return 0;
    s->format = formats[roll(&camera_dice, 4)];
    s->width += 2 * (int)roll(&camera_dice, 8);
    s->height += (int)roll(&camera_dice, 8);
    return fault(&camera_dice, 3, -ENODEV);
}

static int read_camera(struct source *s)
{
    static const int errors[] = {-ENODEV, -EIO, -ETIMEDOUT, -ECANCELED};

    if (fault(&camera_dice, 100, 1))
        s->n_dropped += roll(&camera_dice, 5);
    if (fault(&camera_dice, 100, 1))
        s->n_bad++;
    return fault(&camera_dice, 800, errors[roll(&camera_dice, 4)]);
}

static int create_engine(void)
{
    return fault(&rebuild_dice, 3, -ENODEV);
}

static int filter_frame(void)
{
    return fault(&engine_dice, 5000, -EIO);
}

static int open_screen(struct sink *s)
{
    s->picture.width += 2 * (int)roll(&screen_dice, 3); /* held at another size by a reader */
    return fault(&screen_dice, 3, -EBUSY);
}

static int write_screen(void)
{
    return fault(&screen_dice, 2000, -EBUSY);
}

static int count_readers(void)
{
    return (int)roll(&screen_dice, 4);
}

static void open_soak(struct bench *b, uint64_t seed)
{
    struct dice *const dice[] = {&camera_dice, &engine_dice, &rebuild_dice, &screen_dice,
                                 &player_dice};

    for (size_t i = 0; i < sizeof(dice) / sizeof(dice[0]); i++)
        dice[i]->state = seed * 1000003 + i;
    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.still = true;
    for (size_t i = 0; i < sizeof(camera.memory); i++)
        camera.memory[i] = (uint8_t)(16 + i * 7 % 200);
    camera.on_open = open_camera;
    camera.on_read = read_camera;
    engines.n_failures = 0;
    engines.on_create = create_engine;
    engines.on_frame = filter_frame;
    screen.on_open = open_screen;
    screen.on_write = write_screen;
    screen.on_count = count_readers;
    screen.any_counts = true;
    open_bench(b, make_flaky(1, INT_MAX, false));
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

    require(dir);
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

    require(f && fscanf(f, "%*d %ld", &pages) == 1);
    (void)fclose(f);
    u.memory_kb = pages * (sysconf(_SC_PAGESIZE) / 1024);
    return u;
}

static void keep_most(struct usage *most)
{
    const struct usage u = measure();

    most->memory_kb = u.memory_kb > most->memory_kb ? u.memory_kb : most->memory_kb;
    most->descriptors = u.descriptors > most->descriptors ? u.descriptors : most->descriptors;
    most->threads = u.threads > most->threads ? u.threads : most->threads;
}

/* --- the run --- */

static uint64_t frames_in(struct bench *b)
{
    struct stats s;

    stages_stats(&b->stages, &s);
    return s.frames_in;
}

/* Other settings of the filter. */
static void change_filter(struct stream *s)
{
    static const int frames[] = {1, 1, 2, 4, FILTER_MAX_WINDOW};
    struct filter_request request = stream_filter_request(s);
    struct filter *f = &request.filter;

    f->radius = (int)roll(&player_dice, 3);
    f->temporal = frames[roll(&player_dice, 5)];
    f->temporal_mode = (enum temporal_mode)roll(&player_dice, 2);
    f->sigma_time = roll(&player_dice, 3);
    f->sigma_color = roll(&player_dice, 2) ? 20.0 : 0.0;
    request.latency_budget = roll(&player_dice, 2) ? 200000 : 0;
    stream_set_filter_request(s, &request);
}

/* All that users and the system do to a daemon, every millisecond some of it. */
static void play(struct stream *s)
{
    static const enum stream_state reasons[] = {STREAM_PAUSED, STREAM_ASLEEP, STREAM_IDLE};
    const enum stream_state reason = reasons[roll(&player_dice, 3)];

    stream_hold(s, reason, roll(&player_dice, 8) == 0);
    if (roll(&player_dice, 4) == 0)
        stream_devices_changed(s);
    if (roll(&player_dice, 50) == 0)
        change_filter(s);
    (void)poll(NULL, 0, 1);
}

static void report(uint64_t seed, const struct stats *s, struct usage first, struct usage last)
{
    printf("seed %" PRIu64 ": %" PRIu64 " frames in = %" PRIu64 " out + %" PRIu64
           " dropped + %" PRIu64 " bad; %d faults, %" PRIu64 " reconnects\n"
           "memory %ld -> %ld KiB, descriptors %d -> %d, threads %d -> %d\n",
           seed, s->frames_in, s->frames_out, s->frames_dropped, s->frames_bad, n_faults,
           s->reconnects, first.memory_kb, last.memory_kb, first.descriptors, last.descriptors,
           first.threads, last.threads);
}

int main(int argc, char **argv)
{
    const uint64_t n_frames = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    static struct bench b = {.screen = &device_screen_ops, .wait = true, .drops = true};
    struct usage first = {0}, last = {0}; /* the most in each half of the run */
    struct stats s;
    struct error err;

    if (!n_frames) {
        fprintf(stderr, "usage: soak FRAMES [SEED]\n");
        return 2;
    }
    log_set_level(LOG_QUIET);
    open_soak(&b, seed);
    require(stages_start(&b.stages, &err) == 0);
    for (int turn = 0; frames_in(&b) < n_frames; turn++) {
        play(b.stages.stream);
        if (turn % 10 == 0)
            keep_most(frames_in(&b) < n_frames / 2 ? &first : &last);
    }
    stream_signal(b.stages.stream, STREAM_EVENT_STOP);
    stages_join(&b.stages);
    stages_stats(&b.stages, &s);
    report(seed, &s, first, last);
    require(stream_result(b.stages.stream) == 0);
    close_bench(&b);
    require(s.frames_out > s.frames_in / 1000);
    require(s.reconnects > 0 && n_faults > 100);
    require(camera.opened == camera.closed && screen.opened == screen.closed);
    require(last.memory_kb < first.memory_kb + MEMORY_SLACK_KB);
    /* What leaks at each of hundreds of reconnects is far more. */
    require(last.descriptors <= first.descriptors + 2);
    require(last.threads <= first.threads + 2);
    return 0;
}
