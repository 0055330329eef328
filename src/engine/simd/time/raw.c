#include "engine/simd/time/raw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a plane. */
struct rows {
    int first, last;
};

static enum frame_format planes_of(enum frame_format format)
{
    return format == FRAME_YUYV || format == FRAME_UYVY ? FRAME_I422
           : format == FRAME_NV12                       ? FRAME_I420
                                                        : format_with_bytes(format, 1);
}

static int alloc_as(struct frame *f, const struct frame *in, enum frame_format format)
{
    size_t start[3] = {0}, n = 0;
    uint8_t *memory;

    *f = frame_like(in);
    f->format = format;
    for (int p = 0; p < format_table[f->format].planes; p++) {
        /* An odd multiple, so that the rows of a block do not share a few lines of the cache. */
        f->stride[p] = (frame_row_bytes(f, p) + 3 * RAW_PAD - 1) / RAW_PAD * RAW_PAD | RAW_PAD;
        start[p] = n + RAW_PAD * (f->stride[p] + 1);
        n += f->stride[p] * (size_t)(frame_plane_rows(f, p) + 2 * RAW_PAD);
    }
    memory = calloc(n, 1);
    if (!memory)
        return -ENOMEM;
    for (int p = 0; p < format_table[f->format].planes; p++)
        f->plane[p] = memory + start[p];
    return 0;
}

int raw_alloc(struct frame *f, const struct frame *in)
{
    return alloc_as(f, in, planes_of(in->format));
}

int raw_alloc_words(struct frame *f, const struct frame *in)
{
    return alloc_as(f, in, in->format);
}

void raw_free(struct frame *f)
{
    if (f->plane[0])
        free(f->plane[0] - RAW_PAD * (f->stride[0] + 1));
    *f = (struct frame){0};
}

static struct rows rows_of(const struct frame *f, int plane, int first, int last)
{
    const int vshift = plane ? format_table[f->format].vshift : 0;

    return (struct rows){first >> vshift, (last + vshift) >> vshift};
}

/* A row of luma and its chroma from a packed format; @chroma has room for a row. */
static void split_packed(const struct frame *f, const struct row_kernels *kernels,
                         const struct frame *in, int y, uint8_t *chroma)
{
    if (in->format == FRAME_YUYV)
        kernels->split(raw_row(in, 0, y), raw_row(f, 0, y), chroma, f->width);
    else
        kernels->split(raw_row(in, 0, y), chroma, raw_row(f, 0, y), f->width);
    kernels->split(chroma, raw_row(f, 1, y), raw_row(f, 2, y), f->width / 2);
}

static void copy_rows(const struct frame *f, const struct row_kernels *kernels,
                      const struct frame *in, int plane, struct rows rows)
{
    for (int y = rows.first; y < rows.last; y++)
        if (in->format == FRAME_NV12 && plane == 1)
            kernels->split(raw_row(in, 1, y), raw_row(f, 1, y), raw_row(f, 2, y), f->width / 2);
        else
            memcpy(raw_row(f, plane, y), raw_row(in, plane, y), frame_row_bytes(f, plane));
}

/* @scratch has room for a row. */
static void take_upper_bytes(const struct frame *f, const struct row_kernels *kernels,
                             const struct frame *in, int plane, struct rows rows, uint8_t *scratch)
{
    for (int y = rows.first; y < rows.last; y++)
        kernels->split(raw_row(in, plane, y), scratch, raw_row(f, plane, y),
                       (int)frame_row_bytes(f, plane));
}

static void pad(const struct frame *f, int plane, struct rows rows)
{
    const size_t n = frame_row_bytes(f, plane), all = n + 2 * RAW_PAD;
    const int height = frame_plane_rows(f, plane);

    for (int y = rows.first; y < rows.last; y++) {
        uint8_t *row = raw_row(f, plane, y);

        memset(row - RAW_PAD, row[0], RAW_PAD);
        memset(row + n, row[n - 1], RAW_PAD);
    }
    for (int i = 1; i <= RAW_PAD; i++) {
        if (rows.first == 0)
            memcpy(raw_row(f, plane, 0) - (size_t)i * f->stride[plane] - RAW_PAD,
                   raw_row(f, plane, 0) - RAW_PAD, all);
        if (rows.last == height)
            memcpy(raw_row(f, plane, height - 1 + i) - RAW_PAD,
                   raw_row(f, plane, height - 1) - RAW_PAD, all);
    }
}

void raw_take(struct frame *f, const struct row_kernels *kernels, const struct frame *in, int first,
              int last)
{
    uint8_t scratch[FRAME_MAX_SIDE];

    if (in->format == FRAME_YUYV || in->format == FRAME_UYVY)
        for (int y = first; y < last; y++)
            split_packed(f, kernels, in, y, scratch);
    else if (format_table[in->format].bytes > 1)
        for (int p = 0; p < format_table[in->format].planes; p++)
            take_upper_bytes(f, kernels, in, p, rows_of(f, p, first, last), scratch);
    else
        for (int p = 0; p < format_table[in->format].planes; p++)
            copy_rows(f, kernels, in, p, rows_of(f, p, first, last));
    for (int p = 0; p < format_table[f->format].planes; p++)
        pad(f, p, rows_of(f, p, first, last));
}

void raw_take_words(struct frame *f, const struct frame *in, int first, int last)
{
    for (int p = 0; p < format_table[f->format].planes; p++) {
        const struct rows rows = rows_of(f, p, first, last);

        for (int y = rows.first; y < rows.last; y++)
            memcpy(raw_row(f, p, y), raw_row(in, p, y), frame_row_bytes(f, p));
    }
}

bool raw_same(const struct frame *a, const struct frame *b, int first, int last)
{
    for (int p = 0; p < format_table[a->format].planes; p++) {
        const struct rows rows = rows_of(a, p, first, last);

        for (int y = rows.first; y < rows.last; y++)
            if (memcmp(raw_row(a, p, y), raw_row(b, p, y), frame_row_bytes(a, p)))
                return false;
    }
    return true;
}
