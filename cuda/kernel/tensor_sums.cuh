#pragma once
/* Sums in single precision; weights and values are of VALUE_TYPE. */
#include "cuda/kernel/tensor_mma.cuh"

#define ADD_TYPES ".row.col.f32." VALUE_TYPE "." VALUE_TYPE ".f32 "

namespace
{

struct sums {
    float of[4]; /* columns 2t and 2t + 1 of (Y, 1, U, V), for both pixels */

    __device__ __forceinline__ void start()
    {
        of[0] = of[1] = of[2] = of[3] = 0.0f;
    }
    /* Weights of 8 or 16 neighbours times their values. */
    __device__ __forceinline__ void add_8(const uint32_t w[2], uint32_t v)
    {
        asm("mma.sync.aligned.m16n8k8" ADD_TYPES
            "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(of[0]), "+f"(of[1]), "+f"(of[2]), "+f"(of[3])
            : "r"(w[0]), "r"(w[1]), "r"(v));
    }
    __device__ __forceinline__ void add_16(const uint32_t w[2], const uint32_t more[2], uint32_t v,
                                           uint32_t v_more)
    {
        asm("mma.sync.aligned.m16n8k16" ADD_TYPES
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(of[0]), "+f"(of[1]), "+f"(of[2]), "+f"(of[3])
            : "r"(w[0]), "r"(w[1]), "r"(more[0]), "r"(more[1]), "r"(v), "r"(v_more));
    }
    /* After each row of chunks. */
    __device__ __forceinline__ void flush()
    {
    }
};

} // namespace
