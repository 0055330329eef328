#pragma once
/* The sum of absolute differences of two blocks of 16x16 bytes, for AVX2 and all that has it. */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* Two rows at a time. */
static inline int sad_16x16(const uint8_t window[256], const uint8_t *p, size_t stride)
{
    __m256i sum = _mm256_setzero_si256();
    __m128i half;

    for (int y = 0; y < 16; y += 2, p += 2 * stride) {
        const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(window + 16 * y));
        const __m256i b = _mm256_loadu2_m128i((const __m128i *)(const void *)(p + stride),
                                              (const __m128i *)(const void *)p);

        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(a, b));
    }
    half = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    return _mm_cvtsi128_si32(half) + _mm_extract_epi32(half, 2);
}
