#pragma once
/* filter/noise.c by one thread block, in double precision, and the tables of a frame. Each class
 * has a warp.
 *
 * DESIGN. All wait for this thread block, so it goes to memory as seldom as it can: what was known
 * before is there when the counts are, and stays in shared memory. What does not depend on each
 * other is done at once, or by different warps. */
#include "cuda/kernel/time_device.cuh"
#include "cuda/kernel/time_quantile.cuh"
#include "filter/mean_count.h"
#include "filter/noise_follow.h"

#define FOLLOW_WARPS NOISE_ALL_CLASSES
#define TABLE 256 /* entries */

static __device__ __forceinline__ double bin_low(double bin)
{
    const int octave = int(bin) >> 4;

    return (1.0 + (bin - 16.0 * octave) / 16.0) *
           __hiloint2double((octave - 6 + 1023) << 20, 0); /* 2^(octave - 6) */
}

#define QUANTILES 2 /* NOISE_QUANTILE and the median */

/* The variances of which so many of all blocks have less; in all lanes. */
static __device__ __forceinline__ void quantiles(const bin_counts &k, int lane,
                                                 double ret[QUANTILES])
{
    const double wanted[QUANTILES] = {NOISE_QUANTILE * k.all, 0.5 * k.all};
    double at[QUANTILES];

    places<QUANTILES>(k, lane, wanted, at);
#pragma unroll
    for (int q = 0; q < QUANTILES; q++)
        ret[q] = at[q] < 0.0 ? 0.0 : bin_low(at[q]);
}

/* What is known of the noise, and what the frame says of each class and of what means leave. */
struct measured {
    double variance[NOISE_ALL_CLASSES], low[NOISE_ALL_CLASSES], share, known[NOISE_PAIRS];
    int above[NOISE_ALL_CLASSES], n_frames;
    struct noise_show show;
    bool is_new, is_drawn, is_left_known;
    bool ends_alone; /* only what is near black or white is known: noise.c */
    enum noise_compared compared;
    double own[NOISE_ALL_CLASSES], now[NOISE_ALL_CLASSES];
    uint32_t n[NOISE_ALL_CLASSES], drawn[NOISE_ALL_CLASSES];
    /* Of classes that are mostly flat: their blocks, and so many times the median over own. */
    uint32_t flat[NOISE_ALL_CLASSES];
    double uneven[NOISE_ALL_CLASSES];
    long long left[TIME_LEFT];
};

/* The nearest class with enough blocks, but those near black and white; -1: there is none. For a
 * whole warp. */
static __device__ int nearest_class(const measured &m, int c, int lane)
{
    const uint32_t enough = __ballot_sync(
        0xffffffffu, lane < NOISE_CLASSES && m.n[lane % NOISE_CLASSES] >= NOISE_ENOUGH_BLOCKS);
    const uint32_t below = enough & ((2u << c) - 1), above = enough >> c;
    const int down = below ? c - (31 - __clz(int(below))) : NOISE_CLASSES;
    const int up = above ? __ffs(int(above)) - 1 : NOISE_CLASSES;

    return !enough ? -1 : down <= up ? c - down : c + up;
}

/* What was known before, or after noise_repeat(), but for noise_set_aside(). */
static __device__ void recall(const time_job &j, measured &m)
{
    const time_noise &n = *j.noise;
    struct noise_show show = n.show;
    const bool new_one = is_new(j), ends = new_one && noise_show_changes(&show);
    const bool still = !new_one && noise_show_repeats(&show), forgets = still && show.on;
    const int c = threadIdx.x;

    if (c < NOISE_ALL_CLASSES) {
        m.variance[c] = forgets ? 0.0 : n.variance[c];
        m.low[c] = still && n.n_frames == 1 ? 0.0 : n.low[c];
        m.above[c] = forgets ? 0 : n.above[c];
    }
    if (c < NOISE_PAIRS)
        m.known[c] = n.known[c];
    if (c == 32) { /* of another warp */
        m.share = n.share;
        m.is_left_known = n.known[0] > 0.0;
        m.n_frames = ends ? 0 : n.n_frames;
        m.show = show;
        m.is_new = new_one;
    }
    __syncthreads();
}

