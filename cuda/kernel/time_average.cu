/* The mean over frames: engine/time/average.h. How a tile is compared is in time_compare.cuh. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_compare.cuh"

/* What is averaged at a thread's pixels: what the frame differs from what was predicted, P' (luma,
 * and chroma in the mean over the pixels that share it), and how that can be believed. */
template <int ROWS> struct mixed {
    float d[3][ROWS][2], n[ROWS][2];
};

/* The means over the pixels that share a chroma sample. */
template <int ROWS>
static __device__ __forceinline__ void share_chroma(const time_shape &s, int y, float v[ROWS][2])
{
    if (s.hshift)
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            v[k][0] = v[k][1] = 0.5f * (v[k][0] + v[k][1]);
    if (s.vshift)
#pragma unroll
        for (int k = 0; k < ROWS; k += 2)
            for (int i = 0; i < 2 && y + k + 1 < s.height; i++)
                v[k][i] = v[k + 1][i] = 0.5f * (v[k][i] + v[k + 1][i]);
}

/* From e - L in (Y1, U1, V1). */
template <int C, int ROWS>
static __device__ __forceinline__ void to_samples(const time_job &j, int y, const guess<C, ROWS> &g,
                                                  mixed<ROWS> &ret)
{
#pragma unroll
    for (int k = 0; k < ROWS; k++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float v = C == 3 ? g.w[C - 1][k][i] * j.inv_f : 0.0f;
            const float u = C == 3 ? (g.w[C / 2][k][i] - j.e * v) * j.inv_d : 0.0f;

            ret.d[0][k][i] = (g.w[0][k][i] - j.b * u - j.c * v) * j.inv_a;
            ret.d[1][k][i] = u;
            ret.d[2][k][i] = v;
            ret.n[k][i] = g.n[k][i];
        }
    if (C == 3) {
        share_chroma<ROWS>(j.shape, y, ret.d[1]);
        share_chroma<ROWS>(j.shape, y, ret.d[2]);
    }
}

/* Takes @to to the guess along the motion as far as it is the better one. */
template <int C, int ROWS>
static __device__ __forceinline__ void mix(const time_job &j, int y, mixed<ROWS> &to,
                                           const float still_d[ROWS][2],
                                           const guess<C, ROWS> &moved)
{
    const float inv_rho = 1.0f / j.noise->rho;
    mixed<ROWS> other;
    float f[ROWS][2];

    to_samples<C, ROWS>(j, y, moved, other);
#pragma unroll
    for (int k = 0; k < ROWS; k++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float better = (moved.d[k][i] - still_d[k][i]) * inv_rho;

            f[k][i] = moved.follows[k][i] ? 1.0f / (1.0f + __expf(3.0f * better + 1.0f)) : 0.0f;
            to.n[k][i] += f[k][i] * (other.n[k][i] - to.n[k][i]);
            to.d[0][k][i] += f[k][i] * (other.d[0][k][i] - to.d[0][k][i]);
        }
    if (C == 3)
        share_chroma<ROWS>(j.shape, y, f);
#pragma unroll
    for (int c = 1; c < C; c++)
#pragma unroll
        for (int k = 0; k < ROWS; k++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                to.d[c][k][i] += f[k][i] * (other.d[c][k][i] - to.d[c][k][i]);
}

/* H = x - (x - P') n' / (n' + 1), as it is stored. */
static __device__ __forceinline__ uint32_t averaged(uint32_t x, float d, float n)
{
    const float level = number(x, LOW_BYTE) - d * __fdividef(n, n + 1.0f);

    return min(__float2uint_rd(fmaxf(fmaf(level, 256.0f, 0.5f), 0.0f)), 65535u);
}

template <int ROWS>
static __device__ __forceinline__ void store_chroma(const time_job &j, int x, int y,
                                                    const mixed<ROWS> &m, const float n[ROWS][2])
{
    const time_shape &s = j.shape;

#pragma unroll
    for (int k = 0; k < ROWS; k++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = ((y + k) >> s.vshift) * s.stride_c + ((x + i) >> s.hshift);

            if (y + k >= s.height || (i && s.hshift) || (k % 2 && s.vshift))
                continue;
#pragma unroll
            for (int c = 1; c < 3; c++)
                j.state.level[c][at] =
                    uint16_t(averaged(j.now.chroma[c - 1][at], m.d[c][k][i], n[k][i]));
        }
}

/* Stores the thread's pixels; @counted are the sums of the stored counts of blocks of 8x8. */
template <int C, int ROWS>
static __device__ __forceinline__ void store(const time_job &j, int x, int y, mixed<ROWS> &m,
                                             uint32_t *counted)
{
    const time_shape &s = j.shape;

#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int at = (y + k) * s.stride + x;
        uint32_t luma, count[2];

        if (x >= s.width || y + k >= s.height)
            continue;
        luma = *reinterpret_cast<const uint16_t *>(j.now.luma + at);
        *reinterpret_cast<uint32_t *>(j.state.level[0] + at) =
            averaged(luma & 255, m.d[0][k][0], m.n[k][0]) |
            averaged(luma >> 8, m.d[0][k][1], m.n[k][1]) << 16;
        for (int i = 0; i < 2; i++)
            count[i] =
                min(__float2uint_rd(
                        fminf(m.n[k][i] + 1.0f, float(j.frames)) * float(j.count_steps) + 0.5f),
                    255u);
        *reinterpret_cast<uint16_t *>(j.state.count + at) = uint16_t(count[0] | count[1] << 8);
        atomicAdd(counted, count[0] + count[1]);
    }
    if (C == 3 && x < s.width) {
        share_chroma<ROWS>(s, y, m.n);
        store_chroma(j, x, y, m, m.n);
    }
}

