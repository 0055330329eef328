#include "picture/convert.h"

#include <math.h>
#include <string.h>

#include "base/workers.h"
#include "picture/colour.h"

#define FIXED_BITS 14
#define BAND_ROWS 64 /* that a thread converts at a time */

/* A colour conversion in fixed point; `offset` includes one half for rounding. */
struct conversion {
    int32_t m[3][3];
    int32_t offset[3];
    bool identity;
};

enum frame_format working_format(enum frame_format format, int depth)
{
    switch (format) {
    case FRAME_UYVY:
        return FRAME_YUYV;
    case FRAME_MJPG:
        return FRAME_I422;
    case FRAME_RGB24:
    case FRAME_BGR24:
        return FRAME_I444;
    default:
        return depth == 8 ? format_with_bytes(format, 1) : format;
    }
}

static struct conversion conversion_between(struct colour from, struct colour to)
{
    struct conversion c = {.identity = from.matrix == to.matrix && from.range == to.range};
    double m[3][3], offset[3];

    colour_convert(from, to, m, offset);
    for (int i = 0; i < 3; i++) {
        c.offset[i] = (int32_t)lround((offset[i] + 0.5) * (1 << FIXED_BITS));
        for (int j = 0; j < 3; j++)
            c.m[i][j] = (int32_t)lround(m[i][j] * (1 << FIXED_BITS));
    }
    return c;
}

static void gather(uint8_t *restrict row, const struct samples *s, int y)
{
    const uint8_t *restrict p = s->base + (size_t)y * s->stride;

    switch (s->step) {
    case 1:
        memcpy(row, p, (size_t)s->width);
        break;
    case 2:
        for (int x = 0; x < s->width; x++)
            row[x] = p[2 * x];
        break;
    case 3:
        for (int x = 0; x < s->width; x++)
            row[x] = p[3 * x];
        break;
    default:
        for (int x = 0; x < s->width; x++)
            row[x] = p[4 * x];
    }
}

static void scatter(const struct samples *s, int y, const uint8_t *restrict row)
{
    uint8_t *restrict p = s->base + (size_t)y * s->stride;

    switch (s->step) {
    case 1:
        memcpy(p, row, (size_t)s->width);
        break;
    case 2:
        for (int x = 0; x < s->width; x++)
            p[2 * x] = row[x];
        break;
    case 3:
        for (int x = 0; x < s->width; x++)
            p[3 * x] = row[x];
        break;
    default:
        for (int x = 0; x < s->width; x++)
            p[4 * x] = row[x];
    }
}

/* Row @y of component @c as it is on a chroma grid of @hshift and @vshift (luma: 0 and 0): in @row,
 * or in the frame where it is there. */
static const uint8_t *fetch(uint8_t *restrict row, const struct frame *f, int c, int hshift,
                            int vshift, int y)
{
    const struct format_info *info = &format_table[f->format];
    const int from_h = c ? info->hshift : 0, from_v = c ? info->vshift : 0;
    const int width = (f->width + (1 << hshift) - 1) >> hshift;
    uint8_t a[FRAME_MAX_SIDE], b[FRAME_MAX_SIDE];
    struct samples s;

    if (c >= info->components) {
        memset(row, 128, (size_t)width);
        return row;
    }
    s = frame_samples(f, c);
    if (s.step == 1 && hshift == from_h && vshift <= from_v)
        return s.base + (size_t)(y >> (from_v - vshift)) * s.stride;
    if (vshift > from_v) {
        gather(a, &s, 2 * y);
        gather(b, &s, 2 * y + 1 < s.height ? 2 * y + 1 : 2 * y);
        for (int x = 0; x < s.width; x++)
            a[x] = (uint8_t)((a[x] + b[x] + 1) / 2);
    } else {
        gather(a, &s, y >> (from_v - vshift));
    }
    if (hshift > from_h)
        for (int x = 0; x < width; x++)
            row[x] = (uint8_t)((a[2 * x] + a[2 * x + 1] + 1) / 2);
    else if (hshift < from_h)
        for (int x = 0; x < width; x++)
            row[x] = a[x / 2];
    else
        memcpy(row, a, (size_t)width);
    return row;
}

/* out = m[0] y + m[1] u + m[2] v + offset, clamped to bytes. @out may be one of the inputs. */
static void mix(uint8_t *out, const int32_t m[3], int32_t offset, const uint8_t *y,
                const uint8_t *u, const uint8_t *v, int width)
{
    for (int x = 0; x < width; x++) {
        const int32_t sum = (m[0] * y[x] + m[1] * u[x] + m[2] * v[x] + offset) >> FIXED_BITS;

        out[x] = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
    }
}

