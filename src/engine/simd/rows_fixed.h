/* The 16-bit fixed-point row kernel, in terms of the vector operations of the file that
 * includes this. V holds 16-bit lanes; I and F hold 32-bit lanes of one half of a V.
 *
 * A weight is a power of two, linear between whole ones: what is left of FIXED_TOP octaves when
 * the distance is taken off has a whole part and a fraction, the upper and the lower half of one
 * product of 32 bits, and
 *     w = 2^whole (1 + fraction) / 2,   Q15, nothing at the end of the range.
 * That is 2^x and up to 6 % more; FIXED_TOP is chosen so that the weight of a pixel to itself is in
 * the middle of that. Products are collected in 16 bits and widened where the plan says that they
 * might overflow. */
#include "engine/simd/rows_fixed_weight.h"
#include "engine/simd/rows_joint.h"
#include "engine/simd/rows_pairs.h"

struct fixed_sums {
    V y[2], u, v;
    /* Weights modulo 2^16, and what is left of each in units of 128: together exact, and small
     * enough by the plan to need no widening. */
    V w_low[2], w_high[2];
};

/* Sums in 32 bits, of the lower and the upper half of the lanes. */
struct fixed_wide {
    I y[2][2], u[2], v[2];
};

/* What a kernel is made for; constants where they are inlined. */
struct fixed_kind {
    enum row_layout layout;
    bool each, manhattan;
};

struct fixed_state {
    const struct row_plan *plan;
    V centre[ROW_PLANES];
    V octaves;
    V limit[2], factor[2]; /* of `each` */
    V common;              /* of `manhattan`: 1 or 0 */
    struct fixed_sums sums;
    struct fixed_wide wide;
};

/* Turns what is left of the range into weights, @n of them. With FIXED_EACH_OCTAVES both halves of
 * the product are the number itself, shifted. */
INLINE void fixed_weights(const struct fixed_state *s, V z[4], int n, bool each)
{
    const V zero = v_set1(0);
    V whole[4] = {zero, zero, zero, zero};

    UNROLLED for (int i = 0; i < n; i++) whole[i] =
        each ? v_shr12_u(z[i]) : v_mulhi_u(z[i], s->octaves);
    UNROLLED for (int i = 0; i < n; i++) z[i] = each ? v_shl3(z[i]) : v_mullo(z[i], s->octaves);
    UNROLLED for (int i = 0; i < n; i += 2) v_powers(&whole[i], &whole[i + 1]);
    UNROLLED for (int i = 0; i < n; i++) z[i] =
        each ? v_or(z[i], v_set1(-32768)) : v_avg_u(z[i], v_set1(-1));
    UNROLLED for (int i = 0; i < n; i++) z[i] = v_mulhi_u(z[i], whole[i]);
}

/* The same from squared distances in colour alone, for which each pixel has a factor. */
INLINE void fixed_weights_each(const struct fixed_state *s, V z[4], const struct row_tap *t,
                               const struct row_pairs *p)
{
    UNROLLED for (int i = 0; i < p->n; i++) z[i] = v_min_u(z[i], s->limit[p->from[i]]);
    UNROLLED for (int i = 0; i < p->n; i++) z[i] = v_mullo(z[i], s->factor[p->from[i]]);
    UNROLLED for (int i = 0; i < p->n; i++) z[i] =
        v_sub_sat_u(v_dup(t->space.fixed[p->space[i]]), z[i]);
    fixed_weights(s, z, p->n, true);
}

INLINE void fixed_add_weight(struct fixed_sums *sums, int i, V w)
{
    sums->w_low[i] = v_add(sums->w_low[i], w);
    sums->w_high[i] = v_add(sums->w_high[i], v_shr7_u(w));
}

/* Adds the weights @w0 and @w1 of the two luma sums, means of two that round up; chroma gets
 * their mean, which rounds down, so that the weights of many taps are not biased. */
INLINE void fixed_add_chroma(struct fixed_sums *sums, V w0, V w1, V du, V dv,
                             enum row_layout layout)
{
    V mean = w0;

    fixed_add_weight(sums, 0, w0);
    if (layout == ROWS_PAIR) {
        fixed_add_weight(sums, 1, w1);
        mean = v_shr1_u(v_add(w0, w1));
    }
    if (layout != ROWS_GREY) {
        sums->u = v_add(sums->u, v_mulhrs(du, mean));
        sums->v = v_add(sums->v, v_mulhrs(dv, mean));
    }
}

/* As unsigned numbers, -@a is the greater one where @a is not negative. */
INLINE V fixed_abs(V a)
{
    return v_min_u(a, v_sub(v_set1(0), a));
}

