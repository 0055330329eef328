#pragma once
/* Steps 3 and 4 of engine/time/average.h for a row of cells. */
#include "engine/simd/time/mean_guess.h"

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

/* f of row @y. */
MEAN_INLINE void mean_choose(const struct mean_job *j, int y, struct mean_parts tiles)
{
    const int cols = (j->x.width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    const struct motion_vector *v = j->vectors + 2 * y / MOTION_BLOCK * cols;
    struct mean_scratch *w = j->scratch;
    const float *restrict n = w->moved.n, *restrict d0 = w->still.d, *restrict d1 = w->moved.d;
    const float *restrict r0 = w->still.r, *restrict r1 = w->moved.r;
    const float *restrict bias = w->bias;
    float *restrict f = w->f;
    const float log2e = 1.44269504F;

    MEAN_COLUMNS(tiles)
    {
        const float x = (4.0F * (d1[i] - d0[i]) + 2.0F * (r1[i] - r0[i]) + bias[i]) * log2e;
        const float some = 1.0F / (1.0F + mean_exp2(x < -60.0F ? -60.0F : x > 60.0F ? 60.0F : x));

        f[i] = n[i] > 0.0F ? some : 0.0F;
    }
    for (int x = j->left; x < j->right; x += MOTION_BLOCK)
        if (!v[x / MOTION_BLOCK].x && !v[x / MOTION_BLOCK].y)
            memset(f + MEAN_EDGE + (x - j->left) / 2, 0, MOTION_BLOCK / 2 * sizeof(*f));
}

/* n', L and h of both guesses to those of the first. */
MEAN_INLINE void mean_mix(float *restrict to, const float *restrict from, const float *restrict f,
                          struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles) to[i] += f[i] * (from[i] - to[i]);
}

static inline void mean_store_counts(uint8_t *restrict to, const float *restrict count, int frames,
                                     int n)
{
    const float most = (float)frames;

    for (int i = 0; i < n; i++)
        to[i] = mean_count_of(count[i] + 1.0F < most ? count[i] + 1.0F : most);
}

/* What is kept of P, n' / (n' + 1), in 1/32768. */
MEAN_INLINE void mean_make_keep(float *restrict keep, int16_t *restrict to, const float *restrict n,
                                struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles)
    {
        keep[i] = n[i] / (n[i] + 1.0F);
        to[i] = (int16_t)(int32_t)(keep[i] * 32768.0F + 0.5F);
    }
}

MEAN_INLINE void mean_make_blend(int16_t *restrict to, const float *restrict f,
                                 struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles)
    {
        const float v = f[i] * 32768.0F + 0.5F;

        to[i] = (int16_t)(int32_t)(v < 32767.0F ? v : 32767.0F);
    }
}

/* What is kept of L, in 1/128, at most @most. */
MEAN_INLINE void mean_make_light(int16_t *restrict to, const float *restrict light,
                                 const float *restrict keep, int32_t most, struct mean_parts tiles)
{
    const int32_t least_v = 32768 - most, most_v = 32768 + most;

    MEAN_COLUMNS(tiles)
    {
        const int32_t v = (int32_t)(light[i] * keep[i] * 128.0F + 32768.5F);
        const int32_t low = v > least_v ? v : least_v, clamped = low < most_v ? low : most_v;

        to[i] = (int16_t)(clamped - 32768);
    }
}

/* What is kept of g, in 1/32768. */
MEAN_INLINE void mean_make_gain(int16_t *restrict to, const float *restrict part,
                                const float *restrict keep, struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles)
    {
        const float gain = part[i] / (1.0F - part[i]);

        to[i] = (int16_t)((int32_t)(gain * keep[i] * 32768.0F + 32768.5F) - 32768);
    }
}

/* Each number twice. */
MEAN_INLINE void mean_double(int16_t *restrict to, const int16_t *restrict from,
                             struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles)
    {
        const uint32_t one = (uint16_t)from[i], both = one << 16 | one;

        memcpy(to + 2 * i, &both, sizeof(both));
    }
}

/* How a row of samples comes to its mean. */
struct mean_mixture {
    const uint16_t *still, *moved;       /* P */
    const int16_t *keep, *blend, *light; /* what is kept of P, f, and what is kept of L */
    const int16_t *gain;                 /* what is kept of g */
    int16_t neutral;                     /* K, as levels are */
};

/* H = x + keep (P - x) + light, and of @chroma + gain (P - K), in 0..LEVELS_MOST: x itself where
 * nothing is kept. @x: bytes, or @words. */
