/* The video filter of R'G'B'A bytes as it is published: with a pipeline around it that sends frames
 * by turns over two streams, from pinned memory through both conversions and back. What crosses the
 * bus is YUYV, in its favour: R'G'B'A, as published, is twice as much. */
#include "cuda/lab/lab.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tests/lib/images.h"

#define LANES 2
#define LATENCIES 31
#define SUSTAINED_NS (200 * NS_PER_MS)
#define LEAST_FRAMES 20

/* What a frame needs on its way. */
struct lane {
    cudaStream_t stream;
    cudaEvent_t done;
    struct frame in, out;       /* pinned */
    struct frame before, after; /* on the device */
    size_t size;                /* of each of the four */
    uint32_t *pictures;
    struct bilateral_params params;
};

static void lane_close(struct lane *l)
{
    if (l->stream)
        (void)cudaStreamDestroy(l->stream);
    if (l->done)
        (void)cudaEventDestroy(l->done);
    (void)cudaFreeHost(l->in.plane[0]);
    (void)cudaFreeHost(l->out.plane[0]);
    (void)cudaFree(l->before.plane[0]);
    (void)cudaFree(l->after.plane[0]);
    (void)cudaFree(l->pictures);
}

static int alloc_with(cudaError_t (*allocate)(void **, size_t), struct frame *f,
                      const struct frame *like, size_t *ret_size)
{
    void *memory;
    int r;

    *f = frame_like(like);
    *ret_size = frame_layout(f);
    r = bilateral_errno(allocate(&memory, *ret_size));
    if (r == 0)
        frame_attach(f, memory);
    return r;
}

static int lane_open(struct lane *l, const struct frame *like, const struct filter *f)
{
    const size_t pixels = (size_t)like->width * (size_t)like->height;
    int r = bilateral_errno(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));

    if (r == 0)
        r = bilateral_errno(cudaEventCreateWithFlags(&l->done, cudaEventDisableTiming));
    if (r == 0)
        r = alloc_with(cudaMallocHost, &l->in, like, &l->size);
    if (r == 0)
        r = alloc_with(cudaMallocHost, &l->out, like, &l->size);
    if (r == 0)
        r = alloc_with(cudaMalloc, &l->before, like, &l->size);
    if (r == 0)
        r = alloc_with(cudaMalloc, &l->after, like, &l->size);
    if (r == 0)
        r = bilateral_errno(cudaMalloc((void **)&l->pictures, 2 * pixels * sizeof(*l->pictures)));
    if (r == 0)
        r = bilateral_prepare(&l->params, &l->before, &l->after, f);
    if (r == 0)
        picture_fill_rgb(&l->in);
    return r;
}

static int lane_start(struct lane *l)
{
    int r = bilateral_errno(cudaMemcpyAsync(l->before.plane[0], l->in.plane[0], l->size,
                                            cudaMemcpyHostToDevice, l->stream));

    if (r == 0)
        r = rung_rgba_in(&l->params, l->pictures, l->stream);
    if (r == 0)
        r = bilateral_errno(cudaMemcpyAsync(l->out.plane[0], l->after.plane[0], l->size,
                                            cudaMemcpyDeviceToHost, l->stream));
    return r ? r : bilateral_errno(cudaEventRecord(l->done, l->stream));
}

static int lane_wait(const struct lane *l)
{
    return bilateral_errno(cudaEventSynchronize(l->done));
}

static int measure_latency(struct lane *l, double *ret_us)
{
    double us[LATENCIES];

    for (int i = -3; i < LATENCIES; i++) {
        const int64_t t0 = now_ns();
        int r = lane_start(l);

        if (r == 0)
            r = lane_wait(l);
        if (r)
            return r;
        if (i >= 0)
            us[i] = (double)(now_ns() - t0) / 1000.0;
    }
    lab_sort(us, LATENCIES);
    *ret_us = us[LATENCIES / 2];
    return 0;
}

