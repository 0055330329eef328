#pragma once
/* The end of step 2, steps 3 and 4 of engine/time/average.h, and all of them for a strip. */
#include "engine/simd/time/mean_guess.h"

static void mean_brightness(const uint8_t *row, size_t stride, uint8_t *restrict to, int n)
{
    const uint8_t *above = row - stride, *below = row + stride;

    for (int x = 0; x < n; x++)
        to[x] = (uint8_t)((above[x - 1] + 2 * above[x] + above[x + 1] +
                           2 * (row[x - 1] + 2 * row[x] + row[x + 1]) + below[x - 1] +
                           2 * below[x] + below[x + 1] + 8) >>
                          4);
}

/* 2^@x, within 1e-4, for |@x| below 120. */
static inline float mean_exp2(float x)
{
    const int32_t whole = (int32_t)(x + 128.5F) - 128;
    const float part = x - (float)whole;
    const float p = 0.99992807F + part * (0.69326099F + part * (0.24261112F + part * 0.05517166F));
    const int32_t power = (whole + 127) * (1 << 23);
    float scale;

    memcpy(&scale, &power, sizeof(scale));
    return p * scale;
}

static void mean_sum5(float *restrict to, const float *restrict a, const float *restrict b,
                      const float *restrict c, const float *restrict d, const float *restrict e,
                      const float *restrict by, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (((a[i] + b[i]) + (d[i] + e[i])) + c[i]) * by[i];
}

/* n' from D and R. */
static void mean_believe(float *restrict ret, const float *restrict d, const float *restrict r,
                         const uint8_t *restrict m, float steps, float share, int n)
{
    const float most_d = 1.5F * share;

    for (int i = 0; i < n; i++) {
        const float count = (float)m[i];
        const float base = 1.0F + steps / (count > 0.5F * steps ? count : 0.5F * steps);
        const float over_d = d[i] - most_d * base, over_r = r[i] - 2.0F * base;
        const float doubt =
            6.0F * (over_d > 0.0F ? over_d : 0.0F) + (over_r > 0.0F ? over_r : 0.0F);

        ret[i] = count > 0.0F ? 1.0F / (steps / (count > 1.0F ? count : 1.0F) + doubt) : 0.0F;
    }
}

/* P' of luma, and L of chroma from the axes to Y'CbCr. */
static void mean_add_light(float *restrict p, float *restrict lu, float *restrict lv,
                           const float *restrict l0, const float *restrict l1,
                           const float *restrict l2, const struct colour_distance *axes, int n)
{
    const float a = (float)(1.0 / axes->a), b = (float)axes->b, c = (float)axes->c;
    const float d = (float)(1.0 / axes->d), e = (float)axes->e, f = (float)(1.0 / axes->f);

    for (int i = 0; i < n; i++) {
        const float v = l2[i] * f, u = (l1[i] - e * v) * d;

        p[i] += (l0[i] - (b * u + c * v)) * a;
        lu[i] = u;
        lv[i] = v;
    }
}

static void mean_add_grey_light(float *restrict p, const float *restrict l0, float by, int n)
{
    for (int i = 0; i < n; i++)
        p[i] += l0[i] * by;
}

/* Five rows around @y of a ring. */
#define MEAN_ROWS5(ring, mask, k)                                                                  \
    ring[(k)[0] & (mask)] + at, ring[(k)[1] & (mask)] + at, ring[(k)[2] & (mask)] + at,            \
        ring[(k)[3] & (mask)] + at, ring[(k)[4] & (mask)] + at

