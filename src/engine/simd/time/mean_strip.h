#pragma once
/* The end of step 2, steps 3 and 4 of engine/time/average.h, and all of them for a strip. */
#include "engine/simd/time/mean_guess.h"

static inline void mean_brightness(const uint8_t *row, size_t stride, uint8_t *restrict to, int n)
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

/* Rows around one of a ring, two above to two below. */
struct mean_rows5 {
    const float *row[5];
};

static inline struct mean_rows5 mean_rows5(const struct mean_job *j, float (*ring)[MEAN_LINE],
                                           int mask, int y)
{
    struct mean_rows5 ret;

    for (int i = 0; i < 5; i++)
        ret.row[i] = ring[mean_inside(y + i - 2, j->x.height) & mask] + MEAN_EDGE;
    return ret;
}

/* D from sums of |E - L|^2, and n'. */
static void mean_believe(const struct mean_job *j, float *restrict ret_d, float *restrict ret_n,
                         const struct mean_rows5 *fit, const struct mean_rows5 *misfit,
                         const uint8_t *restrict m, const float *restrict noise)
{
    const float *restrict a = fit->row[0], *restrict b = fit->row[1], *restrict c = fit->row[2];
    const float *restrict d = fit->row[3], *restrict e = fit->row[4];
    const float *restrict p = misfit->row[0], *restrict q = misfit->row[1];
    const float *restrict r = misfit->row[2], *restrict s = misfit->row[3];
    const float *restrict t = misfit->row[4];
    const float most_d = 1.5F * j->share, steps = j->steps, frame = 1.0F / j->steps;

    for (int i = 0; i < MEAN_STRIP; i++) {
        const float count = (float)m[i], per = 0.04F / noise[i];
        const float base = 1.0F + steps / (count > 0.5F * steps ? count : 0.5F * steps);
        const float fits = (((a[i] + b[i]) + (d[i] + e[i])) + c[i]) * per;
        const float misses = (((p[i] + q[i]) + (s[i] + t[i])) + r[i]) * per;
        const float over_d = fits - most_d * base, over_r = misses - 2.0F * base;
        const float doubt =
            6.0F * (over_d > 0.0F ? over_d : 0.0F) + (over_r > 0.0F ? over_r : 0.0F);
        const float n = count * frame;

        ret_d[i] = fits;
        ret_n[i] = n / (1.0F + n * doubt);
    }
}

/* P' of luma, and L of chroma from the axes to Y'CbCr. */
static void mean_add_light(const struct mean_job *j, struct mean_line_guess *ret,
                           const float (*light)[MEAN_LINE])
{
    const float a = (float)(1.0 / j->axes.a), b = (float)j->axes.b, c = (float)j->axes.c;
    const float d = (float)(1.0 / j->axes.d), e = (float)j->axes.e, f = (float)(1.0 / j->axes.f);
    const float *restrict l0 = light[0] + MEAN_EDGE, *restrict l1 = light[1] + MEAN_EDGE;
    const float *restrict l2 = light[2] + MEAN_EDGE;
    float *restrict p = ret->p[0] + MEAN_EDGE, *restrict lu = ret->p[1] + MEAN_EDGE;
    float *restrict lv = ret->p[2] + MEAN_EDGE;

    for (int i = 0; i < MEAN_STRIP; i++) {
        const float v = l2[i] * f, u = (l1[i] - e * v) * d;

        p[i] += (l0[i] - (b * u + c * v)) * a;
        lu[i] = u;
        lv[i] = v;
    }
}

static void mean_add_grey_light(float *restrict p, const float *restrict l0, float by)
{
    for (int i = 0; i < MEAN_STRIP; i++)
        p[i] += l0[i] * by;
}

/* P of @n samples of row @row. */
static void mean_p(const struct mean_job *j, const struct mean_guess *g, int component, int row,
                   float *restrict to, int n)
{
    const struct format_info *info = &format_table[j->x.format];
    const int hshift = component ? info->hshift : 0, vshift = component ? info->vshift : 0;
    const uint16_t *restrict before =
        levels_row(j->before, component, row >> vshift) + (j->left >> hshift);

    if (g == &j->scratch->moved)
        memcpy(to, g->p[component][row >> vshift & 31] + MEAN_EDGE, (size_t)n * sizeof(*to));
    else
        for (int i = 0; i < n; i++)
            to[i] = (float)before[i] * (1.0F / 256.0F);
}

/* D, n', P' and L of row @y of guess @which. */
static void mean_conclude(const struct mean_job *j, int which, int y)
{
    struct mean_scratch *w = j->scratch;
    struct mean_guess *g = which ? &w->moved : &w->still;
    struct mean_line_guess *ret = &w->guess[which];
    const struct mean_rows5 fit = mean_rows5(j, g->fit, 7, y);
    const struct mean_rows5 misfit = mean_rows5(j, g->misfit, 15, y);

    mean_believe(j, ret->d + MEAN_EDGE, ret->n + MEAN_EDGE, &fit, &misfit,
                 mean_m_row(j, g, y) + MEAN_EDGE, w->noise[y & 31] + MEAN_EDGE);
    mean_p(j, g, 0, y, ret->p[0] + MEAN_EDGE, MEAN_STRIP);
    if (format_table[j->x.format].components == 3)
        mean_add_light(j, ret, (const float(*)[MEAN_LINE])g->light[y & 3]);
    else
        mean_add_grey_light(ret->p[0] + MEAN_EDGE, g->light[y & 3][0] + MEAN_EDGE,
                            (float)(1.0 / j->axes.a));
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

static void mean_add_scaled(float *restrict to, const float *restrict light, float by, int n)
{
    for (int i = 0; i < n; i++)
        to[i] += light[i] * by;
}

static void mean_scale(float *v, float by, int n)
{
    for (int i = 0; i < n; i++)
        v[i] *= by;
}

/* A row of chroma, the last luma row of which is @y. */
static void mean_store_chroma(const struct mean_job *j, int y, float sharers, bool moved)
{
    const struct format_info *info = &format_table[j->x.format];
    const int at = MEAN_EDGE, n = (j->right - j->left) >> info->hshift;
    struct mean_scratch *w = j->scratch;
    float *p = w->line[0] + at, *q = w->line[1] + at;

    mean_scale(w->n_sum + at, 1.0F / sharers, n);
    if (moved)
        mean_scale(w->f_sum + at, 1.0F / sharers, n);
    for (int c = 1; c < 3; c++) {
        mean_p(j, &w->still, c, y, p, n);
        mean_add_scaled(p, w->light_sum[0][c - 1] + at, 1.0F / sharers, n);
        if (moved) {
            mean_p(j, &w->moved, c, y, q, n);
            mean_add_scaled(q, w->light_sum[1][c - 1] + at, 1.0F / sharers, n);
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

static inline void mean_strip(const struct mean_job *j)
{
    struct mean_scratch *w = j->scratch;
    bool moved = false;

    w->next_noise = j->top > 8 ? j->top - 8 : 0;
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
