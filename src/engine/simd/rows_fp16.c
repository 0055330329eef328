/* Row kernels for processors that compute in half precision (AVX-512-FP16): those of
 * rows_avx512.c, and ROWS_HALF. */
#include "engine/simd/ops_avx512.h"

#include "engine/simd/rows_kernels.h"

typedef __m512h H;

OP(H, h_from_bits, (V a), _mm512_castsi512_ph(a))
OP(H, h_set1, (int bits), h_from_bits(v_set1(bits)))
OP(H, h_load, (const int16_t *p), _mm512_loadu_ph(p))
OP(H, h_add, (H a, H b), _mm512_add_ph(a, b))
OP(H, h_sub, (H a, H b), _mm512_sub_ph(a, b))
OP(H, h_mul, (H a, H b), _mm512_mul_ph(a, b))
OP(H, h_fma, (H a, H b, H c), _mm512_fmadd_ph(a, b, c))
OP(V, h_to_u, (H a), _mm512_cvtph_epu16(a))
OP(F, f_load_half, (const int16_t *p),
   _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p)))

static inline void h_store(int16_t *p, H a)
{
    _mm512_storeu_ph(p, a);
}

/* Samples less 128: of LANES bytes, and of every other one of twice as many. */
OP(H, h_from_u8, (V a), _mm512_cvtepi16_ph(v_sub(a, v_set1(128))))
OP(H, h_load_u8, (const uint8_t *p),
   h_from_u8(_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)p))))
OP(H, h_load_even_u8, (const uint8_t *p),
   h_from_u8(_mm512_and_si512(_mm512_loadu_si512(p), v_set1(255))))
OP(H, h_load_odd_u8, (const uint8_t *p), h_from_u8(_mm512_srli_epi16(_mm512_loadu_si512(p), 8)))

/* LANES bytes to each of two rows, @a[half][row], of integers that are cut off. */
static inline void i_store_u8(uint8_t *p, uint8_t *q, I a[2][2])
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const V words[2] = {_mm512_packs_epi32(a[0][0], a[1][0]), _mm512_packs_epi32(a[0][1], a[1][1])};
    const V bytes = _mm512_permutexvar_epi32(order, _mm512_packus_epi16(words[0], words[1]));

    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_castsi512_si256(bytes));
    _mm256_storeu_si256((__m256i *)(void *)q, _mm512_extracti64x4_epi64(bytes, 1));
}

#include "engine/simd/rows_half.h"

const struct row_kernels row_kernels_fp16 = {
    .name = "fp16",
    .label = "AVX-512-FP16",
    .prefers = ROWS_HALF,
    ROW_KERNELS,
    HALF_KERNELS,
};
