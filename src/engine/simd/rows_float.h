/* The floating-point row kernels, in terms of the vector operations of the file that includes
 * this; F holds LANES / 2 floats. Multiplications and additions are never fused (the build
 * says -ffp-contract=off), so that processors with and without fused ones agree. */
#include "engine/simd/rows_joint.h"
#include "engine/simd/rows_pairs.h"

struct real_state {
    F centre[ROW_PLANES];
    F y[2], u, v, w[2]; /* sums */
    F per[2], time;     /* of `each` */
    F common;           /* of `manhattan`: 1 or 0 */
};

/* What a kernel is made for; constants where they are inlined. */
struct real_kind {
    enum row_layout layout;
    enum row_arithmetic arithmetic;
    bool each, manhattan;
};

/* The weights 2^-(z + space) of @n squared distances, within 1e-4: an integral power of two by
 * the exponent's bits, the rest by a cubic. Adding 1.5 * 2^23 rounds to an integer and leaves
 * it in the low bits. Nothing is below 2^-64, so that products are not denormal, which is slow. */
INLINE void real_gaussian(F z[4], const struct row_tap *tap, const struct row_pairs *p)
{
    const F magic = f_set1(12582912.0F);
    F t[4] = {magic, magic, magic, magic}, w[4] = {magic, magic, magic, magic};

    UNROLLED for (int i = 0; i < p->n; i++) z[i] =
        f_add(z[i], f_set1(tap->space.real[p->space[i]]));
    UNROLLED for (int i = 0; i < p->n; i++) z[i] = f_min(z[i], f_set1(64.0F));
    UNROLLED for (int i = 0; i < p->n; i++) t[i] = f_add(z[i], magic);
    UNROLLED for (int i = 0; i < p->n; i++) z[i] = f_sub(z[i], f_sub(t[i], magic));
    UNROLLED for (int i = 0; i < p->n; i++) w[i] =
        f_sub(f_set1(0.24261112F), f_mul(z[i], f_set1(0.05517166F)));
    UNROLLED for (int i = 0; i < p->n; i++) w[i] = f_sub(f_set1(0.69326099F), f_mul(z[i], w[i]));
    UNROLLED for (int i = 0; i < p->n; i++) w[i] = f_sub(f_set1(0.99992807F), f_mul(z[i], w[i]));
    UNROLLED for (int i = 0; i < p->n; i++) z[i] = f_lower_exponent(w[i], t[i]);
}

/* The weights space / z. One division serves all pairs: 1 / z0 is z1 z2 z3 divided by the
 * product of all four, and z is small enough for that (at most 1e7 by the least sigma-color). */
INLINE void real_lorentzian(F z[4], const struct row_tap *tap, const struct row_pairs *p)
{
    const F one = f_set1(1.0F);
    F all, product[2], others[2], r[4] = {one, one, one, one};

    UNROLLED for (int i = 0; i < p->n; i++) r[i] = z[i];
    product[0] = f_mul(r[0], r[1]);
    product[1] = f_mul(r[2], r[3]);
    all = f_div(one, f_mul(product[0], product[1]));
    others[0] = f_mul(all, product[1]);
    others[1] = f_mul(all, product[0]);
    UNROLLED for (int i = 0; i < p->n; i++) z[i] =
        f_mul(f_mul(others[i / 2], r[i ^ 1]), f_set1(tap->space.real[p->space[i]]));
}

INLINE void real_weights(F z[4], const struct row_tap *tap, const struct row_pairs *p,
                         enum row_arithmetic a)
{
    if (a == ROWS_GAUSSIAN)
        real_gaussian(z, tap, p);
    else
        real_lorentzian(z, tap, p);
}

INLINE F real_load(const struct row_planes *q, enum row_plane p, ptrdiff_t x)
{
    return f_load((const float *)q->plane[p] + x);
}

/* The weights from sums of squares, for which each pixel has a factor. */
INLINE void real_weights_each(const struct real_state *s, F z[4], const struct row_tap *tap,
                              const struct row_pairs *p, enum row_arithmetic a)
{
    UNROLLED for (int i = 0; i < p->n; i++) z[i] = f_mul(z[i], s->per[p->from[i]]);
    UNROLLED for (int i = 0; i < p->n; i++) z[i] =
        f_add(z[i], a == ROWS_LORENTZIAN ? f_set1(1.0F) : s->time);
    real_weights(z, tap, p, a);
    if (a == ROWS_LORENTZIAN)
        UNROLLED for (int i = 0; i < p->n; i++) z[i] = f_mul(z[i], s->time);
}

