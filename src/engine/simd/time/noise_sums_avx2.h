#pragma once
/* The sums of a block with AVX2 and all that has it: the same integers as those of noise_sums.h. A
 * vector has 16 samples of a component, which are one row of it or two, so that sums of vectors
 * are sums over columns; no lane of them leaves 16 bits, nor one of their products 32. */
#include <immintrin.h>

#include "engine/simd/time/noise_samples.h"

#define NOISE_LANES 16

static inline __m256i noise_vector(const int16_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline __m256i noise_vector_of_bytes(const uint8_t *p)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}

/* The sums of the lanes of four vectors. */
static inline void noise_totals(int32_t ret[4], __m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));

    _mm_storeu_si128((__m128i *)(void *)ret,
                     _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
}

/* The samples of component @i, less those @before unless that is NULL, and their S, A, B, S_ii. For
 * B, whose weights grow by the same from vector to vector, each vector counts with the last
 * one's weights, less that growth for each vector behind it. */
static inline __attribute__((always_inline)) void
noise_sum(struct noise_moments *m, int i, struct noise_samples *c, const struct noise_bytes *now,
          const struct noise_bytes *before, const struct noise_shape *shape)
{
    const int16_t *last = shape->down.at + shape->n - NOISE_LANES;
    const int16_t growth = (int16_t)(last[0] - last[-NOISE_LANES]);
    __m256i columns = _mm256_setzero_si256(), behind = columns, squares = columns;
    int32_t total[4];

    for (int k = 0; k < shape->n; k += NOISE_LANES) {
        __m256i v = noise_vector_of_bytes(now->at + k);

        if (before)
            v = _mm256_sub_epi16(v, noise_vector_of_bytes(before->at + k));
        _mm256_storeu_si256((__m256i *)(void *)(c->at + k), v);
        behind = _mm256_add_epi16(behind, columns);
        columns = _mm256_add_epi16(columns, v);
        squares = _mm256_add_epi32(squares, _mm256_madd_epi16(v, v));
    }
    noise_totals(total, _mm256_madd_epi16(columns, noise_vector(shape->one.at)),
                 _mm256_madd_epi16(columns, noise_vector(shape->across.at)),
                 _mm256_sub_epi32(_mm256_madd_epi16(columns, noise_vector(last)),
                                  _mm256_madd_epi16(behind, _mm256_set1_epi16(growth))),
                 squares);
    m->s[i] = total[0];
    m->a[i] = total[1];
    m->b[i] = total[2];
    m->ss[i][i] = total[3] * shape->pixels;
}

/* Luma added up over the pixels of each of 16 samples of chroma, from number @k on. */
static inline __m256i noise_fold(const int16_t *luma, const struct noise_shape *chroma, int k)
{
    const int16_t *p = luma + k * chroma->pixels;
    __m256i a, b;

    if (!chroma->hshift)
        return noise_vector(p);
    if (chroma->vshift) {
        a = _mm256_add_epi16(noise_vector(p), noise_vector(p + 16));
        b = _mm256_add_epi16(noise_vector(p + 32), noise_vector(p + 48));
    } else {
        a = noise_vector(p);
        b = noise_vector(p + 16);
    }
    return _mm256_permute4x64_epi64(_mm256_hadd_epi16(a, b), 0xD8);
}

/* S_ij of different components. */
static inline void noise_products(struct noise_moments *m, const struct noise_samples c[3],
                                  const struct noise_shape *chroma)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i yu = zero, yv = zero, uv = zero;
    int32_t total[4];

    for (int k = 0; k < chroma->n; k += NOISE_LANES) {
        const __m256i y = noise_fold(c[0].at, chroma, k);
        const __m256i u = noise_vector(c[1].at + k), v = noise_vector(c[2].at + k);

        yu = _mm256_add_epi32(yu, _mm256_madd_epi16(y, u));
        yv = _mm256_add_epi32(yv, _mm256_madd_epi16(y, v));
        uv = _mm256_add_epi32(uv, _mm256_madd_epi16(u, v));
    }
    noise_totals(total, yu, yv, uv, zero);
    m->ss[0][1] = m->ss[1][0] = total[0];
    m->ss[0][2] = m->ss[2][0] = total[1];
    m->ss[1][2] = m->ss[2][1] = total[2] * chroma->pixels;
}

/* All sums of a block: of itself, or, with @before, of what is different; @c are its samples. */
NOISE_STEP void noise_sum_all(struct noise_moments *m, struct noise_samples c[3],
                              const struct noise_bytes now[3], const struct noise_bytes *before,
                              const struct noise_shape shape[2], int components)
{
    for (int i = 0; i < components; i++)
        if (before)
            noise_sum(m, i, &c[i], &now[i], &before[i], &shape[i > 0]);
        else
            noise_sum(m, i, &c[i], &now[i], NULL, &shape[i > 0]);
    if (components > 1)
        noise_products(m, c, &shape[1]);
}
