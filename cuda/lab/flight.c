/* The engine as its users see it: latency of one frame, throughput of many, and whether every
 * road through the device gives the same pixels. */
#include "cuda/lab/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/lib/images.h"

#define MAX_DEPTH 8
#define FRAMES 300
#define PAGE 4096

/* Frames in one block of page-aligned memory, pinned if the engine is asked for it. */
struct pool {
    void *memory;
    size_t size;
    int n;
    struct frame in[MAX_DEPTH], out[MAX_DEPTH];
};

static int pool_open(struct pool *p, struct engine *e, const struct frame *like, int n, bool pin)
{
    struct frame f = frame_like(like);
    const size_t one = (frame_layout(&f) + PAGE - 1) / PAGE * PAGE;

    p->n = n;
    p->size = one * 2 * (size_t)n;
    p->memory = aligned_alloc(PAGE, p->size);
    if (!p->memory)
        return -ENOMEM;
    for (int i = 0; i < n; i++) {
        p->in[i] = p->out[i] = f;
        frame_attach(&p->in[i], (uint8_t *)p->memory + one * (size_t)(2 * i));
        frame_attach(&p->out[i], (uint8_t *)p->memory + one * (size_t)(2 * i + 1));
        if (i == 0)
            image_fill(&p->in[0], IMAGE_RANDOM, 1);
        else
            frame_copy(&p->in[i], &p->in[0]);
        memset(p->out[i].plane[0], 99, one);
    }
    return pin ? e->ops->pin(e, p->memory, p->size) : 0;
}

static void pool_close(struct pool *p, struct engine *e)
{
    e->ops->unpin(e, p->memory);
    free(p->memory);
}

/* Latencies of @n frames in the order of their length. */
static int measure_latency(struct engine *e, struct pool *p, const struct filter *f, double *us,
                           int n)
{
    for (int i = -10; i < n; i++) {
        const int k = (i + 10) % p->n;
        const int64_t t0 = now_ns();
        int r = e->ops->submit(e, &p->in[k], &p->out[k], f);

        if (r == 0)
            r = e->ops->collect(e);
        if (r)
            return r;
        if (i >= 0)
            us[i] = (double)(now_ns() - t0) / 1000.0;
    }
    lab_sort(us, n);
    return 0;
}

static int measure_throughput(struct engine *e, struct pool *p, const struct filter *f, int n,
                              double *ret_us)
{
    int64_t t0 = 0;
    int r = 0;

    for (int i = 0; i < n + e->depth && r == 0; i++) {
        if (i == e->depth)
            t0 = now_ns();
        if (i >= e->depth)
            r = e->ops->collect(e);
        if (r == 0 && i < n)
            r = e->ops->submit(e, &p->in[i % p->n], &p->out[i % p->n], f);
    }
    *ret_us = (double)(now_ns() - t0) / 1000.0 / n;
    return r;
}

int lab_times(struct engine *e, const struct frame *like, const struct filter *f, int n,
              struct times *ret)
{
    double us[FRAMES];
    struct pool p = {0};
    int r = pool_open(&p, e, like, MAX_DEPTH, true);

    if (r == 0)
        r = measure_latency(e, &p, f, us, n);
    if (r == 0)
        r = measure_throughput(e, &p, f, n, &ret->sustained);
    if (r == 0) {
        ret->p50 = us[n / 2];
        ret->p95 = us[n * 95 / 100];
        ret->p99 = us[n * 99 / 100];
    }
    pool_close(&p, e);
    return r;
}

/* What the bus alone needs for a frame each way at once: nothing can be sustained faster. */
static int measure_copies(struct lab *lab, int width, int height)
{
    const size_t bytes = (size_t)width * (size_t)height * 2;
    void *host = NULL, *device = NULL;
    cudaError_t status = cudaHostAlloc(&host, 2 * bytes, cudaHostAllocDefault);
    int64_t t_begun = 0;

    if (status == cudaSuccess)
        status = cudaMalloc(&device, 2 * bytes);
    for (int i = -FRAMES / 10; i < FRAMES && status == cudaSuccess; i++) {
        if (i == 0) {
            status = cudaDeviceSynchronize();
            t_begun = now_ns();
        }
        if (status == cudaSuccess)
            status = cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, lab->pair[0]);
        if (status == cudaSuccess)
            status = cudaMemcpyAsync((uint8_t *)host + bytes, (uint8_t *)device + bytes, bytes,
                                     cudaMemcpyDeviceToHost, lab->pair[1]);
    }
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    if (status == cudaSuccess)
        printf("%4dx%-4d yuyv copies alone, both ways at once: us per frame %7.1f\n", width, height,
               (double)(now_ns() - t_begun) / 1e3 / FRAMES);
    else
        printf("FAIL copies: %s\n", cudaGetErrorString(status));
    (void)cudaFreeHost(host);
    (void)cudaFree(device);
    return status != cudaSuccess;
}

