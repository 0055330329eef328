#pragma once
/* Steps 1 and 2 of engine/time/average.h, row by row: what the frame before says of this one. Each
 * function makes one row of a ring; what it needs was made before. */
#include <math.h>
#include <string.h>

#include "engine/simd/time/mean_predict.h"

static void mean_subtract(float *restrict e, const uint8_t *restrict x, const float *restrict p,
                          int n)
{
    for (int i = 0; i < n; i++)
        e[i] = (float)x[i] - p[i];
}

/* (Y1, U1, V1) from differences of Y and of chroma that 1 << @hshift columns share. */
static void mean_to_axes(float *restrict y, float *restrict u, float *restrict v,
                         const float *restrict du, const float *restrict dv, int hshift, int n,
                         const struct colour_distance *axes)
{
    const float a = (float)axes->a, b = (float)axes->b, c = (float)axes->c, d = (float)axes->d;
    const float e = (float)axes->e, f = (float)axes->f;

    if (hshift)
        for (int i = 0; i < n / 2; i++) {
            const float both = b * du[i] + c * dv[i];

            y[2 * i] = a * y[2 * i] + both;
            y[2 * i + 1] = a * y[2 * i + 1] + both;
            u[2 * i] = u[2 * i + 1] = d * du[i] + e * dv[i];
            v[2 * i] = v[2 * i + 1] = f * dv[i];
        }
    else
        for (int i = 0; i < n; i++) {
            y[i] = a * y[i] + (b * du[i] + c * dv[i]);
            u[i] = d * du[i] + e * dv[i];
            v[i] = f * dv[i];
        }
}

static void mean_scale(float *v, float by, int n)
{
    for (int i = 0; i < n; i++)
        v[i] *= by;
}

static void mean_square(float *restrict to, const float *restrict e, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = e[i] * e[i];
}

static void mean_add_square(float *restrict to, const float *restrict e, int n)
{
    for (int i = 0; i < n; i++)
        to[i] += e[i] * e[i];
}

static void mean_box5(float *restrict to, const float *restrict from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = ((from[i - 2] + from[i - 1]) + (from[i + 1] + from[i + 2])) + from[i];
}

static void mean_binomial(float *restrict to, const float *restrict a, const float *restrict b,
                          const float *restrict c, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (a[i] + c[i]) + 2.0F * b[i];
}

/* The row @row of P. */
static const float *mean_p_row(const struct mean_job *j, struct mean_guess *g, int component,
                               int row)
{
    const int vshift = component ? format_table[j->x.format].vshift : 0;
    const int hshift = component ? format_table[j->x.format].hshift : 0;
    const struct mean_span s = mean_span(j, MEAN_REACH);
    float *p = j->scratch->p[component];

    if (g == &j->scratch->moved)
        return g->p[component][row >> vshift & 31];
    mean_levels(p + mean_at(j, s.lo, hshift),
                levels_row(j->before, component, row >> vshift) + (s.lo >> hshift),
                (s.hi - s.lo) >> hshift);
    return p;
}

static void mean_make_e(const struct mean_job *j, struct mean_guess *g, int row)
{
    const struct format_info *info = &format_table[j->x.format];
    const struct mean_span s = mean_span(j, MEAN_REACH), near = mean_span(j, 8);
    const struct mean_span own = mean_span(j, 0);
    const int from = mean_at(j, s.lo, 0), n = s.hi - s.lo;
    struct mean_scratch *w = j->scratch;

    for (int c = 0; c < info->components; c++) {
        const int hshift = c ? info->hshift : 0, at = mean_at(j, s.lo, hshift);

        mean_subtract((c ? w->line[c] : w->e[0]) + at, mean_raw_row(j, c, row) + (s.lo >> hshift),
                      mean_p_row(j, g, c, row) + at, n >> hshift);
    }
    if (info->components == 3)
        mean_to_axes(w->e[0] + from, w->e[1] + from, w->e[2] + from,
                     w->line[1] + mean_at(j, s.lo, info->hshift),
                     w->line[2] + mean_at(j, s.lo, info->hshift), info->hshift, n, &j->axes);
    else
        mean_scale(w->e[0] + from, (float)j->axes.a, n);
    mean_square(w->line[0] + from, w->e[0] + from, n);
    for (int c = 0; c < info->components; c++) {
        const int at = mean_at(j, near.lo, 0);

        mean_pad(j, w->e[c], s, 1);
        mean_binomial(g->across[row & 3][c] + at, w->e[c] + at - 1, w->e[c] + at, w->e[c] + at + 1,
                      near.hi - near.lo);
        if (c)
            mean_add_square(w->line[0] + from, w->e[c] + from, n);
    }
    mean_pad(j, w->line[0], s, 2);
    mean_box5(g->misfit[row & 15] + mean_at(j, own.lo, 0), w->line[0] + mean_at(j, own.lo, 0),
              own.hi - own.lo);
}

/* E in 1/64, at most 2.5 nu of it. */
static void mean_clamp(int16_t *restrict to, const float *restrict e, const float *restrict most,
                       int n)
{
    for (int i = 0; i < n; i++) {
        const float low = e[i] < -most[i] ? -most[i] : e[i];
        const float v = low > most[i] ? most[i] : low;

        to[i] = (int16_t)((int32_t)(v * 64.0F + 32768.5F) - 32768);
    }
}

