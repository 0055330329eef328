#pragma once
/* The half2 kernel as a whole, and its instances for one range function. */
#include "cuda/kernel/half2_sums.cuh"

static __device__ __forceinline__ void store_packed(const half2_params &h, const sums s[ROWS],
                                                    int x, int y)
{
    const bilateral_params &p = h.p;

#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        uint32_t word, ys;
        uint2 uv;

        if (y + k >= p.row_end)
            return;
        word = *reinterpret_cast<const uint32_t *>(p.in[0].base + size_t(y + k) * p.in[0].stride +
                                                   4 * x);
        word = __byte_perm(word, 0, p.unpack);
        ys = luma(h, s[k], float(word & 255), float(word >> 8 & 255));
        uv = chroma(h, s[k], float(word >> 16 & 255), float(word >> 24));
        *reinterpret_cast<uint32_t *>(p.out[0].base + size_t(y + k) * p.out[0].stride + 4 * x) =
            __byte_perm(ys | uv.x << 16 | uv.y << 24, 0, p.repack);
    }
}

static __device__ __forceinline__ void store_planar(const half2_params &h, sums s[ROWS], int x,
                                                    int y)
{
    const bilateral_params &p = h.p;

#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        uint32_t word;

        if (y + k >= p.row_end)
            break;
        word = *reinterpret_cast<const uint16_t *>(p.in[0].base + size_t(y + k) * p.in[0].stride +
                                                   2 * x);
        *reinterpret_cast<uint16_t *>(p.out[0].base + size_t(y + k) * p.out[0].stride + 2 * x) =
            luma(h, s[k], float(word & 255), float(word >> 8));
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const size_t row = (y + k) >> p.vshift;
        uint2 uv;

        if (y + k >= p.row_end || (p.vshift && k % 2))
            continue;
        if (p.vshift && y + k + 1 < p.height) {
            s[k].w0 += s[(k + 1) % ROWS].w0;
            s[k].w1 += s[(k + 1) % ROWS].w1;
            s[k].u += s[(k + 1) % ROWS].u;
            s[k].v += s[(k + 1) % ROWS].v;
        }
        uv = chroma(h, s[k], float(p.in[1].base[row * p.in[1].stride + x * p.in[1].step]),
                    float(p.in[2].base[row * p.in[2].stride + x * p.in[2].step]));
        p.out[1].base[row * p.out[1].stride + x * p.out[1].step] = uint8_t(uv.x);
        p.out[2].base[row * p.out[2].stride + x * p.out[2].step] = uint8_t(uv.y);
    }
}

/* Loads a pair that is filtered. */
static __device__ __forceinline__ void load_own(const half2_params &, const uint2 *at, pair &ret)
{
    ret = load_pair(at);
}

static __device__ __forceinline__ void load_own(const half2_params &h, const uint2 *at,
                                                manhattan_pair &ret)
{
    static_cast<pair &>(ret) = load_pair(at);
    ret.green_u = from_bits(h.green_u1);
    ret.green_v = from_bits(h.green_v1);
}

/* The kernel for one radius (0: one known at run time only). The one that is not for squares
 * takes any window, as half_width tells it. Four blocks of 64 registers, or three of 80 where sums
 * in single precision are kept, beat fewer blocks with more by 1 to 3 % and need no spills
 * (2026-11, NVIDIA H200). */
template <bool LORENTZIAN, int RADIUS, bool SQUARE, class PAIR = pair>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, long_sums<LORENTZIAN, RADIUS> ? 3 : 4)
    half2_kernel(const half2_params h)
{
    extern __shared__ uint2 shared[];
    const int radius = RADIUS ? RADIUS : h.p.radius;
    const int x = blockIdx.x * WARP + threadIdx.x;
    const int y = h.p.row_begin + (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    const tile t(shared, radius);
    const uint2 *at, *space = t.columns_space + radius;
    PAIR p[ROWS];
    half_sums s[ROWS] = {};
    sums total[ROWS] = {};
    int left = most_taps<LORENTZIAN> - t.span;

    fill<LORENTZIAN>(h, t, radius);
    __syncthreads();
    if (2 * x >= h.p.width || y >= h.p.row_end)
        return;
    at = t.pairs + (threadIdx.y * ROWS + radius) * t.columns + threadIdx.x + t.reach;
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        load_own(h, at + k * t.columns, p[k]);
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
                flush(h, total[k], s[k]);
            left = most_taps<LORENTZIAN>;
        }
        left -= 4 * height + 2;
        add_column<LORENTZIAN>(s, p, at + c, t.columns, space, height);
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        flush(h, total[k], s[k]);
    if (!LORENTZIAN)
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            total[k].w0 += MEAN_EXCESS;
            total[k].w1 += MEAN_EXCESS;
        }
    if (h.p.packed)
        store_packed(h, total, x, y);
    else
        store_planar(h, total, x, y);
}

/* Small square windows have kernels that know the columns' height; beyond radius 8 it saves
 * nothing (2026-11, NVIDIA H200). */
template <bool LORENTZIAN> static half2_function choose_kernel(int radius, bool square)
{
    static const half2_function any[] = {
        half2_kernel<LORENTZIAN, 0, false>,  half2_kernel<LORENTZIAN, 1, false>,
        half2_kernel<LORENTZIAN, 2, false>,  half2_kernel<LORENTZIAN, 3, false>,
        half2_kernel<LORENTZIAN, 4, false>,  half2_kernel<LORENTZIAN, 5, false>,
        half2_kernel<LORENTZIAN, 6, false>,  half2_kernel<LORENTZIAN, 7, false>,
        half2_kernel<LORENTZIAN, 8, false>,  half2_kernel<LORENTZIAN, 9, false>,
        half2_kernel<LORENTZIAN, 10, false>, half2_kernel<LORENTZIAN, 11, false>,
        half2_kernel<LORENTZIAN, 12, false>, half2_kernel<LORENTZIAN, 13, false>,
        half2_kernel<LORENTZIAN, 14, false>, half2_kernel<LORENTZIAN, 15, false>,
        half2_kernel<LORENTZIAN, 16, false>,
    };
    static const half2_function squares[] = {
        half2_kernel<LORENTZIAN, 1, true>, half2_kernel<LORENTZIAN, 2, true>,
        half2_kernel<LORENTZIAN, 3, true>, half2_kernel<LORENTZIAN, 4, true>,
        half2_kernel<LORENTZIAN, 5, true>, half2_kernel<LORENTZIAN, 6, true>,
        half2_kernel<LORENTZIAN, 7, true>, half2_kernel<LORENTZIAN, 8, true>,
    };

    static_assert(sizeof(any) / sizeof(any[0]) == UNROLLED_RADII + 1, "a kernel for each radius");
    if (square && radius <= int(sizeof(squares) / sizeof(squares[0])))
        return squares[radius - 1];
    return any[radius <= UNROLLED_RADII ? radius : 0];
}
