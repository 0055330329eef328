/* The row kernel in half precision, for ROWS_PAIR, in terms of the vector operations of the file
 * that includes this. H holds LANES halves, V as many integers, F the floats of one half of them.
 *
 * A weight is a power of two, linear between whole ones, as in rows_fixed.h. So are the values of
 * halves whose bits are counted up: 1024 to an octave. In these units squared distances come out of
 * the planes, and what they leave of HALF_TOP octaves is the bits of the weight.
 *
 * Planes of Y + C need one difference for a pair of pixels, not two. Sums are collected in halves
 * and widened where the plan says that they have lost enough; then that of w dY is what those of
 * the planes make. */
#include "engine/simd/half.h"
#include "engine/simd/rows_joint.h"
#include "engine/simd/rows_pairs.h"

/* Sums of w (dY + dC), w dU, w dV and w for the even and the odd pixel. */
struct half_sums {
    H l[2], u[2], v[2], w[2];
};

/* Sums of w dY and w for each of both pixels, and of w dU and w dV for both together. */
enum half_wide { WIDE_Y, WIDE_W = 2, WIDE_U = 4, WIDE_V, WIDE_SUMS };

struct half_state {
    H l[2], u, v; /* the centre's planes */
    struct half_sums sums;
    F wide[WIDE_SUMS][2]; /* of the lower and the upper half of the lanes */
};

INLINE H half_load(const struct row_planes *q, enum row_plane p, ptrdiff_t x)
{
    return h_load((const int16_t *)q->plane[p] + x);
}

INLINE H half_weight(uint32_t space, H distance)
{
    return h_from_bits(v_sub_sat_u(v_dup(space), h_to_u(distance)));
}

/* What a tap adds: the differences of its pairs of pixels and their weights. */
struct half_tap {
    H d[4], w[4], du, dv;
};

/* @pairs is a constant where this is inlined. */
INLINE struct half_tap half_weigh(const struct half_state *s, const struct row_job *job, int x,
                                  const struct row_tap *t, int pairs)
{
    const struct row_pairs p = row_pairs(pairs, ROWS_PAIR);
    const struct row_planes *q = &job->rows[t->dy];
    const ptrdiff_t at = x + t->k;
    const H l[2] = {half_load(q, PLANE_Y0, at), half_load(q, PLANE_Y1, at)}, zero = h_set1(0);
    struct half_tap r = {
        .d = {zero, zero, zero, zero},
        .w = {zero, zero, zero, zero},
        .du = h_sub(half_load(q, PLANE_U, at), s->u),
        .dv = h_sub(half_load(q, PLANE_V, at), s->v),
    };
    const H base = h_fma(r.dv, r.dv, h_mul(r.du, r.du));

    UNROLLED for (int i = 0; i < p.n; i++) r.d[i] = h_sub(l[p.to[i]], s->l[p.from[i]]);
    UNROLLED for (int i = 0; i < p.n; i++) r.w[i] = h_fma(r.d[i], r.d[i], base);
    UNROLLED for (int i = 0; i < p.n; i++) r.w[i] = half_weight(t->space.fixed[p.space[i]], r.w[i]);
    return r;
}

INLINE void half_add(struct half_sums *sums, const struct half_tap *t, int pairs)
{
    const struct row_pairs p = row_pairs(pairs, ROWS_PAIR);
    H w[2] = {t->w[0], t->w[0]};

    UNROLLED for (int i = 0; i < p.n; i++)
    {
        const int from = p.from[i];

        sums->l[from] = h_fma(t->w[i], t->d[i], sums->l[from]);
        w[from] = p.first[i] ? t->w[i] : h_add(w[from], t->w[i]);
    }
    UNROLLED for (int i = 0; i < 2; i++) if (p.any[i])
    {
        sums->u[i] = h_fma(w[i], t->du, sums->u[i]);
        sums->v[i] = h_fma(w[i], t->dv, sums->v[i]);
        sums->w[i] = h_add(sums->w[i], w[i]);
    }
}

/* A tap is added after the weights of the next one are made: both are long chains of operations,
 * and a processor does not see far enough ahead to overlap them by itself. A plan may have one run
 * of no taps. */
