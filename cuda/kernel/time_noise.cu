/* How much noise there is: engine/time/noise_blocks.h and filter/noise.h.
 *
 * DESIGN. A warp has a block of 16x16, a lane half a row of it: 8 pixels, which have one vector.
 * All sums are exact. The thread block that is done last follows the noise from the counts and
 * fills the tables of the frame. Differences are smoothed two at a time in the halves of a word;
 * 256 is added to keep them positive. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_device.cuh"

#define SIDE 16
#define INNER (SIDE - 2)
#define PIXELS 8 /* of a lane */
#define WARPS 8
#define ALL 0xffffffffu
#define BIAS 256
#define SHARE 4096 /* NOISE_SHARE, and the scale of the colours' form */

/* Sums over a block: s of c, a and b of c times twice the column and row about the middle, p of
 * the products c_i c_j, i <= j. */
template <int C> struct moments {
    int s[C], a[C], b[C], p[C * (C + 1) / 2];
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

/* A lane's pixels of each component. */
template <int C> struct half_row {
    int c[C][PIXELS];
};

/* @N samples from any @at on. */
template <int N> static __device__ __forceinline__ void load_any(const uint8_t *at, int ret[N])
{
    const uint32_t *words =
        reinterpret_cast<const uint32_t *>(reinterpret_cast<uintptr_t>(at) & ~uintptr_t(3));
    const uint32_t shift = 8 * (reinterpret_cast<uintptr_t>(at) & 3);
    uint32_t next = __ldg(words);

#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        const uint32_t word = next;

        next = __ldg(words + i + 1);
#pragma unroll
        for (int k = 0; k < 4; k++)
            ret[4 * i + k] = __funnelshift_r(word, next, shift) >> 8 * k & 255;
    }
}

/* The pixels from (@x, @y) on in a picture; those of chroma are @dx, @dy away in luma samples. */
template <int C>
static __device__ __forceinline__ void load(const time_shape &s, const time_picture &p, int x,
                                            int y, int dx, int dy, half_row<C> &ret)
{
#pragma unroll
    for (int c = 1; c < C; c++) {
        const uint8_t *at =
            p.chroma[c - 1] + ((y + dy) >> s.vshift) * s.stride_c + ((x + dx) >> s.hshift);
        int v[PIXELS];

        if (s.hshift)
            load_any<PIXELS / 2>(at, v);
        else
            load_any<PIXELS>(at, v);
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            ret.c[c][i] = s.hshift ? v[i / 2] : v[i];
    }
}

template <int C>
static __device__ __forceinline__ void load(const time_job &j, int x, int y, half_row<C> &ret)
{
    load<C>(j.shape, j.now, x, y, 0, 0, ret);
    load_any<PIXELS>(j.now.luma + y * j.shape.stride + x, ret.c[0]);
}

/* Eighths of a luma sample to luma samples that are whole samples of a component. */
static __device__ __forceinline__ int to_whole(int v, int shift)
{
    return (v + (4 << shift)) >> (3 + shift) << shift;
}

/* The pixels less those of the frame before where they were. */
template <int C>
static __device__ __forceinline__ void subtract_before(const time_job &j, int x, int y,
                                                       half_row<C> &ret)
{
    const time_shape &s = j.shape;
    const time_vector v = vector_at(j, x, y);
    half_row<C> before;

    load_any<PIXELS>(j.before.luma + (y + to_whole(v.y, 0)) * s.stride + x + to_whole(v.x, 0),
                     before.c[0]);
    load<C>(s, j.before, x, y, to_whole(v.x, s.hshift), to_whole(v.y, s.vshift), before);
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            ret.c[c][i] -= before.c[c][i];
}

