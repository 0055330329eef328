/* AVX-512 in plain C, as far as the row kernels use it: what each instruction says it does, lane by
 * lane. With this folder before the compiler's own, they run on processors that lack it, far too
 * slowly for any use but to see that they are right. */
#pragma once
#include_next <immintrin.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/simd/half.h"

#define __m512h __m512i /* which older compilers have not, and none of its operations is taken */

union lanes {
    __m512i i;
    __m512 f;
    uint8_t u8[64];
    int8_t s8[64];
    uint16_t u16[32];
    int16_t s16[32];
    uint32_t u32[16];
    int32_t s32[16];
    uint64_t u64[8];
    float f32[16];
    __m256i half[2];
    __m128i quarter[4];
};

/* The compiler takes minutes over kernels with all of this in them. */
#define OPERATION static __attribute__((noinline, unused))

static inline int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* What one lane becomes, of the lanes @a and @b (or @a and a number @n). */
#define EACH(lane, count, expression)                                                              \
    union lanes r;                                                                                 \
                                                                                                   \
    for (int k = 0; k < (count); k++)                                                              \
        r.lane[k] = (__typeof__(r.lane[0]))(expression);

#define OF_TWO(name, lane, count, expression)                                                      \
    OPERATION __m512i c_##name(__m512i x, __m512i y)                                               \
    {                                                                                              \
        const union lanes a = {.i = x}, b = {.i = y};                                              \
        EACH(lane, count, expression)                                                              \
        return r.i;                                                                                \
    }

#define OF_FLOATS(name, expression)                                                                \
    OPERATION __m512 c_##name(__m512 x, __m512 y)                                                  \
    {                                                                                              \
        const union lanes a = {.f = x}, b = {.f = y};                                              \
        EACH(f32, 16, expression)                                                                  \
        return r.f;                                                                                \
    }

#define SHIFT(name, lane, count, expression)                                                       \
    OPERATION __m512i c_##name(__m512i x, unsigned n)                                              \
    {                                                                                              \
        const union lanes a = {.i = x};                                                            \
        EACH(lane, count, expression)                                                              \
        return r.i;                                                                                \
    }

#define WIDEN(name, from, to, count, lane)                                                         \
    OPERATION __m512i c_##name(from x)                                                             \
    {                                                                                              \
        union lanes a;                                                                             \
                                                                                                   \
        memcpy(&a, &x, sizeof(x));                                                                 \
        EACH(to, count, a.lane[k])                                                                 \
        return r.i;                                                                                \
    }

#define NARROW(name, to, half_type, lane, count, expression)                                       \
    OPERATION half_type c_##name(__m512i x)                                                        \
    {                                                                                              \
        const union lanes a = {.i = x};                                                            \
        half_type ret;                                                                             \
        EACH(lane, count, expression)                                                              \
        memcpy(&ret, &r, sizeof(ret));                                                             \
        return ret;                                                                                \
    }

OF_TWO(add_epi16, u16, 32, a.u16[k] + b.u16[k])
OF_TWO(sub_epi16, u16, 32, a.u16[k] - b.u16[k])
OF_TWO(add_epi32, u32, 16, a.u32[k] + b.u32[k])
OF_TWO(sub_epi32, u32, 16, a.u32[k] - b.u32[k])
OF_TWO(adds_epi16, s16, 32, clamp(a.s16[k] + b.s16[k], INT16_MIN, INT16_MAX))
OF_TWO(subs_epi16, s16, 32, clamp(a.s16[k] - b.s16[k], INT16_MIN, INT16_MAX))
OF_TWO(adds_epu16, u16, 32, clamp(a.u16[k] + b.u16[k], 0, UINT16_MAX))
OF_TWO(subs_epu16, u16, 32, clamp(a.u16[k] - b.u16[k], 0, UINT16_MAX))
OF_TWO(min_epu16, u16, 32, a.u16[k] < b.u16[k] ? a.u16[k] : b.u16[k])
OF_TWO(max_epi16, s16, 32, a.s16[k] > b.s16[k] ? a.s16[k] : b.s16[k])
OF_TWO(max_epi32, s32, 16, a.s32[k] > b.s32[k] ? a.s32[k] : b.s32[k])
OF_TWO(avg_epu16, u16, 32, (a.u16[k] + b.u16[k] + 1) >> 1)
OF_TWO(mullo_epi16, u16, 32, (uint32_t)a.u16[k] * b.u16[k])
OF_TWO(mulhi_epu16, u16, 32, (uint32_t)a.u16[k] * b.u16[k] >> 16)
OF_TWO(mulhrs_epi16, s16, 32, (((a.s16[k] * b.s16[k]) >> 14) + 1) >> 1)
OF_TWO(madd_epi16, s32, 16,
       (int64_t)a.s16[2 * k] * b.s16[2 * k] + a.s16[2 * k + 1] * b.s16[2 * k + 1])
