/* The 16-bit fixed-point row kernel, in terms of the vector operations of the file that
 * includes this. V holds 16-bit lanes; I and F hold 32-bit lanes of one half of a V.
 *
 * A weight costs 6 multiplications: with v the distance scaled to 0..65535 (x = X v / 65536),
 *     p = a0 - v (a1 - a2 v),   w = p^16
 * which is e^-x within 1.8 % up to x = 8, where the weight is 3e-4. a0 carries a factor of
 * 2^(-1/8), so that p^8 is below 2^15 and the last squaring can round to Q15. Products are
 * collected in 16 bits and widened where the plan says that they might overflow. */
#include "rows.h"
#include "rows_fixed_weight.h"

#define INLINE static inline __attribute__((always_inline))

struct fixed_sums {
    V y[2], u, v;
    V w_low[2], w_high[2]; /* weights modulo 2^16, and in units of 16 */
};

struct fixed_wide {
    I y[2][2], u[2], v[2], w[2][2];
};

struct fixed_state {
    const struct row_plan *plan;
    V centre[ROW_PLANES];
    V cap, a0, a1, a2;
    struct fixed_sums sums;
    struct fixed_wide wide;
};

INLINE V fixed_weight(const struct fixed_state *s, V z)
{
    const V v = v_shl(v_min_u(z, s->cap), s->plan->shift);
    V p = v_sub(s->a0, v_mulhi_u(v, v_sub(s->a1, v_mulhi_u(v, s->a2))));

    p = v_mulhi_u(p, p);
    p = v_mulhi_u(p, p);
    p = v_mulhi_u(p, p);
    return v_mulhrs(p, p);
}

/* The weight between luma @from of the centre and @to of the neighbour; adds to the luma sum. */
INLINE V fixed_pair(struct fixed_state *s, int from, V to, V dc, V z)
{
    const V dy = v_sub_sat(to, s->centre[PLANE_Y0 + from]);
    const V d1 = v_add_sat(dy, dc);
    const V w = fixed_weight(s, v_add_sat_u(z, v_mulhrs(d1, d1)));

    s->sums.y[from] = v_add(s->sums.y[from], v_mulhrs(dy, w));
    return w;
}

INLINE void fixed_add_weight(struct fixed_sums *sums, int i, V w)
{
    sums->w_low[i] = v_add(sums->w_low[i], w);
    sums->w_high[i] = v_add(sums->w_high[i], v_shr4_u(w));
}

/* One tap: @pairs and the layout are constants where this is inlined. */
INLINE void fixed_tap(struct fixed_state *s, const struct row_tap *t, const struct row_planes *q,
                      ptrdiff_t x, int pairs, enum row_layout layout)
{
    const V zero = v_set1(0);
    V w[2][2] = {{zero, zero}, {zero, zero}};
    V dc = zero, du = zero, dv = zero, z = zero, y0, even;

    if (layout != ROWS_GREY) {
        dc = v_sub_sat(v_load((const int16_t *)q->plane[PLANE_C] + x), s->centre[PLANE_C]);
        du = v_sub_sat(v_load((const int16_t *)q->plane[PLANE_U] + x), s->centre[PLANE_U]);
        dv = v_sub_sat(v_load((const int16_t *)q->plane[PLANE_V] + x), s->centre[PLANE_V]);
        z = v_add_sat_u(v_mulhrs(du, du), v_mulhrs(dv, dv));
    }
    y0 = v_load((const int16_t *)q->plane[PLANE_Y0] + x);
    even = v_add_sat_u(z, v_dup(t->space.fixed[0]));
    if (layout != ROWS_PAIR) {
        w[0][0] = fixed_pair(s, 0, y0, dc, even);
        fixed_add_weight(&s->sums, 0, w[0][0]);
    } else {
        const V y1 = v_load((const int16_t *)q->plane[PLANE_Y1] + x);

        if (pairs & TAP_EVEN) {
            w[0][0] = fixed_pair(s, 0, y0, dc, even);
            w[1][1] = fixed_pair(s, 1, y1, dc, even);
        }
        if (pairs & TAP_UP)
            w[0][1] = fixed_pair(s, 0, y1, dc, v_add_sat_u(z, v_dup(t->space.fixed[1])));
        if (pairs & TAP_DOWN)
            w[1][0] = fixed_pair(s, 1, y0, dc, v_add_sat_u(z, v_dup(t->space.fixed[2])));
        w[0][0] = v_avg_u(w[0][0], w[0][1]);
        w[1][1] = v_avg_u(w[1][1], w[1][0]);
        fixed_add_weight(&s->sums, 0, w[0][0]);
        fixed_add_weight(&s->sums, 1, w[1][1]);
        /* The means of two round up, this one down, so that four weights are not biased. */
        w[0][0] = v_shr1_u(v_add(w[0][0], w[1][1]));
    }
    if (layout != ROWS_GREY) {
        s->sums.u = v_add(s->sums.u, v_mulhrs(du, w[0][0]));
        s->sums.v = v_add(s->sums.v, v_mulhrs(dv, w[0][0]));
    }
}

