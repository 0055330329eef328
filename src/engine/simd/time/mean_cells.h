#pragma once
/* From the samples of a frame and of a guess to cells: E, and what |e|^2 has more than |A|^2. */
#include <math.h>

#include "engine/simd/time/mean_predict.h"

/* The mean luma of @n cells from their two rows. */
static inline void mean_brightness(const uint8_t *a, const uint8_t *b, uint8_t *restrict to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)((a[2 * i] + a[2 * i + 1] + b[2 * i] + b[2 * i + 1] + 2) >> 2);
}

/* x - P in 1/128 of a level. */
static inline void mean_subtract(int16_t *restrict to, const uint8_t *restrict x,
                                 const uint16_t *restrict p, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (int16_t)((x[i] << 7) - p[i]);
}

/* The same of samples of 16 bits. */
static inline void mean_subtract_words(int16_t *restrict to, const uint16_t *restrict x,
                                       const uint16_t *restrict p, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (int16_t)((x[i] >> 1) - p[i]);
}

/* The same of the second guess, from that of the first. */
MEAN_INLINE void mean_subtract_moved(int16_t *restrict to, const int16_t *restrict away,
                                     const uint16_t *restrict p, const uint16_t *restrict moved,
                                     struct mean_parts tiles, const int per)
{
    MEAN_SAMPLES(tiles, per) to[i] = (int16_t)(away[i] + p[i] - moved[i]);
}

MEAN_INLINE void mean_take_tiles(int16_t *restrict to, const int16_t *restrict from,
                                 struct mean_parts tiles, const int per)
{
    MEAN_SAMPLES(tiles, per) to[i] = from[i];
}

/* Two neighbours: loaded as one word, so that compilers make vectors of it. */
struct mean_pair {
    float a, b;
};

static inline struct mean_pair mean_pair(const int16_t *p)
{
    const bool swapped = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint32_t both;
    float low, high;

    memcpy(&both, p, sizeof(both));
    low = (float)((int32_t)(both << 16) >> 16);
    high = (float)((int32_t)both >> 16);
    return swapped ? (struct mean_pair){high, low} : (struct mean_pair){low, high};
}

/* Columns around each cell weighed 1 3 3 1, where there are two samples to a cell, and where there
 * is one. */
MEAN_INLINE void mean_across_pairs(float *restrict to, const int16_t *v, struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles)
    {
        const struct mean_pair left = mean_pair(v + 2 * i - 1), right = mean_pair(v + 2 * i + 1);

        to[i] = (left.a + right.b) + 3.0F * (left.b + right.a);
    }
}

MEAN_INLINE void mean_across_singles(float *restrict to, const int16_t *v, struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles) to[i] = (float)(v[i - 1] + 6 * v[i] + v[i + 1]);
}

MEAN_INLINE void mean_across(const struct mean_job *j, struct mean_guess *g, int component, int row,
                             struct mean_parts tiles)
{
    if (mean_hshift(j, component))
        mean_across_singles(g->across[component][row & 3], g->away[component][row & 3], tiles);
    else
        mean_across_pairs(g->across[component][row & 3], g->away[component][row & 3], tiles);
}

/* Row @row of a component. */
static inline void mean_make_still_row(const struct mean_job *j, int component, int row)
{
    const int hs = mean_hshift(j, component), at = 2 * MEAN_FROM >> hs;
    const int n = 2 * (mean_end(j) - MEAN_FROM) >> hs;
    struct mean_guess *g = &j->scratch->still;
    const uint16_t *p = mean_p_row(j, g, component, row) + at;
    int16_t *to = g->away[component][row & 3];

    if (j->words)
        mean_subtract_words(to + at, mean_word_row(j, component, row) + at, p, n);
    else
        mean_subtract(to + at, mean_raw_row(j, component, row) + at, p, n);
    mean_pad_samples(j, component, to);
    mean_across(j, g, component, row, mean_all(j));
}

/* Of the second guess, once the first has it. */
MEAN_INLINE void mean_make_moved_row(const struct mean_job *j, int component, int row,
                                     struct mean_parts still, struct mean_parts moved)
{
    struct mean_scratch *w = j->scratch;
    const uint16_t *p = mean_p_row(j, &w->still, component, row);
    const uint16_t *q = mean_p_row(j, &w->moved, component, row);
    const int16_t *from = w->still.away[component][row & 3];
    int16_t *to = w->moved.away[component][row & 3];