OF_TWO(maddubs_epi16, s16, 32,
       clamp(a.u8[2 * k] * b.s8[2 * k] + a.u8[2 * k + 1] * b.s8[2 * k + 1], INT16_MIN, INT16_MAX))
OF_TWO(sllv_epi16, u16, 32, b.u16[k] < 16 ? a.u16[k] << b.u16[k] : 0)
OF_TWO(or_si512, u64, 8, a.u64[k] | b.u64[k])
OF_TWO(xor_si512, u64, 8, a.u64[k] ^ b.u64[k])
OF_TWO(and_si512, u64, 8, a.u64[k] & b.u64[k])
/* Within quarters of 16 bytes. */
OF_TWO(packs_epi32, s16, 32,
       clamp((k % 8 < 4 ? a : b).s32[k / 8 * 4 + k % 4], INT16_MIN, INT16_MAX))
OF_TWO(packus_epi16, u8, 64, clamp((k % 16 < 8 ? a : b).s16[k / 16 * 8 + k % 8], 0, UINT8_MAX))
OF_TWO(unpacklo_epi8, u8, 64, (k % 2 ? b : a).u8[k / 16 * 16 + k % 16 / 2])
OF_TWO(unpackhi_epi8, u8, 64, (k % 2 ? b : a).u8[k / 16 * 16 + 8 + k % 16 / 2])
OF_TWO(shuffle_epi8, u8, 64, b.u8[k] & 128 ? 0 : a.u8[k / 16 * 16 + b.u8[k] % 16])
OF_TWO(packs_epi16, s8, 64, clamp((k % 16 < 8 ? a : b).s16[k / 16 * 8 + k % 8], INT8_MIN, INT8_MAX))
OF_TWO(permutexvar_epi32, u32, 16, b.u32[a.u32[k] % 16])

SHIFT(slli_epi16, u16, 32, n < 16 ? a.u16[k] << n : 0)
SHIFT(srli_epi16, u16, 32, n < 16 ? a.u16[k] >> n : 0)
SHIFT(srai_epi16, s16, 32, a.s16[k] >> (n < 16 ? n : 15))
SHIFT(slli_epi32, u32, 16, n < 32 ? a.u32[k] << n : 0)
SHIFT(srli_epi32, u32, 16, n < 32 ? a.u32[k] >> n : 0)

OF_FLOATS(add_ps, a.f32[k] + b.f32[k])
OF_FLOATS(sub_ps, a.f32[k] - b.f32[k])
OF_FLOATS(mul_ps, a.f32[k] * b.f32[k])
OF_FLOATS(div_ps, a.f32[k] / b.f32[k])
OF_FLOATS(min_ps, a.f32[k] < b.f32[k] ? a.f32[k] : b.f32[k])

OF_TWO(add_ph, u16, 32, half_from(half_value(a.u16[k]) + half_value(b.u16[k])))
OF_TWO(sub_ph, u16, 32, half_from(half_value(a.u16[k]) - half_value(b.u16[k])))
OF_TWO(mul_ph, u16, 32, half_from(half_value(a.u16[k]) * half_value(b.u16[k])))

WIDEN(cvtepu8_epi16, __m256i, u16, 32, u8)
WIDEN(cvtepu8_epi32, __m128i, u32, 16, u8)
WIDEN(cvtepi16_epi32, __m256i, s32, 16, s16)
WIDEN(cvtepu16_epi32, __m256i, u32, 16, u16)
NARROW(cvtepi32_epi16, u16, __m256i, u16, 16, a.u32[k])
NARROW(cvtusepi16_epi8, u8, __m256i, u8, 32, clamp(a.u16[k], 0, UINT8_MAX))
NARROW(cvtusepi32_epi8, u8, __m128i, u8, 16, clamp(a.u32[k], 0, UINT8_MAX))

OPERATION __m512i c_cvttps_epi32(__m512 x)
{
    const union lanes a = {.f = x};
    EACH(s32, 16, fabsf(a.f32[k]) < 2147483648.0F ? (int32_t)a.f32[k] : INT32_MIN)
    return r.i;
}

