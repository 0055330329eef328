/* The vector operations of rows_kernels.h in AVX-512F, BW, DQ and VL: 32 pixels or pixel pairs
 * at a time. */
#include <immintrin.h>

#include "engine/simd/rows.h"
#include "engine/simd/time/sads_avx2.h"

#define LANES 32

typedef __m512i V;
typedef __m512i I;
typedef __m512 F;

#define OP(type, name, args, expression)                                                           \
    static inline type name args                                                                   \
    {                                                                                              \
        return expression;                                                                         \
    }

OP(V, v_load, (const int16_t *p), _mm512_loadu_si512(p))
OP(V, v_set1, (int a), _mm512_set1_epi16((short)a))
OP(V, v_dup, (uint32_t a), _mm512_set1_epi32((int)a))
OP(V, v_add, (V a, V b), _mm512_add_epi16(a, b))
OP(V, v_sub, (V a, V b), _mm512_sub_epi16(a, b))
OP(V, v_add_sat, (V a, V b), _mm512_adds_epi16(a, b))
OP(V, v_sub_sat, (V a, V b), _mm512_subs_epi16(a, b))
OP(V, v_add_sat_u, (V a, V b), _mm512_adds_epu16(a, b))
OP(V, v_sub_sat_u, (V a, V b), _mm512_subs_epu16(a, b))
OP(V, v_min_u, (V a, V b), _mm512_min_epu16(a, b))
OP(V, v_avg_u, (V a, V b), _mm512_avg_epu16(a, b))
OP(V, v_shl, (V a, int n), _mm512_sll_epi16(a, _mm_cvtsi32_si128(n)))
OP(V, v_shr1_u, (V a), _mm512_srli_epi16(a, 1))
OP(V, v_shr7_u, (V a), _mm512_srli_epi16(a, 7))
OP(V, v_shr12_u, (V a), _mm512_srli_epi16(a, 12))
OP(V, v_shl3, (V a), _mm512_slli_epi16(a, 3))
OP(V, v_or, (V a, V b), _mm512_or_si512(a, b))
OP(V, v_mulhrs, (V a, V b), _mm512_mulhrs_epi16(a, b))
OP(V, v_mullo, (V a, V b), _mm512_mullo_epi16(a, b))
OP(V, v_mulhi_u, (V a, V b), _mm512_mulhi_epu16(a, b))

static inline void v_powers(V *a, V *b)
{
    const V one = _mm512_set1_epi16(1);

    *a = _mm512_or_si512(_mm512_sllv_epi16(one, *a), one);
    *b = _mm512_or_si512(_mm512_sllv_epi16(one, *b), one);
}

/* Bytes are interleaved within quarters of 128 bits, and so are the sums. */
static inline void v_pair_u8(const uint8_t *a, const uint8_t *b, V *first, V *second)
{
    const __m512i p = _mm512_loadu_si512(a), q = _mm512_loadu_si512(b);
    const __m512i unit = _mm512_set1_epi8(BLUR_UNIT);

    *first = _mm512_maddubs_epi16(_mm512_unpacklo_epi8(p, q), unit);
    *second = _mm512_maddubs_epi16(_mm512_unpackhi_epi8(p, q), unit);
}

static inline V v_load_u8(const uint8_t *p)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)p);

    return _mm512_xor_si512(_mm512_slli_epi16(_mm512_cvtepu8_epi16(bytes), 8),
                            _mm512_set1_epi16(-32768));
}

static inline V v_join(I low, I high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(low)),
                              _mm512_cvtepi32_epi16(high), 1);
}

static inline void v_store_u8(uint8_t *p, V a)
{
    const V positive = _mm512_max_epi16(a, _mm512_setzero_si512());

    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtusepi16_epi8(positive));
}

OP(I, i_low_s, (V a), _mm512_cvtepi16_epi32(_mm512_castsi512_si256(a)))
OP(I, i_high_s, (V a), _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(a, 1)))
OP(I, i_low_u, (V a), _mm512_cvtepu16_epi32(_mm512_castsi512_si256(a)))
OP(I, i_high_u, (V a), _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(a, 1)))
OP(I, i_last, (I a), _mm512_permutexvar_epi32(_mm512_set1_epi32(15), a))
OP(I, i_add, (I a, I b), _mm512_add_epi32(a, b))
OP(I, i_sub, (I a, I b), _mm512_sub_epi32(a, b))
OP(I, i_shl7, (I a), _mm512_slli_epi32(a, 7))
OP(I, i_from_f, (F a), _mm512_cvttps_epi32(a))

static inline void v_store(int16_t *p, V a)
{
    _mm512_storeu_si512(p, a);
}

OP(I, i_load, (const uint32_t *p), _mm512_loadu_si512(p))
static inline void i_store(uint32_t *p, I a)
{
    _mm512_storeu_si512(p, a);
}

static inline I i_running(I a)
{
    const I zero = _mm512_setzero_si512();

    a = _mm512_add_epi32(a, _mm512_alignr_epi32(a, zero, 15));
    a = _mm512_add_epi32(a, _mm512_alignr_epi32(a, zero, 14));
    a = _mm512_add_epi32(a, _mm512_alignr_epi32(a, zero, 12));
    return _mm512_add_epi32(a, _mm512_alignr_epi32(a, zero, 8));
}

static inline void v_store_pair(int16_t *p, V first, V second)
{
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);

    v_store(p, _mm512_permutex2var_epi64(first, low, second));
    v_store(p + LANES, _mm512_permutex2var_epi64(first, high, second));
}

static inline void f_store(float *p, F a)
{
    _mm512_storeu_ps(p, a);
}

OP(F, f_from_i, (I a), _mm512_cvtepi32_ps(a))
OP(F, f_set1, (float a), _mm512_set1_ps(a))
OP(F, f_load, (const float *p), _mm512_loadu_ps(p))
OP(F, f_add, (F a, F b), _mm512_add_ps(a, b))
OP(F, f_sub, (F a, F b), _mm512_sub_ps(a, b))
OP(F, f_mul, (F a, F b), _mm512_mul_ps(a, b))
OP(F, f_div, (F a, F b), _mm512_div_ps(a, b))
OP(F, f_min, (F a, F b), _mm512_min_ps(a, b))

static inline F f_lower_exponent(F p, F t)
{
    return _mm512_castsi512_ps(
        _mm512_sub_epi32(_mm512_castps_si512(p), _mm512_slli_epi32(_mm512_castps_si512(t), 23)));
}
