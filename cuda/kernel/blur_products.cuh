#pragma once
/* Products of matrices that are spread over a warp as tensor cores have them: with g = lane / 4 and
 * t = lane % 4, a lane has of a left factor rows g and g + 8, of a right one column g, and columns
 * 2t and 2t + 1 of sums. GPUs without tensor cores do the same by hand, so that one kernel serves
 * all. */
#include <stdint.h>

#include <cuda_fp16.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 750
#define BY_HAND 1
#endif

/* Four matrices of 8 x 8, each turned; lane i names row i % 8 of matrix i / 8. */
static __device__ __forceinline__ void load_turned(uint32_t m[4], const half *at)
{
#if BY_HAND
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const size_t mine = reinterpret_cast<size_t>(at);
        const half *const first =
            reinterpret_cast<const half *>(__shfl_sync(~0u, mine, 8 * i + 2 * t));
        const half *const second =
            reinterpret_cast<const half *>(__shfl_sync(~0u, mine, 8 * i + 2 * t + 1));

        m[i] = __half_as_ushort(first[g]) | uint32_t(__half_as_ushort(second[g])) << 16;
    }
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(uint32_t(__cvta_generic_to_shared(at))));
#endif
}

#if BY_HAND
static __device__ __forceinline__ float dot(float sum, uint32_t a, uint32_t b)
{
    const float2 x = __half22float2(*reinterpret_cast<half2 *>(&a));
    const float2 y = __half22float2(*reinterpret_cast<half2 *>(&b));

    return sum + x.x * y.x + x.y * y.y;
}
#else
/* 7.5 has products of 16 x 8 and 8 x 8 only. */
static __device__ __forceinline__ void add_half_product(float s[4], uint32_t a, uint32_t a_lower,
                                                        uint32_t b)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
        : "r"(a), "r"(a_lower), "r"(b));
}
#endif

/* @s = @from + @a @b: 16 x 8 sums from 16 x 16 and 16 x 8 halves. */
static __device__ __forceinline__ void add_product(float s[4], const float from[4],
                                                   const uint32_t a[4], uint32_t b, uint32_t b_more)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
#pragma unroll
    for (int i = 0; i < 4; i++)
        s[i] = from[i];
#endif
#if BY_HAND
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;

#pragma unroll
    for (int k = 0; k < 8; k++) {
        const uint32_t upper = __shfl_sync(~0u, a[k / 4 * 2], 4 * g + k % 4);
        const uint32_t lower = __shfl_sync(~0u, a[k / 4 * 2 + 1], 4 * g + k % 4);
        const uint32_t left = __shfl_sync(~0u, k / 4 ? b_more : b, 8 * t + k % 4);
        const uint32_t right = __shfl_sync(~0u, k / 4 ? b_more : b, 8 * t + 4 + k % 4);

        s[0] = dot(s[0], upper, left);
        s[1] = dot(s[1], upper, right);
        s[2] = dot(s[2], lower, left);
        s[3] = dot(s[3], lower, right);
    }
#elif __CUDA_ARCH__ < 800
    add_half_product(s, a[0], a[1], b);
    add_half_product(s, a[2], a[3], b_more);
#else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(s[0]), "=f"(s[1]), "=f"(s[2]), "=f"(s[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(b_more), "f"(from[0]),
          "f"(from[1]), "f"(from[2]), "f"(from[3]));
#endif
}
