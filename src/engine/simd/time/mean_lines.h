#pragma once
/* Where the rows of a strip are. A row is a pointer to where its line begins. */
#include "engine/simd/time/mean.h"

/* What is computed of a line of cells ends here: 8 cells more than the strip has, in whole vectors.
 */
static inline int mean_end(const struct mean_job *j)
{
    return MEAN_FROM + ((j->right - j->left) / 2 + 16 + 31) / 32 * 32;
}

static inline int mean_hshift(const struct mean_job *j, int component)
{
    return component ? format_table[j->x.format].hshift : 0;
}

static inline int mean_vshift(const struct mean_job *j, int component)
{
    return component ? format_table[j->x.format].vshift : 0;
}

/* From the start of a picture's row to the line of the strip, in samples of a component. */
static inline ptrdiff_t mean_start(const struct mean_job *j, int component)
{
    return (j->left - 2 * MEAN_EDGE) / (1 << mean_hshift(j, component));
}

/* Rows of cells. */
static inline int mean_rows(const struct mean_job *j)
{
    return past_cells(j->x.height);
}

static inline const uint8_t *mean_raw_row(const struct mean_job *j, int component, int row)
{
    return j->x.plane[component] + (size_t)row * j->x.stride[component] + mean_start(j, component);
}

static inline const uint16_t *mean_word_row(const struct mean_job *j, int component, int row)
{
    const struct frame *f = j->words;

    return (const uint16_t *)(const void *)(f->plane[component] +
                                            (size_t)row * f->stride[component]) +
           mean_start(j, component);
}

/* P of a guess. */
static inline const uint16_t *mean_p_row(const struct mean_job *j, const struct mean_guess *g,
                                         int component, int row)
{
    return g == &j->scratch->moved
               ? g->p[component][row & 31]
               : levels_row(j->before, component, row) + mean_start(j, component);
}

static inline const uint8_t *mean_m_row(const struct mean_job *j, const struct mean_guess *g,
                                        int row)
{
    return g == &j->scratch->moved ? g->m[row & 15]
                                   : levels_counts(j->before, row) + j->left / 2 - MEAN_EDGE;
}

static inline const uint8_t *mean_brightness_row(const struct mean_job *j, int row)
{
    return j->brightness + (size_t)row * j->before->cells + j->left / 2 - MEAN_EDGE;
}

/* @a times @b / 32768, rounded; as compilers know it for one instruction. */
static inline int16_t mean_part(int16_t a, int16_t b)
{
    return (int16_t)((((a * b) >> 14) + 1) >> 1);
}

/* Repeats the edge of the picture: @n numbers of a line at each side. */
#define MEAN_PAD(job, line, edge, count, n)                                                        \
    do {                                                                                           \
        for (int i_ = 1; i_ <= (n) && (job)->left == 0; i_++)                                      \
            (line)[(edge)-i_] = (line)[edge];                                                      \
        for (int i_ = 0; i_ < (n) && (job)->right == (job)->x.width; i_++)                         \
            (line)[(edge) + (count) + i_] = (line)[(edge) + (count)-1];                            \
    } while (0)

static inline void mean_pad_cells(const struct mean_job *j, float *line, int n)
{
    MEAN_PAD(j, line, MEAN_EDGE, (j->right - j->left) / 2, n);
}

static inline void mean_pad_sums(const struct mean_job *j, int32_t *line, int n)
{
    MEAN_PAD(j, line, MEAN_EDGE, (j->right - j->left) / 2, n);
}

static inline void mean_pad_samples(const struct mean_job *j, int component, int16_t *line)
{
    const int hshift = mean_hshift(j, component);

    MEAN_PAD(j, line, 2 * MEAN_EDGE >> hshift, (j->right - j->left) >> hshift, 1);
}