static int measure(struct engine *e, int width, int height, int radius, enum window_shape window)
{
    const struct frame like = {.format = FRAME_YUYV, .width = width, .height = height};
    const struct filter f = {.radius = radius,
                             .sigma_space = filter_auto_sigma(radius),
                             .sigma_color = 18,
                             .window = window};
    struct times t;
    const int r = lab_times(e, &like, &f, FRAMES, &t);

    printf("%4dx%-4d yuyv %-6s radius %2d:", width, height,
           window == WINDOW_DISC ? "disc" : "square", radius);
    if (r)
        printf(" failed: %s\n", strerror(-r));
    else
        printf(" latency us p50 %7.1f  p95 %7.1f  p99 %7.1f  sustained us per frame %7.1f\n", t.p50,
               t.p95, t.p99, t.sustained);
    return r != 0;
}

/* Frames that differ between the quick road (pinned, alone), the other (pinned, behind another)
 * and memory that is not pinned. */
static int compare_roads(struct engine *e, enum frame_format format, int width, int height,
                         const struct filter *given)
{
    const struct frame like = {.format = format, .width = width, .height = height};
    struct filter f = *given;
    struct pool pinned = {0}, plain = {0};
    struct difference a = {.max = 1}, b = {.max = 1};
    int r = pool_open(&pinned, e, &like, 2, true);

    f.sigma_space = filter_auto_sigma(f.radius);
    f.sigma_color = 25;
    if (r == 0)
        r = pool_open(&plain, e, &like, 2, false);
    for (int i = 0; i < 2 && r == 0; i++)
        r = e->ops->submit(e, &pinned.in[i], &pinned.out[i], &f);
    for (int i = 0; i < 2 && r == 0; i++)
        r = e->ops->collect(e);
    for (int i = 0; i < 2 && r == 0; i++) {
        r = e->ops->submit(e, &plain.in[i], &plain.out[i], &f);
        if (r == 0)
            r = e->ops->collect(e);
    }
    if (r == 0) {
        a = frame_difference(&pinned.out[0], &plain.out[0]);
        b = frame_difference(&pinned.out[1], &plain.out[1]);
    }
    if (r || a.max || b.max)
        printf("FAIL roads: %s %dx%d filter %d, %s radius %d: %s, max difference %d quick, "
               "%d whole\n",
               format_table[format].name, width, height, f.kind,
               f.window == WINDOW_DISC ? "disc" : "square", f.radius, strerror(-r), a.max, b.max);
    pool_close(&pinned, e);
    pool_close(&plain, e);
    return r || a.max || b.max;
}

#define CLIP MAX_DEPTH

/* Filters a clip with an engine of its own: frame by frame from pinned memory, or with as many in
 * flight as there can be, from other memory. */
static int filter_clip(struct pool *p, const struct frame *like, const struct filter *f, bool alone)
{
    const struct engine_config config = {.device = "0"};
    struct engine *e = NULL;
    struct error err;
    int depth, r = engine_cuda.create(&e, &config, &err);

    if (r)
        return r;
    depth = alone ? 1 : e->depth;
    r = pool_open(p, e, like, CLIP, alone);
    for (int i = 0; i < CLIP && r == 0; i++)
        image_fill(&p->in[i], IMAGE_NATURAL, (uint64_t)i + 1);
    for (int i = 0; i < CLIP + depth && r == 0; i++) {
        if (i >= depth)
            r = e->ops->collect(e);
        if (r == 0 && i < CLIP)
            r = e->ops->submit(e, &p->in[i], &p->out[i], f);
    }
    e->ops->unpin(e, p->memory);
    e->ops->destroy(e);
    return r;
}

