#pragma once
/* Step 1 of engine/time/average.h: what the frame before has along the motion, of tiles in which
 * any block moved; where none did, both guesses are the same. Neighbouring blocks that moved alike
 * are worked on together. */
#include <string.h>

#include "engine/simd/time/mean_tiles.h"

#define MEAN_MIDDLE 16384 /* of levels: what a cubic makes of levels less this fits 16 bits */
#define MEAN_WHITE (255 * 128)
#define MEAN_PIECE 16

/* Blocks side by side that moved alike. */
struct mean_run {
    int col, n, row;
    struct motion_vector v;
};

/* @n samples of the frame before from column @x on, the nearest of the picture; @room if needed. */
static inline const uint16_t *mean_fetch(const struct mean_job *j, int component, int x, int y,
                                         int n, uint16_t *room)
{
    const int width = j->x.width >> mean_hshift(j, component);
    const int vshift = mean_vshift(j, component), height = (j->x.height + vshift) >> vshift;
    const uint16_t *row = levels_row(j->before, component, frame_nearest(y, height));

    if (x >= 0 && x + n <= width)
        return row + x;
    for (int i = 0; i < n; i++)
        room[i] = row[frame_nearest(x + i, width)];
    return room;
}

/* Weights of the four samples around, in 1/32768, @part of 8 << @shift on: a cubic with a = -0.7
 * for luma, else a line. */
static inline void mean_weights(int16_t ret[4], int component, int part, int shift)
{
    static const int16_t cubic[8][4] = {
        {0},
        {-2195, 31674, 3603, -314},
        {-3226, 28723, 8346, -1075},
        {-3360, 24416, 13728, -2016},
        {-2867, 19251, 19251, -2867},
        {-2016, 13728, 24416, -3360},
        {-1075, 8346, 28723, -3226},
        {-314, 3603, 31674, -2195},
    };
    const int16_t next = (int16_t)(part << (12 - shift));
    const int16_t linear[4] = {0, (int16_t)(32768 - next), next, 0};

    memcpy(ret, component ? linear : cubic[part], sizeof(linear));
}

/* Runs are short: whole pieces of a line are made, and what is too much of one is overwritten by
 * the next run. */
#define MEAN_PIECES(i, n)                                                                          \
    for (int piece_ = 0; piece_ < (n); piece_ += MEAN_PIECE)                                       \
        for (int i = piece_; i < piece_ + MEAN_PIECE; i++)

/* Levels less MEAN_MIDDLE between four samples of each column. Sums may leave 16 bits on the way,
 * and come back. */
static inline void mean_between(int16_t *restrict to, const void *const from[4],
                                const int16_t weight[4], int middle, int n)
{
    const int16_t *a = from[0], *b = from[1], *c = from[2], *d = from[3];
    const int16_t p = weight[0], q = weight[1], r = weight[2], s = weight[3];

    MEAN_PIECES(i, n)
    to[i] = (int16_t)(mean_part(a[i], p) + mean_part(b[i], q) + mean_part(c[i], r) +
                      mean_part(d[i], s) - middle);
}

/* The same between the two in the middle. */
static inline void mean_between_two(int16_t *restrict to, const void *const from[4],
                                    const int16_t weight[4], int middle, int n)
{
    const int16_t *b = from[1], *c = from[2];
    const int16_t q = weight[1], r = weight[2];

    MEAN_PIECES(i, n)
    to[i] = (int16_t)(mean_part(b[i], q) + mean_part(c[i], r) - middle);
}

static inline void mean_take_middle(int16_t *restrict to, const uint16_t *restrict from, int n)
{
    MEAN_PIECES(i, n)
    to[i] = (int16_t)(from[i] - MEAN_MIDDLE);
}

/* Back to levels. */
static inline void mean_add_middle(uint16_t *restrict to, const int16_t *restrict from, int n)
{
    const int16_t least = -MEAN_MIDDLE, most = MEAN_WHITE - MEAN_MIDDLE;

    MEAN_PIECES(i, n)
    {
        const int16_t low = from[i] > least ? from[i] : least;

        to[i] = (uint16_t)((low < most ? low : most) + MEAN_MIDDLE);
    }
}

static inline void mean_copy(uint16_t *restrict to, const uint16_t *restrict from, int n)
{
    MEAN_PIECES(i, n)
    to[i] = from[i];
}

/* Between four for luma, two for chroma. */
static inline void mean_between_taps(int16_t *restrict to, int component, const void *const from[4],
                                     const int16_t weight[4], int middle, int n)
{
    if (component)
        mean_between_two(to, from, weight, middle, n);
    else
        mean_between(to, from, weight, middle, n);
}

