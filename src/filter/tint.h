#pragma once
/* How light changes its colour all over a picture: a television shows another shot, somebody
 * switches a lamp on, a camera balances white anew.
 *
 * Where light gets brighter by a share h of what there is and changes its colour by t, luma changes
 * by h (y - K), and U and V by h (c - K) + t (y - K), each with a t of its own (K:
 * engine/time/average.h). So the means of a block in both pictures (engine/time/noise_blocks.h)
 * tell its t. It has y - K votes, and the median of all votes counts: the slope of the line with
 * the least absolute deviations. What moves, or has a light of its own, hardly changes that as long
 * as it is less than half of the picture. P. Bloomfield, W. Steiger, "Least Absolute Deviations"
 * (1983).
 *
 * Only blocks that are drawn as they were vote: those between whose pictures there is little more
 * than the known noise, but for their means. After a cut there are few, and then t is 0. Vectors
 * are not to be trusted where light changes: on a shading that gets brighter they lead to where it
 * was as bright before. So blocks vote twice, by what they differ by along the motion and in the
 * same place, and t counts where both medians agree: where the camera stands still.
 * Compiled for the CPU and for the GPU. Pure arithmetic. */
#include "filter/noise_follow.h"

#define TINT_BINS 320         /* of t, from -TINT_BINS / 2 to TINT_BINS / 2 */
#define TINT_BINS_PER_ONE 512 /* so t is -0.31 to 0.31; what is beyond that is in the last bins */
#define TINT_DARKEST 16       /* y - K: what is darker has next to no chroma from the light */
#define TINT_ALIKE_BINS 32    /* how much more than the noise: two octaves of noise_bin() */
#define TINT_LEAST 0.003      /* a shorter t is left to L of average.h, which finds it locally */

/* How many of the votes that there could be are needed. On the clips of tools/bench/quality there
 * are 0.97 or more where light changes, and at most 0.74 after a cut. */
#define TINT_ALIKE_PART 0.875

/* How far apart medians that agree may be, in parts of t, but TINT_LEAST in any case. */
#define TINT_APART 0.25

enum tint_measure { TINT_FOLLOWED, TINT_IN_PLACE, TINT_MEASURES };

/* What an engine counts, over blocks that are neither too dark nor near black or white. */
struct tint_sums {
    uint32_t votes[TINT_MEASURES][2][TINT_BINS]; /* for U and V, or B' and R' */
    uint64_t all; /* that there would be for each if all blocks were alike */
};

struct tint {
    double u, v; /* t */
};

/* Whether a block of class @class_of is counted; @y: the sum of y - K over its @n pixels. */
NOISE_FUNCTION bool tint_is_lit(int class_of, int64_t y, int n)
{
    return class_of < NOISE_CLASSES && y >= TINT_DARKEST * n;
}

/* Whether it has a vote, by the noise_bin() of the variance between its pictures and of what its
 * class was known to have. */
NOISE_FUNCTION bool tint_is_alike(int between, int known)
{
    return between <= known + TINT_ALIKE_BINS;
}

/* Where the votes of a block go; @y, @c: sums of y - K and c - K over it, @more_y, @more_c: by how
 * much they grew since the picture before. Products are integers below 2^53, so that all engines
 * round alike. */
NOISE_FUNCTION int tint_bin(int64_t y, int64_t more_y, int64_t c, int64_t more_c)
{
    const double t = (double)(more_c * y - more_y * c) / (double)(y * y);
    const double at = floor(t * TINT_BINS_PER_ONE) + TINT_BINS / 2;

    return at < 0.0 ? 0 : at >= TINT_BINS ? TINT_BINS - 1 : (int)at;
}

/* t at a place among the bins. */
NOISE_FUNCTION double tint_at(double bin)
{
    return (bin - TINT_BINS / 2) / TINT_BINS_PER_ONE;
}

/* t from the medians of both measures, by how many votes each of them had. */
NOISE_FUNCTION struct tint tint_that_counts(struct tint followed, struct tint in_place,
                                            uint64_t votes, uint64_t all)
{
    const double apart_u = followed.u - in_place.u, apart_v = followed.v - in_place.v;
    const double square = followed.u * followed.u + followed.v * followed.v;
    const bool alike = votes > 0 && (double)votes >= TINT_ALIKE_PART * (double)all;
    const struct tint none = {0.0, 0.0};

    return alike && square >= TINT_LEAST * TINT_LEAST &&
                   apart_u * apart_u + apart_v * apart_v <=
                       fmax(TINT_LEAST * TINT_LEAST, TINT_APART * TINT_APART * square)
               ? followed
               : none;
}

void tint_add(struct tint_sums *to, const struct tint_sums *from);

/* t of a picture; 0 of a first one, which has no votes. */
struct tint tint_find(const struct tint_sums *sums);
