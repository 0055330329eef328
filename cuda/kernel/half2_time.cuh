#pragma once
/* The half2 kernel for stored frames, one or more.
 *
 * Where range sigmas differ from pixel to pixel, colours have a scale that serves all of them:
 * 2^-8, so that squares fit into half precision. What the sigma makes of a squared difference costs
 * an instruction more for four taps. A sigma for all is in the scale, as in half2_kernel.cuh.
 *
 * Frames are added one after the other, all to the sums in single precision. With a sigma for all,
 * and where shared memory has room for two frames, the next one is fetched by warps that wait for
 * nothing else; a sigma that varies takes the registers for that. */
#include "cuda/kernel/half2_sums.cuh"
#include "cuda/kernel/time.h"
#include "cuda/kernel/time_start.cuh"

#define COLOUR_SCALE (1.0f / 256)
#define LEVEL (1.0f / TIME_LEVEL_STEPS) /* a stored step */

struct half2_time {
    half2_params h;
    time_stored frame[TIME_MAX_WINDOW];
    float weight[TIME_MAX_WINDOW];
    int n_frames, stride, stride_c, stride_luma, stride_count;
    const uint16_t *luma;
    const uint8_t *count;
    const time_noise *noise;
    float inv_two_sc2;
    float to_y1_y, to_y1_u, to_y1_v, to_y1; /* factors, and what is added */
    float to_u1_u, to_u1_v, to_u1, to_v1_v, to_v1;
    float sharpness; /* what becomes of 1 / (2 sigma_color^2) */
    bool asks;       /* `noise` knows whether this kernel suits */
    uint32_t second; /* where the tile of every other frame begins; 0: all share one */
};

using half2_time_function = void (*)(half2_time);

/* @varies: the range sigma. */
half2_time_function half2_time_gaussian(int radius, bool square, bool varies);
half2_time_function half2_time_lorentzian(int radius, bool square, bool varies);

/* A stored sample as the low mantissa bits of 2^23. */
static __device__ __forceinline__ float mantissa(uint32_t word, uint32_t selector)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000, selector));
}

/* What mantissa() adds goes with the factors, less that of a sample of 128: half precision rounds
 * colours more than the last bits that are lost there. */
static __device__ __forceinline__ uint2 fetch_stored(const half2_time &t, const time_stored &f,
                                                     int x, int y)
{
    const bilateral_params &p = t.h.p;
    const int last = p.width / 2 - 1, cx = min(max(x, 0), last), cy = min(max(y, 0), p.height - 1);
    const int at = (cy >> p.vshift) * t.stride_c + cx;
    const uint32_t luma = *reinterpret_cast<const uint32_t *>(f.level[0] + cy * t.stride + 2 * cx);
    const float u = mantissa(f.level[1][at], 0x7410), v = mantissa(f.level[2][at], 0x7410);
    const float chroma = t.to_y1_u * u + (t.to_y1_v * v + t.to_y1);
    const float y0 = mantissa(luma, x > last ? 0x7432 : 0x7410);
    const float y1 = mantissa(luma, x < 0 ? 0x7410 : 0x7432);

    return make_uint2(bits(__floats2half2_rn(t.to_y1_y * y0 + chroma, t.to_y1_y * y1 + chroma)),
                      bits(__floats2half2_rn(t.to_u1_u * u + (t.to_u1_v * v + t.to_u1),
                                             t.to_v1_v * v + t.to_v1)));
}

static __device__ __forceinline__ void fill_stored(const half2_time &t, const tile &to,
                                                   uint2 *pairs, const time_stored &f, int radius)
{
    const int x0 = blockIdx.x * WARP - to.reach;
    const int y0 = t.h.p.row_begin + blockIdx.y * blockDim.y * ROWS - radius;
    const int thread = threadIdx.y * WARP + threadIdx.x, threads = WARP * blockDim.y;

#pragma unroll 4
    for (int i = thread; i < to.columns * to.rows; i += threads) {
        const int row = __umulhi(i, t.h.divide_by_columns);

        pairs[i] = fetch_stored(t, f, x0 + i - row * to.columns, y0 + row);
    }
}