INLINE const struct row_tap *half_run(struct half_state *s, const struct row_job *job, int x,
                                      const struct row_tap *t, int n, int pairs)
{
    const struct row_tap *const end = t + n;
    struct half_tap tap;

    if (t == end)
        return t;
    tap = half_weigh(s, job, x, t, pairs);
    while (++t < end) {
        const struct half_tap next = half_weigh(s, job, x, t, pairs);

        half_add(&s->sums, &tap, pairs);
        tap = next;
    }
    half_add(&s->sums, &tap, pairs);
    return t;
}

/* What is left of @l without the chroma that is in it. */
INLINE H half_luma_of(const struct row_scale *k, H l, H u, H v)
{
    return h_fma(v, h_set1(k->chroma[1]), h_fma(u, h_set1(k->chroma[0]), l));
}

INLINE void half_clear(struct half_state *s)
{
    for (int i = 0; i < 2; i++)
        s->sums.l[i] = s->sums.u[i] = s->sums.v[i] = s->sums.w[i] = h_set1(0);
}

INLINE void half_widen(struct half_state *s, const struct row_scale *k)
{
    const struct half_sums *from = &s->sums;
    int16_t sums[WIDE_SUMS][LANES];

    for (int i = 0; i < 2; i++) {
        h_store(sums[WIDE_Y + i], half_luma_of(k, from->l[i], from->u[i], from->v[i]));
        h_store(sums[WIDE_W + i], from->w[i]);
    }
    h_store(sums[WIDE_U], h_add(from->u[0], from->u[1]));
    h_store(sums[WIDE_V], h_add(from->v[0], from->v[1]));
    for (int i = 0; i < WIDE_SUMS; i++)
        for (int half = 0; half < 2; half++)
            s->wide[i][half] = f_add(s->wide[i][half], f_load_half(sums[i] + half * LANES / 2));
    half_clear(s);
}

/* The pixels of the column itself: each weighs the most, its partner has the same chroma. */
INLINE void half_begin(struct half_state *s, const struct row_job *job, int x)
{
    const float centre = (float)half_value(job->plan->centre);
    H d, w;

    for (int i = 0; i < 2; i++)
        s->l[i] = half_load(job->rows, PLANE_Y0 + (enum row_plane)i, x);
    s->u = half_load(job->rows, PLANE_U, x);
    s->v = half_load(job->rows, PLANE_V, x);
    for (int i = 0; i < WIDE_SUMS; i++)
        s->wide[i][0] = s->wide[i][1] = f_set1(i == WIDE_W || i == WIDE_W + 1 ? centre : 0.0F);
    half_clear(s);
    d = h_sub(s->l[1], s->l[0]);
    w = half_weight(job->plan->own.space.fixed[0], h_mul(d, d));
    s->sums.l[0] = h_mul(w, d);
    s->sums.l[1] = h_sub(s->sums.l[1], s->sums.l[0]);
    s->sums.w[0] = s->sums.w[1] = w;
}

/* The sum over the window: one inlined loop for every kind of run. */
INLINE void half_window(struct half_state *s, const struct row_job *job, int x)
{
    const struct row_tap *t = job->plan->tap;
    const struct row_run *const end = job->plan->run + job->plan->n_runs;

    for (const struct row_run *run = job->plan->run; run < end; run++) {
        switch (run->pairs) {
        case TAP_EVEN | TAP_UP | TAP_DOWN:
            t = half_run(s, job, x, t, run->n_taps, TAP_EVEN | TAP_UP | TAP_DOWN);
            break;
        case TAP_EVEN | TAP_UP:
            t = half_run(s, job, x, t, run->n_taps, TAP_EVEN | TAP_UP);
            break;
        case TAP_EVEN | TAP_DOWN:
            t = half_run(s, job, x, t, run->n_taps, TAP_EVEN | TAP_DOWN);
            break;
        case TAP_UP:
            t = half_run(s, job, x, t, run->n_taps, TAP_UP);
            break;
        case TAP_DOWN:
            t = half_run(s, job, x, t, run->n_taps, TAP_DOWN);
            break;
        default:
            t = half_run(s, job, x, t, run->n_taps, TAP_EVEN);
            break;
        }
        if (run->flush)
            half_widen(s, &job->plan->scale);
    }
}

/* The centre's sample of one half of the lanes. */
INLINE F half_centre(const struct row_job *job, enum row_plane p, size_t at)
{
    return f_load_half((const int16_t *)job->rows->plane[p] + at);
}

