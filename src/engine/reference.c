/* The truth: the image contract of filter.h written down in double precision, one weight at a
 * time, with nothing shared, folded or approximated. Every other engine is checked against
 * this one. It is slow on purpose.
 *
 * Step by step for a frame:
 *   0. where the filter averages over frames, the frame becomes that mean (time/average.h);
 *   1. expand to one R'G'B' colour per luma pixel, chroma replicated;
 *   2. for every chroma sample, go over the pixels p that share it (1, 2 or 4) and over the
 *      window of each: the sum of w(p,q) * Y(q) over that of w(p,q) is luma at p, and both
 *      sums run over all p for the chroma sample. Grey has "chroma samples" of one pixel. With a
 *      window in time they run over the same windows of the frames before, too. */
#include "engine/engine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/time/average.h"
#include "engine/time/past.h"
#include "picture/colour.h"

struct pixel {
    double rgb[3];
    double yuv[3];
    double two_sc2; /* 2 sigma_color^2 where this pixel is the one that is filtered */
};

struct reference {
    struct engine base;
    bool busy; /* one frame is submitted and not yet collected */
    struct average *average;
    struct past past;
    struct frame shape; /* of `pixels` */
    /* The frames of the window in time, the newest first; one without it. */
    struct pixel *pixels[FILTER_MAX_WINDOW];
    int n_frames;
    bool averages, measures; /* the newest frame; measures the noise */
};

static int reference_probe(const char *wanted, char *device, size_t size, struct error *err)
{
    (void)wanted, (void)err;
    if (size)
        strncpy(device, "CPU, double precision", size - 1)[size - 1] = '\0';
    return 0;
}

static int reference_create(struct engine **ret, const struct engine_config *config,
                            struct error *err)
{
    struct reference *r = calloc(1, sizeof(*r));

    (void)config;
    if (!r)
        return error_set(err, -ENOMEM, "out of memory for the reference engine");
    if (average_create(&r->average)) {
        free(r);
        return error_set(err, -ENOMEM, "out of memory for the reference engine");
    }
    r->base.ops = &engine_reference;
    r->base.depth = 1;
    (void)reference_probe("", r->base.device, sizeof(r->base.device), NULL);
    *ret = &r->base;
    return 0;
}

static void free_frames(struct reference *r)
{
    for (int k = 0; k < FILTER_MAX_WINDOW; k++) {
        free(r->pixels[k]);
        r->pixels[k] = NULL;
    }
    r->n_frames = 0;
}

static void reference_destroy(struct engine *e)
{
    struct reference *r = (struct reference *)e;

    if (!r)
        return;
    average_destroy(r->average);
    free_frames(r);
    free(r);
}

static int reference_pin(struct engine *e, void *memory, size_t bytes)
{
    (void)e;
    (void)memory;
    (void)bytes;
    return 0;
}

static void reference_unpin(struct engine *e, void *memory)
{
    (void)e;
    (void)memory;
}

static double level_at(const struct reference *r, const struct frame *f, bool averaged,
                       int component, int x, int y)
{
    const struct format_info *info = &format_table[f->format];

    if (component > 0) {
        x >>= info->hshift;
        y >>= info->vshift;
    }
    if (averaged)
        return average_level(r->average, component, x, y);
    return frame_level(f, component, x, y);
}

/* 2 sigma_color^2 at a pixel, where the filter asks for it. */
static double two_sc2_at(const struct reference *r, const struct filter *f, bool is_420, int x,
                         int y)
{
    double sc = f->sigma_color, share = 1.0;

    if (sc <= 0.0 && r->measures)
        sc = filter_auto_sigma_color(f, sqrt(average_noise(r->average, x, y)),
                                     average_noise_share(r->average), is_420);
    if (filter_averages(f))
        share = filter_averaged_share(f, average_count(r->average, x, y),
                                      average_noise_share(r->average));
    return 2.0 * sc * sc * share;
}

