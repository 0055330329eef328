#pragma once
/* The sums of engine/time/noise_blocks.h for a row of blocks, as every set of row kernels compiles
 * them: the same integers. */
#include <stdlib.h>
#include <string.h>

#include "engine/simd/time/noise_samples.h"
#ifdef __AVX2__
#include "engine/simd/time/noise_left_avx2.h"
#include "engine/simd/time/noise_sums_avx2.h"
#else
#include "engine/simd/time/noise_left.h"
#include "engine/simd/time/noise_sums.h"
#endif

static inline __attribute__((always_inline)) void noise_copy_rows(uint8_t *to, int pitch,
                                                                  const uint8_t *from,
                                                                  size_t stride, const size_t width,
                                                                  int height)
{
    for (int y = 0; y < height; y++, to += pitch, from += stride) {
        __builtin_prefetch(from + 128); /* too many rows for a processor to see by itself */
        memcpy(to, from, width);
    }
}

NOISE_STEP void noise_copy(uint8_t *to, int pitch, const uint8_t *from, size_t stride, int width,
                           int height)
{
    if (width == 16)
        noise_copy_rows(to, pitch, from, stride, 16, height);
    else if (width == 8)
        noise_copy_rows(to, pitch, from, stride, 8, height);
    else
        noise_copy_rows(to, pitch, from, stride, 4, height);
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

/* Whether all of @v lead to the block's own place. */
static inline bool noise_stays(const struct motion_vector v[4], const struct noise_shape *shape)
{
    bool stays = true;

    for (int k = 0; k < 4; k++)
        stays = stays && !noise_whole(v[k].x, shape->hshift) && !noise_whole(v[k].y, shape->vshift);
    return stays;
}

/* S of one component of a block. */
static inline int noise_sum_in_place(const struct frame *f, int component,
                                     const struct noise_shape *shape, int x0, int y0)
{
    struct noise_bytes there;
    int sum = 0;

    noise_copy(there.at, shape->width, noise_at(f, component, shape, x0, y0), f->stride[component],
               shape->width, shape->height);
    for (int i = 0; i < shape->n; i++)
        sum += there.at[i];
    return shape->pixels * sum;
}

/* @shape: of luma and of chroma. */
NOISE_STEP void noise_block(const struct noise_job *j, const struct noise_shape shape[2],
                            struct noise_sums *sums, int x0, int y0)
{
    const int components = format_table[j->now->format].components > 1 ? 3 : 1;
    struct noise_bytes now[3], before[3];
    struct noise_samples c[3];
    struct noise_moments still, moved, left, in_place;
    struct motion_vector v[4];

    noise_vectors(v, j, x0, y0);
    for (int i = 0; i < components; i++) {
        const struct noise_shape *p = &shape[i > 0];

        noise_copy(now[i].at, p->width, noise_at(j->now, i, p, x0, y0), j->now->stride[i], p->width,
                   p->height);
        if (j->before)
            noise_before(&before[i], j->before, i, p, v, x0, y0);
    }
    noise_sum_all(&still, c, now, NULL, shape, components);
    if (!j->before) {
        noise_count(sums, j->known, &j->form, &still, NULL, NULL, NULL);
        return;
    }
    noise_sum_all(&moved, c, now, before, shape, components);
    noise_left(&left, c, shape, components);
    for (int i = 0; i < components; i++)
        in_place.s[i] = noise_stays(v, &shape[i > 0])
                            ? still.s[i] - moved.s[i]
                            : noise_sum_in_place(j->before, i, &shape[i > 0], x0, y0);
    noise_count(sums, j->known, &j->form, &still, &moved, &left, &in_place);
}

static inline void noise_row(const struct noise_job *j, struct noise_sums *sums, int row)
{
    const struct format_info *info = &format_table[j->now->format];
    const int step = noise_step(j->now->width, j->now->height);
    struct noise_shape shape[2];

    noise_shape(&shape[0], 0, 0);
    noise_shape(&shape[1], info->hshift, info->vshift);
    for (int col = noise_first(row, step); col < j->now->width / NOISE_BLOCK; col += step)
        noise_block(j, shape, sums, NOISE_BLOCK * col, NOISE_BLOCK * row);
}
