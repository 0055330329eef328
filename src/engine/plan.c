#include "plan.h"

#include <math.h>
#include <string.h>

#include "rows_fixed_weight.h"

/* A spatial distance from which on a tap does not matter: all that a window could gather at
 * e^-20 is less than 1e-3 levels. */
#define FAR 20.0

/* Levels by which the mean at a lone pixel may be off in ROWS_FIXED. Less than 1 in exact
 * arithmetic is at most 1 after rounding. */
#define LONE_PIXEL_BOUND 0.8

enum row_layout plan_layout(enum frame_format format)
{
    const struct format_info *info = &format_table[format];

    return info->components == 1 ? ROWS_GREY : info->hshift ? ROWS_PAIR : ROWS_SINGLE;
}

static struct row_scale scale_of(const struct colour_distance *l, double s)
{
    const double factor[6] = {l->a, l->b, l->c, l->d, l->e, l->f};
    struct row_scale k = {
        .a = (float)(s * l->a),
        .b = (float)(s * l->b),
        .c = (float)(s * l->c),
        .d = (float)(s * l->d),
        .e = (float)(s * l->e),
        .f = (float)(s * l->f),
        .y = (float)(1.0 / (s * l->a)),
        .v = (float)(1.0 / (s * l->f)),
        .u = (float)(1.0 / (s * l->d)),
        .uv = (float)(l->e / l->d),
    };

    for (int i = 0; i < 6; i++)
        k.q[i] = (int16_t)lrint(fmin(s * factor[i] * 128.0, 32767.0));
    return k;
}

/* The largest scale with which samples less 128 fit planes of 16 bits. */
static double largest_scale(const struct colour_distance *l)
{
    const double widest =
        fmax(fmax(l->a, fabs(l->b) + fabs(l->c)), fmax(fabs(l->d) + fabs(l->e), l->f));

    return 255.9 / widest;
}

/* Squared distances are in units of 1 / (FIXED_RANGE 2^shift / 65536) of the exponent; the
 * scale of the planes follows from that and must fit. A shift below 2 would need distances
 * beyond what a saturated difference can hold. */
static double fixed_scale(const struct filter *f, const struct colour_distance *l, int *shift)
{
    double s;

    for (*shift = 2;; ++*shift) {
        s = sqrt(65536.0 * 32768.0 / (2.0 * FIXED_RANGE * (1 << *shift))) / f->sigma_color;
        if (s <= largest_scale(l))
            return s;
    }
}

static unsigned fixed_space(double x, int shift)
{
    return (unsigned)fmin(rint(x * 65536.0 / (FIXED_RANGE * (1 << shift))), 65535.0);
}

static double space_exponent(const struct filter *f, int dx, int dy)
{
    return (dx * dx + dy * dy) / (2.0 * f->sigma_space * f->sigma_space);
}

/* The weight of rows_fixed.h, one lane of it, in Q15. */
static int fixed_weight(unsigned z, int shift)
{
    const unsigned cap = 65535U >> shift;
    const unsigned v = (z < cap ? z : cap) << shift;
    unsigned p = FIXED_A0 - (v * (FIXED_A1 - (v * FIXED_A2 >> 16)) >> 16);

    for (int i = 0; i < 3; i++)
        p = p * p >> 16;
    return (int)((p * p + 16384) >> 15);
}

/* How wrong ROWS_FIXED is at a pixel that differs by @dy plane units of luma from all around
 * it, in plane units. Nothing is worse: all that many small weights gather is wrong by what
 * each of them was rounded by, and the only weight against them is the pixel's own. */
static double lone_pixel_error(const struct filter *f, int dy, double x, int shift)
{
    const double one = 32768.0;
    double true_w = 0.0, sum = 0.0, w = 0.0;

    for (int j = 0; j <= f->radius; j++) {
        const int h = filter_half_width(f, j);

        for (int i = 0; i <= h; i++) {
            const double xs = space_exponent(f, i, j);
            const int n = (i ? 2 : 1) * (j ? 2 : 1);
            const int q = i || j ? fixed_weight(fixed_space(xs + x, shift), shift) : 0;

            if (!i && !j)
                continue;
            true_w += n * exp(-xs - x);
            w += n * q;
            sum += n * ((dy * q + 16384) >> 15);
        }
    }
    return fabs(sum / (1.0 + w / one) - dy * true_w / (1.0 + true_w));
}

