#pragma once
/* The instructions of tensor cores that the kernel needs. Fragments are spread over a warp as PTX
 * says: with g = lane / 4 and t = lane % 4, a lane has of a product rows g and g + 8, columns 2t
 * and 2t + 1; two halves are a register. */
#include <stdint.h>

#include <cuda_fp16.h>

static __device__ __forceinline__ uint32_t shared_address(const void *at)
{
    return uint32_t(__cvta_generic_to_shared(at));
}

/* Four matrices of 8 rows of 16 bytes; lane i names row i % 8 of matrix i / 8. */
static __device__ __forceinline__ void load_matrices(uint32_t m[4], uint32_t at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(at));
}

/* One; lanes 0 to 7 name its rows. */
static __device__ __forceinline__ void load_matrix(uint32_t &m, uint32_t at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(m) : "r"(at));
}

static __device__ __forceinline__ void load_4_bytes(uint32_t &word, uint32_t at)
{
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at));
}

static __device__ __forceinline__ void load_8_bytes(uint32_t words[2], uint32_t at)
{
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(at));
}

static __device__ __forceinline__ void load_16_bytes(uint32_t words[4], uint32_t at)
{
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(at));
}

/* The halves of @word, the low one at @at. */
static __device__ __forceinline__ void store_halves(uint32_t at, uint32_t at_high, uint32_t word)
{
    asm volatile("{\n"
                 ".reg .b16 low, high;\n"
                 "mov.b32 {low, high}, %2;\n"
                 "st.shared.b16 [%0], low;\n"
                 "st.shared.b16 [%1], high;\n"
                 "}" ::"r"(at),
                 "r"(at_high), "r"(word)
                 : "memory");
}

/* @s = @a @b + @c in half precision: 16 x 8 exponents from features of 16 pixels and 8 neighbours,
 * or sums from weights of 8 neighbours and their values. */
static __device__ __forceinline__ void multiply_halves(uint32_t s[2], const uint32_t a[2],
                                                       uint32_t b, const uint32_t c[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
        : "=r"(s[0]), "=r"(s[1])
        : "r"(a[0]), "r"(a[1]), "r"(b), "r"(c[0]), "r"(c[1]));
}

/* @s += weights of 16 neighbours times their values; 7.5 has no such product. */
static __device__ __forceinline__ void
add_16_f16(uint32_t s[2], const uint32_t w[2], const uint32_t more[2], uint32_t v, uint32_t v_more)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
        "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(s[0]), "+r"(s[1])
        : "r"(w[0]), "r"(w[1]), "r"(more[0]), "r"(more[1]), "r"(v), "r"(v_more));
#else
    multiply_halves(s, w, v, s);
    multiply_halves(s, more, v_more, s);
#endif
}

/* Keeps the compiler from computing @value again wherever it is needed. */
static __device__ __forceinline__ void pin(uint32_t &value)
{
    asm volatile("" : "+r"(value));
}

static __device__ __forceinline__ void pin(const uint8_t *&at)
{
    asm volatile("" : "+l"(at));
}
