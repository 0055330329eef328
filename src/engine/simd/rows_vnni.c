/* Row kernels for processors of the generation that has AVX-512 VBMI and VNNI: those of
 * rows_avx512.c, and ROWS_TABLE, for which VBMI looks up 64 weights at once and VNNI sums the
 * products of both pixels of a column.
 *
 * Nearly all loads straddle two cache lines, and would be the limit if two rows at a time did not
 * share them. A tap is looked up behind the distances of the next one: both are long chains of
 * operations, and a processor does not see far enough ahead to overlap them by itself. */
#include "engine/simd/ops_avx512.h"

#include "engine/simd/rows_kernels.h"

#define TABLE_LANES 16 /* columns */

struct table_weights {
    __m512i low[2], high[2]; /* bytes of 64 entries each */
    __m128i shift;
};

/* What is kept for one of both rows, for the even and the odd pixel of each column. */
struct table_state {
    V uv, l[2];         /* the centre's planes, luma twice */
    I y[2], w[2], u, v; /* sums */
};

/* Adds the products of both 16-bit halves. Not the intrinsic: with it GCC 12 copies every sum
 * twice per tap, and all takes 1.4 times as long (AMD Zen 5, 2026-11-20). */
INLINE void add_products(I *sum, V a, V b)
{
    __asm__("vpdpwssd %2, %1, %0" : "+v"(*sum) : "v"(a), "v"(b));
}

INLINE V table_load(const struct row_planes *q, enum row_plane p, ptrdiff_t x)
{
    return v_load((const int16_t *)q->plane[p] + 2 * x);
}

/* Where in the table the weights of a tap are: 8 of even pixels, 8 of odd ones, and so on. */
INLINE V table_index(const struct table_state *s, const struct table_weights *weights,
                     const uint32_t space[2], V uv, V l)
{
    /* The upper half of each 32-bit sum, twice. */
    const V upper_twice = _mm512_broadcast_i32x4(
        _mm_setr_epi8(2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15));
    const V duv = v_sub_sat(uv, s->uv);
    const V base = _mm512_shuffle_epi8(_mm512_madd_epi16(duv, duv), upper_twice);
    V z[2];

    for (int i = 0; i < 2; i++) {
        const V d = v_sub_sat(l, s->l[i]);
        const V near = _mm512_add_epi32(base, _mm512_set1_epi32((int)space[i]));

        z[i] = _mm512_srl_epi16(v_add_sat_u(near, v_mulhrs(d, d)), weights->shift);
    }
    return _mm512_packs_epi16(z[0], z[1]); /* saturates to 127 */
}

INLINE void table_add(struct table_state *s, const struct table_weights *t, V index, V y, V u, V v)
{
    const V low = _mm512_permutex2var_epi8(t->low[0], index, t->low[1]);
    const V high = _mm512_permutex2var_epi8(t->high[0], index, t->high[1]);
    const V w[2] = {_mm512_unpacklo_epi8(low, high), _mm512_unpackhi_epi8(low, high)};
    const V mean = v_avg_u(w[0], w[1]);

    for (int i = 0; i < 2; i++) {
        add_products(&s->y[i], w[i], y);
        add_products(&s->w[i], w[i], v_set1(1));
    }
    add_products(&s->u, mean, u);
    add_products(&s->v, mean, v);
}

/* @rows: TAP_UPPER, TAP_LOWER or both; a constant where this is inlined. */
INLINE const struct row_tap *table_run(struct table_state s[2], const struct table_weights *weights,
                                       const struct row_job *job, ptrdiff_t x,
                                       const struct row_tap *t, int n, int rows)
{
    const struct row_planes *q = &job->rows[t->dy];
    const struct row_tap *const end = t + n;
    ptrdiff_t at = x + t->k;
    V index[2];

    for (int i = 0; i < 2; i++)
        if (rows & (1 << i))
            index[i] = table_index(&s[i], weights, &t->space.fixed[2 * i],
                                   table_load(q, PLANE_C, at), table_load(q, PLANE_Y0, at));
    for (t++;; t++) {
        const V y = table_load(q, PLANE_Y1, at), u = table_load(q, PLANE_U, at);
        const V v = table_load(q, PLANE_V, at);
        V uv, l;

        if (t == end) {
            for (int i = 0; i < 2; i++)
                if (rows & (1 << i))
                    table_add(&s[i], weights, index[i], y, u, v);
            return t;
        }
        q = &job->rows[t->dy];
        at = x + t->k;
        uv = table_load(q, PLANE_C, at);
        l = table_load(q, PLANE_Y0, at);
        for (int i = 0; i < 2; i++)
            if (rows & (1 << i)) {
                const V next = table_index(&s[i], weights, &t->space.fixed[2 * i], uv, l);

                table_add(&s[i], weights, index[i], y, u, v);
                index[i] = next;
            }
    }
}

INLINE struct table_state table_begin(const struct row_planes *q, ptrdiff_t x)
{
    const V l = table_load(q, PLANE_Y0, x), zero = v_set1(0);

    return (struct table_state){
        .uv = table_load(q, PLANE_C, x),
        .l = {_mm512_mask_blend_epi16(0xAAAAAAAA, l, _mm512_slli_epi32(l, 16)),
              _mm512_mask_blend_epi16(0x55555555, l, _mm512_srli_epi32(l, 16))},
        .y = {zero, zero},
        .w = {zero, zero},
        .u = zero,
        .v = zero,
    };
}

