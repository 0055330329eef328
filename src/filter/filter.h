#pragma once
/* What is done to a frame: the image contract's parameters.
 *
 * For an output pixel p with R'G'B' colour I(p) and the window Omega of radius r around it
 *     out(p) = sum_q w(p,q) I(q) / sum_q w(p,q)
 *     w(p,q) = exp(-|p-q|^2 / (2 sigma_space^2)) * f(d(p,q)^2)
 *     gaussian   f(d2) = exp(-d2 / (2 sigma_color^2))
 *     lorentzian f(d2) = 1 / (1 + d2 / (2 sigma_color^2))
 * where d is the Euclidean distance of I(p) and I(q), or the sum of the absolute differences of
 * R', G' and B' (DISTANCE_MANHATTAN).
 * FILTER_GAUSSIAN has f = 1, FILTER_BOX w = 1; both have the square window and do each frame by
 * itself, whatever range, distance, window, sigma_color and temporal_mode say.
 * With a window in time (TEMPORAL_WINDOW) both sums also run over the frames before, k = 0 .. N - 1
 * frames back, times exp(-k^2 / (2 sigma_time^2)); with TEMPORAL_RECURSIVE I is the mean of
 * engine/time/average.h, and sigma_color^2 is multiplied by filter_averaged_share().
 * The nearest edge pixel is repeated outside the picture. Chroma that several pixels share is
 * averaged with the sum of those pixels' weights. Results are rounded to nearest.
 * Source: C. Tomasi, R. Manduchi, "Bilateral Filtering for Gray and Color Images", ICCV 1998;
 * the Lorentzian is the edge-stopping function of P. Perona, J. Malik (1990). */
#include <math.h>
#include <stdbool.h>

#include "filter/noise_follow.h"

#define FILTER_MAX_RADIUS 32

enum filter_kind { FILTER_BILATERAL, FILTER_GAUSSIAN, FILTER_BOX, FILTER_NONE };
enum range_kernel { RANGE_GAUSSIAN, RANGE_LORENTZIAN };
enum colour_metric { DISTANCE_EUCLIDEAN, DISTANCE_MANHATTAN };
enum window_shape { WINDOW_DISC, WINDOW_SQUARE };
enum temporal_mode { TEMPORAL_RECURSIVE, TEMPORAL_WINDOW };

#define FILTER_MAX_TEMPORAL 64 /* frames */
#define FILTER_MAX_WINDOW 8    /* frames, TEMPORAL_WINDOW */

struct filter {
    enum filter_kind kind;
    int radius;         /* pixels, 0..FILTER_MAX_RADIUS; 0 is the pixel alone */
    double sigma_space; /* pixels, > 0 */
    double sigma_color; /* levels of R'G'B' on a 0..255 scale; 0 = from the noise */
    enum range_kernel range;
    enum colour_metric distance;
    enum window_shape window;
    int temporal; /* frames that are averaged at most; 0 and 1 = each frame by itself, which only
                   * FILTER_BILATERAL need not have */
    enum temporal_mode temporal_mode;
    double sigma_time; /* frames, TEMPORAL_WINDOW; 0 = all frames count alike */
    bool no_search;    /* TEMPORAL_RECURSIVE: what moves is not followed, which is cheaper */
};

/* Whether the mean over frames (engine/time/average.h) is what is filtered. */
static inline bool filter_averages(const struct filter *f)
{
    return f->temporal > 1 && f->temporal_mode == TEMPORAL_RECURSIVE;
}

/* Whether anything is done to the picture. */
static inline bool filter_acts(const struct filter *f)
{
    return f->radius > 0 || f->temporal > 1;
}

/* Whether @f follows what moves: "on", "off", "none" as it does not even average, or "" where that
 * was not @asked for. */
static inline const char *filter_search(const struct filter *asked, const struct filter *f)
{
    if (!filter_averages(asked))
        return "";
    return !filter_averages(f) ? "none" : f->no_search ? "off" : "on";
}

/* The most frames that @mode may have. */
static inline int filter_max_temporal(enum temporal_mode mode)
{
    return mode == TEMPORAL_WINDOW ? FILTER_MAX_WINDOW : FILTER_MAX_TEMPORAL;
}

/* Whether engines have to know how to do it. */
static inline bool filter_allowed(const struct filter *f)
{
    const int most = f->kind == FILTER_BILATERAL ? filter_max_temporal(f->temporal_mode) : 1;

    return f->radius >= 0 && f->radius <= FILTER_MAX_RADIUS && f->temporal <= most;
}