MEAN_INLINE void mean_store_row(uint16_t *restrict to, const void *restrict x,
                                const struct mean_mixture *from, int n, const bool moved,
                                const bool words, const bool chroma)
{
    const uint16_t *restrict p = from->still, *restrict q = from->moved;
    const int16_t *restrict keep = from->keep, *restrict blend = from->blend;
    const int16_t *restrict light = from->light, *restrict gain = from->gain;
    const int16_t neutral = from->neutral;

    for (int i = 0; i < n; i++) {
        const int16_t raw = words ? (int16_t)(((const uint16_t *)x)[i] >> 1)
                                  : (int16_t)(((const uint8_t *)x)[i] << 7);
        const int16_t shift = moved ? mean_part((int16_t)(q[i] - p[i]), blend[i]) : 0;
        const int16_t guess = (int16_t)(p[i] + shift), away = (int16_t)(guess - raw);
        const int16_t tint = chroma ? mean_part((int16_t)(guess - neutral), gain[i]) : 0;
        const int16_t more = (int16_t)(light[i] + tint);
        const uint16_t level = (uint16_t)(raw + mean_part(away, keep[i]));
        const uint16_t most = (uint16_t)(LEVELS_MOST - more);
        const int16_t sum = (int16_t)((level < most ? level : most) + more);

        to[i] = (uint16_t)(sum > 0 ? sum : 0);
    }
}

/* Samples of a component of row @row of it. */
MEAN_INLINE void mean_store_samples(const struct mean_job *j, int component, int row,
                                    const bool moved, const bool chroma)
{
    const int hs = mean_hshift(j, component), at = 2 * MEAN_EDGE >> hs;
    const struct mean_scratch *w = j->scratch;
    const struct mean_mixture from = {
        .still = mean_p_row(j, &w->still, component, row) + at,
        .moved = mean_p_row(j, &w->moved, component, row) + at,
        .keep = (hs ? w->keep : w->keep_pairs) + at,
        .blend = (hs ? w->blend : w->blend_pairs) + at,
        .light = (hs ? w->light[component] : w->light_pairs[component]) + at,
        .gain = (hs ? w->gain : w->gain_pairs) + at,
        .neutral = (int16_t)(j->neutral[component] << 7),
    };
    uint16_t *to = levels_row(j->now, component, row) + mean_start(j, component) + at;
    const int n = (j->right - j->left) >> hs;

    if (j->words)
        mean_store_row(to, mean_word_row(j, component, row) + at, &from, n, moved, true, chroma);
    else
        mean_store_row(to, mean_raw_row(j, component, row) + at, &from, n, moved, false, chroma);
}

/* Both rows of a component that a row of cells has, or the one that these share. */
static inline void mean_store_component(const struct mean_job *j, int c, int y, bool moved)
{
    for (int row = 2 * y; row < 2 * y + 2 && row < j->x.height; row++) {
        const int at = row >> mean_vshift(j, c);

        if (mean_vshift(j, c) && row % 2)
            continue;
        if (c && moved)
            mean_store_samples(j, c, at, true, true);
        else if (c)
            mean_store_samples(j, c, at, false, true);
        else if (moved)
            mean_store_samples(j, c, at, true, false);
        else
            mean_store_samples(j, c, at, false, false);
    }
}

/* All of row @y, of which D, n', L and h are there, those of the second guess in tiles that @moved.
 */
MEAN_INLINE void mean_store(const struct mean_job *j, int y, struct mean_parts moved)
{
    const int components = format_table[j->x.format].components;
    struct mean_scratch *w = j->scratch;
    float(*light)[MEAN_LINE] = w->still.light[y & 1], *keep = w->line;

    if (moved.n) {
        mean_choose(j, y, moved);
        mean_mix(w->still.n, w->moved.n, w->f, moved);
        for (int c = 0; c < components; c++)
            mean_mix(light[c], w->moved.light[y & 1][c], w->f, moved);
        if (components > 1)
            mean_mix(w->still.part[y & 1], w->moved.part[y & 1], w->f, moved);
        memset(w->blend_pairs, 0, sizeof(w->blend_pairs));
        memset(w->blend, 0, sizeof(w->blend));
        mean_make_blend(w->blend, w->f, moved);
        mean_double(w->blend_pairs, w->blend, moved);
    }
    mean_store_counts(levels_counts(j->now, y) + j->left / 2, w->still.n + MEAN_EDGE, j->frames,
                      (j->right - j->left) / 2);
    mean_make_keep(keep, w->keep, w->still.n, mean_all(j));
    mean_double(w->keep_pairs, w->keep, mean_all(j));
    if (components > 1)
        mean_make_gain(w->gain, w->still.part[y & 1], keep, mean_all(j));
    if (components > 1 && !mean_hshift(j, 1))
        mean_double(w->gain_pairs, w->gain, mean_all(j));
    for (int c = 0; c < components; c++) {
        /* That of chroma leaves room in 16 bits for g (P - K). */
        mean_make_light(w->light[c], light[c], keep, c ? 16383 : 32767, mean_all(j));
        if (!mean_hshift(j, c))
            mean_double(w->light_pairs[c], w->light[c], mean_all(j));
        mean_store_component(j, c, y, moved.n > 0);
    }
}
