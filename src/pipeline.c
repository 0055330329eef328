#include "pipeline.h"

#include "config-build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "filtering.h"
#include "log.h"
#include "output.h"
#include "thread.h"

#define LOSSLESS_CAPACITY 2
/* Both rings, and the slots that the stages hold. */
#define MAX_SLOTS (2 * LOSSLESS_CAPACITY + 1 + FILTERING_MAX_DEPTH + 1)

struct pipeline {
    pthread_mutex_t settings_lock; /* guards settings once the threads run */
    struct settings settings;
    char output_name[SETTINGS_PATH_MAX]; /* as at the start: sinks keep it */
    struct sink_control control;
    struct shared shared;
    struct capture capture;
    struct filtering filtering;
    struct output output;
    struct ring *captured, *filtered;
    struct slot slots[MAX_SLOTS];
    int n_slots;
    void *slot_memory;
    size_t slot_memory_size;
    struct stats_header header;
    pthread_t threads[3];
    int n_threads;
};

static struct wishes wishes_of(const struct settings *s)
{
    struct wishes w = {
        .filter = {.radius = s->filter == FILTER_NONE ? 0 : s->radius,
                   .sigma_space = s->sigma_space,
                   .sigma_color = s->sigma_color,
                   .range = (enum range_kernel)s->range,
                   .window = (enum window_shape)s->window},
        .latency_budget = s->latency_budget,
        .radius_min = s->radius_min,
    };

    /* From the radius asked for, so that limiting it does not pump the picture. */
    if (w.filter.sigma_space <= 0.0)
        w.filter.sigma_space = filter_auto_sigma(w.filter.radius);
    return w;
}

/* Takes over @new with the lock held. */
static void take_settings(struct pipeline *p, const struct settings *new)
{
    const struct wishes w = wishes_of(new);

    p->settings = *new;
    (void)pthread_mutex_lock(&p->shared.lock);
    p->shared.wishes = w;
    (void)pthread_mutex_unlock(&p->shared.lock);
    (void)!write(p->shared.news_fd, &(uint64_t){1}, sizeof(uint64_t));
}

static void control_adjust(void *user, const char *name, int steps, char *text, size_t size)
{
    struct pipeline *p = user;
    const struct key *k = key_find(name);
    char value[64];

    (void)pthread_mutex_lock(&p->settings_lock);
    settings_adjust(&p->settings, k, steps, filter_auto_sigma(p->settings.radius));
    take_settings(p, &p->settings);
    settings_get(&p->settings, k, value, sizeof(value));
    (void)pthread_mutex_unlock(&p->settings_lock);
    (void)snprintf(text, size, "%s %s", name, value);
}

static void control_status(void *user, struct sink_status *ret)
{
    struct pipeline *p = user;
    struct stats_header header;
    struct stats stats;
    struct wishes w;
    const struct second *last;
    int64_t budget_ns;

    pipeline_stats(p, &header, &stats);
    (void)pthread_mutex_lock(&p->shared.lock);
    w = p->shared.wishes;
    budget_ns = p->shared.budget_ns;
    (void)pthread_mutex_unlock(&p->shared.lock);
    last = stats_last_second(&stats, now_ns());
    *ret = (struct sink_status){
        .fps = last ? last->fps : 0.0,
        .latency_p50_ns = last ? last->p50_ns[STAGE_LATENCY] : 0,
        .latency_p99_ns = last ? last->p99_ns[STAGE_LATENCY] : 0,
        .budget_ns = budget_ns,
        .radius_requested = w.filter.radius,
        .radius = stats.radius_last,
        .sigma_color = w.filter.sigma_color,
        .sigma_space = w.filter.sigma_space,
        .frames_dropped = stats.frames_dropped,
        .frames_bad = stats.frames_bad,
    };
    memcpy(ret->engine, header.engine, sizeof(ret->engine));
    memcpy(ret->device, header.device, sizeof(ret->device));
}

static void control_quit(void *user)
{
    pipeline_stop(user);
}

static bool has_suffix(const char *text, const char *suffix)
{
    const size_t n = strlen(text), m = strlen(suffix);

    return n >= m && !strcmp(text + n - m, suffix);
}