/* The frames that "auto" stands for. */
static inline int filter_auto_temporal(enum temporal_mode mode)
{
    return mode == TEMPORAL_WINDOW ? 4 : 16;
}

/* Whether a frame alone is not enough: the filter needs those before it. */
static inline bool filter_looks_back(const struct filter *f)
{
    return f->temporal > 1 ||
           (f->kind == FILTER_BILATERAL && f->radius > 0 && f->sigma_color <= 0.0);
}

/* How many frames @f takes, after a gap, until one costs what all that follow do. */
static inline int filter_warm_up(const struct filter *f)
{
    if (f->temporal > 1 && f->temporal_mode == TEMPORAL_WINDOW)
        return f->temporal;
    return filter_looks_back(f) ? 2 : 1;
}

/* The range sigma that "auto" stands for in 4:2:2, in units of the noise, where that is white. Of
 * noise the sum of three differences is 1.5 to 1.7 times as large as the root of the sum of their
 * squares. */
static inline double filter_auto_factor(const struct filter *f)
{
    const bool gaussian = f->range == RANGE_GAUSSIAN;
    const double k = filter_averages(f) ? (gaussian ? 2.0 : 1.2) : (gaussian ? 2.2 : 1.0);

    return k / 1.47 * (f->distance == DISTANCE_MANHATTAN ? 1.6 : 1.0);
}

/* The range sigma that "auto" stands for where the noise is @nu, the root of the sum of its
 * variances in R', G' and B', and neighbours have @share of it in common (noise.h), which counts
 * for a mean over frames alone. @is_420: the picture is 4:2:0. */
static inline double filter_auto_sigma_color(const struct filter *f, double nu, double share,
                                             bool is_420)
{
    const double counts = filter_averages(f) ? share : 0.0;

    return filter_auto_factor(f) * nu * noise_widens(counts) *
           (is_420 ? noise_widens_420(counts) : 1.0);
}

/* What the square of the range sigma is multiplied by where a pixel is the mean of @n frames, of
 * which @f->temporal count at most: a mean has less noise, and at the most it goes on to fall, as
 * if of twice as many. That begins at 3/4 of them, so that a stored step (mean_count.h) is little.
 * "auto" is narrower where a mean is new and neighbours have much of the noise in common, @share of
 * it. */
static inline double filter_averaged_share(const struct filter *f, double n, double share)
{
    const double full = fmin(fmax(4.0 * n / f->temporal - 3.0, 0.0), 1.0);
    const double narrows = f->sigma_color > 0.0 ? 1.0 : noise_narrows(share, (float)n, f->temporal);

    return narrows * narrows * (pow(n + (f->temporal - 1) * full * full, -1.2) + 0.001);
}

/* The spatial sigma that "auto" stands for at the radius asked for. */
static inline double filter_auto_sigma(int radius)
{
    return fmax(radius / 2.0, 1.0);
}

/* The furthest column of row @dy of the window: |dx| <= the result. Negative: the row is
 * empty. Rows beyond the radius must not be asked for. */
static inline int filter_half_width(const struct filter *f, int dy)
{
    int h = f->radius;

    if (f->window == WINDOW_DISC)
        while (h >= 0 && h * h + dy * dy > f->radius * f->radius)
            h--;
    return h;
}

/* Pixels in a window of @radius, the centre included. */
static inline int filter_taps(enum window_shape window, int radius)
{
    const struct filter f = {.radius = radius, .window = window};
    int taps = 0;

    for (int dy = -radius; dy <= radius; dy++)
        taps += 2 * filter_half_width(&f, dy) + 1;
    return taps;
}

/* What a frame costs with @f, in taps, but for a fixed part, to which the mean over frames belongs.
 * The search for motion is rated by what it takes on an H200 at 1080p, where a tap takes half a
 * microsecond: 35, as estimated from plain versions that were measured there (2026-11-22). Other
 * engines differ, so the governor learns it. A Gaussian is as dear as the window is wide, and a box
 * costs the same with any radius. */
static inline double filter_cost(const struct filter *f)
{
    const double taps = filter_taps(f->window, f->radius);

    if (f->kind == FILTER_GAUSSIAN)
        return 2 * f->radius + 1;
    if (f->kind == FILTER_BOX)
        return 1.0;
    if (filter_averages(f))
        return taps + (f->no_search ? 0.0 : 70.0);
    return f->temporal > 1 ? taps * f->temporal : taps;
}
