#pragma once
/* Step 2 of engine/time/average.h, row by row of cells: how far a guess can be believed. Each
 * function makes one row of a ring; what it needs was made before. */
#include <string.h>

#include "engine/simd/time/mean_cells.h"

static inline void mean_exchange(int32_t *restrict sum, const int16_t *restrict in,
                                 const int16_t *restrict out, int end)
{
    MEAN_COLUMNS sum[i] += in[i] - out[i];
}

static inline void mean_add(int32_t *restrict sum, const int16_t *restrict in, int end)
{
    MEAN_COLUMNS sum[i] += in[i];
}

/* The sums over 7 rows go on to @row. */
static inline void mean_sum_rows(const struct mean_job *j, struct mean_guess *g, int row)
{
    const int end = mean_end(j);
    const int rows = mean_rows(j);
    const int out = frame_nearest(row - 4, rows), in = frame_nearest(row + 3, rows);

    for (int c = 0; c < format_table[j->x.format].components; c++) {
        if (g->summed) {
            mean_exchange(g->sum[c], g->clamped[in & 7][c], g->clamped[out & 7][c], end);
        } else {
            memset(g->sum[c], 0, sizeof(g->sum[c]));
            for (int y = row - 3; y <= row + 3; y++)
                mean_add(g->sum[c], g->clamped[frame_nearest(y, rows) & 7][c], end);
        }
        mean_pad_sums(j, g->sum[c], 3);
    }
    g->summed = true;
}

/* C from sums over rows. */
static inline void mean_box7(float *restrict to, const int32_t *sum, int end)
{
    MEAN_COLUMNS
    {
        const int32_t left = sum[i - 3] + sum[i - 2] + sum[i - 1];
        const int32_t right = sum[i + 1] + sum[i + 2] + sum[i + 3];

        to[i] = (float)(left + sum[i] + right) * (1.0F / (64.0F * 49.0F));
    }
}

/* m, but 1/2 where that is 0. */
static inline float mean_frames(uint8_t m)
{
    return m ? mean_count_frames(m) : 0.5F;
}

/* L from C, in its place, and |E - L|^2. */
static inline __attribute__((always_inline)) void
mean_take_light(const struct mean_job *j, float (*light)[MEAN_LINE], float *restrict fit,
                float (*mean)[MEAN_LINE], const float *restrict noise, const uint8_t *restrict m,
                const int components)
{
    const int end = mean_end(j);
    const float factor = j->light;
    float *restrict l0 = light[0], *restrict l1 = light[1], *restrict l2 = light[2];
    const float *restrict e0 = mean[0], *restrict e1 = mean[1], *restrict e2 = mean[2];

    MEAN_COLUMNS
    {
        const float frames = mean_frames(m[i]);
        const float c1 = components == 3 ? l1[i] : 0.0F, c2 = components == 3 ? l2[i] : 0.0F;
        const float square = l0[i] * l0[i] + (c1 * c1 + c2 * c2);
        const float over = (square > 1e-9F ? square : 1e-9F) * frames;
        const float some = 1.0F - factor * noise[i] * (frames + 1.0F) / over;
        const float keep = some > 0.0F ? some : 0.0F;
        const float k0 = l0[i] * keep, d0 = e0[i] - k0;
        float sum = d0 * d0;

        l0[i] = k0;
        if (components == 3) {
            const float k1 = c1 * keep, d1 = e1[i] - k1, k2 = c2 * keep, d2 = e2[i] - k2;

            l1[i] = k1;
            l2[i] = k2;
            sum += d1 * d1 + d2 * d2;
        }
        fit[i] = sum;
    }
}

static inline void mean_make_fit(const struct mean_job *j, struct mean_guess *g, int row)
{
    const int end = mean_end(j);
    struct mean_scratch *w = j->scratch;
    float(*light)[MEAN_LINE] = g->light[row & 1], (*mean)[MEAN_LINE] = g->mean[row & 3];
    const int components = format_table[j->x.format].components;
    const float *noise = w->noise[row & 15];
    const uint8_t *m = mean_m_row(j, g, row);

    mean_sum_rows(j, g, row);
    for (int c = 0; c < components; c++)
        mean_box7(light[c], g->sum[c], end);
    if (components == 3)
        mean_take_light(j, light, w->line[0], mean, noise, m, 3);
    else
        mean_take_light(j, light, w->line[0], mean, noise, m, 1);
    mean_pad_cells(j, w->line[0], 1);
    mean_box3(g->fit[row & 3], w->line[0], end);
}

