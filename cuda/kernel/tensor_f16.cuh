#pragma once
/* The form for GPUs on which sums in half precision are quicker, and for those without bfloat16.
 * An octave is 64 units; shifted by 4, the bits of an exponent are the weight in half precision.
 * Sums go to single precision after each row of chunks. */
#include "cuda/kernel/tensor_halves.cuh"
#include "cuda/kernel/tensor_mma.cuh"

namespace
{

#define PATCHES 4 /* of a warp */
#define LORENTZIAN false
#define OCTAVE 64.0f
#define ONE 971.0f /* the exponent that means 1 on average over the error of linear mantissas */
#define HAS_FORM (__CUDA_ARCH__ >= 750)

static __device__ __forceinline__ uint32_t weights(half2 exponents, half2 mask)
{
    const half2 clamped = __hmul2_sat(exponents, mask);

    return *reinterpret_cast<const uint32_t *>(&clamped) << 4;
}

struct sums {
    uint32_t recent[2]; /* of this row of chunks, two columns in each */
    float of[4];        /* columns 2t and 2t + 1 of (Y, 1, U, V), for both pixels */

    __device__ __forceinline__ void start()
    {
        recent[0] = recent[1] = 0;
        of[0] = of[1] = of[2] = of[3] = 0.0f;
    }
    __device__ __forceinline__ void add_8(const uint32_t w[2], uint32_t v)
    {
        multiply_halves(recent, w, v, recent);
    }
    __device__ __forceinline__ void add_16(const uint32_t w[2], const uint32_t more[2], uint32_t v,
                                           uint32_t v_more)
    {
        add_16_f16(recent, w, more, v, v_more);
    }
    /* After each row of chunks. */
    __device__ __forceinline__ void flush()
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float2 two = __half22float2(*reinterpret_cast<const half2 *>(&recent[i]));

            of[2 * i] += two.x;
            of[2 * i + 1] += two.y;
            recent[i] = 0;
        }
    }
};

} // namespace
