/* DESIGN. Each component is scaled by itself. Along an axis, sample i of the output lies between
 * samples at[i].index and the next of the input; its weight is that of the next one in 1/256. Both
 * axes of luma and of chroma have such a table. */
#include "picture/scale.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "picture/colour.h"

#define ONE 256U

struct step {
    uint16_t index, next;
    uint16_t weight; /* of `next`, out of ONE */
};

struct axis {
    int first, n; /* samples of the output that the picture fills */
    struct step *at;
};

struct scaler {
    struct frame src;       /* what it was made for, without planes */
    struct axis axis[2][2]; /* [luma, chroma][x, y] */
};

/* Where @n samples of the output, of which the centre of the first is half a step from the edge,
 * fall among @n_src of the input. */
static int axis_init(struct axis *a, int first, int n, int n_src)
{
    a->first = first;
    a->n = n;
    a->at = calloc((size_t)n, sizeof(*a->at));
    if (!a->at)
        return -ENOMEM;
    for (int i = 0; i < n; i++) {
        const double centre = (i + 0.5) * n_src / n - 0.5;
        const double x = centre < 0.0 ? 0.0 : centre > n_src - 1 ? n_src - 1 : centre;
        const int index = (int)x;

        a->at[i].index = (uint16_t)index;
        a->at[i].next = (uint16_t)(index + 1 < n_src ? index + 1 : index);
        a->at[i].weight = (uint16_t)((x - index) * ONE + 0.5);
    }
    return 0;
}

/* The largest even part of @side that keeps the shape @w x @h within @w_most x @h_most. */
static void fit(int w, int h, int w_most, int h_most, int *ret_w, int *ret_h)
{
    if ((int64_t)w * h_most > (int64_t)h * w_most) {
        *ret_w = w_most;
        *ret_h = (int)((int64_t)h * w_most / w) / 2 * 2;
    } else {
        *ret_w = (int)((int64_t)w * h_most / h) / 2 * 2;
        *ret_h = h_most;
    }
    if (*ret_w < 2)
        *ret_w = 2;
    if (*ret_h < 2)
        *ret_h = h_most < 2 ? h_most : 2;
}

static int shifted(int n, int shift)
{
    return (n + (1 << shift) - 1) >> shift;
}

int scaler_create(struct scaler **ret, const struct frame *dst, const struct frame *src)
{
    const struct format_info *const to = &format_table[dst->format];
    const struct format_info *const from = &format_table[src->format];
    struct scaler *s = calloc(1, sizeof(*s));
    int w, h, r = 0;

    if (!s)
        return -ENOMEM;
    s->src = frame_like(src);
    fit(src->width, src->height, dst->width, dst->height, &w, &h);
    for (int chroma = 0; chroma < 2 && !r; chroma++) {
        const int hs = chroma ? to->hshift : 0, vs = chroma ? to->vshift : 0;
        const int from_hs = chroma ? from->hshift : 0, from_vs = chroma ? from->vshift : 0;
        const int x = (dst->width - w) / 4 * 2, y = (dst->height - h) / 4 * 2;

        r = axis_init(&s->axis[chroma][0], x >> hs, shifted(w, hs), shifted(src->width, from_hs));
        if (!r)
            r = axis_init(&s->axis[chroma][1], y >> vs, shifted(h, vs),
                          shifted(src->height, from_vs));
    }
    if (r) {
        scaler_destroy(s);
        return r;
    }
    *ret = s;
    return 0;
}

void scaler_destroy(struct scaler *s)
{
    if (!s)
        return;
    for (int i = 0; i < 4; i++)
        free(s->axis[i / 2][i % 2].at);
    free(s);
}

bool scaler_suits(const struct scaler *s, const struct frame *src)
{
    return s && s->src.width == src->width && s->src.height == src->height &&
           s->src.format == src->format;
}

/* Bytes of samples. */
struct sizes {
    int to, from;
};

static inline void put(uint8_t *at, uint32_t value, int bytes)
{
    const uint16_t word = (uint16_t)value;

    if (bytes == 1)
        *at = (uint8_t)value;
    else
        memcpy(at, &word, sizeof(word));
}

static inline uint32_t get(const uint8_t *at, struct sizes bytes)
{
    uint16_t word;

    if (bytes.from == 1)
        return bytes.to == 1 ? *at : (uint32_t)*at << 8;
    memcpy(&word, at, sizeof(word));
    return bytes.to == 1 ? (word < 0xff80 ? (word + 128U) >> 8 : 255) : word;
}

/* With an 8-bit level. */
static void fill(const struct samples *s, int value, int bytes)
{
    for (int y = 0; y < s->height; y++)
        for (int x = 0; x < s->width; x++)
            put(&s->base[(size_t)y * s->stride + (size_t)(x * s->step)],
                (uint32_t)value << (8 * (bytes - 1)), bytes);
}

static inline void scale_row(uint8_t *out, int step, const struct axis *x, const uint8_t *above,
                             const uint8_t *below, uint32_t weight, int src_step,
                             struct sizes bytes)
{
    for (int i = 0; i < x->n; i++) {
        const struct step a = x->at[i];
        const int left = a.index * src_step, right = a.next * src_step;
        const uint32_t upper =
            get(above + left, bytes) * (ONE - a.weight) + get(above + right, bytes) * a.weight;
        const uint32_t lower =
            get(below + left, bytes) * (ONE - a.weight) + get(below + right, bytes) * a.weight;

        put(out + i * step, (upper * (ONE - weight) + lower * weight + ONE * ONE / 2) / (ONE * ONE),
            bytes.to);
    }
}

static void scale(const struct axis axis[2], const struct samples *to, const struct samples *from,
                  struct sizes bytes)
{
    for (int i = 0; i < axis[1].n; i++) {
        const struct step a = axis[1].at[i];
        uint8_t *out = to->base + (size_t)(axis[1].first + i) * to->stride +
                       (size_t)(axis[0].first * to->step);
        const uint8_t *above = from->base + a.index * from->stride;
        const uint8_t *below = from->base + a.next * from->stride;

        if (bytes.to == 1 && bytes.from == 1) /* a loop of its own */
            scale_row(out, to->step, &axis[0], above, below, a.weight, from->step,
                      (struct sizes){1, 1});
        else
            scale_row(out, to->step, &axis[0], above, below, a.weight, from->step, bytes);
    }
}

void scaler_run(const struct scaler *s, struct frame *dst, const struct frame *src)
{
    const int components = format_table[dst->format].components;
    const struct sizes bytes = {format_table[dst->format].bytes, format_table[src->format].bytes};

    for (int c = 0; c < components; c++) {
        const struct samples to = frame_samples(dst, c);
        const struct axis *const axis = s->axis[c > 0];

        if (axis[0].n < to.width || axis[1].n < to.height)
            fill(&to, colour_zero(dst->colour, c), bytes.to);
        if (c < format_table[src->format].components) {
            const struct samples from = frame_samples(src, c);

            scale(axis, &to, &from, bytes);
        } else {
            fill(&to, 128, bytes.to);
        }
    }
}
