#pragma once
/* Values in half precision. */
#include <stdint.h>

#include <cuda_fp16.h>

#define VALUE_TYPE "f16"
#define VALUE_1 0x3c00u
#define VALUE_UNIT 1.0f

namespace
{

/* Byte @select of @word less 128: 2^23 has a unit of 1 in the last place. */
static __device__ __forceinline__ float value(uint32_t word, uint32_t select)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000, select)) - (8388608.0f + 128.0f);
}

static __device__ __forceinline__ uint32_t pack_values(float a, float b)
{
    const half2 both = __floats2half2_rn(a, b);

    return *reinterpret_cast<const uint32_t *>(&both);
}

} // namespace
