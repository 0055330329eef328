/* What a frame costs that is filtered with those before it: all its kernels behind each other, and
 * each step of them, without the bus. */
#include "cuda/lab/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device_past.h"
#include "cuda/kernel/bilateral.h"
#include "filter/mean_count.h"
#include "tests/lib/images.h"

#define N_PICTURES 8 /* shown there and back again, so that motion never breaks off */
#define ROUNDS 60
#define TEXTURE 256

/* A clip in device memory. */
struct clip {
    struct device_picture pictures[N_PICTURES], out;
    struct device_past past;
    struct time_knowledge knowledge;
    struct filter filter;
    int turn;
};

static uint8_t texture[TEXTURE][TEXTURE];

static void make_texture(void)
{
    uint64_t seed = 5;

    for (int y = 0; y < TEXTURE; y++)
        for (int x = 0; x < TEXTURE; x++)
            texture[y][x] = (uint8_t)random_next(&seed);
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < TEXTURE; y++)
            for (int x = 0; x < TEXTURE; x++)
                texture[y][x] = (uint8_t)((texture[y][x] + texture[y][(x + 1) % TEXTURE] +
                                           texture[(y + 1) % TEXTURE][x] +
                                           texture[(y + 1) % TEXTURE][(x + 1) % TEXTURE]) /
                                          4);
}

/* Texture that moves by @x, @y eighths of a sample per picture, under noise. */
static void paint(struct frame *f, int t, int x, int y, uint64_t *seed)
{
    const struct format_info *info = &format_table[f->format];

    for (int c = 0; c < info->components; c++) {
        const struct samples s = frame_samples(f, c);
        const int hs = c ? info->hshift : 0, vs = c ? info->vshift : 0;

        for (int row = 0; row < s.height; row++)
            for (int col = 0; col < s.width; col++) {
                const int tx = (col << hs) + t * x / 8, ty = (row << vs) + t * y / 8;

                const uint64_t noise = random_next(seed);
                uint8_t *const at = s.base + (size_t)row * s.stride + (size_t)col * (size_t)s.step;

                at[0] = (uint8_t)(noise >> 32); /* the lower byte, where there are two */
                at[info->bytes - 1] =
                    (uint8_t)(48 + texture[ty % TEXTURE][tx % TEXTURE] / 2 + noise % 11);
            }
    }
}

static int upload(struct device_picture *d, const struct frame *f)
{
    const int r = picture_alloc(d, f);

    return r ? r
             : bilateral_errno(
                   cudaMemcpy(d->frame.plane[0], f->plane[0], d->size, cudaMemcpyHostToDevice));
}

static int clip_open(struct clip *c, enum frame_format format, int width, int height, int x, int y)
{
    struct frame f = {.format = format, .width = width, .height = height};
    uint64_t seed = 1;
    int r = frame_alloc(&f);

    *c = (struct clip){0};
    for (int t = 0; t < N_PICTURES && r == 0; t++) {
        paint(&f, t, x, y, &seed);
        r = upload(&c->pictures[t], &f);
    }
    if (r == 0)
        r = picture_alloc(&c->out, &f);
    frame_free(&f);
    return r ? r : device_past_init(&c->past);
}

static void clip_close(struct clip *c)
{
    device_past_finish(&c->past);
    time_knowledge_finish(&c->knowledge);
    for (int i = 0; i < N_PICTURES; i++)
        picture_free(&c->pictures[i]);
    picture_free(&c->out);
}

static int launch_frame(const void *job, cudaStream_t stream)
{
    struct clip *const c = *(struct clip *const *)job;
    const int at = c->turn % (2 * N_PICTURES - 2);

    (void)stream;
    return device_past_filter(&c->past,
                              &c->pictures[at < N_PICTURES ? at : 2 * N_PICTURES - 2 - at].frame,
                              &c->out.frame, &c->filter, c->turn++ > 0, &c->knowledge);
}

/* A frame alone, as where `temporal` is 1. */
static int launch_alone(const void *job, cudaStream_t stream)
{
    struct clip *const c = *(struct clip *const *)job;
    struct bilateral_params p;
    const int r = bilateral_prepare(&p, &c->pictures[c->turn++ % N_PICTURES].frame, &c->out.frame,
                                    &c->filter);

    return r ? r : bilateral_launch(&p, stream);
}

