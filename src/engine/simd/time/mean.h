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
 * The code is in mean_guess.h and mean_strip.h, which every set of row kernels compiles with its
 * own flags. It is plain C that compilers vectorise, and the same to the bit in all of them. */
#include "engine/simd/levels.h"
#include "engine/time/motion.h"
#include "picture/colour.h"

#define MEAN_STRIP 256 /* columns */
#define MEAN_EDGE 16   /* columns that are kept of the neighbours, each side */
#define MEAN_LINE (MEAN_STRIP + 2 * MEAN_EDGE + 32)

/* Rings, by the low bits of the row. Column x of a strip that begins at x0 is [x - x0 + MEAN_EDGE],
 * of chroma likewise. */
struct mean_guess {
    int next_e, next_smooth, next_fit; /* rows from here on are to be made */
    int next_block;                    /* likewise, rows of blocks of `p` */
    int32_t sum[3][MEAN_LINE];         /* over 13 rows of `clamped` around next_fit - 1 */
    bool summed;
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
    /* Rows at work: */
    float e[3][MEAN_LINE], p[3][MEAN_LINE], line[4][MEAN_LINE], noise[MEAN_LINE];
    int32_t part[2][MEAN_LINE];
    struct mean_line_guess guess[2];
    float f[MEAN_LINE];
    /* Sums over the luma rows that share chroma: of n', f, and of L of both guesses. */
    float n_sum[MEAN_LINE], f_sum[MEAN_LINE], light_sum[2][2][MEAN_LINE];
};

struct mean_job {
    struct frame x;            /* the raw frame, in planes */
    const uint8_t *brightness; /* luma under B3, rounded; rows of x.stride[0] */
    const struct levels *before, *now;
    const struct motion_vector *vectors; /* NULL: nothing moved */
    struct colour_distance axes;
    /* By brightness: 2.5 nu, 3 kappa nu2, 1 / (25 nu2). */
    float clamp_by[256], light_by[256], fit_by[256];
    float share; /* rho */
    float steps; /* of a count */
    int frames;
    struct mean_scratch *scratch;
    int left, right, top, bottom; /* what is to be done: at most MEAN_STRIP columns, from a
                                   * multiple of it; @top is a multiple of MOTION_BLOCK */
};
