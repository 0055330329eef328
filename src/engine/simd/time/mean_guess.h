#pragma once
/* Steps 1 and 2 of engine/time/average.h, row by row: what the frame before says of this one. Each
 * function makes one row of a ring; what it needs was made before. */
#include <math.h>
#include <string.h>

#include "engine/simd/time/mean_predict.h"

/* All that is computed of a line of luma. */
#define MEAN_COLUMNS for (int i = MEAN_FROM; i < MEAN_FROM + MEAN_ALL; i++)

/* Differences of @n samples to levels, or to what was predicted. */
static inline void mean_subtract(float *restrict e, const uint8_t *restrict x,
                                 const uint16_t *restrict before, int n)
{
    for (int i = 0; i < n; i++)
        e[i] = (float)(256 * x[i] - before[i]) * (1.0F / 256.0F);
}

static inline void mean_subtract_p(float *restrict e, const uint8_t *restrict x,
                                   const float *restrict p, int n)
{
    for (int i = 0; i < n; i++)
        e[i] = (float)x[i] - p[i];
}

/* x - P of a component: to @e from where a line begins to be computed. */
static void mean_differences(const struct mean_job *j, const struct mean_guess *g, int component,
                             int row, float *e)
{
    const struct format_info *info = &format_table[j->x.format];
    const int hshift = component ? info->hshift : 0, vshift = component ? info->vshift : 0;
    const int from = MEAN_EDGE - (MEAN_EDGE - MEAN_FROM) / (1 << hshift);
    const int n = MEAN_ALL >> hshift, at = (j->left >> hshift) - MEAN_EDGE + from;
    const uint8_t *x = mean_raw_row(j, component, row) + at;

    if (g == &j->scratch->moved)
        mean_subtract_p(e + from, x, g->p[component][row >> vshift & 31] + from, n);
    else
        mean_subtract(e + from, x, levels_row(j->before, component, row >> vshift) + at, n);
}

/* (Y1, U1, V1) and their squares from differences of Y and of chroma that two columns share. */
static void mean_axes_of_pairs(float *restrict y, float *restrict u, float *restrict v,
                               float *restrict square, const float *restrict du,
                               const float *restrict dv, const struct colour_distance *axes)
{
    const float a = (float)axes->a, b = (float)axes->b, c = (float)axes->c, d = (float)axes->d;
    const float e = (float)axes->e, f = (float)axes->f;

    for (int i = 0; i < MEAN_ALL / 2; i++) {
        const float both = b * du[i] + c * dv[i], uu = d * du[i] + e * dv[i], vv = f * dv[i];
        const float rest = uu * uu + vv * vv;
        const float y0 = a * y[2 * i] + both, y1 = a * y[2 * i + 1] + both;

        y[2 * i] = y0;
        y[2 * i + 1] = y1;
        u[2 * i] = u[2 * i + 1] = uu;
        v[2 * i] = v[2 * i + 1] = vv;
        square[2 * i] = y0 * y0 + rest;
        square[2 * i + 1] = y1 * y1 + rest;
    }
}

static void mean_axes_of_singles(float *restrict y, float *restrict u, float *restrict v,
                                 float *restrict square, const float *restrict du,
                                 const float *restrict dv, const struct colour_distance *axes)
{
    const float a = (float)axes->a, b = (float)axes->b, c = (float)axes->c, d = (float)axes->d;
    const float e = (float)axes->e, f = (float)axes->f;

    for (int i = 0; i < MEAN_ALL; i++) {
        y[i] = a * y[i] + (b * du[i] + c * dv[i]);
        u[i] = d * du[i] + e * dv[i];
        v[i] = f * dv[i];
        square[i] = y[i] * y[i] + (u[i] * u[i] + v[i] * v[i]);
    }
}

static void mean_axes_of_grey(float *restrict y, float *restrict square, float a)
{
    for (int i = 0; i < MEAN_ALL; i++) {
        y[i] = a * y[i];
        square[i] = y[i] * y[i];
    }
}

static void mean_box5(float *restrict to, const float *restrict from)
{
    MEAN_COLUMNS to[i] = ((from[i - 2] + from[i - 1]) + (from[i + 1] + from[i + 2])) + from[i];
}

static void mean_across(float *restrict to, const float *restrict e)
{
    MEAN_COLUMNS to[i] = (e[i - 1] + e[i + 1]) + 2.0F * e[i];
}

static inline __attribute__((always_inline)) void mean_prefetch_line(const void *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const char *)p + i);
}

