#include "engine/simd/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/simd/fixed_form.h"
#include "engine/simd/half.h"

/* A spatial distance from which on a tap does not matter: all that a window could gather at
 * e^-20 is less than 1e-3 levels. */
#define FAR 20.0

/* A spatial distance of ROWS_TABLE that leaves no weight whatever is added to it. */
#define TABLE_FAR 0x7FFFU

/* The radius from which on ROWS_TABLE is the quicker one; below it costs more to load its planes
 * than it wins. */
#define TABLE_RADIUS 3

/* Taps that one sum of halves takes: each rounds it. Without a limit a window of 17x17 is up to two
 * levels off where all weigh much, and 4 dB worse (2026-11-23). */
#define HALF_TAPS 48

enum row_layout plan_layout(enum frame_format format)
{
    const struct format_info *info = &format_table[format];

    return info->components == 1 ? ROWS_GREY : info->hshift ? ROWS_PAIR : ROWS_SINGLE;
}

/* What makes the planes of rows.h. */
static struct colour_distance axes_of(const struct filter *f, struct colour colour)
{
    double m[3][3];

    if (f->distance == DISTANCE_EUCLIDEAN || colour.matrix == COLOUR_RGB)
        return colour_distance(colour);
    colour_to_rgb(colour, m);
    return (struct colour_distance){
        .a = m[0][0], .b = m[1][1], .c = m[1][2], .d = m[2][1], .f = m[0][2]};
}

static struct row_scale scale_of(const struct colour_distance *l, double s, enum row_arithmetic a)
{
    const double uv = a == ROWS_TABLE ? sqrt(2.0) : 1.0;
    double k[6] = {s * l->a, s * l->b, s * l->c, s * l->d, s * l->e, s * l->f};
    struct row_scale r;

    for (int i = 0; i < 6; i++) {
        r.q[i] = (int16_t)lrint(fmin(k[i] * (i < 3 ? 1.0 : uv) * 128.0, 32767.0));
        if (a == ROWS_HALF) {
            r.q[i] = (int16_t)half_from(k[i]);
            k[i] = half_value(half_from(k[i]));
        }
    }
    r.a = (float)k[0];
    r.b = (float)k[1];
    r.c = (float)k[2];
    r.d = (float)k[3];
    r.e = (float)k[4];
    r.f = (float)k[5];
    r.y = (float)(1.0 / k[0]);
    r.v = (float)(1.0 / k[5]);
    r.u = (float)(1.0 / k[3]);
    r.uv = (float)(k[4] / k[3]);
    r.chroma[0] = (int16_t)half_from(-k[1] / k[3]);
    r.chroma[1] = (int16_t)half_from((k[1] * k[4] / k[3] - k[2]) / k[5]);
    return r;
}

/* The spatial weights that one 16-bit sum can take. A sum grows by w |dY|, at most e^-1/2 sc
 * times the factor by which dY may exceed the distance (of DISTANCE_MANHATTAN 1); 5 % are for
 * what is approximate. */
static double sum_limit(const struct filter *f, const struct colour_distance *l, double s)
{
    const double k1 = l->b / l->d, k2 = l->c / l->f - l->b * l->e / (l->d * l->f);
    const double excess = f->distance == DISTANCE_MANHATTAN ? 1.0 : sqrt(1.0 + k1 * k1 + k2 * k2);

    return 0.95 * 32767.0 / (exp(-0.5) * s * f->sigma_color * excess);
}

static void set_space(const struct row_plan *plan, const struct fixed_form *form, struct row_tap *t,
                      int i, double x)
{
    if (!row_is_real(plan->arithmetic))
        t->space.fixed[i] = fixed_rest(form, fixed_space(form, x)) * 0x10001U;
    else if (plan->arithmetic == ROWS_GAUSSIAN)
        t->space.real[i] = (float)(x / log(2.0));
    else
        t->space.real[i] = (float)exp(-x);
}

/* Fills in the weights of the pairs of one tap that are in the window, and which those are.
 * @ret_w is the greater sum of spatial weights that one of its luma sums gathers. */
static uint8_t make_tap(const struct row_plan *plan, const struct fixed_form *form,
                        struct row_tap *t, const struct filter *f, enum row_layout layout,
                        double *ret_w)
{
    const int step = layout == ROWS_PAIR ? 2 : 1, h = filter_half_width(f, t->dy);
    const int dx[3] = {step * t->k, step * t->k + 1, step * t->k - 1};
    const double far = row_is_real(plan->arithmetic) ? FAR : form->range;
    double w[3] = {0};
    uint8_t pairs = 0;

    for (int i = 0; i < (layout == ROWS_PAIR ? 3 : 1); i++) {
        const double x = space_exponent(f, dx[i], t->dy);

        if (dx[i] < -h || dx[i] > h || x >= far)
            continue;
        pairs |= (uint8_t)(1 << i);
        set_space(plan, form, t, i, x);
        w[i] = exp(-x);
    }
    *ret_w = w[0] + fmax(w[1], w[2]);
    return pairs;
}

