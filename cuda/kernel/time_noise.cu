/* How much noise there is: engine/time/noise_blocks.h and filter/noise.h.
 *
 * DESIGN. A warp has a block of 16x16, a lane half a row of it: 8 pixels, which have one vector.
 * They stay bytes, four in a word, for what is linear or quadratic in differences is a sum of
 * products of bytes. All sums are exact. Then a thread block follows the noise from the counts and
 * fills the tables of the frame. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_device.cuh"

#define SIDE 16
#define INNER (SIDE / 2 - 2) /* cells whose neighbours are in the block */
#define PIXELS 8             /* of a lane */
#define WORDS (PIXELS / 4)
#define MEASURE_WARPS 4
#define WARPS 8 /* of the thread block that follows the noise */
#define ALL 0xffffffffu
#define BIAS 2048  /* makes sums weighed 1 3 3 1 of differences positive */
#define SHARE 4096 /* NOISE_SHARE, and the scale of the colours' form */

#define PRODUCTS(C) ((C) * ((C) + 1) / 2) /* c_i c_j, i <= j */
enum { STILL, MOVED, SMOOTHED, MEASURES };

/* What a block adds up to: s of c, a and b of c times twice the column and row about the middle, p
 * of the products. */
struct block_sums {
    int s[MEASURES][3], a[3], b[3];
    int64_t p[MEASURES][PRODUCTS(3)];
};

/* A lane's pixels of each component. */
template <int C> struct half_row {
    uint32_t w[C][WORDS];
};

static __device__ __forceinline__ int add_lanes(int v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL, v);
#else
    for (int i = 16; i; i /= 2)
        v += __shfl_xor_sync(ALL, v, i);
    return v;
#endif
}

/* The same for sums that 32 bits do not hold. */
static __device__ __forceinline__ int64_t add_lanes_long(int v)
{
    return int64_t(add_lanes(v >> 16)) * 65536 + add_lanes(v & 0xffff);
}

/* @N words of bytes from any @at on. */
template <int N> static __device__ __forceinline__ void load_words(const uint8_t *at, uint32_t *ret)
{
    const uint32_t *words =
        reinterpret_cast<const uint32_t *>(reinterpret_cast<uintptr_t>(at) & ~uintptr_t(3));
    const uint32_t shift = 8 * (reinterpret_cast<uintptr_t>(at) & 3);
    uint32_t next = __ldg(words);

#pragma unroll
    for (int i = 0; i < N; i++) {
        const uint32_t word = next;

        next = __ldg(words + i + 1);
        ret[i] = __funnelshift_r(word, next, shift);
    }
}

/* Eighths of a luma sample to luma samples that are whole samples of a component. */
static __device__ __forceinline__ int to_whole(int v, int shift)
{
    return (v + (4 << shift)) >> (3 + shift) << shift;
}

/* The pixels from (@x, @y) on in a picture, moved by @v to whole samples of each component. */
template <int C>
static __device__ __forceinline__ half_row<C> load(const time_shape &s, const time_picture &p,
                                                   int x, int y, time_vector v)
{
    half_row<C> r;

    load_words<WORDS>(p.luma + (y + to_whole(v.y, 0)) * s.stride + x + to_whole(v.x, 0), r.w[0]);
#pragma unroll
    for (int c = 1; c < C; c++) {
        const uint8_t *at = p.chroma[c - 1] +
                            ((y + to_whole(v.y, s.vshift)) >> s.vshift) * s.stride_c +
                            ((x + to_whole(v.x, s.hshift)) >> s.hshift);

        if (s.hshift) {
            load_words<1>(at, r.w[c]);
            r.w[c][1] = __byte_perm(r.w[c][0], 0, 0x3322);
            r.w[c][0] = __byte_perm(r.w[c][0], 0, 0x1100);
        } else {
            load_words<WORDS>(at, r.w[c]);
        }
    }
    return r;
}

/* Sums of products of bytes. */
static __device__ __forceinline__ int dot(const uint32_t a[WORDS], const uint32_t b[WORDS])
{
    return int(__dp4a(a[0], b[0], __dp4a(a[1], b[1], 0u)));
}

static __device__ __forceinline__ int sum(const uint32_t a[WORDS])
{
    const uint32_t ones[WORDS] = {0x01010101u, 0x01010101u};

    return dot(a, ones);
}

