#pragma once
/* How much noise a camera's pictures have, from what did not change between two of them. An engine
 * gathers integers per block of 16x16 luma samples (engine/time/noise_blocks.h), the same in every
 * engine; what follows from them is computed here, once.
 *
 * A block is measured twice: its difference to where it was in the picture before (half of the
 * variance of that is noise, the rest motion that was missed) and its own variance about a plane
 * (noise and texture). The smaller of the two counts. Noise depends on brightness, so blocks are
 * sorted into classes by their mean luma; in each class the blocks with the least variance are the
 * ones where nothing but noise was measured: their 6 % quantile, times 1.2. That is too low where
 * noise is uneven, as compression and noise that neighbours share make it: how far the median is
 * from that quantile where a picture is flat tells how much to add (noise_raise()). Blocks without
 * any are drawn, not seen by a camera: they are left out, or where they are nearly all of a
 * picture, it has no noise (noise_is_drawn()). Near black and white the range cuts noise off
 * (noise_by_luma()): what is left there is the median of their own blocks, and at most what the
 * class beside them has where a picture has others. Before a black stage, or on a white page, few
 * other blocks tell anything, and most of these may move: then the estimate of those hardly rises
 * (NOISE_FEW).
 *
 * Slides, and what a screen shows, are stills, pictures that come NOISE_STILL times more to the
 * bit, with changes between them that leave a part of the picture as it was. A camera may hang,
 * too, but its noise is nearly everywhere. So a still with blocks without noise
 * (noise_part_drawn()) begins a show, if it follows the start or another still within NOISE_SHOW
 * different pictures, or if there was a show before. In a show nothing is noise. It ends after
 * NOISE_SHOW different pictures without a still, and then all is measured as at the start.
 *
 * Units: variances are E|n|^2 over the three channels of R'G'B' on a 0..255 scale, so white noise
 * of standard deviation s in each channel has 3 s^2. Sources: block-wise minima as in A. Amer, E.
 * Dubois, "Fast and reliable structure-oriented video noise estimation" (2005). Pure arithmetic: no
 * clock, no I/O. Context: plain data, one owner. */
#include <stdbool.h>
#include <stdint.h>

#include "filter/noise_follow.h"
#include "filter/tint.h"

#define NOISE_BINS 320  /* of variance, 16 to an octave */
#define NOISE_LOWEST -6 /* the first bin begins at 2^NOISE_LOWEST */

/* What an engine counts. What blocks near black or white have says nothing of the other classes,
 * but in the first pictures where there are no others. */
struct noise_sums {
    uint32_t blocks[NOISE_ALL_CLASSES][NOISE_BINS];
    /* The blocks whose own variance is at most twice what was measured between the pictures: there
     * is nothing but noise in them. None in a first picture. */
    uint32_t flat[NOISE_ALL_CLASSES];
    /* Of the blocks between whose pictures is no more than was known before: the variance of that,
     * of its means of 4x4 pixels, weighed 1 3 3 1 both ways, and the covariances of these means, as
     * integers. None in a first picture. */
    int64_t moved, left, covariance[NOISE_PAIRS];
    struct tint_sums tint;
};

struct noise {
    int n_frames;
    struct noise_show show;
    double variance[NOISE_ALL_CLASSES];
    /* How much of NOISE_RUN pictures were above twice that, and the least of these pictures, or
     * after a first picture that came again what noise_set_aside() keeps. */
    int above[NOISE_ALL_CLASSES];
    double low[NOISE_ALL_CLASSES];
    double share; /* of the variance, left in such means: 0.1 where noise is white */
    /* The covariances of Y, U, V there, where noise has a variance of 1 with a level of luma as the
     * unit (noise_blocks.h); `yy` 0: not known, or there is none. */
    struct noise_left left;
};

/* Whether a block of @class between whose pictures is the variance of @bin has no more than the
 * noise that is known. The last bin has no end, so it has not. */
bool noise_is_quiet(const struct noise *n, int class, int bin);

/* The bin of a variance, which is the top bits of the number as IEEE 754 has it. */
int noise_bin(double variance);

/* One picture more. */
void noise_update(struct noise *n, const struct noise_sums *sums, enum noise_compared compared);

/* The picture before once more, to the bit: noise_set_aside(). Returns
 * noise_show_stops(). */
bool noise_repeat(struct noise *n);

/* What is known before the first picture. */
void noise_init(struct noise *n);

/* At the mean luma @y (0..255) around a pixel; at least 1. */
double noise_variance(const struct noise *n, double y);

/* The mean over all classes that were measured, as the standard deviation of one channel: the
 * figure for people. */
double noise_sigma(const struct noise *n);
