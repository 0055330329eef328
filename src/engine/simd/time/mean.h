#pragma once
/* The mean over frames of engine/time/average.h, for a part of a picture: steps 1 to 4.
 *
 * DESIGN. A picture is cut into wide strips, and a strip is worked on from top to bottom, a row of
 * cells after the other: each step keeps the few rows that the next one needs in a ring, so that
 * all stays in the second-level cache. Samples are integers of 16 bits; cells, a quarter as many,
 * are in single precision. Sums over 7 rows run on from row to row and are integers; all others
 * are taken afresh in a fixed order. So the result does not depend on how the picture was cut.
 *
 * A row is worked on in tiles of some columns. The second guess, along the motion, is made only in
 * those that a block that moved depends on. In nearly every row noise gives a vector to some of the
 * blocks that stand still: less than two thirds of the tiles of a row are near one.
 *
 * Every step works on whole tiles, whether a strip needs all of them or not: what lies outside of
 * the picture, too near to the end of a line, or too far from what moved, is a number of no
 * meaning.
 *
 * The code is in mean_*.h, which every set of row kernels compiles with its own flags: lines.h is
 * where rows are, tiles.h which tiles are worked on, predict.h step 1, cells.h samples to cells,
 * guess.h step 2, store.h steps 3 and 4, strip.h all of them. It is plain C that compilers
 * vectorise, and the same to the bit in all of them. */
#include "engine/simd/levels.h"
#include "engine/time/motion.h"
#include "engine/time/past.h"
#include "filter/mean_count.h"
#include "filter/noise_follow.h"

/* Of a line of cells, the strip's first one is at MEAN_EDGE; of a line of samples, two to a
 * cell, at twice that. Computed is what surrounds it from MEAN_FROM on. */
#define MEAN_STRIP 1920 /* luma columns, at most */
#define MEAN_MARGIN 16  /* luma columns beside a strip that its own ones depend on, at most */
#define MEAN_FROM 32    /* whole vectors of every kind */
#define MEAN_EDGE (MEAN_FROM + 8)
#define MEAN_LINE (MEAN_FROM + MEAN_STRIP / 2 + 64)
#define MEAN_TILE 16 /* cells */
_Static_assert(4 * MEAN_LINE <= LEVELS_BEHIND, "whole lines are read");

#define MEAN_CELL_LINE(type, name) _Alignas(FRAME_ALIGN) type name[MEAN_LINE]
#define MEAN_SAMPLE_LINE(type, name) _Alignas(FRAME_ALIGN) type name[2 * MEAN_LINE]

/* Parts of a line of cells that are worked on: whole tiles or all of it. */
struct mean_parts {
    int n, width;
    const int16_t *at; /* where they begin */
};

/* Room for the tiles of a set, which has a bit for each, from MEAN_FROM on. */
struct mean_tiles {
    int16_t at[64];
};

/* What a guess needs: its end first, then what that depends on (mean_tiles.h). */
enum mean_stage { MEAN_BELIEVED, MEAN_FITS, MEAN_SUMS, MEAN_CELLS, MEAN_ROWS, MEAN_STAGES };

/* Rings, by the low bits of the row. */
struct mean_guess {
    uint64_t summed;                       /* the tiles of which `sum` was made for the row above */
    MEAN_SAMPLE_LINE(int16_t, away[3][4]); /* x - P in 1/128 */
    MEAN_CELL_LINE(float, across[3][4]);   /* the same, 4 columns weighed 1 3 3 1 */
    MEAN_CELL_LINE(float, rest[8]); /* the sum of |e|^2 - |A|^2 over a cell's samples, 3 columns */
    MEAN_CELL_LINE(float, mean[4][3]);      /* E */
    MEAN_CELL_LINE(int16_t, clamped[8][3]); /* E, clamped, in 1/128 */
    MEAN_CELL_LINE(int32_t, sum[3]);        /* over 7 rows of `clamped` */
    MEAN_CELL_LINE(float, light[2][3]);     /* L */
    MEAN_CELL_LINE(float, part[2]);         /* h */
    MEAN_CELL_LINE(float, fit[4]);          /* what D is the mean of, over 3 columns */
    MEAN_SAMPLE_LINE(uint16_t, p[3][32]);   /* P along the motion, as levels are */
    MEAN_CELL_LINE(uint8_t, m[16]);         /* n there */
    MEAN_CELL_LINE(float, frames[4]);       /* m */
    MEAN_CELL_LINE(float, d);               /* of the row at work: D */
    MEAN_CELL_LINE(float, r);               /* R */
    MEAN_CELL_LINE(float, n);               /* n' */
};

/* One worker's memory. */
struct mean_scratch {
    struct mean_guess still, moved;
    int next_row;             /* of luma, from here on to be made */
    int next_cells, next_fit; /* likewise, of cells */
    int next_block;           /* likewise, of blocks of `p` */
    int next_motion;          /* and of `moves` */
    /* Sets of tiles, by rows of blocks: in which any block moved, and what the strip's own ones of
     * these blocks depend on. */
    uint64_t moves[8], near[MEAN_STAGES][8];
    struct mean_tiles some, others;
    /* Rings of what the frame has in cells: nu2, nu, and y - K and c - K. */
    MEAN_CELL_LINE(float, noise[16]);
    MEAN_CELL_LINE(float, nu[16]);
    MEAN_CELL_LINE(int16_t, colour[8][3]);
    MEAN_CELL_LINE(int32_t, colour_sum[3]); /* over 7 rows */
    /* Rows at work: */
    MEAN_CELL_LINE(float, around[3]); /* box7 of `colour` */
    MEAN_CELL_LINE(float, per_level); /* 1 / max(that of y, 16) */
    MEAN_CELL_LINE(float, slack);     /* s along the motion */
    MEAN_CELL_LINE(float, bias);      /* b */
    MEAN_CELL_LINE(float, line);
    MEAN_CELL_LINE(float, f);
    /* What makes H of x and P (mean_store_row()), by cells and by pairs of samples: */
    MEAN_CELL_LINE(int16_t, keep);
    MEAN_CELL_LINE(int16_t, blend);
    MEAN_CELL_LINE(int16_t, light[3]);
    MEAN_CELL_LINE(int16_t, gain);
    MEAN_SAMPLE_LINE(int16_t, keep_pairs);
    MEAN_SAMPLE_LINE(int16_t, blend_pairs);
    MEAN_SAMPLE_LINE(int16_t, light_pairs[3]);
    MEAN_SAMPLE_LINE(int16_t, gain_pairs);
};

struct mean_job {
    struct frame x;            /* the raw frame (raw.h) */
    const struct frame *words; /* the same where samples have 16 bits; or NULL */
    const uint8_t *brightness; /* the mean luma of cells; in rows as counts are */
    const struct levels *before, *now;
    const struct motion_vector *vectors; /* NULL: nothing moved */
    struct noise_white white;            /* W */
    float variance[256];                 /* nu2 by brightness */
    float share;                         /* rho */
    float in_luma, in_chroma;            /* T */
    float tint[3];                       /* t; of luma 0 */
    int neutral[3];                      /* K */
    float slack;                         /* s where there is no fraction */
    int frames;
    struct mean_scratch *scratch;
    int left, right, top, bottom; /* what is to be done: at most MEAN_STRIP columns, from a
                                   * multiple of MOTION_BLOCK, as @top is; MEAN_MARGIN columns or
                                   * none are right of it */
};
