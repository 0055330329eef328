#include "engine/simd/fixed_form.h"

#include <math.h>

#include "engine/simd/half.h"
#include "engine/simd/rows_fixed_weight.h"

/* Levels by which a mean may be off in 16 bits. Less than 1 in exact arithmetic is at most 1 after
 * rounding. */
#define MEAN_BOUND 0.8

/* The same where pixels have factors of their own, whose rounding is in it at its worst. */
#define EACH_MEAN_BOUND 0.9

/* The exponent at which the table of weights would end: its last entry, one step before, is
 * the first that rounds to nothing. */
#define TABLE_RANGE 11.2

/* The octaves of ROWS_HALF that are left at no distance, as FIXED_TOP: three more keep the furthest
 * weights of wide windows from the end of the range. Sums of as many taps as the plan allows stay
 * below half of what halves hold. */
#define HALF_TOP 18.8

/* What the factor of a pixel is at least, where a plan has a range sigma for each of them. It is an
 * integer, and so is what it multiplies: more would make that one too coarse. */
#define EACH_LEAST_FACTOR 64.0

/* The largest scale with which samples less 128 fit planes of 16 bits. */
static double largest_scale(const struct colour_distance *l, enum row_arithmetic a)
{
    const double y = l->a, c = fabs(l->b) + fabs(l->c);
    const double uv = fmax(fabs(l->d) + fabs(l->e), l->f);

    return 255.9 / (a == ROWS_TABLE ? fmax(y + c, sqrt(2.0) * uv) : fmax(fmax(y, c), uv));
}

/* With so many octaves in 2^16 units. */
static double units_per_x(int octaves)
{
    return 65536.0 / (octaves * log(2.0));
}

static void set_per_x(struct fixed_form *form, const struct filter *f, double per_x)
{
    form->per_x = per_x;
    form->scale = sqrt(per_x * 32768.0 / 2.0) / f->sigma_color;
}

/* The finest steps of distance with which planes still fit 16 bits. Saturated differences are
 * beyond the range as long as that is no more than a quarter of what squares may reach. */
struct fixed_form fixed_form_make(const struct filter *f, const struct colour_distance *l,
                                  enum row_arithmetic arithmetic)
{
    const double largest = largest_scale(l, arithmetic);
    struct fixed_form form = {.arithmetic = arithmetic};

    if (arithmetic == ROWS_FIXED) {
        const double finest = pow(largest * f->sigma_color, 2.0) * 2.0 / 32768.0;
        const double octaves = ceil(65536.0 / (finest * log(2.0)));

        form.octaves = (int)fmin(fmax(octaves, FIXED_LEAST_OCTAVES), FIXED_MOST_OCTAVES);
        form.range = FIXED_TOP * log(2.0);
        set_per_x(&form, f, units_per_x(form.octaves));
        return form;
    }
    if (arithmetic == ROWS_HALF) {
        form.range = HALF_TOP * log(2.0);
        form.per_x = HALF_OCTAVE / log(2.0);
        form.scale = sqrt(form.per_x / 2.0) / f->sigma_color;
        return form;
    }
    form.range = TABLE_RANGE;
    for (form.shift = 7;; form.shift--) {
        set_per_x(&form, f, (ROW_TABLE_SIZE << form.shift) / TABLE_RANGE);
        form.half = 1U << form.shift >> 1;
        if (form.shift == 0 || form.scale <= largest)
            return form;
    }
}

unsigned fixed_space(const struct fixed_form *form, double x)
{
    return (unsigned)fmin(rint(x * form->per_x) + form->half, 65535.0);
}

unsigned fixed_rest(const struct fixed_form *form, unsigned z)
{
    const unsigned top = (unsigned)(form->range * form->per_x);

    return z < top ? top - z : 0;
}

int fixed_table_weight(int index)
{
    return (int)rint(32767.0 * exp(-index * TABLE_RANGE / ROW_TABLE_SIZE));
}

