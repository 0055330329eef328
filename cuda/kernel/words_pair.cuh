#pragma once
/* How kernels take samples of 16 bits: two that lie side by side as one word. Samples of 8 bits
 * become 256 times as much. */
#include <stdint.h>

/* The samples of columns @x, which is even, and @x + 1. Outside of the @columns of a row its edge
 * is repeated. */
static __device__ __forceinline__ uint32_t load_pair(const uint8_t *row, int x, int columns)
{
    const int left = min(max(x, 0), columns - 1), right = min(max(x + 1, 0), columns - 1);
    const uint32_t pair = __ldg(reinterpret_cast<const uint32_t *>(row) + left / 2);

    return __byte_perm(pair, 0, (left & 1 ? 0x32 : 0x10) | (right & 1 ? 0x3200 : 0x1000));
}

/* The same of bytes. */
static __device__ __forceinline__ uint32_t load_byte_pair(const uint8_t *row, int x, int columns)
{
    const int left = min(max(x, 0), columns - 1), right = min(max(x + 1, 0), columns - 1);
    const uint32_t pair = __ldg(reinterpret_cast<const uint16_t *>(row) + left / 2);

    return __byte_perm(pair, 0, (left & 1 ? 0x14 : 0x04) | (right & 1 ? 0x1400 : 0x0400));
}

/* The left or the right sample of @pair less 32768: it becomes the low mantissa bits of 2^23. */
static __device__ __forceinline__ float centred(uint32_t pair, bool right)
{
    return __uint_as_float(__byte_perm(pair, 0x4b000000, right ? 0x7432 : 0x7410)) -
           (8388608.0f + 32768.0f);
}
