#include "benchmark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define N(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define MAX_RUNS 64
#define POINT_NS (250 * NS_PER_MS)    /* spent on one size and radius */
#define TOO_SLOW_NS (200 * NS_PER_MS) /* a frame: larger radii are of no use for live pictures */
#define SHARE                                                                                      \
    0.8 /* of the frame interval that filtering may take: the rest is for moving frames            \
         */

static const struct {
    const char *name;
    int width, height;
} sizes[] = {{"720p", 1280, 720}, {"1080p", 1920, 1080}, {"4K", 3840, 2160}};

static const int radii[] = {1, 2, 3, 5, 7, 10, 15};

/* Rates at which people use cameras, by index of their size. */
static const struct {
    const char *name;
    int size, fps;
} targets[] = {{"720p30", 0, 30}, {"1080p30", 1, 30}, {"1080p60", 1, 60}, {"4K30", 2, 30}};

struct result {
    char engine[16], device[128];
    int64_t ns[N(sizes)][N(radii)]; /* median of a frame; 0 = too slow to be timed */
    int holds[N(targets)];          /* the largest radius; 0 = none */
};

static void show_progress(const char *engine, const char *size, int radius)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%-10s %-6s radius %-3d", engine, size, radius);
}

static void end_progress(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%40s\r", "");
}

/* What a filter over time has to do depends on what it sees: patches with noise, all of which move,
 * there and back. The worst there is, so that what is said to be held is held. */
enum { N_PICTURES = 4 };

struct pictures {
    struct frame in[N_PICTURES], out;
    uint8_t *memory;
    size_t bytes;
    uint64_t n; /* frames so far */
};

static void fill(const struct frame *f, int shift, uint32_t noise)
{
    for (int y = 0; y < f->height; y++) {
        uint8_t *row = f->plane[0] + (size_t)y * f->stride[0];

        for (int x = 0; x < f->width; x++) {
            const int patch = ((x + shift) / 8 * 31 + y / 8 * 17) % 100;

            noise = noise * 1664525u + 1013904223u;
            row[2 * x] = (uint8_t)(60 + patch + (int)(noise >> 28));
            row[2 * x + 1] = (uint8_t)(120 + (noise >> 20 & 15));
        }
    }
}