/* What luma has in common with all channels: it may be one of them. */
INLINE F real_common(const struct real_state *s, F dy, enum row_layout layout)
{
    return layout == ROWS_SINGLE ? f_mul(dy, s->common) : dy;
}

/* Less the sum of the absolute differences of R', G' and B'; @common is what dU and dV lack of
 * them. */
INLINE F real_manhattan(F dy, F common, F dc, F du, F dv)
{
    const F zero = f_set1(0.0F), d[3] = {f_add(dy, dc), f_add(common, du), f_add(common, dv)};

    return f_add(f_add(f_min(d[0], f_sub(zero, d[0])), f_min(d[1], f_sub(zero, d[1]))),
                 f_min(d[2], f_sub(zero, d[2])));
}

/* The squared distance of the two pixels of a column, which have the same chroma. */
INLINE F real_own(F dy, bool manhattan)
{
    const F d = manhattan ? f_mul(dy, f_set1(3.0F)) : dy;

    return f_mul(d, d);
}

INLINE void real_tap(struct real_state *s, const struct row_tap *t, const struct row_planes *q,
                     ptrdiff_t x, int pairs, struct real_kind kind)
{
    const enum row_layout layout = kind.layout;
    const enum row_arithmetic a = kind.arithmetic;
    const struct row_pairs p = row_pairs(pairs, layout);
    const F zero = f_set1(0.0F);
    F dc = zero, du = zero, dv = zero, sum = zero, w[2] = {zero, zero};
    F base = f_set1(a == ROWS_LORENTZIAN && !kind.each ? 1.0F : 0.0F);
    F y[2], dy[4] = {zero, zero, zero, zero}, z[4] = {zero, zero, zero, zero};

    y[0] = real_load(q, PLANE_Y0, x);
    y[1] = layout == ROWS_PAIR ? real_load(q, PLANE_Y1, x) : zero;
    if (layout != ROWS_GREY) {
        dc = f_sub(real_load(q, PLANE_C, x), s->centre[PLANE_C]);
        du = f_sub(real_load(q, PLANE_U, x), s->centre[PLANE_U]);
        dv = f_sub(real_load(q, PLANE_V, x), s->centre[PLANE_V]);
        if (!kind.manhattan)
            base = f_add(base, f_add(f_mul(du, du), f_mul(dv, dv)));
    }
    UNROLLED for (int i = 0; i < p.n; i++) dy[i] =
        f_sub(y[p.to[i]], s->centre[PLANE_Y0 + p.from[i]]);
    UNROLLED for (int i = 0; i < p.n; i++) z[i] =
        kind.manhattan ? real_manhattan(dy[i], real_common(s, dy[i], layout), dc, du, dv)
                       : f_add(dy[i], dc);
    UNROLLED for (int i = 0; i < p.n; i++) z[i] = f_add(base, f_mul(z[i], z[i]));
    if (kind.each)
        real_weights_each(s, z, t, &p, a);
    else
        real_weights(z, t, &p, a);
    UNROLLED for (int i = 0; i < p.n; i++)
    {
        const int from = p.from[i];

        s->y[from] = f_add(s->y[from], f_mul(dy[i], z[i]));
        w[from] = p.first[i] ? z[i] : f_add(w[from], z[i]);
    }
    UNROLLED for (int i = 0; i < 2; i++)
    {
        if (!p.any[i])
            continue;
        s->w[i] = f_add(s->w[i], w[i]);
        sum = i && p.any[0] ? f_add(w[0], w[1]) : w[i];
    }
    if (layout != ROWS_GREY) {
        s->u = f_add(s->u, f_mul(du, sum));
        s->v = f_add(s->v, f_mul(dv, sum));
    }
}

/* Levels of both halves of the lanes to row @i of those that are made, from column @x on. */
INLINE void real_store(const struct row_job *job, int i, int x, F low, F high)
{
    const F half = f_set1(128.5F);

    if (job->levels[i]) {
        f_store(job->levels[i] + x, low);
        f_store(job->levels[i] + x + LANES / 2, high);
        return;
    }
    v_store_u8(job->out[i] + x, v_join(i_from_f(f_add(low, half)), i_from_f(f_add(high, half))));
}

