#pragma once
/* The integers from which filter/noise.h tells how much noise there is: per block of 16x16 luma
 * samples, from two pictures and the motion between them. Every engine counts the same.
 *
 * Per block, over its n = 256 pixels and for components i, j of Y, U, V, chroma repeated on the
 * luma grid, with S_ij = sum of c_i c_j and S_i = sum of c_i:
 *   moved  c = x_t(p) - x_{t-1}(p + v), v rounded to whole chroma samples:
 *              variance_ij = (n S_ij - S_i S_j) / (2 n^2)
 *   still  c = x_t itself, about a plane fitted to it: with A_i = sum of u c_i over columns
 *          u = -15, -13 .. 15, and B_i likewise over rows:
 *              variance_ij = (n S_ij - S_i S_j - (A_i A_j + B_i B_j) / 85) / n^2
 * Both are taken to R'G'B' by the sum over i, j of Q_ij variance_ij with Q = M^T M, rounded to
 * 1/4096. The smaller one is counted in noise_bin() of it; where `still` is at most twice `moved`
 * the block is flat. What E of average.h leaves of `moved` is measured over the 6x6 cells whose
 * neighbours are in the block, where noise_is_quiet(): n^2 times its covariances, of 64 E, and
 * times Q_YY, so that what they are a part of is as large as with a level of luma as the unit.
 * Blocks also vote on how the light changes its colour (tint.h), by their S.
 * Blocks that reach past the edge are left out, and of a large picture all but one in noise_step()
 * of them: at 1920x1080 the estimate stays within 1.4 % of that of all blocks (white, smoothed and
 * uneven noise of deviations 1 to 20, 2026-11-28). */
#include "engine/time/motion.h"
#include "filter/noise.h"

#define NOISE_BLOCK 16 /* luma samples */
#define NOISE_FORM_SCALE 4096
#define NOISE_LEAST_BLOCKS 1000 /* of a picture of which some are left out */

/* In each row of blocks, one of so many is counted: a power of two. */
static inline int noise_step(int width, int height)
{
    const int blocks = width / NOISE_BLOCK * (height / NOISE_BLOCK);
    int step = 1;

    while (blocks / (2 * step) >= NOISE_LEAST_BLOCKS)
        step *= 2;
    return step;
}

/* The first of row @row. In as many rows as a step has, all columns are met. */
static inline int noise_first(int row, int step)
{
    return 5 * row % step;
}

/* How many are counted in all. */
static inline int noise_n_blocks(int width, int height)
{
    const int step = noise_step(width, height);
    int n = 0;

    for (int row = 0; row < height / NOISE_BLOCK; row++)
        n += (width / NOISE_BLOCK - noise_first(row, step) + step - 1) / step;
    return n;
}

/* M^T M, the quadratic form of colour distances, in integers, and colour_zero(). */
struct noise_form {
    int64_t q[3][3];
    int components, zero[3];
};

struct noise_form noise_form_of(const struct frame *f);

/* S, A, B and S_ij of a block. */
struct noise_moments {
    int64_t s[3], a[3], b[3], ss[3][3];
};

/* Counts one block: of x_t itself, moved, 64 times E of that over the 6x6 cells inside, and of
 * x_{t-1} in the same place, of which S is enough. A first picture has only the first (the others
 * NULL). @known before this picture. */
void noise_count(struct noise_sums *sums, const struct noise *known, const struct noise_form *f,
                 const struct noise_moments *still, const struct noise_moments *moved,
                 const struct noise_moments *smoothed, const struct noise_moments *before);

/* Eighths of a luma sample to luma samples that are whole samples of a component of which
 * 1 << @shift share one. */
static inline int noise_whole(int v, int shift)
{
    const int far = 1 << (23 + shift); /* so that nothing is negative */

    return ((v + (4 << shift) + far) >> (3 + shift) << shift) - (far >> 3);
}

/* What a level of luma counts for in the length of a colour: nu2 over this has it as the unit. */
static inline double noise_form_luma(const struct noise_form *f)
{
    return (double)f->q[0][0] / NOISE_FORM_SCALE;
}

/* @before NULL: a first picture. @vectors, of motion_find(), NULL: nothing moved. Adds to @sums.
 * Context: any thread. */
void noise_gather(struct noise_sums *sums, const struct noise *known, const struct frame *now,
                  const struct frame *before, const struct motion_vector *vectors);
