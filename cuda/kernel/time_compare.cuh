#pragma once
/* What both comparisons of a frame with its guesses share (time_compare.cu, time_moved.cu). */
#include "cuda/kernel/time_device.cuh"

#define OWN_LANES 30 /* of a warp */
#define ALL 0xffffffffu
#define TENT 64 /* sum of the weights 1 3 3 1, both ways */

/* Samples or differences of a cell's column in a row of luma: two of luma in a word. Chroma that
 * the two share is U, V in the first word, else both have two. */
struct sample_row {
    uint32_t luma, chroma[2];
};

/* Two bytes to two halves of a word. */
static __device__ __forceinline__ uint32_t load_bytes(const uint8_t *at)
{
    return __byte_perm(__ldg(reinterpret_cast<const uint16_t *>(at)), 0, 0x4140);
}

static __device__ __forceinline__ uint32_t load_pair(const uint16_t *at)
{
    return __ldg(reinterpret_cast<const uint32_t *>(at));
}

/* Planes of 16 bits. */
template <int C, int HS, int VS>
static __device__ __forceinline__ sample_row load_planes(const time_shape &s,
                                                         uint16_t *const plane[3], int cx, int y)
{
    sample_row r = {load_pair(plane[0] + y * s.stride + 2 * cx), {0, 0}};

    if (C == 3) {
        const int at = (y >> VS) * s.stride_c + (cx << (1 - HS));
        const uint16_t *const u = plane[1] + at, *const v = plane[2] + at;

        if (HS) {
            r.chroma[0] = __ldg(u) | uint32_t(__ldg(v)) << 16;
        } else {
            r.chroma[0] = load_pair(u);
            r.chroma[1] = load_pair(v);
        }
    }
    return r;
}

/* The frame's own samples: bytes, or WORDS, around which there are none. */
template <int C, int HS, int VS, bool WORDS>
static __device__ __forceinline__ sample_row load_now(const time_job &j, int cx, int y)
{
    const time_shape &s = j.shape;

    if (WORDS)
        return load_planes<C, HS, VS>(s, j.words, cx, min(y, s.height - 1));

    sample_row r = {load_bytes(j.now.luma + y * s.stride + 2 * cx), {0, 0}};

    if (C == 3) {
        const int at = (y >> VS) * s.stride_c + (cx << (1 - HS));

        if (HS) {
            r.chroma[0] = __ldg(j.now.chroma[0] + at) | uint32_t(__ldg(j.now.chroma[1] + at)) << 16;
        } else {
            r.chroma[0] = load_bytes(j.now.chroma[0] + at);
            r.chroma[1] = load_bytes(j.now.chroma[1] + at);
        }
    }
    return r;
}

/* |e|^2 of a pixel, in stored steps. */
template <int C> static __device__ __forceinline__ float square_of(float y, float u, float v)
{
    return C == 3 ? y * y + NOISE_CHROMA * (u * u + v * v) : y * y;
}

/* A lane's cells: in column @cx, or the nearest one to it in the picture, from row @cy on. */
struct place {
    int cx, column, cy;
    bool own; /* not beside those of another warp only */

    __device__ __forceinline__ place(const time_shape &s, int cells)
    {
        const int lane = threadIdx.x % 32;

        cx = blockIdx.x * OWN_LANES + lane - 1;
        cy = (blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32) * cells;
        column = clamp(cx, s.cells_x - 1);
        own = lane > 0 && lane <= OWN_LANES && cx < s.cells_x;
    }
};

/* From sums of differences weighed 1 3 3 1, both ways, and of |e|^2, in stored steps. */
template <int C>
static __device__ __forceinline__ void store_cell(const time_job &j, time_cell *to, const place &at,
                                                  int k, const float sum[C], float square)
{
    const float scale = 1.0f / (TENT * TIME_LEVEL_STEPS);
    float e[3] = {};

    if (!at.own || at.cy + k >= j.shape.cells_y)
        return;
#pragma unroll
    for (int c = 0; c < C; c++)
        e[c] = sum[c] * scale;
    reinterpret_cast<float4 *>(to)[(at.cy + k) * j.shape.cells_x + at.cx] =
        make_float4(e[0], e[1], e[2], square * (0.25f / (TIME_LEVEL_STEPS * TIME_LEVEL_STEPS)));
}

/* Thread blocks of @warps whose lanes have @cells. */
static dim3 grid_of(const time_shape &s, int warps, int cells)
{
    const int rows = warps * cells;

    return dim3((s.cells_x + OWN_LANES - 1) / OWN_LANES, (s.cells_y + rows - 1) / rows);
}
