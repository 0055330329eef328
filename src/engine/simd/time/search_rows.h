#pragma once
/* The search for one row of blocks, as every set of row kernels compiles it. The set's file has the
 * sums of absolute differences of a window @a and a window @b, and those of the nine windows
 * around @b (@b is number 4); rows are @stride samples apart:
 *   sad_16x16(), sads_16x16()  of luma, times four, which is level 0
 *   sads_8x8()                 of the other levels */
#include <stdlib.h>
#include <string.h>

#include "engine/simd/time/search.h"

struct search_price {
    int not_zero, away;
    struct search_vector expected;
};

/* Cost and number of a candidate in one, so that the least is the first of the cheapest. */
static inline int32_t search_key(const struct search_price *price, int x, int y, int32_t sad,
                                 int number)
{
    const int away = abs(x - price->expected.x) + abs(y - price->expected.y);

    return (sad + price->away * away + (x | y ? price->not_zero : 0)) * 64 + number;
}

/* The least of @best and the keys of the 3x3 vectors around @v, numbered from @first on. Compilers
 * make one vector of eight of them, unless this is inlined: then GCC 12 takes them one by one. */
static __attribute__((noinline)) int32_t search_least(int32_t best,
                                                      const struct search_price *price,
                                                      const int32_t sad[9], struct search_vector v,
                                                      int first)
{
    static const int32_t dx[8] = {-1, 0, 1, -1, 0, 1, -1, 0};
    static const int32_t dy[8] = {-1, -1, -1, 0, 0, 0, 1, 1};
    const int32_t last = search_key(price, v.x + 1, v.y + 1, sad[8], first + 8);

    for (int i = 0; i < 8; i++) {
        const int32_t key = search_key(price, v.x + dx[i], v.y + dy[i], sad[i], first + i);

        best = key < best ? key : best;
    }
    return last < best ? last : best;
}

/* The one with number @i of those around @v. */
static inline struct search_vector search_near(struct search_vector v, int i)
{
    return (struct search_vector){(int16_t)(v.x + i % 3 - 1), (int16_t)(v.y + i / 3 - 1)};
}

static inline bool search_same(struct search_vector a, struct search_vector b)
{
    return !memcmp(&a, &b, sizeof(a));
}

static inline ptrdiff_t search_away(struct search_vector v, size_t stride)
{
    return v.y * (ptrdiff_t)stride + v.x;
}

/* Where a window of 8x8 is in both pictures. */
struct search_window {
    const uint16_t *now, *before;
    size_t stride;
};

/* 5x5 vectors around 0, from four times 3x3 of them. */
static inline struct search_vector search_top(const struct search_window *w)
{
    const struct search_price price = {.not_zero = 16, .away = 12};
    int32_t best = INT32_MAX;
    int32_t sad[5][5], part[9];

    for (int k = 0; k < 4; k++) {
        const int x = k % 2 * 2, y = k / 2 * 2;

        sads_8x8(part, w->now, w->before + (y - 1) * (ptrdiff_t)w->stride + x - 1, w->stride);
        for (int i = 0; i < 9; i++)
            sad[y + i / 3][x + i % 3] = part[i];
    }
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++) {
            const int32_t key = search_key(&price, x - 2, y - 2, sad[y][x], 5 * y + x);

            best = key < best ? key : best;
        }
    return (struct search_vector){(int16_t)((best & 63) % 5 - 2), (int16_t)((best & 63) / 5 - 2)};
}

static inline struct search_vector
search_between(const struct search_window *w, const struct search_grid *parents, int col, int row)
{
    const struct search_vector *v = search_at(parents, col / 2, row / 2);
    const ptrdiff_t x = col % 2 ? 1 : -1, y = row % 2 ? parents->stride : -parents->stride;
    const struct search_vector around[6] = {{0, 0}, v[0], v[x], v[y], v[-x], v[-y]};
    const struct search_price price = {40, 4, v[0]};
    int32_t best = INT32_MAX;

    /* A vector that is there twice is tried around once. */
    for (int i = 0; i < 6; i++) {
        int32_t sad[9];
        int k = 0;

        while (!search_same(around[k], around[i]))
            k++;
        if (k < i)
            continue;
        sads_8x8(sad, w->now, w->before + search_away(around[i], w->stride), w->stride);
        best = search_least(best, &price, sad, around[i], 9 * i);
    }
    return search_near(around[(best & 63) / 9], (best & 63) % 9);
}

