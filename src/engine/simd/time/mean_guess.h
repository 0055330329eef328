#pragma once
/* Step 2 of engine/time/average.h, row by row of cells: how far a guess can be believed. Each
 * function makes one row of a ring; what it needs was made before. */
#include <string.h>

#include "engine/simd/time/mean_cells.h"

MEAN_INLINE void mean_exchange(int32_t *restrict sum, const int16_t *restrict in,
                               const int16_t *restrict out, struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles) sum[i] += in[i] - out[i];
}

MEAN_INLINE void mean_add(int32_t *restrict sum, const int16_t *restrict in,
                          struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles) sum[i] += in[i];
}

MEAN_INLINE void mean_clear(int32_t *restrict sum, struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles) sum[i] = 0;
}

/* The sums over 7 rows of a ring go on to @row in parts that are @summed so far, and begin in
 * @fresh ones. */
MEAN_INLINE void mean_sum_rows(const struct mean_job *j, int32_t (*sum)[MEAN_LINE],
                               int16_t (*ring)[3][MEAN_LINE], int row, struct mean_parts summed,
                               struct mean_parts fresh)
{
    const int rows = mean_rows(j);
    const int out = frame_nearest(row - 4, rows), in = frame_nearest(row + 3, rows);

    for (int c = 0; c < format_table[j->x.format].components; c++) {
        mean_exchange(sum[c], ring[in & 7][c], ring[out & 7][c], summed);
        mean_clear(sum[c], fresh);
        for (int y = row - 3; y <= row + 3; y++)
            mean_add(sum[c], ring[frame_nearest(y, rows) & 7][c], fresh);
        mean_pad_sums(j, sum[c], 3);
    }
}

/* Means over 7x7 cells from sums over rows; @unit: of what was summed. */
MEAN_INLINE void mean_box7(float *restrict to, const int32_t *sum, float unit,
                           struct mean_parts tiles)
{
    const float scale = unit * (1.0F / 49.0F);

    MEAN_COLUMNS(tiles)
    {
        const int32_t left = sum[i - 3] + sum[i - 2] + sum[i - 1];
        const int32_t right = sum[i + 1] + sum[i + 2] + sum[i + 3];

        to[i] = (float)(left + sum[i] + right) * scale;
    }
}

/* 1 / max(y - K, 16) */
MEAN_INLINE void mean_invert(float *restrict to, const float *restrict bright,
                             struct mean_parts all)
{
    MEAN_COLUMNS(all) to[i] = 1.0F / (bright[i] > 16.0F ? bright[i] : 16.0F);
}

/* The colours around row @row. */
static inline void mean_look_around(const struct mean_job *j, int row, struct mean_parts summed,
                                    struct mean_parts fresh)
{
    struct mean_scratch *w = j->scratch;

    mean_sum_rows(j, w->colour_sum, w->colour, row, summed, fresh);
    for (int c = 0; c < format_table[j->x.format].components; c++)
        mean_box7(w->around[c], w->colour_sum[c], 1.0F, mean_all(j));
    mean_invert(w->per_level, w->around[0], mean_all(j));
}

/* m, from how it is stored. */
static inline void mean_make_frames(float *restrict to, const uint8_t *restrict m, int end)
{
    for (int i = MEAN_FROM; i < end; i++)
        to[i] = m[i] ? mean_count_frames(m[i]) : 0.0F;
}

/* How much of a light whose square is @square is more than @noise * base, m being @frames. */
static inline float mean_kept(float square, float noise, float frames)
{
    const float over = (square > 1e-9F ? square : 1e-9F) * frames;
    const float some = 1.0F - noise * (frames + 1.0F) / over;

    return some > 0.0F ? some : 0.0F;
}

static inline float mean_within(float v, float most)
{
    const float low = v > -most ? v : -most;

    return low < most ? low : most;
}

/* L of luma from C, in its place. */
MEAN_INLINE void mean_take_light(float *restrict light, float in_luma, const float *restrict noise,
                                 const float *restrict m, struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles)
    {
        const float frames = m[i] > 0.5F ? m[i] : 0.5F;

        light[i] *= mean_kept(light[i] * light[i], in_luma * noise[i], frames);
    }
}

/* h */
MEAN_INLINE void mean_take_part(float *restrict part, const float *restrict light,
                                const float *restrict per_level, struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles) part[i] = mean_within(light[i] * per_level[i], 1.0F / 3.0F);
}

/* L of chroma likewise; @u, @v: means of c - K. */
MEAN_INLINE void mean_take_chroma_light(float *restrict light_u, float *restrict light_v,
                                        float in_chroma, const float *restrict part,
                                        const float *restrict u, const float *restrict v,
                                        const float *restrict nu, const float *restrict m,
                                        struct mean_parts tiles)
{
    const float in_square = in_chroma / NOISE_CHROMA;