/* D, n', P' and L of row @y of guess @which. */
static void mean_conclude(const struct mean_job *j, int which, int y)
{
    const int at = MEAN_EDGE, n = j->right - j->left;
    struct mean_scratch *w = j->scratch;
    struct mean_guess *g = which ? &w->moved : &w->still;
    struct mean_line_guess *ret = &w->guess[which];
    const float *const p = mean_p_row(j, g, 0, y) + at;
    float(*const light)[MEAN_LINE] = g->light[y & 3];
    float *const misfit = w->line[0] + at, *const per = w->line[1] + at;
    int rows[5];

    for (int i = 0; i < 5; i++)
        rows[i] = mean_inside(y + i - 2, j->x.height);
    mean_lookup(per, j->fit_by, mean_brightness_row(j, y) + j->left, n);
    mean_sum5(misfit, MEAN_ROWS5(g->misfit, 15, rows), per, n);
    mean_sum5(ret->d + at, MEAN_ROWS5(g->fit, 7, rows), per, n);
    mean_believe(ret->n + at, ret->d + at, misfit, mean_m_row(j, g, y), j->steps, j->share, n);
    memcpy(ret->p[0] + at, p, (size_t)n * sizeof(*p));
    if (format_table[j->x.format].components == 3)
        mean_add_light(ret->p[0] + at, ret->p[1] + at, ret->p[2] + at, light[0] + at, light[1] + at,
                       light[2] + at, &j->axes, n);
    else
        mean_add_grey_light(ret->p[0] + at, light[0] + at, (float)(1.0 / j->axes.a), n);
}

