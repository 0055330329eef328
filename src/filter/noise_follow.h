#pragma once
/* How the estimate of noise.h goes from one picture to the next, and what follows from it. Compiled
 * for the CPU and for the GPU, which has to know it in the middle of a frame. Pure arithmetic. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* What a picture was compared with. */
enum noise_compared {
    NOISE_FIRST,   /* nothing: what was known before can only fall */
    NOISE_NEXT,    /* the picture before */
    NOISE_AT_MOST, /* that, but what moved was not followed and looks like noise: the estimate
                    * falls, and rises only after a long time, because a mean trusts in it */
    NOISE_FEW,     /* the picture before, but few blocks tell anything: the estimate falls as ever,
                    * and hardly rises. Only noise_compared_in() says so */
};

#ifdef __CUDACC__
#define NOISE_FUNCTION static __host__ __device__ inline
#else
#define NOISE_FUNCTION static inline
#endif

#define NOISE_CLASSES 8                /* of 32 levels of luma each */
#define NOISE_NEAR_BLACK NOISE_CLASSES /* and two where the range cuts noise off */
#define NOISE_NEAR_WHITE (NOISE_CLASSES + 1)
#define NOISE_ALL_CLASSES (NOISE_CLASSES + 2)
#define NOISE_DARKEST 20 /* mean luma of a block outside of these is near black or white */
#define NOISE_BRIGHTEST 232

#define NOISE_FIRST_MOST 200.0  /* a first picture cannot tell texture from noise */
#define NOISE_BESIDE_MOST 400.0 /* what a camera may have beside more that is drawn */
#define NOISE_MOST 5000.0       /* no camera shows more: it is what moved and was not followed */
#define NOISE_LEAST_SHARE 0.07  /* white noise has 0.1; a pattern may have 0, which is no noise */
#define NOISE_MEANS 81.0        /* struct noise_sums: variances of means have another scale */
#define NOISE_QUANTILE 0.06
#define NOISE_QUANTILE_TO_MEAN 1.2 /* a low quantile of many variances is below their mean */
#define NOISE_ENOUGH_BLOCKS 12     /* for a class to be measured by itself */
#define NOISE_SEEN 4 /* the first bin of blocks that a camera saw, from a variance of 0.02 */
#define NOISE_MOST_UNEVEN 2.0 /* noise without texture; see noise_is_flat() */
#define NOISE_STILL 14        /* times that a picture comes again, to the bit, that is a still */
#define NOISE_DRAWN_PART 16   /* blocks with noise to one without, at most, in a still of a show */
#define NOISE_ENDS_PART 2     /* the same where those without are near black or white */
#define NOISE_MOST_DRAWN 3    /* blocks without noise to one with, at most, in a camera's picture */
#define NOISE_SHOW 30         /* the most different pictures from one still to the next */
#define NOISE_FLAT_PART 3     /* of all blocks that must be in flat classes to tell anything */
#define NOISE_FEW_PART 4      /* fewer than one of so many blocks are few */
#define NOISE_RUN 60 /* NOISE_NEXT counts for 6 of it, else a picture is 1: noise_follow() */

/* Pairs of components: YY YU YV UU UV VV. */
#define NOISE_PAIRS 6

/* The covariances of what means of 4x4 pixels leave of noise. */
struct noise_left {
    double yy, yu, yv, uu, uv, vv;
};

/* The class of a block by its mean luma. */
NOISE_FUNCTION int noise_class(int luma)
{
    return luma < NOISE_DARKEST     ? NOISE_NEAR_BLACK
           : luma > NOISE_BRIGHTEST ? NOISE_NEAR_WHITE
                                    : luma / 32;
}

/* The class beside one near black or white; that of another is itself. */
NOISE_FUNCTION int noise_beside(int c)
{
    return c == NOISE_NEAR_BLACK ? 0 : c == NOISE_NEAR_WHITE ? NOISE_CLASSES - 1 : c;
}

/* By how much the variance differs from @whole, that of noise of deviation @sigma, where the mean
 * luma is @from levels away from 0 or 255, and @end was measured near there. A normal distribution
 * that is cut off, with its mean m deviations from there, has 0.85 m of its variance up to m = 0.4,
 * where nothing but black or white is, and nearly all of it from 1.5 on: the first is the least
 * that
 * @end counts for, and between the two it goes in a straight line. A. Foi, "Clipped noisy images:
 * heteroskedastic modeling and practical denoising" (2009). */