/* Of the pixels themselves. */
template <int C>
static __device__ __forceinline__ void add_still(const half_row<C> &h, int first_u, int row_v,
                                                 block_sums &to, int lane)
{
    const uint32_t columns[WORDS] = {0x03020100u, 0x07060504u};

#pragma unroll
    for (int c = 0, k = 0; c < C; c++) {
        const int s = sum(h.w[c]);
        const int all = add_lanes(s), b = add_lanes(s * row_v);
        const int a = add_lanes(first_u * s + 2 * dot(h.w[c], columns));

        if (lane == 0) {
            to.s[STILL][c] = all;
            to.a[c] = a;
            to.b[c] = b;
        }
#pragma unroll
        for (int d = c; d < C; d++, k++) {
            const int p = add_lanes(dot(h.w[c], h.w[d]));

            if (lane == 0)
                to.p[STILL][k] = p;
        }
    }
}

/* Of differences: (x - z) (x' - z') = x x' - x z' - z x' + z z'. */
template <int C>
static __device__ __forceinline__ void add_moved(const half_row<C> &x, const half_row<C> &z,
                                                 block_sums &to, int lane)
{
#pragma unroll
    for (int c = 0, k = 0; c < C; c++) {
        const int s = add_lanes(sum(x.w[c]) - sum(z.w[c]));

        if (lane == 0)
            to.s[MOVED][c] = s;
#pragma unroll
        for (int d = c; d < C; d++, k++) {
            const int p = add_lanes(dot(x.w[c], x.w[d]) - dot(x.w[c], z.w[d]) -
                                    dot(z.w[c], x.w[d]) + dot(z.w[c], z.w[d]));

            if (lane == 0)
                to.p[MOVED][k] = p;
        }
    }
}

/* The lane's row weighed 1 3 3 1 about three cells: those of the left half, or of the right one. */
static __device__ __forceinline__ void tents(const uint32_t w[WORDS], bool right, int ret[3])
{
    const uint32_t weights = 0x01030301u;
    const uint32_t other = __shfl_xor_sync(ALL, right ? w[0] : w[1], 1);
    const uint32_t across =
        right ? __funnelshift_r(other, w[0], 24) : __funnelshift_r(w[1], other, 8);

    ret[0] = int(__dp4a(__funnelshift_r(w[0], w[1], 8), weights, 0u));
    ret[1] = int(__dp4a(__funnelshift_r(w[0], w[1], 24), weights, 0u));
    ret[2] = int(__dp4a(across, weights, 0u));
}

/* The same down four rows, of which the lane has the second. */
static __device__ __forceinline__ uint32_t add_rows(uint32_t v)
{
    return __shfl_up_sync(ALL, v, 2) + 3 * (v + __shfl_down_sync(ALL, v, 2)) +
           __shfl_down_sync(ALL, v, 4);
}

/* Of 64 times E of the differences over the inner 6x6 cells: three of every other row's lanes. */
template <int C>
static __device__ __forceinline__ void add_smoothed(const half_row<C> &x, const half_row<C> &z,
                                                    block_sums &to, int lane)
{
    const int row = lane / 2;
    const bool owns = row % 2 == 0 && row > 0 && row < SIDE - 2, right = lane % 2;
    int e[C][3];

#pragma unroll
    for (int c = 0; c < C; c++) {
        int now[3], before[3];

        tents(x.w[c], right, now);
        tents(z.w[c], right, before);
        const uint32_t both = add_rows(uint32_t(now[0] - before[0] + BIAS) |
                                       uint32_t(now[1] - before[1] + BIAS) << 16);
        const uint32_t one = add_rows(uint32_t(now[2] - before[2] + BIAS));

        e[c][0] = owns ? int(both & 0xffff) - 8 * BIAS : 0;
        e[c][1] = owns ? int(both >> 16) - 8 * BIAS : 0;
        e[c][2] = owns ? int(one) - 8 * BIAS : 0;
    }
#pragma unroll
    for (int c = 0, k = 0; c < C; c++) {
        const int s = add_lanes(e[c][0] + e[c][1] + e[c][2]);

        if (lane == 0)
            to.s[SMOOTHED][c] = s;
#pragma unroll
        for (int d = c; d < C; d++, k++) {
            const int64_t p =
                add_lanes_long(e[c][0] * e[d][0] + e[c][1] * e[d][1] + e[c][2] * e[d][2]);

            if (lane == 0)
                to.p[SMOOTHED][k] = p;
        }
    }
}

/* spread() of engine/time/noise_blocks.c: the covariance times n^2 in R'G'B'. Of each measure eight
 * lanes have a product each, and the sum at the end. */