static void search_coarse_block(const struct search_job *j, int col, int row)
{
    const size_t stride = j->now->stride;
    const ptrdiff_t at = (4 * row - 2) * (ptrdiff_t)stride + 4 * col - 2;
    const struct search_window w = {j->now->sample + at, j->before->sample + at, stride};

    const struct search_vector v =
        j->level == MOTION_TOP ? search_top(&w) : search_between(&w, j->parents, col, row);

    *search_at(j->grid, col, row) = (struct search_vector){(int16_t)(2 * v.x), (int16_t)(2 * v.y)};
}

/* --- level 0, whose samples are four times those of luma --- */

struct search_fit {
    int num, den;
    bool near_zero;
};

static inline struct search_fit search_fit(int l, int c, int r)
{
    const int rise = (l > r ? l : r) - c, slope = l - r, apart = abs(slope);

    if (rise <= 0)
        return (struct search_fit){0, 1, true};
    return (struct search_fit){
        slope < -rise  ? -rise
        : slope > rise ? rise
                       : slope,
        2 * rise, (6 * rise < c) | (5 * apart < 2 * rise) | ((2 * apart < rise) & (4 * apart < c))};
}

static inline int search_eighths(struct search_fit f)
{
    const int n = (16 * abs(f.num) + f.den) / (2 * f.den);

    return f.num < 0 ? -n : n;
}

/* What the SADs around @v tell of the block at @at. */
static inline void search_match(const struct search_matched *to, ptrdiff_t at, const int32_t sad[9],
                                struct search_vector v)
{
    const struct search_fit x = search_fit(sad[3], sad[4], sad[5]);
    const struct search_fit y = search_fit(sad[1], sad[4], sad[7]);
    const bool stands = !(v.x | v.y) && x.near_zero & y.near_zero;

    to->x[at] = (int16_t)(stands ? 0 : 8 * v.x + search_eighths(x));
    to->y[at] = (int16_t)(stands ? 0 : 8 * v.y + search_eighths(y));
    to->weight_x[at] = (int16_t)motion_weight(x.den / 2);
    to->weight_y[at] = (int16_t)motion_weight(y.den / 2);
}

static void search_full_block(const struct search_job *j, int col, int row)
{
    const size_t stride = j->luma_now->stride[0];
    const ptrdiff_t at = (8 * row - 4) * (ptrdiff_t)stride + 8 * col - 4;
    const uint8_t *now = j->luma_now->plane[0] + at, *before = j->luma_before->plane[0] + at;
    const struct search_vector *m = search_at(j->parents, col, row), v = m[0];
    const struct search_vector others[5] = {
        {0, 0}, m[-1], m[1], m[-j->parents->stride], m[j->parents->stride]};
    const struct search_price price = {230, 11, v};
    struct search_vector ret;
    int32_t best;
    int32_t sad[9];

    sads_16x16(sad, now, before + search_away(v, stride), stride);
    best = search_least(INT32_MAX, &price, sad, v, 1);
    for (int i = 0; i < 5; i++) {
        const struct search_vector o = others[i];
        const int x = o.x - v.x + 1, y = o.y - v.y + 1;
        const bool known = (unsigned)x <= 2 && (unsigned)y <= 2;
        int32_t key;

        if (known && i > 0)
            continue;
        key = search_key(&price, o.x, o.y,
                         known ? sad[3 * y + x]
                               : sad_16x16(now, before + search_away(o, stride), stride),
                         i ? 9 + i : 0);
        best = key < best ? key : best;
    }
    best &= 63;
    ret = best == 0 ? others[0] : best < 10 ? search_near(v, best - 1) : others[best - 9];
    if (!search_same(ret, v))
        sads_16x16(sad, now, before + search_away(ret, stride), stride);
    search_match(&j->matched, row * j->matched.stride + col, sad, ret);
}

enum { SEARCH_PIECE = 256 }; /* blocks of a row of which means are taken at a time */

/* How far others are from a block's vector, added up by weight, and their weights. */
struct search_sums {
    int16_t x[SEARCH_PIECE], y[SEARCH_PIECE], n_x[SEARCH_PIECE], n_y[SEARCH_PIECE];
};

