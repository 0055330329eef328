/* Row kernels in plain C: the arithmetic that every other instruction set must reproduce. A
 * vector is an array, so that the compiler may use what the baseline processor has. */
#include <stdlib.h>
#include <string.h>

#include "engine/simd/half.h"
#include "engine/simd/rows.h"

#define LANES 8
#define INLINE static inline

typedef struct {
    int16_t lane[LANES];
} V;
typedef struct {
    int32_t lane[LANES / 2];
} I;
typedef struct {
    float lane[LANES / 2];
} F;
typedef struct {
    uint16_t lane[LANES];
} H;

#define V_OP(name, args, expression)                                                               \
    static inline V name args                                                                      \
    {                                                                                              \
        V r;                                                                                       \
        for (int i = 0; i < LANES; i++)                                                            \
            r.lane[i] = (int16_t)(expression);                                                     \
        return r;                                                                                  \
    }
#define HALF_OP(type, name, args, expression)                                                      \
    static inline type name args                                                                   \
    {                                                                                              \
        type r;                                                                                    \
        for (int i = 0; i < LANES / 2; i++)                                                        \
            r.lane[i] = (expression);                                                              \
        return r;                                                                                  \
    }

#define H_OP(name, args, expression)                                                               \
    static inline H name args                                                                      \
    {                                                                                              \
        H r;                                                                                       \
        for (int i = 0; i < LANES; i++)                                                            \
            r.lane[i] = (uint16_t)(expression);                                                    \
        return r;                                                                                  \
    }

static inline int saturate(int v)
{
    return v < -32768 ? -32768 : v > 32767 ? 32767 : v;
}

static inline int unsigned_lane(V v, int i)
{
    return (uint16_t)v.lane[i];
}

static inline int smaller(int a, int b)
{
    return a < b ? a : b;
}

static inline V v_load(const int16_t *p)
{
    V r;

    memcpy(&r, p, sizeof(r));
    return r;
}

static inline void v_store(int16_t *p, V a)
{
    memcpy(p, &a, sizeof(a));
}

V_OP(v_set1, (int a), a)
V_OP(v_dup, (uint32_t a), i % 2 ? a >> 16 : a)
V_OP(v_load_u8, (const uint8_t *p), (p[i] - 128) * 256)
V_OP(v_add, (V a, V b), a.lane[i] + b.lane[i])
V_OP(v_sub, (V a, V b), a.lane[i] - b.lane[i])
V_OP(v_add_sat, (V a, V b), saturate(a.lane[i] + b.lane[i]))
V_OP(v_sub_sat, (V a, V b), saturate(a.lane[i] - b.lane[i]))
V_OP(v_add_sat_u, (V a, V b), smaller(unsigned_lane(a, i) + unsigned_lane(b, i), 65535))
V_OP(v_sub_sat_u, (V a, V b),
     unsigned_lane(a, i) > unsigned_lane(b, i) ? unsigned_lane(a, i) - unsigned_lane(b, i) : 0)
V_OP(v_min_u, (V a, V b), smaller(unsigned_lane(a, i), unsigned_lane(b, i)))
V_OP(v_avg_u, (V a, V b), (unsigned_lane(a, i) + unsigned_lane(b, i) + 1) >> 1)
V_OP(v_shl, (V a, int n), unsigned_lane(a, i) << n)
V_OP(v_shr1_u, (V a), unsigned_lane(a, i) >> 1)
V_OP(v_shr7_u, (V a), unsigned_lane(a, i) >> 7)
V_OP(v_shr12_u, (V a), unsigned_lane(a, i) >> 12)
V_OP(v_shl3, (V a), unsigned_lane(a, i) << 3)
V_OP(v_or, (V a, V b), a.lane[i] | b.lane[i])
V_OP(v_mulhrs, (V a, V b), (a.lane[i] * b.lane[i] + 16384) >> 15)
V_OP(v_mullo, (V a, V b), (uint32_t)unsigned_lane(a, i) * (uint32_t)unsigned_lane(b, i))
V_OP(v_mulhi_u, (V a, V b), (uint32_t)unsigned_lane(a, i) * (uint32_t)unsigned_lane(b, i) >> 16)