    MEAN_COLUMNS(tiles)
    {
        const float frames = m[i] > 0.5F ? m[i] : 0.5F;
        const float a = light_u[i] - mean_within(part[i] * u[i], nu[i]);
        const float b = light_v[i] - mean_within(part[i] * v[i], nu[i]);
        const float keep = mean_kept(a * a + b * b, in_square * nu[i] * nu[i], frames);

        light_u[i] = a * keep;
        light_v[i] = b * keep;
    }
}

/* |W (E - L)|^2 of a picture without chroma. */
MEAN_INLINE void mean_misfit_grey(float *restrict to, float white, const float *restrict e,
                                  const float *restrict light, struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles)
    {
        const float d = white * (e[i] - light[i]);

        to[i] = d * d;
    }
}

/* |W (E_Y - L_Y, E - G)|^2; @u, @v: c - K. */
MEAN_INLINE void mean_misfit(float *restrict to, struct noise_white w, float (*mean)[MEAN_LINE],
                             const float *restrict light, const float *restrict part,
                             const int16_t *restrict u, const int16_t *restrict v,
                             struct mean_parts tiles)
{
    const float *restrict e0 = mean[0], *restrict e1 = mean[1], *restrict e2 = mean[2];

    MEAN_COLUMNS(tiles)
    {
        const float d0 = e0[i] - light[i], d1 = e1[i] - part[i] * (float)u[i];
        const float d2 = e2[i] - part[i] * (float)v[i];
        const float first = w.y * d0 + (w.yu * d1 + w.yv * d2);
        const float second = w.u * d1 + w.uv * d2, third = w.v * d2;

        to[i] = first * first + (second * second + third * third);
    }
}

/* Light, and what it leaves of a guess, once sums over rows are there. */
MEAN_INLINE void mean_make_fit(const struct mean_job *j, struct mean_guess *g, int row,
                               struct mean_parts tiles)
{
    const int components = format_table[j->x.format].components;
    const struct mean_scratch *w = j->scratch;
    float(*light)[MEAN_LINE] = g->light[row & 1], (*mean)[MEAN_LINE] = g->mean[row & 3];
    float *part = g->part[row & 1], *fit = j->scratch->line;
    const float *noise = w->noise[row & 15], *m = g->frames[row & 3];
    const int16_t *u = w->colour[row & 7][1], *v = w->colour[row & 7][2];

    for (int c = 0; c < components; c++)
        mean_box7(light[c], g->sum[c], 1.0F / 128.0F, tiles);
    mean_take_light(light[0], j->in_luma, noise, m, tiles);
    if (components == 3) {
        mean_take_part(part, light[0], w->per_level, tiles);
        mean_take_chroma_light(light[1], light[2], j->in_chroma, part, w->around[1], w->around[2],
                               w->nu[row & 15], m, tiles);
        mean_misfit(fit, j->white, mean, light[0], part, u, v, tiles);
        for (int c = 1; c < 3; c++)
            mean_add_tint(light[c], j->tint[c], w->colour[row & 7][0], tiles);
    } else {
        mean_misfit_grey(fit, j->white.y, mean[0], light[0], tiles);
    }
    mean_pad_cells(j, fit, 1);
    mean_box3(g->fit[row & 3], fit, tiles);
}

/* m of the second guess: that of the first where nothing moved. */
static inline void mean_make_moved_frames(const struct mean_job *j, int row)
{
    struct mean_guess *g = &j->scratch->moved;
    const uint8_t *from = mean_m_row(j, &j->scratch->still, row);
    uint8_t *m = g->m[row & 15];
    const struct mean_parts still = mean_list_still(j, MEAN_FITS, row);

    for (int i = 0; i < still.n; i++)
        memcpy(m + still.at[i], from + still.at[i], MEAN_TILE);
    mean_make_frames(g->frames[row & 3], m, mean_end(j));
}

static inline void mean_make_still_fit(const struct mean_job *j, int row)
{
    struct mean_guess *g = &j->scratch->still;
    const struct mean_parts all = mean_all(j), none = {0, all.width, all.at};
    const struct mean_parts summed = g->summed ? all : none, fresh = g->summed ? none : all;

    mean_make_frames(g->frames[row & 3], mean_m_row(j, g, row), mean_end(j));
    if (format_table[j->x.format].components > 1)
        mean_look_around(j, row, summed, fresh);
    mean_sum_rows(j, g->sum, g->clamped, row, summed, fresh);
    g->summed = UINT64_MAX; /* all */
    mean_make_fit(j, g, row, all);
}

static inline void mean_make_moved_fit(const struct mean_job *j, int row)
{
    struct mean_scratch *w = j->scratch;
    struct mean_guess *g = &w->moved;
    const uint64_t needed = mean_needed(j, MEAN_SUMS, row);
    const struct mean_parts summed = mean_list(&w->some, needed & g->summed);
    const struct mean_parts fresh = mean_list(&w->others, needed & ~g->summed);

    g->summed = needed;
    if (!needed)
        return;
    mean_sum_rows(j, g->sum, g->clamped, row, summed, fresh);
    mean_make_moved_frames(j, row);
    mean_make_fit(j, g, row, mean_list(&w->some, mean_needed(j, MEAN_FITS, row)));
}

