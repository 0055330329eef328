/* The truth: the image contract of filter.h written down in double precision, one weight at a
 * time, with nothing shared, folded or approximated. Every other engine is checked against
 * this one. It is slow on purpose.
 *
 * Step by step for a frame:
 *   1. expand to one R'G'B' colour per luma pixel, chroma replicated;
 *   2. for every chroma sample, go over the pixels p that share it (1, 2 or 4) and over the
 *      window of each: the sum of w(p,q) * Y(q) over that of w(p,q) is luma at p, and both
 *      sums run over all p for the chroma sample. Grey has "chroma samples" of one pixel. */
#include "engine/engine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture/colour.h"

struct pixel {
    double rgb[3];
    double yuv[3];
};

struct reference {
    struct engine base;
    bool busy; /* one frame is submitted and not yet collected */
    size_t n_pixels;
    struct pixel *pixels;
};

static int reference_probe(char *device, size_t size, struct error *err)
{
    (void)err;
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
    r->base.ops = &engine_reference;
    r->base.depth = 1;
    (void)reference_probe(r->base.device, sizeof(r->base.device), NULL);
    *ret = &r->base;
    return 0;
}

static void reference_destroy(struct engine *e)
{
    struct reference *r = (struct reference *)e;

    if (!r)
        return;
    free(r->pixels);
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

static int sample_at(const struct frame *f, int component, int x, int y)
{
    const struct format_info *info = &format_table[f->format];
    const struct samples s = frame_samples(f, component);

    if (component > 0) {
        x >>= info->hshift;
        y >>= info->vshift;
    }
    return s.base[(size_t)y * s.stride + (size_t)x * (size_t)s.step];
}

static void expand(const struct frame *f, struct pixel *pixels)
{
    const bool grey = format_table[f->format].components == 1;
    double m[3][3];

    colour_to_rgb(f->colour, m);
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            struct pixel *p = &pixels[(size_t)y * (size_t)f->width + (size_t)x];

            p->yuv[0] = sample_at(f, 0, x, y);
            p->yuv[1] = grey ? 128 : sample_at(f, 1, x, y);
            p->yuv[2] = grey ? 128 : sample_at(f, 2, x, y);
            for (int i = 0; i < 3; i++)
                p->rgb[i] = m[i][0] * p->yuv[0] + m[i][1] * p->yuv[1] + m[i][2] * p->yuv[2];
        }
}

static double weight(const struct filter *f, const struct pixel *p, const struct pixel *q, int dx,
                     int dy)
{
    const double two_ss2 = 2.0 * f->sigma_space * f->sigma_space;
    const double two_sc2 = 2.0 * f->sigma_color * f->sigma_color;
    double d2 = 0.0;

    for (int i = 0; i < 3; i++)
        d2 += (p->rgb[i] - q->rgb[i]) * (p->rgb[i] - q->rgb[i]);
    return exp(-(dx * dx + dy * dy) / two_ss2) *
           (f->range == RANGE_GAUSSIAN ? exp(-d2 / two_sc2) : 1.0 / (1.0 + d2 / two_sc2));
}

static int clamp(int v, int max)
{
    return v < 0 ? 0 : v > max ? max : v;
}

/* Adds w(p,q) and w(p,q) * (Y, U, V)(q) over the window of the pixel at (x, y). */
static void sum_window(const struct reference *r, const struct frame *in, const struct filter *f,
                       int x, int y, double sum[3], double *sum_w)
{
    const struct pixel *p = &r->pixels[(size_t)y * (size_t)in->width + (size_t)x];

    for (int dy = -f->radius; dy <= f->radius; dy++)
        for (int dx = -f->radius; dx <= f->radius; dx++) {
            const int qx = clamp(x + dx, in->width - 1);
            const int qy = clamp(y + dy, in->height - 1);
            const struct pixel *q = &r->pixels[(size_t)qy * (size_t)in->width + (size_t)qx];
            double w;

            if (f->window == WINDOW_DISC && dx * dx + dy * dy > f->radius * f->radius)
                continue;
            w = weight(f, p, q, dx, dy);
            for (int i = 0; i < 3; i++)
                sum[i] += w * q->yuv[i];
            *sum_w += w;
        }
}

static void store(const struct frame *out, int component, int x, int y, double value)
{
    const struct samples s = frame_samples(out, component);

    s.base[(size_t)y * s.stride + (size_t)x * (size_t)s.step] = (uint8_t)(value + 0.5);
}

static void filter_chroma_sample(const struct reference *r, const struct frame *in,
                                 const struct frame *out, const struct filter *f, int cx, int cy)
{
    const struct format_info *info = &format_table[in->format];
    double joint[3] = {0}, joint_w = 0.0;

    for (int y = cy << info->vshift; y < (cy + 1) << info->vshift && y < in->height; y++)
        for (int x = cx << info->hshift; x < (cx + 1) << info->hshift; x++) {
            double sum[3] = {0}, sum_w = 0.0;

            sum_window(r, in, f, x, y, sum, &sum_w);
            store(out, 0, x, y, sum[0] / sum_w);
            joint[1] += sum[1];
            joint[2] += sum[2];
            joint_w += sum_w;
        }
    for (int c = 1; c < info->components; c++)
        store(out, c, cx, cy, joint[c] / joint_w);
}

static int reference_submit(struct engine *e, const struct frame *in, struct frame *out,
                            const struct filter *filter)
{
    struct reference *r = (struct reference *)e;
    const struct format_info *info = &format_table[in->format];
    const size_t n = (size_t)in->width * (size_t)in->height;

    if (r->busy)
        return -EBUSY;
    if (!info->planes || filter->radius < 0 || filter->radius > FILTER_MAX_RADIUS)
        return -EINVAL;
    if (filter->radius == 0) {
        frame_copy(out, in);
        r->busy = true;
        return 0;
    }
    if (n > r->n_pixels) {
        struct pixel *pixels = realloc(r->pixels, n * sizeof(*pixels));

        if (!pixels)
            return -ENOMEM;
        r->pixels = pixels;
        r->n_pixels = n;
    }
    expand(in, r->pixels);
    for (int cy = 0; cy << info->vshift < in->height; cy++)
        for (int cx = 0; cx << info->hshift < in->width; cx++)
            filter_chroma_sample(r, in, out, filter, cx, cy);
    r->busy = true;
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
    .forget = engine_forget_nothing,
};