/* Makes all that row @y of cells of a guess needs. */
static inline void mean_reach(const struct mean_job *j, struct mean_guess *g, int y)
{
    const int last = mean_rows(j) - 1, goal = y < last ? y + 1 : last;

    if (y - 1 > g->next_fit + 3) {
        g->next_fit = y > 1 ? y - 1 : 0;
        g->next_cells = g->next_fit > 3 ? g->next_fit - 3 : 0;
        g->next_row = g->next_cells > 1 ? 2 * g->next_cells - 2 : 0;
        g->next_block = g->next_row / MOTION_BLOCK;
        g->summed = false;
    }
    for (; g->next_fit <= goal; g->next_fit++) {
        const int cells = g->next_fit + 3 < last ? g->next_fit + 3 : last;

        for (; g->next_cells <= cells; g->next_cells++) {
            const int row = frame_nearest(2 * g->next_cells + 2, j->x.height);

            for (; g->next_row <= row; g->next_row++) {
                if (g == &j->scratch->moved && g->next_row / MOTION_BLOCK >= g->next_block)
                    mean_predict_blocks(j, g, g->next_block++);
                mean_make_row(j, g, g->next_row);
            }
            mean_make_cells(j, g, g->next_cells);
        }
        mean_make_fit(j, g, g->next_fit);
    }
}

/* Rows around one of a ring. */
struct mean_rows3 {
    const float *above, *at, *below;
};

static inline struct mean_rows3 mean_rows3(const struct mean_job *j, float (*ring)[MEAN_LINE],
                                           int mask, int y)
{
    return (struct mean_rows3){ring[frame_nearest(y - 1, mean_rows(j)) & mask], ring[y & mask],
                               ring[frame_nearest(y + 1, mean_rows(j)) & mask]};
}

/* s of the blocks of row @y. */
static inline void mean_make_slack(const struct mean_job *j, int y)
{
    const int end = mean_end(j);
    const int cols = (j->x.width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    float *slack = j->scratch->slack;

    MEAN_COLUMNS slack[i] = j->slack;
    for (int x = j->left; x < j->right && j->vectors; x += MOTION_BLOCK) {
        const struct motion_vector v = j->vectors[2 * y / MOTION_BLOCK * cols + x / MOTION_BLOCK];

        for (int i = 0; i < MOTION_BLOCK / 2 && (v.x || v.y); i++)
            slack[MEAN_EDGE + (x - j->left) / 2 + i] = 1.0F;
    }
}

/* D, R and n' of row @y. */
static inline void mean_believe(const struct mean_job *j, struct mean_guess *g, int y)
{
    const int end = mean_end(j);
    const struct mean_rows3 fit = mean_rows3(j, g->fit, 3, y);
    const struct mean_rows3 rest = mean_rows3(j, g->rest, 7, y);
    const float *restrict a = fit.above, *restrict b = fit.at, *restrict c = fit.below;
    const float *restrict p = rest.above, *restrict q = rest.at, *restrict r = rest.below;
    const float *restrict noise = j->scratch->noise[y & 15], *restrict slack = j->scratch->slack;
    const uint8_t *restrict m = mean_m_row(j, g, y);
    const float share = 1.0F / j->share;
    float *restrict ret_d = g->d, *restrict ret_r = g->r, *restrict ret_n = g->n;

    MEAN_COLUMNS
    {
        const float frames = mean_frames(m[i]), per = 1.0F / (9.0F * noise[i]);
        const float base = (1.0F + 1.0F / frames) * slack[i];
        const float fits = ((a[i] + c[i]) + b[i]) * per;
        const float misses = fits + ((p[i] + r[i]) + q[i]) * (0.25F * per);
        const float over_d = fits * share - 1.5F * base, over_r = misses - 2.0F * base;
        const float doubt =
            0.8F * (over_d > 0.0F ? over_d : 0.0F) + (over_r > 0.0F ? over_r : 0.0F);
        const float n = m[i] ? frames : 0.0F;

        ret_d[i] = fits;
        ret_r[i] = misses;
        ret_n[i] = n / (1.0F + n * doubt);
    }
}
