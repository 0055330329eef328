/* Times the CPU engine against others in one process on the same picture:
 *
 *     bench-simd [rounds [table]]      default 5; every figure is the least of that many
 *
 * 1. 1920x1080, disc, sigma-color 30, one thread: milliseconds of CPU time per frame for every
 *    row kernel that runs here, YUYV in and out, and for cv::bilateralFilter from BGR to BGR.
 * 2. The same with one and two threads, wall time, and the CPU time of two, which shows what
 *    sharing out costs even where another program keeps the second core busy.
 * 3. 1920x1080, radius 3, one thread, CPU time: each picture by itself, and with a mean over 16
 *    frames, without and with the search for motion, on a clip of which a quarter moves.
 * 4. 3840x2160, radius 1, Lorentzian, square, one thread, against the plain loops of plain.c.
 * 5. The filters gaussian and box, 1920x1080, one thread: milliseconds of CPU time for YUYV and for
 *    grey pictures, beside cv::GaussianBlur and cv::blur on BGR and grey ones.
 * The table is Markdown. Other load on the machine makes all figures worse, wall time most. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config-build.h"
#include "engine/engine.h"
#include "engine/simd/cpu.h"
#include "tests/lib/images.h"
#include "tools/bench/plain.h"
#ifdef HAVE_OPENCV
#include "tools/bench/opencv.h"
#endif

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))
#define MAX_SETS 8

static const int radii[] = {1, 2, 3, 5, 7, 10, 15};

static double clock_ms(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void keep_least(double *least, double ms)
{
    if (*least == 0.0 || ms < *least)
        *least = ms;
}

/* A picture as the engine takes it, as OpenCV takes it and as the plain loops take it. */
struct picture {
    struct frame in, out;
    uint8_t *bgr, *bgr_out, *rgba, *rgba_out;
};

static uint8_t to_byte(double v)
{
    return (uint8_t)(v < 0.0 ? 0.0 : v > 255.0 ? 255.0 : v + 0.5);
}

static void fill_rgb(struct picture *p)
{
    const struct samples y = frame_samples(&p->in, 0), u = frame_samples(&p->in, 1);
    const struct samples v = frame_samples(&p->in, 2);

    for (int row = 0; row < p->in.height; row++)
        for (int x = 0; x < p->in.width; x++) {
            const size_t i = (size_t)row * (size_t)p->in.width + (size_t)x;
            const size_t chroma = (size_t)row * u.stride + (size_t)(x / 2 * u.step);
            const double l = 1.164 * (y.base[(size_t)row * y.stride + (size_t)(x * y.step)] - 16);
            const double cb = u.base[chroma] - 128, cr = v.base[chroma] - 128;

            p->bgr[3 * i] = p->rgba[4 * i + 2] = to_byte(l + 2.017 * cb);
            p->bgr[3 * i + 1] = p->rgba[4 * i + 1] = to_byte(l - 0.392 * cb - 0.813 * cr);
            p->bgr[3 * i + 2] = p->rgba[4 * i] = to_byte(l + 1.596 * cr);
            p->rgba[4 * i + 3] = 255;
        }
}

static bool picture_alloc(struct picture *p, enum frame_format format, int width, int height)
{
    const size_t n = (size_t)width * (size_t)height;

    *p = (struct picture){.in = {.format = format, .width = width, .height = height}};
    p->out = frame_like(&p->in);
    p->bgr = malloc(14 * n);
    if (!p->bgr || frame_alloc(&p->in) || frame_alloc(&p->out))
        return false;
    p->bgr_out = p->bgr + 3 * n;
    p->rgba = p->bgr + 6 * n;
    p->rgba_out = p->bgr + 10 * n;
    image_fill(&p->in, IMAGE_NATURAL, 1);
    image_fill(&p->out, IMAGE_BLACK, 1); /* so that no page is first touched while timed */
    memset(p->bgr_out, 0, 3 * n);
    memset(p->rgba_out, 0, 4 * n);
    if (format == FRAME_YUYV)
        fill_rgb(p);
    return true;
}

static void picture_free(struct picture *p)
{
    free(p->bgr);
    frame_free(&p->in);
    frame_free(&p->out);
}

static struct engine *open_engine(const struct row_kernels *kernels, int threads)
{
    const struct engine_config config = {.threads = threads};
    struct engine *e = NULL;
    struct error err;

    (void)setenv("BILATCAM_CPU", kernels->name, 1);
    if (engine_simd.create(&e, &config, &err)) {
        fprintf(stderr, "bench-simd: %s\n", err.text);
        exit(1);
    }
    return e;
}

