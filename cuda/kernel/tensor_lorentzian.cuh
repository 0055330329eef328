#pragma once
/* The Lorentzian form: products of features are 1 + d^2 / (2 sigma^2), whose reciprocal is
 * multiplied by a spatial weight from a table. Weights and values are in half precision, sums in
 * single precision. */
#include "cuda/kernel/tensor_mma.cuh"

namespace
{

#define PATCHES 8 /* of a warp */
#define BLOCKS 2  /* of a multiprocessor, by their registers */
#define LORENTZIAN true
#define OCTAVE 0.0f
#define ONE 1.0f
#define VALUE_1 0x3c00u
#define HAS_FORM (__CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100))

/* Byte @select of @word less 128: 2^23 has a unit of 1 in the last place. */
#define VALUE_UNIT 1.0f
static __device__ __forceinline__ float value(uint32_t word, uint32_t select)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000, select)) - (8388608.0f + 128.0f);
}

static __device__ __forceinline__ uint32_t pack_values(float a, float b)
{
    const half2 both = __floats2half2_rn(a, b);

    return *reinterpret_cast<const uint32_t *>(&both);
}

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

struct sums {
    float of[4]; /* columns 2t and 2t + 1 of (Y, 1, U, V), for both pixels */

    __device__ __forceinline__ void start()
    {
        of[0] = of[1] = of[2] = of[3] = 0.0f;
    }
    __device__ __forceinline__ void add_8(const uint32_t w[2], uint32_t v)
    {
        add_8_mixed(of, w, v);
    }
    __device__ __forceinline__ void add_16(const uint32_t w[2], const uint32_t more[2], uint32_t v,
                                           uint32_t v_more)
    {
        add_16_mixed(of, w, more, v, v_more);
    }
    /* After each row of chunks. */
    __device__ __forceinline__ void flush()
    {
    }
};

} // namespace