/* Appends a tap to the last run, or to a new one if it is of another kind or the sums of the
 * last are full. */
static void append(struct row_plan *plan, const struct row_tap *t, uint8_t pairs, double w,
                   double limit, double *sum)
{
    struct row_run *run = plan->n_runs ? &plan->run[plan->n_runs - 1] : NULL;

    if (run && *sum + w > limit) {
        run->flush = true;
        *sum = 0.0;
    }
    if (!run || run->flush || run->pairs != pairs) {
        run = &plan->run[plan->n_runs++];
        *run = (struct row_run){.pairs = pairs};
    }
    *sum += w;
    plan->tap[plan->n_taps++] = *t;
    run->n_taps++;
    plan->reach_x = t->k > plan->reach_x ? t->k : plan->reach_x;
    plan->reach_y = t->dy > plan->reach_y ? t->dy : plan->reach_y;
}

static void make_taps(struct row_plan *plan, const struct fixed_form *form, const struct filter *f,
                      enum row_layout layout, double limit)
{
    const int reach = layout == ROWS_PAIR ? (f->radius + 1) / 2 : f->radius;
    const double own = f->radius ? space_exponent(f, 1, 0) : 1000.0;
    const bool counted = plan->arithmetic == ROWS_HALF;
    double sum = exp(-own), w;

    set_space(plan, form, &plan->own, 0, own);
    for (int kind = 1; kind <= (TAP_EVEN | TAP_UP | TAP_DOWN); kind++)
        for (int dy = -f->radius; dy <= f->radius; dy++)
            for (int k = -reach; k <= reach; k++) {
                struct row_tap t = {.dy = (int16_t)dy, .k = (int16_t)k};

                if ((dy || k) && make_tap(plan, form, &t, f, layout, &w) == kind)
                    append(plan, &t, (uint8_t)kind, counted ? 1.0 : w, limit, &sum);
            }
    if (plan->n_runs == 0) /* all but the column itself is too far */
        plan->run[plan->n_runs++] = (struct row_run){.pairs = TAP_EVEN};
    plan->run[plan->n_runs - 1].flush = true;
}

/* Distances for the pixels of the column k to the right in row dy, from the even and the odd
 * pixel; false if neither has one of them in its window. */
static bool set_table_space(uint32_t space[2], const struct fixed_form *form,
                            const struct filter *f, int dy, int k)
{
    const int h = abs(dy) <= f->radius ? filter_half_width(f, dy) : -1;
    bool any = false;

    for (int from = 0; from < 2; from++) {
        space[from] = TABLE_FAR * 0x10001U;
        for (int to = 0; to < 2; to++) {
            const int dx = 2 * k + to - from;
            const double x = space_exponent(f, dx, dy);

            if (abs(dx) > h || x >= form->range)
                continue;
            space[from] -= (TABLE_FAR - fixed_space(form, x)) << 16 * to;
            any = true;
        }
    }
    return any;
}

static void make_table_taps(struct row_plan *plan, const struct fixed_form *form,
                            const struct filter *f)
{
    const int reach = (f->radius + 1) / 2;
    double sum = 0.0;

    for (int kind = 1; kind <= (TAP_UPPER | TAP_LOWER); kind++)
        for (int dy = -f->radius; dy <= f->radius + 1; dy++)
            for (int k = -reach; k <= reach; k++) {
                struct row_tap t = {.dy = (int16_t)dy, .k = (int16_t)k};
                const bool upper = set_table_space(&t.space.fixed[0], form, f, dy, k);
                const bool lower = set_table_space(&t.space.fixed[2], form, f, dy - 1, k);

                if ((upper ? TAP_UPPER : 0) + (lower ? TAP_LOWER : 0) == kind)
                    append(plan, &t, (uint8_t)kind, 0.0, 1.0, &sum);
            }
}

/* Whether kernels of @a are there for the filter, and of use. */
static bool is_for(enum row_arithmetic a, const struct filter *f, enum row_layout layout)
{
    return a == ROWS_FIXED || (f->distance == DISTANCE_EUCLIDEAN && layout == ROWS_PAIR &&
                               (a == ROWS_HALF || f->radius >= TABLE_RADIUS));
}

/* The first of @preferred, 16-bit arithmetic and floating point that holds the bound. Returns the
 * scale of the planes. */
static double choose_arithmetic(struct row_plan *plan, struct fixed_form *form,
                                const struct filter *f, const struct colour_distance *l,
                                enum row_layout layout, enum row_arithmetic preferred)
{
    const enum row_arithmetic choices[2] = {preferred, ROWS_FIXED};