/* Levels less 128 to bytes. */
INLINE void table_store(uint8_t *out, F levels)
{
    const I v = i_from_f(f_add(levels, f_set1(128.5F)));

    _mm_storeu_si128((__m128i *)(void *)out,
                     _mm512_cvtusepi32_epi8(_mm512_max_epi32(v, v_set1(0))));
}

INLINE void table_store_chroma(uint8_t *const out[2], ptrdiff_t x, F u, F v, F w)
{
    /* Weights of chroma are means of two. */
    const F per_w = f_div(f_set1(2.0F), w);

    table_store(out[0] + x, f_mul(u, per_w));
    table_store(out[1] + x, f_mul(v, per_w));
}

INLINE void table_finish(const struct table_state s[2], const struct row_job *job, ptrdiff_t x)
{
    F u[2], v[2], total[2];

    for (int row = 0; row < 2; row++) {
        const F w[2] = {f_from_i(s[row].w[0]), f_from_i(s[row].w[1])};

        for (int i = 0; i < 2; i++)
            table_store(job->out[4 * row + i] + x, f_div(f_from_i(s[row].y[i]), w[i]));
        u[row] = f_from_i(s[row].u);
        v[row] = f_from_i(s[row].v);
        total[row] = f_add(w[0], w[1]);
    }
    if (job->joint == JOINT_NONE) {
        for (int row = 0; row < 2; row++)
            table_store_chroma(&job->out[4 * row + 2], x, u[row], v[row], total[row]);
        return;
    }
    table_store_chroma(&job->out[2], x, f_add(u[0], u[1]), f_add(v[0], v[1]),
                       f_add(total[0], total[1]));
}

static void table_pair_rows(const struct row_job *job)
{
    const struct row_plan *plan = job->plan;
    const struct table_weights weights = {
        .low = {_mm512_loadu_si512(plan->table[0]), _mm512_loadu_si512(plan->table[0] + 64)},
        .high = {_mm512_loadu_si512(plan->table[1]), _mm512_loadu_si512(plan->table[1] + 64)},
        .shift = _mm_cvtsi32_si128(plan->shift),
    };

    for (int x = 0; x < job->columns; x += TABLE_LANES) {
        const struct row_tap *t = plan->tap;
        struct table_state s[2] = {table_begin(&job->rows[0], x), table_begin(&job->rows[1], x)};

        for (const struct row_run *run = plan->run; run < plan->run + plan->n_runs; run++) {
            if (run->pairs == (TAP_UPPER | TAP_LOWER))
                t = table_run(s, &weights, job, x, t, run->n_taps, TAP_UPPER | TAP_LOWER);
            else if (run->pairs == TAP_UPPER)
                t = table_run(s, &weights, job, x, t, run->n_taps, TAP_UPPER);
            else
                t = table_run(s, &weights, job, x, t, run->n_taps, TAP_LOWER);
        }
        table_finish(s, job, x);
    }
}

/* Bytes less 128, each twice. */
INLINE V table_twice(const uint8_t *p)
{
    const I a = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));

    return v_sub(_mm512_or_si512(a, _mm512_slli_epi32(a, 16)), v_set1(128));
}

static void table_luma(const struct row_scale *s, const uint8_t *y, const uint8_t *u,
                       const uint8_t *v, int16_t *const plane[2], int n)
{
    const V a = v_set1(s->q[0]), b = v_set1(s->q[1]), c = v_set1(s->q[2]);

    for (int x = 0; x < n; x += TABLE_LANES) {
        const V ys = v_load_u8(y + 2 * x);
        const V us = v_shl(table_twice(u + x), 8), vs = v_shl(table_twice(v + x), 8);

        v_store(plane[0] + 2 * x, v_add(v_mulhrs(ys, a), v_add(v_mulhrs(us, b), v_mulhrs(vs, c))));
        v_store(plane[1] + 2 * x, _mm512_srai_epi16(ys, 8));
    }
}

static void table_chroma(const struct row_scale *s, const uint8_t *u, const uint8_t *v,
                         int16_t *const plane[3], int n)
{
    const V d = v_set1(s->q[3]), e = v_set1(s->q[4]), f = v_set1(s->q[5]);

    for (int x = 0; x < n; x += TABLE_LANES) {
        const V u2 = table_twice(u + x), v2 = table_twice(v + x);
        const V us = v_shl(u2, 8), vs = v_shl(v2, 8);

        v_store(plane[0] + 2 * x,
                _mm512_mask_blend_epi16(0xAAAAAAAA, v_add(v_mulhrs(us, d), v_mulhrs(vs, e)),
                                        v_mulhrs(vs, f)));
        v_store(plane[1] + 2 * x, u2);
        v_store(plane[2] + 2 * x, v2);
    }
}

const struct row_kernels row_kernels_vnni = {
    .name = "vnni",
    .label = "AVX-512 VBMI+VNNI",
    .prefers = ROWS_TABLE,
    ROW_KERNELS,
    TABLE_KERNELS,
};