/* One lane of the weights of rows_fixed.h, of the table or of rows_half.h. */
int fixed_weight(const struct fixed_form *form, unsigned z)
{
    const unsigned rest = fixed_rest(form, z), octaves = rest * (unsigned)form->octaves;

    if (form->arithmetic == ROWS_HALF)
        return (int)rest;
    if (form->arithmetic == ROWS_TABLE) {
        const int index = (int)(z >> form->shift);

        return fixed_table_weight(index < ROW_TABLE_SIZE ? index : ROW_TABLE_SIZE - 1);
    }
    return (int)(((octaves & 65535) + 65536) / 2 * (1U << (octaves >> 16) | 1) >> 16);
}

double space_exponent(const struct filter *f, int dx, int dy)
{
    return (dx * dx + dy * dy) / (2.0 * f->sigma_space * f->sigma_space);
}

/* Whether sums of weights fit without widening: 2^16 units of 128 / 2^15, and remainders of
 * less than 128 each. In pairs a tap adds the mean of up to two weights, and the ends of rows
 * have taps of one. ROWS_TABLE sums in 32 bits, and products with samples of up to 128 too,
 * ROWS_HALF in floats. */
static bool weights_fit(const struct filter *f, enum row_arithmetic a, enum row_layout layout)
{
    const int per_tap = layout == ROWS_PAIR ? 2 : 1;
    const int n_taps = filter_taps(f->window, f->radius) / per_tap + 2 * (2 * f->radius + 1);
    double sum = 0.0;

    if (a == ROWS_HALF)
        return true;
    for (int dy = -f->radius; dy <= f->radius; dy++)
        for (int dx = -filter_half_width(f, dy); dx <= filter_half_width(f, dy); dx++)
            sum += exp(-space_exponent(f, dx, dy));
    return a == ROWS_TABLE ? sum < 500.0 : sum < 250.0 * per_tap && n_taps < 65536 / 128;
}

static double weight_value(const struct fixed_form *form, int weight)
{
    return form->arithmetic == ROWS_HALF ? half_value((uint16_t)weight) : weight / 32768.0;
}

/* Sums over a window without its own pixel, in which all differ alike: of weights, as they are and
 * as 16 bits have them, and of these times the difference. */
struct window_sums {
    double levels, dy; /* the difference: in levels of luma, and in plane units of it */
    double exact, w, difference;
};

/* Where the exponent of the difference @dy is @x, and has become @had. @like: where there is no
 * difference; NULL for that one itself. */
static struct window_sums sum_window(const struct filter *f, const struct fixed_form *form,
                                     const struct window_sums *like, double dy, double x,
                                     double had)
{
    struct window_sums sums = {.dy = dy, .exact = like ? like->exact * exp(-x) : 0.0};

    for (int j = 0; j <= f->radius; j++)
        for (int i = filter_half_width(f, j); i >= !j; i--) {
            const double xs = space_exponent(f, i, j);
            const int q = fixed_weight(form, fixed_space(form, xs + had));
            const int n = (i ? 2 : 1) * (j ? 2 : 1);

            sums.exact += like ? 0.0 : n * exp(-xs);
            sums.w += n * weight_value(form, q);
            sums.difference += form->arithmetic == ROWS_FIXED ? n * (((int)dy * q + 16384) >> 15)
                                                              : n * (dy * weight_value(form, q));
        }
    return sums;
}

/* How wrong a mean is in plane units where a share of the pixels, spread evenly, is @like the one
 * in the middle, and others are @above and @below it by their differences. */
static double mean_error(double own, const struct window_sums *like, double share_like,
                         const struct window_sums *above, double share_above,
                         const struct window_sums *below, double share_below)
{
    const double exact =
        (share_above * above->dy * above->exact - share_below * below->dy * below->exact) /
        (1.0 + share_like * like->exact + share_above * above->exact + share_below * below->exact);
    const double had =
        (share_above * above->difference - share_below * below->difference) /
        (own + share_like * like->w + share_above * above->w + share_below * below->w);

    return fabs(had - exact);
}

/* Whether the mean is within @bound where pixels are of two colours and of three. Of two: no pixel
 * is like the one in the middle, or 1 in 256, and so on up to half of them. Where they are few, the
 * errors of many small weights count; where they are many, that of a large one. Of three: the pixel
 * lies between two colours that weigh the same together, so that their errors may add up. */