INLINE void fixed_widen(I wide[2], V *sum)
{
    wide[0] = i_add(wide[0], i_low_s(*sum));
    wide[1] = i_add(wide[1], i_high_s(*sum));
    *sum = v_set1(0);
}

INLINE void fixed_widen_weights(I wide[2], V *low, V *high)
{
    const V rest = v_sub(*low, v_shl(*high, 4));

    wide[0] = i_add(wide[0], i_add(i_low_u(rest), i_shl4(i_low_u(*high))));
    wide[1] = i_add(wide[1], i_add(i_high_u(rest), i_shl4(i_high_u(*high))));
    *low = *high = v_set1(0);
}

INLINE void fixed_flush(struct fixed_state *s, enum row_layout layout)
{
    for (int i = 0; i < (layout == ROWS_PAIR ? 2 : 1); i++) {
        fixed_widen(s->wide.y[i], &s->sums.y[i]);
        fixed_widen_weights(s->wide.w[i], &s->sums.w_low[i], &s->sums.w_high[i]);
    }
    if (layout != ROWS_GREY) {
        fixed_widen(s->wide.u, &s->sums.u);
        fixed_widen(s->wide.v, &s->sums.v);
    }
}

INLINE F fixed_mean(F centre, F sum, float scale, F weight)
{
    return f_add(centre, f_div(f_mul(sum, f_set1(scale)), weight));
}

INLINE void fixed_finish_luma(const struct fixed_state *s, int i, uint8_t *out, float scale)
{
    const F gain = f_set1(s->plan->scale.y), half = f_set1(128.5F);
    const V c = s->centre[PLANE_Y0 + i];
    const F low = fixed_mean(f_from_i(i_low_s(c)), f_from_i(s->wide.y[i][0]), scale,
                             f_from_i(s->wide.w[i][0]));
    const F high = fixed_mean(f_from_i(i_high_s(c)), f_from_i(s->wide.y[i][1]), scale,
                              f_from_i(s->wide.w[i][1]));

    v_store_u8(out, v_join(i_from_f(f_add(f_mul(low, gain), half)),
                           i_from_f(f_add(f_mul(high, gain), half))));
}

/* Chroma of one half of the lanes; false when the sums were left for the other row. */
INLINE bool fixed_mean_chroma(const struct fixed_state *s, const struct row_job *job, size_t at,
                              int half, float scale, I uv[2])
{
    const struct row_scale *k = &s->plan->scale;
    const size_t row = ((size_t)job->columns + ROW_LANES_MAX - 1) / ROW_LANES_MAX * ROW_LANES_MAX;
    const V cu = s->centre[PLANE_U], cv = s->centre[PLANE_V];
    F u = f_from_i(s->wide.u[half]), v = f_from_i(s->wide.v[half]);
    F w = f_from_i(s->wide.w[0][half]);

    w = f_add(w, f_from_i(s->wide.w[1][half]));
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
    u = fixed_mean(f_from_i(half ? i_high_s(cu) : i_low_s(cu)), u, scale, w);
    v = fixed_mean(f_from_i(half ? i_high_s(cv) : i_low_s(cv)), v, scale, w);
    v = f_mul(v, f_set1(k->v));
    u = f_sub(f_mul(u, f_set1(k->u)), f_mul(v, f_set1(k->uv)));
    uv[0] = i_from_f(f_add(u, f_set1(128.5F)));
    uv[1] = i_from_f(f_add(v, f_set1(128.5F)));
    return true;
}

