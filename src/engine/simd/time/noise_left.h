#pragma once
/* The sums of 64 times E over the cells of a block, in plain C. */
#include "engine/simd/time/noise_samples.h"

#define NOISE_CELLS 6 /* across and down, whose neighbours are in the block */
#define NOISE_LINE 8  /* a row of them, of which the last two mean nothing */

struct noise_cells {
    int32_t at[NOISE_CELLS * NOISE_LINE];
};

/* 64 times E: weights of 1 3 3 1 pixels, which are 1 6 1 samples that two pixels share. */
NOISE_STEP void noise_cells(struct noise_cells *to, const struct noise_samples *from,
                            const struct noise_shape *shape)
{
    const int w = shape->width, last = NOISE_CELLS * NOISE_LINE - 2;
    int16_t down[NOISE_CELLS * NOISE_BLOCK];

    for (int y = 0; y < NOISE_CELLS; y++) {
        const int16_t *row = from->at + (shape->vshift ? y : 2 * y + 1) * w;

        if (shape->vshift)
            for (int x = 0; x < w; x++)
                down[w * y + x] = (int16_t)(row[x] + 6 * row[x + w] + row[x + 2 * w]);
        else
            for (int x = 0; x < w; x++)
                down[w * y + x] =
                    (int16_t)(row[x] + 3 * (row[x + w] + row[x + 2 * w]) + row[x + 3 * w]);
    }
    if (shape->hshift)
        for (int i = 0; i < last; i++)
            to->at[i] = down[i] + 6 * down[i + 1] + down[i + 2];
    else
        for (int i = 0; i < last; i++)
            to->at[i] = down[2 * i + 1] + 3 * (down[2 * i + 2] + down[2 * i + 3]) + down[2 * i + 4];
    to->at[last] = to->at[last + 1] = 0;
}

NOISE_STEP int32_t noise_cell_sum(const struct noise_cells *c)
{
    int32_t column[NOISE_LINE] = {0}, sum = 0;

    for (int y = 0; y < NOISE_CELLS; y++)
        for (int x = 0; x < NOISE_LINE; x++)
            column[x] += c->at[NOISE_LINE * y + x];
    for (int x = 0; x < NOISE_CELLS; x++)
        sum += column[x];
    return sum;
}

/* No column of products exceeds 32 bits. */
NOISE_STEP int64_t noise_cell_product(const struct noise_cells *a, const struct noise_cells *b)
{
    int32_t column[NOISE_LINE] = {0};
    int64_t sum = 0;

    for (int y = 0; y < NOISE_CELLS; y++)
        for (int x = 0; x < NOISE_LINE; x++)
            column[x] += a->at[NOISE_LINE * y + x] * b->at[NOISE_LINE * y + x];
    for (int x = 0; x < NOISE_CELLS; x++)
        sum += column[x];
    return sum;
}

static inline void noise_left(struct noise_moments *m, const struct noise_samples c[3],
                              const struct noise_shape shape[2], int components)
{
    struct noise_cells e[3];

    for (int i = 0; i < components; i++)
        noise_cells(&e[i], &c[i], &shape[i > 0]);
    for (int i = 0; i < components; i++) {
        m->s[i] = noise_cell_sum(&e[i]);
        for (int k = 0; k <= i; k++)
            m->ss[i][k] = m->ss[k][i] = noise_cell_product(&e[i], &e[k]);
    }
}