template <int C>
static __device__ __forceinline__ moments<C> add_up(const half_row<C> &h, int first_u, int row_v)
{
    moments<C> m = {};

#pragma unroll
    for (int i = 0; i < PIXELS; i++)
#pragma unroll
        for (int c = 0, k = 0; c < C; c++) {
            m.s[c] += h.c[c][i];
            m.a[c] += h.c[c][i] * (first_u + 2 * i);
#pragma unroll
            for (int d = c; d < C; d++, k++)
                m.p[k] += h.c[c][i] * h.c[d][i];
        }
    for (int c = 0; c < C; c++)
        m.b[c] = m.s[c] * row_v;
    return m;
}

/* spread() of engine/time/noise_blocks.c: the covariance of @n pixels times n^2 in R'G'B'. */
template <int C, class SUM>
static __device__ __forceinline__ int64_t spread(const time_job &j, const int s[C], const SUM *p,
                                                 int n, const int *a, const int *b)
{
    int64_t sum = 0;

#pragma unroll
    for (int c = 0, k = 0; c < C; c++)
#pragma unroll
        for (int d = c; d < C; d++, k++) {
            int64_t v = int64_t(n) * p[k] - int64_t(s[c]) * s[d];

            if (a)
                v = 85 * v - int64_t(a[c]) * a[d] - int64_t(b[c]) * b[d];
            sum += int64_t(int(j.form[c][d]) * (c == d ? 1 : 2)) * v;
        }
    return sum;
}

/* The spread of what all lanes added up; about a plane, or about the mean. */
template <int C>
static __device__ int64_t spread_of(const time_job &j, const moments<C> &m, bool plane)
{
    int s[C], a[C], b[C], p[C * (C + 1) / 2];

#pragma unroll
    for (int c = 0; c < C; c++) {
        s[c] = add_lanes(m.s[c]);
        a[c] = plane ? add_lanes(m.a[c]) : 0;
        b[c] = plane ? add_lanes(m.b[c]) : 0;
    }
#pragma unroll
    for (int k = 0; k < C * (C + 1) / 2; k++)
        p[k] = add_lanes(m.p[k]);
    return spread<C>(j, s, p, SIDE * SIDE, plane ? a : nullptr, b);
}

static __device__ __forceinline__ uint4 weigh(uint4 above, uint4 here, uint4 below)
{
    return make_uint4(above.x + 2 * here.x + below.x, above.y + 2 * here.y + below.y,
                      above.z + 2 * here.z + below.z, above.w + 2 * here.w + below.w);
}

/* 16 times the mean of differences around each of a lane's, of one component. @rows is the warp's:
 * the four words of each lane. */
static __device__ __forceinline__ void smooth(const int d[PIXELS], uint4 *rows, int lane,
                                              int ret[PIXELS])
{
    const int row = lane / 2, at = clamp(row - 1, SIDE - 3) * 2 + lane % 2;
    const bool right = lane % 2, inner = row > 0 && row < SIDE - 1;
    uint32_t w[PIXELS / 2], column[PIXELS / 2 + 2], side;

#pragma unroll
    for (int i = 0; i < PIXELS / 2; i++)
        w[i] = uint32_t(d[2 * i] + BIAS) | uint32_t(d[2 * i + 1] + BIAS) << 16;
    __syncwarp();
    rows[lane] = make_uint4(w[0], w[1], w[2], w[3]);
    __syncwarp();
    const uint4 sum = weigh(rows[at], rows[at + 2], rows[at + 4]);

    column[1] = sum.x, column[2] = sum.y, column[3] = sum.z, column[4] = sum.w;
    side = __shfl_xor_sync(ALL, right ? column[1] : column[4], 1);
    column[0] = column[5] = side;
#pragma unroll
    for (int i = 0; i < PIXELS / 2; i++) {
        const uint32_t both = __funnelshift_r(column[i], column[i + 1], 16) + 2 * column[i + 1] +
                              __funnelshift_r(column[i + 1], column[i + 2], 16);

        ret[2 * i] = inner && (right || i > 0) ? int(both & 0xffff) - 16 * BIAS : 0;
        ret[2 * i + 1] = inner && (!right || i < PIXELS / 2 - 1) ? int(both >> 16) - 16 * BIAS : 0;
    }
}

