#pragma once
/* What the kernels of the time axis share. */
#include "cuda/kernel/time.h"
#include "cuda/kernel/time_start.cuh"

static __device__ __forceinline__ int clamp(int v, int most)
{
    return min(max(v, 0), most);
}

/* Whether the frame is another than the one before. A camera may send one twice: then nothing is
 * learnt from it. */
static __device__ __forceinline__ bool is_new(const time_job &j)
{
    return !j.goes_on || j.noise->changed == j.number;
}

/* The motion of the block that has luma sample (@x, @y). */
static __device__ __forceinline__ time_vector vector_at(const time_job &j, int x, int y)
{
    if (!j.searches)
        return time_vector{0, 0};
    const int at = y / TIME_BLOCK * j.shape.cols[0] + x / TIME_BLOCK;
    const uint32_t both = __ldg(reinterpret_cast<const uint32_t *>(j.vector[0] + at));

    return {int16_t(both & 0xffff), int16_t(both >> 16)};
}

/* How many stored steps a sample's own are, of a frame of words or bytes. */
template <bool WORDS> static __device__ __forceinline__ float steps_each()
{
    return WORDS ? TIME_LEVEL_STEPS / 256.0f : float(TIME_LEVEL_STEPS);
}

/* The instance of a kernel<components, hshift, vshift, words> for pictures of @shape. */
#define FOR_SHAPE(kernel, shape, words)                                                            \
    ((shape).components == 1 ? kernel<1, 0, 0, words>                                              \
     : !(shape).hshift       ? kernel<3, 0, 0, words>                                              \
     : !(shape).vshift       ? kernel<3, 1, 0, words>                                              \
                             : kernel<3, 1, 1, words>)

/* The one for the frame of @job, whose samples have 16 bits or 8. */
#define FOR_JOB(kernel, job)                                                                       \
    ((job).words[0] ? FOR_SHAPE(kernel, (job).shape, true) : FOR_SHAPE(kernel, (job).shape, false))

#define BLOCK_CELLS (TIME_BLOCK / 2)

static __device__ __forceinline__ bool moves_at(const time_job &j, int col, int row)
{
    const time_vector v = vector_at(j, col * TIME_BLOCK, row * TIME_BLOCK);

    return v.x || v.y;
}

/* What @selector takes of @word as a number: it becomes the low mantissa bits of 2^23. */
static __device__ __forceinline__ float number(uint32_t word, uint32_t selector)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000, selector)) - 8388608.0f;
}

#define LOW_BYTE 0x7440
#define LOW_HALF 0x7410
#define HIGH_HALF 0x7432