/* The sets that run here, best first. */
static int supported_sets(const struct row_kernels *sets[MAX_SETS])
{
    int n = 0;

    for (const struct cpu_row *row = cpu_table; row->kernels && n < MAX_SETS; row++)
        if (row->supported())
            sets[n++] = row->kernels;
    return n;
}

static double time_engine(struct engine *e, struct picture *p, const struct filter *f,
                          clockid_t clock)
{
    const double start = clock_ms(clock);

    if (e->ops->submit(e, &p->in, &p->out, f) || e->ops->collect(e)) {
        fprintf(stderr, "bench-simd: the engine failed\n");
        exit(1);
    }
    return clock_ms(clock) - start;
}

static double time_opencv(struct picture *p, const struct filter *f)
{
    const double start = clock_ms(CLOCK_THREAD_CPUTIME_ID);

#ifdef HAVE_OPENCV
    const int w = p->in.width, h = p->in.height, grey = p->in.format == FRAME_GREY;
    const uint8_t *in = grey ? p->in.plane[0] : p->bgr;
    const int channels = grey ? 1 : 3;

    if (f->kind == FILTER_GAUSSIAN)
        opencv_gaussian(in, p->bgr_out, w, h, channels, f->radius, f->sigma_space);
    else if (f->kind == FILTER_BOX)
        opencv_box(in, p->bgr_out, w, h, channels, f->radius);
    else
        opencv_filter(p->bgr, p->bgr_out, w, h, f->radius, f->sigma_space, f->sigma_color);
    return clock_ms(CLOCK_THREAD_CPUTIME_ID) - start;
#else
    (void)p, (void)f, (void)start;
    return 0.0;
#endif
}

static struct filter filter_of(int radius)
{
    return (struct filter){
        .radius = radius,
        .sigma_space = filter_auto_sigma(radius),
        .sigma_color = 30.0,
    };
}

/* An engine for each set, whose names end the first line of a table. */
static void open_columns(struct engine **e, const struct row_kernels *const *sets, int n_sets)
{
    for (int i = 0; i < n_sets; i++) {
        e[i] = open_engine(sets[i], 1);
        printf(" %s |", sets[i]->label);
    }
    printf("\n| --- | --- |");
    for (int i = 0; i < n_sets; i++)
        printf(" --- |");
    printf("\n");
}

static void close_columns(struct engine *const *e, int n_sets)
{
    for (int i = 0; i < n_sets; i++)
        e[i]->ops->destroy(e[i]);
}

static void bench_radii(const struct row_kernels *const *sets, int n_sets, int rounds)
{
    struct engine *e[MAX_SETS];
    struct picture p;

    if (!picture_alloc(&p, FRAME_YUYV, 1920, 1080))
        exit(1);
    printf("\nOne thread, 1920x1080, disc, sigma-color 30, ms of CPU time (times faster than "
           "OpenCV)\n\n| radius | OpenCV |");
    open_columns(e, sets, n_sets);
    for (int k = 0; k < N(radii); k++) {
        const struct filter f = filter_of(radii[k]);
        double opencv = 0.0, ours[MAX_SETS] = {0};

        for (int round = 0; round < rounds; round++) {
            keep_least(&opencv, time_opencv(&p, &f));
            for (int i = 0; i < n_sets; i++)
                keep_least(&ours[i], time_engine(e[i], &p, &f, CLOCK_THREAD_CPUTIME_ID));
        }
        printf("| %d | %.1f |", f.radius, opencv);
        for (int i = 0; i < n_sets; i++)
            printf(" %.2f (%.1f) |", ours[i], opencv / ours[i]);
        printf("\n");
        (void)fflush(stdout);
    }
    close_columns(e, n_sets);
    picture_free(&p);
}

static void bench_threads(const struct row_kernels *set, int rounds)
{
    struct engine *one = open_engine(set, 1), *two = open_engine(set, 2);
    struct picture p;

    if (!picture_alloc(&p, FRAME_YUYV, 1920, 1080))
        exit(1);
    printf("\nThreads (%s): wall time of one and of two, ms, and CPU time of two together\n\n"
           "| radius | 1 | 2 | ratio | CPU of 2 |\n| --- | --- | --- | --- | --- |\n",
           set->label);
    for (int k = 0; k < N(radii); k++) {
        const struct filter f = filter_of(radii[k]);
        double t1 = 0.0, t2 = 0.0, cpu = 0.0;

        for (int round = 0; round < 4 * rounds; round++) {
            keep_least(&t1, time_engine(one, &p, &f, CLOCK_MONOTONIC));
            keep_least(&t2, time_engine(two, &p, &f, CLOCK_MONOTONIC));
            keep_least(&cpu, time_engine(two, &p, &f, CLOCK_PROCESS_CPUTIME_ID));
        }
        printf("| %d | %.2f | %.2f | %.2f | %.2f |\n", f.radius, t1, t2, t1 / t2, cpu);
    }
    one->ops->destroy(one);
    two->ops->destroy(two);
    picture_free(&p);
}