OPERATION __m512 c_cvtepi32_ps(__m512i x)
{
    const union lanes a = {.i = x};
    EACH(f32, 16, a.s32[k])
    return r.f;
}

OPERATION __m512i c_fmadd_ph(__m512i x, __m512i y, __m512i z)
{
    const union lanes a = {.i = x}, b = {.i = y}, c = {.i = z};
    EACH(u16, 32, half_from(half_value(a.u16[k]) * half_value(b.u16[k]) + half_value(c.u16[k])))
    return r.i;
}

OPERATION __m512i c_cvtph_epu16(__m512i x)
{
    const union lanes a = {.i = x};
    EACH(u16, 32, clamp((int64_t)rint(half_value(a.u16[k])), 0, UINT16_MAX))
    return r.i;
}

OPERATION __m512i c_cvtepi16_ph(__m512i x)
{
    const union lanes a = {.i = x};
    EACH(u16, 32, half_from(a.s16[k]))
    return r.i;
}

OPERATION __m512 c_cvtph_ps(__m256i x)
{
    const union lanes a = {.half = {x}};
    EACH(f32, 16, half_value(a.u16[k]))
    return r.f;
}

OPERATION __m512i c_sll_epi16(__m512i x, __m128i n)
{
    return c_slli_epi16(x, (unsigned)_mm_cvtsi128_si32(n));
}

OPERATION __m512i c_srl_epi16(__m512i x, __m128i n)
{
    return c_srli_epi16(x, (unsigned)_mm_cvtsi128_si32(n));
}

OPERATION __m512i c_set1_epi8(char v)
{
    EACH(s8, 64, v)
    return r.i;
}

OPERATION __m512i c_set1_epi16(short v)
{
    EACH(s16, 32, v)
    return r.i;
}

OPERATION __m512i c_set1_epi32(int v)
{
    EACH(s32, 16, v)
    return r.i;
}

OPERATION __m512 c_set1_ps(float v)
{
    EACH(f32, 16, v)
    return r.f;
}

OPERATION __m512i c_of_epi32(const int *all)
{
    EACH(s32, 16, all[k])
    return r.i;
}

OPERATION __m512i c_setr_epi64(long long a, long long b, long long c, long long d, long long e,
                               long long f, long long g, long long h)
{
    const long long all[8] = {a, b, c, d, e, f, g, h};
    EACH(u64, 8, all[k])
    return r.i;
}

OPERATION __m512i c_alignr_epi32(__m512i x, __m512i y, unsigned n)
{
    const union lanes a = {.i = x}, b = {.i = y};
    EACH(u32, 16, (unsigned)k + n < 16 ? b.u32[(unsigned)k + n] : a.u32[(unsigned)k + n - 16])
    return r.i;
}

OPERATION __m512i c_permutex2var_epi64(__m512i x, __m512i index, __m512i y)
{
    const union lanes a = {.i = x}, b = {.i = y}, at = {.i = index};
    EACH(u64, 8, (at.u64[k] & 8 ? b : a).u64[at.u64[k] % 8])
    return r.i;
}

OPERATION __m512i c_permutex2var_epi8(__m512i x, __m512i index, __m512i y)
{
    const union lanes a = {.i = x}, b = {.i = y}, at = {.i = index};
    EACH(u8, 64, (at.u8[k] & 64 ? b : a).u8[at.u8[k] % 64])
    return r.i;
}

OPERATION __m512i c_mask_blend_epi16(uint32_t mask, __m512i x, __m512i y)
{
    const union lanes a = {.i = x}, b = {.i = y};
    EACH(u16, 32, (mask >> k & 1 ? b : a).u16[k])
    return r.i;
}

OPERATION __m512i c_broadcast_i32x4(__m128i x)
{
    const union lanes r = {.quarter = {x, x, x, x}};
    return r.i;
}

OPERATION __m256i c_extracti64x4_epi64(__m512i x, int n)
{
    const union lanes a = {.i = x};
    return a.half[n];
}

OPERATION __m512i c_inserti64x4(__m512i x, __m256i y, int n)
{
    union lanes a = {.i = x};

    a.half[n] = y;
    return a.i;
}

OPERATION __m512i c_loadu_si512(const void *p)
{
    __m512i r;

    memcpy(&r, p, sizeof(r));
    return r;
}

OPERATION void c_storeu_si512(void *p, __m512i a)
{
    memcpy(p, &a, sizeof(a));
}

