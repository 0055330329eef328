#include "cuda/kernel/params.h"

#include <errno.h>

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

int bilateral_prepare(struct bilateral_params *ret, const struct frame *in, const struct frame *out,
                      const struct filter *filter)
{
    const struct format_info *info = &format_table[in->format];
    const struct colour_distance m = colour_distance(in->colour);

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
        .packed = in->format == FRAME_YUYV || in->format == FRAME_UYVY,
        .unpack = in->format == FRAME_UYVY ? UYVY_TO_YYUV : YUYV_TO_YYUV,
        .repack = in->format == FRAME_UYVY ? YYUV_TO_UYVY : YYUV_TO_YUYV,
        .radius = filter->radius,
        .disc = filter->window == WINDOW_DISC,
        .lorentzian = filter->range == RANGE_LORENTZIAN,
        .sigma_color = (float)filter->sigma_color,
        .inv_two_ss2 = (float)(0.5 / (filter->sigma_space * filter->sigma_space)),
        .inv_sqrt2_sc = (float)(sqrt(0.5) / filter->sigma_color),
        .a = (float)m.a,
        .b = (float)m.b,
        .c = (float)m.c,
        .d = (float)m.d,
        .e = (float)m.e,
        .f = (float)m.f,
    };
    for (int i = 0; i < info->components; i++) {
        ret->in[i] = device_samples(in, i);
        ret->out[i] = device_samples(out, i);
    }
    return 0;
}