/* Fetches what row @row needs from memory: strips are too narrow for processors to see ahead. */
static inline __attribute__((always_inline)) void mean_prefetch(const struct mean_job *j, int row)
{
    const struct format_info *info = &format_table[j->x.format];

    if (row >= j->x.height)
        return;
    for (int c = 0; c < info->components; c++) {
        const int hs = c ? info->hshift : 0, vs = c ? info->vshift : 0;
        const int at = (j->left >> hs) - (MEAN_EDGE - MEAN_FROM), n = MEAN_ALL >> hs;

        mean_prefetch_line(mean_raw_row(j, c, row) + at, (size_t)n);
        mean_prefetch_line(levels_row(j->before, c, row >> vs) + at, 2 * (size_t)n);
    }
    mean_prefetch_line(mean_brightness_row(j, row) + j->left, MEAN_ALL);
    mean_prefetch_line(levels_counts(j->before, row) + j->left, MEAN_ALL);
}

static void mean_make_e(const struct mean_job *j, struct mean_guess *g, int row)
{
    const struct format_info *info = &format_table[j->x.format];
    const int from = MEAN_EDGE - (MEAN_EDGE - MEAN_FROM) / (1 << info->hshift);
    struct mean_scratch *w = j->scratch;
    float *y = w->e[0] + MEAN_FROM, *u = w->e[1] + MEAN_FROM, *v = w->e[2] + MEAN_FROM;
    float *square = w->line[0] + MEAN_FROM;

    if (g == &w->still)
        mean_prefetch(j, row + 4);
    for (int c = 0; c < info->components; c++)
        mean_differences(j, g, c, row, c ? w->line[c] : w->e[0]);
    if (info->components == 1)
        mean_axes_of_grey(y, square, (float)j->axes.a);
    else if (info->hshift)
        mean_axes_of_pairs(y, u, v, square, w->line[1] + from, w->line[2] + from, &j->axes);
    else
        mean_axes_of_singles(y, u, v, square, w->line[1] + from, w->line[2] + from, &j->axes);
    for (int c = 0; c < info->components; c++) {
        mean_pad(j, w->e[c], 1);
        mean_across(g->across[row & 3][c], w->e[c]);
    }
    mean_pad(j, w->line[0], 2);
    mean_box5(g->misfit[row & 15], w->line[0]);
}

/* E, and clamped in 1/64. */
static void mean_smooth(float *restrict to, int16_t *restrict clamped, const float *restrict a,
                        const float *restrict b, const float *restrict c,
                        const float *restrict most)
{
    MEAN_COLUMNS
    {
        const float e = ((a[i] + c[i]) + 2.0F * b[i]) * (1.0F / 16.0F);
        const float low = e < -most[i] ? -most[i] : e;
        const float v = low > most[i] ? most[i] : low;

        to[i] = e;
        clamped[i] = (int16_t)((int32_t)(v * 64.0F + 32768.5F) - 32768);
    }
}

/* nu2 of all rows up to @row. */
static void mean_make_noise(const struct mean_job *j, int row)
{
    struct mean_scratch *w = j->scratch;

    for (; w->next_noise <= row; w->next_noise++) {
        const uint8_t *bright = mean_brightness_row(j, w->next_noise) + j->left - MEAN_EDGE;
        float *noise = w->noise[w->next_noise & 31];

        MEAN_COLUMNS noise[i] = j->variance[bright[i]];
    }
}

static void mean_make_smooth(const struct mean_job *j, struct mean_guess *g, int row)
{
    const int above = row > 0 ? row - 1 : 0, below = row + 1 < j->x.height ? row + 1 : row;
    float *restrict most = j->scratch->line[0];
    const float *restrict noise = j->scratch->noise[row & 31];

    mean_make_noise(j, row);
    MEAN_COLUMNS most[i] = 2.5F * sqrtf(noise[i]);
    for (int c = 0; c < format_table[j->x.format].components; c++) {
        mean_smooth(g->smooth[row & 7][c], g->clamped[row & 15][c], g->across[above & 3][c],
                    g->across[row & 3][c], g->across[below & 3][c], most);
    }
}

static void mean_exchange(int32_t *restrict sum, const int16_t *restrict in,
                          const int16_t *restrict out)
{
    MEAN_COLUMNS sum[i] += in[i] - out[i];
}

static void mean_add(int32_t *restrict sum, const int16_t *restrict in)
{
    MEAN_COLUMNS sum[i] += in[i];
}

/* The sums over 13 rows go on to @row. */
static void mean_sum_rows(const struct mean_job *j, struct mean_guess *g, int row)
{
    const int last = j->x.height - 1;
    const int out = row - 7 > 0 ? row - 7 : 0, in = row + 6 < last ? row + 6 : last;

    for (int c = 0; c < format_table[j->x.format].components; c++) {
        if (g->summed) {
            mean_exchange(g->sum[c], g->clamped[in & 15][c], g->clamped[out & 15][c]);
        } else {
            memset(g->sum[c], 0, sizeof(g->sum[c]));
            for (int y = row - 6; y <= row + 6; y++)
                mean_add(g->sum[c], g->clamped[mean_inside(y, j->x.height) & 15][c]);
        }
        mean_pad_sums(j, g->sum[c]);
    }
    g->summed = true;
}

