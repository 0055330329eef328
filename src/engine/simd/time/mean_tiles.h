#pragma once
/* Which tiles of a strip are worked on. */
#include "engine/simd/time/mean_lines.h"

/* The columns of some parts of a line of cells. GCC 12 would unroll the loop over a tile before it
 * could make vectors of it, and then makes poor ones. */
#define MEAN_COLUMNS(parts) MEAN_SAMPLES(parts, 1)

/* The same of a line of which @per samples make a cell. */
#define MEAN_SAMPLES(parts, per)                                                                   \
    for (int part_ = 0; part_ < (parts).n; part_++)                                                \
    _Pragma("GCC unroll 1") for (int i = (per) * (parts).at[part_],                                \
                                 end_ = i + (per) * (parts).width;                                 \
                                 i < end_; i++)

/* Of what takes parts there is one for tiles, whose width compilers know then, and one for whole
 * lines. */
#define MEAN_INLINE static inline __attribute__((always_inline))

static inline struct mean_parts mean_all(const struct mean_job *j)
{
    static const int16_t from[] = {MEAN_FROM};

    return (struct mean_parts){1, mean_end(j) - MEAN_FROM, from};
}

/* The tiles of a set. */
static inline struct mean_parts mean_list(struct mean_tiles *room, uint64_t set)
{
    int n = 0;

    for (; set; set &= set - 1)
        room->at[n++] = (int16_t)(MEAN_FROM + MEAN_TILE * __builtin_ctzll(set));
    return (struct mean_parts){n, MEAN_TILE, room->at};
}

/* The set of the one that a column of a line is in. */
static inline uint64_t mean_tile(int column)
{
    return (uint64_t)1 << (column - MEAN_FROM) / MEAN_TILE;
}

/* Where the cells of a column of blocks begin. */
static inline int mean_column(const struct mean_job *j, int col)
{
    return MEAN_EDGE + (col * MOTION_BLOCK - j->left) / 2;
}

/* How many rows and columns of cells away what a stage makes is of use. */
static inline int mean_rows_away(enum mean_stage stage)
{
    return (const int[MEAN_STAGES]){0, 1, 1, 4, 5}[stage];
}

static inline int mean_columns_away(enum mean_stage stage)
{
    return (const int[MEAN_STAGES]){0, 1, 4, 4, 5}[stage];
}

/* Finds the tiles of a row of blocks in which any moved, and those that these depend on. The strip
 * and what is beside it are no wider than a set. */
static inline void mean_find_motion(const struct mean_job *j, int row)
{
    const int cols = (j->x.width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    const int first = j->left / MOTION_BLOCK, last = (j->right - 1) / MOTION_BLOCK;
    const struct motion_vector *v = j->vectors + row * cols;
    uint64_t moves = 0, near[MEAN_STAGES] = {0};

    for (int col = first > 2 ? first - 2 : 0; col <= last + 2 && col < cols; col++) {
        const int at = mean_column(j, col);

        if (!v[col].x && !v[col].y)
            continue;
        moves |= mean_tile(at);
        for (int k = 0; k < MEAN_STAGES && col >= first && col <= last; k++)
            near[k] |= mean_tile(at - mean_columns_away(k)) |
                       mean_tile(at + MOTION_BLOCK / 2 - 1 + mean_columns_away(k));
    }
    j->scratch->moves[row & 7] = moves;
    for (int k = 0; k < MEAN_STAGES; k++)
        j->scratch->near[k][row & 7] = near[k];
}

/* The same for all rows of blocks that row @y of cells depends on. */
static inline void mean_make_motion(const struct mean_job *j, int y)
{
    const int below = (y + 2 * mean_rows_away(MEAN_ROWS)) * 2 / MOTION_BLOCK;
    const int end = (j->x.height - 1) / MOTION_BLOCK, last = below < end ? below : end;
    struct mean_scratch *w = j->scratch;

    for (; w->next_motion <= last && j->vectors; w->next_motion++)
        mean_find_motion(j, w->next_motion);
}

/* The tiles of row @y of the second guess that are needed. */
static inline uint64_t mean_needed(const struct mean_job *j, enum mean_stage stage, int y)
{
    enum { SIDE = MOTION_BLOCK / 2 };
    const int above = y - mean_rows_away(stage), below = y + mean_rows_away(stage);
    const int first = (above > j->top / 2 ? above : j->top / 2) / SIDE;
    const int end = (j->bottom - 1) / MOTION_BLOCK, last = below / SIDE < end ? below / SIDE : end;
    uint64_t ret = 0;

    for (int row = first; row <= last && j->vectors; row++)
        ret |= j->scratch->near[stage][row & 7];
    return ret;
}

/* Those of them in which nothing moved, and the others. */
static inline struct mean_parts mean_list_still(const struct mean_job *j, enum mean_stage stage,
                                                int y)
{
    struct mean_scratch *w = j->scratch;

    return mean_list(&w->some, mean_needed(j, stage, y) & ~w->moves[2 * y / MOTION_BLOCK & 7]);
}

static inline struct mean_parts mean_list_moved(const struct mean_job *j, enum mean_stage stage,
                                                int y)
{
    struct mean_scratch *w = j->scratch;

    return mean_list(&w->others, mean_needed(j, stage, y) & w->moves[2 * y / MOTION_BLOCK & 7]);
}