/* Loads a pair that is filtered, with 1 / (2 sigma_color^2) of its cell in the kernel's unit. */
static __device__ __forceinline__ void load_own(const half2_time &t, const uint2 *at, int x, int y,
                                                sharp_pair &ret)
{
    const int cx = min(x, t.h.p.width / 2 - 1), cy = min(y, t.h.p.height - 1) / 2;
    float inv = t.inv_two_sc2;

    static_cast<pair &>(ret) = load_pair(at);
    if (t.luma)
        inv = t.noise->inv_two_sc2[(t.luma[cy * t.stride_luma + cx] + 2) >> 2];
    if (t.count)
        inv *= t.noise->inv_share[t.count[cy * t.stride_count + cx]];
    ret.sharp = __float2half2_rn(inv * t.sharpness);
}

static __device__ __forceinline__ void load_own(const half2_time &, const uint2 *at, int, int,
                                                pair &ret)
{
    ret = load_pair(at);
}

static __device__ __forceinline__ void flush_weighed(const half2_params &h, float weight, sums &to,
                                                     half_sums &s)
{
    sums part = {};

    flush(h, part, s);
    to.w0 += weight * part.w0;
    to.w1 += weight * part.w1;
    to.y0 += weight * part.y0;
    to.y1 += weight * part.y1;
    to.u += weight * part.u;
    to.v += weight * part.v;
}

/* Adds the windows of a thread's pairs in the frame that the tile has. */
template <bool LORENTZIAN, int RADIUS, bool SQUARE, class PAIR>
static __device__ __forceinline__ void add_windows(const half2_params &h, const tile &t,
                                                   const PAIR p[ROWS], const uint2 *at, int radius,
                                                   float weight, sums total[ROWS])
{
    const uint2 *space = t.columns_space + radius;
    half_sums s[ROWS] = {};
    int left = most_taps<LORENTZIAN> - t.span;

    if (SQUARE)
        add_square_edges<LORENTZIAN>(t, s, p, at, radius);
    else
        add_disc_edges<LORENTZIAN>(h, t, s, p, at, radius);
#pragma unroll 1
    for (int c = -(radius / 2); c <= radius / 2; c++, space += t.span) {
        const int height = SQUARE ? radius : h.half_width[2 * abs(c)];

        if (long_sums<LORENTZIAN, RADIUS> && left < 4 * height + 2) {
#pragma unroll
            for (int k = 0; k < ROWS; k++)
                flush_weighed(h, weight, total[k], s[k]);
            left = most_taps<LORENTZIAN>;
        }
        left -= 4 * height + 2;
        add_column<LORENTZIAN>(s, p, at + c, t.columns, space, height);
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        flush_weighed(h, weight, total[k], s[k]);
}

static __device__ __forceinline__ float stored(const uint16_t *level, int at)
{
    return float(level[at]) * LEVEL;
}

static __device__ __forceinline__ void store_stored(const half2_time &t, sums s[ROWS], int x, int y)
{
    const bilateral_params &p = t.h.p;

#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int row = y + k, at = row * t.stride + 2 * x, row_c = row >> p.vshift;
        const int at_c = row_c * t.stride_c + x;
        const float2 base = {stored(t.frame[0].level[0], at), stored(t.frame[0].level[0], at + 1)};
        uint32_t ys;
        uint2 uv;

        if (row >= p.row_end)
            return;
        ys = luma(t.h, s[k], base.x, base.y);
        if (p.vshift && k % 2 == 0 && row + 1 < p.height) {
            s[k].w0 += s[(k + 1) % ROWS].w0;
            s[k].w1 += s[(k + 1) % ROWS].w1;
            s[k].u += s[(k + 1) % ROWS].u;
            s[k].v += s[(k + 1) % ROWS].v;
        }
        uv =
            chroma(t.h, s[k], stored(t.frame[0].level[1], at_c), stored(t.frame[0].level[2], at_c));
        if (p.packed) {
            *reinterpret_cast<uint32_t *>(p.out[0].base + size_t(row) * p.out[0].stride + 4 * x) =
                __byte_perm(ys | uv.x << 16 | uv.y << 24, 0, p.repack);
            continue;
        }
        *reinterpret_cast<uint16_t *>(p.out[0].base + size_t(row) * p.out[0].stride + 2 * x) =
            uint16_t(ys);
        if (p.vshift && k % 2)
            continue;
        p.out[1].base[size_t(row_c) * p.out[1].stride + x * p.out[1].step] = uint8_t(uv.x);
        p.out[2].base[size_t(row_c) * p.out[2].stride + x * p.out[2].step] = uint8_t(uv.y);
    }
}

