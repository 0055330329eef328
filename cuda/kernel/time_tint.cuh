#pragma once
/* How the light changes its colour: filter/tint.h. Blocks of noise vote, and a thread block counts
 * the votes while another one follows the noise. */
#include "cuda/kernel/time_device.cuh"
#include "cuda/kernel/time_quantile.cuh"
#include "filter/tint.h"

static_assert(TINT_BINS == TIME_BINS, "struct bin_counts");

/* The votes of a block of @n pixels; @now, @followed, @in_place: sums of the components over it,
 * and in the picture before along the motion and in the same place. @between, @known: noise_bin()
 * of what is between the pictures, and of what its class had before. */
template <int C>
static __device__ __forceinline__ void vote(const time_job &j, int n, const int *now,
                                            const int *followed, const int *in_place, int between,
                                            int known)
{
    const int64_t y = now[0] - n * int(j.zero[0]);
    time_noise &to = *j.noise;

    const uint32_t votes = tint_n_votes(y, n);

    if (!votes)
        return;
    atomicAdd(&to.tint_all, (unsigned long long)votes);
    if (!tint_is_alike(between, known))
        return;
#pragma unroll
    for (int m = 0; m < TINT_MEASURES; m++) {
        const int *const before = m == TINT_FOLLOWED ? followed : in_place;

#pragma unroll
        for (int c = 1; c < C; c++) {
            const int bin =
                tint_bin(y, now[0] - before[0], now[c] - n * int(j.zero[c]), now[c] - before[c]);

            atomicAdd(&to.tint_votes[m][c - 1][bin], votes);
        }
    }
}

#define TINT_WARPS (2 * TINT_MEASURES)

/* tint_find() by one thread block: each measure of U and of V has a warp. */
static __device__ __forceinline__ void time_find_tint(const time_job &j)
{
    __shared__ struct tint_votes of[TINT_MEASURES][2];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    time_noise &n = *j.noise;
    bin_counts k = {};

    wait_for_before();
    if (warp < TINT_WARPS) {
        load_bins(n.tint_votes[warp / 2][warp % 2], lane, k);
        add_before(k, lane);
        const double wanted[TINT_QUANTILES] = {0.125 * k.all, 0.5 * k.all, 0.875 * k.all};
        double at[TINT_QUANTILES];

        places<TINT_QUANTILES>(k, lane, wanted, at);
        if (lane == 0)
            of[warp / 2][warp % 2] = tint_votes_at(at);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const struct tint t = tint_that_counts(of, k.all, __ldcg(&n.tint_all));

        n.bounds.tint[0] = float(t.u);
        n.bounds.tint[1] = float(t.v);
        n.tint_all = 0;
    }
    for (int i = threadIdx.x; i < TINT_WARPS * TINT_BINS; i += blockDim.x)
        n.tint_votes[0][0][i] = 0;
}