/* One component of P_1. */
static inline void mean_predict_component(const struct mean_job *j, struct mean_guess *g,
                                          int component, const struct mean_run *run)
{
    const int hs = mean_hshift(j, component), vs = mean_vshift(j, component);
    const int rows = MOTION_BLOCK >> vs, n = run->n * MOTION_BLOCK >> hs;
    const int first = run->col * MOTION_BLOCK >> hs, at = first - (int)mean_start(j, component);
    const int x = first + (run->v.x >> (3 + hs)), y = run->row * rows + (run->v.y >> (3 + vs));
    const int part_x = run->v.x & ((8 << hs) - 1), part_y = run->v.y & ((8 << vs) - 1);
    const int above = part_y && !component, below = part_y ? above + 1 : 0; /* rows that are read */
    int16_t between[MOTION_BLOCK + 3][2 * MEAN_LINE], level[2 * MEAN_LINE];
    uint16_t room[2 * MEAN_LINE];
    int16_t weight[4];

    if (!part_x && !part_y) {
        for (int i = 0; i < rows; i++)
            mean_copy(g->p[component][(run->row * rows + i) & 31] + at,
                      mean_fetch(j, component, x, y + i, n, room), n);
        return;
    }
    mean_weights(weight, component, part_x, hs);
    for (int i = 1 - above; i < 1 + rows + below; i++) {
        const uint16_t *p = mean_fetch(j, component, x - 1, y - 1 + i, n + 3, room);

        if (part_x)
            mean_between_taps(between[i], component, (const void *[]){p, p + 1, p + 2, p + 3},
                              weight, MEAN_MIDDLE, n);
        else
            mean_take_middle(between[i], p + 1, n);
    }
    mean_weights(weight, component, part_y, vs);
    for (int i = 0; i < rows; i++) {
        if (part_y)
            mean_between_taps(
                level, component,
                (const void *[]){between[i], between[i + 1], between[i + 2], between[i + 3]},
                weight, 0, n);
        mean_add_middle(g->p[component][(run->row * rows + i) & 31] + at,
                        part_y ? level : between[i + 1], n);
    }
}

static inline void mean_limit(uint8_t *restrict to, const uint8_t *restrict from, uint8_t most,
                              int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i] < most ? from[i] : most;
}

/* m_1: at most 8 frames between samples, 0 outside of the picture. */
static inline void mean_predict_counts(const struct mean_job *j, struct mean_guess *g,
                                       const struct mean_run *run)
{
    enum { SIDE = MOTION_BLOCK / 2 };
    const bool between = run->v.x % 8 || run->v.y % 8;
    const uint8_t most = between ? mean_count_of(8.0F) : UINT8_MAX;
    const int x = run->col * SIDE + ((run->v.x + 8) >> 4), n = run->n * SIDE;
    const int first = x < 0 ? -x : 0, last = x + n > j->x.width / 2 ? j->x.width / 2 - x : n;

    for (int i = 0; i < SIDE; i++) {
        const int y = run->row * SIDE + i + ((run->v.y + 8) >> 4);
        uint8_t *to = g->m[(run->row * SIDE + i) & 15] + run->col * SIDE - j->left / 2 + MEAN_EDGE;

        memset(to, 0, (size_t)n);
        if (y < 0 || y >= mean_rows(j))
            continue;
        mean_limit(to + first, levels_counts(j->before, y) + x + first, most, last - first);
    }
}

/* P_1 and m_1 of a row of blocks. */
static inline void mean_predict_blocks(const struct mean_job *j, struct mean_guess *g, int row)
{
    const int cols = (j->x.width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    const int first = j->left / MOTION_BLOCK - 2, last = (j->right - 1) / MOTION_BLOCK + 2;
    const int end = last < cols ? last + 1 : cols;
    const uint64_t moves = j->vectors ? j->scratch->moves[row & 7] : 0;
    struct mean_run run;

    for (int col = first < 0 ? 0 : first; col < end && moves; col += run.n) {
        const struct motion_vector *v = &j->vectors[row * cols + col];

        run = (struct mean_run){.col = col, .n = 1, .row = row, .v = *v};
        if (!(moves & mean_tile(mean_column(j, col))))
            continue;
        while (col + run.n < end && v[run.n].x == v->x && v[run.n].y == v->y &&
               moves & mean_tile(mean_column(j, col + run.n)))
            run.n++;
        for (int c = 0; c < format_table[j->x.format].components; c++)
            mean_predict_component(j, g, c, &run);
        mean_predict_counts(j, g, &run);
    }
}
