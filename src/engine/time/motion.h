#pragma once
/* Where each block of a picture was in the picture before: block matching over a pyramid of the
 * luma, from coarse to fine, then to an eighth of a pixel. Integers only, so that every engine
 * finds the same vectors. What is searched is always the raw picture, never a filtered one.
 *
 * Levels: level 0 is luma times 4; each next one has the rounded means of 2x2 of the level below
 * (the nearest edge sample is repeated). Blocks are 8x8 of level 0; at level k > 0 a block is 4x4
 * samples, which are 4 * 2^k luma samples, and level 1 has the same blocks as level 0.
 * A candidate costs its SAD (sum of absolute differences) over the block and half a block around
 * it, and a price for not being what a smooth motion would be:
 *   highest  |dx|, |dy| <= 2:                              SAD + 12 (|dx| + |dy|) + 16 [v != 0]
 *   between  3x3 around 0, twice the parent's vector and twice those of its neighbours:
 *                                                          SAD + 40 [v != 0] + 4 |v - 2 parent|_1
 *   level 0  0, 3x3 around 2 m, and 2 m of the four neighbours, m being the block's vector at
 *            level 1:                                      SAD + 230 [v != 0] + 11 |v - 2 m|_1
 * The first of the cheapest wins. Then, on each axis, with the plain SADs c there and l, r one
 * sample away, rise = max(l, r) - c: a fraction of (l - r) / (2 rise), at most a half, to the
 * nearest eighth (halves away from zero); none where rise <= 0. A block whose vector is 0 has none
 * either where on both axes |l - r| < 2/5 rise, or |l - r| < 1/2 rise and c / 4, or rise < c / 6:
 * noise alone does that.
 * Noise also scatters what is left, the more the flatter a picture is along an axis. So at the end
 * a vector that is not 0 moves by the mean of how far from it others are: those of the 9x9 blocks
 * around, itself among them, that are not 0 and at most MOTION_ALIKE from it on both axes: less
 * than a whole sample, after which a fine pattern is like itself again. On each axis a block weighs
 * motion_weight() of its rise there, and the mean is to the nearest eighth (halves away from zero).
 * Context: plain data; any thread, each object by one at a time. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "picture/frame.h"

#define MOTION_BLOCK 8     /* luma samples */
#define MOTION_TOP 4       /* the highest level: the search reaches 47 luma samples */
#define MOTION_ALIKE 7     /* eighths of a sample between vectors of which a mean is taken */
#define MOTION_REACH 4     /* blocks around that are in it */
#define MOTION_HEAVIEST 32 /* weight in it; so sums of 9x9 have 16 bits */

struct motion_vector {
    int16_t x, y; /* to where the block was, in eighths of a luma sample */
};

struct motion_level {
    int width, height;
    uint16_t *sample; /* rows of width */
};

struct pyramid {
    struct motion_level level[MOTION_TOP + 1];
};

#define MOTION_FAR 8 /* eighths of a sample */

/* Whether a block moves by more than a sample. Less than that noise alone makes of what stands
 * still, here and there. */
static inline bool motion_is_far(struct motion_vector v)
{
    return abs(v.x) + abs(v.y) > MOTION_FAR;
}

/* About an eighth of the root of the @rise of a block's SAD along an axis, as a power of 2. The
 * root, because the steepest blocks are the surest, but what the two lines get wrong of a fraction
 * is alike in all of them. SADs are of samples of level 0. */
static inline int motion_weight(int rise)
{
    int weight = 1;

    for (; rise >= 128 && weight < MOTION_HEAVIEST; rise /= 4)
        weight *= 2;
    return weight;
}

/* -ENOMEM leaves nothing. */
int pyramid_create(struct pyramid *p, int width, int height);
void pyramid_finish(struct pyramid *p); /* zeroed is fine */

/* @f is a raw frame of the pyramid's size. */
void pyramid_build(struct pyramid *p, const struct frame *f);

struct motion_search;

/* For pictures of one size; -ENOMEM. */
int motion_create(struct motion_search **ret, int width, int height);
void motion_destroy(struct motion_search *m); /* accepts NULL */

/* Finds the vectors of @now against @before, one per block of 8x8, rows of
 * (width + 7) / 8. They stay valid until the next search. */
const struct motion_vector *motion_find(struct motion_search *m, const struct pyramid *now,
                                        const struct pyramid *before);