/* C from sums over rows. */
static void mean_box13(float *restrict to, const int32_t *restrict sum, int32_t *restrict two,
                       int32_t *restrict four)
{
    for (int i = 0; i < MEAN_LINE - 1; i++)
        two[i] = sum[i] + sum[i + 1];
    for (int i = 0; i < MEAN_LINE - 3; i++)
        four[i] = two[i] + two[i + 2];
    MEAN_COLUMNS
    to[i] = (float)((four[i - 6] + four[i - 2]) + (four[i + 2] + sum[i + 6])) *
            (1.0F / (64.0F * 169.0F));
}

/* L from C, and |E - L|^2; @noise is 3 kappa nu2. */
static inline __attribute__((always_inline)) void
mean_take_light(const struct mean_job *j, float *const light[3], float *restrict fit,
                float *const c[3], float *const e[3], const float *restrict noise,
                const uint8_t *restrict m, const int components)
{
    const float steps = j->steps, factor = j->light;
    float *restrict l0 = light[0], *restrict l1 = light[1], *restrict l2 = light[2];
    const float *restrict c0 = c[0], *restrict c1 = c[1], *restrict c2 = c[2];
    const float *restrict e0 = e[0], *restrict e1 = e[1], *restrict e2 = e[2];

    MEAN_COLUMNS
    {
        const float count = (float)m[i];
        const float most = count > 0.5F * steps ? count : 0.5F * steps;
        const float square =
            c0[i] * c0[i] + (components == 3 ? c1[i] * c1[i] + c2[i] * c2[i] : 0.0F);
        const float over = (square > 1e-9F ? square : 1e-9F) * most;
        const float some = 1.0F - factor * noise[i] * (most + steps) / over;
        const float keep = some > 0.0F ? some : 0.0F;
        const float k0 = c0[i] * keep, d0 = e0[i] - k0;
        float sum = d0 * d0;

        l0[i] = k0;
        if (components == 3) {
            const float k1 = c1[i] * keep, d1 = e1[i] - k1, k2 = c2[i] * keep, d2 = e2[i] - k2;

            l1[i] = k1;
            l2[i] = k2;
            sum += d1 * d1 + d2 * d2;
        }
        fit[i] = sum;
    }
}

static void mean_make_fit(const struct mean_job *j, struct mean_guess *g, int row)
{
    struct mean_scratch *w = j->scratch;
    float *const c[3] = {w->light[0], w->light[1], w->light[2]};
    float *const light[3] = {g->light[row & 3][0], g->light[row & 3][1], g->light[row & 3][2]};
    float *const e[3] = {g->smooth[row & 7][0], g->smooth[row & 7][1], g->smooth[row & 7][2]};
    const int components = format_table[j->x.format].components;

    mean_sum_rows(j, g, row);
    for (int i = 0; i < components; i++)
        mean_box13(c[i], g->sum[i], w->part[0], w->part[1]);
    if (components == 3)
        mean_take_light(j, light, w->line[1], c, e, w->noise[row & 31], mean_m_row(j, g, row), 3);
    else
        mean_take_light(j, light, w->line[1], c, e, w->noise[row & 31], mean_m_row(j, g, row), 1);
    mean_pad(j, w->line[1], 2);
    mean_box5(g->fit[row & 7], w->line[1]);
}

/* Makes all that row @y of a guess needs. */
static inline void mean_reach(const struct mean_job *j, struct mean_guess *g, int y)
{
    const int last = j->x.height - 1, goal = y + 2 < last ? y + 2 : last;

    if (y - 2 > g->next_fit + 12) {
        g->next_e = y > 9 ? y - 9 : 0;
        g->next_smooth = y > 8 ? y - 8 : 0;
        g->next_fit = y > 2 ? y - 2 : 0;
        g->next_block = g->next_e / MOTION_BLOCK;
        g->summed = false;
    }
    for (; g->next_fit <= goal; g->next_fit++) {
        const int smooth = g->next_fit + 6 < last ? g->next_fit + 6 : last;

        for (; g->next_smooth <= smooth; g->next_smooth++) {
            const int e = g->next_smooth + 1 < last ? g->next_smooth + 1 : last;

            for (; g->next_e <= e; g->next_e++) {
                if (g == &j->scratch->moved && g->next_e / MOTION_BLOCK >= g->next_block)
                    mean_predict_blocks(j, g, g->next_block++);
                mean_make_e(j, g, g->next_e);
            }
            mean_make_smooth(j, g, g->next_smooth);
        }
        mean_make_fit(j, g, g->next_fit);
    }
}
