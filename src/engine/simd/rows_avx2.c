/* Row kernels for processors with AVX2: 16 pixels or pixel pairs at a time. */
#include <immintrin.h>

#include "engine/simd/rows.h"
#include "engine/simd/time/sads_avx2.h"

#define LANES 16

typedef __m256i V;
typedef __m256i I;
typedef __m256 F;

#define OP(type, name, args, expression)                                                           \
    static inline type name args                                                                   \
    {                                                                                              \
        return expression;                                                                         \
    }

OP(V, v_load, (const int16_t *p), _mm256_loadu_si256((const __m256i *)(const void *)p))
OP(V, v_set1, (int a), _mm256_set1_epi16((short)a))
OP(V, v_dup, (uint32_t a), _mm256_set1_epi32((int)a))
OP(V, v_add, (V a, V b), _mm256_add_epi16(a, b))
OP(V, v_sub, (V a, V b), _mm256_sub_epi16(a, b))
OP(V, v_add_sat, (V a, V b), _mm256_adds_epi16(a, b))
OP(V, v_sub_sat, (V a, V b), _mm256_subs_epi16(a, b))
OP(V, v_add_sat_u, (V a, V b), _mm256_adds_epu16(a, b))
OP(V, v_sub_sat_u, (V a, V b), _mm256_subs_epu16(a, b))
OP(V, v_min_u, (V a, V b), _mm256_min_epu16(a, b))
OP(V, v_avg_u, (V a, V b), _mm256_avg_epu16(a, b))
OP(V, v_shl, (V a, int n), _mm256_sll_epi16(a, _mm_cvtsi32_si128(n)))
OP(V, v_shr1_u, (V a), _mm256_srli_epi16(a, 1))
OP(V, v_shr7_u, (V a), _mm256_srli_epi16(a, 7))
OP(V, v_shr12_u, (V a), _mm256_srli_epi16(a, 12))
OP(V, v_shl3, (V a), _mm256_slli_epi16(a, 3))
OP(V, v_or, (V a, V b), _mm256_or_si256(a, b))
OP(V, v_mulhrs, (V a, V b), _mm256_mulhrs_epi16(a, b))
OP(V, v_mullo, (V a, V b), _mm256_mullo_epi16(a, b))
OP(V, v_mulhi_u, (V a, V b), _mm256_mulhi_epu16(a, b))

/* Looked up, low and high bytes of both. */
static inline void v_powers(V *a, V *b)
{
    const V low = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(1, 3, 5, 9, 17, 33, 65, -127, 1, 1, 1, 1, 1, 1, 1, 1));
    const V high = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, -128));
    const V both = _mm256_packus_epi16(*a, *b);
    const V lows = _mm256_shuffle_epi8(low, both), highs = _mm256_shuffle_epi8(high, both);

    *a = _mm256_unpacklo_epi8(lows, highs);
    *b = _mm256_unpackhi_epi8(lows, highs);
}

/* Bytes are interleaved within 128-bit halves, and so are the sums. */
static inline void v_pair_u8(const uint8_t *a, const uint8_t *b, V *first, V *second)
{
    const __m256i p = _mm256_loadu_si256((const __m256i *)(const void *)a);
    const __m256i q = _mm256_loadu_si256((const __m256i *)(const void *)b);
    const __m256i unit = _mm256_set1_epi8(BLUR_UNIT);

    *first = _mm256_maddubs_epi16(_mm256_unpacklo_epi8(p, q), unit);
    *second = _mm256_maddubs_epi16(_mm256_unpackhi_epi8(p, q), unit);
}

static inline V v_load_u8(const uint8_t *p)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);

    return _mm256_xor_si256(_mm256_slli_epi16(_mm256_cvtepu8_epi16(bytes), 8),
                            _mm256_set1_epi16(-32768));
}

/* Packing works within 128-bit halves; the permutation puts the quarters back in order. */
static inline V v_join(I low, I high)
{
    return _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
}

static inline void v_store_u8(uint8_t *p, V a)
{
    const V packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(a, a), 0xD8);

    _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(packed));
}

OP(I, i_low_s, (V a), _mm256_cvtepi16_epi32(_mm256_castsi256_si128(a)))
OP(I, i_high_s, (V a), _mm256_cvtepi16_epi32(_mm256_extracti128_si256(a, 1)))
OP(I, i_low_u, (V a), _mm256_cvtepu16_epi32(_mm256_castsi256_si128(a)))
OP(I, i_high_u, (V a), _mm256_cvtepu16_epi32(_mm256_extracti128_si256(a, 1)))
OP(I, i_last, (I a), _mm256_permutevar8x32_epi32(a, _mm256_set1_epi32(7)))
OP(I, i_add, (I a, I b), _mm256_add_epi32(a, b))
OP(I, i_sub, (I a, I b), _mm256_sub_epi32(a, b))
OP(I, i_shl7, (I a), _mm256_slli_epi32(a, 7))
OP(I, i_from_f, (F a), _mm256_cvttps_epi32(a))

static inline void v_store(int16_t *p, V a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, a);
}

OP(I, i_load, (const uint32_t *p), _mm256_loadu_si256((const __m256i *)(const void *)p))
static inline void i_store(uint32_t *p, I a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, a);
}

/* Within halves, and then what is in the lower one goes to the upper one. */
static inline I i_running(I a)
{
    a = _mm256_add_epi32(a, _mm256_slli_si256(a, 4));
    a = _mm256_add_epi32(a, _mm256_slli_si256(a, 8));
    return _mm256_add_epi32(a, _mm256_shuffle_epi32(_mm256_permute2x128_si256(a, a, 0x08), 0xFF));
}

static inline void v_store_pair(int16_t *p, V first, V second)
{
    v_store(p, _mm256_permute2x128_si256(first, second, 0x20));
    v_store(p + LANES, _mm256_permute2x128_si256(first, second, 0x31));
}

static inline void f_store(float *p, F a)
{
    _mm256_storeu_ps(p, a);
}

OP(F, f_from_i, (I a), _mm256_cvtepi32_ps(a))
OP(F, f_set1, (float a), _mm256_set1_ps(a))
OP(F, f_load, (const float *p), _mm256_loadu_ps(p))
OP(F, f_add, (F a, F b), _mm256_add_ps(a, b))
OP(F, f_sub, (F a, F b), _mm256_sub_ps(a, b))
OP(F, f_mul, (F a, F b), _mm256_mul_ps(a, b))
OP(F, f_div, (F a, F b), _mm256_div_ps(a, b))
OP(F, f_min, (F a, F b), _mm256_min_ps(a, b))

static inline F f_lower_exponent(F p, F t)
{
    return _mm256_castsi256_ps(
        _mm256_sub_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(_mm256_castps_si256(t), 23)));
}

#include "engine/simd/rows_kernels.h"

const struct row_kernels row_kernels_avx2 = {.name = "avx2", .label = "AVX2", ROW_KERNELS};