template <int C>
static __device__ int64_t spread(const time_job &j, const block_sums &sums, int lane)
{
    const int measure = lane / 8, k = lane % 8;
    int64_t v = 0;

    if (measure < MEASURES && k < PRODUCTS(C)) {
        const int c = 0x211000 >> 4 * k & 15, d = 0x221210 >> 4 * k & 15;
        const int n = measure == SMOOTHED ? INNER * INNER : SIDE * SIDE;

        v = n * sums.p[measure][k] - int64_t(sums.s[measure][c]) * sums.s[measure][d];
        if (measure == STILL)
            v = 85 * v - int64_t(sums.a[c]) * sums.a[d] - int64_t(sums.b[c]) * sums.b[d];
        v *= j.form[c][d] * (c == d ? 1 : 2);
    }
    for (int i = 4; i; i /= 2)
        v += __shfl_xor_sync(ALL, v, i);
    return v;
}

/* noise_bin() of filter/noise.h */
static __device__ __forceinline__ int bin_of(double variance)
{
    const int bin = int(__double_as_longlong(variance) >> 48) - ((1023 - 6) << 4);

    return variance <= 0.0 ? 0 : clamp(bin, TIME_BINS - 1);
}

#include "cuda/kernel/time_follow.cuh"

template <int C>
static __device__ void gather_block(const time_job &j, int x0, int y0, block_sums &sums, int lane)
{
    const int x = x0 + lane % 2 * PIXELS, y = y0 + lane / 2;
    const time_vector v = j.goes_on ? vector_at(j, x, y) : time_vector{0, 0};
    const half_row<C> now = load<C>(j.shape, j.now, x, y, time_vector{0, 0});
    const half_row<C> before = j.goes_on ? load<C>(j.shape, j.before, x, y, v) : now;
    int64_t still, moved, smoothed;
    const bool counts = is_new(j);
    double variance;
    uint32_t share = 0;

    add_still<C>(now, 2 * (x - x0) - (SIDE - 1), 2 * (y - y0) - (SIDE - 1), sums, lane);
    if (j.goes_on) {
        add_moved<C>(now, before, sums, lane);
        add_smoothed<C>(now, before, sums, lane);
    }
    __syncwarp();
    still = spread<C>(j, sums, lane);
    moved = __shfl_sync(ALL, still, 8 * MOVED);
    smoothed = __shfl_sync(ALL, still, 8 * SMOOTHED);
    if (lane > 0 || !counts)
        return;
    variance = double(still) / (85.0 * 65536.0 * SHARE);
    if (j.goes_on) {
        const double n = INNER * INNER, all = double(moved) * (n * n * 4096.0);
        const double rest = double(smoothed) * (65536.0 * SHARE);

        variance = fmin(variance, double(moved) / (2.0 * 65536.0 * SHARE));
        share = all > 0.0 ? uint32_t(fmin(rest / all, double(SHARE))) : 0;
    }
    const int luma = sums.s[STILL][0] / (SIDE * SIDE);
    const int c = luma < 20 || luma > 232 ? TIME_CLASSES : luma / 32, bin = bin_of(variance);

    atomicAdd(&j.noise->blocks[c][bin], 1u);
    if (share)
        atomicAdd(&j.noise->left[c][bin], share);
}

template <int C>
static __global__ void __launch_bounds__(32 * MEASURE_WARPS, 8) measure(const time_job j)
{
    __shared__ block_sums sums[MEASURE_WARPS];
    const int warp = threadIdx.x / 32, columns = j.shape.width / SIDE;
    const int at = blockIdx.x * MEASURE_WARPS + warp;

    wait_for_before();
    let_next_start();
    if (at < columns * (j.shape.height / SIDE))
        gather_block<C>(j, at % columns * SIDE, at / columns * SIDE, sums[warp], threadIdx.x % 32);
}

static __global__ void __launch_bounds__(32 * WARPS) follow(const time_job j)
{
    wait_for_before();
    let_next_start();
    time_follow_noise(j);
}

extern "C" int time_measure(const time_job *j, cudaStream_t stream)
{
    const int n = (j->shape.width / SIDE) * (j->shape.height / SIDE);
    const int blocks = n > 0 ? (n + MEASURE_WARPS - 1) / MEASURE_WARPS : 1;
    const auto kernel = j->shape.components == 1 ? measure<1> : measure<3>;
    cudaError_t status = start_early(kernel, blocks, 32 * MEASURE_WARPS, 0, stream, *j);

    if (status == cudaSuccess)
        status = start_early(follow, 1, 32 * WARPS, 0, stream, *j);
    return bilateral_errno(status);
}