/* The sum of the absolute differences of R', G' and B', as far as it can be squared; @common is
 * what dU and dV lack of them. */
INLINE V fixed_manhattan(V dy, V common, V dc, V du, V dv)
{
    const V gr = v_add_sat_u(fixed_abs(v_add_sat(dy, dc)), fixed_abs(v_add_sat(common, dv)));

    return v_min_u(v_add_sat_u(gr, fixed_abs(v_add_sat(common, du))), v_set1(32767));
}

/* What luma has in common with all channels: it may be one of them. */
INLINE V fixed_common(const struct fixed_state *s, V dy, enum row_layout layout)
{
    return layout == ROWS_SINGLE ? v_mullo(dy, s->common) : dy;
}

/* One tap: @pairs is a constant where this is inlined. */
INLINE void fixed_tap(struct fixed_state *s, const struct row_tap *t, const struct row_planes *q,
                      ptrdiff_t x, int pairs, struct fixed_kind kind)
{
    const enum row_layout layout = kind.layout;
    const struct row_pairs p = row_pairs(pairs, layout);
    const V zero = v_set1(0);
    V dc = zero, du = zero, dv = zero, base = zero;
    V dy[4] = {zero, zero, zero, zero}, d1[4] = {zero, zero, zero, zero};
    V z[4] = {zero, zero, zero, zero}, w[2][2] = {{zero, zero}, {zero, zero}}, y[2];

    y[0] = v_load((const int16_t *)q->plane[PLANE_Y0] + x);
    y[1] = layout == ROWS_PAIR ? v_load((const int16_t *)q->plane[PLANE_Y1] + x) : zero;
    if (layout != ROWS_GREY) {
        dc = v_sub_sat(v_load((const int16_t *)q->plane[PLANE_C] + x), s->centre[PLANE_C]);
        du = v_sub_sat(v_load((const int16_t *)q->plane[PLANE_U] + x), s->centre[PLANE_U]);
        dv = v_sub_sat(v_load((const int16_t *)q->plane[PLANE_V] + x), s->centre[PLANE_V]);
        if (!kind.manhattan)
            base = v_add_sat_u(v_mulhrs(du, du), v_mulhrs(dv, dv));
    }
    UNROLLED for (int i = 0; i < p.n; i++) dy[i] =
        v_sub_sat(y[p.to[i]], s->centre[PLANE_Y0 + p.from[i]]);
    UNROLLED for (int i = 0; i < p.n; i++) d1[i] =
        kind.manhattan ? fixed_manhattan(dy[i], fixed_common(s, dy[i], layout), dc, du, dv)
                       : v_add_sat(dy[i], dc);
    UNROLLED for (int i = 0; i < p.n; i++) d1[i] = v_mulhrs(d1[i], d1[i]);
    UNROLLED for (int i = 0; i < p.n; i++) z[i] =
        kind.each ? base : v_sub_sat_u(v_dup(t->space.fixed[p.space[i]]), base);
    UNROLLED for (int i = 0; i < p.n; i++) z[i] =
        kind.each ? v_add_sat_u(z[i], d1[i]) : v_sub_sat_u(z[i], d1[i]);
    if (kind.each)
        fixed_weights_each(s, z, t, &p);
    else
        fixed_weights(s, z, p.n, false);
    UNROLLED for (int i = 0; i < p.n; i++)
    {
        s->sums.y[p.from[i]] = v_add(s->sums.y[p.from[i]], v_mulhrs(dy[i], z[i]));
        w[p.from[i]][p.from[i] != p.to[i]] = z[i];
    }
    if (layout == ROWS_PAIR)
        fixed_add_chroma(&s->sums, v_avg_u(w[0][0], w[0][1]), v_avg_u(w[1][0], w[1][1]), du, dv,
                         layout);
    else
        fixed_add_chroma(&s->sums, w[0][0], zero, du, dv, layout);
}

INLINE void fixed_widen(I wide[2], V *sum)
{
    wide[0] = i_add(wide[0], i_low_s(*sum));
    wide[1] = i_add(wide[1], i_high_s(*sum));
    *sum = v_set1(0);
}

INLINE void fixed_flush(struct fixed_state *s, enum row_layout layout)
{
    for (int i = 0; i < (layout == ROWS_PAIR ? 2 : 1); i++)
        fixed_widen(s->wide.y[i], &s->sums.y[i]);
    if (layout != ROWS_GREY) {
        fixed_widen(s->wide.u, &s->sums.u);
        fixed_widen(s->wide.v, &s->sums.v);
    }
}