/* A frame that begins is its own mean; one that was there before leaves all as it was. */
template <int C, int ROWS>
static __device__ void store_known(const time_job &j, int x, int y, uint32_t *counted)
{
    const time_shape &s = j.shape;

    for (int k = 0; k < ROWS; k++)
        for (int i = 0; i < 2; i++) {
            const int at = (y + k) * s.stride + x + i;
            const int at_c = ((y + k) >> s.vshift) * s.stride_c + ((x + i) >> s.hshift);

            if (x >= s.width || y + k >= s.height)
                continue;
            j.state.level[0][at] = j.goes_on ? j.old.level[0][at] : uint16_t(j.now.luma[at] << 8);
            j.state.count[at] = j.goes_on ? j.old.count[at] : uint8_t(j.count_steps);
            atomicAdd(counted, uint32_t(j.state.count[at]));
            for (int c = 1; c < C; c++)
                j.state.level[c][at_c] =
                    j.goes_on ? j.old.level[c][at_c] : uint16_t(j.now.chroma[c - 1][at_c] << 8);
        }
}

/* What the host gets to know of the counts. */
template <int W>
static __device__ void report(const time_job &j, int x0, int y0, const uint32_t *counted)
{
    const time_shape &s = j.shape;
    const int i = threadIdx.x, n_blocks = W * TILE_H / (TIME_BLOCK * TIME_BLOCK);
    const int x = x0 + i % (W / TIME_BLOCK) * TIME_BLOCK;
    const int y = y0 + i / (W / TIME_BLOCK) * TIME_BLOCK;

    __syncthreads();
    if (i < n_blocks && x < s.width && y < s.height) {
        const uint32_t n =
            uint32_t(min(TIME_BLOCK, s.width - x) * min(TIME_BLOCK, s.height - y) * j.count_steps);

        j.report->counts[y / TIME_BLOCK * s.cols[0] + x / TIME_BLOCK] =
            uint8_t((4 * counted[i] + n) / (2 * n));
        atomicAdd(&j.noise->counted, (unsigned long long)counted[i]);
    }
    __threadfence();
    __syncthreads();
    if (i == 0 && atomicAdd(&j.noise->average_done, 1u) == gridDim.x * gridDim.y - 1) {
        __threadfence();
        j.report->counted = atomicExch(&j.noise->counted, 0ull);
        j.noise->average_done = 0;
    }
}