static bool fixed_holds(const struct filter *f, const struct colour_distance *l)
{
    enum { STEPS = 48 };
    int shift;
    const double s = fixed_scale(f, l, &shift);
    const double unit = s * l->a;
    const double furthest = fmin(255.0, sqrt(2.0 * 13.0) * f->sigma_color / l->a);

    if (fixed_weight(65535, shift) != 0)
        return false; /* steps so coarse that the furthest one in range still weighs */
    for (int i = 1; i <= STEPS; i++) {
        const double levels = furthest * i / STEPS;
        const double d = levels * l->a / f->sigma_color;
        const int dy = (int)fmin(levels * unit, 32767.0);

        if (lone_pixel_error(f, dy, d * d / 2.0, shift) > LONE_PIXEL_BOUND * unit)
            return false;
    }
    return true;
}

/* The spatial weights that one 16-bit sum can take. A sum grows by w |dY|, at most e^-1/2 sc
 * times the factor by which dY may exceed the distance; 5 % are for what is approximate. The
 * sums of weights hold a little over 30. */
static double sum_limit(const struct filter *f, const struct colour_distance *l, double s)
{
    const double k1 = l->b / l->d, k2 = l->c / l->f - l->b * l->e / (l->d * l->f);
    const double largest = exp(-0.5) * s * f->sigma_color * sqrt(1.0 + k1 * k1 + k2 * k2);

    return fmin(0.95 * 32767.0 / largest, 30.0);
}

static void set_space(struct row_plan *plan, struct row_tap *t, int i, double x)
{
    if (plan->arithmetic == ROWS_FIXED)
        t->space.fixed[i] = fixed_space(x, plan->shift) * 0x10001U;
    else if (plan->arithmetic == ROWS_GAUSSIAN)
        t->space.real[i] = (float)(x / log(2.0));
    else
        t->space.real[i] = (float)exp(-x);
}

/* Fills in the pairs of one tap and their weights; the greater sum of spatial weights that a
 * luma sum of it gathers, 0 when the tap is of no use. */
static double make_tap(struct row_plan *plan, struct row_tap *t, const struct filter *f,
                       enum row_layout layout)
{
    const int step = layout == ROWS_PAIR ? 2 : 1, h = filter_half_width(f, t->dy);
    const int dx[3] = {step * t->k, step * t->k + 1, step * t->k - 1};
    const double far = plan->arithmetic == ROWS_FIXED ? FIXED_RANGE : FAR;
    double w[3] = {0};

    for (int i = 0; i < (layout == ROWS_PAIR ? 3 : 1); i++) {
        const double x = space_exponent(f, dx[i], t->dy);

        set_space(plan, t, i, 1e4);
        if (dx[i] < -h || dx[i] > h || x >= far)
            continue;
        t->pairs |= (uint8_t)(1 << i);
        set_space(plan, t, i, x);
        w[i] = exp(-x);
    }
    return w[0] + fmax(w[1], w[2]);
}

static void make_taps(struct row_plan *plan, const struct filter *f, enum row_layout layout,
                      double limit)
{
    const int reach = layout == ROWS_PAIR ? (f->radius + 1) / 2 : f->radius;
    double sum = 0.0;

    for (int dy = -f->radius; dy <= f->radius; dy++)
        for (int k = -reach; k <= reach; k++) {
            struct row_tap t = {.dy = (int16_t)dy, .k = (int16_t)k};
            const double w = make_tap(plan, &t, f, layout);

            if (!t.pairs)
                continue;
            if (plan->n_taps && sum + w > limit) {
                plan->tap[plan->n_taps - 1].flush = true;
                sum = 0.0;
            }
            sum += w;
            plan->reach_x = k > plan->reach_x ? k : plan->reach_x;
            plan->reach_y = dy > plan->reach_y ? dy : plan->reach_y;
            plan->tap[plan->n_taps++] = t;
        }
    plan->tap[plan->n_taps - 1].flush = true;
}

void plan_make(struct row_plan *plan, const struct filter *f, struct colour colour,
               enum row_layout layout)
{
    const struct colour_distance l = colour_distance(colour);
    double s;

    plan->n_taps = plan->reach_x = plan->reach_y = plan->shift = 0;
    plan->cap = 0;
    if (f->range == RANGE_LORENTZIAN) {
        plan->arithmetic = ROWS_LORENTZIAN;
        s = sqrt(0.5) / f->sigma_color;
    } else if (fixed_holds(f, &l)) {
        plan->arithmetic = ROWS_FIXED;
        s = fixed_scale(f, &l, &plan->shift);
        plan->cap = (uint16_t)(65535 >> plan->shift);
    } else {
        plan->arithmetic = ROWS_GAUSSIAN;
        s = sqrt(0.5 / log(2.0)) / f->sigma_color;
    }
    plan->scale = scale_of(&l, s);
    make_taps(plan, f, layout, sum_limit(f, &l, s));
}
