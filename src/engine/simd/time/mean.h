#pragma once
/* The mean over frames of engine/time/average.h, for a part of a picture: steps 1 to 4 in single
 * precision.
 *
 * DESIGN. A picture is cut into strips of columns, and a strip is worked on from top to bottom, row
 * by row: each step keeps the few rows that the next one needs in a ring, so that all stays in the
 * processor's cache. The second guess, along the motion, is made only near rows in which a block of
 * the strip moved. Sums over 13 rows run on from row to row and are integers; all others are taken
 * afresh in a fixed order. So the result does not depend on how the picture was cut.
 *
 * Every step works on whole lines of a fixed length, whether a strip needs them or not: what lies
 * outside of the picture, or too near to the end of a line, is a number of no meaning.
 *
 * The code is in mean_guess.h and mean_strip.h, which every set of row kernels compiles with its
 * own flags. It is plain C that compilers vectorise, and the same to the bit in all of them. */
#include "engine/simd/levels.h"
#include "engine/time/motion.h"
#include "picture/colour.h"

#define MEAN_STRIP 320                    /* columns; common widths are multiples */
#define MEAN_EDGE LEVELS_PAD              /* where the first one is in a line */
#define MEAN_FROM 16                      /* what is computed of a line */
#define MEAN_ALL (MEAN_STRIP + MEAN_EDGE) /* likewise, how much */
#define MEAN_LINE (MEAN_EDGE + MEAN_STRIP + 64)

/* Rings, by the low bits of the row. Column x of a strip that begins at x0 is [x - x0 + MEAN_EDGE],
 * of chroma likewise. */
struct mean_guess {
    int next_e, next_smooth, next_fit; /* rows from here on are to be made */
    int next_block;                    /* likewise, rows of blocks of `p` */
    bool summed;
    int32_t sum[3][MEAN_LINE];         /* over 13 rows of `clamped` around next_fit - 1 */
    float across[4][3][MEAN_LINE];     /* e, weighed 1 2 1 */
    float misfit[16][MEAN_LINE];       /* |e|^2 over 5 columns */
    float smooth[8][3][MEAN_LINE];     /* E */
    int16_t clamped[16][3][MEAN_LINE]; /* E, clamped, in 1/64 */
    float light[4][3][MEAN_LINE];      /* L */
    float fit[8][MEAN_LINE];           /* |E - L|^2 over 5 columns */
    float p[3][32][MEAN_LINE];         /* P along the motion */
    uint8_t m[32][MEAN_LINE];          /* n there */
};

/* What a guess says of a row: P' of luma and L of chroma, D, n'. */
struct mean_line_guess {
    float p[3][MEAN_LINE], d[MEAN_LINE], n[MEAN_LINE];
};

/* One worker's memory. */
struct mean_scratch {
    struct mean_guess still, moved;
    float noise[32][MEAN_LINE]; /* a ring of nu2 */
    int next_noise;
    /* Rows at work: */
    float e[3][MEAN_LINE], line[4][MEAN_LINE], light[3][MEAN_LINE];
    int32_t part[2][MEAN_LINE];
    struct mean_line_guess guess[2];
    float f[MEAN_LINE];
    /* Sums over the luma rows that share chroma: of n', f, and of L of both guesses. */
    float n_sum[MEAN_LINE], f_sum[MEAN_LINE], light_sum[2][2][MEAN_LINE];
};

struct mean_job {
    struct frame x;            /* the raw frame (raw.h) */
    const uint8_t *brightness; /* luma under B3, rounded; in rows as counts are */
    const struct levels *before, *now;
    const struct motion_vector *vectors; /* NULL: nothing moved */
    struct colour_distance axes;
    float variance[256]; /* nu2 by brightness */
    float share;         /* rho */
    float light;         /* 3 kappa */
    float steps;         /* of a count */
    int frames;
    struct mean_scratch *scratch;
    int left, right, top, bottom; /* what is to be done: at most MEAN_STRIP columns, from a
                                   * multiple of it; @top is a multiple of MOTION_BLOCK */
};