    if (f->range == RANGE_LORENTZIAN) {
        plan->arithmetic = ROWS_LORENTZIAN;
        return sqrt(0.5) / f->sigma_color;
    }
    for (int i = preferred == ROWS_FIXED; i < 2 && !row_is_real(preferred); i++) {
        if (!is_for(choices[i], f, layout))
            continue;
        *form = fixed_form_make(f, l, choices[i]);
        plan->arithmetic = form->arithmetic;
        if (fixed_form_holds(f, l, form, layout))
            return form->scale;
    }
    plan->arithmetic = ROWS_GAUSSIAN;
    return sqrt(0.5 / log(2.0)) / f->sigma_color;
}

static void clear_taps(struct row_plan *plan)
{
    plan->n_taps = plan->n_runs = plan->reach_x = plan->reach_y = 0;
}

static void make(struct row_plan *plan, const struct filter *f, struct colour colour,
                 enum row_layout layout, enum row_arithmetic preferred)
{
    const struct colour_distance l = axes_of(f, colour);
    struct fixed_form form = {0};
    const double scale = choose_arithmetic(plan, &form, f, &l, layout, preferred);

    clear_taps(plan);
    plan->distance = f->distance;
    plan->common = colour.matrix != COLOUR_RGB;
    plan->shift = form.shift;
    plan->octaves = (uint16_t)form.octaves;
    plan->centre = (uint16_t)fixed_weight(&form, form.half);
    for (int i = 0; i < ROW_TABLE_SIZE; i++) {
        plan->table[0][i] = (uint8_t)(fixed_table_weight(i) & 255);
        plan->table[1][i] = (uint8_t)(fixed_table_weight(i) >> 8);
    }
    plan->scale = scale_of(&l, scale, plan->arithmetic);
    if (plan->arithmetic == ROWS_TABLE)
        make_table_taps(plan, &form, f);
    else
        make_taps(plan, &form, f, layout,
                  plan->arithmetic == ROWS_HALF ? HALF_TAPS : sum_limit(f, &l, scale));
}

void plan_make(struct row_plan *plan, const struct filter *f, struct colour colour,
               enum row_layout layout, enum row_arithmetic preferred)
{
    make(plan, f, colour, layout, preferred);
}

/* Blurs are the limits of the bilateral filter. */
void plan_make_words(struct row_plan *plan, const struct filter *filter, struct colour colour,
                     enum row_layout layout)
{
    const double endless = 1e6;
    struct filter f = *filter;

    f.sigma_color *= 2.0;
    if (f.kind != FILTER_BILATERAL) {
        f.sigma_color = endless;
        f.range = RANGE_GAUSSIAN;
        f.distance = DISTANCE_EUCLIDEAN;
        f.window = WINDOW_SQUARE;
    }
    if (f.kind == FILTER_BOX)
        f.sigma_space = endless;
    make(plan, &f, colour, layout, ROWS_GAUSSIAN);
}

void plan_make_each(struct row_plan *plan, const struct filter *f, struct colour colour,
                    enum row_layout layout, int n_frames, bool real)
{
    const struct colour_distance l = axes_of(f, colour);
    const struct fixed_form test = fixed_form_make(f, &l, ROWS_FIXED);
    const struct fixed_form form = fixed_form_make_each(f, &l);
    const bool gaussian = f->range == RANGE_GAUSSIAN;
    const double st2 = 2.0 * f->sigma_time * f->sigma_time;
    double w, scale = sqrt(gaussian ? 0.5 / log(2.0) : 0.5);

    plan->arithmetic = gaussian ? ROWS_GAUSSIAN : ROWS_LORENTZIAN;
    if (!real && gaussian && n_frames == 1 && f->radius > 0 &&
        fixed_form_holds(f, &l, &test, layout) && fixed_form_holds(f, &l, &form, layout)) {
        plan->arithmetic = ROWS_FIXED;
        plan->per_unit = (float)(form.factor * f->sigma_color * f->sigma_color);
        scale = form.scale;
    }
    plan->distance = f->distance;
    plan->common = colour.matrix != COLOUR_RGB;
    plan->scale = scale_of(&l, scale, plan->arithmetic);
    plan->octaves = (uint16_t)form.octaves;
    plan->centre = (uint16_t)fixed_weight(&form, 0);
    clear_taps(plan);
    plan->here_tap = (struct row_tap){0};
    make_taps(plan, &form, f, layout, sum_limit(f, &l, scale));
    plan->here = (struct row_run){
        .pairs = make_tap(plan, &form, &plan->here_tap, f, layout, &w),
        .n_taps = 1,
    };
    for (int k = 0; k < FILTER_MAX_WINDOW; k++) {
        const double x = f->sigma_time > 0.0 ? k * k / st2 : 0.0;

        plan->time[k] = (float)(gaussian ? x / log(2.0) : exp(-x));
    }
}