/* Chroma of one half of the lanes; false when the sums were left for the other row. */
INLINE bool real_mean_chroma(struct real_state *s, const struct row_job *job, size_t at, F uv[2])
{
    const struct row_scale *k = &job->plan->scale;
    F u = s->u, v = s->v, w = f_add(s->w[0], s->w[1]);

    if (!joint_chroma(job, at, &u, &v, &w))
        return false;
    w = f_div(f_set1(1.0F), w);
    u = f_add(s->centre[PLANE_U], f_mul(u, w));
    v = f_mul(f_add(s->centre[PLANE_V], f_mul(v, w)), f_set1(k->v));
    uv[0] = f_sub(f_mul(u, f_set1(k->u)), f_mul(v, f_set1(k->uv)));
    uv[1] = v;
    return true;
}

INLINE const struct row_tap *real_run(struct real_state *s, const struct row_planes *rows,
                                      ptrdiff_t x, const struct row_tap *t, int n, int pairs,
                                      struct real_kind kind)
{
    for (const struct row_tap *end = t + n; t < end; t++)
        real_tap(s, t, &rows[t->dy], x + t->k, pairs, kind);
    return t;
}

/* The pixels of the column itself to each other, where each has a factor. */
INLINE void real_own_each(struct real_state *s, const struct row_tap *own, struct real_kind kind)
{
    const struct row_pairs pairs = row_pairs(TAP_EVEN, ROWS_PAIR);
    const F one = f_set1(1.0F), zero = f_set1(0.0F);
    const F dy = f_sub(s->centre[PLANE_Y1], s->centre[PLANE_Y0]);
    F z[4] = {real_own(dy, kind.manhattan), real_own(dy, kind.manhattan), zero, zero};

    real_weights_each(s, z, own, &pairs, kind.arithmetic);
    s->y[0] = f_mul(dy, z[0]);
    s->y[1] = f_sub(zero, f_mul(dy, z[1]));
    for (int i = 0; i < 2; i++)
        s->w[i] = f_add(one, z[i]);
}

/* The pixels of the column itself: the centre weighs 1, its partner has the same chroma. */
INLINE void real_begin(struct real_state *s, const struct row_job *job, ptrdiff_t x,
                       struct real_kind kind)
{
    const enum row_layout layout = kind.layout;
    const struct row_pairs pairs = row_pairs(TAP_EVEN, ROWS_SINGLE);
    const F zero = f_set1(0.0F), one = f_set1(1.0F);

    *s = (struct real_state){.centre = {zero, zero, zero, zero, zero},
                             .y = {zero, zero},
                             .u = zero,
                             .v = zero,
                             .w = {one, layout == ROWS_PAIR ? one : zero}};
    s->common = f_set1((float)job->plan->common);
    for (int p = 0; p < ROW_PLANES; p++)
        if (p == PLANE_Y0 || layout == ROWS_PAIR || (layout == ROWS_SINGLE && p != PLANE_Y1))
            s->centre[p] = real_load(job->rows, (enum row_plane)p, x);
    if (kind.each) {
        s->time = f_set1(job->plan->time[0]);
        for (int i = 0; i < (layout == ROWS_PAIR ? 2 : 1); i++)
            s->per[i] = f_load(job->per[i] + x);
        if (layout == ROWS_PAIR)
            real_own_each(s, &job->plan->own, kind);
    } else if (layout == ROWS_PAIR) {
        const F dy = f_sub(s->centre[PLANE_Y1], s->centre[PLANE_Y0]);
        F z[4] = {real_own(dy, kind.manhattan), zero, zero, zero};

        if (kind.arithmetic == ROWS_LORENTZIAN)
            z[0] = f_add(z[0], one);
        real_weights(z, &job->plan->own, &pairs, kind.arithmetic);
        s->w[0] = s->w[1] = f_add(one, z[0]);
        s->y[0] = f_mul(dy, z[0]);
        s->y[1] = f_sub(zero, s->y[0]);
    }
}

