#pragma once
/* Where rows of a strip are, and what the frame before has along the motion. */
#include <string.h>

#include "engine/simd/time/mean.h"

/* Where column @x of luma is in a line, or the column of chroma that it shares. */
static inline int mean_at(const struct mean_job *j, int x, int hshift)
{
    return (x >> hshift) - (j->left >> hshift) + MEAN_EDGE;
}

static inline const uint8_t *mean_raw_row(const struct mean_job *j, int component, int row)
{
    const int vshift = component ? format_table[j->x.format].vshift : 0;

    return j->x.plane[component] + (size_t)(row >> vshift) * j->x.stride[component];
}

static inline const uint8_t *mean_brightness_row(const struct mean_job *j, int row)
{
    return j->brightness + (size_t)row * j->before->stride[0];
}

/* n of the frame before, a line of it. */
static inline const uint8_t *mean_m_row(const struct mean_job *j, const struct mean_guess *g,
                                        int row)
{
    return g == &j->scratch->moved ? g->m[row & 31]
                                   : levels_counts(j->before, row) + j->left - MEAN_EDGE;
}

static inline int mean_inside(int v, int size)
{
    return v < 0 ? 0 : v >= size ? size - 1 : v;
}

/* Repeats the edge of the picture. */
static inline void mean_pad(const struct mean_job *j, float *line, int n)
{
    const int right = MEAN_EDGE + j->right - j->left;

    for (int i = 1; i <= n && j->left == 0; i++)
        line[MEAN_EDGE - i] = line[MEAN_EDGE];
    for (int i = 0; i < n && j->right == j->x.width; i++)
        line[right + i] = line[right - 1];
}

static inline void mean_pad_sums(const struct mean_job *j, int32_t *line)
{
    const int right = MEAN_EDGE + j->right - j->left;

    for (int i = 1; i <= 6 && j->left == 0; i++)
        line[MEAN_EDGE - i] = line[MEAN_EDGE];
    for (int i = 0; i < 6 && j->right == j->x.width; i++)
        line[right + i] = line[right - 1];
}

/* Samples of the frame before: columns from @x on and rows from @y on, the nearest of the picture.
 */
struct mean_patch {
    float level[MOTION_BLOCK + 3][MOTION_BLOCK + 4];
};

static void mean_fetch(struct mean_patch *ret, const struct mean_job *j, int component, int x,
                       int y, int rows)
{
    enum { COLUMNS = MOTION_BLOCK + 4 };
    const struct format_info *info = &format_table[j->x.format];
    const int width = component ? j->x.width >> info->hshift : j->x.width;
    const int height = component ? (j->x.height + info->vshift) >> info->vshift : j->x.height;

    for (int i = 0; i < rows; i++) {
        const uint16_t *row = levels_row(j->before, component, mean_inside(y + i, height));
        uint16_t near[COLUMNS];

        if (x >= 0 && x + COLUMNS <= width)
            memcpy(near, row + x, sizeof(near));
        else
            for (int k = 0; k < COLUMNS; k++)
                near[k] = row[mean_inside(x + k, width)];
        for (int k = 0; k < COLUMNS; k++)
            ret->level[i][k] = (float)near[k] * (1.0F / 256.0F);
    }
}

/* Weights of the four samples around: a cubic with a = -0.7 for luma, else a line. */
static void mean_weights(float ret[4], float at, bool cubic)
{
    const float a = -0.7F, rest = 1.0F - at;

    if (!cubic) {
        memcpy(ret, (const float[4]){0.0F, rest, at, 0.0F}, 4 * sizeof(float));
        return;
    }
    for (int i = 0; i < 2; i++) {
        const float d = i ? rest : at;

        ret[1 + i] = ((a + 2.0F) * d - (a + 3.0F)) * d * d + 1.0F;
        ret[3 * i] = a * ((((d + 1.0F) - 5.0F) * (d + 1.0F) + 8.0F) * (d + 1.0F) - 4.0F);
    }
}

static inline void mean_taps4(float *restrict to, const float *a, const float *b, const float *c,
                              const float *d, const float weight[4])
{
    for (int i = 0; i < MOTION_BLOCK; i++)
        to[i] = (weight[0] * a[i] + weight[1] * b[i]) + (weight[2] * c[i] + weight[3] * d[i]);
}