INLINE void fixed_finish(const struct fixed_state *s, const struct row_job *job, int x,
                         enum row_layout layout)
{
    /* Q15 weights; in pairs the sum of weights is that of means of two. */
    const float scale = layout == ROWS_PAIR ? 16384.0F : 32768.0F;
    bool complete = true;
    I uv[2][2];

    for (int i = 0; i < (layout == ROWS_PAIR ? 2 : 1); i++)
        fixed_finish_luma(s, i, job->out[i] + x, scale);
    if (layout == ROWS_GREY)
        return;
    for (int half = 0; half < 2; half++)
        complete &= fixed_mean_chroma(s, job, (size_t)(x + half * LANES / 2), half,
                                      layout == ROWS_PAIR ? 65536.0F : 32768.0F, uv[half]);
    if (!complete)
        return;
    v_store_u8(job->out[2] + x, v_join(uv[0][0], uv[1][0]));
    v_store_u8(job->out[3] + x, v_join(uv[0][1], uv[1][1]));
}

INLINE void fixed_begin(struct fixed_state *s, const struct row_job *job, int x,
                        enum row_layout layout)
{
    const V zero = v_set1(0);
    const I wide_zero = i_low_s(zero);

    s->sums = (struct fixed_sums){{zero, zero}, zero, zero, {zero, zero}, {zero, zero}};
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < 2; i++)
            s->wide.y[i][half] = s->wide.w[i][half] = wide_zero;
        s->wide.u[half] = s->wide.v[half] = wide_zero;
    }
    for (int p = 0; p < ROW_PLANES; p++)
        if (p == PLANE_Y0 || layout == ROWS_PAIR || (layout == ROWS_SINGLE && p != PLANE_Y1))
            s->centre[p] = v_load((const int16_t *)job->rows->plane[p] + x);
}

INLINE void fixed_rows(const struct row_job *job, enum row_layout layout)
{
    struct fixed_state s = {.plan = job->plan};

    s.cap = v_set1(job->plan->cap);
    s.a0 = v_set1(FIXED_A0);
    s.a1 = v_set1(FIXED_A1);
    s.a2 = v_set1(FIXED_A2);
    for (int x = 0; x < job->columns; x += LANES) {
        fixed_begin(&s, job, x, layout);
        for (int i = 0; i < job->plan->n_taps; i++) {
            const struct row_tap *t = &job->plan->tap[i];
            const struct row_planes *q = &job->rows[t->dy];
            const int pairs = layout == ROWS_PAIR ? t->pairs : TAP_EVEN;

            switch (pairs) {
            case TAP_EVEN | TAP_UP | TAP_DOWN:
                fixed_tap(&s, t, q, x + t->k, TAP_EVEN | TAP_UP | TAP_DOWN, layout);
                break;
            case TAP_EVEN | TAP_UP:
                fixed_tap(&s, t, q, x + t->k, TAP_EVEN | TAP_UP, layout);
                break;
            case TAP_EVEN | TAP_DOWN:
                fixed_tap(&s, t, q, x + t->k, TAP_EVEN | TAP_DOWN, layout);
                break;
            case TAP_UP:
                fixed_tap(&s, t, q, x + t->k, TAP_UP, layout);
                break;
            case TAP_DOWN:
                fixed_tap(&s, t, q, x + t->k, TAP_DOWN, layout);
                break;
            default:
                fixed_tap(&s, t, q, x + t->k, TAP_EVEN, layout);
                break;
            }
            if (t->flush)
                fixed_flush(&s, layout);
        }
        fixed_finish(&s, job, x, layout);
    }
}

static void fixed_pair_rows(const struct row_job *job)
{
    fixed_rows(job, ROWS_PAIR);
}

static void fixed_single_rows(const struct row_job *job)
{
    fixed_rows(job, ROWS_SINGLE);
}

static void fixed_grey_rows(const struct row_job *job)
{
    fixed_rows(job, ROWS_GREY);
}
