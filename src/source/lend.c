#include "source/lend.h"

#include <errno.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <stdlib.h>
#include <string.h>

#include "picture/convert.h"
#include "picture/words.h"
#include "video/pixels.h"

#define SD_HEIGHT 576 /* pictures that are higher have the colours of HD where nothing is said */

static const struct {
    enum AVPixelFormat theirs;
    enum frame_format ours;
    bool full; /* the range that the format itself stands for */
} formats[] = {
    {AV_PIX_FMT_YUV420P, FRAME_I420, false}, {AV_PIX_FMT_YUVJ420P, FRAME_I420, true},
    {AV_PIX_FMT_YUV422P, FRAME_I422, false}, {AV_PIX_FMT_YUVJ422P, FRAME_I422, true},
    {AV_PIX_FMT_YUV444P, FRAME_I444, false}, {AV_PIX_FMT_YUVJ444P, FRAME_I444, true},
    {AV_PIX_FMT_NV12, FRAME_NV12, false},    {AV_PIX_FMT_YUYV422, FRAME_YUYV, false},
    {AV_PIX_FMT_UYVY422, FRAME_UYVY, false}, {AV_PIX_FMT_GRAY8, FRAME_GREY, true},
    {AV_PIX_FMT_RGB24, FRAME_RGB24, true},   {AV_PIX_FMT_BGR24, FRAME_BGR24, true},
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

static size_t find_format(int theirs)
{
    size_t i = 0;

    while (i < N_FORMATS && (int)formats[i].theirs != theirs)
        i++;
    return i;
}

static enum AVPixelFormat libav_format(enum frame_format format)
{
    size_t i = 0;

    while (formats[i].ours != format)
        i++;
    return formats[i].theirs;
}

/* The name for @theirs that says the range, too, where there is one: a scaler that learns of the
 * range later only copies what has the same layout. */
static enum AVPixelFormat with_range(enum AVPixelFormat theirs, bool full)
{
    const size_t i = find_format(theirs);

    for (size_t k = 0; i < N_FORMATS && k < N_FORMATS; k++)
        if (formats[k].ours == formats[i].ours && formats[k].full == full)
            return formats[k].theirs;
    return theirs;
}

/* What comes nearest to a format that the program does not have. */
static enum frame_format nearest(const AVPixFmtDescriptor *d)
{
    if (d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL))
        return FRAME_RGB24;
    if (d->nb_components < 3)
        return FRAME_GREY;
    if (d->log2_chroma_w == 1)
        return d->log2_chroma_h ? FRAME_I420 : FRAME_I422;
    return FRAME_I444;
}

/* False: none that frames can have. */
static bool matrix_of(const AVFrame *f, bool full, enum colour_matrix *ret)
{
    switch (f->colorspace) {
    case AVCOL_SPC_BT709:
        *ret = COLOUR_BT709;
        return true;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
    case AVCOL_SPC_FCC:
        *ret = COLOUR_BT601;
        return true;
    case AVCOL_SPC_BT2020_NCL:
        *ret = COLOUR_BT2020;
        return true;
    case AVCOL_SPC_SMPTE240M:
    case AVCOL_SPC_BT2020_CL:
        *ret = COLOUR_BT709;
        return false;
    default: /* a JPEG is full, and BT.601 at any size */
        *ret = full || f->height <= SD_HEIGHT ? COLOUR_BT601 : COLOUR_BT709;
        return true;
    }
}

static bool is_key(const AVFrame *f)
{
#ifdef AV_FRAME_FLAG_KEY
    return f->flags & AV_FRAME_FLAG_KEY;
#else
    return f->key_frame;
#endif
}

/* What is said with a picture of H.264 holds for those that follow until the next one that needs no
 * others, and libav tells it with the first of them alone. */
static struct turn turn_of(const AVFrame *f, struct turn before)
{
    const AVFrameSideData *side = av_frame_get_side_data(f, AV_FRAME_DATA_DISPLAYMATRIX);
    const int32_t *m = side && side->size >= 9 * sizeof(*m) ? (const int32_t *)side->data : NULL;

    if (!m)
        return is_key(f) ? (struct turn){false} : before;
    /* x' = m[0] x + m[3] y, y' = m[1] x + m[4] y: what is between quarters becomes the nearest. */
    if (llabs(m[1]) + llabs(m[3]) > llabs(m[0]) + llabs(m[4]))
        return (struct turn){.swap = true, .flip_x = m[3] < 0, .flip_y = m[1] < 0};
    return (struct turn){.flip_x = m[0] < 0, .flip_y = m[4] < 0};
}

