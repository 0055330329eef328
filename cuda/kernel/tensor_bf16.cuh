#pragma once
/* The form for GPUs on which sums in single precision are as quick as those in half precision.
 * Weights and values are bfloat16. An octave is 128 units, which is where the exponent of a
 * bfloat16 begins: the bits of an exponent are the weight. */
#define VALUE_TYPE "bf16"
#include "cuda/kernel/tensor_sums.cuh"

namespace
{

#define PATCHES 8 /* of a warp */
#define LORENTZIAN false
#define OCTAVE 128.0f
#define ONE 1942.0f /* the exponent that means 1 on average over the error of linear mantissas */
#define VALUE_1 0x7180u
#define HAS_FORM (__CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100))

/* Weights are near 2^-112, so that samples carry a factor of 2^100, the unit in the last place of
 * 2^123. This is byte @select of @word less 128. */
#define VALUE_UNIT exp2f(100.0f)
static __device__ __forceinline__ float value(uint32_t word, uint32_t select)
{
    return __uint_as_float(__byte_perm(word, 0x7d000000, select)) - __uint_as_float(0x7d000080);
}

/* A bfloat16 is the high half of a float. */
static __device__ __forceinline__ uint32_t pack_values(float a, float b)
{
    return __byte_perm(__float_as_uint(a), __float_as_uint(b), 0x7632);
}

static __device__ __forceinline__ uint32_t weights(half2 exponents, half2 mask)
{
    const half2 clamped = __hmul2_sat(exponents, mask);

    return *reinterpret_cast<const uint32_t *>(&clamped);
}

} // namespace