V_OP(v_power, (V a), 1 << unsigned_lane(a, i) | 1)

/* Powers of two of 0 to 15, and 1 more but for the first: products with them are cut off. */
static inline void v_powers(V *a, V *b)
{
    *a = v_power(*a);
    *b = v_power(*b);
}

/* BLUR_UNIT times the sums of bytes: 2 LANES of them, in an order that v_store_pair() undoes. */
static inline void v_pair_u8(const uint8_t *a, const uint8_t *b, V *first, V *second)
{
    for (int i = 0; i < LANES; i++) {
        first->lane[i] = (int16_t)((a[i] + b[i]) * BLUR_UNIT);
        second->lane[i] = (int16_t)((a[i + LANES] + b[i + LANES]) * BLUR_UNIT);
    }
}

static inline void v_store_pair(int16_t *p, V first, V second)
{
    v_store(p, first);
    v_store(p + LANES, second);
}

static inline V v_join(I low, I high)
{
    V r;

    for (int i = 0; i < LANES / 2; i++) {
        r.lane[i] = (int16_t)low.lane[i];
        r.lane[i + LANES / 2] = (int16_t)high.lane[i];
    }
    return r;
}

static inline void v_store_u8(uint8_t *p, V a)
{
    for (int i = 0; i < LANES; i++)
        p[i] = (uint8_t)(a.lane[i] < 0 ? 0 : a.lane[i] > 255 ? 255 : a.lane[i]);
}

static inline I i_load(const uint32_t *p)
{
    I r;

    memcpy(&r, p, sizeof(r));
    return r;
}

static inline void i_store(uint32_t *p, I a)
{
    memcpy(p, &a, sizeof(a));
}

/* Each lane with those before it. */
static inline I i_running(I a)
{
    for (int i = 1; i < LANES / 2; i++)
        a.lane[i] += a.lane[i - 1];
    return a;
}

HALF_OP(I, i_last, (I a), a.lane[LANES / 2 - 1])
HALF_OP(I, i_low_s, (V a), a.lane[i])
HALF_OP(I, i_high_s, (V a), a.lane[i + LANES / 2])
HALF_OP(I, i_low_u, (V a), unsigned_lane(a, i))
HALF_OP(I, i_high_u, (V a), unsigned_lane(a, i + LANES / 2))
HALF_OP(I, i_add, (I a, I b), a.lane[i] + b.lane[i])
HALF_OP(I, i_sub, (I a, I b), a.lane[i] - b.lane[i])
HALF_OP(I, i_shl7, (I a), a.lane[i] * 128)
HALF_OP(I, i_from_f, (F a), (int32_t)a.lane[i])

HALF_OP(F, f_from_i, (I a), (float)a.lane[i])
HALF_OP(F, f_set1, (float a), a)
HALF_OP(F, f_load, (const float *p), p[i])
HALF_OP(F, f_add, (F a, F b), a.lane[i] + b.lane[i])
HALF_OP(F, f_sub, (F a, F b), a.lane[i] - b.lane[i])
HALF_OP(F, f_mul, (F a, F b), a.lane[i] * b.lane[i])
HALF_OP(F, f_div, (F a, F b), a.lane[i] / b.lane[i])
HALF_OP(F, f_min, (F a, F b), a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i])

static inline void f_store(float *p, F a)
{
    memcpy(p, &a, sizeof(a));
}

static inline I bits(F a)
{
    I r;

    memcpy(&r, &a, sizeof(r));
    return r;
}

static inline F from_bits(I a)
{
    F r;

    memcpy(&r, &a, sizeof(r));
    return r;
}

/* Unsigned, because the bits that are shifted out and the sign are not to be looked at. */
HALF_OP(I, lower_exponent, (I p, I t), (int32_t)((uint32_t)p.lane[i] - ((uint32_t)t.lane[i] << 23)))

static inline F f_lower_exponent(F p, F t)
{
    return from_bits(lower_exponent(bits(p), bits(t)));
}

static inline double value(H a, int i)
{
    return half_value(a.lane[i]);
}