/* Median times of the steps of a frame in microseconds. */
static int time_steps(struct clip *c, double ret[DEVICE_PAST_STEPS])
{
    cudaEvent_t marks[DEVICE_PAST_STEPS + 1];
    double times[DEVICE_PAST_STEPS][ROUNDS];
    int r = 0;

    for (int i = 0; i <= DEVICE_PAST_STEPS && r == 0; i++)
        r = bilateral_errno(cudaEventCreate(&marks[i]));
    c->past.marks = marks;
    for (int i = 0; i < ROUNDS && r == 0; i++) {
        r = launch_frame(&c, NULL);
        if (r == 0)
            r = bilateral_errno(cudaStreamSynchronize(c->past.stream));
        for (int k = 0; k < DEVICE_PAST_STEPS && r == 0; k++) {
            float ms = 0;

            r = bilateral_errno(cudaEventElapsedTime(&ms, marks[k], marks[k + 1]));
            times[k][i] = 1000.0 * (double)ms;
        }
    }
    c->past.marks = NULL;
    for (int k = 0; k < DEVICE_PAST_STEPS && r == 0; k++) {
        lab_sort(times[k], ROUNDS);
        ret[k] = times[k][ROUNDS / 2];
    }
    for (int i = 0; i <= DEVICE_PAST_STEPS; i++)
        (void)cudaEventDestroy(marks[i]);
    return r;
}

static int measure(struct lab *lab, struct clip *c, const char *what)
{
    struct lab own = *lab;
    double steps[DEVICE_PAST_STEPS] = {0}, us;
    int r;

    own.stream = c->past.stream;
    c->turn = 0;
    us = lab_time(&own, launch_frame, &(const struct clip *){c});
    r = us < 0 ? (int)us : time_steps(c, steps);
    if (r)
        printf("%s failed: %s\n", what, strerror(-r));
    else
        printf("%4dx%-4d %-9s r %d N %2d %6.1f us: unpack %5.1f search %5.1f measure %5.1f average "
               "%5.1f filter %5.1f, frames %.1f\n",
               c->out.frame.width, c->out.frame.height, what, c->filter.radius, c->filter.temporal,
               us, steps[0], steps[1], steps[2], steps[3], steps[4],
               c->knowledge.counts ? (double)c->knowledge.memory->counted / MEAN_COUNT_STEPS /
                                         c->out.frame.width / c->out.frame.height
                                   : 0.0);
    return r != 0;
}

static int measure_alone(struct lab *lab, struct clip *c)
{
    const double us = lab_time(lab, launch_alone, &(const struct clip *){c});

    if (us < 0)
        printf("alone failed: %s\n", strerror((int)-us));
    else
        printf("%4dx%-4d alone     r %d N  1 %6.1f us\n", c->out.frame.width, c->out.frame.height,
               c->filter.radius, us);
    return us < 0;
}

static int measure_all(struct lab *lab, int width, int height)
{
    static const char *const names[] = {"still", "moving"};
    static const int radii[] = {3, 5};
    int failed = 0;

    for (int moves = 0; moves < 2; moves++) {
        struct clip c;
        int r = clip_open(&c, FRAME_YUYV, width, height, moves ? 43 : 0, moves ? 26 : 0);

        for (int i = 0; i < 2 && r == 0; i++) {
            c.filter = (struct filter){.radius = radii[i],
                                       .sigma_space = filter_auto_sigma(radii[i]),
                                       .sigma_color = 18,
                                       .window = WINDOW_SQUARE,
                                       .temporal = 16};
            failed += measure(lab, &c, names[moves]);
            c.filter.sigma_color = 0;
            failed += measure(lab, &c, moves ? "mov auto" : "stl auto");
            c.filter.temporal_mode = TEMPORAL_WINDOW;
            c.filter.sigma_color = 18;
            c.filter.temporal = 1;
            failed += moves ? 0 : measure_alone(lab, &c);
            for (int n = 2; n <= 4 && !moves; n++) {
                c.filter.temporal = n;
                failed += measure(lab, &c, "window");
            }
        }
        clip_close(&c);
        failed += r != 0;
    }
    return failed;
}

/* Samples of 16 bits. */
static int measure_words(struct lab *lab, enum frame_format format, int width, int height)
{
    static const int radii[] = {3, 5, 10};
    const char *const name = format_table[format].name;
    struct clip c;
    int r = clip_open(&c, format, width, height, 0, 0), failed = r != 0;

    for (int i = 0; i < 3 && r == 0; i++) {
        c.filter = (struct filter){.radius = radii[i],
                                   .sigma_space = filter_auto_sigma(radii[i]),
                                   .window = WINDOW_SQUARE,
                                   .temporal = 16};
        failed += measure(lab, &c, name);
        c.filter.temporal = 1;
        failed += measure(lab, &c, name);
        c.filter.sigma_color = 18;
        failed += measure_alone(lab, &c);
    }
    clip_close(&c);
    return failed;
}

int lab_past(struct lab *lab)
{
    make_texture();
    return measure_all(lab, 1920, 1080) + measure_all(lab, 3840, 2160) +
           measure_words(lab, FRAME_GREY16, 1920, 1080) +
           measure_words(lab, FRAME_I422_16, 1920, 1080);
}
