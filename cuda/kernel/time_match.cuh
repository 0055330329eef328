#pragma once
/* The last step of the search (engine/time/motion.h): each vector moves by the mean of how far
 * those around that are alike are from it. */
#include <cstring>

#include "cuda/kernel/time_device.cuh"

/* A match is loaded and stored as one word of 8 bytes. */
static __device__ __forceinline__ time_match match_at(const time_job &j, int at)
{
    const uint2 word = reinterpret_cast<const uint2 *>(j.matched)[at];
    time_match ret;

    static_assert(sizeof(ret) == sizeof(word), "");
    memcpy(&ret, &word, sizeof(ret));
    return ret;
}

static __device__ __forceinline__ void put_match(const time_job &j, int at, const time_match &m)
{
    uint2 word;

    memcpy(&word, &m, sizeof(word));
    reinterpret_cast<uint2 *>(j.matched)[at] = word;
}

static __device__ __forceinline__ int mean_of(int sum, int n)
{
    const int mean = (2 * abs(sum) + n) / (2 * n);

    return sum < 0 ? -mean : mean;
}

#define SMOOTH_WARPS 4 /* of 32 blocks: each has every fourth row around them */

/* How far others are from a block's vector, added up by weight, and their weights. */
struct alike_sums {
    int x, y, n_x, n_y;
};

static __device__ __forceinline__ void add(alike_sums &to, const alike_sums &s)
{
    to.x += s.x;
    to.y += s.y;
    to.n_x += s.n_x;
    to.n_y += s.n_y;
}

/* Of row @r, around column @col. */
static __device__ __forceinline__ alike_sums sum_alike(const time_job &j, time_vector own, int r,
                                                       int col)
{
    const int cols = j.shape.cols[0];
    alike_sums s = {};

#pragma unroll
    for (int c = col - TIME_REACH; c <= col + TIME_REACH; c++) {
        const bool inside = c >= 0 && c < cols;
        const time_match m = inside ? match_at(j, r * cols + c) : time_match{};
        const int away_x = m.v.x - own.x, away_y = m.v.y - own.y;

        if ((m.v.x || m.v.y) && abs(away_x) <= TIME_ALIKE && abs(away_y) <= TIME_ALIKE)
            add(s, {m.weight_x * away_x, m.weight_y * away_y, m.weight_x, m.weight_y});
    }
    return s;
}

static __global__ void __launch_bounds__(32 * SMOOTH_WARPS) smooth(const time_job j)
{
    __shared__ alike_sums part[SMOOTH_WARPS][32];
    const int cols = j.shape.cols[0], rows = j.shape.rows[0];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, at = blockIdx.x * 32 + lane;
    const int col = at % cols, row = at / cols;
    time_vector own = {0, 0};
    alike_sums s = {};

    let_next_start();
    wait_for_before();
    if (row < rows)
        own = match_at(j, at).v;
    if (!__any_sync(0xffffffffu, own.x || own.y)) { /* in all warps alike */
        if (warp == 0 && row < rows)
            j.vector[0][at] = own;
        return;
    }
    if (own.x || own.y) {
        const int top = row - TIME_REACH;

#pragma unroll
        for (int i = 0; i <= 2 * TIME_REACH; i += SMOOTH_WARPS) {
            const int r = top + i + warp;

            if (i + warp <= 2 * TIME_REACH && r >= 0 && r < rows)
                add(s, sum_alike(j, own, r, col));
        }
    }
    part[warp][lane] = s;
    __syncthreads();
    if (warp > 0 || row >= rows)
        return;
    for (int k = 1; k < SMOOTH_WARPS; k++)
        add(s, part[k][lane]);
    if (own.x || own.y)
        own = {int16_t(own.x + mean_of(s.x, s.n_x)), int16_t(own.y + mean_of(s.y, s.n_y))};
    j.vector[0][at] = own;
}