NOISE_FUNCTION double noise_cut_off(double whole, double end, double from, float sigma)
{
    const float away = (float)from / sigma;
    const float part = fminf(fmaxf((1.5F - away) * (1.0F / 1.1F), 0.0F), 1.0F);
    const double least = whole * fminf(0.85F * away, 0.34F);

    return part * (fmax(end, least) - whole);
}

/* The variance at any luma, from those of all classes; at least 1. It goes in straight lines from
 * the middle of a class to that of the next. Only 0 and 255 are sure to cut noise off: limited
 * range has room below black and above white, and some cameras use all of it and do not say so. */
NOISE_FUNCTION double noise_by_luma(const double variance[NOISE_ALL_CLASSES], double y)
{
    const double at = (y - 16.0) / 32.0;
    const int c = at < 0.0 ? 0 : at >= NOISE_CLASSES - 1 ? NOISE_CLASSES - 2 : (int)at;
    const double part = fmin(fmax(at - c, 0.0), 1.0);
    const double whole = fmax(variance[c] + part * (variance[c + 1] - variance[c]), 1.0);
    const float sigma = sqrtf((float)whole / 3.0F);

    return fmax(whole + noise_cut_off(whole, variance[NOISE_NEAR_BLACK], y, sigma) +
                    noise_cut_off(whole, variance[NOISE_NEAR_WHITE], 255.0 - y, sigma),
                1.0);
}

/* By how much the quantile of a picture's blocks is raised: @uneven is the median of their
 * variances over that quantile, where there is nothing but noise. White noise has 1.11 by chance,
 * noise that neighbours share 1.15 to 1.25, and a JPEG, which leaves blocks with few coefficients
 * almost none of their noise, 1.3 (on the clips of tools/bench/quality). */
NOISE_FUNCTION double noise_raise(double uneven)
{
    const double raise = 1.0 + 4.0 * (uneven - 1.22);

    return raise < 1.0 ? 1.0 : raise > 1.5 ? 1.5 : raise;
}

/* Whether there is nothing but noise in most of the @n blocks of a class, of which @flat were found
 * to be so. A picture that is compared with none does not find out; there, variances with a @median
 * far above @least, their quantile, are of texture. */
NOISE_FUNCTION bool noise_is_flat(uint32_t n, uint32_t flat, double median, double least,
                                  enum noise_compared compared)
{
    return n >= NOISE_ENOUGH_BLOCKS &&
           (compared == NOISE_FIRST ? median < NOISE_MOST_UNEVEN * least : 2 * (uint64_t)flat >= n);
}

/* Before a black stage, or on a white page, most of the few blocks that are @seen, with noise and
 * neither black nor white, may move, and what is missed of that counts as noise. @n: all blocks. */
NOISE_FUNCTION enum noise_compared noise_compared_in(enum noise_compared compared, uint64_t seen,
                                                     uint64_t n)
{
    return compared == NOISE_NEXT && NOISE_FEW_PART * seen < n ? NOISE_FEW : compared;
}

/* Whether a picture has no noise, as nearly all of it has none: of its blocks, but those near black
 * and white, so many are @drawn and so many @seen with noise. In a first picture any texture is
 * seen. */
NOISE_FUNCTION bool noise_is_drawn(uint64_t drawn, uint64_t seen, enum noise_compared compared)
{
    return drawn > (compared == NOISE_FIRST ? 1 : NOISE_MOST_DRAWN) * seen;
}

/* Where more is drawn than seen, what was measured, @now, is of a camera before a background that a
 * program draws, or in a corner of a slide, or of text that is scrolled, which looks like much
 * noise. */
NOISE_FUNCTION double noise_beside_drawn(double now, uint64_t drawn, uint64_t seen)
{
    return drawn > seen && now > NOISE_BESIDE_MOST ? 0.0 : now;
}

/* Whether enough of a picture is drawn for a still of a show. Near black or white (@ends) a camera
 * has no noise either, as in bars beside its picture or a window in the sun. */
NOISE_FUNCTION bool noise_part_drawn(uint64_t drawn, uint64_t ends, uint64_t seen)
{
    return NOISE_DRAWN_PART * drawn + NOISE_ENDS_PART * ends > seen;
}

/* Down quickly, up slowly: what moves looks like noise, and nothing looks like less. */
NOISE_FUNCTION double noise_towards(double old, double now, enum noise_compared compared)
{
    const double step = 0.15 * (now - old);
    const double rise = compared == NOISE_NEXT ? 0.03 : compared == NOISE_FEW ? 0.005 : 0.0;

    return old + (step < rise * old ? step : rise * old);
}