/* The sum of weights of luma @i, of one half of the lanes. */
INLINE F fixed_total(const struct fixed_sums *sums, int i, int half)
{
    const V high = sums->w_high[i], rest = v_sub(sums->w_low[i], v_shl(high, 7));

    return f_from_i(half ? i_add(i_high_u(rest), i_shl7(i_high_u(high)))
                         : i_add(i_low_u(rest), i_shl7(i_low_u(high))));
}

INLINE F fixed_half(V a, int half)
{
    return f_from_i(half ? i_high_s(a) : i_low_s(a));
}

INLINE I fixed_mean_luma(const struct fixed_state *s, int i, int half, F w, float scale)
{
    const F mean = f_add(fixed_half(s->centre[PLANE_Y0 + i], half),
                         f_mul(f_from_i(s->wide.y[i][half]), f_div(f_set1(scale), w)));

    return i_from_f(f_add(f_mul(mean, f_set1(s->plan->scale.y)), f_set1(128.5F)));
}

/* Chroma of one half of the lanes; false when the sums were left for the other row. */
INLINE bool fixed_mean_chroma(const struct fixed_state *s, const struct row_job *job, size_t at,
                              int half, F w, float scale, I uv[2])
{
    const struct row_scale *k = &s->plan->scale;
    F u = f_from_i(s->wide.u[half]), v = f_from_i(s->wide.v[half]);

    if (!joint_chroma(job, at, &u, &v, &w))
        return false;
    w = f_div(f_set1(scale), w);
    u = f_add(fixed_half(s->centre[PLANE_U], half), f_mul(u, w));
    v = f_add(fixed_half(s->centre[PLANE_V], half), f_mul(v, w));
    v = f_mul(v, f_set1(k->v));
    u = f_sub(f_mul(u, f_set1(k->u)), f_mul(v, f_set1(k->uv)));
    uv[0] = i_from_f(f_add(u, f_set1(128.5F)));
    uv[1] = i_from_f(f_add(v, f_set1(128.5F)));
    return true;
}

INLINE void fixed_finish(const struct fixed_state *s, const struct row_job *job, int x,
                         enum row_layout layout)
{
    /* Weights are Q15. In pairs their sums are those of means of two, and that of chroma is
     * both of these together for sums of means of four. */
    const float scale = layout == ROWS_PAIR ? 16384.0F : 32768.0F;
    const I zero = i_low_s(v_set1(0));
    bool complete = layout != ROWS_GREY;
    I y[2][2], uv[2][2] = {{zero, zero}, {zero, zero}};

    for (int half = 0; half < 2; half++) {
        const F w0 = fixed_total(&s->sums, 0, half);
        F w = w0;

        y[0][half] = fixed_mean_luma(s, 0, half, w0, scale);
        if (layout == ROWS_PAIR) {
            const F w1 = fixed_total(&s->sums, 1, half);

            y[1][half] = fixed_mean_luma(s, 1, half, w1, scale);
            w = f_add(w0, w1);
        }
        if (layout != ROWS_GREY)
            complete &= fixed_mean_chroma(s, job, (size_t)(x + half * LANES / 2), half, w,
                                          layout == ROWS_PAIR ? 65536.0F : scale, uv[half]);
    }
    v_store_u8(job->out[0] + x, v_join(y[0][0], y[0][1]));
    if (layout == ROWS_PAIR)
        v_store_u8(job->out[1] + x, v_join(y[1][0], y[1][1]));
    if (!complete)
        return;
    v_store_u8(job->out[2] + x, v_join(uv[0][0], uv[1][0]));
    v_store_u8(job->out[3] + x, v_join(uv[0][1], uv[1][1]));
}

/* The weights of the two pixels of the column itself to each other. */
INLINE void fixed_own(const struct fixed_state *s, V z[4], struct fixed_kind kind)
{
    const struct row_pairs pairs = row_pairs(TAP_EVEN, ROWS_PAIR);
    const V zero = v_set1(0), dy = s->sums.y[0];
    const V d = kind.manhattan ? fixed_manhattan(dy, dy, zero, zero, zero) : dy;

    if (kind.each) {
        z[0] = z[1] = v_mulhrs(d, d);
        fixed_weights_each(s, z, &s->plan->own, &pairs);
        return;
    }
    z[0] = v_sub_sat_u(v_dup(s->plan->own.space.fixed[0]), v_mulhrs(d, d));
    fixed_weights(s, z, 1, false);
    z[1] = z[0];
}

/* The pixels of the column itself: each weighs the most, its partner has the same chroma. */
INLINE void fixed_begin(struct fixed_state *s, const struct row_job *job, int x,
                        struct fixed_kind kind)
{
    const enum row_layout layout = kind.layout;
    const V zero = v_set1(0), centre = v_set1(s->plan->centre);
    V z[4] = {zero, zero, zero, zero};
    const I wide_zero = i_low_s(zero);