static bool means_hold(const struct fixed_form *form, const struct window_sums *like,
                       const struct window_sums *other, int n, double bound)
{
    const double own = weight_value(form, fixed_weight(form, form->half));

    for (int i = 0; i < n; i++) {
        const struct window_sums *const a = &other[i];

        for (int k = 0; k <= 8; k++) {
            const double share = k ? 1.0 / (1 << k) : 0.0;

            if (mean_error(own, like, share, a, 1.0 - share, a, 0.0) > bound)
                return false;
        }
        for (int j = 0; j <= i && a->levels + other[j].levels <= 255.0; j++) {
            const struct window_sums *const b = &other[j];
            const double share = b->exact / (a->exact + b->exact);

            if (mean_error(own, like, 0.0, a, share, b, 1.0 - share) > bound)
                return false;
        }
    }
    return true;
}

/* What becomes of the exponent of a distance @d in plane units, where the factor is rounded to the
 * side @sign. */
static double each_exponent(const struct fixed_form *form, int d, int sign)
{
    return ((d * d + 16384) >> 15) * (form->factor + 0.5 * sign) / form->per_x;
}

/* Steps of which not even the furthest one in range is without weight are of no use either. */
static bool too_coarse(const struct fixed_form *form)
{
    return form->arithmetic == ROWS_TABLE ? form->shift == 0 || fixed_weight(form, 65535) != 0
                                          : form->octaves == FIXED_MOST_OCTAVES;
}

/* What Y differs by at most, in units of a, where the sum of the differences of R', G' and B' is 1:
 * it is one of them, or has most of G' (0.72 with BT.709). */
static double manhattan_share(const struct colour_distance *l)
{
    return l->b == 0.0 && l->c == 0.0 ? 1.0 : 0.72;
}

bool fixed_form_holds(const struct filter *f, const struct colour_distance *l,
                      const struct fixed_form *form, enum row_layout layout)
{
    enum { STEPS = 96 };
    const bool manhattan = f->distance == DISTANCE_MANHATTAN;
    const double unit = form->scale * l->a;
    const double most = (manhattan ? 3.0 : 1.0) * 255.0 * l->a / f->sigma_color;
    const double furthest = fmin(most, sqrt(2.0 * 13.0));
    const double levels_per_d = (manhattan ? manhattan_share(l) : 1.0) * f->sigma_color / l->a;
    const double bound = form->factor > 0.0 ? EACH_MEAN_BOUND : MEAN_BOUND;
    struct window_sums like, other[STEPS];

    if (too_coarse(form) || !weights_fit(f, form->arithmetic, layout))
        return false;
    like = sum_window(f, form, NULL, 0.0, 0.0, 0.0);
    for (int sign = -1; sign <= (form->factor > 0.0 ? 1 : -1); sign += 2) {
        for (int i = 0; i < STEPS; i++) {
            const double d = furthest * (i + 1) / STEPS, x = d * d / 2.0;
            const double levels = fmin(d * levels_per_d, 255.0);
            const double exact = fmin(levels * unit, 32767.0);
            const double dy = form->arithmetic == ROWS_HALF ? exact : floor(exact);
            const int far = (int)fmin(d * f->sigma_color * form->scale, 32767.0);
            const double had = form->factor > 0.0 ? each_exponent(form, far, sign) : x;

            other[i] = sum_window(f, form, &like, dy, x, had);
            other[i].levels = levels;
        }
        if (!means_hold(form, &like, other, STEPS, bound * unit))
            return false;
    }
    return true;
}

/* Finer steps would leave the factor too few. */
struct fixed_form fixed_form_make_each(const struct filter *f, const struct colour_distance *l)
{
    const double per_x = units_per_x(FIXED_EACH_OCTAVES);
    const double most = sqrt(32768.0 * per_x / (2.0 * EACH_LEAST_FACTOR));
    struct fixed_form form = {
        .octaves = FIXED_EACH_OCTAVES,
        .per_x = per_x,
        .range = FIXED_TOP * log(2.0),
        .scale = fmin(largest_scale(l, ROWS_FIXED), most / f->sigma_color),
    };

    form.factor = 32768.0 * form.per_x / (2.0 * pow(form.scale * f->sigma_color, 2.0));
    return form;
}