    if (mean_hshift(j, component)) {
        mean_take_tiles(to, from, still, 1);
        mean_subtract_moved(to, from, p, q, moved, 1);
    } else {
        mean_take_tiles(to, from, still, 2);
        mean_subtract_moved(to, from, p, q, moved, 2);
    }
    mean_pad_samples(j, component, to);
    mean_across(j, &w->moved, component, row, still);
    mean_across(j, &w->moved, component, row, moved);
}

/* The samples of luma row @row, and of chroma where it is the first that shares them. */
static inline void mean_make_row(const struct mean_job *j, int row)
{
    const struct mean_parts still = mean_list_still(j, MEAN_ROWS, row / 2);
    const struct mean_parts moved = mean_list_moved(j, MEAN_ROWS, row / 2);

    for (int c = 0; c < format_table[j->x.format].components; c++) {
        const int vs = mean_vshift(j, c);

        if (vs && row % 2)
            continue;
        mean_make_still_row(j, c, row >> vs);
        mean_make_moved_row(j, c, row >> vs, still, moved);
    }
}

/* Where rows of samples around a row of cells are in a ring: two of its own, one above, one below.
 */
struct mean_rows4 {
    int at[4];
};

static inline struct mean_rows4 mean_rows4(const struct mean_job *j, int component, int row)
{
    struct mean_rows4 ret;

    for (int i = 0; i < 4; i++)
        ret.at[i] = frame_nearest(2 * row - 1 + i, j->x.height) >> mean_vshift(j, component) & 3;
    return ret;
}

/* A of one component, from rows weighed 1 3 3 1 in 1/8192. The sums are exact. */
MEAN_INLINE void mean_down(float *restrict to, float (*ring)[MEAN_LINE], struct mean_rows4 rows,
                           struct mean_parts tiles)
{
    const float *a = ring[rows.at[0]], *b = ring[rows.at[1]];
    const float *c = ring[rows.at[2]], *d = ring[rows.at[3]];

    MEAN_COLUMNS(tiles) to[i] = ((a[i] + d[i]) + 3.0F * (b[i] + c[i])) * (1.0F / 8192.0F);
}

/* Two rows of a component. */
struct mean_rows2 {
    const int16_t *above, *below;
};

#define MEAN_SQUARE (1.0F / (128.0F * 128.0F)) /* of a sample's difference, in levels */

static inline float mean_square(struct mean_pair v)
{
    return v.a * v.a + v.b * v.b;
}

/* The sum of |e|^2 over the samples of a cell: chroma with one column, two, or none. */
MEAN_INLINE void mean_squares_shared(float *restrict to, const struct mean_rows2 rows[3],
                                     struct mean_parts tiles)
{
    const int16_t *p = rows[0].above, *q = rows[0].below, *u = rows[1].above;
    const int16_t *s = rows[1].below, *v = rows[2].above, *t = rows[2].below;
    const float luma = MEAN_SQUARE, chroma = 2.0F * NOISE_CHROMA * MEAN_SQUARE;

    MEAN_COLUMNS(tiles)
    {
        const struct mean_pair y = mean_pair(p + 2 * i), z = mean_pair(q + 2 * i);
        const float u0 = u[i], u1 = s[i], v0 = v[i], v1 = t[i];

        to[i] = luma * (mean_square(y) + mean_square(z)) +
                chroma * ((u0 * u0 + u1 * u1) + (v0 * v0 + v1 * v1));
    }
}

MEAN_INLINE void mean_squares_own(float *restrict to, const struct mean_rows2 rows[3],
                                  struct mean_parts tiles)
{
    const int16_t *p = rows[0].above, *q = rows[0].below, *u = rows[1].above;
    const int16_t *s = rows[1].below, *v = rows[2].above, *t = rows[2].below;
    const float luma = MEAN_SQUARE, chroma = NOISE_CHROMA * MEAN_SQUARE;

    MEAN_COLUMNS(tiles)
    to[i] = luma * (mean_square(mean_pair(p + 2 * i)) + mean_square(mean_pair(q + 2 * i))) +
            chroma * ((mean_square(mean_pair(u + 2 * i)) + mean_square(mean_pair(s + 2 * i))) +
                      (mean_square(mean_pair(v + 2 * i)) + mean_square(mean_pair(t + 2 * i))));
}

MEAN_INLINE void mean_squares_grey(float *restrict to, const struct mean_rows2 *rows,
                                   struct mean_parts tiles)
{
    const int16_t *p = rows->above, *q = rows->below;

    MEAN_COLUMNS(tiles)
    to[i] = MEAN_SQUARE * (mean_square(mean_pair(p + 2 * i)) + mean_square(mean_pair(q + 2 * i)));
}

MEAN_INLINE void mean_box3(float *restrict to, const float *from, struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles) to[i] = (from[i - 1] + from[i + 1]) + from[i];
}