static void expand(const struct reference *r, const struct frame *f, const struct filter *filter)
{
    const bool grey = format_table[f->format].components == 1;
    const bool is_420 = format_table[f->format].vshift > 0;
    const bool averaged = filter_averages(filter);
    double m[3][3];

    colour_to_rgb(f->colour, m);
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            struct pixel *p = &r->pixels[0][(size_t)y * (size_t)f->width + (size_t)x];

            p->yuv[0] = level_at(r, f, averaged, 0, x, y);
            p->yuv[1] = grey ? 128 : level_at(r, f, averaged, 1, x, y);
            p->yuv[2] = grey ? 128 : level_at(r, f, averaged, 2, x, y);
            p->two_sc2 = two_sc2_at(r, filter, is_420, x, y);
            for (int i = 0; i < 3; i++)
                p->rgb[i] = m[i][0] * p->yuv[0] + m[i][1] * p->yuv[1] + m[i][2] * p->yuv[2];
        }
}

static double weight(const struct filter *f, const struct pixel *p, const struct pixel *q, int dx,
                     int dy)
{
    const double two_ss2 = 2.0 * f->sigma_space * f->sigma_space;
    const double space = f->kind == FILTER_BOX ? 1.0 : exp(-(dx * dx + dy * dy) / two_ss2);
    double squares = 0.0, sum = 0.0, d2;

    if (f->kind != FILTER_BILATERAL)
        return space;
    for (int i = 0; i < 3; i++) {
        squares += (p->rgb[i] - q->rgb[i]) * (p->rgb[i] - q->rgb[i]);
        sum += fabs(p->rgb[i] - q->rgb[i]);
    }
    d2 = f->distance == DISTANCE_MANHATTAN ? sum * sum : squares;
    return space *
           (f->range == RANGE_GAUSSIAN ? exp(-d2 / p->two_sc2) : 1.0 / (1.0 + d2 / p->two_sc2));
}

/* How much the frame @k before this one counts. */
static double time_weight(const struct filter *f, int k)
{
    return f->sigma_time > 0.0 ? exp(-k * k / (2.0 * f->sigma_time * f->sigma_time)) : 1.0;
}

/* Adds w(p,q) and w(p,q) * (Y, U, V)(q) over the window of the pixel at (x, y) in the frame @k
 * before this one. */
static void sum_window(const struct reference *r, const struct frame *in, const struct filter *f,
                       int k, int x, int y, double sum[3], double *sum_w)
{
    const struct pixel *p = &r->pixels[0][(size_t)y * (size_t)in->width + (size_t)x];

    for (int dy = -f->radius; dy <= f->radius; dy++)
        for (int dx = -f->radius; dx <= f->radius; dx++) {
            const int qx = frame_nearest(x + dx, in->width);
            const int qy = frame_nearest(y + dy, in->height);
            const struct pixel *q = &r->pixels[k][(size_t)qy * (size_t)in->width + (size_t)qx];
            double w;

            if (f->kind == FILTER_BILATERAL && f->window == WINDOW_DISC &&
                dx * dx + dy * dy > f->radius * f->radius)
                continue;
            w = time_weight(f, k) * weight(f, p, q, dx, dy);
            for (int i = 0; i < 3; i++)
                sum[i] += w * q->yuv[i];
            *sum_w += w;
        }
}

static void store(const struct frame *out, int component, int x, int y, double value)
{
    const struct samples s = frame_samples(out, component);

    uint8_t *at = s.base + (size_t)y * s.stride + (size_t)x * (size_t)s.step;

    if (format_table[out->format].bytes == 1)
        *at = (uint8_t)fmin(value + 0.5, 255.0);
    else
        memcpy(at, &(uint16_t){(uint16_t)fmin(value * 256.0 + 0.5, 65535.0)}, 2);
}

static void filter_chroma_sample(const struct reference *r, const struct frame *in,
                                 const struct frame *out, const struct filter *f, int cx, int cy)
{
    const struct format_info *info = &format_table[in->format];
    double joint[3] = {0}, joint_w = 0.0;

    for (int y = cy << info->vshift; y < (cy + 1) << info->vshift && y < in->height; y++)
        for (int x = cx << info->hshift; x < (cx + 1) << info->hshift; x++) {
            double sum[3] = {0}, sum_w = 0.0;

            for (int k = 0; k < r->n_frames; k++)
                sum_window(r, in, f, k, x, y, sum, &sum_w);
            store(out, 0, x, y, sum[0] / sum_w);
            joint[1] += sum[1];
            joint[2] += sum[2];
            joint_w += sum_w;
        }
    for (int c = 1; c < info->components; c++)
        store(out, c, cx, cy, joint[c] / joint_w);
}

