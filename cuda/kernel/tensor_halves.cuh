#pragma once
/* Values in half precision. */
#include <stdint.h>

#include <cuda_fp16.h>

#define VALUE_TYPE "f16"
#define VALUE_1 0x3c00u
#define SUM_SCALE 1.0f
#define SAMPLE_UNIT 1.0f
#define SAMPLE_OF_128 0.0f

namespace
{

/* Two bytes of @word, less 128: half precision has a unit of 1 from 2^10 on. */
static __device__ __forceinline__ half2 pair_samples(uint32_t word, uint32_t select)
{
    const uint32_t above = __byte_perm(word, 0x64, select);

    return __hsub2(*reinterpret_cast<const half2 *>(&above), __float2half2_rn(1024.0f + 128.0f));
}

static __device__ __forceinline__ uint32_t sample_values(half2 samples)
{
    return *reinterpret_cast<const uint32_t *>(&samples);
}

} // namespace