/* Levels less 128 to bytes that are yet to be cut off. */
INLINE I half_byte(F level)
{
    return i_from_f(f_add(level, f_set1(128.5F)));
}

/* Chroma of one half of the lanes; false when the sums were left for the other row. */
INLINE bool half_mean_chroma(const struct half_state *s, const struct row_job *job, size_t at,
                             int half, F cu, F cv, I ret[2])
{
    const struct row_scale *k = &job->plan->scale;
    F u = s->wide[WIDE_U][half], v = s->wide[WIDE_V][half];
    F w = f_add(s->wide[WIDE_W][half], s->wide[WIDE_W + 1][half]);

    if (!joint_chroma(job, at, &u, &v, &w))
        return false;
    w = f_div(f_set1(1.0F), w);
    u = f_add(cu, f_mul(u, w));
    v = f_mul(f_add(cv, f_mul(v, w)), f_set1(k->v));
    ret[0] = half_byte(f_sub(f_mul(u, f_set1(k->u)), f_mul(v, f_set1(k->uv))));
    ret[1] = half_byte(v);
    return true;
}

/* Both luma samples and chroma of one half of the lanes; false likewise. */
INLINE bool half_means(const struct half_state *s, const struct row_job *job, int x, int half,
                       I y[2], I uv[2])
{
    const struct row_scale *k = &job->plan->scale;
    const size_t at = (size_t)(x + half * LANES / 2);
    const F u = half_centre(job, PLANE_U, at), v = half_centre(job, PLANE_V, at);
    const F c =
        f_add(f_mul(u, f_set1(k->b * k->u)), f_mul(v, f_set1((k->c - k->b * k->uv) * k->v)));

    for (int i = 0; i < 2; i++) {
        const F l = half_centre(job, PLANE_Y0 + (enum row_plane)i, at);
        const F dy = f_div(s->wide[WIDE_Y + i][half], s->wide[WIDE_W + i][half]);

        y[i] = half_byte(f_mul(f_add(f_sub(l, c), dy), f_set1(k->y)));
    }
    return half_mean_chroma(s, job, at, half, u, v, uv);
}

INLINE void half_finish(const struct half_state *s, const struct row_job *job, int x)
{
    const I zero = i_low_s(v_set1(0));
    I y[2][2], uv[2][2] = {{zero, zero}, {zero, zero}};
    bool complete = half_means(s, job, x, 0, y[0], uv[0]);

    complete &= half_means(s, job, x, 1, y[1], uv[1]);
    i_store_u8(job->out[0] + x, job->out[1] + x, y);
    if (complete)
        i_store_u8(job->out[2] + x, job->out[3] + x, uv);
}

static void half_pair_rows(const struct row_job *job)
{
    for (int x = 0; x < job->columns; x += LANES) {
        struct half_state s;

        half_begin(&s, job, x);
        half_window(&s, job, x);
        half_finish(&s, job, x);
    }
}

/* From 8-bit samples to planes. */
static void half_luma(const struct row_scale *s, const uint8_t *y, const uint8_t *u,
                      const uint8_t *v, int16_t *const plane[2], int n)
{
    const H a = h_set1(s->q[0]), b = h_set1(s->q[1]), c = h_set1(s->q[2]);

    for (int x = 0; x < n; x += LANES) {
        const H chroma = h_fma(h_load_u8(u + x), b, h_mul(h_load_u8(v + x), c));

        h_store(plane[0] + x, h_fma(h_load_even_u8(y + 2 * x), a, chroma));
        h_store(plane[1] + x, h_fma(h_load_odd_u8(y + 2 * x), a, chroma));
    }
}

static void half_chroma(const struct row_scale *s, const uint8_t *u, const uint8_t *v,
                        int16_t *const plane[3], int n)
{
    const H d = h_set1(s->q[3]), e = h_set1(s->q[4]), f = h_set1(s->q[5]);

    for (int x = 0; x < n; x += LANES) {
        const H us = h_load_u8(u + x), vs = h_load_u8(v + x);

        h_store(plane[1] + x, h_fma(us, d, h_mul(vs, e)));
        h_store(plane[2] + x, h_mul(vs, f));
    }
}

#define HALF_KERNELS                                                                               \
    .filter[DISTANCE_EUCLIDEAN][ROWS_HALF][ROWS_PAIR] = half_pair_rows, .half_luma = half_luma,    \
    .half_chroma = half_chroma
