/* Compares `distance = manhattan` with cv::bilateralFilter, whose distance that is: engines against
 * it on a picture of 512x512, and what each takes, in one run.
 *
 * OpenCV filters R'G'B', and gets it in floating point, so that nothing is rounded on the way; its
 * result is brought back to Y'CbCr. It is told to repeat the nearest pixel beyond the border, as
 * the image contract does, where by default it reflects the picture. So all samples count.
 *
 * Exit status 0: all agree to one level; 1: not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/simd/cpu.h"
#include "engine/table.h"
#include "picture/colour.h"
#include "tests/lib/images.h"
#include "tools/bench/opencv.h"

#define SIDE 512
#define N_PIXELS (SIDE * SIDE)
#define RADIUS 7

static const struct colour full = {COLOUR_BT601, COLOUR_FULL};

static double now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct frame new_picture(void)
{
    struct frame f = {.format = FRAME_I444, .width = SIDE, .height = SIDE, .colour = full};

    if (frame_alloc(&f))
        abort();
    return f;
}

static uint8_t *sample_of(const struct frame *f, int component, int i)
{
    return f->plane[component] + (size_t)(i / SIDE) * f->stride[component] + i % SIDE;
}

/* R'G'B' less what 128 of all three samples are. */
static void to_rgb(const struct frame *f, float *rgb)
{
    double m[3][3];

    colour_to_rgb(full, m);
    for (int i = 0; i < N_PIXELS; i++)
        for (int c = 0; c < 3; c++) {
            double v = 0.0;

            for (int j = 0; j < 3; j++)
                v += m[c][j] * (*sample_of(f, j, i) - 128);
            rgb[3 * i + c] = (float)v;
        }
}

/* The other way: Y' is the sum of R'G'B' by weight, and chroma what B' and R' are more than that.
 */
static void from_rgb(const float *rgb, const struct frame *f)
{
    double m[3][3];

    colour_to_rgb(full, m);
    for (int i = 0; i < N_PIXELS; i++) {
        const double r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        const double y = 0.299 * r + 0.587 * g + 0.114 * b;
        const double levels[3] = {y, (b - y) / m[2][1], (r - y) / m[0][2]};

        for (int c = 0; c < 3; c++)
            *sample_of(f, c, i) = (uint8_t)fmin(fmax(floor(levels[c] + 128.5), 0.0), 255.0);
    }
}

/* False: they differ by more than one level somewhere. */
static bool compare(const struct frame *in, const struct frame *want, const struct filter *filter,
                    const char *name, const char *set)
{
    const struct engine_config config = {.threads = 1};
    struct frame out = new_picture();
    struct difference d;
    struct engine *e;
    struct error err;
    double start;

    if (set)
        (void)setenv("BILATCAM_CPU", set, 1);
    if (engine_open(&e, engine_table, name, &config, &err)) {
        printf("FAIL: %s\n", err.text);
        frame_free(&out);
        return false;
    }
    start = now_ms();
    if (e->ops->submit(e, in, &out, filter) || e->ops->collect(e)) {
        printf("FAIL: %s cannot do it\n", name);
        d = (struct difference){.max = 255};
    } else {
        d = frame_difference(&out, want);
    }
    printf("%-10s %8.2f ms, max difference %d, %ld samples over 1\n", set ? set : name,
           now_ms() - start, d.max, d.n_over_1);
    e->ops->destroy(e);
    frame_free(&out);
    return d.max <= 1;
}

/* The same as a user of OpenCV would have it, in bytes, for the time that it takes. */
static void time_bytes(const float *rgb, const struct filter *f)
{
    uint8_t *bytes = malloc((size_t)6 * N_PIXELS);
    double start;

    if (!bytes)
        abort();
    for (int i = 0; i < 3 * N_PIXELS; i++)
        bytes[i] = (uint8_t)fminf(fmaxf(rgb[i] + 128.5F, 0.0F), 255.0F);
    start = now_ms();
    opencv_filter(bytes, bytes + 3 * N_PIXELS, SIDE, SIDE, RADIUS, f->sigma_space, f->sigma_color);
    printf("%-10s %8.2f ms with bytes\n", "OpenCV", now_ms() - start);
    free(bytes);
}

static bool check(enum image_kind kind, double sigma_space, double sigma_color)
{
    const struct filter f = {.radius = RADIUS,
                             .sigma_space = sigma_space,
                             .sigma_color = sigma_color,
                             .distance = DISTANCE_MANHATTAN,
                             .window = WINDOW_DISC};
    struct frame in = new_picture(), want = new_picture();
    float *rgb = malloc(sizeof(*rgb) * 6 * N_PIXELS);
    bool ok;

    if (!rgb)
        abort();
    printf("%s, sigma-space %g, sigma-color %g:\n", image_names[kind], sigma_space, sigma_color);
    image_fill(&in, kind, 1);
    to_rgb(&in, rgb);
    opencv_filter_float(rgb, rgb + 3 * N_PIXELS, SIDE, SIDE, RADIUS, sigma_space, sigma_color);
    from_rgb(rgb + 3 * N_PIXELS, &want);
    time_bytes(rgb, &f);
    ok = compare(&in, &want, &f, "reference", NULL);
    for (const struct cpu_row *row = cpu_table; row->kernels; row++)
        if (row->supported())
            ok &= compare(&in, &want, &f, "simd", row->kernels->name);
    free(rgb);
    frame_free(&in);
    frame_free(&want);
    return ok;
}

int main(void)
{
    bool ok;

    printf("OpenCV %s, one thread of each:\n", opencv_version());
    ok = check(IMAGE_NATURAL, 3.5, 30.0);
    ok &= check(IMAGE_NATURAL, 7.0, 75.0);
    ok &= check(IMAGE_RANDOM, 3.5, 100.0);
    ok &= check(IMAGE_EDGE, 3.5, 50.0);
    return ok ? 0 : 1;
}