static inline H h_load(const int16_t *p)
{
    H r;

    memcpy(&r, p, sizeof(r));
    return r;
}

static inline void h_store(int16_t *p, H a)
{
    memcpy(p, &a, sizeof(a));
}

H_OP(h_from_bits, (V a), a.lane[i])
H_OP(h_set1, (int bits), bits)
H_OP(h_add, (H a, H b), half_from(value(a, i) + value(b, i)))
H_OP(h_sub, (H a, H b), half_from(value(a, i) - value(b, i)))
H_OP(h_mul, (H a, H b), half_from(value(a, i) * value(b, i)))
H_OP(h_fma, (H a, H b, H c), half_from(value(a, i) * value(b, i) + value(c, i)))
HALF_OP(F, f_load_half, (const int16_t *p), (float)half_value((uint16_t)p[i]))

/* The nearest integer, as that of positive numbers; 65535 beyond. */
V_OP(h_to_u, (H a), value(a, i) < 65535.0 ? (int)rint(value(a, i)) : 65535)

/* Samples less 128: of LANES bytes, and of every other one of twice as many. */
H_OP(h_load_u8, (const uint8_t *p), half_from(p[i] - 128))
H_OP(h_load_even_u8, (const uint8_t *p), half_from(p[2 * i] - 128))
H_OP(h_load_odd_u8, (const uint8_t *p), half_from(p[2 * i + 1] - 128))

/* LANES bytes to each of two rows, @a[half][row], of integers that are cut off. */
static inline void i_store_u8(uint8_t *p, uint8_t *q, I a[2][2])
{
    v_store_u8(p, v_join(a[0][0], a[1][0]));
    v_store_u8(q, v_join(a[0][1], a[1][1]));
}

static int32_t sad_16x16(const uint8_t *a, const uint8_t *b, size_t stride)
{
    int32_t sum = 0;

    for (int y = 0; y < 16; y++, a += stride, b += stride)
        for (int x = 0; x < 16; x++)
            sum += abs(a[x] - b[x]);
    return 4 * sum;
}

static int32_t sad_8x8(const uint16_t *a, const uint16_t *b, size_t stride)
{
    uint16_t sum[8] = {0};
    int32_t all = 0;

    for (int y = 0; y < 8; y++, a += stride, b += stride)
        for (int x = 0; x < 8; x++)
            sum[x] = (uint16_t)(sum[x] + (a[x] > b[x] ? a[x] - b[x] : b[x] - a[x]));
    for (int x = 0; x < 8; x++)
        all += sum[x];
    return all;
}

#include "engine/simd/time/sads_single.h"

#include "engine/simd/rows_kernels.h"

#include "engine/simd/rows_half.h"

/* ROWS_TABLE for one row of a column, as rows.h describes it. */
struct table_sums {
    int y[2], w[2], u, v;
};

static const int16_t *table_words(const struct row_planes *q, enum row_plane p, int x)
{
    return (const int16_t *)q->plane[p] + 2 * x;
}

static int table_weight(const struct row_plan *plan, unsigned z)
{
    const int index = smaller((int)(z >> plan->shift), ROW_TABLE_SIZE - 1);

    return plan->table[0][index] | plan->table[1][index] << 8;
}

static void table_tap(struct table_sums *s, const struct row_plan *plan,
                      const struct row_planes *centre, int x, const struct row_planes *q, int at,
                      const uint32_t space[2])
{
    const int16_t *l0 = table_words(centre, PLANE_Y0, x), *l = table_words(q, PLANE_Y0, at);
    const int16_t *uv0 = table_words(centre, PLANE_C, x), *uv = table_words(q, PLANE_C, at);
    const int du = saturate(uv[0] - uv0[0]), dv = saturate(uv[1] - uv0[1]);
    const unsigned base = ((unsigned)(du * du) + (unsigned)(dv * dv)) >> 16;

    for (int to = 0; to < 2; to++) {
        int both = 0;

        for (int from = 0; from < 2; from++) {
            const int d = saturate(l[to] - l0[from]);
            const unsigned near = base + (space[from] >> 16 * to & 0xFFFF);
            const unsigned z = near + (unsigned)((d * d + 16384) >> 15);
            const int w = table_weight(plan, z < 65535 ? z : 65535);

            s->y[from] += w * table_words(q, PLANE_Y1, at)[to];
            s->w[from] += w;
            both += w;
        }
        s->u += (both + 1) / 2 * table_words(q, PLANE_U, at)[to];
        s->v += (both + 1) / 2 * table_words(q, PLANE_V, at)[to];
    }
}

