#pragma once
/* filter/noise.c by one thread block of 256, in double precision, and the tables of a frame.
 *
 * DESIGN. All wait for this thread block, so it goes to memory as seldom as it can: what was known
 * before is there when the counts are, and stays in shared memory. */
#include "cuda/kernel/time_device.cuh"
#include "filter/mean_count.h"
#include "filter/noise_follow.h"

#define LANE_BINS (TIME_BINS / 32)

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

/* The variance of which @share of all blocks have less; in all lanes. One division for all of them,
 * because the code of a single thread block has to come from far. */
static __device__ __noinline__ double quantile(const class_counts &k, double share, int lane)
{
    const double wanted = share * k.all;
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

    return who ? __shfl_sync(0xffffffffu, found, __ffs(int(who)) - 1) : 0.0;
}

/* What is known of the noise, and what the frame says of each class and of what means leave. */
struct measured {
    double variance[TIME_CLASSES], low[TIME_CLASSES], share, known[NOISE_PAIRS];
    int above[TIME_CLASSES], n_frames;
    bool is_new, is_drawn, is_left_known;
    double own[TIME_CLASSES], now[TIME_CLASSES];
    uint32_t n[TIME_CLASSES], drawn[TIME_CLASSES];
    /* Of classes that are mostly flat: their blocks, and so many times the median over own. */
    uint32_t flat[TIME_CLASSES];
    double uneven[TIME_CLASSES];
    long long left[TIME_LEFT];
};

/* The nearest class with enough blocks; -1: there is none. For a whole warp. */
static __device__ int nearest_class(const measured &m, int c, int lane)
{
    const uint32_t enough = __ballot_sync(
        0xffffffffu, lane < TIME_CLASSES && m.n[lane % TIME_CLASSES] >= NOISE_ENOUGH_BLOCKS);

    for (int away = 0; away < TIME_CLASSES; away++) {
        if (c >= away && enough >> (c - away) & 1)
            return c - away;
        if (enough >> (c + away) & 1)
            return c + away;
    }
    return -1;
}

/* What was known before. */
static __device__ void recall(const time_job &j, measured &m)
{
    const time_noise &n = *j.noise;
    const int c = threadIdx.x;

    if (c < TIME_CLASSES) {
        m.variance[c] = n.variance[c];
        m.low[c] = n.low[c];
        m.above[c] = n.above[c];
    }
    if (c < NOISE_PAIRS)
        m.known[c] = n.known[c];
    if (c == TIME_CLASSES) {
        m.share = n.share;
        m.is_left_known = n.known[0] > 0.0;
        m.n_frames = n.n_frames;
        m.is_new = is_new(j);
    }
    __syncthreads();
}

/* update_left(): a thread for the share, and one for each pair. */
static __device__ void update_left(measured &m, int i)
{
    const double by = m.n_frames < 3 || !m.is_left_known ? 1.0 : 0.1;

    if (m.left[0] <= 0)
        return;
    const double now = double(m.left[i + 1]) / (NOISE_MEANS * double(m.left[0]));

    if (i == 0)
        m.share += by * (fmax(now, NOISE_LEAST_SHARE) - m.share);
    else
        m.known[i - 1] += by * (now - m.known[i - 1]);
}

/* noise_update(): a thread for each class, and those after them for what is left. */
static __device__ void update(const time_job &j, measured &m)
{
    const enum noise_compared compared = !j.goes_on   ? NOISE_FIRST
                                         : j.searches ? NOISE_NEXT
                                                      : NOISE_AT_MOST;
    const int c = threadIdx.x;

    if (c < TIME_CLASSES) {
        noise_follow(&m.variance[c], &m.above[c], &m.low[c], m.now[c], m.n_frames, compared);
    } else if (c < TIME_CLASSES + TIME_LEFT - 1 && j.goes_on && !m.is_drawn) {
        update_left(m, c - TIME_CLASSES);
    }
    __syncthreads();
    if (c == 0)
        m.n_frames++;
}

