#pragma once
/* The nine sums of search_rows.h one by one, from sad_16x16() and sad_8x8() of the file that
 * includes this. */
#include <stddef.h>
#include <stdint.h>

static inline void sads_16x16(int32_t ret[9], const uint8_t *a, const uint8_t *b, size_t stride)
{
    for (int i = 0; i < 9; i++)
        ret[i] = sad_16x16(a, b + (ptrdiff_t)(i / 3 - 1) * (ptrdiff_t)stride + i % 3 - 1, stride);
}

static inline void sads_8x8(int32_t ret[9], const uint16_t *a, const uint16_t *b, size_t stride)
{
    for (int i = 0; i < 9; i++)
        ret[i] = sad_8x8(a, b + (ptrdiff_t)(i / 3 - 1) * (ptrdiff_t)stride + i % 3 - 1, stride);
}
