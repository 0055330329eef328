#include "video/pixels.h"

#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#define OTHERS                                                                                     \
    (AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_HWACCEL)

static bool words_of_this_machine(const AVPixFmtDescriptor *d)
{
    const uint64_t ends = AV_PIX_FMT_GRAY16 == AV_PIX_FMT_GRAY16BE ? AV_PIX_FMT_FLAG_BE : 0;
    const int depth = d->comp[0].depth;

    if (depth < 9 || depth > 16 || (d->flags & AV_PIX_FMT_FLAG_BE) != ends || d->flags & OTHERS)
        return false;
    for (int i = 0; i < d->nb_components; i++)
        if (d->comp[i].step != 2 || d->comp[i].shift || d->comp[i].depth != depth)
            return false;
    return av_pix_fmt_count_planes(av_pix_fmt_desc_get_id(d)) == d->nb_components;
}

bool deep_layout(enum AVPixelFormat pixels, struct deep_layout *ret)
{
    static const enum frame_format formats[2][2] = {{FRAME_I444_16, FRAME_N_FORMATS},
                                                    {FRAME_I422_16, FRAME_I420_16}};
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(pixels);

    if (!d || !words_of_this_machine(d) || d->log2_chroma_w > 1 || d->log2_chroma_h > 1)
        return false;
    *ret = (struct deep_layout){.format = d->nb_components == 1
                                              ? FRAME_GREY16
                                              : formats[d->log2_chroma_w][d->log2_chroma_h],
                                .rgb = d->flags & AV_PIX_FMT_FLAG_RGB,
                                .depth = d->comp[0].depth};
    return ret->format != FRAME_N_FORMATS;
}

/* Whether @a bits do better than @b where @want are wanted. */
static bool better(int a, int b, int want)
{
    if (a < want || b < want)
        return a > b;
    return a < b;
}

enum AVPixelFormat deep_pixels(const enum AVPixelFormat *list, const struct deep_layout *like)
{
    const AVPixFmtDescriptor *d = NULL;
    enum AVPixelFormat best = AV_PIX_FMT_NONE;
    int depth = 0;

    for (;;) {
        struct deep_layout l;
        enum AVPixelFormat p;

        if (!list)
            d = av_pix_fmt_desc_next(d);
        p = list ? *list++ : d ? av_pix_fmt_desc_get_id(d) : AV_PIX_FMT_NONE;
        if (p == AV_PIX_FMT_NONE)
            return best;
        if (!deep_layout(p, &l) || l.format != like->format || l.rgb != like->rgb ||
            (depth && !better(l.depth, depth, like->depth)))
            continue;
        best = p;
        depth = l.depth;
    }
}

/* Whether a colour of the palette that the picture uses is not opaque. */
static bool uses_transparent_colour(const AVFrame *f)
{
    const uint32_t *palette = (const uint32_t *)(const void *)f->data[1];
    bool clear[256];
    bool any = false;

    for (int i = 0; i < 256; i++) {
        clear[i] = palette[i] >> 24 < 255;
        any |= clear[i];
    }
    for (int y = 0; any && y < f->height; y++)
        for (int x = 0; x < f->width; x++)
            if (clear[f->data[0][(ptrdiff_t)y * f->linesize[0] + x]])
                return true;
    return false;
}

bool pixels_transparent(const AVFrame *f)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get((enum AVPixelFormat)f->format);
    const AVComponentDescriptor *alpha = &d->comp[d->nb_components - 1];
    uint16_t row[FRAME_MAX_SIDE];

    if (f->format == AV_PIX_FMT_PAL8)
        return uses_transparent_colour(f);
    if (!(d->flags & AV_PIX_FMT_FLAG_ALPHA) || d->flags & AV_PIX_FMT_FLAG_FLOAT ||
        alpha->depth > 16 || f->width > FRAME_MAX_SIDE)
        return false;
    for (int y = 0; y < f->height; y++) {
        av_read_image_line2(row, (const uint8_t **)(uintptr_t)f->data, f->linesize, d, 0, y,
                            d->nb_components - 1, f->width, 0, sizeof(row[0]));
        for (int x = 0; x < f->width; x++)
            if (row[x] != (1 << alpha->depth) - 1)
                return true;
    }
    return false;
}

const int *scaler_matrix(enum colour_matrix matrix)
{
    static const int known[] = {[COLOUR_BT601] = SWS_CS_ITU601,
                                [COLOUR_BT709] = SWS_CS_ITU709,
                                [COLOUR_BT2020] = SWS_CS_BT2020,
                                [COLOUR_RGB] = SWS_CS_ITU601};

    return sws_getCoefficients(known[matrix]);
}