/* P_1 of a block that moved by whole samples, to (@x, @y) from where it is. */
static inline void mean_copy(const struct mean_job *j, struct mean_guess *g, int component, int col,
                             int row, int x, int y)
{
    const struct format_info *info = &format_table[j->x.format];
    const int hs = component ? info->hshift : 0, vs = component ? info->vshift : 0;
    const int columns = MOTION_BLOCK >> hs, rows = MOTION_BLOCK >> vs;
    const int width = j->x.width >> hs, height = (j->x.height + vs) >> vs;
    const int at = mean_at(j, col * MOTION_BLOCK, hs);

    for (int i = 0; i < rows; i++) {
        const uint16_t *from = levels_row(j->before, component, mean_inside(y + i, height));
        float *to = g->p[component][(row * rows + i) & 31] + at;

        if (x < 0 || x + columns > width)
            for (int k = 0; k < columns; k++)
                to[k] = (float)from[mean_inside(x + k, width)] * (1.0F / 256.0F);
        else if (columns == MOTION_BLOCK)
            for (int k = 0; k < MOTION_BLOCK; k++)
                to[k] = (float)from[x + k] * (1.0F / 256.0F);
        else
            for (int k = 0; k < MOTION_BLOCK / 2; k++)
                to[k] = (float)from[x + k] * (1.0F / 256.0F);
    }
}

/* One component of P_1 of a block. */
static void mean_predict_component(const struct mean_job *j, struct mean_guess *g, int component,
                                   int col, int row, struct motion_vector v)
{
    const struct format_info *info = &format_table[j->x.format];
    const int hs = component ? info->hshift : 0, vs = component ? info->vshift : 0;
    const int columns = MOTION_BLOCK >> hs, rows = MOTION_BLOCK >> vs;
    const int x = col * columns + (v.x >> (3 + hs)), y = row * rows + (v.y >> (3 + vs));
    const int part_x = v.x & ((8 << hs) - 1), part_y = v.y & ((8 << vs) - 1);
    const int at = mean_at(j, col * MOTION_BLOCK, hs);
    struct mean_patch patch, across;
    float weight[2][4];

    if (!part_x && !part_y) {
        mean_copy(j, g, component, col, row, x, y);
        return;
    }
    mean_weights(weight[0], (float)part_x / (float)(8 << hs), component == 0);
    mean_weights(weight[1], (float)part_y / (float)(8 << vs), component == 0);
    mean_fetch(&patch, j, component, x - 1, y - 1, rows + 3);
    for (int i = 0; i < rows + 3; i++) {
        const float *p = patch.level[i];

        mean_taps4(across.level[i], p, p + 1, p + 2, p + 3, weight[0]);
    }
    for (int i = 0; i < rows; i++) {
        float level[MOTION_BLOCK];

        mean_taps4(level, across.level[i], across.level[i + 1], across.level[i + 2],
                   across.level[i + 3], weight[1]);
        memcpy(g->p[component][(row * rows + i) & 31] + at, level, (size_t)columns * sizeof(float));
    }
}

/* m_1 of a block: at most 8 frames between samples. */
static void mean_predict_counts(const struct mean_job *j, struct mean_guess *g, int col, int row,
                                struct motion_vector v)
{
    const bool between = v.x % 8 || v.y % 8;
    const uint8_t most = between ? (uint8_t)(8.0F * j->steps) : UINT8_MAX;
    const int x0 = col * MOTION_BLOCK + ((v.x + 4) >> 3),
              y0 = row * MOTION_BLOCK + ((v.y + 4) >> 3);

    for (int y = 0; y < MOTION_BLOCK; y++) {
        uint8_t *to = g->m[(row * MOTION_BLOCK + y) & 31] + mean_at(j, col * MOTION_BLOCK, 0);

        memset(to, 0, MOTION_BLOCK);
        if (y0 + y < 0 || y0 + y >= j->x.height)
            continue;
        if (!between && x0 >= 0 && x0 + MOTION_BLOCK <= j->x.width) {
            memcpy(to, levels_counts(j->before, y0 + y) + x0, MOTION_BLOCK);
            continue;
        }
        for (int x = 0; x < MOTION_BLOCK; x++)
            if (x0 + x >= 0 && x0 + x < j->x.width) {
                const uint8_t m = levels_counts(j->before, y0 + y)[x0 + x];

                to[x] = m < most ? m : most;
            }
    }
}

/* P_1 and m_1 of a row of blocks. */
static inline void mean_predict_blocks(const struct mean_job *j, struct mean_guess *g, int row)
{
    const int cols = (j->x.width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    const int first = j->left / MOTION_BLOCK - 2, last = (j->right - 1) / MOTION_BLOCK + 2;

    for (int col = first < 0 ? 0 : first; col <= last && col < cols; col++) {
        const struct motion_vector v = j->vectors[row * cols + col];

        for (int c = 0; c < format_table[j->x.format].components; c++)
            mean_predict_component(j, g, c, col, row, v);
        mean_predict_counts(j, g, col, row, v);
    }
}
