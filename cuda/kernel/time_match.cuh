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

static __global__ void __launch_bounds__(128) smooth(const time_job j)
{
    const int cols = j.shape.cols[0], rows = j.shape.rows[0];
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int col = at % cols, row = at / cols;
    time_vector own;
    int x = 0, y = 0, n_x = 0, n_y = 0;

    let_next_start();
    wait_for_before();
    if (row >= rows)
        return;
    own = match_at(j, at).v;
    if (own.x || own.y) {
        const int top = max(row - TIME_REACH, 0), bottom = min(row + TIME_REACH, rows - 1);

#pragma unroll 1
        for (int r = top; r <= bottom; r++)
#pragma unroll
            for (int c = col - TIME_REACH; c <= col + TIME_REACH; c++) {
                const bool inside = c >= 0 && c < cols;
                const time_match m = inside ? match_at(j, r * cols + c) : time_match{};
                const int away_x = m.v.x - own.x, away_y = m.v.y - own.y;

                if ((m.v.x || m.v.y) && abs(away_x) <= TIME_ALIKE && abs(away_y) <= TIME_ALIKE) {
                    x += m.weight_x * away_x;
                    y += m.weight_y * away_y;
                    n_x += m.weight_x;
                    n_y += m.weight_y;
                }
            }
        own = {int16_t(own.x + mean_of(x, n_x)), int16_t(own.y + mean_of(y, n_y))};
    }
    j.vector[0][at] = own;
}
