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

/* A pair of pixels as it is stored. */
struct stored_pair {
    uint32_t luma;
    uint16_t u, v;
};

static __device__ __forceinline__ stored_pair load_stored(const half2_time &t, const time_stored &f,
                                                          int x, int y)
{
    const bilateral_params &p = t.h.p;
    const int cx = min(max(x, 0), p.width / 2 - 1), cy = min(max(y, 0), p.height - 1);
    const int at = (cy >> p.vshift) * t.stride_c + cx;

    return {*reinterpret_cast<const uint32_t *>(f.level[0] + cy * t.stride + 2 * cx),
            f.level[1][at], f.level[2][at]};
}

/* What mantissa() adds goes with the factors, less that of a sample of 128: half precision rounds
 * colours more than the last bits that are lost there. */
static __device__ __forceinline__ uint2 colours_of(const half2_time &t, const stored_pair &s, int x)
{
    const float u = mantissa(s.u, 0x7410), v = mantissa(s.v, 0x7410);
    const float chroma = t.to_y1_u * u + (t.to_y1_v * v + t.to_y1);
    const float y0 = mantissa(s.luma, x >= t.h.p.width / 2 ? 0x7432 : 0x7410);
    const float y1 = mantissa(s.luma, x < 0 ? 0x7410 : 0x7432);

    return make_uint2(bits(__floats2half2_rn(t.to_y1_y * y0 + chroma, t.to_y1_y * y1 + chroma)),
                      bits(__floats2half2_rn(t.to_u1_u * u + (t.to_u1_v * v + t.to_u1),
                                             t.to_v1_v * v + t.to_v1)));
}

#define FILL_AT_ONCE 7 /* pairs that a thread has under way */
#define NEXT_AT_ONCE 2 /* while it has sums, which take its registers */

template <int AT_ONCE>
static __device__ __forceinline__ void fill_stored(const half2_time &t, const tile &to,
                                                   uint2 *pairs, const time_stored &f, int radius)
{
    const int x0 = blockIdx.x * WARP - to.reach, n = to.columns * to.rows;
    const int y0 = t.h.p.row_begin + blockIdx.y * blockDim.y * ROWS - radius;
    const int thread = threadIdx.y * WARP + threadIdx.x, threads = WARP * blockDim.y;

#pragma unroll 1
    for (int first = thread; first < n; first += AT_ONCE * threads) {
        stored_pair s[AT_ONCE];
        int x[AT_ONCE];

#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const int i = first + k * threads, row = __umulhi(i, t.h.divide_by_columns);

            x[k] = x0 + i - row * to.columns;
            if (i < n)
                s[k] = load_stored(t, f, x[k], y0 + row);
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (first + k * threads < n)
                pairs[first + k * threads] = colours_of(t, s[k], x[k]);
    }
}

#define CELLS (ROWS / 2) /* of a thread's pairs */

/* What the range sigmas of a thread's pairs depend on, cell by cell. */
struct own_cells {
    uint16_t luma[CELLS];
    uint8_t count[CELLS];

    __device__ __forceinline__ own_cells(const half2_time &t, int x, int y)
    {
        const int cx = min(x, t.h.p.width / 2 - 1);

#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            const int cy = min(y / 2 + k, (t.h.p.height - 1) / 2);

            luma[k] = t.luma ? t.luma[cy * t.stride_luma + cx] : 0;
            count[k] = t.count ? t.count[cy * t.stride_count + cx] : 0;
        }
    }

    /* 1 / (2 sigma_color^2) in the kernel's unit. */
    __device__ __forceinline__ half2 sharpness(const half2_time &t, int k) const
    {
        float inv = t.inv_two_sc2;

        if (t.luma)
            inv = t.noise->inv_two_sc2[(luma[k] + 2) >> 2];
        if (t.count)
            inv *= t.noise->inv_share[count[k]];
        return __float2half2_rn(inv * t.sharpness);
    }
};

static __device__ __forceinline__ void set_sharpness(const half2_time &t, const own_cells &own,
                                                     sharp_pair p[ROWS])
{
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        p[k].sharp = k % 2 ? p[k - 1].sharp : own.sharpness(t, k / 2);
}

static __device__ __forceinline__ void set_sharpness(const half2_time &, const own_cells &, pair *)
{
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
    let_next_start();
    if (f.asks && f.noise->unsuited)
        return;
    const own_cells own(f, x, y);

    fill_stored<FILL_AT_ONCE>(f, t, here, f.frame[0], radius);
    set_sharpness(f, own, p);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        static_cast<pair &>(p[k]) = load_pair(here + at + k * t.columns);
#pragma unroll 1
    for (int i = 0; i < f.n_frames; i++) {
        const bool goes_on = i + 1 < f.n_frames;

        if (goes_on && next != here)
            fill_stored<NEXT_AT_ONCE>(f, t, next, f.frame[i + 1], radius);
        if (inside)
            add_windows<LORENTZIAN, RADIUS, SQUARE>(f.h, t, p, here + at, radius, f.weight[i],
                                                    total);
        if (!goes_on)
            break;
        __syncthreads();
        if (next == here) {
            fill_stored<NEXT_AT_ONCE>(f, t, here, f.frame[i + 1], radius);
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