OPERATION __m512 c_loadu_ps(const void *p)
{
    __m512 r;

    memcpy(&r, p, sizeof(r));
    return r;
}

OPERATION void c_storeu_ps(void *p, __m512 a)
{
    memcpy(p, &a, sizeof(a));
}

OPERATION __m512i c_dpwssd(__m512i sum, __m512i x, __m512i y)
{
    return c_add_epi32(sum, c_madd_epi16(x, y));
}

/* The compiler may have macros for some of them. */
#undef _mm512_add_epi16
#undef _mm512_add_epi32
#undef _mm512_add_ph
#undef _mm512_add_ps
#undef _mm512_adds_epi16
#undef _mm512_adds_epu16
#undef _mm512_alignr_epi32
#undef _mm512_and_si512
#undef _mm512_avg_epu16
#undef _mm512_broadcast_i32x4
#undef _mm512_castps_si512
#undef _mm512_castsi256_si512
#undef _mm512_castsi512_ph
#undef _mm512_castsi512_ps
#undef _mm512_castsi512_si256
#undef _mm512_cvtepi16_epi32
#undef _mm512_cvtepi16_ph
#undef _mm512_cvtepi32_epi16
#undef _mm512_cvtepi32_ps
#undef _mm512_cvtepu16_epi32
#undef _mm512_cvtepu8_epi16
#undef _mm512_cvtepu8_epi32
#undef _mm512_cvtph_epu16
#undef _mm512_cvtph_ps
#undef _mm512_cvttps_epi32
#undef _mm512_cvtusepi16_epi8
#undef _mm512_cvtusepi32_epi8
#undef _mm512_div_ps
#undef _mm512_extracti64x4_epi64
#undef _mm512_fmadd_ph
#undef _mm512_inserti64x4
#undef _mm512_loadu_ph
#undef _mm512_loadu_ps
#undef _mm512_loadu_si512
#undef _mm512_madd_epi16
#undef _mm512_maddubs_epi16
#undef _mm512_mask_blend_epi16
#undef _mm512_max_epi16
#undef _mm512_max_epi32
#undef _mm512_min_epu16
#undef _mm512_min_ps
#undef _mm512_mul_ph
#undef _mm512_mul_ps
#undef _mm512_mulhi_epu16
#undef _mm512_mulhrs_epi16
#undef _mm512_mullo_epi16
#undef _mm512_or_si512
#undef _mm512_packs_epi16
#undef _mm512_packs_epi32
#undef _mm512_packus_epi16
#undef _mm512_permutex2var_epi64
#undef _mm512_permutex2var_epi8
#undef _mm512_permutexvar_epi32
#undef _mm512_set1_epi16
#undef _mm512_set1_epi32
#undef _mm512_set1_epi8
#undef _mm512_set1_ps
#undef _mm512_setr_epi32
#undef _mm512_setr_epi64
#undef _mm512_setzero_si512
#undef _mm512_shuffle_epi8
#undef _mm512_sll_epi16
#undef _mm512_slli_epi16
#undef _mm512_slli_epi32
#undef _mm512_sllv_epi16
#undef _mm512_srai_epi16
#undef _mm512_srl_epi16
#undef _mm512_srli_epi16
#undef _mm512_srli_epi32
#undef _mm512_storeu_ph
#undef _mm512_storeu_ps
#undef _mm512_storeu_si512
#undef _mm512_sub_epi16
#undef _mm512_sub_epi32
#undef _mm512_sub_ph
#undef _mm512_sub_ps
#undef _mm512_subs_epi16
#undef _mm512_subs_epu16
#undef _mm512_unpackhi_epi8
#undef _mm512_unpacklo_epi8
#undef _mm512_xor_si512