/* Returns, in lane 0, how many blocks have no noise at all, which are left out. */
static __device__ uint32_t load_class(const time_noise &n, int c, int lane, class_counts &k)
{
    uint32_t drawn = 0;

    for (int i = 0; i < LANE_BINS; i++)
        k.bin[i] = __ldcg(&n.blocks[c][lane * LANE_BINS + i]);
    static_assert(NOISE_SEEN <= LANE_BINS, "all that no camera saw is in lane 0");
    for (int i = 0; i < NOISE_SEEN && lane == 0; i++) {
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

/* noise_raise() of measure_uneven(). For a whole warp. */
static __device__ double raise_of(const measured &m, int lane)
{
    const int c = lane % TIME_CLASSES;
    uint32_t flat = m.flat[c], all = m.n[c];
    double uneven = m.uneven[c];

    for (int away = 1; away < TIME_CLASSES; away *= 2) {
        flat += __shfl_xor_sync(0xffffffffu, flat, away);
        all += __shfl_xor_sync(0xffffffffu, all, away);
        uneven += __shfl_xor_sync(0xffffffffu, uneven, away);
    }
    return noise_raise(flat && NOISE_FLAT_PART * flat >= all ? uneven / flat : 0.0);
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
    *ret = NOISE_QUANTILE_TO_MEAN * quantile(all, NOISE_QUANTILE, lane);
    return all.all;
}

/* The counts of a frame into @m. False: there are none. A warp for each class. */
static __device__ bool take_counts(const time_job &j, measured &m)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t n_all = 1;
    class_counts k;
    const uint32_t drawn = load_class(*j.noise, warp, lane, k), flat = __ldcg(&j.noise->flat[warp]);
    double now, median;
    int nearest;

    if (threadIdx.x < TIME_LEFT)
        m.left[threadIdx.x] = (long long)__ldcg(&j.noise->left[threadIdx.x]);
    add_before(k, lane);
    now = quantile(k, NOISE_QUANTILE, lane);
    median = quantile(k, 0.5, lane);
    if (lane == 0) {
        const bool is_flat = k.all >= NOISE_ENOUGH_BLOCKS && 2 * flat >= k.all;

        m.own[warp] = NOISE_QUANTILE_TO_MEAN * now;
        m.n[warp] = k.all;
        m.drawn[warp] = drawn;
        m.flat[warp] = is_flat ? k.all : 0;
        m.uneven[warp] = is_flat ? k.all * median / now : 0.0;
    }
    __syncthreads();
    nearest = nearest_class(m, warp, lane);
    const bool drawn_all = is_drawn(m, lane);

    if (threadIdx.x == 0)
        m.is_drawn = drawn_all;
    if (drawn_all) {
        now = 0.0;
    } else if (nearest < 0) {
        n_all = variance_of_all(*j.noise, 0, TIME_CLASSES - 1, lane, &now);
        if (!n_all && m.n_frames < 2) /* else it is too dark to tell */
            n_all = variance_of_all(*j.noise, TIME_CLASSES, TIME_CLASSES, lane, &now);
    } else {
        now = raise_of(m, lane) * m.own[nearest];
    }
    if (lane == 0)
        m.now[warp] = now;
    __syncthreads();
    return n_all > 0;
}

/* noise_variance() */
static __device__ double variance_at(const measured &m, double y)
{
    const double at = (y - 16.0) / 32.0;
    const int c = at < 0.0 ? 0 : min(int(at), TIME_CLASSES - 2);
    const double part = fmin(fmax(at - c, 0.0), 1.0);

    return fmax(m.variance[c] + part * (m.variance[c + 1] - m.variance[c]), 1.0);
}

/* Returns whether a sigma of the thread's does not suit. */
static __device__ bool fill_tables(const time_job &j, const measured &m)
{
    time_noise &n = *j.noise;
    const int i = threadIdx.x;
    const double nu2 = variance_at(m, i), unit = double(j.form[0][0]) / FORM;
    const double factor = j.sigma_factor * (j.averages ? noise_widens(m.share) : 1.0);
    const double sigma2 =
        j.sigma_color > 0.0 ? j.sigma_color * j.sigma_color : factor * factor * nu2;
    const float frames = mean_count_frames(uint8_t(i));
    const float full = fminf(fmaxf(4.0f * frames / float(j.frames) - 3.0f, 0.0f), 1.0f);
    const float share = __powf(frames + float(j.frames - 1) * full * full, -1.2f) + 0.001f;

    n.nu2[i] = float(nu2 / unit);
    n.inv_two_sc2[i] = __fdividef(0.5f, float(sigma2));
    n.inv_share[i] = i ? __fdividef(1.0f, share) : 1.0f;
    if (i == 0) {
        const struct noise_left known = {m.known[0], m.known[1], m.known[2],
                                         m.known[3], m.known[4], m.known[5]};
        const bool grey = j.shape.components == 1;

        n.rho = float(m.share);
        n.white = noise_whitening(known, m.share, grey);
        n.in_luma = noise_luma_light(known, m.share, grey);
        n.in_chroma = noise_chroma_light(known, m.share);
        n.slack = noise_slack(float(m.share));
    }
    return sigma2 < j.least_sigma * j.least_sigma || sigma2 > j.most_sigma * j.most_sigma;
}

static __device__ void keep(const time_job &j, const measured &m)
{
    time_noise &n = *j.noise;
    const int i = threadIdx.x;

    for (int k = i; k < (TIME_CLASSES + 1) * TIME_BINS; k += 32 * WARPS)
        n.blocks[0][k] = 0;
    if (i < TIME_LEFT)
        n.left[i] = 0;
    if (i < NOISE_PAIRS)
        n.known[i] = m.known[i];
    if (i <= TIME_CLASSES)
        n.flat[i] = 0;
    if (i < TIME_CLASSES) {
        j.report->variance[i] = n.variance[i] = m.variance[i];
        n.low[i] = m.low[i];
        n.above[i] = m.above[i];
    }
    if (i == 0) {
        j.report->share = n.share = m.share;
        j.report->n_frames = n.n_frames = m.n_frames;
    }
}

/* What is not counted yet is known when it begins. */
static __device__ void time_follow_noise(const time_job &j)
{
    __shared__ measured m;

    recall(j, m);
    wait_for_before();
    if (m.is_new) {
        if (take_counts(j, m))
            update(j, m);
    } else if (m.n_frames == 1 && threadIdx.x < TIME_CLASSES) {
        m.variance[threadIdx.x] = 0.0; /* noise_repeat() */
    }
    __syncthreads();
    const bool unsuited = __syncthreads_or(fill_tables(j, m));

    if (threadIdx.x == 0)
        j.noise->unsuited = unsuited;
    keep(j, m);
}