/* Makes room for one frame more in front of those of the window in time. */
static int shift_frames(struct reference *r, const struct frame *in, int most)
{
    const size_t n = (size_t)in->width * (size_t)in->height;
    struct pixel *oldest = r->pixels[FILTER_MAX_WINDOW - 1];

    if (!frame_alike(in, &r->shape)) {
        free_frames(r);
        oldest = NULL;
    }
    r->shape = frame_like(in);
    if (!oldest)
        oldest = malloc(n * sizeof(*oldest));
    if (!oldest)
        return -ENOMEM;
    memmove(&r->pixels[1], &r->pixels[0], (FILTER_MAX_WINDOW - 1) * sizeof(r->pixels[0]));
    r->pixels[0] = oldest;
    r->n_frames = r->n_frames < most ? r->n_frames + 1 : most;
    return 0;
}

static void reference_forget(struct engine *e)
{
    struct reference *r = (struct reference *)e;

    past_forget(&r->past);
}

/* What a filter in time and the measure of noise need to know of every frame. */
static int take_frame(struct reference *r, const struct frame *in, const struct filter *f)
{
    const bool goes_on = past_goes_on(&r->past, in, f);
    int failed = 0;

    r->averages = filter_averages(f);
    r->measures = r->averages || (filter_looks_back(f) && f->sigma_color <= 0.0);
    if (!goes_on)
        r->n_frames = 0;
    if (!goes_on || !r->measures)
        average_forget(r->average);
    if (r->measures)
        failed = average_add(r->average, in, r->averages ? f->temporal : 1, !f->no_search);
    if (!failed)
        failed = shift_frames(r, in, f->temporal > 1 && !r->averages ? f->temporal : 1);
    if (failed)
        past_forget(&r->past);
    return failed;
}

static int reference_submit(struct engine *e, const struct frame *in, struct frame *out,
                            const struct filter *filter)
{
    struct reference *r = (struct reference *)e;
    const struct format_info *info = &format_table[in->format];
    int failed;

    if (r->busy)
        return -EBUSY;
    if (!engine_takes(in->format, filter))
        return -EINVAL;
    failed = take_frame(r, in, filter);
    if (failed)
        return failed;
    r->busy = true;
    if (filter->radius == 0 && filter->temporal <= 1) {
        frame_copy(out, in);
        return 0;
    }
    expand(r, in, filter);
    for (int cy = 0; cy << info->vshift < in->height; cy++)
        for (int cx = 0; cx << info->hshift < in->width; cx++)
            filter_chroma_sample(r, in, out, filter, cx, cy);
    return 0;
}

static int reference_collect(struct engine *e)
{
    struct reference *r = (struct reference *)e;

    if (!r->busy)
        return -EAGAIN;
    r->busy = false;
    return 0;
}

static void reference_report(struct engine *e, struct engine_report *ret)
{
    struct reference *r = (struct reference *)e;

    *ret = (struct engine_report){0};
    if (r->measures)
        average_report(r->average, ret);
    if (!r->averages) {
        ret->frames = r->past.temporal > 1 ? r->n_frames : 0.0;
        ret->counts = NULL;
    }
}

const struct engine_ops engine_reference = {
    .name = "reference",
    .help = "double precision on one CPU core: the truth the others are checked against",
    .only_by_name = true,
    .probe = reference_probe,
    .create = reference_create,
    .destroy = reference_destroy,
    .release = engine_release_nothing,
    .pin = reference_pin,
    .unpin = reference_unpin,
    .submit = reference_submit,
    .collect = reference_collect,
    .pass = engine_pass_nothing,
    .forget = reference_forget,
    .report = reference_report,
};
