/* The floating-point row kernels, in terms of the vector operations of the file that includes
 * this; F holds LANES / 2 floats. Multiplications and additions are never fused (the build
 * says -ffp-contract=off), so that processors with and without fused ones agree. */
#include "rows.h"

#define INLINE static inline __attribute__((always_inline))

struct real_state {
    F centre[ROW_PLANES];
    F y[2], u, v, w[2]; /* sums */
};

/* 2^-z for z >= 0, within 1e-4: an integral power of two by the exponent's bits, the rest by
 * a cubic. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits. */
INLINE F real_exp2_neg(F z)
{
    const F magic = f_set1(12582912.0F);
    const F x = f_min(z, f_set1(126.0F));
    const F t = f_add(x, magic);
    const F r = f_sub(x, f_sub(t, magic));
    F p = f_sub(f_set1(0.24261112F), f_mul(r, f_set1(0.05517166F)));

    p = f_sub(f_set1(0.69326099F), f_mul(r, p));
    p = f_sub(f_set1(0.99992807F), f_mul(r, p));
    return f_lower_exponent(p, t);
}

/* 1/t within 0.3 %: the bits of a float are about its logarithm, and one Newton step. */
INLINE F real_reciprocal(F t)
{
    const F r = f_reciprocal_guess(t);

    return f_mul(r, f_sub(f_set1(2.0F), f_mul(t, r)));
}

INLINE F real_weight(F z, float space, enum row_arithmetic arithmetic)
{
    if (arithmetic == ROWS_GAUSSIAN)
        return real_exp2_neg(f_add(z, f_set1(space)));
    return f_mul(real_reciprocal(z), f_set1(space));
}

/* The weight between luma @from of the centre and @to of the neighbour; adds to the sums. */
INLINE F real_pair(struct real_state *s, int from, F to, F dc, F z, float space,
                   enum row_arithmetic arithmetic)
{
    const F dy = f_sub(to, s->centre[PLANE_Y0 + from]);
    const F d1 = f_add(dy, dc);
    const F w = real_weight(f_add(z, f_mul(d1, d1)), space, arithmetic);

    s->y[from] = f_add(s->y[from], f_mul(dy, w));
    s->w[from] = f_add(s->w[from], w);
    return w;
}

INLINE F real_load(const struct row_planes *q, enum row_plane p, ptrdiff_t x)
{
    return f_load((const float *)q->plane[p] + x);
}

INLINE void real_tap(struct real_state *s, const struct row_tap *t, const struct row_planes *q,
                     ptrdiff_t x, int pairs, enum row_layout layout, enum row_arithmetic a)
{
    const F zero = f_set1(0.0F);
    F dc = zero, du = zero, dv = zero, w = zero;
    F z = f_set1(a == ROWS_LORENTZIAN ? 1.0F : 0.0F);
    F y0 = real_load(q, PLANE_Y0, x), y1 = zero;

    if (layout != ROWS_GREY) {
        dc = f_sub(real_load(q, PLANE_C, x), s->centre[PLANE_C]);
        du = f_sub(real_load(q, PLANE_U, x), s->centre[PLANE_U]);
        dv = f_sub(real_load(q, PLANE_V, x), s->centre[PLANE_V]);
        z = f_add(z, f_add(f_mul(du, du), f_mul(dv, dv)));
    }
    if (layout == ROWS_PAIR)
        y1 = real_load(q, PLANE_Y1, x);
    if (pairs & TAP_EVEN)
        w = real_pair(s, 0, y0, dc, z, t->space.real[0], a);
    if (layout == ROWS_PAIR) {
        if (pairs & TAP_EVEN)
            w = f_add(w, real_pair(s, 1, y1, dc, z, t->space.real[0], a));
        if (pairs & TAP_UP)
            w = f_add(w, real_pair(s, 0, y1, dc, z, t->space.real[1], a));
        if (pairs & TAP_DOWN)
            w = f_add(w, real_pair(s, 1, y0, dc, z, t->space.real[2], a));
    }
    if (layout != ROWS_GREY) {
        s->u = f_add(s->u, f_mul(du, w));
        s->v = f_add(s->v, f_mul(dv, w));
    }
}

/* Levels of both halves of the lanes to bytes. */
INLINE void real_store(uint8_t *out, F low, F high)
{
    const F half = f_set1(128.5F);

    v_store_u8(out, v_join(i_from_f(f_add(low, half)), i_from_f(f_add(high, half))));
}