/* PAIR: sharp_pair where the range sigma varies, else pair. */
template <bool LORENTZIAN, int RADIUS, bool SQUARE, class PAIR>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, long_sums<LORENTZIAN, RADIUS> ? 3 : 4)
    half2_time_kernel(const half2_time f)
{
    extern __shared__ uint2 shared[];
    const int radius = RADIUS ? RADIUS : f.h.p.radius;
    const int x = blockIdx.x * WARP + threadIdx.x;
    const int y = f.h.p.row_begin + (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    const bool inside = 2 * x < f.h.p.width && y < f.h.p.row_end;
    const tile t(shared, radius);
    const int at = (threadIdx.y * ROWS + radius) * t.columns + threadIdx.x + t.reach;
    const bool varies = sizeof(PAIR) != sizeof(pair);
    uint2 *here = t.pairs, *next = !varies && f.second ? shared + f.second : here;
    PAIR p[ROWS];
    sums total[ROWS] = {};

    fill_space<LORENTZIAN, varies>(f.h, t, radius);
    wait_for_before();
    if (f.asks && f.noise->unsuited)
        return;
    fill_stored(f, t, here, f.frame[0], radius);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        load_own(f, here + at + k * t.columns, x, y + k, p[k]);
#pragma unroll 1
    for (int i = 0; i < f.n_frames; i++) {
        const bool goes_on = i + 1 < f.n_frames;

        if (goes_on && next != here)
            fill_stored(f, t, next, f.frame[i + 1], radius);
        if (inside)
            add_windows<LORENTZIAN, RADIUS, SQUARE>(f.h, t, p, here + at, radius, f.weight[i],
                                                    total);
        if (!goes_on)
            break;
        __syncthreads();
        if (next == here) {
            fill_stored(f, t, here, f.frame[i + 1], radius);
            __syncthreads();
        }
        uint2 *const done = here;

        here = next;
        next = done;
    }
    if (!inside)
        return;
    if (!LORENTZIAN)
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            total[k].w0 += MEAN_EXCESS;
            total[k].w1 += MEAN_EXCESS;
        }
    store_stored(f, total, x, y);
}

#define TIME_UNROLLED_RADII 8

template <bool LORENTZIAN, class PAIR>
static half2_time_function choose_time_kernel(int radius, bool square)
{
    static const half2_time_function any[] = {
        half2_time_kernel<LORENTZIAN, 0, false, PAIR>,
        half2_time_kernel<LORENTZIAN, 1, false, PAIR>,
        half2_time_kernel<LORENTZIAN, 2, false, PAIR>,
        half2_time_kernel<LORENTZIAN, 3, false, PAIR>,
        half2_time_kernel<LORENTZIAN, 4, false, PAIR>,
        half2_time_kernel<LORENTZIAN, 5, false, PAIR>,
        half2_time_kernel<LORENTZIAN, 6, false, PAIR>,
        half2_time_kernel<LORENTZIAN, 7, false, PAIR>,
        half2_time_kernel<LORENTZIAN, 8, false, PAIR>,
    };
    static const half2_time_function squares[] = {
        half2_time_kernel<LORENTZIAN, 1, true, PAIR>, half2_time_kernel<LORENTZIAN, 2, true, PAIR>,
        half2_time_kernel<LORENTZIAN, 3, true, PAIR>, half2_time_kernel<LORENTZIAN, 4, true, PAIR>,
        half2_time_kernel<LORENTZIAN, 5, true, PAIR>, half2_time_kernel<LORENTZIAN, 6, true, PAIR>,
        half2_time_kernel<LORENTZIAN, 7, true, PAIR>, half2_time_kernel<LORENTZIAN, 8, true, PAIR>,
    };

    if (radius > TIME_UNROLLED_RADII)
        return any[0];
    return square ? squares[radius - 1] : any[radius];
}