/* Row @row of what @src is in the colour of @c: in @spare, or in @src where it is there. */
static const uint8_t *luma_row(uint8_t *spare, const struct frame *src, const struct conversion *c,
                               int row)
{
    uint8_t spare_u[FRAME_MAX_SIDE], spare_v[FRAME_MAX_SIDE];
    const uint8_t *const y = fetch(spare, src, 0, 0, 0, row), *u, *v;

    if (c->identity)
        return y;
    u = fetch(spare_u, src, 1, 0, 0, row);
    v = fetch(spare_v, src, 2, 0, 0, row);
    mix(spare, c->m[0], c->offset[0], y, u, v, src->width);
    return spare;
}

/* Likewise both rows of chroma on the grid of @to; @row and @width are those of that. */
static void chroma_rows(const uint8_t *ret[2], uint8_t *spare[2], const struct format_info *to,
                        const struct frame *src, const struct conversion *c, int row, int width)
{
    const bool of_luma = c->m[1][0] || c->m[2][0]; /* else greys stay greys */
    uint8_t spare_y[FRAME_MAX_SIDE], out[FRAME_MAX_SIDE];
    const uint8_t *const u = fetch(spare[0], src, 1, to->hshift, to->vshift, row);
    const uint8_t *const v = fetch(spare[1], src, 2, to->hshift, to->vshift, row), *y = u;

    ret[0] = u;
    ret[1] = v;
    if (c->identity)
        return;
    if (of_luma)
        y = fetch(spare_y, src, 0, to->hshift, to->vshift, row);
    mix(out, c->m[1], c->offset[1], y, u, v, width);
    mix(spare[1], c->m[2], c->offset[2], y, u, v, width);
    memcpy(spare[0], out, (size_t)width);
    ret[0] = spare[0];
    ret[1] = spare[1];
}

static void convert_planes(const struct frame *dst, const struct frame *src,
                           const struct conversion *c)
{
    const struct format_info *info = &format_table[dst->format];
    const struct samples to_y = frame_samples(dst, 0);
    uint8_t first[FRAME_MAX_SIDE], second[FRAME_MAX_SIDE], *spare[2] = {first, second};
    const uint8_t *uv[2];

    for (int row = 0; row < to_y.height; row++)
        scatter(&to_y, row, luma_row(first, src, c, row));
    if (info->components > 1) {
        const struct samples to_u = frame_samples(dst, 1), to_v = frame_samples(dst, 2);

        for (int row = 0; row < to_u.height; row++) {
            chroma_rows(uv, spare, info, src, c, row, to_u.width);
            scatter(&to_u, row, uv[0]);
            scatter(&to_v, row, uv[1]);
        }
    }
}

/* @out = first of @a, first of @b, second of @a and so on, @n of each. Compilers know it as one
 * instruction for many bytes, which they do not for four rows at once. */
static void interleave(uint8_t *restrict out, const uint8_t *restrict a, const uint8_t *restrict b,
                       int n)
{
    for (int i = 0; i < n; i++) {
        out[2 * i] = a[i];
        out[2 * i + 1] = b[i];
    }
}

/* To YUYV or UYVY, which most programs take. */
static void convert_packed(const struct frame *dst, const struct frame *src,
                           const struct conversion *c)
{
    const struct format_info *info = &format_table[dst->format];
    uint8_t spare_y[FRAME_MAX_SIDE], spare_u[FRAME_MAX_SIDE], spare_v[FRAME_MAX_SIDE];
    uint8_t *spare[2] = {spare_u, spare_v}, chroma[FRAME_MAX_SIDE];
    const bool luma_first = dst->format == FRAME_YUYV;
    const uint8_t *uv[2];

    for (int row = 0; row < dst->height; row++) {
        const uint8_t *const luma = luma_row(spare_y, src, c, row);

        chroma_rows(uv, spare, info, src, c, row, dst->width / 2);
        interleave(chroma, uv[0], uv[1], dst->width / 2);
        interleave(dst->plane[0] + (size_t)row * dst->stride[0], luma_first ? luma : chroma,
                   luma_first ? chroma : luma, dst->width);
    }
}

/* --- 16 bits on at least one side --- */

static void gather_words(uint16_t *restrict row, const struct frame *f, const struct samples *s,
                         int y)
{
    const uint8_t *restrict p = s->base + (size_t)y * s->stride;

    if (format_table[f->format].bytes > 1)
        memcpy(row, p, (size_t)s->width * sizeof(row[0]));
    else
        for (int x = 0; x < s->width; x++)
            row[x] = (uint16_t)(p[x * s->step] << 8);
}

static void scatter_words(const struct frame *f, const struct samples *s, int y,
                          const uint16_t *restrict row)
{
    uint8_t *restrict p = s->base + (size_t)y * s->stride;

    if (format_table[f->format].bytes > 1)
        memcpy(p, row, (size_t)s->width * sizeof(row[0]));
    else
        for (int x = 0; x < s->width; x++)
            p[x * s->step] = (uint8_t)(row[x] < 0xff80 ? (row[x] + 128) >> 8 : 255);
}