static __device__ __forceinline__ enum noise_compared compared_of(const time_job &j)
{
    return !j.goes_on ? NOISE_FIRST : j.searches ? NOISE_NEXT : NOISE_AT_MOST;
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

/* noise_update(): a thread for each class, and those of another warp for what is left. */
static __device__ void update(const time_job &j, measured &m)
{
    const int i = threadIdx.x;

    if (i < NOISE_ALL_CLASSES &&
        (!m.ends_alone || (i >= NOISE_CLASSES && m.n[i] >= NOISE_ENOUGH_BLOCKS)))
        noise_follow(&m.variance[i], &m.above[i], &m.low[i], m.now[i], m.n_frames,
                     i < NOISE_CLASSES ? m.compared : compared_of(j));
    else if (i >= 32 && i < 32 + TIME_LEFT - 1 && j.goes_on && !m.is_drawn)
        update_left(m, i - 32);
    __syncthreads();
    if (i >= NOISE_CLASSES && i < NOISE_ALL_CLASSES && !m.ends_alone)
        m.variance[i] = fmin(m.variance[i], m.variance[noise_beside(i)]);
    if (i == 0)
        m.n_frames++;
}

/* Returns, in lane 0, how many blocks have no noise at all, which are left out. */
static __device__ uint32_t load_class(const time_noise &n, int c, int lane, bin_counts &k)
{
    uint32_t drawn = 0;

    load_bins(n.blocks[c], lane, k);
    static_assert(NOISE_SEEN <= LANE_BINS, "all that no camera saw is in lane 0");
    for (int i = 0; i < NOISE_SEEN && lane == 0; i++) {
        drawn += k.bin[i];
        k.bin[i] = 0;
    }
    return drawn;
}

/* What all classes say together. For a whole warp. */
struct all_classes {
    bool is_drawn, part_drawn; /* noise_is_drawn(), noise_part_drawn() */
    uint32_t drawn, seen;
    double raise; /* noise_raise() of measure_uneven() */

    __device__ __forceinline__ all_classes(const measured &m, enum noise_compared compared,
                                           int lane)
    {
        const int c = lane % NOISE_CLASSES;
        uint32_t flat = m.flat[c];
        double uneven = m.uneven[c];

        drawn = m.drawn[c];
        seen = m.n[c];

#pragma unroll
        for (int away = 1; away < NOISE_CLASSES; away *= 2) {
            drawn += __shfl_xor_sync(0xffffffffu, drawn, away);
            flat += __shfl_xor_sync(0xffffffffu, flat, away);
            seen += __shfl_xor_sync(0xffffffffu, seen, away);
            uneven += __shfl_xor_sync(0xffffffffu, uneven, away);
        }
        is_drawn = noise_is_drawn(drawn, seen, compared);
        part_drawn =
            noise_part_drawn(drawn, m.drawn[NOISE_NEAR_BLACK] + m.drawn[NOISE_NEAR_WHITE], seen);
        raise = noise_raise(flat && NOISE_FLAT_PART * flat >= seen ? uneven / flat : 0.0);
    }
};

/* Several classes in one, for a picture in which none has enough; how many blocks there are. */
static __device__ __noinline__ uint32_t variance_of_all(const time_noise &n, int first, int last,
                                                        int lane, double *ret)
{
    bin_counts all = {}, k;
    double now[QUANTILES];

    for (int c = first; c <= last; c++) {
        (void)load_class(n, c, lane, k);
        for (int i = 0; i < LANE_BINS; i++)
            all.bin[i] += k.bin[i];
    }
    add_before(all, lane);
    quantiles(all, lane, now);
    *ret = NOISE_QUANTILE_TO_MEAN * now[0];
    return all.all;
}

/* The counts of a frame into @m. False: there are none. */
static __device__ __forceinline__ bool take_counts(const time_job &j, measured &m)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t n_all = 1;
    bin_counts k;
    const uint32_t drawn = load_class(*j.noise, warp, lane, k), flat = __ldcg(&j.noise->flat[warp]);
    double own[QUANTILES];
    double now;
    int nearest;

    if (threadIdx.x < TIME_LEFT)
        m.left[threadIdx.x] = (long long)__ldcg(&j.noise->left[threadIdx.x]);
    add_before(k, lane);
    quantiles(k, lane, own);
    if (lane == 0) {
        const bool is_flat = noise_is_flat(k.all, flat, own[1], own[0], compared_of(j));

        m.own[warp] = NOISE_QUANTILE_TO_MEAN * own[0];
        m.n[warp] = k.all;
        m.drawn[warp] = drawn;
        m.flat[warp] = is_flat ? k.all : 0;
        m.uneven[warp] = is_flat ? k.all * own[1] / own[0] : 0.0;
    }
    __syncthreads();
    nearest = nearest_class(m, noise_beside(warp), lane);
    const all_classes all(m, compared_of(j), lane);

    if (threadIdx.x == 0) {
        m.is_drawn = all.is_drawn;
        m.show.part_drawn = all.part_drawn;
        m.compared = noise_compared_in(compared_of(j), all.seen, uint64_t(j.noise_blocks));
        m.ends_alone = false;
    }
    if (all.is_drawn) {
        now = 0.0;
    } else if (nearest < 0) {
        n_all = variance_of_all(*j.noise, 0, NOISE_CLASSES - 1, lane, &now);
        if (!n_all) {
            n_all = variance_of_all(*j.noise, NOISE_NEAR_BLACK, NOISE_NEAR_WHITE, lane, &now);
            if (threadIdx.x == 0)
                m.ends_alone = m.n_frames > 1;
        }
    } else {
        now = all.raise * m.own[nearest];
    }
    if (warp >= NOISE_CLASSES && k.all >= NOISE_ENOUGH_BLOCKS && !all.is_drawn)
        now = own[1]; /* measure_ends() */
    if (lane == 0)
        m.now[warp] = noise_beside_drawn(now, all.drawn, all.seen);
    __syncthreads();
    return n_all > 0;
}