/* The spread of the differences when they are smoothed, over the inner 14x14. */
template <int C>
static __device__ int64_t smoothed_spread(const time_job &j, const half_row<C> &h, uint4 *rows,
                                          int lane)
{
    half_row<C> t;
    moments<C> m;
    int64_t p[C * (C + 1) / 2];
    int s[C];

#pragma unroll
    for (int c = 0; c < C; c++)
        smooth(h.c[c], rows, lane, t.c[c]);
    m = add_up<C>(t, 0, 0);
#pragma unroll
    for (int c = 0; c < C; c++)
        s[c] = add_lanes(m.s[c]);
#pragma unroll
    for (int k = 0; k < C * (C + 1) / 2; k++)
        p[k] = add_lanes_long(m.p[k]);
    return spread<C>(j, s, p, INNER * INNER, nullptr, nullptr);
}

/* noise_bin() of filter/noise.h */
static __device__ __forceinline__ int bin_of(double variance)
{
    const int bin = int(__double_as_longlong(variance) >> 48) - ((1023 - 6) << 4);

    return variance <= 0.0 ? 0 : clamp(bin, TIME_BINS - 1);
}

#include "cuda/kernel/time_follow.cuh"

template <int C>
static __device__ void gather_block(const time_job &j, int x0, int y0, uint4 *rows, int lane)
{
    const int x = x0 + lane % 2 * PIXELS, y = y0 + lane / 2;
    half_row<C> h;
    moments<C> m;
    double variance;
    uint32_t share = 0;
    int luma, c;

    load(j, x, y, h);
    m = add_up<C>(h, 2 * (x - x0) - (SIDE - 1), 2 * (y - y0) - (SIDE - 1));
    luma = add_lanes(m.s[0]) / (SIDE * SIDE);
    c = luma < 20 || luma > 232 ? TIME_CLASSES : luma / 32;
    variance = double(spread_of<C>(j, m, true)) / (85.0 * 65536.0 * SHARE);
    if (j.goes_on) {
        const double n = INNER * INNER;
        int64_t moved;
        double all, rest;

        subtract_before(j, x, y, h);
        m = add_up<C>(h, 0, 0);
        moved = spread_of<C>(j, m, false);
        variance = fmin(variance, double(moved) / (2.0 * 65536.0 * SHARE));
        all = double(moved) * (n * n * 256.0);
        rest = double(smoothed_spread<C>(j, h, rows, lane)) * (65536.0 * SHARE);
        share = all > 0.0 ? uint32_t(fmin(rest / all, double(SHARE))) : 0;
    }
    if (lane == 0) {
        atomicAdd(&j.noise->blocks[c][bin_of(variance)], 1u);
        if (share)
            atomicAdd(&j.noise->left[c][bin_of(variance)], share);
    }
}

/* The same in the thread block that is done last. */
static __device__ bool is_last(uint32_t *done)
{
    __shared__ bool last;

    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    __syncthreads();
    __threadfence();
    return last;
}

template <int C> static __global__ void __launch_bounds__(32 * WARPS) measure(const time_job j)
{
    __shared__ uint4 rows[WARPS][32];
    const int warp = threadIdx.x / 32, columns = j.shape.width / SIDE;
    const int at = blockIdx.x * WARPS + warp;

    if (is_new(j) && at < columns * (j.shape.height / SIDE))
        gather_block<C>(j, at % columns * SIDE, at / columns * SIDE, rows[warp], threadIdx.x % 32);
    if (is_last(&j.noise->measure_done))
        time_follow_noise(j);
}

extern "C" int time_measure(const time_job *j, cudaStream_t stream)
{
    const int n = (j->shape.width / SIDE) * (j->shape.height / SIDE);
    const int blocks = n > 0 ? (n + WARPS - 1) / WARPS : 1;

    if (j->shape.components == 1)
        measure<1><<<blocks, 32 * WARPS, 0, stream>>>(*j);
    else
        measure<3><<<blocks, 32 * WARPS, 0, stream>>>(*j);
    return bilateral_errno(cudaGetLastError());
}