/* Adds the vectors @other blocks after those from @at on, where they are not 0 and alike. */
static inline void search_add_alike(struct search_sums *restrict s, const struct search_matched *m,
                                    ptrdiff_t at, ptrdiff_t other, int cols)
{
    const int16_t *own_x = m->x + at, *own_y = m->y + at;
    const int16_t *x = own_x + other, *y = own_y + other;
    const int16_t *weight_x = m->weight_x + at + other, *weight_y = m->weight_y + at + other;

    for (int i = 0; i < cols; i++) {
        const int16_t away_x = (int16_t)(x[i] - own_x[i]), away_y = (int16_t)(y[i] - own_y[i]);
        const bool counts = ((x[i] | y[i]) != 0) & (away_x <= MOTION_ALIKE) &
                            (away_x >= -MOTION_ALIKE) & (away_y <= MOTION_ALIKE) &
                            (away_y >= -MOTION_ALIKE);
        const int16_t mask = (int16_t)-counts;
        const int16_t w_x = (int16_t)(weight_x[i] & mask), w_y = (int16_t)(weight_y[i] & mask);

        s->x[i] = (int16_t)(s->x[i] + w_x * away_x);
        s->y[i] = (int16_t)(s->y[i] + w_y * away_y);
        s->n_x[i] = (int16_t)(s->n_x[i] + w_x);
        s->n_y[i] = (int16_t)(s->n_y[i] + w_y);
    }
}

/* To the nearest, halves away from zero: whole numbers below 2^24 are divided exactly enough. */
static inline int search_mean(int sum, int n)
{
    const int mean = (int)((float)(2 * abs(sum) + n) / (float)(2 * n));

    return sum < 0 ? -mean : mean;
}

/* A row of means with what moves alike. */
static void search_smooth(const struct search_job *j, int row)
{
    const struct search_matched *m = &j->matched;
    const int cols = j->grid->cols;

    for (int left = 0; left < cols; left += SEARCH_PIECE) {
        const int end = cols - left < SEARCH_PIECE ? cols - left : SEARCH_PIECE;
        const ptrdiff_t at = row * m->stride + left;
        const int16_t *x = m->x + at, *y = m->y + at;
        struct motion_vector *to = j->found + row * cols + left;
        struct search_sums s = {0};

        for (int dy = -MOTION_REACH; dy <= MOTION_REACH; dy++)
            for (int dx = -MOTION_REACH; dx <= MOTION_REACH; dx++)
                search_add_alike(&s, m, at, dy * m->stride + dx, end);
        for (int i = 0; i < end; i++)
            to[i] = x[i] | y[i]
                        ? (struct motion_vector){(int16_t)(x[i] + search_mean(s.x[i], s.n_x[i])),
                                                 (int16_t)(y[i] + search_mean(s.y[i], s.n_y[i]))}
                        : (struct motion_vector){0, 0};
    }
}

static void search_row(const struct search_job *j, int row)
{
    for (int col = 0; col < j->grid->cols; col++)
        if (j->level > 0)
            search_coarse_block(j, col, row);
        else
            search_full_block(j, col, row);
}

/* A row of the level above two rows. Neighbours are loaded as one word, so that a compiler makes
 * vectors of it. */
static void search_halve(const uint16_t *a, const uint16_t *b, uint16_t *restrict to, int n)
{
    for (int x = 0; x < n; x++) {
        uint32_t p, q;

        memcpy(&p, a + 2 * x, sizeof(p));
        memcpy(&q, b + 2 * x, sizeof(q));
        to[x] = (uint16_t)(((p & 0xFFFF) + (p >> 16) + (q & 0xFFFF) + (q >> 16) + 2) >> 2);
    }
}

/* The same from luma, of which level 0 is four times. */
static void search_halve_luma(const uint8_t *a, const uint8_t *b, uint16_t *restrict to, int n)
{
    for (int x = 0; x < n; x++) {
        uint16_t p, q;

        memcpy(&p, a + 2 * x, sizeof(p));
        memcpy(&q, b + 2 * x, sizeof(q));
        to[x] = (uint16_t)((p & 0xFF) + (p >> 8) + (q & 0xFF) + (q >> 8));
    }
}