/* One of the bounds, or two: a thread of each warp, so that none does all of them. */
static __device__ __forceinline__ void fill_bounds(const time_job &j, const measured &m, int which)
{
    const struct noise_left known = {m.known[0], m.known[1], m.known[2],
                                     m.known[3], m.known[4], m.known[5]};
    const bool grey = j.shape.components == 1;
    time_bounds &to = j.noise->bounds;

    if (which == 0) {
        to.white = noise_whitening(known, m.share, grey);
    } else if (which == 1) {
        to.in_luma = noise_luma_light(known, m.share, grey);
    } else if (which == 2) {
        to.in_chroma = noise_chroma_light(known, m.share);
    } else if (which == 3) {
        to.rho = float(m.share);
        to.slack = noise_slack(float(m.share));
    }
}

/* Returns whether a sigma of the thread's does not suit. */
static __device__ bool fill_tables(const time_job &j, const measured &m)
{
    time_noise &n = *j.noise;
    const int i = threadIdx.x;
    const double nu2 = noise_by_luma(m.variance, i);
    const float unit = float(j.form[0][0]) / FORM;
    const double counts = j.averages ? m.share : 0.0;
    const double factor =
        j.sigma_factor * noise_widens(counts) * (j.shape.vshift ? noise_widens_420(counts) : 1.0);
    const double sigma2 =
        j.sigma_color > 0.0 ? j.sigma_color * j.sigma_color : factor * factor * nu2;
    const float frames = mean_count_frames(uint8_t(i));
    const float full = fminf(fmaxf(4.0f * frames / float(j.frames) - 3.0f, 0.0f), 1.0f);
    const float narrows =
        j.averages && j.sigma_color <= 0.0 ? noise_narrows(m.share, frames, j.frames) : 1.0f;
    const float share = __powf(frames + float(j.frames - 1) * full * full, -1.2f) + 0.001f;

    n.nu2[i] = __fdividef(float(nu2), unit);
    n.inv_two_sc2[i] = __fdividef(0.5f, float(sigma2));
    n.inv_share[i] = i ? __fdividef(1.0f, narrows * narrows * share) : 1.0f;
    if (i % 32 == 0)
        fill_bounds(j, m, i / 32);
    return sigma2 < j.least_sigma * j.least_sigma || sigma2 > j.most_sigma * j.most_sigma;
}

/* For the next frame. */
static __device__ __forceinline__ void clear_counts(time_noise &n)
{
    const int i = threadIdx.x;

    for (int k = i; k < NOISE_ALL_CLASSES * TIME_BINS; k += 32 * FOLLOW_WARPS)
        n.blocks[0][k] = 0;
    if (i < TIME_LEFT)
        n.left[i] = 0;
    if (i < NOISE_ALL_CLASSES)
        n.flat[i] = 0;
}

static __device__ void keep(const time_job &j, const measured &m)
{
    time_noise &n = *j.noise;
    const int i = threadIdx.x;

    if (i < NOISE_PAIRS)
        n.known[i] = m.known[i];
    if (i < NOISE_ALL_CLASSES) {
        j.report->variance[i] = n.variance[i] = m.variance[i];
        n.low[i] = m.low[i];
        n.above[i] = m.above[i];
    }
    if (i == 0) {
        j.report->share = n.share = m.share;
        j.report->n_frames = n.n_frames = m.n_frames;
        n.show = m.show;
        n.starts_again = noise_show_stops(&m.show);
    }
}

/* What is not counted yet is known when it begins. */
static __device__ __forceinline__ void time_follow_noise(const time_job &j)
{
    __shared__ measured m;

    recall(j, m);
    wait_for_before();
    if (m.is_new) {
        if (take_counts(j, m) && !m.show.on)
            update(j, m);
    } else if (m.n_frames == 1 && threadIdx.x < NOISE_ALL_CLASSES) {
        noise_set_aside(&m.variance[threadIdx.x], &m.low[threadIdx.x]); /* noise_repeat() */
    }
    __syncthreads();
    clear_counts(*j.noise);
    const bool unsuited = __syncthreads_or(threadIdx.x < TABLE && fill_tables(j, m));

    if (threadIdx.x == 0)
        j.noise->unsuited = unsuited;
    keep(j, m);
}
