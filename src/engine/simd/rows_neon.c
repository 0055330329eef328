/* Row kernels for AArch64, all of which has NEON: 8 pixels or pixel pairs at a time. */
#include <arm_neon.h>

#include "engine/simd/rows.h"

#define LANES 8

typedef int16x8_t V;
typedef int32x4_t I;
typedef float32x4_t F;

#define OP(type, name, args, expression)                                                           \
    static inline type name args                                                                   \
    {                                                                                              \
        return expression;                                                                         \
    }
#define OP_U(name, args, expression)                                                               \
    static inline V name args                                                                      \
    {                                                                                              \
        return vreinterpretq_s16_u16(expression);                                                  \
    }
#define U(a) vreinterpretq_u16_s16(a)

OP(V, v_load, (const int16_t *p), vld1q_s16(p))
OP(V, v_set1, (int a), vdupq_n_s16((int16_t)a))
OP(V, v_dup, (uint32_t a), vreinterpretq_s16_u32(vdupq_n_u32(a)))
OP(V, v_add, (V a, V b), vaddq_s16(a, b))
OP(V, v_sub, (V a, V b), vsubq_s16(a, b))
OP(V, v_add_sat, (V a, V b), vqaddq_s16(a, b))
OP(V, v_sub_sat, (V a, V b), vqsubq_s16(a, b))
OP_U(v_add_sat_u, (V a, V b), vqaddq_u16(U(a), U(b)))
OP_U(v_sub_sat_u, (V a, V b), vqsubq_u16(U(a), U(b)))
OP_U(v_min_u, (V a, V b), vminq_u16(U(a), U(b)))
OP_U(v_avg_u, (V a, V b), vrhaddq_u16(U(a), U(b)))
OP_U(v_shl, (V a, int n), vshlq_u16(U(a), vdupq_n_s16((int16_t)n)))
OP_U(v_shr1_u, (V a), vshrq_n_u16(U(a), 1))
OP_U(v_shr7_u, (V a), vshrq_n_u16(U(a), 7))
OP_U(v_shr12_u, (V a), vshrq_n_u16(U(a), 12))
OP_U(v_shl3, (V a), vshlq_n_u16(U(a), 3))
OP(V, v_or, (V a, V b), vorrq_s16(a, b))

/* Differs from the x86 instruction in (-32768)^2 alone, 32767 for 32768: a squared distance
 * beyond the range both times. */
OP(V, v_mulhrs, (V a, V b), vqrdmulhq_s16(a, b))

static inline V v_mullo(V a, V b)
{
    return vmulq_s16(a, b);
}

static inline V v_mulhi_u(V a, V b)
{
    const uint32x4_t low = vmull_u16(vget_low_u16(U(a)), vget_low_u16(U(b)));
    const uint32x4_t high = vmull_high_u16(U(a), U(b));

    return vreinterpretq_s16_u16(
        vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high)));
}

OP_U(v_power, (V a), vorrq_u16(vshlq_u16(vdupq_n_u16(1), a), vdupq_n_u16(1)))
static inline void v_powers(V *a, V *b)
{
    *a = v_power(*a);
    *b = v_power(*b);
}

static inline V v_load_u8(const uint8_t *p)
{
    return vreinterpretq_s16_u16(veorq_u16(vshll_n_u8(vld1_u8(p), 8), vdupq_n_u16(0x8000)));
}

OP(V, v_join, (I low, I high), vcombine_s16(vmovn_s32(low), vmovn_s32(high)))
static inline void v_store_u8(uint8_t *p, V a)
{
    vst1_u8(p, vqmovun_s16(a));
}

OP(I, i_low_s, (V a), vmovl_s16(vget_low_s16(a)))
OP(I, i_high_s, (V a), vmovl_high_s16(a))
OP(I, i_low_u, (V a), vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(U(a)))))
OP(I, i_high_u, (V a), vreinterpretq_s32_u32(vmovl_high_u16(U(a))))
OP(I, i_last, (I a), vdupq_laneq_s32(a, 3))
OP(I, i_add, (I a, I b), vaddq_s32(a, b))
OP(I, i_sub, (I a, I b), vsubq_s32(a, b))
OP(I, i_shl7, (I a), vshlq_n_s32(a, 7))
OP(I, i_from_f, (F a), vcvtq_s32_f32(a))

static inline void v_store(int16_t *p, V a)
{
    vst1q_s16(p, a);
}

static inline void v_pair_u8(const uint8_t *a, const uint8_t *b, V *first, V *second)
{
    const uint8x16_t p = vld1q_u8(a), q = vld1q_u8(b);

    *first = v_shl(vreinterpretq_s16_u16(vaddl_u8(vget_low_u8(p), vget_low_u8(q))), 6);
    *second = v_shl(vreinterpretq_s16_u16(vaddl_high_u8(p, q)), 6);
}

static inline void v_store_pair(int16_t *p, V first, V second)
{
    v_store(p, first);
    v_store(p + LANES, second);
}

OP(I, i_load, (const uint32_t *p), vreinterpretq_s32_u32(vld1q_u32(p)))
static inline void i_store(uint32_t *p, I a)
{
    vst1q_u32(p, vreinterpretq_u32_s32(a));
}

static inline I i_running(I a)
{
    const I zero = vdupq_n_s32(0);

    a = vaddq_s32(a, vextq_s32(zero, a, 3));
    return vaddq_s32(a, vextq_s32(zero, a, 2));
}

static inline void f_store(float *p, F a)
{
    vst1q_f32(p, a);
}

OP(F, f_from_i, (I a), vcvtq_f32_s32(a))
OP(F, f_set1, (float a), vdupq_n_f32(a))
OP(F, f_load, (const float *p), vld1q_f32(p))
OP(F, f_add, (F a, F b), vaddq_f32(a, b))
OP(F, f_sub, (F a, F b), vsubq_f32(a, b))
OP(F, f_mul, (F a, F b), vmulq_f32(a, b))
OP(F, f_div, (F a, F b), vdivq_f32(a, b))
OP(F, f_min, (F a, F b), vminq_f32(a, b))

static inline F f_lower_exponent(F p, F t)
{
    return vreinterpretq_f32_s32(
        vsubq_s32(vreinterpretq_s32_f32(p), vshlq_n_s32(vreinterpretq_s32_f32(t), 23)));
}

static inline int32_t sad_16x16(const uint8_t *a, const uint8_t *b, size_t stride)
{
    uint16x8_t low = vdupq_n_u16(0), high = low;

    for (int y = 0; y < 16; y++, a += stride, b += stride) {
        const uint8x16_t p = vld1q_u8(a), q = vld1q_u8(b);

        low = vabal_u8(low, vget_low_u8(p), vget_low_u8(q));
        high = vabal_u8(high, vget_high_u8(p), vget_high_u8(q));
    }
    return 4 * (int32_t)vaddlvq_u16(vaddq_u16(low, high));
}

static inline int32_t sad_8x8(const uint16_t *a, const uint16_t *b, size_t stride)
{
    uint16x8_t sum = vdupq_n_u16(0);

    for (int y = 0; y < 8; y++, a += stride, b += stride)
        sum = vabaq_u16(sum, vld1q_u16(a), vld1q_u16(b));
    return (int32_t)vaddlvq_u16(sum);
}

#include "engine/simd/time/sads_single.h"

#include "engine/simd/rows_kernels.h"

const struct row_kernels row_kernels_neon = {.name = "neon", .label = "NEON", ROW_KERNELS};