#define CLIP_FRAMES 6

/* Noise on a picture of which a quarter moves to the right. */
static void paint_clip(struct frame *f, int t)
{
    uint64_t seed = 100 + (uint64_t)t;

    image_fill(f, IMAGE_NATURAL, 1);
    for (int y = 0; y < f->height; y++) {
        uint8_t *row = f->plane[0] + (size_t)y * f->stride[0];
        const int quarter = (int)frame_row_bytes(f, 0) / 2;

        if (y > f->height / 2)
            memmove(row + 4 * t, row, (size_t)(quarter - 4 * t));
        for (size_t i = 0; i < frame_row_bytes(f, 0); i++)
            row[i] = (uint8_t)(row[i] / 2 + 60 + random_next(&seed) % 9);
    }
}

/* The least time of a frame in the clip, once there is a past. */
static double time_clip(const struct row_kernels *set, struct frame clip[CLIP_FRAMES],
                        struct frame *out, const struct filter *f, int rounds)
{
    struct engine *e = open_engine(set, 1);
    double least = 0.0;

    for (int t = 0; t < rounds * CLIP_FRAMES; t++) {
        struct picture p = {.in = clip[t % CLIP_FRAMES], .out = *out};
        double ms;

        p.in.t_capture_ns = t;
        ms = time_engine(e, &p, f, CLOCK_THREAD_CPUTIME_ID);
        if (t % CLIP_FRAMES > 1)
            keep_least(&least, ms);
    }
    e->ops->destroy(e);
    return least;
}

static void bench_time(const struct row_kernels *const *sets, int n_sets, int rounds)
{
    struct frame clip[CLIP_FRAMES], out = {.width = 1920, .height = 1080};
    static const double sigma_colors[] = {0.0, 18.0}; /* 0: auto */
    struct filter f = filter_of(3);

    for (int t = 0; t < CLIP_FRAMES; t++) {
        clip[t] = frame_like(&out);
        if (frame_alloc(&clip[t]))
            exit(1);
        paint_clip(&clip[t], t);
    }
    if (frame_alloc(&out))
        exit(1);
    printf("\nA mean over 16 frames: one thread, 1920x1080, radius 3, disc, ms of CPU time\n\n"
           "| | sigma-color | each by itself | without search | with search |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < 2 * n_sets; i++) {
        const struct row_kernels *const set = sets[i / 2];
        double ms[3];

        f.sigma_color = sigma_colors[i % 2];
        for (int k = 0; k < 3; k++) {
            f.temporal = k ? 16 : 1;
            f.no_search = k == 1;
            ms[k] = time_clip(set, clip, &out, &f, rounds);
        }
        printf("| %s | %s | %.2f | %.2f (%.2f) | %.2f (%.2f) |\n", set->label,
               f.sigma_color > 0.0 ? "18" : "auto", ms[0], ms[1], ms[1] / ms[0], ms[2],
               ms[2] / ms[0]);
    }
    for (int t = 0; t < CLIP_FRAMES; t++)
        frame_free(&clip[t]);
    frame_free(&out);
}

static void bench_plain(const struct row_kernels *const *sets, int n_sets, int rounds)
{
    struct filter f = filter_of(1);
    struct picture p;
    double plain = 0.0, openmp = 0.0;

    if (!picture_alloc(&p, FRAME_YUYV, 3840, 2160))
        exit(1);
    f.range = RANGE_LORENTZIAN;
    f.window = WINDOW_SQUARE;
    for (int round = 0; round < rounds; round++) {
        double start = clock_ms(CLOCK_THREAD_CPUTIME_ID);

        plain_filter(p.rgba, p.rgba_out, 3840, 2160, 1, 1.0F, 30.0F);
        keep_least(&plain, clock_ms(CLOCK_THREAD_CPUTIME_ID) - start);
        start = clock_ms(CLOCK_MONOTONIC);
        plain_filter_openmp(p.rgba, p.rgba_out, 3840, 2160, 1, 1.0F, 30.0F);
        keep_least(&openmp, clock_ms(CLOCK_MONOTONIC) - start);
    }
    printf("\n3840x2160, radius 1, Lorentzian, square, ms of CPU time on one thread\n\n"
           "| version | ms | times faster |\n| --- | --- | --- |\n"
           "| plain C loop, RGBA | %.1f | 1.0 |\n| the same with OpenMP (wall time) | %.1f | %.1f "
           "|\n",
           plain, openmp, plain / openmp);
    for (int i = 0; i < n_sets; i++) {
        struct engine *e = open_engine(sets[i], 1);
        double ms = 0.0;

        for (int round = 0; round < 2 * rounds; round++)
            keep_least(&ms, time_engine(e, &p, &f, CLOCK_THREAD_CPUTIME_ID));
        printf("| %s | %.2f | %.1f |\n", sets[i]->label, ms, plain / ms);
        e->ops->destroy(e);
    }
    picture_free(&p);
}

