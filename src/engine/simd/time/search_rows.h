#pragma once
/* The search for one row of blocks, as every set of row kernels compiles it. A vector that is a
 * candidate twice is tried once: the first of the cheapest wins. */
#include <stdlib.h>
#include <string.h>

#include "engine/simd/time/search.h"

/* Where the SAD of a window is least so far. */
struct search_best {
    int cost, sad, x, y;
};

struct search_price {
    int not_zero, away, x, y;
};

/* The sum of absolute differences of 8x8 samples. */
static inline int search_sad8(const uint16_t window[64], const uint16_t *p, size_t stride)
{
    uint16_t sum[8] = {0};
    int all = 0;

    for (int y = 0; y < 8; y++, p += stride)
        for (int x = 0; x < 8; x++) {
            const uint16_t a = window[8 * y + x], b = p[x];

            sum[x] = (uint16_t)(sum[x] + (a > b ? a - b : b - a));
        }
    for (int x = 0; x < 8; x++)
        all += sum[x];
    return all;
}

static inline void search_keep(struct search_best *best, const struct search_price *price, int x,
                               int y, int sad)
{
    const int cost = sad + (x || y ? price->not_zero : 0) +
                     price->away * (abs(x - price->x) + abs(y - price->y));

    if (cost < best->cost)
        *best = (struct search_best){cost, sad, x, y};
}

static inline struct search_vector search_twice(const struct search_grid *g, int col, int row)
{
    const int c = col < 0 ? 0 : col >= g->cols ? g->cols - 1 : col;
    const int r = row < 0 ? 0 : row >= g->rows ? g->rows - 1 : row;
    const struct search_vector v = g->vector[r * g->cols + c];

    return (struct search_vector){(int16_t)(2 * v.x), (int16_t)(2 * v.y)};
}

/* Which vectors of a block were tried, by the number of the block. */
struct search_seen {
    uint16_t by[64][64];
};

static inline void search_around(struct search_best *best, const struct search_price *price,
                                 const uint16_t window[64], const uint16_t *p, size_t stride,
                                 struct search_vector v, int reach, struct search_seen *seen,
                                 uint16_t block)
{
    for (int y = v.y - reach; y <= v.y + reach; y++)
        for (int x = v.x - reach; x <= v.x + reach; x++) {
            if (seen->by[y & 63][x & 63] == block)
                continue;
            seen->by[y & 63][x & 63] = block;
            search_keep(best, price, x, y,
                        search_sad8(window, p + (ptrdiff_t)y * (ptrdiff_t)stride + x, stride));
        }
}

static void search_coarse_block(const struct search_job *j, struct search_seen *seen, int col,
                                int row)
{
    const size_t stride = j->now->stride;
    const ptrdiff_t at = (ptrdiff_t)(4 * row - 2) * (ptrdiff_t)stride + 4 * col - 2;
    const uint16_t *p = j->before->sample + at;
    const uint16_t block = (uint16_t)(col + 1);
    struct search_best best = {.cost = INT32_MAX};
    struct search_price price = {.not_zero = 16, .away = 12};
    uint16_t window[64];

    for (int y = 0; y < 8; y++)
        memcpy(&window[8 * y], j->now->sample + at + (ptrdiff_t)y * (ptrdiff_t)stride,
               8 * sizeof(window[0]));
    if (j->level == j->top) {
        search_around(&best, &price, window, p, stride, (struct search_vector){0, 0}, 2, seen,
                      block);
    } else {
        const int c = col / 2, r = row / 2, sx = col % 2 ? 1 : -1, sy = row % 2 ? 1 : -1;
        const struct search_vector around[] = {{0, 0},
                                               search_twice(j->parents, c, r),
                                               search_twice(j->parents, c + sx, r),
                                               search_twice(j->parents, c, r + sy),
                                               search_twice(j->parents, c - sx, r),
                                               search_twice(j->parents, c, r - sy)};

        price = (struct search_price){40, 4, around[1].x, around[1].y};
        for (int i = 0; i < 6; i++)
            search_around(&best, &price, window, p, stride, around[i], 1, seen, block);
    }
    j->grid->vector[row * j->grid->cols + col] =
        (struct search_vector){(int16_t)best.x, (int16_t)best.y};
}

/* --- level 0, whose samples are four times those of luma --- */

struct search_window {
    uint8_t now[256];
    const uint8_t *before;
    size_t stride;
    int x, y; /* the middle of what is known */
    int sad[3][3];
};