/* The sum over @n_runs of the window: one inlined loop for every kind of run. */
INLINE void real_window(struct real_state *s, const struct row_planes *rows, ptrdiff_t x,
                        const struct row_run *run, int n_runs, const struct row_tap *t,
                        struct real_kind kind)
{
    for (const struct row_run *end = run + n_runs; run < end; run++) {
        const int n = run->n_taps;

        switch (kind.layout == ROWS_PAIR ? run->pairs : TAP_EVEN) {
        case TAP_EVEN | TAP_UP | TAP_DOWN:
            t = real_run(s, rows, x, t, n, TAP_EVEN | TAP_UP | TAP_DOWN, kind);
            break;
        case TAP_EVEN | TAP_UP:
            t = real_run(s, rows, x, t, n, TAP_EVEN | TAP_UP, kind);
            break;
        case TAP_EVEN | TAP_DOWN:
            t = real_run(s, rows, x, t, n, TAP_EVEN | TAP_DOWN, kind);
            break;
        case TAP_UP:
            t = real_run(s, rows, x, t, n, TAP_UP, kind);
            break;
        case TAP_DOWN:
            t = real_run(s, rows, x, t, n, TAP_DOWN, kind);
            break;
        default:
            t = real_run(s, rows, x, t, n, TAP_EVEN, kind);
            break;
        }
    }
}

/* The same windows of the frames before. */
INLINE void real_before(struct real_state *s, const struct row_job *job, ptrdiff_t x,
                        struct real_kind kind)
{
    const struct row_plan *plan = job->plan;

    for (int k = 1; k < job->n_frames; k++) {
        const struct row_planes *rows = job->rows + (ptrdiff_t)k * job->frame_step;

        s->time = f_set1(plan->time[k]);
        real_window(s, rows, x, &plan->here, 1, &plan->here_tap, kind);
        real_window(s, rows, x, plan->run, plan->n_runs, plan->tap, kind);
    }
}

INLINE void real_rows(const struct row_job *job, struct real_kind kind)
{
    const enum row_layout layout = kind.layout;
    const F gain = f_set1(job->plan->scale.y);

    for (int x = 0; x < job->columns; x += LANES) {
        bool chroma = layout != ROWS_GREY;
        F y[2][2], uv[2][2] = {{gain, gain}, {gain, gain}};

        for (int half = 0; half < 2; half++) {
            const int at = x + half * LANES / 2;
            struct real_state s;

            real_begin(&s, job, at, kind);
            real_window(&s, job->rows, at, job->plan->run, job->plan->n_runs, job->plan->tap, kind);
            if (kind.each)
                real_before(&s, job, at, kind);
            for (int i = 0; i < (layout == ROWS_PAIR ? 2 : 1); i++)
                y[i][half] = f_mul(f_add(s.centre[PLANE_Y0 + i], f_div(s.y[i], s.w[i])), gain);
            if (layout != ROWS_GREY)
                chroma = real_mean_chroma(&s, job, (size_t)at, uv[half]);
        }
        for (int i = 0; i < (layout == ROWS_PAIR ? 2 : 1); i++)
            real_store(job, i, x, y[i][0], y[i][1]);
        if (chroma) {
            real_store(job, 2, x, uv[0][0], uv[1][0]);
            real_store(job, 3, x, uv[0][1], uv[1][1]);
        }
    }
}

#define REAL_ROWS(name, layout, arithmetic, each, manhattan)                                       \
    static void name(const struct row_job *job)                                                    \
    {                                                                                              \
        real_rows(job, (struct real_kind){layout, arithmetic, each, manhattan});                   \
    }

#define REAL_KINDS(name, layout, arithmetic)                                                       \
    REAL_ROWS(name##_rows, layout, arithmetic, false, false)                                       \
    REAL_ROWS(name##_rows_manhattan, layout, arithmetic, false, true)                              \
    REAL_ROWS(name##_each, layout, arithmetic, true, false)                                        \
    REAL_ROWS(name##_each_manhattan, layout, arithmetic, true, true)

REAL_KINDS(gaussian_pair, ROWS_PAIR, ROWS_GAUSSIAN)
REAL_KINDS(gaussian_single, ROWS_SINGLE, ROWS_GAUSSIAN)
REAL_KINDS(gaussian_grey, ROWS_GREY, ROWS_GAUSSIAN)
REAL_KINDS(lorentzian_pair, ROWS_PAIR, ROWS_LORENTZIAN)
REAL_KINDS(lorentzian_single, ROWS_SINGLE, ROWS_LORENTZIAN)
REAL_KINDS(lorentzian_grey, ROWS_GREY, ROWS_LORENTZIAN)