static void mean_make_smooth(const struct mean_job *j, struct mean_guess *g, int row)
{
    const struct mean_span s = mean_span(j, 8);
    const int above = row > 0 ? row - 1 : 0;
    const int below = row + 1 < j->x.height ? row + 1 : row;
    const int at = mean_at(j, s.lo, 0), n = s.hi - s.lo;
    float *most = j->scratch->noise + at;

    mean_lookup(most, j->clamp_by, mean_brightness_row(j, row) + s.lo, n);
    for (int c = 0; c < format_table[j->x.format].components; c++) {
        float *smooth = g->smooth[row & 7][c] + at;

        mean_binomial(smooth, g->across[above & 3][c] + at, g->across[row & 3][c] + at,
                      g->across[below & 3][c] + at, n);
        mean_scale(smooth, 1.0F / 16.0F, n);
        mean_clamp(g->clamped[row & 15][c] + at, smooth, most, n);
    }
}

static void mean_add(int32_t *restrict sum, const int16_t *restrict in, int n)
{
    for (int i = 0; i < n; i++)
        sum[i] += in[i];
}

static void mean_exchange(int32_t *restrict sum, const int16_t *restrict in,
                          const int16_t *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        sum[i] += in[i] - out[i];
}

/* The sums over 13 rows go on to @row. */
static void mean_sum_rows(const struct mean_job *j, struct mean_guess *g, int row)
{
    const struct mean_span s = mean_span(j, 8);
    const int at = mean_at(j, s.lo, 0), n = s.hi - s.lo, last = j->x.height - 1;
    const int out = row - 7 > 0 ? row - 7 : 0, in = row + 6 < last ? row + 6 : last;

    for (int c = 0; c < format_table[j->x.format].components; c++) {
        if (g->summed) {
            mean_exchange(g->sum[c] + at, g->clamped[in & 15][c] + at, g->clamped[out & 15][c] + at,
                          n);
            continue;
        }
        memset(g->sum[c] + at, 0, (size_t)n * sizeof(g->sum[c][0]));
        for (int y = row - 6; y <= row + 6; y++) {
            const int k = y < 0 ? 0 : y > last ? last : y;

            mean_add(g->sum[c] + at, g->clamped[k & 15][c] + at, n);
        }
    }
    g->summed = true;
}

static void mean_pair_sums(int32_t *restrict to, const int32_t *restrict from, int apart, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i] + from[i + apart];
}

/* C from sums over rows: @sum from 6 columns to the left on. */
static void mean_box13(struct mean_scratch *w, float *restrict to, const int32_t *sum, int n)
{
    const int32_t *const eight = w->part[0], *const four = w->part[1];

    mean_pair_sums(w->part[0], sum, 1, n + 12);
    mean_pair_sums(w->part[1], w->part[0], 2, n + 10);
    mean_pair_sums(w->part[0], w->part[1], 4, n + 6);
    for (int i = 0; i < n; i++)
        to[i] = (float)(eight[i] + four[i + 8] + sum[i + 12]) * (1.0F / (64.0F * 169.0F));
}

/* Noise to what |C|^2 must be above: with 1 + 1 / max(m, 1/2) frames. */
static void mean_light_limit(float *restrict noise, const uint8_t *restrict m, float steps, int n)
{
    for (int i = 0; i < n; i++) {
        const float count = (float)m[i];

        noise[i] *= 1.0F + steps / (count > 0.5F * steps ? count : 0.5F * steps);
    }
}

/* How much of C is kept, from |C|^2. */
static void mean_keep(float *restrict square, const float *restrict limit, int n)
{
    for (int i = 0; i < n; i++) {
        const float keep = 1.0F - limit[i] / (square[i] > 1e-9F ? square[i] : 1e-9F);

        square[i] = keep > 0.0F ? keep : 0.0F;
    }
}

/* L from C, and |E - L|^2 of one axis more. */
static void mean_take_light(float *restrict light, float *restrict fit, const float *restrict keep,
                            const float *restrict e, int n)
{
    for (int i = 0; i < n; i++) {
        const float l = light[i] * keep[i], d = e[i] - l;

        light[i] = l;
        fit[i] += d * d;
    }
}

static const uint8_t *mean_m_row(const struct mean_job *j, const struct mean_guess *g, int row)
{
    return g == &j->scratch->moved ? g->m[row & 31] + MEAN_EDGE
                                   : levels_counts(j->before, row) + j->left;
}

static void mean_make_fit(const struct mean_job *j, struct mean_guess *g, int row)
{
    const int components = format_table[j->x.format].components;
    const struct mean_span s = mean_span(j, 2), wide = mean_span(j, 8), own = mean_span(j, 0);
    const int at = mean_at(j, s.lo, 0), n = s.hi - s.lo;
    struct mean_scratch *w = j->scratch;
    float *keep = w->line[0] + at, *fit = w->line[1];

    mean_sum_rows(j, g, row);
    for (int c = 0; c < components; c++) {
        float *light = g->light[row & 3][c] + at;

        mean_pad_sums(j, g->sum[c], wide);
        mean_box13(w, light, g->sum[c] + at - 6, n);
        if (c)
            mean_add_square(keep, light, n);
        else
            mean_square(keep, light, n);
    }
    mean_lookup(w->noise + at, j->light_by, mean_brightness_row(j, row) + s.lo, n);
    mean_light_limit(w->noise + at, mean_m_row(j, g, row) + (s.lo - j->left), j->steps, n);
    mean_keep(keep, w->noise + at, n);
    memset(fit + at, 0, (size_t)n * sizeof(*fit));
    for (int c = 0; c < components; c++)
        mean_take_light(g->light[row & 3][c] + at, fit + at, keep, g->smooth[row & 7][c] + at, n);
    mean_pad(j, fit, s, 2);
    mean_box5(g->fit[row & 7] + mean_at(j, own.lo, 0), fit + mean_at(j, own.lo, 0),
              own.hi - own.lo);
}

/* Makes all that row @y of a guess needs. */
static void mean_reach(const struct mean_job *j, struct mean_guess *g, int y)
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
