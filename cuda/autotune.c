/* DESIGN. What is timed is a pass over the picture, launched as the engine does it: strips or
 * frames by turns on two streams. One launch alone tells little, because in the engine its end
 * overlaps with the next: the shape that won so at radius 16 made strips of 1920x1080 slower by
 * 15 % (2026-11, NVIDIA H200).
 *
 * The radius that was asked for comes first, then the others from the smallest, each class with
 * its largest. All candidates of a class take turns, because clocks rise in the meantime, and the
 * best of their times counts. A round is not begun unless the pace so far has it end within the
 * bound; a class without a whole round stays with the rule. */
#include "cuda/autotune.h"

#include "config-build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "filter/filter.h"

#define BOUND_NS (250 * NS_PER_MS)
#define ROUNDS 4         /* the first one loads code */
#define SAMPLE_MS 0.1f   /* short passes are timed several at once */
#define LEAST_MS 0.002f  /* what starting one takes */
#define LEAST_GAIN 0.98f /* less is noise: the rule stays */

static const int candidates[] = {2, 4, 6, 8};

#define N_CANDIDATES (int)(sizeof(candidates) / sizeof(candidates[0]))

struct timing {
    const cudaStream_t *streams; /* two */
    int rows;                    /* of a launch */
    cudaEvent_t begin, other, end;
    int64_t t_end_ns;
    float ms_per_tap; /* of one pass with each candidate, as last seen; 0 = not yet */
};

/* Has @to wait for what @from has to do by now. */
static int join(cudaStream_t to, cudaStream_t from, cudaEvent_t event)
{
    cudaError_t status = cudaEventRecord(event, from);

    if (status == cudaSuccess)
        status = cudaStreamWaitEvent(to, event, 0);
    return bilateral_errno(status);
}

static int launch_passes(const struct timing *t, const struct bilateral_params *given, int n)
{
    struct bilateral_params p = *given;
    int r = 0, turn = 0;

    for (int i = 0; i < n; i++)
        for (int y = 0; y < p.height && r == 0; y += t->rows) {
            p.row_begin = y;
            p.row_end = y + t->rows < p.height ? y + t->rows : p.height;
            r = bilateral_launch(&p, t->streams[turn++ % 2]);
        }
    return r;
}

static int time_passes(const struct timing *t, const struct bilateral_params *p, int n,
                       float *ret_ms)
{
    float ms = 0;
    int r = join(t->streams[1], t->streams[0], t->begin);

    if (r == 0)
        r = launch_passes(t, p, n);
    if (r == 0)
        r = join(t->streams[0], t->streams[1], t->other);
    if (r == 0)
        r = bilateral_errno(cudaEventRecord(t->end, t->streams[0]));
    if (r == 0)
        r = bilateral_errno(cudaEventSynchronize(t->end));
    if (r == 0)
        r = bilateral_errno(cudaEventElapsedTime(&ms, t->begin, t->end));
    if (r == 0)
        *ret_ms = ms / (float)n;
    return r;
}

/* Strips of one frame are alone on the device, whole frames come one behind the other. */
static int passes_of_sample(const struct timing *t, const struct bilateral_params *p, float ms)
{
    const int least = t->rows < p->height ? 1 : 2;
    const int n = (int)(SAMPLE_MS / fmaxf(ms, LEAST_MS));

    return n > least ? n : least;
}

/* Times each candidate that fits; keeps the lesser times in @best. */
static int time_round(const struct timing *t, struct bilateral_params *p, float best[N_CANDIDATES])
{
    int r = 0;

    for (int i = 0; i < N_CANDIDATES && r == 0; i++) {
        const int n = isinf(best[i]) ? 1 : passes_of_sample(t, p, best[i]);
        float ms = INFINITY;

        if (!bilateral_warps_fit(p, candidates[i]))
            continue;
        p->warps = candidates[i];
        r = time_passes(t, p, n, &ms);
        best[i] = fminf(best[i], ms);
    }
    return r;
}

/* The rule's choice, unless another candidate is clearly quicker. */
static int best_candidate(const float best[N_CANDIDATES], int rule)
{
    int chosen = 0;

    for (int i = 0; i < N_CANDIDATES; i++)
        if (candidates[i] == rule)
            chosen = i;
    for (int i = 0; i < N_CANDIDATES; i++)
        if (best[i] < best[chosen] * (candidates[chosen] == rule ? LEAST_GAIN : 1.0f))
            chosen = i;
    return candidates[chosen];
}

/* @ret_warps is 0 where there was no time for it, or where the kernel for that radius has one
 * shape only. */
