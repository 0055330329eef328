/* The bilateral filter of stored frames in single precision (words_kernel.cuh): any format, any
 * sigma, one range sigma for each pixel, and one frame or more. */
#include <algorithm>

#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_filter.cuh"
#include "cuda/kernel/time_start.cuh"
#include "cuda/kernel/words_kernel.cuh"

#define LOG2E 1.44269504f

/* What a pixel's squared distances, in levels, are multiplied by. */
static __device__ __forceinline__ float inv_two_sc2_at(const time_filter &f, int x, int y)
{
    const int cx = min(x, f.p.width - 1) / 2, cy = min(y, f.p.height - 1) / 2;
    float inv = f.inv_two_sc2;

    if (f.luma)
        inv = f.noise->inv_two_sc2[(f.luma[cy * f.stride_luma + cx] + 2) >> 2];
    if (f.count)
        inv *= f.noise->inv_share[f.count[cy * f.stride_count + cx]];
    /* R', G' and B' of grey are the same. */
    if (f.p.manhattan && f.p.components == 1)
        inv *= 9.0f;
    return f.p.lorentzian ? inv : inv * LOG2E;
}

static __device__ __forceinline__ void store_sample(const time_filter &f, int component, int x,
                                                    int y, float stored)
{
    const bilateral_samples &to = f.p.out[component];
    uint8_t *const at = to.base + size_t(y) * to.stride + size_t(x) * to.step;
    const float level = stored / float(f.steps);

    if (f.p.words)
        *reinterpret_cast<uint16_t *>(at) =
            uint16_t(__float2int_rn(fminf(fmaxf(256.0f * level, 0.0f), 65535.0f)));
    else
        *at = uint8_t(__float2int_rn(fminf(fmaxf(level, 0.0f), 255.0f)));
}

/* Adds the windows in frame @k. */
template <bool COLOUR, bool LORENTZIAN, bool MANHATTAN>
static __device__ __forceinline__ void add_frame(const time_filter &f, const tile_shape &t, int k,
                                                 const window_tables &tables, float *tile, int x0,
                                                 int y0, centre c[ROWS])
{
    const bilateral_params &p = f.p;
    const int r = p.radius, x = x0 + threadIdx.x, y = y0 + ROWS * threadIdx.y;
    const float weight = LORENTZIAN ? f.weight[k] : log2f(f.weight[k]);
    bilateral_samples in[3];

    for (int i = 0; i < (COLOUR ? 3 : 1); i++)
        in[i] = {reinterpret_cast<uint8_t *>(f.frame[k].level[i]),
                 2u * uint32_t(i ? f.stride_c : f.stride), 2};
    for (int n = 0; n < t.fills; n++) {
        /* That which has the pixels themselves comes first. */
        const int first = (n + r / t.columns) % t.fills * t.columns - r, odd = first & 1;
        const int end = min(first + t.columns, r + 1);
        const float *from = tile + (ROWS * threadIdx.y + r) * t.stride + odd + threadIdx.x;

        __syncthreads();
        fill<COLOUR, false>(p, in, t, tile, x0 + first - odd, y0 - r);
        __syncthreads();
#pragma unroll
        for (int b = 0; b < ROWS && k == 0 && n == 0; b++) {
            c[b].colour = colour_at<COLOUR>(t, from - first + b * t.stride);
            c[b].inv = inv_two_sc2_at(f, x, y + b);
        }
        for (int i = first; i < end && y < p.row_end; i++, from++) {
            const float column = tables.space[r + i];

            sum_column<COLOUR, LORENTZIAN, MANHATTAN, true>(
                p, t, from, &tables.space[r], LORENTZIAN ? column * weight : column + weight,
                tables.reach[r + i], c);
        }
    }
}

