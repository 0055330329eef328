#include "picture/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct format_info format_table[FRAME_N_FORMATS] = {
    [FRAME_YUYV] = {"yuyv", 1, 3, 1, 1, 0, {{0, 0, 2}, {0, 1, 4}, {0, 3, 4}}},
    [FRAME_UYVY] = {"uyvy", 1, 3, 1, 1, 0, {{0, 1, 2}, {0, 0, 4}, {0, 2, 4}}},
    [FRAME_NV12] = {"nv12", 2, 3, 1, 1, 1, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}},
    [FRAME_I420] = {"yu12", 3, 3, 1, 1, 1, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}},
    [FRAME_I422] = {"422p", 3, 3, 1, 1, 0, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}},
    [FRAME_I444] = {"444p", 3, 3, 1, 0, 0, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}},
    [FRAME_GREY] = {"grey", 1, 1, 1, 0, 0, {{0, 0, 1}}},
    [FRAME_RGB24] = {"rgb24", 1, 3, 1, 0, 0, {{0, 1, 3}, {0, 2, 3}, {0, 0, 3}}},
    [FRAME_BGR24] = {"bgr24", 1, 3, 1, 0, 0, {{0, 1, 3}, {0, 0, 3}, {0, 2, 3}}},
    [FRAME_GREY16] = {"y16", 1, 1, 2, 0, 0, {{0, 0, 2}}},
    [FRAME_I420_16] = {"420p16", 3, 3, 2, 1, 1, {{0, 0, 2}, {1, 0, 2}, {2, 0, 2}}},
    [FRAME_I422_16] = {"422p16", 3, 3, 2, 1, 0, {{0, 0, 2}, {1, 0, 2}, {2, 0, 2}}},
    [FRAME_I444_16] = {"444p16", 3, 3, 2, 0, 0, {{0, 0, 2}, {1, 0, 2}, {2, 0, 2}}},
    [FRAME_MJPG] = {.name = "mjpg"},
};

static int shifted(int n, int shift)
{
    return (n + (1 << shift) - 1) >> shift;
}

struct samples frame_samples(const struct frame *f, int component)
{
    const struct format_info *info = &format_table[f->format];
    const struct component_layout *c = &info->component[component];
    const bool chroma = component > 0;

    return (struct samples){
        .base = f->plane[c->plane] + c->offset,
        .stride = f->stride[c->plane],
        .step = c->step,
        .width = chroma ? shifted(f->width, info->hshift) : f->width,
        .height = chroma ? shifted(f->height, info->vshift) : f->height,
    };
}

/* Files and cameras may have words anywhere. */
static int sample_at(const uint8_t *p, int bytes)
{
    uint16_t word;

    if (bytes == 1)
        return *p;
    memcpy(&word, p, sizeof(word));
    return word;
}

int frame_sample(const struct frame *f, int component, int x, int y)
{
    const struct samples s = frame_samples(f, component);

    return sample_at(s.base + (size_t)y * s.stride + (size_t)x * (size_t)s.step,
                     format_table[f->format].bytes);
}

double frame_level(const struct frame *f, int component, int x, int y)
{
    return frame_sample(f, component, x, y) / (format_table[f->format].bytes > 1 ? 256.0 : 1.0);
}

int frame_byte(const struct frame *f, int component, int x, int y)
{
    return frame_sample(f, component, x, y) >> (format_table[f->format].bytes > 1 ? 8 : 0);
}

int frame_plane_rows(const struct frame *f, int plane)
{
    return plane ? shifted(f->height, format_table[f->format].vshift) : f->height;
}

size_t format_row_bytes(const struct format_info *info, int plane, int width)
{
    size_t samples = 0;

    for (int c = 0; c < info->components; c++)
        if (info->component[c].plane == plane)
            samples += (size_t)(c ? shifted(width, info->hshift) : width);
    return samples * info->bytes;
}

size_t frame_row_bytes(const struct frame *f, int plane)
{
    return format_row_bytes(&format_table[f->format], plane, f->width);
}

static size_t layout(struct frame *f, size_t align)
{
    size_t total = 0;

    for (int p = 0; p < format_table[f->format].planes; p++) {
        f->stride[p] = (frame_row_bytes(f, p) + align - 1) / align * align;
        total += f->stride[p] * (size_t)frame_plane_rows(f, p);
    }
    return total;
}

size_t frame_layout(struct frame *f)
{
    return layout(f, FRAME_ALIGN);
}

size_t frame_layout_packed(struct frame *f)
{
    return layout(f, 1);
}

