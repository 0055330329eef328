#pragma once
/* The sums of engine/time/noise_blocks.h for a row of blocks, as every set of row kernels compiles
 * them: the same integers. */
#include <stdlib.h>
#include <string.h>

#include "engine/simd/time/noise.h"

#define NOISE_PIXELS (NOISE_BLOCK * NOISE_BLOCK)

/* One component of a block, chroma repeated on the luma grid. */
struct noise_samples {
    int16_t at[NOISE_PIXELS];
};

/* S_ij, added up over @n pixels: of no more than fit 32 bits. */
static inline void noise_products3(int32_t ret[6], const int16_t *a, const int16_t *b,
                                   const int16_t *c, const int n)
{
    int32_t aa = 0, ab = 0, bb = 0, ac = 0, bc = 0, cc = 0;

    for (int i = 0; i < n; i++) {
        aa += a[i] * a[i];
        ab += a[i] * b[i];
        bb += b[i] * b[i];
        ac += a[i] * c[i];
        bc += b[i] * c[i];
        cc += c[i] * c[i];
    }
    memcpy(ret, (const int32_t[6]){aa, ab, bb, ac, bc, cc}, 6 * sizeof(aa));
}

static inline int32_t noise_squares(const int16_t *a, const int n)
{
    int32_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += a[i] * a[i];
    return sum;
}

/* In @parts, so that sums of smoothed samples fit 32 bits, too. */
static inline void noise_products(struct noise_moments *m, const struct noise_samples c[3],
                                  int components, const int parts)
{
    const int n = NOISE_PIXELS / parts;

    for (int k = 0; k < NOISE_PIXELS; k += n) {
        int32_t sum[6];

        if (components == 1) {
            m->ss[0][0] += noise_squares(c[0].at + k, n);
            continue;
        }
        noise_products3(sum, c[0].at + k, c[1].at + k, c[2].at + k, n);
        for (int i = 0, at = 0; i < 3; i++)
            for (int l = 0; l <= i; l++)
                m->ss[i][l] += sum[at++];
    }
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < i; l++)
            m->ss[l][i] = m->ss[i][l];
}

/* Sums of samples, and with their rows and columns; of small samples, which fit 16 bits. */
static inline void noise_sums_of(struct noise_moments *m, const struct noise_samples *c, int i)
{
    int16_t column[NOISE_BLOCK] = {0}, weighed[NOISE_BLOCK] = {0};
    int32_t s = 0, a = 0, b = 0;

    for (int y = 0; y < NOISE_BLOCK; y++)
        for (int x = 0; x < NOISE_BLOCK; x++) {
            const int16_t v = c->at[NOISE_BLOCK * y + x];

            column[x] = (int16_t)(column[x] + v);
            weighed[x] = (int16_t)(weighed[x] + v * y);
        }
    for (int x = 0; x < NOISE_BLOCK; x++) {
        s += column[x];
        a += column[x] * (2 * x - (NOISE_BLOCK - 1));
        b += weighed[x];
    }
    m->s[i] = s;
    m->a[i] = a;
    m->b[i] = 2 * b - (NOISE_BLOCK - 1) * s;
}

static inline int32_t noise_sum(const struct noise_samples *c)
{
    int32_t sum = 0;

    for (int i = 0; i < NOISE_PIXELS; i++)
        sum += c->at[i];
    return sum;
}

/* Differences of @n samples, each twice. */
static inline void noise_twice(int16_t *to, const uint8_t *p, const uint8_t *q, const int n)
{
    uint32_t both[NOISE_BLOCK / 2];

    for (int x = 0; x < n; x++)
        both[x] = (uint16_t)(p[x] - (q ? q[x] : 0)) * 0x10001U;
    memcpy(to, both, (size_t)n * sizeof(both[0]));
}

static inline void noise_load(struct noise_samples *c, const uint8_t *p, size_t stride, int hshift,
                              int vshift)
{
    for (int y = 0; y < NOISE_BLOCK; y++) {
        const uint8_t *row = p + (size_t)(y >> vshift) * stride;
        int16_t *to = c->at + NOISE_BLOCK * y;

        if (hshift)
            noise_twice(to, row, NULL, NOISE_BLOCK / 2);
        else
            for (int x = 0; x < NOISE_BLOCK; x++)
                to[x] = row[x];
    }
}

/* @side x @side samples less where they were. */
static inline __attribute__((always_inline)) void noise_load_moved(int16_t *to, const uint8_t *p,
                                                                   const uint8_t *q, size_t stride,
                                                                   int hshift, int vshift,
                                                                   const int side)
{
    for (int y = 0; y < side; y++, to += NOISE_BLOCK) {
        const size_t row = (size_t)(y >> vshift) * stride;

        if (hshift)
            noise_twice(to, p + row, q + row, side / 2);
        else
            for (int x = 0; x < side; x++)
                to[x] = (int16_t)(p[row + (size_t)x] - q[row + (size_t)x]);
    }
}

