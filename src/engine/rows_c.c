/* Row kernels in plain C: the arithmetic that every other instruction set must reproduce. A
 * vector is an array, so that the compiler may use what the baseline processor has. */
#include <string.h>

#include "rows.h"

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
V_OP(v_dup, (uint32_t a), a & 0xFFFF)
V_OP(v_load_u8, (const uint8_t *p), (p[i] - 128) * 256)
V_OP(v_add, (V a, V b), a.lane[i] + b.lane[i])
V_OP(v_sub, (V a, V b), a.lane[i] - b.lane[i])
V_OP(v_add_sat, (V a, V b), saturate(a.lane[i] + b.lane[i]))
V_OP(v_sub_sat, (V a, V b), saturate(a.lane[i] - b.lane[i]))
V_OP(v_add_sat_u, (V a, V b), smaller(unsigned_lane(a, i) + unsigned_lane(b, i), 65535))
V_OP(v_min_u, (V a, V b), smaller(unsigned_lane(a, i), unsigned_lane(b, i)))
V_OP(v_avg_u, (V a, V b), (unsigned_lane(a, i) + unsigned_lane(b, i) + 1) >> 1)
V_OP(v_shl, (V a, int n), unsigned_lane(a, i) << n)
V_OP(v_shr1_u, (V a), unsigned_lane(a, i) >> 1)
V_OP(v_shr7_u, (V a), unsigned_lane(a, i) >> 7)
V_OP(v_mulhrs, (V a, V b), (a.lane[i] * b.lane[i] + 16384) >> 15)
V_OP(v_mulhi_u, (V a, V b), (uint32_t)unsigned_lane(a, i) * (uint32_t)unsigned_lane(b, i) >> 16)

static inline V v_join(I low, I high)
{
    V r;

    for (int i = 0; i < LANES / 2; i++) {
        r.lane[i] = (int16_t)low.lane[i];
        r.lane[i + LANES / 2] = (int16_t)high.lane[i];
    }
    return r;
}

/* Looks both up in place. */
#define HAVE_TABLE
typedef const uint8_t (*T)[ROW_TABLE_SIZE];

#define t_load(table) (table)

static inline void lookup(T table, V *a, int shift)
{
    for (int i = 0; i < LANES; i++) {
        const int index = smaller(unsigned_lane(*a, i) >> shift, ROW_TABLE_SIZE - 1);

        a->lane[i] = (int16_t)(table[0][index] | table[1][index] << 8);
    }
}

static inline void v_lookup(T table, V *a, V *b, int shift)
{
    lookup(table, a, shift);
    if (b != a)
        lookup(table, b, shift);
}

static inline void v_store_u8(uint8_t *p, V a)
{
    for (int i = 0; i < LANES; i++)
        p[i] = (uint8_t)(a.lane[i] < 0 ? 0 : a.lane[i] > 255 ? 255 : a.lane[i]);
}

HALF_OP(I, i_low_s, (V a), a.lane[i])
HALF_OP(I, i_high_s, (V a), a.lane[i + LANES / 2])
HALF_OP(I, i_low_u, (V a), unsigned_lane(a, i))
HALF_OP(I, i_high_u, (V a), unsigned_lane(a, i + LANES / 2))
HALF_OP(I, i_add, (I a, I b), a.lane[i] + b.lane[i])
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
HALF_OP(I, reciprocal_guess, (I t), 0x7EF311C7 - t.lane[i])

static inline F f_lower_exponent(F p, F t)
{
    return from_bits(lower_exponent(bits(p), bits(t)));
}

static inline F f_reciprocal_guess(F t)
{
    return from_bits(reciprocal_guess(bits(t)));
}

#include "rows_kernels.h"

const struct row_kernels row_kernels_c = {.name = "c", .label = "plain C", ROW_KERNELS};