/* One class of one picture more, which was measured at @now. The second picture sets what the first
 * could not know; where few blocks tell it, only if the first found no noise, and no more than that
 * might have. What stays far above for many pictures is no motion, but another light: @above is how
 * much of NOISE_RUN there was. */
NOISE_FUNCTION void noise_follow(double *variance, int *above, double *low, double now,
                                 int n_frames, enum noise_compared compared)
{
    const bool next = compared == NOISE_NEXT;

    if (n_frames == 0) {
        *variance = fmin(now, NOISE_FIRST_MOST);
        return;
    }
    if (n_frames == 1 && *variance <= 0.0)
        *variance = *low; /* noise_set_aside() */
    now = fmin(now, NOISE_MOST);
    if (compared == NOISE_FIRST || now <= 2.0 * *variance) {
        *above = 0;
    } else {
        *low = *above && *low < now ? *low : now;
        *above += next ? 6 : 1;
    }
    if (*above >= NOISE_RUN) {
        *variance = *low;
        *above = 0;
    } else if (n_frames == 1 && (next || now < *variance)) {
        *variance = now;
    } else if (n_frames == 1 && compared == NOISE_FEW && *variance <= 0.0) {
        *variance = fmin(now, NOISE_FIRST_MOST);
    } else {
        *variance = noise_towards(*variance, now, compared);
    }
}

/* A first picture that comes again has no noise. Some streams have each picture several times: then
 * what was measured, which @low keeps meanwhile, is known again when another comes. Of a still it
 * is not. */
NOISE_FUNCTION void noise_set_aside(double *variance, double *low)
{
    if (*variance > 0.0)
        *low = *variance;
    *variance = 0.0;
}

/* Whether the pictures are a show, of stills: see noise.h. */
struct noise_show {
    int again;       /* times that the newest picture came again, at most NOISE_STILL */
    int run;         /* different ones since the last still or the start, at most NOISE_SHOW + 1 */
    bool part_drawn; /* the newest one has blocks without noise */
    bool on, had_one;
};

/* Another picture. Returns whether a show ends with it. */
NOISE_FUNCTION bool noise_show_changes(struct noise_show *s)
{
    const bool was_on = s->on;

    s->again = 0;
    if (s->run <= NOISE_SHOW)
        s->run++;
    s->on = s->on && s->run <= NOISE_SHOW;
    return was_on && !s->on;
}

/* The same picture again. Returns whether it is a still from now on. */
NOISE_FUNCTION bool noise_show_repeats(struct noise_show *s)
{
    if (s->again == NOISE_STILL || ++s->again < NOISE_STILL)
        return false;
    if (s->part_drawn && (s->run <= NOISE_SHOW || s->had_one))
        s->on = s->had_one = true;
    s->run = 0;
    return true;
}

/* Whether the newest picture is a still of a show, with which a mean must start again. */
NOISE_FUNCTION bool noise_show_stops(const struct noise_show *s)
{
    return s->on && s->again == NOISE_STILL;
}

/* What a level of chroma counts for in |.|^2, beside one of luma: 0.75 to 0.87 in R'G'B' by BT.601
 * and BT.709, for what luma does not tell of it. */
#define NOISE_CHROMA 0.8F

/* In single precision, and a bit more than what was measured: where there is next to no noise in
 * means, a rounding must not be taken for motion. Without knowledge it is alike in Y, U and V. */
struct noise_spread {
    float yy, yu, yv, uu, uv, vv;
};

NOISE_FUNCTION struct noise_spread noise_at_least(struct noise_left left, double share, bool grey)
{
    const float rho = (float)share, white = grey ? rho : 0.4F * rho, more = 0.02F * rho;
    struct noise_spread c = {(float)left.yy, (float)left.yu, (float)left.yv,
                             (float)left.uu, (float)left.uv, (float)left.vv};

    if (left.yy <= 0.0) {
        c.yy = c.uu = c.vv = white;
        c.yu = c.yv = c.uv = 0.0F;
    }
    c.yy = fmaxf(c.yy + more, 0.02F);
    c.uu = fmaxf(c.uu + more, 0.02F);
    c.vv = fmaxf(c.vv + more, 0.02F);
    return c;
}