void frame_attach(struct frame *f, void *memory)
{
    uint8_t *p = memory;

    for (int i = 0; i < format_table[f->format].planes; i++) {
        f->plane[i] = p;
        p += f->stride[i] * (size_t)frame_plane_rows(f, i);
    }
}

int frame_alloc(struct frame *f)
{
    const size_t size = frame_layout(f);
    void *memory = aligned_alloc(FRAME_ALIGN, (size + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN);

    if (!memory)
        return -ENOMEM;
    frame_attach(f, memory);
    return 0;
}

void frame_free(struct frame *f)
{
    free(f->plane[0]);
    f->plane[0] = NULL;
}

void frame_copy(struct frame *dst, const struct frame *src)
{
    for (int p = 0; p < format_table[src->format].planes; p++) {
        const size_t bytes = frame_row_bytes(src, p);
        const int rows = frame_plane_rows(src, p);

        if (bytes == src->stride[p] && bytes == dst->stride[p]) {
            memcpy(dst->plane[p], src->plane[p], bytes * (size_t)rows);
            continue;
        }
        for (int y = 0; y < rows; y++)
            memcpy(dst->plane[p] + (size_t)y * dst->stride[p],
                   src->plane[p] + (size_t)y * src->stride[p], bytes);
    }
}

static double row_error(const uint8_t *p, const uint8_t *q, int n)
{
    uint32_t sum = 0; /* room for the widest row */

    for (int x = 0; x < n; x++) {
        const int16_t d = (int16_t)(p[x] - q[x]);

        sum += (uint32_t)(d * d);
    }
    return sum;
}

static double row_error16(const uint8_t *p, const uint8_t *q, int n)
{
    double sum = 0.0;

    for (int x = 0; x < n; x += 2) {
        const double d = sample_at(p + x, 2) - sample_at(q + x, 2);

        sum += d * d;
    }
    return sum / (256.0 * 256.0);
}

double frame_squared_error(const struct frame *a, const struct frame *b)
{
    double sum = 0.0;

    for (int i = 0; i < format_table[a->format].planes; i++) {
        const int n = (int)frame_row_bytes(a, i);

        for (int y = 0; y < frame_plane_rows(a, i); y++) {
            const uint8_t *p = a->plane[i] + (size_t)y * a->stride[i];
            const uint8_t *q = b->plane[i] + (size_t)y * b->stride[i];

            sum += format_table[a->format].bytes == 1 ? row_error(p, q, n) : row_error16(p, q, n);
        }
    }
    return sum;
}

int frame_count_columns(const struct frame *f)
{
    return (f->width + FRAME_COUNT_BLOCK - 1) / FRAME_COUNT_BLOCK;
}

int frame_count_rows(const struct frame *f)
{
    return (f->height + FRAME_COUNT_BLOCK - 1) / FRAME_COUNT_BLOCK;
}

size_t frame_counts_size(const struct frame *f)
{
    return (size_t)frame_count_columns(f) * (size_t)frame_count_rows(f);
}

bool frame_alike(const struct frame *a, const struct frame *b)
{
    return a->format == b->format && a->width == b->width && a->height == b->height &&
           a->colour.matrix == b->colour.matrix && a->colour.range == b->colour.range;
}

struct frame frame_like(const struct frame *like)
{
    return (struct frame){
        .format = like->format,
        .width = like->width,
        .height = like->height,
        .colour = like->colour,
    };
}

int format_from_name(const char *name)
{
    for (int i = 0; i < FRAME_N_FORMATS; i++)
        if (!strcmp(name, format_table[i].name))
            return i;
    return -1;
}

enum frame_format format_with_bytes(enum frame_format format, int bytes)
{
    static const enum frame_format pairs[][2] = {{FRAME_GREY, FRAME_GREY16},
                                                 {FRAME_I420, FRAME_I420_16},
                                                 {FRAME_I422, FRAME_I422_16},
                                                 {FRAME_I444, FRAME_I444_16}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i][0] == format || pairs[i][1] == format)
            return pairs[i][bytes - 1];
    return format;
}

bool format_filtered(enum frame_format format)
{
    return format_table[format].planes && format != FRAME_RGB24 && format != FRAME_BGR24;
}

const char *frame_size_problem(int width, int height)
{
    if (width < 2 || height < 1)
        return "the picture must be at least 2x1 pixels";
    if (width > FRAME_MAX_SIDE || height > FRAME_MAX_SIDE)
        return "the picture may be at most 16384 pixels wide and high";
    if (width % 2)
        return "the width must be even";
    return NULL;
}