/* Chroma of one half of the lanes; false when the sums were left for the other row. */
INLINE bool real_mean_chroma(struct real_state *s, const struct row_job *job, size_t at, F uv[2])
{
    const struct row_scale *k = &job->plan->scale;
    const size_t row = ((size_t)job->columns + ROW_LANES_MAX - 1) / ROW_LANES_MAX * ROW_LANES_MAX;
    F u = s->u, v = s->v, w = f_add(s->w[0], s->w[1]);

    if (job->joint == JOINT_ADD) {
        u = f_add(u, f_load(job->sums + at));
        v = f_add(v, f_load(job->sums + row + at));
        w = f_add(w, f_load(job->sums + 2 * row + at));
    } else if (job->joint == JOINT_STORE) {
        f_store(job->sums + at, u);
        f_store(job->sums + row + at, v);
        f_store(job->sums + 2 * row + at, w);
        return false;
    }
    u = f_add(s->centre[PLANE_U], f_div(u, w));
    v = f_mul(f_add(s->centre[PLANE_V], f_div(v, w)), f_set1(k->v));
    uv[0] = f_sub(f_mul(u, f_set1(k->u)), f_mul(v, f_set1(k->uv)));
    uv[1] = v;
    return true;
}

INLINE void real_sum(struct real_state *s, const struct row_job *job, ptrdiff_t x,
                     enum row_layout layout, enum row_arithmetic a)
{
    const F zero = f_set1(0.0F);

    *s =
        (struct real_state){{zero, zero, zero, zero, zero}, {zero, zero}, zero, zero, {zero, zero}};
    for (int p = 0; p < ROW_PLANES; p++)
        if (p == PLANE_Y0 || layout == ROWS_PAIR || (layout == ROWS_SINGLE && p != PLANE_Y1))
            s->centre[p] = real_load(job->rows, (enum row_plane)p, x);
    for (int i = 0; i < job->plan->n_taps; i++) {
        const struct row_tap *t = &job->plan->tap[i];
        const struct row_planes *q = &job->rows[t->dy];
        const int pairs = layout == ROWS_PAIR ? t->pairs : TAP_EVEN;

        switch (pairs) {
        case TAP_EVEN | TAP_UP | TAP_DOWN:
            real_tap(s, t, q, x + t->k, TAP_EVEN | TAP_UP | TAP_DOWN, layout, a);
            break;
        case TAP_EVEN | TAP_UP:
            real_tap(s, t, q, x + t->k, TAP_EVEN | TAP_UP, layout, a);
            break;
        case TAP_EVEN | TAP_DOWN:
            real_tap(s, t, q, x + t->k, TAP_EVEN | TAP_DOWN, layout, a);
            break;
        case TAP_UP:
            real_tap(s, t, q, x + t->k, TAP_UP, layout, a);
            break;
        case TAP_DOWN:
            real_tap(s, t, q, x + t->k, TAP_DOWN, layout, a);
            break;
        default:
            real_tap(s, t, q, x + t->k, TAP_EVEN, layout, a);
            break;
        }
    }
}

INLINE void real_rows(const struct row_job *job, enum row_layout layout, enum row_arithmetic a)
{
    const F gain = f_set1(job->plan->scale.y);

    for (int x = 0; x < job->columns; x += LANES) {
        bool chroma = layout != ROWS_GREY;
        F y[2][2], uv[2][2];

        for (int half = 0; half < 2; half++) {
            const int at = x + half * LANES / 2;
            struct real_state s;

            real_sum(&s, job, at, layout, a);
            for (int i = 0; i < (layout == ROWS_PAIR ? 2 : 1); i++)
                y[i][half] = f_mul(f_add(s.centre[PLANE_Y0 + i], f_div(s.y[i], s.w[i])), gain);
            if (layout != ROWS_GREY)
                chroma = real_mean_chroma(&s, job, (size_t)at, uv[half]);
        }
        for (int i = 0; i < (layout == ROWS_PAIR ? 2 : 1); i++)
            real_store(job->out[i] + x, y[i][0], y[i][1]);
        if (chroma) {
            real_store(job->out[2] + x, uv[0][0], uv[1][0]);
            real_store(job->out[3] + x, uv[0][1], uv[1][1]);
        }
    }
}

#define REAL_ROWS(name, layout, arithmetic)                                                        \
    static void name(const struct row_job *job)                                                    \
    {                                                                                              \
        real_rows(job, layout, arithmetic);                                                        \
    }

REAL_ROWS(gaussian_pair_rows, ROWS_PAIR, ROWS_GAUSSIAN)
REAL_ROWS(gaussian_single_rows, ROWS_SINGLE, ROWS_GAUSSIAN)
REAL_ROWS(gaussian_grey_rows, ROWS_GREY, ROWS_GAUSSIAN)
REAL_ROWS(lorentzian_pair_rows, ROWS_PAIR, ROWS_LORENTZIAN)
REAL_ROWS(lorentzian_single_rows, ROWS_SINGLE, ROWS_LORENTZIAN)
REAL_ROWS(lorentzian_grey_rows, ROWS_GREY, ROWS_LORENTZIAN)