    s->sums = (struct fixed_sums){{zero, zero}, zero, zero, {zero, zero}, {zero, zero}};
    for (int half = 0; half < 2; half++) {
        s->wide.y[0][half] = s->wide.y[1][half] = wide_zero;
        s->wide.u[half] = s->wide.v[half] = wide_zero;
    }
    for (int p = 0; p < ROW_PLANES; p++)
        if (p == PLANE_Y0 || layout == ROWS_PAIR || (layout == ROWS_SINGLE && p != PLANE_Y1))
            s->centre[p] = v_load((const int16_t *)job->rows->plane[p] + x);
    for (int i = 0; i < (layout == ROWS_PAIR ? 2 : 1) && kind.each; i++) {
        s->limit[i] = v_load((const int16_t *)job->limit[i] + x);
        s->factor[i] = v_load((const int16_t *)job->factor[i] + x);
    }
    if (layout != ROWS_PAIR) {
        fixed_add_weight(&s->sums, 0, centre);
        return;
    }
    for (int i = 0; i < 2; i++)
        s->sums.y[i] = v_sub_sat(s->centre[PLANE_Y0 + !i], s->centre[PLANE_Y0 + i]);
    fixed_own(s, z, kind);
    for (int i = 0; i < 2; i++) {
        s->sums.y[i] = v_mulhrs(s->sums.y[i], z[i]);
        fixed_add_weight(&s->sums, i, v_avg_u(centre, z[i]));
    }
}

INLINE const struct row_tap *fixed_run(struct fixed_state *s, const struct row_job *job, int x,
                                       const struct row_tap *t, int n, int pairs,
                                       struct fixed_kind kind)
{
    for (const struct row_tap *end = t + n; t < end; t++)
        fixed_tap(s, t, &job->rows[t->dy], x + t->k, pairs, kind);
    return t;
}

/* The sum over the window: one inlined loop for every kind of run. */
INLINE void fixed_window(struct fixed_state *s, const struct row_job *job, int x,
                         struct fixed_kind kind)
{
    const struct row_tap *t = job->plan->tap;
    const struct row_run *const end = job->plan->run + job->plan->n_runs;

    for (const struct row_run *run = job->plan->run; run < end; run++) {
        switch (kind.layout == ROWS_PAIR ? run->pairs : TAP_EVEN) {
        case TAP_EVEN | TAP_UP | TAP_DOWN:
            t = fixed_run(s, job, x, t, run->n_taps, TAP_EVEN | TAP_UP | TAP_DOWN, kind);
            break;
        case TAP_EVEN | TAP_UP:
            t = fixed_run(s, job, x, t, run->n_taps, TAP_EVEN | TAP_UP, kind);
            break;
        case TAP_EVEN | TAP_DOWN:
            t = fixed_run(s, job, x, t, run->n_taps, TAP_EVEN | TAP_DOWN, kind);
            break;
        case TAP_UP:
            t = fixed_run(s, job, x, t, run->n_taps, TAP_UP, kind);
            break;
        case TAP_DOWN:
            t = fixed_run(s, job, x, t, run->n_taps, TAP_DOWN, kind);
            break;
        default:
            t = fixed_run(s, job, x, t, run->n_taps, TAP_EVEN, kind);
            break;
        }
        if (run->flush)
            fixed_flush(s, kind.layout);
    }
}

INLINE void fixed_rows(const struct row_job *job, struct fixed_kind kind)
{
    struct fixed_state s = {.plan = job->plan};

    s.octaves = v_set1(job->plan->octaves);
    s.common = v_set1(job->plan->common);
    for (int x = 0; x < job->columns; x += LANES) {
        fixed_begin(&s, job, x, kind);
        fixed_window(&s, job, x, kind);
        fixed_finish(&s, job, x, kind.layout);
    }
}

#define FIXED_ROWS(name, layout, each, manhattan)                                                  \
    static void name(const struct row_job *job)                                                    \
    {                                                                                              \
        fixed_rows(job, (struct fixed_kind){layout, each, manhattan});                             \
    }

#define FIXED_KINDS(name, layout)                                                                  \
    FIXED_ROWS(name##_rows, layout, false, false)                                                  \
    FIXED_ROWS(name##_rows_manhattan, layout, false, true)                                         \
    FIXED_ROWS(name##_each, layout, true, false)                                                   \
    FIXED_ROWS(name##_each_manhattan, layout, true, true)

FIXED_KINDS(fixed_pair, ROWS_PAIR)
FIXED_KINDS(fixed_single, ROWS_SINGLE)
FIXED_KINDS(fixed_grey, ROWS_GREY)