/* Into samples of 16 bits what has more than 8: the raw layout, and libav's that is nearest. */
static void choose_deep(struct lender *l, const AVPixFmtDescriptor *d, bool rgb)
{
    const int depth = d->comp[0].depth < 16 ? d->comp[0].depth : 16;
    struct deep_layout like = {.rgb = rgb, .depth = depth};

    like.format = l->raw.format = format_with_bytes(rgb ? FRAME_I444 : l->raw.format, 2);
    l->pixels = deep_pixels(NULL, &like);
    (void)deep_layout(l->pixels, &like);
    l->depth = like.depth;
}

static void choose_format(struct lender *l, const AVFrame *first, int depth)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get((enum AVPixelFormat)first->format);
    const bool rgb = d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL);
    const bool deep = d->comp[0].depth > 8;
    const size_t i = find_format(first->format);
    const bool known = i < N_FORMATS;
    bool full = first->color_range == AVCOL_RANGE_JPEG;

    if (first->color_range == AVCOL_RANGE_UNSPECIFIED)
        full = known ? formats[i].full : rgb || d->nb_components < 3;
    l->raw = (struct frame){.format = known ? formats[i].ours : nearest(d),
                            .width = first->width,
                            .height = first->height};
    l->pixels = known ? formats[i].theirs : libav_format(l->raw.format);
    l->reduced = deep && depth == 8;
    if (deep && !l->reduced)
        choose_deep(l, d, rgb);
    l->raw.colour.range = full ? COLOUR_FULL : COLOUR_LIMITED;
    l->in_place = matrix_of(first, full, &l->raw.colour.matrix) || rgb;
    if (rgb)
        l->raw.colour = (struct colour){COLOUR_RGB, COLOUR_FULL};
}

static void free_turn(struct lender *l)
{
    frame_free(&l->turnable);
    frame_free(&l->turned);
    frame_free(&l->upright);
}

/* Has l->raw turned by @turn from now on, so that it fits l->frame; or leaves all as it is. */
static int set_turn(struct lender *l, struct turn turn)
{
    struct frame raw = l->raw, turnable = {0}, turned = {0}, upright = {0};
    const enum frame_format format = turn_format(turn, raw.format);
    int r = 0;

    raw.width = turn.swap ? l->frame.height : l->frame.width;
    raw.height = turn.swap ? l->frame.width : l->frame.height;
    if (!turn_is_none(turn)) {
        turnable = frame_like(&raw);
        turned = frame_like(&l->frame);
        turnable.format = turned.format = format;
        r = frame_alloc(&turned) || frame_alloc(&turnable) ? -ENOMEM : 0;
    }
    if (!r && format != l->frame.format) {
        upright = frame_like(&l->frame);
        r = frame_alloc(&upright);
    }
    if (r) {
        frame_free(&turnable);
        frame_free(&turned);
        frame_free(&upright);
        return r;
    }
    free_turn(l);
    frame_free(&l->own);
    l->turn = turn;
    l->raw = raw;
    l->turnable = turnable;
    l->turned = turned;
    l->upright = upright;
    return 0;
}

int lender_init(struct lender *l, const AVFrame *first, int depth, const char *file,
                struct error *err)
{
    const struct turn turn = turn_of(first, (struct turn){false});
    const char *problem;

    choose_format(l, first, depth);
    l->frame = frame_like(&l->raw);
    l->frame.format = turn_format(turn, l->raw.format);
    if (turn.swap) {
        l->frame.width = l->raw.height;
        l->frame.height = l->raw.width;
    }
    problem = frame_size_problem(l->frame.width, l->frame.height);
    if (problem)
        return error_set(err, -EINVAL, "%s is %dx%d: %s", file, l->frame.width, l->frame.height,
                         problem);
    if (set_turn(l, turn))
        return error_set(err, -ENOMEM, "out of memory for frames of %s", file);
    return 0;
}

void lender_finish(struct lender *l)
{
    sws_freeContext(l->scaler);
    frame_free(&l->own);
    free_turn(l);
}

/* Where a picture does not say, it is like the first one. */
static bool is_full(const struct lender *l, const AVFrame *f)
{
    return f->color_range == AVCOL_RANGE_UNSPECIFIED ? l->raw.colour.range == COLOUR_FULL
                                                     : f->color_range == AVCOL_RANGE_JPEG;
}

