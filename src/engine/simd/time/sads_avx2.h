#pragma once
/* Sums of absolute differences for AVX2 and all that has it, as search_rows.h wants them. All sums
 * of a window fit 16 bits. */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* 16 bytes of each of two rows. */
static inline __m256i sads_load(const uint8_t *p, ptrdiff_t stride)
{
    return _mm256_loadu2_m128i((const __m128i *)(const void *)(p + stride),
                               (const __m128i *)(const void *)p);
}

/* Words are far below 32768. */
static inline __m256i sads_add(__m256i sum, __m256i a, __m256i b, const int bytes)
{
    return _mm256_add_epi16(sum, bytes == 1 ? _mm256_sad_epu8(a, b)
                                            : _mm256_abs_epi16(_mm256_sub_epi16(a, b)));
}

/* The sums of the lanes of eight vectors. */
static inline __m256i sads_total(const __m256i s[8])
{
    const __m256i a = _mm256_hadd_epi16(_mm256_hadd_epi16(s[0], s[1]), //
                                        _mm256_hadd_epi16(s[2], s[3]));
    const __m256i b = _mm256_hadd_epi16(_mm256_hadd_epi16(s[4], s[5]), //
                                        _mm256_hadd_epi16(s[6], s[7]));
    const __m256i both = _mm256_hadd_epi16(a, b);

    return _mm256_cvtepu16_epi32(
        _mm_add_epi16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1)));
}

/* One window against three, of which @b is the one in the middle. */
static inline void sads_three(__m256i sum[3], __m256i window, const uint8_t *b, ptrdiff_t stride,
                              const int bytes)
{
    for (int i = 0; i < 3; i++)
        sum[i] = sads_add(sum[i], window, sads_load(b + (i - 1) * bytes, stride), bytes);
}

/* Of windows of @rows rows of 16 bytes, in samples of @bytes bytes. A pair of rows that starts with
 * an odd one is below one pair of the window and above the next: it is loaded once for both. */
static inline __attribute__((always_inline)) void sads_around(int32_t ret[9], const uint8_t *a,
                                                              const uint8_t *b, ptrdiff_t stride,
                                                              const int bytes, const int rows)
{
    const __m256i zero = _mm256_setzero_si256();
    const int shift = bytes == 1 ? 2 : 0;
    __m256i sum[9] = {zero, zero, zero, zero, zero, zero, zero, zero, zero};
    __m256i window = sads_load(a, stride), last[8];

    sads_three(sum, window, b - stride, stride, bytes);
    for (int y = 2; y < rows; y += 2, b += 2 * stride) {
        const __m256i above = window;

        window = sads_load(a + y * stride, stride);
        sads_three(sum + 3, above, b, stride, bytes);
        for (int i = 0; i < 3; i++) {
            const __m256i odd = sads_load(b + stride + (i - 1) * bytes, stride);

            sum[6 + i] = sads_add(sum[6 + i], above, odd, bytes);
            sum[i] = sads_add(sum[i], window, odd, bytes);
        }
    }
    sads_three(sum + 3, window, b, stride, bytes);
    sads_three(sum + 6, window, b + stride, stride, bytes);
    _mm256_storeu_si256((__m256i *)(void *)ret, _mm256_slli_epi32(sads_total(sum), shift));
    for (int i = 0; i < 8; i++)
        last[i] = sum[8];
    ret[8] = _mm256_cvtsi256_si32(sads_total(last)) << shift;
}

/* Not inlined: the search around them would leave too few registers. */
static __attribute__((noinline)) void sads_16x16(int32_t ret[9], const uint8_t *a, const uint8_t *b,
                                                 size_t stride)
{
    sads_around(ret, a, b, (ptrdiff_t)stride, 1, 16);
}

static __attribute__((noinline)) void sads_8x8(int32_t ret[9], const uint16_t *a, const uint16_t *b,
                                               size_t stride)
{
    sads_around(ret, (const uint8_t *)a, (const uint8_t *)b, 2 * (ptrdiff_t)stride, 2, 8);
}

static inline int32_t sad_16x16(const uint8_t *a, const uint8_t *b, size_t stride)
{
    __m256i sum = _mm256_setzero_si256();
    __m128i half;

    for (int y = 0; y < 16; y += 2, a += 2 * stride, b += 2 * stride)
        sum = sads_add(sum, sads_load(a, (ptrdiff_t)stride), sads_load(b, (ptrdiff_t)stride), 1);
    half = _mm_add_epi16(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    return (_mm_cvtsi128_si32(half) + _mm_extract_epi32(half, 2)) * 4;
}