/* Where a quarter of a block was, in samples of a component. */
static inline ptrdiff_t noise_away(const struct noise_job *j, int component, int x, int y)
{
    const struct format_info *info = &format_table[j->now->format];
    const int hs = component ? info->hshift : 0, vs = component ? info->vshift : 0;
    const int cols = (j->now->width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    const struct motion_vector *v = j->vectors;

    if (!v)
        return 0;
    v += y / MOTION_BLOCK * cols + x / MOTION_BLOCK;
    return (ptrdiff_t)(noise_whole(v->y, vs) / (1 << vs)) * (ptrdiff_t)j->now->stride[component] +
           noise_whole(v->x, hs) / (1 << hs);
}

static inline void noise_move(const struct noise_job *j, struct noise_samples *c, int component,
                              int x0, int y0)
{
    const struct format_info *info = &format_table[j->now->format];
    const int hs = component ? info->hshift : 0, vs = component ? info->vshift : 0;
    const size_t stride = j->now->stride[component];
    const size_t at = (size_t)(y0 >> vs) * stride + (size_t)(x0 >> hs);
    const uint8_t *p = j->now->plane[component] + at, *q = j->before->plane[component] + at;
    ptrdiff_t away[4];

    for (int k = 0; k < 4; k++)
        away[k] = noise_away(j, component, x0 + k % 2 * MOTION_BLOCK, y0 + k / 2 * MOTION_BLOCK);
    if (away[0] == away[1] && away[0] == away[2] && away[0] == away[3]) {
        noise_load_moved(c->at, p, q + away[0], stride, hs, vs, NOISE_BLOCK);
        return;
    }
    for (int k = 0; k < 4; k++) {
        const int x = k % 2 * MOTION_BLOCK, y = k / 2 * MOTION_BLOCK;
        const size_t in = (size_t)(y >> vs) * stride + (size_t)(x >> hs);

        noise_load_moved(c->at + y * NOISE_BLOCK + x, p + in, q + in + away[k], stride, hs, vs,
                         MOTION_BLOCK);
    }
}

/* 16 times the binomial mean, 0 at the edge of the block. */
static inline void noise_smooth(struct noise_samples *restrict to,
                                const struct noise_samples *restrict from)
{
    int16_t down[NOISE_PIXELS];

    memset(to->at, 0, NOISE_BLOCK * sizeof(to->at[0]));
    memset(to->at + NOISE_PIXELS - NOISE_BLOCK, 0, NOISE_BLOCK * sizeof(to->at[0]));
    for (int i = NOISE_BLOCK; i < NOISE_PIXELS - NOISE_BLOCK; i++)
        down[i] =
            (int16_t)(from->at[i - NOISE_BLOCK] + 2 * from->at[i] + from->at[i + NOISE_BLOCK]);
    for (int i = NOISE_BLOCK + 1; i < NOISE_PIXELS - NOISE_BLOCK - 1; i++)
        to->at[i] = (int16_t)(down[i - 1] + 2 * down[i] + down[i + 1]);
    for (int y = 1; y < NOISE_BLOCK - 1; y++)
        to->at[NOISE_BLOCK * y] = to->at[NOISE_BLOCK * y + NOISE_BLOCK - 1] = 0;
}

static void noise_block(const struct noise_job *j, struct noise_sums *sums, int x0, int y0)
{
    const struct format_info *info = &format_table[j->now->format];
    struct noise_samples c[3], smoothed[3];
    struct noise_moments still = {0}, moved = {0}, left = {0};

    for (int i = 0; i < info->components; i++) {
        const int hs = i ? info->hshift : 0, vs = i ? info->vshift : 0;
        const size_t stride = j->now->stride[i];

        noise_load(&c[i], j->now->plane[i] + (size_t)(y0 >> vs) * stride + (x0 >> hs), stride, hs,
                   vs);
        noise_sums_of(&still, &c[i], i);
    }
    noise_products(&still, c, info->components, 1);
    for (int i = 0; i < info->components && j->before; i++) {
        noise_move(j, &c[i], i, x0, y0);
        moved.s[i] = noise_sum(&c[i]);
        noise_smooth(&smoothed[i], &c[i]);
        left.s[i] = noise_sum(&smoothed[i]);
    }
    if (j->before) {
        noise_products(&moved, c, info->components, 1);
        noise_products(&left, smoothed, info->components, 2);
    }
    noise_count(sums, &j->form, &still, j->before ? &moved : NULL, j->before ? &left : NULL);
}

static inline void noise_row(const struct noise_job *j, struct noise_sums *sums, int row)
{
    for (int x = 0; x + NOISE_BLOCK <= j->now->width; x += NOISE_BLOCK)
        noise_block(j, sums, x, NOISE_BLOCK * row);
}