#define _mm512_add_epi16 c_add_epi16
#define _mm512_add_epi32 c_add_epi32
#define _mm512_add_ph c_add_ph
#define _mm512_add_ps c_add_ps
#define _mm512_adds_epi16 c_adds_epi16
#define _mm512_adds_epu16 c_adds_epu16
#define _mm512_alignr_epi32 c_alignr_epi32
#define _mm512_and_si512 c_and_si512
#define _mm512_avg_epu16 c_avg_epu16
#define _mm512_broadcast_i32x4 c_broadcast_i32x4
#define _mm512_castps_si512(a) ((union lanes){.f = (a)}.i)
#define _mm512_castsi256_si512(a) ((union lanes){.half = {(a)}}.i)
#define _mm512_castsi512_ph(a) (a)
#define _mm512_castsi512_ps(a) ((union lanes){.i = (a)}.f)
#define _mm512_castsi512_si256(a) ((union lanes){.i = (a)}.half[0])
#define _mm512_cvtepi16_epi32 c_cvtepi16_epi32
#define _mm512_cvtepi16_ph c_cvtepi16_ph
#define _mm512_cvtepi32_epi16 c_cvtepi32_epi16
#define _mm512_cvtepi32_ps c_cvtepi32_ps
#define _mm512_cvtepu16_epi32 c_cvtepu16_epi32
#define _mm512_cvtepu8_epi16 c_cvtepu8_epi16
#define _mm512_cvtepu8_epi32 c_cvtepu8_epi32
#define _mm512_cvtph_epu16 c_cvtph_epu16
#define _mm512_cvtph_ps c_cvtph_ps
#define _mm512_cvttps_epi32 c_cvttps_epi32
#define _mm512_cvtusepi16_epi8 c_cvtusepi16_epi8
#define _mm512_cvtusepi32_epi8 c_cvtusepi32_epi8
#define _mm512_div_ps c_div_ps
#define _mm512_extracti64x4_epi64 c_extracti64x4_epi64
#define _mm512_fmadd_ph c_fmadd_ph
#define _mm512_inserti64x4 c_inserti64x4
#define _mm512_loadu_ph c_loadu_si512
#define _mm512_loadu_ps c_loadu_ps
#define _mm512_loadu_si512 c_loadu_si512
#define _mm512_madd_epi16 c_madd_epi16
#define _mm512_maddubs_epi16 c_maddubs_epi16
#define _mm512_mask_blend_epi16 c_mask_blend_epi16
#define _mm512_max_epi16 c_max_epi16
#define _mm512_max_epi32 c_max_epi32
#define _mm512_min_epu16 c_min_epu16
#define _mm512_min_ps c_min_ps
#define _mm512_mul_ph c_mul_ph
#define _mm512_mul_ps c_mul_ps
#define _mm512_mulhi_epu16 c_mulhi_epu16
#define _mm512_mulhrs_epi16 c_mulhrs_epi16
#define _mm512_mullo_epi16 c_mullo_epi16
#define _mm512_or_si512 c_or_si512
#define _mm512_packs_epi16 c_packs_epi16
#define _mm512_packs_epi32 c_packs_epi32
#define _mm512_packus_epi16 c_packus_epi16
#define _mm512_permutex2var_epi64 c_permutex2var_epi64
#define _mm512_permutex2var_epi8 c_permutex2var_epi8
#define _mm512_permutexvar_epi32 c_permutexvar_epi32
#define _mm512_set1_epi16 c_set1_epi16
#define _mm512_set1_epi32 c_set1_epi32
#define _mm512_set1_epi8 c_set1_epi8
#define _mm512_set1_ps c_set1_ps
#define _mm512_setr_epi32(...) c_of_epi32((const int[16]){__VA_ARGS__})
#define _mm512_setr_epi64 c_setr_epi64
#define _mm512_setzero_si512() c_set1_epi32(0)
#define _mm512_shuffle_epi8 c_shuffle_epi8
#define _mm512_sll_epi16 c_sll_epi16
#define _mm512_slli_epi16 c_slli_epi16
#define _mm512_slli_epi32 c_slli_epi32
#define _mm512_sllv_epi16 c_sllv_epi16
#define _mm512_srai_epi16 c_srai_epi16
#define _mm512_srl_epi16 c_srl_epi16
#define _mm512_srli_epi16 c_srli_epi16
#define _mm512_srli_epi32 c_srli_epi32
#define _mm512_storeu_ph c_storeu_si512
#define _mm512_storeu_ps c_storeu_ps
#define _mm512_storeu_si512 c_storeu_si512
#define _mm512_sub_epi16 c_sub_epi16
#define _mm512_sub_epi32 c_sub_epi32
#define _mm512_sub_ph c_sub_ph
#define _mm512_sub_ps c_sub_ps
#define _mm512_subs_epi16 c_subs_epi16
#define _mm512_subs_epu16 c_subs_epu16
#define _mm512_unpackhi_epi8 c_unpackhi_epi8
#define _mm512_unpacklo_epi8 c_unpacklo_epi8
#define _mm512_xor_si512 c_xor_si512

/* The one instruction that is written as such: sum, a and b are the names there. */
#define __asm__(...) (*sum = c_dpwssd(*sum, a, b))