/* What is neither a path nor there as a file is what a camera calls itself. */
static bool is_file(const char *name)
{
    if (!strcmp(name, "-") || has_suffix(name, ".y4m") || !strncmp(name, "/dev/fd/", 8) ||
        !strcmp(name, "/dev/stdin"))
        return true;
    return strncmp(name, "/dev/", 5) && (strchr(name, '/') || !access(name, F_OK));
}

static const struct source_ops *source_for(const char *name)
{
    if (!strncmp(name, "test:", 5))
        return &source_pattern;
    if (!strcmp(name, "auto"))
        return &source_v4l2;
    return is_file(name) ? &source_y4m : &source_v4l2;
}

static const struct sink_ops *sink_for(const char *name)
{
    if (!strcmp(name, "null:"))
        return &sink_null;
    if (!strcmp(name, "-") || has_suffix(name, ".y4m"))
        return &sink_y4m;
    if (!strcmp(name, "auto") || !strncmp(name, "/dev/", 5))
        return &sink_v4l2loopback;
    return NULL;
}

/* Writing to a file that is read, or twice to one, would destroy it. */
static bool same_file(const char *a, const char *b)
{
    struct stat x, y;

    if (strcmp(a, "-") ? stat(a, &x) : fstat(STDIN_FILENO, &x))
        return false;
    return *b && strcmp(b, "-") && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* What can be seen to be wrong before anything is opened or written. */
static int check_wishes(const struct settings *s, struct error *err)
{
    const char *const written[] = {s->output, s->stats, s->trace};

    if (!sink_for(s->output))
        return error_usage(
            err, "output '%s': must be auto, /dev/videoN, FILE.y4m, - or null:", s->output);
#ifndef HAVE_PREVIEW
    if (s->preview)
        return error_set(err, -ENOTSUP, "the preview window is not built into this program");
#endif
    for (int i = 0; i < 3; i++) {
        if (same_file(s->input, written[i]))
            return error_usage(err, "'%s' is read and would be overwritten: choose another name",
                               written[i]);
        if (i && strcmp(s->output, "-") && same_file(s->output, written[i]))
            return error_usage(err, "'%s' is already the output: choose another name", written[i]);
    }
    return 0;
}

static struct capture_wish capture_wish(const struct settings *s)
{
    struct capture_wish w = {
        .ops = source_for(s->input),
        .width = s->width,
        .height = s->height,
        .fps = s->fps,
        .format = s->format,
    };

    (void)snprintf(w.name, sizeof(w.name), "%s", s->input);
    return w;
}

static int open_capture(struct pipeline *p, struct error *err)
{
    const struct capture_wish wish = capture_wish(&p->settings);

    return capture_open(&p->capture, &wish, p->settings.wait && wish.ops == &source_v4l2, err);
}

static int open_filtering(struct pipeline *p, struct error *err)
{
    const struct engine_config config = {.threads = p->settings.threads,
                                         .autotune = p->settings.autotune};

    return filtering_open(&p->filtering, p->settings.engine, &config, err);
}

static struct sink_config sink_wishes(const struct pipeline *p)
{
    return (struct sink_config){
        .name = p->output_name,
        .picture = p->capture.picture,
        .format = p->settings.output_format,
        .fps = p->capture.fps,
        .pace = !p->shared.live,
        .stop_fd = p->shared.stop_fd,
        .control = &p->control,
    };
}

static int open_output(struct pipeline *p, struct error *err)
{
    const struct settings *s = &p->settings;
    const struct sink_config config = sink_wishes(p);
    const int r = output_open(&p->output, sink_for(s->output), &config, s->wait, err);

    /* A window alone is enough where no other output was asked for by name. */
    if (r && r != -ECANCELED && s->preview && !strcmp(s->output, "auto")) {
        log_info("%s; the window is the only output", err->text);
        return 0;
    }
    return r;
}

static int open_preview(struct pipeline *p, struct error *err)
{
#ifdef HAVE_PREVIEW
    struct sink_config config = sink_wishes(p);

    config.name = "preview";
    config.format = -1;
    config.alone = !p->output.n_outlets || p->output.outlets[0].ops == &sink_null;
    return output_open(&p->output, &sink_preview, &config, false, err);
#else
    (void)p;
    return error_set(err, -ENOTSUP, "the preview window is not built into this program");
#endif
}

static int make_slot_memory(struct pipeline *p, struct error *err)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct frame shape = p->capture.picture;
    const size_t frame_bytes = (frame_layout(&shape) + page - 1) / page * page;
    uint8_t *memory;

    p->slot_memory_size = 2 * frame_bytes * (size_t)p->n_slots;
    memory =
        mmap(NULL, p->slot_memory_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return error_set(err, -ENOMEM, "out of memory for %d frames of %dx%d", 2 * p->n_slots,
                         shape.width, shape.height);
    p->slot_memory = memory;
    for (int i = 0; i < p->n_slots; i++, memory += 2 * frame_bytes) {
        p->slots[i].raw = p->slots[i].out = shape;
        frame_attach(&p->slots[i].raw, memory);
        frame_attach(&p->slots[i].out, memory + frame_bytes);
    }
    return 0;
}

/* Makes the rings and gives every stage the slots that it holds. */
static int make_rings(struct pipeline *p, struct error *err)
{
    const int capacity = p->shared.live ? 1 : LOSSLESS_CAPACITY;
    const enum ring_policy policy = p->shared.live ? RING_LATEST : RING_LOSSLESS;
    struct engine *engine = p->filtering.engine;
    struct slot *next = p->slots;
    int r;

    p->n_slots = 2 * capacity + 1 + p->filtering.depth + 1;
    r = make_slot_memory(p, err);
    if (r)
        return r;
    if (ring_create(&p->captured, policy, capacity) || ring_create(&p->filtered, policy, capacity))
        return error_set(err, -ENOMEM, "out of memory for the rings");
    p->capture.out = p->filtering.in = p->captured;
    p->filtering.out = p->output.in = p->filtered;
    for (int i = 0; i < capacity; i++) {
        ring_add(p->captured, next++);
        ring_add(p->filtered, next++);
    }
    p->capture.slot = next++;
    p->output.slot = next++;
    while (p->filtering.n_spare < p->filtering.depth)
        p->filtering.spare[p->filtering.n_spare++] = next++;
    p->filtering.memory = p->slot_memory;
    p->filtering.memory_size = p->slot_memory_size;
    if (engine->ops->pin(engine, p->slot_memory, p->slot_memory_size))
        log_debug("frame memory is not pinned: copies to the device will be slower");
    return 0;
}

static void fill_header(struct pipeline *p)
{
    const struct sink *sink = p->output.outlets[0].sink;
    const struct frame *picture = sink ? &sink->picture : &p->capture.picture;
    struct stats_header *h = &p->header;

    (void)snprintf(h->format_in, sizeof(h->format_in), "%s", format_table[p->capture.format].name);
    (void)snprintf(h->format_out, sizeof(h->format_out), "%s", format_table[picture->format].name);
    h->width = p->capture.picture.width;
    h->height = p->capture.picture.height;
}

/* Left to itself, the program lets a camera go that nobody looks at, if that is all it does. */
static int decide_on_demand(struct pipeline *p, struct error *err)
{
    const struct settings *s = &p->settings;
    const struct outlet *first = &p->output.outlets[0];
    const bool camera = p->capture.wish.ops == &source_v4l2;

    if (s->on_demand == ON_DEMAND_ON && !first->ops->readers)
        return error_usage(err, "on-demand: the output must be a virtual camera, not '%s'",
                           s->output);
    p->output.on_demand = s->on_demand == ON_DEMAND_ON ||
                          (s->on_demand == ON_DEMAND_AUTO && camera && first->ops->readers &&
                           p->output.n_outlets == 1 && !s->frames && !*s->trace);
    return 0;
}

/* The window comes last: it may ask for the state of all the rest as soon as it stands. */
static int open_all(struct pipeline *p, struct error *err)
{
    int r = check_wishes(&p->settings, err);

    if (r == 0 && stats_create(&p->shared.stats))
        r = error_set(err, -ENOMEM, "out of memory for statistics");
    if (r == 0 && *p->settings.trace)
        r = output_trace(&p->output, p->settings.trace, err);
    if (r == 0)
        r = open_capture(p, err);
    if (r == 0)
        r = open_filtering(p, err);
    if (r == 0)
        r = open_output(p, err);
    if (r == 0)
        r = make_rings(p, err);
    if (r == 0 && *p->settings.stats && p->capture.source)
        r = output_measure(&p->output, p->capture.source, err);
    if (r == 0 && p->settings.preview)
        r = open_preview(p, err);
    if (r == 0)
        r = decide_on_demand(p, err);
    return r;
}

int pipeline_open(struct pipeline **ret, const struct settings *settings, int stop_fd,
                  struct error *err)
{
    struct pipeline *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return error_set(err, -ENOMEM, "out of memory");
    if (shared_init(&p->shared, stop_fd) || pthread_mutex_init(&p->settings_lock, NULL) ||
        output_init(&p->output)) {
        free(p);
        return error_set(err, -ENOMEM, "out of memory or of descriptors");
    }
    p->settings = *settings;
    (void)snprintf(p->output_name, sizeof(p->output_name), "%s", settings->output);
    p->control = (struct sink_control){p, control_status, control_adjust, control_quit};
    p->shared.max_frames = (uint64_t)settings->frames;
    p->shared.wishes = wishes_of(settings);
    p->capture.shared = p->filtering.shared = p->output.shared = &p->shared;
    r = open_all(p, err);
    if (r) {
        (void)pipeline_close(p);
        return r;
    }
    fill_header(p);
    log_info("%s, %dx%d %s -> %s (%s) -> %s, %s", p->capture.name, p->header.width,
             p->header.height, p->header.format_in, p->shared.engine, p->shared.device,
             outlet_name(&p->output.outlets[0]), p->header.format_out);
    *ret = p;
    return 0;
}

int pipeline_start(struct pipeline *p, struct error *err)
{
    const struct {
        const char *name;
        void *(*run)(void *);
        void *stage;
    } stages[3] = {
        {"output", output_run, &p->output},
        {"filter", filtering_run, &p->filtering},
        {"capture", capture_run, &p->capture},
    };

    for (int i = 0; i < 3; i++) {
        const int r = thread_start(&p->threads[i], stages[i].name, stages[i].run, stages[i].stage);

        if (r)
            return error_set(err, r, "cannot start thread %s: %s", stages[i].name, strerror(-r));
        p->n_threads++;
    }
    return 0;
}

int pipeline_done_fd(const struct pipeline *p)
{
    return p->shared.done_fd;
}

bool pipeline_live(const struct pipeline *p)
{
    return p->shared.live;
}

int pipeline_news_fd(const struct pipeline *p)
{
    return p->shared.news_fd;
}

void pipeline_stop(struct pipeline *p)
{
    shared_stop(&p->shared);
}

/* Whether the source can be changed to what @new wishes while frames flow. */
static bool can_reopen(const struct pipeline *p, const struct settings *new)
{
    const struct source_ops *ops = source_for(new->input);

    return p->shared.live && !p->output.truth_source &&
           (ops == &source_v4l2 || (ops == &source_pattern && new->fps.num));
}

void pipeline_apply(struct pipeline *p, const struct settings *new)
{
    const bool reopenable = can_reopen(p, new);
    bool reopen = false;

    (void)pthread_mutex_lock(&p->settings_lock);
    for (const struct key *k = key_table; k->name; k++) {
        char before[SETTINGS_PATH_MAX], after[SETTINGS_PATH_MAX];

        settings_get(&p->settings, k, before, sizeof(before));
        settings_get(new, k, after, sizeof(after));
        if (!strcmp(before, after))
            continue;
        if (k->live || (k->reopens && reopenable))
            log_info("%s = %s", k->name, after);
        else
            log_warning("%s = %s takes effect at the next start", k->name, after);
        reopen = reopen || (k->reopens && reopenable);
    }
    take_settings(p, new);
    (void)pthread_mutex_unlock(&p->settings_lock);
    if (reopen) {
        const struct capture_wish wish = capture_wish(new);

        capture_change(&p->capture, &wish);
    }
}

int pipeline_set(struct pipeline *p, const char *name, const char *value, struct error *err)
{
    const struct key *k = key_find(name);
    struct settings new;
    int r;

    if (k && !k->live)
        return error_set(err, -EINVAL, "%s cannot change while bilatcam runs", name);
    (void)pthread_mutex_lock(&p->settings_lock);
    new = p->settings;
    r = settings_set(&new, name, value, err);
    if (r == 0)
        take_settings(p, &new);
    (void)pthread_mutex_unlock(&p->settings_lock);
    return r;
}

void pipeline_settings(struct pipeline *p, struct settings *ret)
{
    (void)pthread_mutex_lock(&p->settings_lock);
    *ret = p->settings;
    (void)pthread_mutex_unlock(&p->settings_lock);
}

void pipeline_pause(struct pipeline *p, bool paused)
{
    shared_hold(&p->shared, &p->shared.paused, paused);
}

void pipeline_sleep(struct pipeline *p, bool asleep)
{
    shared_hold(&p->shared, &p->shared.asleep, asleep);
}

void pipeline_devices_changed(struct pipeline *p)
{
    shared_devices_changed(&p->shared);
}

int pipeline_snapshot(struct pipeline *p, const char *name, char *path, size_t size,
                      struct error *err)
{
    return output_snapshot(&p->output, name, path, size, err);
}

void pipeline_state(struct pipeline *p, struct pipeline_state *ret)
{
    (void)pthread_mutex_lock(&p->shared.lock);
    *ret = (struct pipeline_state){
        .name = stream_state_name(p->shared.state),
        .readers = p->shared.readers,
        .n_rounds = p->shared.n_rounds,
    };
    memcpy(ret->reason, p->shared.reason, sizeof(ret->reason));
    if (*p->shared.no_output && p->shared.state != STREAM_LOST) {
        ret->name = "no virtual camera";
        memcpy(ret->reason, p->shared.no_output, sizeof(ret->reason));
    }
    (void)pthread_mutex_unlock(&p->shared.lock);
}

void pipeline_stats(struct pipeline *p, struct stats_header *header, struct stats *stats)
{
    stats_snapshot(p->shared.stats, stats);
    stats->frames_dropped +=
        stats->frames_unshown + ring_dropped(p->captured) + ring_dropped(p->filtered);
    *header = p->header;
    (void)pthread_mutex_lock(&p->shared.lock);
    memcpy(header->engine, p->shared.engine, sizeof(header->engine));
    memcpy(header->device, p->shared.device, sizeof(header->device));
    if (!stats->frames_out)
        stats->radius_requested = p->shared.wishes.filter.radius;
    (void)pthread_mutex_unlock(&p->shared.lock);
}

int pipeline_result(struct pipeline *p)
{
    int result;

    (void)pthread_mutex_lock(&p->shared.lock);
    result = p->shared.result;
    (void)pthread_mutex_unlock(&p->shared.lock);
    return result;
}

void pipeline_join(struct pipeline *p)
{
    /* Those that did start must not wait for those that did not. */
    if (p->n_threads && p->n_threads < 3) {
        shared_stop(&p->shared);
        ring_close(p->captured);
        ring_close(p->filtered);
    }
    for (int i = 0; i < p->n_threads; i++)
        (void)pthread_join(p->threads[i], NULL);
    p->n_threads = 0;
}

int pipeline_close(struct pipeline *p)
{
    int result, r;

    pipeline_join(p);
    r = output_close(&p->output);
    result = p->shared.result ? p->shared.result : r;
    filtering_close(&p->filtering);
    capture_close(&p->capture);
    if (p->slot_memory)
        (void)munmap(p->slot_memory, p->slot_memory_size);
    ring_destroy(p->captured);
    ring_destroy(p->filtered);
    stats_destroy(p->shared.stats);
    shared_finish(&p->shared);
    (void)pthread_mutex_destroy(&p->settings_lock);
    free(p);
    return result;
}