/* f of row @y, and n' of both guesses in place of that of the first. */
static void mean_mix(const struct mean_job *j, int y)
{
    const int cols = (j->x.width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    const struct motion_vector *v = j->vectors + y / MOTION_BLOCK * cols;
    struct mean_scratch *w = j->scratch;
    float *restrict f = w->f + MEAN_EDGE, *restrict n0 = w->guess[0].n + MEAN_EDGE;
    const float *restrict n1 = w->guess[1].n + MEAN_EDGE;
    const float *restrict d0 = w->guess[0].d + MEAN_EDGE, *restrict d1 = w->guess[1].d + MEAN_EDGE;
    const float log2e = 1.44269504F, slope = 3.0F * log2e / j->share;

    for (int i = 0; i < j->right - j->left; i++) {
        const float x = slope * (d1[i] - d0[i]) + log2e;

        f[i] = 1.0F / (1.0F + mean_exp2(x < -60.0F ? -60.0F : x > 60.0F ? 60.0F : x));
        f[i] = n1[i] > 0.0F ? f[i] : 0.0F;
    }
    for (int x = j->left; x < j->right; x += MOTION_BLOCK)
        if (!v[x / MOTION_BLOCK].x && !v[x / MOTION_BLOCK].y)
            memset(f + (x - j->left), 0, MOTION_BLOCK * sizeof(*f));
    for (int i = 0; i < j->right - j->left; i++)
        n0[i] += f[i] * (n1[i] - n0[i]);
}

static void mean_blend(float *restrict p, const float *restrict q, const float *restrict f, int n)
{
    for (int i = 0; i < n; i++)
        p[i] += f[i] * (q[i] - p[i]);
}

/* H from P', x and n', in 1/256. */
static void mean_average(uint16_t *restrict to, const float *restrict p, const uint8_t *restrict x,
                         const float *restrict count, int n)
{
    for (int i = 0; i < n; i++) {
        const float level = p[i] + ((float)x[i] - p[i]) / (count[i] + 1.0F);
        const float steps = level * 256.0F + 0.5F;
        const float low = steps > 0.0F ? steps : 0.0F;

        to[i] = (uint16_t)(int32_t)(low < 65535.0F ? low : 65535.0F);
    }
}

static void mean_store_counts(uint8_t *restrict to, const float *restrict count, float steps,
                              int frames, int n)
{
    const float most = (float)frames;

    for (int i = 0; i < n; i++) {
        const float c = count[i] + 1.0F < most ? count[i] + 1.0F : most;
        const float v = c * steps + 0.5F;

        to[i] = (uint8_t)(int32_t)(v < 255.0F ? v : 255.0F);
    }
}

/* Adds a row of luma columns to the sums of the chroma columns that they share. */
static void mean_share(float *restrict sum, const float *restrict row, int hshift, bool first,
                       int n)
{
    if (first)
        memset(sum, 0, (size_t)(n >> hshift) * sizeof(*sum));
    if (hshift)
        for (int i = 0; i < n / 2; i++)
            sum[i] += row[2 * i] + row[2 * i + 1];
    else
        for (int i = 0; i < n; i++)
            sum[i] += row[i];
}

static void mean_add_scaled(float *restrict to, const float *restrict p,
                            const float *restrict light, float by, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = p[i] + light[i] * by;
}

/* A row of chroma, the last luma row of which is @y. */
static void mean_store_chroma(const struct mean_job *j, int y, float sharers, bool moved)
{
    const struct format_info *info = &format_table[j->x.format];
    const int at = MEAN_EDGE, n = (j->right - j->left) >> info->hshift;
    struct mean_scratch *w = j->scratch;

    mean_scale(w->n_sum + at, 1.0F / sharers, n);
    mean_scale(w->f_sum + at, 1.0F / sharers, n);
    for (int c = 1; c < 3; c++) {
        float *p = w->line[0] + at, *q = w->line[1] + at;

        mean_add_scaled(p, mean_p_row(j, &w->still, c, y) + at, w->light_sum[0][c - 1] + at,
                        1.0F / sharers, n);
        if (moved) {
            mean_add_scaled(q, mean_p_row(j, &w->moved, c, y) + at, w->light_sum[1][c - 1] + at,
                            1.0F / sharers, n);
            mean_blend(p, q, w->f_sum + at, n);
        }
        mean_average(levels_row(j->now, c, y >> info->vshift) + (j->left >> info->hshift), p,
                     mean_raw_row(j, c, y) + (j->left >> info->hshift), w->n_sum + at, n);
    }
}

static void mean_store(const struct mean_job *j, int y, bool moved)
{
    const struct format_info *info = &format_table[j->x.format];
    const int at = MEAN_EDGE, n = j->right - j->left;
    const bool first = !info->vshift || y % 2 == 0;
    const bool last = !info->vshift || y % 2 || y + 1 == j->x.height;
    struct mean_scratch *w = j->scratch;

    if (moved)
        mean_blend(w->guess[0].p[0] + at, w->guess[1].p[0] + at, w->f + at, n);
    mean_average(levels_row(j->now, 0, y) + j->left, w->guess[0].p[0] + at,
                 mean_raw_row(j, 0, y) + j->left, w->guess[0].n + at, n);
    mean_store_counts(levels_counts(j->now, y) + j->left, w->guess[0].n + at, j->steps, j->frames,
                      n);
    if (info->components == 1)
        return;
    mean_share(w->n_sum + at, w->guess[0].n + at, info->hshift, first, n);
    if (moved)
        mean_share(w->f_sum + at, w->f + at, info->hshift, first, n);
    for (int i = 0; i <= moved; i++)
        for (int c = 1; c < 3; c++)
            mean_share(w->light_sum[i][c - 1] + at, w->guess[i].p[c] + at, info->hshift, first, n);
    if (last)
        mean_store_chroma(j, y, (float)((1 << info->hshift) * (first ? 1 : 2)), moved);
}

static bool mean_any_moved(const struct mean_job *j, int row)
{
    const int cols = (j->x.width + MOTION_BLOCK - 1) / MOTION_BLOCK;

    for (int x = j->left; x < j->right && j->vectors; x += MOTION_BLOCK) {
        const struct motion_vector v = j->vectors[row * cols + x / MOTION_BLOCK];

        if (v.x || v.y)
            return true;
    }
    return false;
}

static void mean_strip(const struct mean_job *j)
{
    struct mean_scratch *w = j->scratch;
    bool moved = false;

    w->still.next_fit = w->moved.next_fit = -1000;
    for (int y = j->top; y < j->bottom; y++) {
        if (y % MOTION_BLOCK == 0)
            moved = mean_any_moved(j, y / MOTION_BLOCK);
        mean_reach(j, &w->still, y);
        mean_conclude(j, 0, y);
        if (moved) {
            mean_reach(j, &w->moved, y);
            mean_conclude(j, 1, y);
            mean_mix(j, y);
        }
        mean_store(j, y, moved);
    }
}