/* From (Y, U, V) to coordinates in which what is left of noise is white: those of chroma, and of
 * luma what chroma does not tell of it. The sum of their squares is a Mahalanobis distance in which
 * luma has 0.6 of the weight, because it shows most of what moves; its mean over noise is 1. In a
 * grey picture luma is all there is, and scatters more, so it is 0.8. P. C. Mahalanobis, "On the
 * generalised distance in statistics" (1936). */
struct noise_white {
    float y, yu, yv, u, uv, v;
};

NOISE_FUNCTION struct noise_white noise_whitening(struct noise_left known, double share, bool grey)
{
    const struct noise_spread c = noise_at_least(known, share, grey);
    const float luma = grey ? 0.8F : 0.6F, chroma = grey ? 0.0F : 0.2F;
    const float u_of_v = c.uv / c.vv, uu = fmaxf(c.uu - u_of_v * c.uv, 0.01F * c.uu);
    const float y_of_u = (c.yu - u_of_v * c.yv) / uu, y_of_v = c.yv / c.vv;
    const float yy = fmaxf(c.yy - y_of_u * y_of_u * uu - y_of_v * c.yv, 0.01F * c.yy);
    struct noise_white w;

    w.y = sqrtf(luma / yy);
    w.yu = -w.y * y_of_u;
    w.yv = w.y * (y_of_u * u_of_v - y_of_v);
    w.u = sqrtf(chroma / uu);
    w.uv = -w.u * u_of_v;
    w.v = sqrtf(chroma / c.vv);
    return w;
}

/* How much of the variance the square of a change of light has to exceed: T of
 * engine/time/average.h, several times what means of 7x7 cells leave of the noise. They leave the
 * more of it the further away neighbours have it in common, which most noise of chroma does:
 * cameras interpolate and smooth it more. */
NOISE_FUNCTION float noise_luma_light(struct noise_left known, double share, bool grey)
{
    return 0.0142F * sqrtf(noise_at_least(known, share, grey).yy / 0.05F);
}

NOISE_FUNCTION float noise_chroma_light(struct noise_left known, double share)
{
    const struct noise_spread c = noise_at_least(known, share, false);
    const float left = NOISE_CHROMA * (c.uu + c.vv);

    /* Power 2.3; powf() is long on a GPU. */
    return fminf(0.0106F * exp2f(2.3F * log2f(left / 0.08F)), 2.0F);
}

/* By how much more than that of white noise the "auto" range sigma of a mean over frames is: noise
 * that neighbours share looks like something drawn, and more of it is left of a JPEG where a block
 * is uneven than the variance tells. */
NOISE_FUNCTION double noise_widens(double share)
{
    const double more = share - 0.16;

    return 1.0 + 2.8 * (more < 0.0 ? 0.0 : more > 0.085 ? 0.085 : more);
}

/* By how much more it is in 4:2:0 than in 4:2:2, for which its factors were chosen. A sample of
 * chroma is the mean of four pixels there, not of two, so that half of its noise is gone and nu is
 * a tenth less. Luma has all of its noise, and most of a difference is luma. Noise that neighbours
 * share is no less in such a mean. */
NOISE_FUNCTION double noise_widens_420(double share)
{
    const double own = 10.0 * (0.37 - share);

    return 1.0 + 0.1 * (own < 0.0 ? 0.0 : own > 1.0 ? 1.0 : own);
}

/* What that sigma is multiplied by where a pixel is the mean of only @n of at most @most frames (2
 * or more), and neighbours share much of the noise. A window has few independent samples of such
 * noise, so that a wide sigma takes more from edges that move than it takes from the noise. White
 * noise in 4:2:0 has a share of 0.2, as chroma counts for four pixels there, and a JPEG 0.2 to
 * 0.25. */
NOISE_FUNCTION float noise_narrows(double share, float n, int most)
{
    const float shared = fminf(fmaxf(10.0F * ((float)share - 0.27F), 0.0F), 1.0F);
    const float old = (n - 1.0F) / fminf((float)most - 1.0F, 2.0F);

    return 1.0F - 0.2F * shared * fmaxf(1.0F - old, 0.0F);
}

/* How much further from its mean the misfit of a guess that lies on samples may be: the fewer of
 * the samples that it is the mean of are independent, the more noise alone scatters it. Between
 * samples that would hide what was missed. */
NOISE_FUNCTION float noise_slack(float share)
{
    return fminf(1.36F + 4.0F * fmaxf(share - 0.14F, 0.0F), 1.85F);
}