/* Begins where row @y is the first. */
static inline void mean_begin(const struct mean_job *j, int y)
{
    struct mean_scratch *w = j->scratch;

    w->next_fit = y > 1 ? y - 1 : 0;
    w->next_cells = w->next_fit > 3 ? w->next_fit - 3 : 0;
    w->next_row = w->next_cells > 1 ? 2 * w->next_cells - 2 : 0;
    w->next_motion = w->next_block = w->next_row / MOTION_BLOCK;
    w->still.summed = w->moved.summed = 0;
}

/* Makes all that row @y of cells of both guesses needs. */
static inline void mean_reach(const struct mean_job *j, int y)
{
    const int last = mean_rows(j) - 1, goal = y < last ? y + 1 : last;
    struct mean_scratch *w = j->scratch;
    struct mean_tiles tiles;

    mean_make_motion(j, y);
    for (; w->next_fit <= goal; w->next_fit++) {
        const int cells = w->next_fit + 3 < last ? w->next_fit + 3 : last;

        for (; w->next_cells <= cells; w->next_cells++) {
            const int row = frame_nearest(2 * w->next_cells + 2, j->x.height);

            for (; w->next_row <= row; w->next_row++) {
                if (w->next_row / MOTION_BLOCK >= w->next_block)
                    mean_predict_blocks(j, &w->moved, w->next_block++);
                mean_make_row(j, w->next_row);
            }
            mean_make_noise(j, w->next_cells);
            mean_make_colours(j, w->next_cells);
            mean_make_cells(j, &w->still, w->next_cells, mean_all(j));
            mean_make_cells(j, &w->moved, w->next_cells,
                            mean_list(&tiles, mean_needed(j, MEAN_CELLS, w->next_cells)));
        }
        mean_make_still_fit(j, w->next_fit);
        mean_make_moved_fit(j, w->next_fit);
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

/* s along the motion, and b, of the blocks of row @y. */
static inline void mean_make_priors(const struct mean_job *j, int y)
{
    const int cols = (j->x.width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    const int end = mean_end(j);
    float *slack = j->scratch->slack, *bias = j->scratch->bias;

    for (int i = MEAN_FROM; i < end; i++) {
        slack[i] = j->slack;
        bias[i] = 2.0F;
    }
    for (int x = j->left; x < j->right && j->vectors; x += MOTION_BLOCK) {
        const struct motion_vector v = j->vectors[2 * y / MOTION_BLOCK * cols + x / MOTION_BLOCK];
        const int at = MEAN_EDGE + (x - j->left) / 2;

        for (int i = at; i < at + MOTION_BLOCK / 2 && (v.x || v.y); i++) {
            slack[i] = v.x % 8 || v.y % 8 ? 1.0F : j->slack;
            bias[i] = motion_is_far(v) ? 0.0F : 2.0F;
        }
    }
}

/* D, R and n' of row @y. */
MEAN_INLINE void mean_believe(const struct mean_job *j, struct mean_guess *g, int y,
                              struct mean_parts tiles, const bool moved)
{
    const struct mean_rows3 fit = mean_rows3(j, g->fit, 3, y);
    const struct mean_rows3 rest = mean_rows3(j, g->rest, 7, y);
    const float *restrict a = fit.above, *restrict b = fit.at, *restrict c = fit.below;
    const float *restrict p = rest.above, *restrict q = rest.at, *restrict r = rest.below;
    const float *restrict noise = j->scratch->noise[y & 15], *restrict m = g->frames[y & 3];
    const float *restrict slack = j->scratch->slack;
    const float share = j->share, at_rest = j->slack;
    float *restrict ret_d = g->d, *restrict ret_r = g->r, *restrict ret_n = g->n;

    MEAN_COLUMNS(tiles)
    {
        const float frames = m[i] > 0.5F ? m[i] : 0.5F, per = 1.0F / (9.0F * noise[i]);
        const float base = (1.0F + 1.0F / frames) * (moved ? slack[i] : at_rest);
        const float fits = ((a[i] + c[i]) + b[i]) * per;
        const float misses = fits * share + ((p[i] + r[i]) + q[i]) * (0.25F * per);
        const float over_d = fits - 1.1F * base, over_r = misses - 1.7F * base;
        const float doubt =
            0.8F * (over_d > 0.0F ? over_d : 0.0F) + (over_r > 0.0F ? over_r : 0.0F);

        ret_d[i] = fits;
        ret_r[i] = misses;
        ret_n[i] = m[i] / (1.0F + m[i] * doubt);
    }
}
