#pragma once
/* How light changes its colour all over a picture: a television shows another shot, somebody
 * switches a lamp on, a camera corrects its white balance.
 *
 * Where light gets brighter by a share h of what there is and changes its colour by t, luma changes
 * by h (y - K), and U and V by h (c - K) + t (y - K), each with a t of its own (K:
 * engine/time/average.h). So the means of a block in both pictures (engine/time/noise_blocks.h)
 * tell its t. It has y - K votes, and the median of all votes counts: the slope of the line with
 * the least absolute deviations. P. Bloomfield, W. Steiger, "Least Absolute Deviations" (1983).
 *
 * t is 0 where the votes do not make it clear:
 *   - Only blocks that are drawn as they were vote: those between whose pictures there is little
 *     more than the known noise, but for their means. After a cut there are few.
 *   - Vectors are not to be trusted where light changes: on a shading that gets brighter they lead
 *     to where it was as bright before. So blocks vote twice, by what they differ by along the
 *     motion and in the same place, and both medians have to agree.
 *   - But for an eighth at either end, votes have to be nearer to each other than to 0. They are
 *     not where noise alone spreads them, nor where a sixth of them or more come from what has no
 *     part in the light: a screen, another lamp, a drawn background, a white wall that is too
 *     bright for the camera. L of average.h follows those place by place. Something smaller is
 *     taken for a part of it, and starts again where that is wrong.
 * Compiled for the CPU and for the GPU. Pure arithmetic. */
#include "filter/noise_follow.h"

#define TINT_BINS 320         /* of t, from -TINT_BINS / 2 to TINT_BINS / 2 */
#define TINT_BINS_PER_ONE 512 /* so t is -0.31 to 0.31; what is beyond that is in the last bins */
#define TINT_ALIKE_BINS 32    /* how much more than the noise: two octaves of noise_bin() */

/* How many of the votes that there could be are needed. On the clips of tools/bench/quality there
 * are 0.97 or more where light changes, and at most 0.74 after a cut. */
#define TINT_ALIKE_PART 0.875

/* The least number of them: a block has at most 255, so at least 16 blocks. Of fewer noise alone
 * might look like a change. */
#define TINT_LEAST_VOTES 4096

#define TINT_APART 0.25 /* of t: how far medians that agree may be from each other */

enum tint_measure { TINT_FOLLOWED, TINT_IN_PLACE, TINT_MEASURES };

/* What an engine counts. */
struct tint_sums {
    uint32_t votes[TINT_MEASURES][2][TINT_BINS]; /* for U and V, or B' and R' */
    uint64_t all; /* that there would be for each if all blocks were alike */
};

struct tint {
    double u, v; /* t */
};

/* What the votes for one of them say: their median, and how far apart they are without an eighth at
 * either end. */
struct tint_votes {
    double median, spread;
};

/* How many votes a block has; @y: the sum of y - K over its @n pixels. */
NOISE_FUNCTION uint32_t tint_n_votes(int64_t y, int n)
{
    return y > 0 ? (uint32_t)(y / n) : 0;
}

/* Whether it may use them, by the noise_bin() of the variance between its pictures and of what its
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

#define TINT_QUANTILES 3

/* By the places of an eighth, a half and seven eighths of the votes, in bins. */
NOISE_FUNCTION struct tint_votes tint_votes_at(const double at[TINT_QUANTILES])
{
    const struct tint_votes ret = {(at[1] - TINT_BINS / 2) / TINT_BINS_PER_ONE,
                                   (at[2] - at[0]) / TINT_BINS_PER_ONE};

    return ret;
}

/* Whether U's and V's votes are nearer to each other than to 0. */
NOISE_FUNCTION bool tint_is_clear(const struct tint_votes of[2])
{
    return of[0].spread * of[0].spread + of[1].spread * of[1].spread <
           of[0].median * of[0].median + of[1].median * of[1].median;
}

/* t from what both measures say of U and V, by how many votes each of them had. */
NOISE_FUNCTION struct tint tint_that_counts(struct tint_votes of[TINT_MEASURES][2], uint64_t votes,
                                            uint64_t all)
{
    const struct tint t = {of[TINT_FOLLOWED][0].median, of[TINT_FOLLOWED][1].median};
    const double apart_u = t.u - of[TINT_IN_PLACE][0].median;
    const double apart_v = t.v - of[TINT_IN_PLACE][1].median;
    const double square = t.u * t.u + t.v * t.v;
    const bool alike = votes >= TINT_LEAST_VOTES && (double)votes >= TINT_ALIKE_PART * (double)all;
    const bool agree = apart_u * apart_u + apart_v * apart_v <= TINT_APART * TINT_APART * square;
    const struct tint none = {0.0, 0.0};

    return alike && agree && tint_is_clear(of[TINT_FOLLOWED]) && tint_is_clear(of[TINT_IN_PLACE])
               ? t
               : none;
}

void tint_add(struct tint_sums *to, const struct tint_sums *from);

/* t of a picture; 0 of a first one, which has no votes. */
struct tint tint_find(const struct tint_sums *sums);