static int measure_class(struct timing *t, const struct bilateral_params *given, int radius,
                         int *ret_warps)
{
    struct bilateral_params p = *given;
    float best[N_CANDIDATES] = {INFINITY, INFINITY, INFINITY, INFINITY};
    float taps;
    int r, done = 0;

    *ret_warps = 0;
    p.radius = radius;
    p.row_end = t->rows; /* the rule is asked about one launch */
    taps = (float)filter_taps(p.disc ? WINDOW_DISC : WINDOW_SQUARE, radius);
    if (!bilateral_tunable(&p))
        return 0;
    for (; done < ROUNDS; done++) {
        const float once_ms = t->ms_per_tap * taps;
        const float expected_ms = done ? 2 * once_ms + N_CANDIDATES * SAMPLE_MS : once_ms;
        float ms = 0;

        if (now_ns() + (int64_t)(expected_ms * 1e6f) > t->t_end_ns)
            break;
        r = time_round(t, &p, best);
        if (r)
            return r;
        for (int i = 0; i < N_CANDIDATES; i++)
            ms += isinf(best[i]) ? 0.0f : best[i];
        t->ms_per_tap = ms / taps;
    }
    if (done > 1)
        *ret_warps = best_candidate(best, bilateral_rule(&p));
    return 0;
}

static int measure_classes(struct timing *t, const struct bilateral_params *p, struct shape *s)
{
    const int first = shape_class(p->radius);
    int r = measure_class(t, p, shape_class_radius(first), &s->warps[first]);

    for (int i = 0; i < SHAPE_CLASSES && r == 0; i++)
        if (i != first)
            r = measure_class(t, p, shape_class_radius(i), &s->warps[i]);
    return r;
}

static int measure(const struct bilateral_params *p, int rows, const cudaStream_t streams[2],
                   struct shape *ret)
{
    struct timing t = {.streams = streams, .rows = rows, .t_end_ns = now_ns() + BOUND_NS};
    int r = bilateral_errno(cudaDeviceSynchronize());

    if (r == 0)
        r = bilateral_errno(cudaEventCreate(&t.begin));
    if (r == 0)
        r = bilateral_errno(cudaEventCreate(&t.end));
    if (r == 0)
        r = bilateral_errno(cudaEventCreateWithFlags(&t.other, cudaEventDisableTiming));
    if (r == 0)
        r = measure_classes(&t, p, ret);
    if (t.begin)
        (void)cudaEventDestroy(t.begin);
    if (t.end)
        (void)cudaEventDestroy(t.end);
    if (t.other)
        (void)cudaEventDestroy(t.other);
    return r;
}

/* Other processes may have measured other sizes meanwhile: those stay in the file. */
static void keep(const struct autotune *a)
{
    struct shape_table all = {0};
    int r;

    (void)shape_cache_load(&all, a->key);
    for (int i = 0; i < a->table.n; i++)
        shape_add(&all, &a->table.shapes[i]);
    r = shape_cache_save(&all, a->key);
    if (r)
        log_debug("cannot keep the block shapes: %s", strerror(-r));
}

static void tell(const struct shape *s, int64_t t_ns)
{
    char text[128];
    int n = 0;

    for (int i = 0; i < SHAPE_CLASSES; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, " %d:%d", shape_class_radius(i),
                      s->warps[i]);
    log_debug("blocks of %dx%d by radius, in warps:%s, measured in %.1f ms", s->width, s->rows,
              text, (double)t_ns / 1e6);
}

static int learn(struct autotune *a, const struct bilateral_params *p, int rows,
                 const cudaStream_t streams[2])
{
    struct shape s = {.width = p->width, .rows = rows};
    const int64_t t0 = now_ns();
    const int r = measure(p, rows, streams, &s);
    const int64_t t_ns = now_ns() - t0;

    if (r)
        return r;
    a->measured_ns += t_ns;
    tell(&s, t_ns);
    shape_add(&a->table, &s);
    keep(a);
    return 0;
}

/* What the times depend on, in one line. */
static void make_key(char *key, size_t size, const char *device)
{
    int driver = 0;

    (void)cudaDriverGetVersion(&driver);
    (void)snprintf(key, size, "bilatcam %s, kernels %s, CUDA %d, driver %d, %s", BILATCAM_VERSION,
                   KERNELS_HASH, CUDART_VERSION, driver, device);
    for (char *c = key; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';
}

void autotune_init(struct autotune *a, bool on, const char *device)
{
    const int64_t t0 = now_ns();
    int r;

    *a = (struct autotune){.on = on};
    if (!on)
        return;
    make_key(a->key, sizeof(a->key), device);
    r = shape_cache_load(&a->table, a->key);
    if (r)
        log_debug("no block shapes are kept for this GPU: %s", strerror(-r));
    else
        log_debug("block shapes of %d sizes were kept, read in %.1f ms", a->table.n,
                  (double)(now_ns() - t0) / 1e6);
}

int autotune_choose(struct autotune *a, struct bilateral_params *p, int rows,
                    const cudaStream_t streams[2])
{
    const struct shape *s;
    int r = 0, warps;

    p->warps = 0;
    if (!a->on || !bilateral_tunable(p))
        return 0;
    s = shape_find(&a->table, p->width, rows);
    if (!s) {
        r = learn(a, p, rows, streams);
        s = shape_find(&a->table, p->width, rows);
    }
    if (r)
        return r;
    /* The file may say what it likes. */
    warps = s->warps[shape_class(p->radius)];
    p->warps = warps && bilateral_warps_fit(p, warps) ? warps : 0;
    return 0;
}