/* Whether a clip comes out the same by both roads. */
static int compare_clips(enum frame_format format, int width, int height, const struct filter *f)
{
    const struct frame like = {.format = format, .width = width, .height = height};
    struct pool alone = {0}, many = {0};
    int n = 0, r = filter_clip(&alone, &like, f, true);

    if (r == 0)
        r = filter_clip(&many, &like, f, false);
    for (int i = 0; i < CLIP && r == 0; i++)
        n += frame_difference(&alone.out[i], &many.out[i]).max > 0;
    if (r || n)
        printf("FAIL clips: %s %dx%d radius %d, %d frames: %s, %d differ\n",
               format_table[format].name, width, height, f->radius, f->temporal, strerror(-r), n);
    free(alone.memory);
    free(many.memory);
    return r || n;
}

static int compare_all_clips(bool quick)
{
    static const struct filter filters[] = {
        {.radius = 3, .sigma_space = 1.5, .sigma_color = 18, .temporal = 16},
        {.radius = 2, .sigma_space = 1.0, .temporal = 4},
        {.radius = 1, .sigma_space = 1.0, .temporal = 3, .temporal_mode = TEMPORAL_WINDOW},
        {.radius = 2, .sigma_space = 1.0},
    };
    int failed = 0;

    for (int format = 0; format < FRAME_N_FORMATS; format++)
        for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
            if (format_filtered((enum frame_format)format))
                failed += compare_clips((enum frame_format)format, quick ? 66 : 642,
                                        quick ? 35 : 361, &filters[i]);
    printf("clips by two roads: %d differ\n", failed);
    return failed;
}

int lab_roads(bool quick)
{
    static const int sizes[][2] = {{66, 35},   {130, 326},   {2, 1},
                                   {640, 361}, {1920, 1080}, {130, 1081}};
    static const struct filter filters[] = {
        {.radius = 1},
        {.radius = 4, .window = WINDOW_SQUARE},
        {.radius = 17},
        {.radius = 5, .window = WINDOW_SQUARE},
        {.kind = FILTER_GAUSSIAN, .radius = 9},
        {.kind = FILTER_BOX, .radius = 3},
        {.radius = 4, .distance = DISTANCE_MANHATTAN},
        {.radius = 16, .window = WINDOW_SQUARE},
        {.radius = 32},
        {.radius = 3, .window = WINDOW_SQUARE},
        {.kind = FILTER_GAUSSIAN, .radius = 32},
        {.kind = FILTER_BOX, .radius = 16},
        {.radius = 11, .distance = DISTANCE_MANHATTAN, .range = RANGE_LORENTZIAN},
    };
    const int n_sizes = quick ? 2 : (int)(sizeof(sizes) / sizeof(sizes[0]));
    const int n_filters = quick ? 7 : (int)(sizeof(filters) / sizeof(filters[0]));
    const struct engine_config config = {.device = "0"};
    struct engine *e = NULL;
    struct error err;
    int failed = 0, n = 0;

    if (engine_cuda.create(&e, &config, &err)) {
        printf("FAIL: %s\n", err.text);
        return 1;
    }
    for (int format = 0; format < FRAME_N_FORMATS; format++)
        for (int i = 0; i < n_sizes; i++)
            for (int k = 0; k < n_filters; k++) {
                if (!format_filtered((enum frame_format)format))
                    continue;
                n++;
                failed += compare_roads(e, (enum frame_format)format, sizes[i][0], sizes[i][1],
                                        &filters[k]);
            }
    printf("roads through the device: %d compared, %d differ\n", n, failed);
    engine_cuda.destroy(e);
    return failed + compare_all_clips(quick);
}

int lab_engine(struct lab *lab)
{
    static const int sizes[][2] = {{1920, 1080}, {3840, 2160}, {7680, 4320}};
    static const int radii[] = {1, 5, 10};
    const struct engine_config config = {.device = "0"};
    struct engine *e = NULL;
    struct error err;
    int failed = 0;

    if (engine_cuda.create(&e, &config, &err)) {
        printf("FAIL: %s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        failed += measure_copies(lab, sizes[i][0], sizes[i][1]);
        for (size_t k = 0; k < sizeof(radii) / sizeof(radii[0]); k++)
            failed += measure(e, sizes[i][0], sizes[i][1], radii[k], WINDOW_SQUARE);
    }
    failed += measure(e, 1920, 1080, 5, WINDOW_DISC);
    printf("SM clock %.3f GHz\n", lab_clock_ghz(lab->stream));
    engine_cuda.destroy(e);
    return failed;
}