static int make_pictures(struct pictures *p, int width, int height)
{
    static const int shifts[N_PICTURES] = {0, 3, 6, 3};

    *p = (struct pictures){.out = {.format = FRAME_YUYV, .width = width, .height = height}};
    p->bytes = frame_layout(&p->out);
    p->memory = mmap(NULL, (N_PICTURES + 1) * p->bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p->memory == MAP_FAILED)
        return -ENOMEM;
    for (int i = 0; i < N_PICTURES; i++) {
        p->in[i] = p->out;
        frame_attach(&p->in[i], p->memory + (size_t)i * p->bytes);
        fill(&p->in[i], shifts[i], (uint32_t)i + 1);
    }
    frame_attach(&p->out, p->memory + N_PICTURES * p->bytes);
    return 0;
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int64_t time_frame(struct engine *e, struct pictures *p, const struct filter *filter)
{
    struct frame *in = &p->in[p->n % N_PICTURES];
    int64_t start;

    in->seq = p->n++;
    in->t_capture_ns = (int64_t)p->n * (NS_PER_S / 30);
    start = now_ns();
    if (e->ops->submit(e, in, &p->out, filter) || e->ops->collect(e))
        return -1;
    return now_ns() - start;
}

/* The median time of a frame, one in flight as live pictures have it; -1 when it fails. */
static int64_t time_point(struct engine *e, struct pictures *p, const struct filter *filter)
{
    int64_t times[MAX_RUNS], total = 0;
    int n = 0;

    /* These count only if that is all. */
    for (int i = 0; i < filter_warm_up(filter); i++) {
        times[0] = time_frame(e, p, filter);
        if (times[0] < 0 || times[0] > TOO_SLOW_NS)
            return times[0];
    }
    while (n < MAX_RUNS && total < POINT_NS) {
        times[n] = time_frame(e, p, filter);
        if (times[n] < 0)
            return -1;
        total += times[n++];
    }
    qsort(times, (size_t)n, sizeof(times[0]), compare_times);
    return times[n / 2];
}

static struct filter filter_of(const struct settings *s, int radius)
{
    struct settings asked = *s;
    struct filter f;

    if (asked.filter == FILTER_NONE)
        asked.filter = FILTER_BILATERAL;
    asked.radius = radius;
    settings_filter(&asked, &f);
    return f;
}

static int time_size(struct engine *e, int size, const struct settings *s, struct result *r)
{
    struct pictures p;

    if (make_pictures(&p, sizes[size].width, sizes[size].height))
        return -ENOMEM;
    (void)e->ops->pin(e, p.memory, (N_PICTURES + 1) * p.bytes);
    for (int i = 0; i < N(radii); i++) {
        const struct filter filter = filter_of(s, radii[i]);
        int64_t ns;

        show_progress(e->ops->name, sizes[size].name, radii[i]);
        if (i == 0) /* with the first frame of a size a GPU is measured, which takes a while */
            (void)time_frame(e, &p, &filter);
        ns = time_point(e, &p, &filter);
        if (ns < 0 || ns > TOO_SLOW_NS)
            break;
        r->ns[size][i] = ns;
    }
    e->ops->unpin(e, p.memory);
    (void)munmap(p.memory, (N_PICTURES + 1) * p.bytes);
    return 0;
}

static double cost_of(const struct settings *s, int radius)
{
    const struct filter filter = filter_of(s, radius);

    return filter_cost(&filter);
}

/* The largest radius that fits into the share of a frame interval, between timed radii by what
 * each costs; 0 when none does. */
static int held_radius(const int64_t ns[N(radii)], int fps, const struct settings *s)
{
    const double limit = SHARE * 1e9 / fps;
    double ns_per_cost;
    int n = 0, held;

    while (n < N(radii) && ns[n] && (double)ns[n] <= limit)
        n++;
    if (n == 0)
        return 0;
    held = radii[n - 1];
    if (n == N(radii) || !ns[n])
        return held;
    ns_per_cost = (double)(ns[n] - ns[n - 1]) / (cost_of(s, radii[n]) - cost_of(s, held));
    while (held + 1 < radii[n] &&
           (double)ns[n - 1] + ns_per_cost * (cost_of(s, held + 1) - cost_of(s, radii[n - 1])) <=
               limit)
        held++;
    return held;
}

static int time_engine(struct engine *e, const struct settings *s, struct result *r)
{
    int result = 0;

    memset(r, 0, sizeof(*r));
    (void)snprintf(r->engine, sizeof(r->engine), "%s", e->ops->name);
    (void)snprintf(r->device, sizeof(r->device), "%s", e->device);
    for (int i = 0; i < N(sizes) && result == 0; i++)
        result = time_size(e, i, s, r);
    for (int i = 0; i < N(targets); i++)
        r->holds[i] = held_radius(r->ns[targets[i].size], targets[i].fps, s);
    return result;
}

/* What is done to a frame, but for the radius. */
static void print_filter(const struct settings *s, FILE *out)
{
    const struct filter f = filter_of(s, 1);

    if (f.kind != FILTER_BILATERAL) {
        fprintf(out, "%s, square window", f.kind == FILTER_BOX ? "box" : "gaussian");
        return;
    }
    fprintf(out, "%s window, %s", f.window == WINDOW_DISC ? "disc" : "square",
            f.range == RANGE_GAUSSIAN ? "gaussian" : "lorentzian");
    if (f.distance == DISTANCE_MANHATTAN)
        fprintf(out, ", manhattan");
    if (filter_averages(&f))
        fprintf(out, ", mean of up to %d frames along their motion", f.temporal);
    else if (f.temporal > 1)
        fprintf(out, ", over %d frames", f.temporal);
}

static void print_text(const struct result *results, int n, const struct settings *s, FILE *out)
{
    fprintf(out, "Time of one YUYV frame in ms, copies to and from the device included (");
    print_filter(s, out);
    fprintf(out, "):\n\n%-10s %-6s", "engine", "size");
    for (int i = 0; i < N(radii); i++)
        fprintf(out, "   r=%-3d", radii[i]);
    for (int k = 0; k < n; k++)
        for (int size = 0; size < N(sizes); size++) {
            fprintf(out, "\n%-10s %-6s", results[k].engine, sizes[size].name);
            for (int i = 0; i < N(radii); i++) {
                if (results[k].ns[size][i])
                    fprintf(out, "%8.2f", (double)results[k].ns[size][i] / 1e6);
                else
                    fprintf(out, "       -");
            }
        }
    fprintf(out, "\n");
    for (int k = 0; k < n; k++) {
        fprintf(out, "\nWith %s (%s) this machine holds", results[k].engine, results[k].device);
        for (int t = 0; t < N(targets); t++) {
            const int radius = results[k].holds[t];
            const char *more = radius == radii[N(radii) - 1] ? " or more" : "";

            fprintf(out, "%s\n  ", t ? "," : "");
            if (radius)
                fprintf(out, "radius %d%s at %s", radius, more, targets[t].name);
            else
                fprintf(out, "no radius at %s", targets[t].name);
        }
        fprintf(out, ".\n");
    }
}

static void print_csv(const struct result *results, int n, FILE *out)
{
    fprintf(out, "engine,device,width,height,radius,ms\n");
    for (int k = 0; k < n; k++)
        for (int size = 0; size < N(sizes); size++)
            for (int i = 0; i < N(radii); i++)
                if (results[k].ns[size][i]) {
                    fprintf(out, "%s,", results[k].engine);
                    csv_print_string(out, results[k].device);
                    fprintf(out, ",%d,%d,%d,%.4f\n", sizes[size].width, sizes[size].height,
                            radii[i], (double)results[k].ns[size][i] / 1e6);
                }
}

static void print_json(const struct result *results, int n, FILE *out)
{
    fprintf(out, "[");
    for (int k = 0; k < n; k++) {
        const char *comma = "";

        fprintf(out, "%s{\"engine\": \"%s\", \"device\": ", k ? ", " : "", results[k].engine);
        json_print_string(out, results[k].device);
        fprintf(out, ", \"holds\": {");
        for (int t = 0; t < N(targets); t++)
            fprintf(out, "%s\"%s\": %d", t ? ", " : "", targets[t].name, results[k].holds[t]);
        fprintf(out, "}, \"frames\": [");
        for (int size = 0; size < N(sizes); size++)
            for (int i = 0; i < N(radii); i++) {
                if (!results[k].ns[size][i])
                    continue;
                fprintf(out, "%s{\"width\": %d, \"height\": %d, \"radius\": %d, \"ms\": %.4f}",
                        comma, sizes[size].width, sizes[size].height, radii[i],
                        (double)results[k].ns[size][i] / 1e6);
                comma = ", ";
            }
        fprintf(out, "]}");
    }
    fprintf(out, "]\n");
}

int benchmark_run(const struct engine_ops *const *engines, const struct settings *s,
                  enum benchmark_format format, FILE *out, struct error *err)
{
    struct engine_config config = {.threads = s->threads, .autotune = s->autotune};
    struct result results[8];
    int n = 0, r = 0;

    memcpy(config.device, s->device, sizeof(config.device));
    /* Stands if the table does not have it; else the engine says why it does not work. */
    (void)error_set(err, -ENODEV, "engine '%s' is not built into this program", s->engine);
    for (int i = 0; engines[i] && n < N(results) && r == 0; i++) {
        const char *name = engines[i]->name;
        struct engine *e;

        if (strcmp(s->engine, "auto") && strcmp(s->engine, name))
            continue;
        if (engine_open(&e, engines, name, &config, err))
            continue;
        r = time_engine(e, s, &results[n++]);
        e->ops->destroy(e);
    }
    end_progress();
    if (r)
        return error_set(err, r, "out of memory");
    if (!n)
        return -ENODEV;
    if (format == BENCHMARK_CSV)
        print_csv(results, n, out);
    else if (format == BENCHMARK_JSON)
        print_json(results, n, out);
    else
        print_text(results, n, s, out);
    return 0;
}
