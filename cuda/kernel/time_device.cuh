#pragma once
/* What the kernels of the time axis share. */
#include "cuda/kernel/time.h"

/* The levels of `now`, and the luma around each pixel. */
int time_build_levels(const time_job &j, cudaStream_t stream);

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