/* The least times of a filter: OpenCV's with BGR and with grey, then those of each set with @yuyv
 * and with the same luma alone. */
static void time_blur(struct engine *const *e, int n_sets, struct picture *yuyv,
                      struct picture *grey, const struct filter *f, int rounds)
{
    double opencv[2] = {0}, ours[2][MAX_SETS] = {0};

    for (int round = 0; round < rounds; round++) {
        keep_least(&opencv[0], time_opencv(yuyv, f));
        keep_least(&opencv[1], time_opencv(grey, f));
        for (int i = 0; i < n_sets; i++) {
            keep_least(&ours[0][i], time_engine(e[i], yuyv, f, CLOCK_THREAD_CPUTIME_ID));
            keep_least(&ours[1][i], time_engine(e[i], grey, f, CLOCK_THREAD_CPUTIME_ID));
        }
    }
    printf("| %s, %d | %.2f, %.2f |", f->kind == FILTER_BOX ? "box" : "gaussian", f->radius,
           opencv[0], opencv[1]);
    for (int i = 0; i < n_sets; i++)
        printf(" %.2f (%.1f), %.2f (%.1f) |", ours[0][i], opencv[0] / ours[0][i], ours[1][i],
               opencv[1] / ours[1][i]);
    printf("\n");
    (void)fflush(stdout);
}

static void bench_blurs(const struct row_kernels *const *sets, int n_sets, int rounds)
{
    struct engine *e[MAX_SETS];
    struct picture yuyv, grey;

    if (!picture_alloc(&yuyv, FRAME_YUYV, 1920, 1080) ||
        !picture_alloc(&grey, FRAME_GREY, 1920, 1080))
        exit(1);
    printf("\nOne thread, 1920x1080, ms of CPU time: OpenCV with BGR and with grey; YUYV and grey "
           "(times faster)\n\n| filter, radius | OpenCV |");
    open_columns(e, sets, n_sets);
    for (int kind = FILTER_GAUSSIAN; kind <= FILTER_BOX; kind++)
        for (int k = 0; k < N(radii); k++) {
            struct filter f = filter_of(radii[k]);

            f.kind = (enum filter_kind)kind;
            time_blur(e, n_sets, &yuyv, &grey, &f, rounds);
        }
    close_columns(e, n_sets);
    picture_free(&yuyv);
    picture_free(&grey);
}

static void print_machine(void)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256], model[200] = "unknown processor";

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "model name : %199[^\n]", model) == 1)
            break;
    if (f)
        (void)fclose(f);
#ifdef HAVE_OPENCV
    printf("%s, compiled by %s %s, OpenCV %s\n", model, BENCH_COMPILER, __VERSION__,
           opencv_version());
#else
    printf("%s, compiled by %s %s, built without OpenCV\n", model, BENCH_COMPILER, __VERSION__);
#endif
}

int main(int argc, char **argv)
{
    const struct row_kernels *sets[MAX_SETS];
    const int n_sets = supported_sets(sets), rounds = argc > 1 ? atoi(argv[1]) : 5;
    /* Plain C, the last, is a fallback that would take most of the time. */
    const int n_timed = n_sets > 1 ? n_sets - 1 : 1;
    const int table = argc > 2 ? atoi(argv[2]) : 0;

    if (rounds < 1 || table < 0 || table > 5) {
        fprintf(stderr, "usage: bench-simd [rounds [table]]\n");
        return 2;
    }
    print_machine();
    if (!table || table == 1)
        bench_radii(sets, n_timed, rounds);
    if (!table || table == 2)
        bench_threads(sets[0], rounds);
    if (!table || table == 3)
        bench_time(sets, n_timed, rounds);
    if (!table || table == 4)
        bench_plain(sets, n_timed, rounds);
    if (!table || table == 5)
        bench_blurs(sets, n_timed, rounds);
    return 0;
}
