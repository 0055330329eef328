#pragma once
/* Counts in TIME_BINS bins, and where among them so many of all lie, by a warp. */
#include "cuda/kernel/time_device.cuh"

#define LANE_BINS (TIME_BINS / 32)

/* LANE_BINS bins in each lane. */
struct bin_counts {
    uint32_t bin[LANE_BINS], before, all; /* before: in the lanes to the left */
};

static __device__ __forceinline__ void load_bins(const uint32_t *from, int lane, bin_counts &k)
{
    for (int i = 0; i < LANE_BINS; i++)
        k.bin[i] = __ldcg(&from[lane * LANE_BINS + i]);
}

static __device__ void add_before(bin_counts &k, int lane)
{
    uint32_t own = 0, upto;

    for (int i = 0; i < LANE_BINS; i++)
        own += k.bin[i];
    upto = own;
    for (int away = 1; away < 32; away *= 2) {
        const uint32_t left = __shfl_up_sync(0xffffffffu, upto, away);

        upto += lane >= away ? left : 0;
    }
    k.before = upto - own;
    k.all = __shfl_sync(0xffffffffu, upto, 31);
}

/* The places, in bins, below which @wanted of all lie, evenly in a bin; in all lanes. Less than 0
 * where there are none. */
template <int N>
static __device__ __forceinline__ void places(const bin_counts &k, int lane, const double wanted[N],
                                              double ret[N])
{
    uint32_t before[N] = {}, own[N] = {}, upto = k.before;
    int at[N] = {};

#pragma unroll
    for (int i = 0; i < LANE_BINS; i++) {
        const uint32_t to = upto + k.bin[i];

#pragma unroll
        for (int q = 0; q < N; q++)
            if (!own[q] && k.bin[i] && to >= uint32_t(ceil(wanted[q]))) {
                at[q] = lane * LANE_BINS + i;
                before[q] = upto;
                own[q] = k.bin[i];
            }
        upto = to;
    }
#pragma unroll
    for (int q = 0; q < N; q++) {
        const double found = at[q] + (wanted[q] - before[q]) / max(own[q], 1u);
        const uint32_t who = __ballot_sync(0xffffffffu, own[q]);

        ret[q] = who ? __shfl_sync(0xffffffffu, found, __ffs(int(who)) - 1) : -1.0;
    }
}