/* Whether the picture has the colours of the first one. */
static bool in_colours(const struct lender *l, const AVFrame *f)
{
    const bool full = is_full(l, f);
    enum colour_matrix matrix;

    if (l->raw.colour.matrix == COLOUR_RGB)
        return true;
    return full == (l->raw.colour.range == COLOUR_FULL) && matrix_of(f, full, &matrix) &&
           matrix == l->raw.colour.matrix;
}

/* Whether the samples are where they could be lent. */
static bool in_place(const struct lender *l, const AVFrame *f)
{
    bool ret = l->in_place && f->format == (int)l->pixels && f->width == l->raw.width &&
               f->height == l->raw.height && in_colours(l, f);

    for (int p = 0; ret && p < format_table[l->raw.format].planes; p++)
        ret = f->linesize[p] >= (int)frame_row_bytes(&l->raw, p);
    return ret;
}

/* Fills l->own by libswscale, also to the first frame's size. */
static int scale(struct lender *l, const AVFrame *f)
{
    const bool full = is_full(l, f);
    enum colour_matrix guess;
    const int *theirs;

    theirs = matrix_of(f, full, &guess) ? scaler_matrix(guess) : sws_getCoefficients(f->colorspace);
    l->scaler = sws_getCachedContext(
        l->scaler, f->width, f->height, with_range((enum AVPixelFormat)f->format, full),
        l->raw.width, l->raw.height, with_range(l->pixels, l->raw.colour.range == COLOUR_FULL),
        SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, NULL, NULL, NULL);
    if (!l->scaler)
        return -ENOMEM;
    (void)sws_setColorspaceDetails(l->scaler, theirs, full, scaler_matrix(l->raw.colour.matrix),
                                   l->raw.colour.range == COLOUR_FULL, 0, 1 << 16, 1 << 16);
    if (sws_scale(l->scaler, (const uint8_t *const *)f->data, f->linesize, 0, f->height,
                  l->own.plane,
                  (int[]){(int)l->own.stride[0], (int)l->own.stride[1], (int)l->own.stride[2]}) < 0)
        return -ENOMEM;
    return 0;
}

/* Fills l->own with the samples of @f, or where it is NULL, with its own, in the upper bits. */
static void widen(struct lender *l, const AVFrame *f)
{
    for (int p = 0; p < format_table[l->own.format].planes; p++) {
        const size_t bytes = frame_row_bytes(&l->own, p);
        uint8_t *to = l->own.plane[p];

        for (int y = 0; y < frame_plane_rows(&l->own, p); y++, to += l->own.stride[p]) {
            if (f)
                memcpy(to, f->data[p] + (ptrdiff_t)y * f->linesize[p], bytes);
            words_widen(to, bytes, l->depth);
        }
    }
}

/* Has l->raw show @f: where it is, or a copy. */
static int take_raw(struct lender *l, const AVFrame *f)
{
    const bool narrow = l->depth && l->depth < 16;
    const bool lent = in_place(l, f);
    int r = 0;

    if (lent && !narrow) {
        for (int p = 0; p < format_table[l->raw.format].planes; p++) {
            l->raw.plane[p] = f->data[p];
            l->raw.stride[p] = (size_t)f->linesize[p];
        }
        return 0;
    }
    if (!l->own.plane[0]) {
        l->own = frame_like(&l->raw);
        r = frame_alloc(&l->own);
    }
    if (!r && !lent)
        r = scale(l, f);
    if (r)
        return r;
    if (narrow)
        widen(l, lent ? f : NULL);
    for (int p = 0; p < 3; p++) {
        l->raw.plane[p] = l->own.plane[p];
        l->raw.stride[p] = l->own.stride[p];
    }
    return 0;
}

int lender_take(struct lender *l, const AVFrame *f)
{
    const struct frame *from = &l->raw;
    const struct turn turn = turn_of(f, l->turn);
    int r = turn_equal(turn, l->turn) ? 0 : set_turn(l, turn);

    if (!r)
        r = take_raw(l, f);
    if (r)
        return r;
    if (!turn_is_none(l->turn)) {
        if (l->raw.format != l->turnable.format) {
            convert_frame(&l->turnable, &l->raw);
            from = &l->turnable;
        }
        turn_frame(&l->turned, from, l->turn);
        from = &l->turned;
    }
    if (from->format != l->frame.format) {
        convert_frame(&l->upright, from);
        from = &l->upright;
    }
    for (int p = 0; p < 3; p++) {
        l->frame.plane[p] = from->plane[p];
        l->frame.stride[p] = from->stride[p];
    }
    return 0;
}
