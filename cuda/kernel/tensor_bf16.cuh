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
#define VALUE_1 0x5000u /* 2^33 */
#define HAS_FORM (__CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100))

/* Two bytes of @word as they are: up to 255 units of 2^-24 in half precision, and of 2^-133 as
 * bfloat16, which are linear there. */
#define SAMPLE_UNIT 0x1p-24f
#define SAMPLE_OF_128 0x1p-17f
static __device__ __forceinline__ half2 pair_samples(uint32_t word, uint32_t select)
{
    const uint32_t both = __byte_perm(word, 0, select);

    return *reinterpret_cast<const half2 *>(&both);
}

/* Bytes less 128, in units of 2^-7. Weights are near 2^-112, and down to 2^-124 where the constant
 * of a pixel is coarse. So the sum of weights has a unit of 2^33, and that of values gets it at the
 * end. */
#define SUM_SCALE 0x1p40f
static __device__ __forceinline__ uint32_t sample_values(half2 samples)
{
    uint32_t values;

    asm("fma.rn.bf16x2 %0, %1, %2, %3;"
        : "=r"(values)
        : "r"(*reinterpret_cast<uint32_t *>(&samples)), "r"(0x7e807e80), "r"(0xbf80bf80));
    return values;
}

static __device__ __forceinline__ uint32_t weights(half2 exponents, half2 mask)
{
    const half2 clamped = __hmul2_sat(exponents, mask);

    return *reinterpret_cast<const uint32_t *>(&clamped);
}

} // namespace
