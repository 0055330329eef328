#include "cuda/kernel/params.h"

#include <errno.h>
#include <math.h>

#include "filter/filter.h"
#include "picture/colour.h"
#include "picture/frame.h"

/* Byte selectors of the device's byte_perm: nibble i of a selector names the byte of the word
 * that becomes byte i. */
#define YUYV_TO_YYUV 0x3120
#define UYVY_TO_YYUV 0x2031
#define YYUV_TO_YUYV 0x3120
#define YYUV_TO_UYVY 0x1302

static struct bilateral_samples device_samples(const struct frame *f, int component)
{
    const struct samples s = frame_samples(f, component);

    return (struct bilateral_samples){s.base, (uint32_t)s.stride, (uint32_t)s.step};
}

static void set_colour(struct bilateral_params *p, enum colour_metric metric, struct colour colour)
{
    const struct colour_distance m = colour_distance(colour);
    double rgb[3][3];

    p->manhattan = metric == DISTANCE_MANHATTAN;
    if (!p->manhattan || colour.matrix == COLOUR_RGB) {
        p->a = (float)m.a;
        p->b = (float)m.b;
        p->c = (float)m.c;
        p->d = (float)m.d;
        p->e = (float)m.e;
        p->f = (float)m.f;
        return;
    }
    colour_to_rgb(colour, rgb);
    p->common = 1.0F;
    p->a = (float)rgb[0][0];
    p->d = (float)rgb[2][1];
    p->f = (float)rgb[0][2];
    p->green_u1 = (float)(rgb[1][1] / rgb[2][1]);
    p->green_v1 = (float)(rgb[1][2] / rgb[0][2]);
}

int bilateral_prepare(struct bilateral_params *ret, const struct frame *in, const struct frame *out,
                      const struct filter *filter)
{
    const struct format_info *info = &format_table[in->format];

    if (!info->planes || filter->radius < 0 || filter->radius > FILTER_MAX_RADIUS ||
        !(filter->sigma_space > 0.0) || !(filter->sigma_color > 0.0) ||
        frame_size_problem(in->width, in->height))
        return -EINVAL;
    *ret = (struct bilateral_params){
        .width = in->width,
        .height = in->height,
        .row_end = in->height,
        .hshift = info->hshift,
        .vshift = info->vshift,
        .components = info->components,
        .words = info->bytes > 1,
        .packed = in->format == FRAME_YUYV || in->format == FRAME_UYVY,
        .unpack = in->format == FRAME_UYVY ? UYVY_TO_YYUV : YUYV_TO_YYUV,
        .repack = in->format == FRAME_UYVY ? YYUV_TO_UYVY : YYUV_TO_YUYV,
        .radius = filter->radius,
        .blur = filter->kind != FILTER_BILATERAL,
        .box = filter->kind == FILTER_BOX,
        .disc = filter->window == WINDOW_DISC,
        .lorentzian = filter->range == RANGE_LORENTZIAN,
        .sigma_color = (float)filter->sigma_color,
        .inv_two_ss2 = (float)(0.5 / (filter->sigma_space * filter->sigma_space)),
        .inv_sqrt2_sc = (float)(sqrt(0.5) / filter->sigma_color),
    };
    set_colour(ret, filter->distance, in->colour);
    for (int i = 0; i < info->components; i++) {
        ret->in[i] = device_samples(in, i);
        ret->out[i] = device_samples(out, i);
    }
    return 0;
}

int bilateral_half_width(const struct bilateral_params *p, int distance)
{
    const struct filter f = {.radius = p->radius, .window = p->disc ? WINDOW_DISC : WINDOW_SQUARE};

    return distance > p->radius ? -1 : filter_half_width(&f, distance);
}

float bilateral_most_sigma(const struct bilateral_params *p)
{
    const float radius = (float)p->radius, span = 2.0F * radius * radius * p->inv_two_ss2;
    const float most = p->radius <= 16 ? 64.0F : 40.0F;

    if (p->lorentzian || span > 0.99F)
        return most;
    return fminf(most, 15.0F + 25.0F / radius + 28.0F * span * span);
}
