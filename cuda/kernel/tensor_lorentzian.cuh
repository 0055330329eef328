#pragma once
/* The Lorentzian form: products of features are 1 + d^2 / (2 sigma^2), whose reciprocal is
 * multiplied by a spatial weight from a table. Weights and values are in half precision, sums in
 * single precision. */
#include "cuda/kernel/tensor_halves.cuh"
#include "cuda/kernel/tensor_sums.cuh"

namespace
{

#define PATCHES 8 /* of a warp */
#define LORENTZIAN true
#define OCTAVE 0.0f
#define ONE 1.0f
#define HAS_FORM (__CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100))

/* The bits of 1 / x are a constant less those of x; one Newton step (half2.h). What is no number,
 * because it is beyond the tile, is saturated to 0. */
static __device__ __forceinline__ uint32_t weights(half2 x, half2 spatial)
{
    const uint32_t bits = 0x77a077a0u - *reinterpret_cast<const uint32_t *>(&x);
    const half2 r = *reinterpret_cast<const half2 *>(&bits);
    const half2 w =
        __hmul2_sat(__hmul2(spatial, r), __hfma2(__hneg2(x), r, __float2half2_rn(2.0f)));

    return *reinterpret_cast<const uint32_t *>(&w);
}

} // namespace