/* Less |A|^2 of a cell for each of its samples. */
MEAN_INLINE void mean_take_squares(float *restrict square, float (*mean)[MEAN_LINE], int components,
                                   struct mean_parts tiles)
{
    const float *restrict a = mean[0], *restrict b = mean[1], *restrict c = mean[2];

    if (components == 1)
        MEAN_COLUMNS(tiles) square[i] -= 4.0F * (a[i] * a[i]);
    else
        MEAN_COLUMNS(tiles)
    square[i] -= 4.0F * (a[i] * a[i] + NOISE_CHROMA * (b[i] * b[i] + c[i] * c[i]));
}

/* nu2 and nu of row @row. Compilers make no vectors of what is looked up. */
static inline void mean_make_noise(const struct mean_job *j, int row)
{
    const int end = mean_end(j);
    const uint8_t *bright = mean_brightness_row(j, row);
    float *restrict noise = j->scratch->noise[row & 15], *restrict nu = j->scratch->nu[row & 15];

    _Pragma("GCC unroll 8") for (int i = MEAN_FROM; i < end; i++) noise[i] = j->variance[bright[i]];
    for (int i = MEAN_FROM; i < end; i++)
        nu[i] = sqrtf(noise[i]);
}

MEAN_INLINE void mean_take_colour(int16_t *restrict to, const uint8_t *restrict from, int neutral,
                                  int end, const int per)
{
    for (int i = MEAN_FROM; i < end; i++)
        to[i] = (int16_t)(from[per * i] - neutral);
}

/* y - K and c - K of row @row. */
static inline void mean_make_colours(const struct mean_job *j, int row)
{
    const int end = mean_end(j);
    int16_t(*to)[MEAN_LINE] = j->scratch->colour[row & 7];

    mean_take_colour(to[0], mean_brightness_row(j, row), j->neutral[0], end, 1);
    for (int c = 1; c < format_table[j->x.format].components; c++) {
        const uint8_t *from = mean_raw_row(j, c, 2 * row >> mean_vshift(j, c));

        if (mean_hshift(j, c))
            mean_take_colour(to[c], from, j->neutral[c], end, 1);
        else
            mean_take_colour(to[c], from, j->neutral[c], end, 2);
    }
}

/* What is clamped has a name of its own: GCC 12 would else add to both ends, too, and choose from
 * three sums (mean_make_light() likewise). */
MEAN_INLINE void mean_clamp(int16_t *restrict to, const float *restrict e, const float *restrict nu,
                            float most, struct mean_parts tiles)
{
    MEAN_COLUMNS(tiles)
    {
        const float end = 128.0F * most * nu[i], v = 128.0F * e[i], low = v > -end ? v : -end;
        const float clamped = low < end ? low : end;

        to[i] = (int16_t)((int32_t)(clamped + 32768.5F) - 32768);
    }
}

/* What a change of the light's colour adds; @luma: y - K. */
MEAN_INLINE void mean_add_tint(float *restrict to, float tint, const int16_t *restrict luma,
                               struct mean_parts tiles)
{
    if (tint == 0.0F)
        return;
    MEAN_COLUMNS(tiles) to[i] += tint * (float)luma[i];
}

/* E, clamped too, and what |e|^2 has more, of a row of cells. */
MEAN_INLINE void mean_make_cells(const struct mean_job *j, struct mean_guess *g, int row,
                                 struct mean_parts tiles)
{
    const int components = format_table[j->x.format].components;
    float(*mean)[MEAN_LINE] = g->mean[row & 3];
    float *square = j->scratch->line;
    struct mean_rows2 rows[3];

    for (int c = 0; c < components; c++) {
        const struct mean_rows4 around = mean_rows4(j, c, row);

        mean_down(mean[c], g->across[c], around, tiles);
        rows[c].above = g->away[c][around.at[1]];
        rows[c].below = g->away[c][around.at[2]];
    }
    if (components == 1)
        mean_squares_grey(square, rows, tiles);
    else if (mean_hshift(j, 1))
        mean_squares_shared(square, rows, tiles);
    else
        mean_squares_own(square, rows, tiles);
    mean_take_squares(square, mean, components, tiles);
    mean_pad_cells(j, square, 1);
    mean_box3(g->rest[row & 7], square, tiles);
    for (int c = 1; c < components; c++)
        mean_add_tint(mean[c], -j->tint[c], j->scratch->colour[row & 7][0], tiles);
    for (int c = 0; c < components; c++)
        mean_clamp(g->clamped[row & 7][c], mean[c], j->scratch->nu[row & 15], c ? 1.0F : 3.5F,
                   tiles);
}