/* fetch() of words. */
static void fetch_words(uint16_t *restrict row, const struct frame *f, int c, int hshift,
                        int vshift, int y)
{
    const struct format_info *info = &format_table[f->format];
    const int from_h = c ? info->hshift : 0, from_v = c ? info->vshift : 0;
    const int width = (f->width + (1 << hshift) - 1) >> hshift;
    uint16_t a[FRAME_MAX_SIDE], b[FRAME_MAX_SIDE];
    struct samples s;

    if (c >= info->components) {
        for (int x = 0; x < width; x++)
            row[x] = 128 << 8;
        return;
    }
    s = frame_samples(f, c);
    if (vshift > from_v) {
        gather_words(a, f, &s, 2 * y);
        gather_words(b, f, &s, 2 * y + 1 < s.height ? 2 * y + 1 : 2 * y);
        for (int x = 0; x < s.width; x++)
            a[x] = (uint16_t)((a[x] + b[x] + 1) / 2);
    } else {
        gather_words(a, f, &s, y >> (from_v - vshift));
    }
    for (int x = 0; x < width; x++)
        row[x] = hshift > from_h   ? (uint16_t)((a[2 * x] + a[2 * x + 1] + 1) / 2)
                 : hshift < from_h ? a[x / 2]
                                   : a[x];
}

static void mix_words(uint16_t *out, const double m[3], double offset, uint16_t *const yuv[3],
                      int width)
{
    const float k[4] = {(float)m[0], (float)m[1], (float)m[2], (float)(offset * 256.0 + 0.5)};

    for (int x = 0; x < width; x++) {
        const float sum = k[0] * yuv[0][x] + k[1] * yuv[1][x] + k[2] * yuv[2][x] + k[3];

        out[x] = (uint16_t)(sum < 0.0F ? 0.0F : sum > 65535.0F ? 65535.0F : sum);
    }
}

static void convert_words(struct frame *dst, const struct frame *src, bool identity)
{
    const struct format_info *info = &format_table[dst->format];
    uint16_t y[FRAME_MAX_SIDE], u[FRAME_MAX_SIDE], v[FRAME_MAX_SIDE], out[FRAME_MAX_SIDE];
    uint16_t *const yuv[3] = {y, u, v};
    double m[3][3], offset[3];

    colour_convert(src->colour, dst->colour, m, offset);
    for (int c = 0; c < info->components; c++) {
        const struct samples to = frame_samples(dst, c);

        for (int row = 0; row < to.height; row++) {
            for (int i = identity ? c : 0; i < (identity ? c + 1 : 3); i++)
                fetch_words(yuv[i], src, i, c ? info->hshift : 0, c ? info->vshift : 0, row);
            if (!identity)
                mix_words(out, m[c], offset[c], yuv, to.width);
            scatter_words(dst, &to, row, identity ? yuv[c] : out);
        }
    }
}

void convert_frame(struct frame *dst, const struct frame *src)
{
    const struct conversion c = conversion_between(src->colour, dst->colour);

    if (c.identity && dst->format == src->format) {
        frame_copy(dst, src);
        return;
    }
    if (format_table[dst->format].bytes > 1 || format_table[src->format].bytes > 1) {
        convert_words(dst, src, c.identity);
        return;
    }
    if (dst->format == FRAME_YUYV || dst->format == FRAME_UYVY)
        convert_packed(dst, src, &c);
    else
        convert_planes(dst, src, &c);
}

/* --- on several threads --- */

/* @begin is even. */
static struct frame rows_of(const struct frame *f, int begin, int end)
{
    const struct format_info *info = &format_table[f->format];
    struct frame rows = *f;

    for (int i = 0; i < info->planes; i++)
        rows.plane[i] += (size_t)(begin >> (i ? info->vshift : 0)) * f->stride[i];
    rows.height = end - begin;
    return rows;
}

struct conversion_job {
    const struct frame *dst, *src;
};

static void convert_band(void *arg, int worker, int item)
{
    const struct conversion_job *job = arg;
    const int begin = item * BAND_ROWS, height = job->src->height;
    const int end = begin + BAND_ROWS < height ? begin + BAND_ROWS : height;
    struct frame dst = rows_of(job->dst, begin, end);
    const struct frame src = rows_of(job->src, begin, end);

    (void)worker;
    convert_frame(&dst, &src);
}

void convert_frame_by(struct workers *w, struct frame *dst, const struct frame *src)
{
    struct conversion_job job = {dst, src};

    workers_run(w, convert_band, &job, (src->height + BAND_ROWS - 1) / BAND_ROWS);
}
