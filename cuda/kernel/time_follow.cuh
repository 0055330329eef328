#pragma once
/* filter/noise.c by one thread block of 256, in double precision, and the tables of a frame. */
#include "cuda/kernel/time_device.cuh"
#include "filter/noise_follow.h"

#define LANE_BINS (TIME_BINS / 32)
#define SEEN 4 /* the first bin of blocks that a camera saw; all those before are in lane 0 */
#define ENOUGH_BLOCKS 12

/* One class of struct noise_sums in a warp: LANE_BINS bins in each lane. */
struct class_counts {
    uint32_t bin[LANE_BINS], before, all; /* before: in the lanes to the left */
};

static __device__ void add_before(class_counts &k, int lane)
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

static __device__ double bin_low(double bin)
{
    const int whole = int(bin), octave = whole >> 4;

    return (1.0 + (bin - 16.0 * octave) / 16.0) *
           __hiloint2double((octave - 6 + 1023) << 20, 0); /* 2^(octave - 6) */
}

/* 1.2 times the 6 % quantile; in all lanes. One division for all of them, because the code of a
 * single thread block has to come from far. */
static __device__ double low_variance(const class_counts &k, int lane)
{
    const double wanted = 0.06 * k.all;
    const uint32_t least = uint32_t(ceil(wanted));
    uint32_t upto = k.before, before = 0, own = 0;
    int at = 0;

    for (int i = 0; i < LANE_BINS; i++) {
        if (!own && k.bin[i] && upto + k.bin[i] >= least) {
            at = lane * LANE_BINS + i;
            before = upto;
            own = k.bin[i];
        }
        upto += k.bin[i];
    }
    const double found = bin_low(at + (wanted - before) / max(own, 1u));
    const uint32_t who = __ballot_sync(0xffffffffu, own);

    return who ? 1.2 * __shfl_sync(0xffffffffu, found, __ffs(int(who)) - 1) : 0.0;
}

/* What the frame says of each class, and of the share that is left. */
struct measured {
    double own[TIME_CLASSES], now[TIME_CLASSES];
    uint32_t n[TIME_CLASSES], drawn[TIME_CLASSES];
    unsigned long long blocks, left; /* where no more than noise was measured */
};

/* The nearest class with enough blocks; -1: there is none. For a whole warp. */
static __device__ int nearest_class(const measured &m, int c, int lane)
{
    const uint32_t enough = __ballot_sync(
        0xffffffffu, lane < TIME_CLASSES && m.n[lane % TIME_CLASSES] >= ENOUGH_BLOCKS);

    for (int away = 0; away < TIME_CLASSES; away++) {
        if (c >= away && enough >> (c - away) & 1)
            return c - away;
        if (enough >> (c + away) & 1)
            return c + away;
    }
    return -1;
}

/* noise_update(): a thread for each class, and one for the share. */
static __device__ void update(const time_job &j, const measured &m)
{
    time_noise &n = *j.noise;
    const enum noise_compared compared = !j.goes_on   ? NOISE_FIRST
                                         : j.searches ? NOISE_NEXT
                                                      : NOISE_AT_MOST;
    const int c = threadIdx.x, n_frames = n.n_frames;

    if (c < TIME_CLASSES) {
        noise_follow(&n.variance[c], &n.above[c], &n.low[c], m.now[c], n_frames, compared);
    } else if (c == TIME_CLASSES) {
        const double share =
            fmax(double(m.left) / double(m.blocks) / NOISE_SHARE, NOISE_LEAST_SHARE);

        if (j.goes_on && m.blocks)
            n.share = n_frames < 2 ? share : n.share + 0.1 * (share - n.share);
    }
    __syncthreads();
    if (c == 0)
        n.n_frames = n_frames + 1;
}

/* Returns, in lane 0, how many blocks have no noise at all, which are left out. */
static __device__ uint32_t load_class(const time_noise &n, int c, int lane, class_counts &k)
{
    uint32_t drawn = 0;

    for (int i = 0; i < LANE_BINS; i++)
        k.bin[i] = __ldcg(&n.blocks[c][lane * LANE_BINS + i]);
    for (int i = 0; i < SEEN && lane == 0; i++) {
        drawn += k.bin[i];
        k.bin[i] = 0;
    }
    return drawn;
}

/* Whether most blocks have no noise. For a whole warp. */
static __device__ bool is_drawn(const measured &m, int lane)
{
    const int c = lane % TIME_CLASSES;
    int more = int(m.drawn[c]) - int(m.n[c]);

    for (int away = 1; away < TIME_CLASSES; away *= 2)
        more += __shfl_xor_sync(0xffffffffu, more, away);
    return more > 0;
}