/* The pixels of one tile, whose place is counted in tiles. */
template <bool COLOUR, bool LORENTZIAN, bool MANHATTAN>
static __device__ __forceinline__ void filter_tile(const time_filter &f, const tile_shape &t,
                                                   const window_tables &tables, float *tile,
                                                   int tile_x, int tile_y)
{
    const int x0 = tile_x * WARP, y0 = f.p.row_begin + tile_y * ROWS * int(blockDim.y);
    const int x = x0 + threadIdx.x, y = y0 + ROWS * threadIdx.y;
    const auto store = [&](int component, int x, int y, float stored) {
        store_sample(f, component, x, y, stored);
    };
    centre c[ROWS] = {};

    for (int k = 0; k < f.n_frames; k++)
        add_frame<COLOUR, LORENTZIAN, MANHATTAN>(f, t, k, tables, tile, x0, y0, c);
    if (y >= f.p.row_end)
        return;
    store_luma(f.p, x, y, c, store);
    if (COLOUR)
        store_chroma(f.p, x, y, c, store);
}

/* Each thread block has a tile. */
template <bool COLOUR, bool LORENTZIAN, bool MANHATTAN>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, COLOUR ? 3 : 4)
    words_time(const time_filter f, const tile_shape t)
{
    extern __shared__ float2 shared[];
    __shared__ window_tables tables;

    wait_for_before();
    let_next_start();
    make_tables(f.p, tables);
    filter_tile<COLOUR, LORENTZIAN, MANHATTAN>(f, t, tables, reinterpret_cast<float *>(shared),
                                               blockIdx.x, blockIdx.y);
}

/* After half2_time, which leaves frames to it that half precision cannot do. There is mostly
 * nothing to do. What tells that is there, so it needs not wait; and few thread blocks come and go
 * while half2_time ends, for each has several of the @tiles. */
template <bool LORENTZIAN>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, 3)
    words_time_if_unsuited(const time_filter f, const tile_shape t, dim3 tiles)
{
    extern __shared__ float2 shared[];
    __shared__ window_tables tables;

    let_next_start();
    end_after_before();
    if (!f.noise->unsuited)
        return;
    make_tables(f.p, tables);
    for (unsigned i = blockIdx.x; i < tiles.x * tiles.y; i += gridDim.x)
        filter_tile<true, LORENTZIAN, false>(f, t, tables, reinterpret_cast<float *>(shared),
                                             i % tiles.x, i / tiles.x);
}

/* What a launch needs. */
struct words_launch {
    time_filter f;
    tile_shape shape;
    dim3 tiles, block;
    size_t bytes;

    explicit words_launch(const time_filter &given) : f(given)
    {
        bilateral_params &p = f.p;
        const float level = 1.0f / float(f.steps);
        const int warps = choose_warps(p);

        shape = choose_shape(p, warps);
        tiles = dim3((p.width + WARP - 1) / WARP,
                     (p.row_end - p.row_begin + ROWS * warps - 1) / (ROWS * warps));
        block = dim3(WARP, warps);
        bytes = tile_bytes(p, shape);
        p.a *= level, p.b *= level, p.c *= level, p.d *= level, p.e *= level, p.f *= level;
    }
};

cudaError_t words_time_launch(const time_filter &given, cudaStream_t stream)
{
    static void (*const kernels[2][2][2])(time_filter, tile_shape) = {
        {{words_time<false, false, false>, words_time<false, false, false>},
         {words_time<false, true, false>, words_time<false, true, false>}},
        {{words_time<true, false, false>, words_time<true, false, true>},
         {words_time<true, true, false>, words_time<true, true, true>}}};
    const words_launch w(given);
    const bilateral_params &p = w.f.p;

    return start_early(kernels[p.components == 3][p.lorentzian != 0][p.manhattan != 0], w.tiles,
                       w.block, w.bytes, stream, w.f, w.shape);
}

cudaError_t words_time_launch_if_unsuited(const time_filter &given, cudaStream_t stream)
{
    const words_launch w(given);
    int device = 0, multiprocessors = 0;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess)
        return status;
    return start_early(w.f.p.lorentzian ? words_time_if_unsuited<true>
                                        : words_time_if_unsuited<false>,
                       dim3(std::min(4 * unsigned(multiprocessors), w.tiles.x * w.tiles.y)),
                       w.block, w.bytes, stream, w.f, w.shape, w.tiles);
}