/* The vector of any pixel in the tile. */
template <int W> static __device__ bool anything_moves(const time_job &j, int x0, int y0)
{
    const int i = threadIdx.x;
    const int x = x0 + i % (W / TIME_BLOCK) * TIME_BLOCK;
    const int y = y0 + i / (W / TIME_BLOCK) * TIME_BLOCK;
    bool moves = false;

    if (j.searches && i < W * TILE_H / (TIME_BLOCK * TIME_BLOCK) && x < j.shape.width &&
        y < j.shape.height) {
        const time_vector v = vector_at(j, x, y);

        moves = v.x || v.y;
    }
    return __syncthreads_or(moves);
}

template <int C, int W>
static __global__ void __launch_bounds__(sizes<W>::threads, sizes<W>::blocks)
    average(const time_job j)
{
    extern __shared__ uint32_t shared[];
    __shared__ uint32_t counted[W * TILE_H / (TIME_BLOCK * TIME_BLOCK)];
    constexpr int ROWS = sizes<W>::own_rows;
    const tile t = make_tile<C, W>(j.shape, shared);
    const int x = t.x0 + 2 * (threadIdx.x % (W / 2));
    const int row = threadIdx.x / (W / 2) * ROWS, y = t.y0 + row;
    uint32_t *const of_block =
        &counted[row / TIME_BLOCK * (W / TIME_BLOCK) + (x - t.x0) / TIME_BLOCK];

    if (threadIdx.x < sizeof(counted) / sizeof(counted[0]))
        counted[threadIdx.x] = 0;
    __syncthreads();
    if (j.goes_on && is_new(j)) {
        const int n_guesses = anything_moves<W>(j, t.x0, t.y0) ? 2 : 1;
        float still_d[ROWS][2];
        mixed<ROWS> m;

        find_clamps<W>(j, t);
#pragma unroll 1
        for (int i = 0; i < n_guesses; i++) {
            guess<C, ROWS> g;

            make_guess<C, W, ROWS>(j, t, i, x, row, g);
            if (i == 0) {
                to_samples<C, ROWS>(j, y, g, m);
#pragma unroll
                for (int k = 0; k < 2 * ROWS; k++)
                    still_d[k / 2][k % 2] = g.d[k / 2][k % 2];
            } else {
                mix<C, ROWS>(j, y, m, still_d, g);
            }
        }
        store<C, ROWS>(j, x, y, m, of_block);
    } else {
        store_known<C, ROWS>(j, x, y, of_block);
    }
    report<W>(j, t.x0, t.y0, counted);
}

template <int C, int W> static cudaError_t launch(const time_job &j, cudaStream_t stream)
{
    const dim3 grid((j.shape.width + W - 1) / W, (j.shape.height + TILE_H - 1) / TILE_H);
    const int bytes = int(sizes<W>::words(C) * sizeof(uint32_t));
    const cudaError_t status =
        cudaFuncSetAttribute(average<C, W>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);

    if (status != cudaSuccess)
        return status;
    average<C, W><<<grid, sizes<W>::threads, bytes, stream>>>(j);
    return cudaGetLastError();
}

template <int C> static cudaError_t launch_widest(const time_job &j, cudaStream_t stream)
{
    int device = 0, most = 0;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (status != cudaSuccess)
        return status;
    return most >= 80 * 1024 ? launch<C, 64>(j, stream) : launch<C, 32>(j, stream);
}

extern "C" int time_average(const time_job *j, cudaStream_t stream)
{
    return bilateral_errno(j->shape.components == 1 ? launch_widest<1>(*j, stream)
                                                    : launch_widest<3>(*j, stream));
}