static struct table_sums table_window(const struct row_job *job, int x, int row)
{
    const struct row_plan *plan = job->plan;
    struct table_sums s = {0};

    for (const struct row_tap *t = plan->tap; t < plan->tap + plan->n_taps; t++)
        table_tap(&s, plan, &job->rows[row], x, &job->rows[t->dy], x + t->k,
                  &t->space.fixed[2 * row]);
    return s;
}

static void table_store(uint8_t *out, float level)
{
    const int v = (int)(level + 128.5F);

    *out = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static void table_store_chroma(uint8_t *const out[2], int x, float u, float v, float w)
{
    const float per_w = 2.0F / w; /* weights of chroma are means of two */

    table_store(out[0] + x, u * per_w);
    table_store(out[1] + x, v * per_w);
}

static void table_pair_rows(const struct row_job *job)
{
    for (int x = 0; x < job->columns; x++) {
        float u[2], v[2], w[2];

        for (int row = 0; row < 2; row++) {
            const struct table_sums s = table_window(job, x, row);

            for (int i = 0; i < 2; i++)
                table_store(job->out[4 * row + i] + x, (float)s.y[i] / (float)s.w[i]);
            u[row] = (float)s.u;
            v[row] = (float)s.v;
            w[row] = (float)s.w[0] + (float)s.w[1];
        }
        if (job->joint == JOINT_ADD) {
            table_store_chroma(&job->out[2], x, u[0] + u[1], v[0] + v[1], w[0] + w[1]);
            continue;
        }
        for (int row = 0; row < 2; row++)
            table_store_chroma(&job->out[4 * row + 2], x, u[row], v[row], w[row]);
    }
}

/* A byte less 128, scaled by units of 1/128. */
static int16_t table_scaled(uint8_t byte, int16_t q)
{
    return (int16_t)(((byte - 128) * 256 * q + 16384) >> 15);
}

static void table_luma(const struct row_scale *s, const uint8_t *y, const uint8_t *u,
                       const uint8_t *v, int16_t *const plane[2], int n)
{
    for (int x = 0; x < 2 * n; x++) {
        const int c = table_scaled(u[x / 2], s->q[1]) + table_scaled(v[x / 2], s->q[2]);

        plane[0][x] = (int16_t)(table_scaled(y[x], s->q[0]) + c);
        plane[1][x] = (int16_t)(y[x] - 128);
    }
}

static void table_chroma(const struct row_scale *s, const uint8_t *u, const uint8_t *v,
                         int16_t *const plane[3], int n)
{
    for (int x = 0; x < n; x++) {
        plane[0][2 * x] = (int16_t)(table_scaled(u[x], s->q[3]) + table_scaled(v[x], s->q[4]));
        plane[0][2 * x + 1] = table_scaled(v[x], s->q[5]);
        plane[1][2 * x] = plane[1][2 * x + 1] = (int16_t)(u[x] - 128);
        plane[2][2 * x] = plane[2][2 * x + 1] = (int16_t)(v[x] - 128);
    }
}

#define KERNELS_IN_C ROW_KERNELS, TABLE_KERNELS, HALF_KERNELS

const struct row_kernels row_kernels_c = {.name = "c", .label = "plain C", KERNELS_IN_C};
const struct row_kernels row_kernels_c_table = {
    .name = "c-table", .label = "plain C, table", .prefers = ROWS_TABLE, KERNELS_IN_C};
const struct row_kernels row_kernels_c_half = {
    .name = "c-half", .label = "plain C, halves", .prefers = ROWS_HALF, KERNELS_IN_C};