static int measure_sustained(struct lane lanes[LANES], double *ret_us)
{
    const int64_t t0 = now_ns();
    int n = 0, r = 0;

    for (; r == 0 && (n < LEAST_FRAMES || now_ns() - t0 < SUSTAINED_NS); n++) {
        if (n >= LANES)
            r = lane_wait(&lanes[n % LANES]);
        if (r == 0)
            r = lane_start(&lanes[n % LANES]);
    }
    for (int i = 0; i < LANES && r == 0; i++)
        r = lane_wait(&lanes[i]);
    *ret_us = (double)(now_ns() - t0) / 1000.0 / n;
    return r;
}

/* How a frame that went through each lane at once with the other differs from the reference. */
static int check_lanes(struct lab *lab, const struct filter *f, struct difference *ret)
{
    const struct frame like = {.format = FRAME_YUYV, .width = 130, .height = 67};
    struct lane lanes[LANES] = {0};
    struct frame want = frame_like(&like);
    int r = frame_alloc(&want);

    *ret = (struct difference){0};
    for (int i = 0; i < LANES && r == 0; i++)
        r = lane_open(&lanes[i], &like, f);
    for (int i = 0; i < LANES && r == 0; i++)
        r = lane_start(&lanes[i]);
    if (r == 0) {
        r = engine_reference.submit(lab->truth, &lanes[0].in, &want, f);
        (void)engine_reference.collect(lab->truth);
    }
    for (int i = 0; i < LANES && r == 0; i++) {
        struct difference d;

        r = lane_wait(&lanes[i]);
        if (r)
            break;
        d = frame_difference(&lanes[i].out, &want);
        ret->max = d.max > ret->max ? d.max : ret->max;
        ret->n_samples += d.n_samples;
        ret->sum_squares += d.sum_squares;
    }
    for (int i = 0; i < LANES; i++)
        lane_close(&lanes[i]);
    frame_free(&want);
    return r;
}

static void write_row(struct lab *lab, const char *what, const struct frame *like, int radius,
                      double us, const struct difference *d)
{
    const double taps =
        (double)filter_taps(WINDOW_SQUARE, radius) * like->width * (double)like->height;

    if (lab->csv)
        fprintf(lab->csv, "\"rgba pipeline, %s\",%d,%d,square,%d,%.2f,%.0f,%d,%.1f,%.3f,,\"%s\"\n",
                what, like->width, like->height, radius, us, taps / us * 1e6, d->max,
                difference_psnr(d), lab->clock_ghz, lab->device);
}

int lab_pipeline(struct lab *lab, const struct frame *like, int radius)
{
    const struct filter f = {.radius = radius,
                             .sigma_space = filter_auto_sigma(radius),
                             .sigma_color = 18,
                             .range = RANGE_LORENTZIAN,
                             .window = WINDOW_SQUARE};
    struct lane lanes[LANES] = {0};
    struct difference d = {0};
    double latency = 0, sustained = 0;
    bool good;
    int r = check_lanes(lab, &f, &d);

    for (int i = 0; i < LANES && r == 0; i++)
        r = lane_open(&lanes[i], like, &f);
    if (r == 0)
        r = measure_latency(&lanes[0], &latency);
    if (r == 0)
        r = measure_sustained(lanes, &sustained);
    for (int i = 0; i < LANES; i++)
        lane_close(&lanes[i]);
    good = r == 0 && d.max <= RGBA_MAX_DIFFERENCE && difference_psnr(&d) >= RGBA_LEAST_PSNR;
    printf("%-32s %4dx%-4d square %2d %10.1f us sustained, latency %.1f us  max %d  %6.1f dB%s\n",
           "rgba pipeline, lorentzian", like->width, like->height, radius, sustained, latency,
           d.max, difference_psnr(&d), good ? "" : "  FAIL");
    write_row(lab, "sustained", like, radius, sustained, &d);
    write_row(lab, "latency", like, radius, latency, &d);
    return !good;
}