static inline int search_sad_at(const struct search_window *w, int x, int y)
{
    return 4 * sad_16x16(w->now, w->before + (ptrdiff_t)y * (ptrdiff_t)w->stride + x, w->stride);
}

/* The same, but what is known is not computed again. */
static inline int search_known(const struct search_window *w, int x, int y)
{
    const int dx = x - w->x + 1, dy = y - w->y + 1;

    return dx >= 0 && dx <= 2 && dy >= 0 && dy <= 2 ? w->sad[dy][dx] : search_sad_at(w, x, y);
}

struct search_fit {
    int num, den;
    bool flat;
};

static inline struct search_fit search_fit(int l, int c, int r)
{
    const int rise = (l > r ? l : r) - c, slope = l - r;

    if (rise <= 0)
        return (struct search_fit){0, 1, true};
    return (struct search_fit){slope < -rise  ? -rise
                               : slope > rise ? rise
                                              : slope,
                               2 * rise, 6 * rise < c};
}

static inline int search_eighths(struct search_fit f)
{
    const int n = (16 * abs(f.num) + f.den) / (2 * f.den);

    return f.num < 0 ? -n : n;
}

static struct motion_vector search_fraction(const struct search_window *w,
                                            const struct search_best *v)
{
    const struct search_fit x =
        search_fit(search_known(w, v->x - 1, v->y), v->sad, search_known(w, v->x + 1, v->y));
    const struct search_fit y =
        search_fit(search_known(w, v->x, v->y - 1), v->sad, search_known(w, v->x, v->y + 1));

    if (!v->x && !v->y && (x.flat || 5 * abs(x.num) < x.den) && (y.flat || 5 * abs(y.num) < y.den))
        return (struct motion_vector){0, 0};
    return (struct motion_vector){(int16_t)(8 * v->x + search_eighths(x)),
                                  (int16_t)(8 * v->y + search_eighths(y))};
}

static void search_full_block(const struct search_job *j, int col, int row)
{
    const size_t stride = j->luma_now->stride[0];
    const ptrdiff_t at = (ptrdiff_t)(8 * row - 4) * (ptrdiff_t)stride + 8 * col - 4;
    const struct search_vector v = search_twice(j->parents, col, row);
    const struct search_vector others[] = {
        search_twice(j->parents, col - 1, row), search_twice(j->parents, col + 1, row),
        search_twice(j->parents, col, row - 1), search_twice(j->parents, col, row + 1)};
    const struct search_price price = {230, 11, v.x, v.y};
    struct search_best best = {.cost = INT32_MAX};
    struct search_window w = {
        .before = j->luma_before->plane[0] + at, .stride = stride, .x = v.x, .y = v.y};

    for (int y = 0; y < 16; y++)
        memcpy(&w.now[16 * y], j->luma_now->plane[0] + at + (ptrdiff_t)y * (ptrdiff_t)stride, 16);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            w.sad[y][x] = search_sad_at(&w, v.x + x - 1, v.y + y - 1);
    search_keep(&best, &price, 0, 0, search_known(&w, 0, 0));
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            search_keep(&best, &price, v.x + x - 1, v.y + y - 1, w.sad[y][x]);
    for (int i = 0; i < 4; i++)
        if (abs(others[i].x - v.x) > 1 || abs(others[i].y - v.y) > 1)
            search_keep(&best, &price, others[i].x, others[i].y,
                        search_sad_at(&w, others[i].x, others[i].y));
    j->found[row * j->grid->cols + col] = search_fraction(&w, &best);
}

static void search_row(const struct search_job *j, int row)
{
    struct search_seen seen;

    if (j->level > 0)
        memset(&seen, 0, sizeof(seen));
    for (int col = 0; col < j->grid->cols; col++)
        if (j->level > 0)
            search_coarse_block(j, &seen, col, row);
        else
            search_full_block(j, col, row);
}

/* A row of the level above two rows. */
static void search_halve(const uint16_t *a, const uint16_t *b, uint16_t *restrict to, int n)
{
    for (int x = 0; x < n; x++)
        to[x] = (uint16_t)((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) >> 2);
}

/* The same from luma, of which level 0 is four times. */
static void search_halve_luma(const uint8_t *a, const uint8_t *b, uint16_t *restrict to, int n)
{
    for (int x = 0; x < n; x++)
        to[x] = (uint16_t)(a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1]);
}
