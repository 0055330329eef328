#pragma once
/* The sums of 64 times E over the cells of a block, with AVX2 and all that has it: the same
 * integers as those of noise_left.h. They fit 16 bits. A vector has two rows of cells, each of six
 * and two columns of nothing. */
#include <immintrin.h>

#include "engine/simd/time/noise_samples.h"

#define NOISE_CELL_PAIRS 3 /* rows of cells, two by two */

struct noise_cells {
    __m256i rows[NOISE_CELL_PAIRS];
};

/* 16 numbers from @p on, or 8 from @p and 8 from @q on. */
static inline __m256i noise_load(const int16_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline __m256i noise_load_two(const int16_t *p, const int16_t *q)
{
    return _mm256_loadu2_m128i((const __m128i *)(const void *)q, (const __m128i *)(const void *)p);
}

/* Rows weighed 1 3 3 1. */
static inline __m256i noise_down(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i middle = _mm256_add_epi16(b, c);

    return _mm256_add_epi16(_mm256_add_epi16(a, d),
                            _mm256_add_epi16(middle, _mm256_add_epi16(middle, middle)));
}

/* Of a component with 16 columns: a row of cells in 32 bits, and two of them. */
static inline __m256i noise_wide_row(const int16_t *row)
{
    const __m256i down = noise_down(noise_load(row), noise_load(row + 16), noise_load(row + 32),
                                    noise_load(row + 48));
    const __m256i upper = _mm256_permute2x128_si256(down, down, 0x81);
    const __m256i left = _mm256_set1_epi32(3 << 16 | 1), right = _mm256_set1_epi32(1 << 16 | 3);

    return _mm256_add_epi32(_mm256_madd_epi16(_mm256_alignr_epi8(upper, down, 2), left),
                            _mm256_madd_epi16(_mm256_alignr_epi8(upper, down, 6), right));
}

static inline __m256i noise_wide(const int16_t *row)
{
    return _mm256_permute4x64_epi64(
        _mm256_packs_epi32(noise_wide_row(row), noise_wide_row(row + 32)), 0xD8);
}

/* Of one with 8, each shared by two pixels; by those of two rows, too, if @shared. */
static inline __m256i noise_narrow(const int16_t *row, const bool shared)
{
    const int next = shared ? 8 : 16; /* to the second row of cells */
    const __m256i a = noise_load_two(row, row + next);
    const __m256i b = noise_load_two(row + 8, row + 8 + next);
    const __m256i c = noise_load_two(row + 16, row + 16 + next), six = _mm256_set1_epi16(6);
    const __m256i down = shared
                             ? _mm256_add_epi16(_mm256_add_epi16(a, c), _mm256_mullo_epi16(b, six))
                             : noise_down(a, b, c, noise_load_two(row + 24, row + 24 + next));

    return _mm256_add_epi16(_mm256_add_epi16(down, _mm256_srli_si256(down, 4)),
                            _mm256_mullo_epi16(_mm256_srli_si256(down, 2), six));
}

static inline void noise_cells(struct noise_cells *to, const struct noise_samples *from,
                               const struct noise_shape *shape)
{
    const __m256i inside = _mm256_setr_epi16(-1, -1, -1, -1, -1, -1, 0, 0, //
                                             -1, -1, -1, -1, -1, -1, 0, 0);

    for (int i = 0; i < NOISE_CELL_PAIRS; i++) {
        const __m256i cells = !shape->hshift  ? noise_wide(from->at + 64 * i + 16)
                              : shape->vshift ? noise_narrow(from->at + 16 * i, true)
                                              : noise_narrow(from->at + 32 * i + 8, false);

        to->rows[i] = _mm256_and_si256(cells, inside);
    }
}

/* The sum of the lanes. */
static inline int64_t noise_total(__m256i a)
{
    const __m256i wide = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(a)),
                                          _mm256_cvtepi32_epi64(_mm256_extracti128_si256(a, 1)));
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));

    return _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
}

/* No lane exceeds 32 bits: six products of at most 16320 times 16320. */
static inline int64_t noise_cell_product(const struct noise_cells *a, const struct noise_cells *b)
{
    __m256i sum = _mm256_madd_epi16(a->rows[0], b->rows[0]);

    for (int i = 1; i < NOISE_CELL_PAIRS; i++)
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a->rows[i], b->rows[i]));
    return noise_total(sum);
}

NOISE_STEP void noise_left(struct noise_moments *m, const struct noise_samples c[3],
                           const struct noise_shape shape[2], int components)
{
    const __m256i one = _mm256_set1_epi16(1);
    const struct noise_cells ones = {{one, one, one}};
    struct noise_cells e[3];

    for (int i = 0; i < components; i++) {
        noise_cells(&e[i], &c[i], &shape[i > 0]);
        m->s[i] = noise_cell_product(&e[i], &ones);
        for (int k = 0; k <= i; k++)
            m->ss[i][k] = m->ss[k][i] = noise_cell_product(&e[i], &e[k]);
    }
}
