#pragma once
/* How the estimate of noise.h goes from one picture to the next, and what follows from it. Compiled
 * for the CPU and for the GPU, which has to know it in the middle of a frame. Pure arithmetic. */
#include <math.h>
#include <stdbool.h>

/* What a picture was compared with. */
enum noise_compared {
    NOISE_FIRST,   /* nothing: what was known before can only fall */
    NOISE_NEXT,    /* the picture before */
    NOISE_AT_MOST, /* that, but what moved was not followed and looks like noise: the estimate
                    * falls, and rises only after a long time, because a mean trusts in it */
};

#ifdef __CUDACC__
#define NOISE_FUNCTION static __host__ __device__ inline
#else
#define NOISE_FUNCTION static inline
#endif

#define NOISE_SHARE 4096       /* scale of the share in struct noise_sums */
#define NOISE_FIRST_MOST 200.0 /* a first picture cannot tell texture from noise */
#define NOISE_LEAST_SHARE 0.07 /* white noise has 0.1; a pattern may have 0, which is no noise */
#define NOISE_QUANTILE 0.06
#define NOISE_QUANTILE_TO_MEAN 1.2 /* a low quantile of many variances is below their mean */
#define NOISE_ENOUGH_BLOCKS 12     /* for a class to be measured by itself */
#define NOISE_SEEN 4      /* the first bin of blocks that a camera saw, from a variance of 0.02 */
#define NOISE_FLAT_PART 3 /* of all blocks that must be in flat classes to tell anything */

/* By how much the quantile of a picture's blocks is raised: @uneven is the median of their
 * variances over that quantile, where there is nothing but noise. White noise has 1.11 by chance,
 * noise that neighbours share 1.15 to 1.25, and a JPEG, which leaves blocks with few coefficients
 * almost none of their noise, 1.3 (on the clips of tools/bench/quality). */
NOISE_FUNCTION double noise_raise(double uneven)
{
    const double raise = 1.0 + 4.0 * (uneven - 1.22);

    return raise < 1.0 ? 1.0 : raise > 1.5 ? 1.5 : raise;
}

/* Down quickly, up slowly: what moves looks like noise, and nothing looks like less. */
NOISE_FUNCTION double noise_towards(double old, double now)
{
    const double step = 0.15 * (now - old);

    return old + (step < 0.03 * old ? step : 0.03 * old);
}

/* One class of one picture more, which was measured at @now. The second picture sets what the first
 * could not know. What stays far above for many pictures is no motion, but another light. */
NOISE_FUNCTION void noise_follow(double *variance, int *above, double *low, double now,
                                 int n_frames, enum noise_compared compared)
{
    const bool rises = compared == NOISE_NEXT;
    const int run = rises ? 10 : 60;

    if (n_frames == 0) {
        *variance = now < NOISE_FIRST_MOST ? now : NOISE_FIRST_MOST;
        return;
    }
    if (compared == NOISE_FIRST || now <= 2.0 * *variance) {
        *above = 0;
    } else {
        *low = *above && *low < now ? *low : now;
        ++*above;
    }
    if (*above == run) {
        *variance = *low;
        *above = 0;
    } else if (rises || now < *variance) {
        *variance = n_frames == 1 ? now : noise_towards(*variance, now);
    }
}

/* How much of the variance the square of a change of light has to exceed: T of
 * engine/time/average.h, several times what means of 7x7 cells leave of white noise. Luma has about
 * half of the noise of a colour picture, and all of a grey one. What neighbours have in common,
 * where
 * @share of the variance is left in means of 4x4 samples, is mostly colour, which cameras
 * interpolate and smooth more. */
NOISE_FUNCTION float noise_luma_light(bool grey)
{
    return grey ? 0.0213F : 0.0142F;
}

NOISE_FUNCTION float noise_chroma_light(float share)
{
    return fminf(0.0106F * powf(share / 0.14F, 2.7F), 2.0F);
}

/* By how much more than that of white noise the range sigma of a mean over frames is: noise that
 * neighbours share looks like something drawn, and more of it is left of a JPEG where a block is
 * uneven than the variance tells. */
NOISE_FUNCTION double noise_widens(double share)
{
    const double more = share - 0.16;

    return 1.0 + 2.8 * (more < 0.0 ? 0.0 : more > 0.085 ? 0.085 : more);
}

/* How much further than that of white noise the misfit of what stands still may be from its mean:
 * the fewer of the samples that it is the mean of are independent, the more it scatters. Where
 * something moves that would hide what was missed. */
NOISE_FUNCTION float noise_slack(float share)
{
    return 1.0F + 4.0F * fmaxf(share - 0.14F, 0.0F);
}