/* Several classes in one, for a picture in which none has enough; how many blocks there are. */
static __device__ __noinline__ uint32_t variance_of_all(const time_noise &n, int first, int last,
                                                        int lane, double *ret)
{
    class_counts all = {}, k;

    for (int c = first; c <= last; c++) {
        (void)load_class(n, c, lane, k);
        for (int i = 0; i < LANE_BINS; i++)
            all.bin[i] += k.bin[i];
    }
    add_before(all, lane);
    *ret = low_variance(all, lane);
    return all.all;
}

/* Adds a warp's bins up to @last to what is left where no more than noise was measured. */
static __device__ void add_share(measured &m, const class_counts &k, const uint32_t *left, int last,
                                 int lane)
{
    unsigned long long blocks = 0, share = 0;

    for (int i = 0; i < LANE_BINS; i++)
        if (lane * LANE_BINS + i <= last && k.bin[i]) {
            blocks += k.bin[i];
            share += left[i];
        }
    for (int away = 16; away; away /= 2) {
        blocks += __shfl_xor_sync(0xffffffffu, blocks, away);
        share += __shfl_xor_sync(0xffffffffu, share, away);
    }
    if (lane == 0) {
        atomicAdd(&m.blocks, blocks);
        atomicAdd(&m.left, share);
    }
}

/* The counts of a frame into @m. False: there are none. A warp for each class. */
static __device__ bool take_counts(const time_job &j, measured &m)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t left[LANE_BINS], n_all = 1;
    class_counts k;
    const uint32_t drawn = load_class(*j.noise, warp, lane, k);
    double now;
    int nearest;

    for (int i = 0; i < LANE_BINS; i++)
        left[i] = __ldcg(&j.noise->left[warp][lane * LANE_BINS + i]);
    add_before(k, lane);
    now = low_variance(k, lane);
    if (lane == 0) {
        m.own[warp] = now;
        m.n[warp] = k.all;
        m.drawn[warp] = drawn;
    }
    if (threadIdx.x == 0)
        m.blocks = m.left = 0;
    __syncthreads();
    nearest = nearest_class(m, warp, lane);
    if (is_drawn(m, lane)) {
        now = 0.0;
    } else if (nearest < 0) {
        n_all = variance_of_all(*j.noise, 0, TIME_CLASSES - 1, lane, &now);
        if (!n_all && j.noise->n_frames < 2) /* else it is too dark to tell */
            n_all = variance_of_all(*j.noise, TIME_CLASSES, TIME_CLASSES, lane, &now);
    } else {
        now = m.own[nearest];
    }
    if (lane == 0)
        m.now[warp] = now;
    add_share(m, k, left, n_all ? bin_of(now) : -1, lane);
    __syncthreads();
    return n_all > 0;
}

/* noise_variance() */
static __device__ double variance_at(const time_noise &n, double y)
{
    const double at = (y - 16.0) / 32.0;
    const int c = at < 0.0 ? 0 : min(int(at), TIME_CLASSES - 2);
    const double part = fmin(fmax(at - c, 0.0), 1.0);

    return fmax(n.variance[c] + part * (n.variance[c + 1] - n.variance[c]), 1.0);
}

static __device__ void fill_tables(const time_job &j)
{
    time_noise &n = *j.noise;
    const int i = threadIdx.x;
    const double nu2 = variance_at(n, i), frames = double(i) / j.count_steps;
    const double full = fmin(fmax(frames - j.frames + 1.0, 0.0), 1.0);
    const double sigma = j.sigma_color > 0.0 ? j.sigma_color : j.sigma_factor * sqrt(nu2);
    const float share = powf(float(frames + (j.frames - 1) * full * full), -1.2f) + 0.001f;

    n.nu2[i] = float(nu2);
    n.inv_two_sc2[i] = float(0.5 / (sigma * sigma));
    n.inv_share[i] = i ? 1.0f / share : 1.0f;
    if (i == 0) {
        n.rho = float(n.share);
        n.three_kappa = 3.0f * 0.0071f * powf(float(n.share / 0.14), 1.7f);
    }
    if (sigma < j.least_sigma || sigma > j.most_sigma)
        n.unsuited = 1;
}

static __device__ void time_follow_noise(const time_job &j)
{
    __shared__ measured m;

    if (is_new(j)) {
        if (take_counts(j, m))
            update(j, m);
    } else if (j.noise->n_frames == 1 && threadIdx.x < TIME_CLASSES) {
        j.noise->variance[threadIdx.x] = 0.0; /* noise_repeat() */
    }
    if (threadIdx.x == 0) {
        j.noise->unsuited = 0;
        j.report->n_frames = j.noise->n_frames;
    }
    __syncthreads();
    fill_tables(j);
    for (int i = threadIdx.x; i < (TIME_CLASSES + 1) * TIME_BINS; i += 32 * WARPS)
        j.noise->blocks[0][i] = j.noise->left[0][i] = 0;
    if (threadIdx.x < TIME_CLASSES)
        j.report->variance[threadIdx.x] = j.noise->variance[threadIdx.x];
}
