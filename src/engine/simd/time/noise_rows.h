#pragma once
/* The sums of engine/time/noise_blocks.h for a row of blocks, as every set of row kernels compiles
 * them: the same integers. */
#include <stdlib.h>
#include <string.h>

#include "engine/simd/time/noise_samples.h"
#ifdef __AVX2__
#include "engine/simd/time/noise_left_avx2.h"
#else
#include "engine/simd/time/noise_left.h"
#endif

/* --- sums --- */

/* Of no more than fits 32 bits. */
NOISE_STEP int32_t noise_product(const int16_t *a, const int16_t *b, int n)
{
    int32_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* S, A and B of one component. */
NOISE_STEP void noise_planes(struct noise_moments *m, int i, const int16_t *c,
                             const struct noise_shape *shape)
{
    int32_t s = 0, a = 0, b = 0;

    for (int k = 0; k < shape->n; k++) {
        s += c[k] * shape->one.at[k];
        a += c[k] * shape->across.at[k];
        b += c[k] * shape->down.at[k];
    }
    m->s[i] = s;
    m->a[i] = a;
    m->b[i] = b;
}

/* S_ij of chroma over @n samples, each shared by @pixels; @luma has their sums. */
NOISE_STEP void noise_products(struct noise_moments *m, const int16_t *luma, const int16_t *u,
                               const int16_t *v, int n, int pixels)
{
    int32_t yu = 0, yv = 0, uu = 0, uv = 0, vv = 0;

    for (int i = 0; i < n; i++) {
        yu += luma[i] * u[i];
        yv += luma[i] * v[i];
        uu += u[i] * u[i];
        uv += u[i] * v[i];
        vv += v[i] * v[i];
    }
    m->ss[0][1] = m->ss[1][0] = yu;
    m->ss[0][2] = m->ss[2][0] = yv;
    m->ss[1][1] = pixels * uu;
    m->ss[1][2] = m->ss[2][1] = pixels * uv;
    m->ss[2][2] = pixels * vv;
}

/* Luma added up over the pixels of each sample of chroma. */
NOISE_STEP const int16_t *noise_fold(struct noise_samples *to, const struct noise_samples *luma,
                                     const struct noise_shape *chroma)
{
    if (!chroma->hshift)
        return luma->at;
    for (int i = 0; i < NOISE_PIXELS / 2; i++) {
        uint32_t both;

        memcpy(&both, luma->at + 2 * i, sizeof(both));
        to->at[i] = (int16_t)((both & 0xFFFF) + (both >> 16));
    }
    for (int y = 0; chroma->vshift && y < NOISE_BLOCK / 2; y++)
        for (int x = 0; x < NOISE_BLOCK / 2; x++)
            to->at[NOISE_BLOCK / 2 * y + x] =
                (int16_t)(to->at[NOISE_BLOCK * y + x] +
                          to->at[NOISE_BLOCK * y + x + NOISE_BLOCK / 2]);
    return to->at;
}

static inline void noise_all_products(struct noise_moments *m, const struct noise_samples c[3],
                                      const struct noise_shape shape[2], int components)
{
    struct noise_samples folded;

    m->ss[0][0] = noise_product(c[0].at, c[0].at, NOISE_PIXELS);
    if (components > 1)
        noise_products(m, noise_fold(&folded, &c[0], &shape[1]), c[1].at, c[2].at, shape[1].n,
                       shape[1].pixels);
}

/* --- samples --- */

NOISE_STEP void noise_copy(uint8_t *to, int pitch, const uint8_t *from, size_t stride, int width,
                           int height)
{
    for (int y = 0; y < height; y++, to += pitch, from += stride) {
        __builtin_prefetch(from + 128); /* too many rows for a processor to see by itself */
        if (width == 16)
            memcpy(to, from, 16);
        else if (width == 8)
            memcpy(to, from, 8);
        else
            memcpy(to, from, 4);
    }
}

static inline const uint8_t *noise_at(const struct frame *f, int component,
                                      const struct noise_shape *shape, int x0, int y0)
{
    return f->plane[component] + (size_t)(y0 >> shape->vshift) * f->stride[component] +
           (size_t)(x0 >> shape->hshift);
}

/* How far away in memory what is at @v is. */
static inline ptrdiff_t noise_away(struct motion_vector v, const struct noise_shape *shape,
                                   size_t stride)
{
    const int x = noise_whole(v.x, shape->hshift), y = noise_whole(v.y, shape->vshift);

    /* Of constants, which a processor divides by much sooner. */
    return (shape->vshift ? y / 2 : y) * (ptrdiff_t)stride + (shape->hshift ? x / 2 : x);
}

/* What was where the block was; @v are the vectors of its quarters. */
static inline void noise_before(struct noise_bytes *to, const struct frame *f, int component,
                                const struct noise_shape *shape, const struct motion_vector v[4],
                                int x0, int y0)
{
    const int width = shape->width / 2, height = shape->height / 2;
    const size_t stride = f->stride[component];
    const uint8_t *from = noise_at(f, component, shape, x0, y0);

    if (!memcmp(v, v + 1, 3 * sizeof(v[0]))) {
        noise_copy(to->at, shape->width, from + noise_away(v[0], shape, stride), stride,
                   shape->width, shape->height);
        return;
    }
    for (int k = 0; k < 4; k++) {
        const int x = k % 2 * width, y = k / 2 * height;

        noise_copy(to->at + y * shape->width + x, shape->width,
                   from + (size_t)y * stride + x + noise_away(v[k], shape, stride), stride, width,
                   height);
    }
}

static inline void noise_vectors(struct motion_vector ret[4], const struct noise_job *j, int x0,
                                 int y0)
{
    const int cols = (j->now->width + MOTION_BLOCK - 1) / MOTION_BLOCK;

    for (int k = 0; k < 4; k++)
        ret[k] = j->vectors
                     ? j->vectors[(y0 / MOTION_BLOCK + k / 2) * cols + x0 / MOTION_BLOCK + k % 2]
                     : (struct motion_vector){0, 0};
}

NOISE_STEP void noise_widen(struct noise_samples *restrict to, const struct noise_bytes *from,
                            int n)
{
    for (int i = 0; i < n; i++)
        to->at[i] = from->at[i];
}

NOISE_STEP void noise_differ(struct noise_samples *restrict to, const struct noise_bytes *a,
                             const struct noise_bytes *b, int n)
{
    for (int i = 0; i < n; i++)
        to->at[i] = (int16_t)(a->at[i] - b->at[i]);
}

/* @shape: of luma and of chroma. */
NOISE_STEP void noise_block(const struct noise_job *j, const struct noise_shape shape[2],
                            struct noise_sums *sums, int x0, int y0)
{
    const int components = format_table[j->now->format].components > 1 ? 3 : 1;
    struct noise_bytes now[3], before[3];
    struct noise_samples c[3];
    struct noise_moments still, moved, left;
    struct motion_vector v[4];

    noise_vectors(v, j, x0, y0);
    for (int i = 0; i < components; i++) {
        const struct noise_shape *p = &shape[i > 0];

        noise_copy(now[i].at, p->width, noise_at(j->now, i, p, x0, y0), j->now->stride[i], p->width,
                   p->height);
        if (j->before)
            noise_before(&before[i], j->before, i, p, v, x0, y0);
    }
    for (int i = 0; i < components; i++) {
        const struct noise_shape *p = &shape[i > 0];

        noise_widen(&c[i], &now[i], p->n);
        noise_planes(&still, i, c[i].at, p);
    }
    noise_all_products(&still, c, shape, components);
    if (!j->before) {
        noise_count(sums, &j->form, &still, NULL, NULL);
        return;
    }
    for (int i = 0; i < components; i++) {
        const struct noise_shape *p = &shape[i > 0];

        noise_differ(&c[i], &now[i], &before[i], p->n);
        moved.s[i] = noise_product(c[i].at, p->one.at, p->n);
    }
    noise_all_products(&moved, c, shape, components);
    noise_left(&left, c, shape, components);
    noise_count(sums, &j->form, &still, &moved, &left);
}

static inline void noise_row(const struct noise_job *j, struct noise_sums *sums, int row)
{
    const struct format_info *info = &format_table[j->now->format];
    struct noise_shape shape[2];

    noise_shape(&shape[0], 0, 0);
    noise_shape(&shape[1], info->hshift, info->vshift);
    for (int x = 0; x + NOISE_BLOCK <= j->now->width; x += NOISE_BLOCK)
        noise_block(j, shape, sums, x, NOISE_BLOCK * row);
}
