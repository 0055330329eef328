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

static inline int32_t noise_dot(const int16_t *a, const int16_t *b, int n)
{
    int32_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* S_ij of half a block at a time, so that those of smoothed samples fit 32 bits. */
static inline void noise_products(struct noise_moments *m, const struct noise_samples c[3],
                                  int components)
{
    for (int i = 0; i < components; i++)
        for (int k = 0; k <= i; k++) {
            int64_t sum = 0;

            for (int half = 0; half < 2; half++)
                sum += noise_dot(c[i].at + half * NOISE_PIXELS / 2,
                                 c[k].at + half * NOISE_PIXELS / 2, NOISE_PIXELS / 2);
            m->ss[i][k] = m->ss[k][i] = sum;
        }
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

/* A quarter of a block less where it was. */
static inline void noise_load_moved(int16_t *to, const uint8_t *p, const uint8_t *q, size_t stride,
                                    int hshift, int vshift)
{
    for (int y = 0; y < MOTION_BLOCK; y++, to += NOISE_BLOCK) {
        const size_t row = (size_t)(y >> vshift) * stride;

        if (hshift)
            noise_twice(to, p + row, q + row, MOTION_BLOCK / 2);
        else
            for (int x = 0; x < MOTION_BLOCK; x++)
                to[x] = (int16_t)(p[row + (size_t)x] - q[row + (size_t)x]);
    }
}

static inline void noise_move(const struct noise_job *j, struct noise_samples *c, int component,
                              int x0, int y0)
{
    const struct format_info *info = &format_table[j->now->format];
    const int hs = component ? info->hshift : 0, vs = component ? info->vshift : 0;
    const int cols = (j->now->width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    const size_t stride = j->now->stride[component];

    for (int k = 0; k < 4; k++) {
        const int x = x0 + k % 2 * MOTION_BLOCK, y = y0 + k / 2 * MOTION_BLOCK;
        const struct motion_vector v = j->vectors
                                           ? j->vectors[y / MOTION_BLOCK * cols + x / MOTION_BLOCK]
                                           : (struct motion_vector){0, 0};
        const ptrdiff_t at = (ptrdiff_t)(y >> vs) * (ptrdiff_t)stride + (x >> hs);
        const ptrdiff_t away = (ptrdiff_t)(noise_whole(v.y, vs) / (1 << vs)) * (ptrdiff_t)stride +
                               noise_whole(v.x, hs) / (1 << hs);

        noise_load_moved(c->at + (y - y0) * NOISE_BLOCK + (x - x0), j->now->plane[component] + at,
                         j->before->plane[component] + at + away, stride, hs, vs);
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
    noise_products(&still, c, info->components);
    for (int i = 0; i < info->components && j->before; i++) {
        noise_move(j, &c[i], i, x0, y0);
        moved.s[i] = noise_sum(&c[i]);
        noise_smooth(&smoothed[i], &c[i]);
        left.s[i] = noise_sum(&smoothed[i]);
    }
    if (j->before) {
        noise_products(&moved, c, info->components);
        noise_products(&left, smoothed, info->components);
    }
    noise_count(sums, &j->form, &still, j->before ? &moved : NULL, j->before ? &left : NULL);
}

static void noise_row(const struct noise_job *j, struct noise_sums *sums, int row)
{
    for (int x = 0; x + NOISE_BLOCK <= j->now->width; x += NOISE_BLOCK)
        noise_block(j, sums, x, NOISE_BLOCK * row);
}
