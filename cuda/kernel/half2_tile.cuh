#pragma once
/* A block's shared memory: the picture with its halo, transformed, and the spatial weights. */
#include "cuda/kernel/half2_taps.cuh"

/* The tile entry of pixel pair @x of row @y, the nearest edge pixel outside the picture. */
static __device__ __forceinline__ uint2 fetch(const half2_params &h, int x, int y)
{
    const bilateral_params &p = h.p;
    const int last = p.width / 2 - 1, cx = min(max(x, 0), last), cy = min(max(y, 0), p.height - 1);
    const half2 bias = __float2half2_rn(-1024.0f - 128.0f);
    half2 luma, uv, y1;

    /* A byte in the low bits of 0x6400 is 1024 plus the byte. */
    if (p.packed) {
        const uint32_t word = *reinterpret_cast<const uint32_t *>(
            p.in[0].base + size_t(cy) * p.in[0].stride + 4 * cx);

        luma = from_bits(__byte_perm(word, 0x64646464, h.select_y));
        uv = from_bits(__byte_perm(word, 0x64646464, h.select_uv));
    } else {
        const uint32_t word = *reinterpret_cast<const uint16_t *>(
            p.in[0].base + size_t(cy) * p.in[0].stride + 2 * cx);
        const int row = cy >> p.vshift;
        const uint32_t u = p.in[1].base[size_t(row) * p.in[1].stride + cx * p.in[1].step];
        const uint32_t v = p.in[2].base[size_t(row) * p.in[2].stride + cx * p.in[2].step];

        luma = from_bits(__byte_perm(word, 0x64646464, 0x4140));
        uv = from_bits(u | v << 16 | 0x64006400);
    }
    if (x < 0)
        luma = __low2half2(luma);
    if (x > last)
        luma = __high2half2(luma);
    luma = __hadd2(luma, bias);
    uv = __hadd2(uv, bias);
    y1 = __hfma2(__high2half2(uv), from_bits(h.to_y1_v),
                 __hmul2(__low2half2(uv), from_bits(h.to_y1_u)));
    y1 = __hfma2(luma, from_bits(h.to_y1_y), y1);
    uv = __hfma2(uv, from_bits(h.to_uv1), __hmul2(__high2half2(uv), from_bits(h.to_u1_v)));
    return make_uint2(bits(y1), bits(uv));
}

/* The spatial part of a weight as it is added (Gaussian) or multiplied (Lorentzian). */
template <bool LORENTZIAN> static __device__ float spatial(const half2_params &h, int dx, int dy)
{
    const float octaves = h.octaves_per_r2 * float(dx * dx + dy * dy);

    return LORENTZIAN ? exp2f(-octaves) : fmaxf(EXPONENT_ONE - EXPONENT_OCTAVE * octaves, -0.5f);
}

static __device__ __forceinline__ bool inside(const half2_params &h, int dx, int dy)
{
    return abs(dx) <= h.p.radius && abs(dy) <= h.half_width[abs(dx)];
}

/* @ALONE: what is of the swapped taps does not build on what is of the direct ones. */
template <bool LORENTZIAN, bool ALONE>
static __device__ uint2 column_space(const half2_params &h, int c, int dy)
{
    const float outside = LORENTZIAN ? 0.0f : -1.0f;
    const half direct = __float2half_rn(spatial<LORENTZIAN>(h, 2 * c, dy));
    const float base = LORENTZIAN || ALONE ? 0.0f : __half2float(direct);
    const float left =
        inside(h, 2 * c + 1, dy) ? spatial<LORENTZIAN>(h, 2 * c + 1, dy) - base : outside;
    const float right =
        inside(h, 2 * c - 1, dy) ? spatial<LORENTZIAN>(h, 2 * c - 1, dy) - base : outside;

    return make_uint2(bits(__half2half2(direct)), bits(__floats2half2_rn(left, right)));
}

/* A block's view of its shared memory. */
struct tile {
    int columns, rows;
    int reach;             /* columns of halo on either side */
    int span;              /* rows of the window */
    uint2 *pairs;          /* rows of `columns` entries */
    uint2 *columns_space;  /* [c + radius / 2][dy + radius] */
    uint32_t *edges_space; /* [(D - 1) / 2][dy + radius] */

    __device__ __forceinline__ tile(uint2 *shared, int radius)
        : columns(WARP + (radius + 1) / 2 * 2), rows(blockDim.y * ROWS + 2 * radius),
          reach((radius + 1) / 2), span(2 * radius + 1), pairs(shared),
          columns_space(pairs + columns * rows),
          edges_space(reinterpret_cast<uint32_t *>(columns_space + (2 * (radius / 2) + 1) * span))
    {
    }
};

/* The spatial weights. */
template <bool LORENTZIAN, bool ALONE>
static __device__ __forceinline__ void fill_space(const half2_params &h, const tile &t, int radius)
{
    const int columns = 2 * (radius / 2) + 1;
    const int thread = threadIdx.y * WARP + threadIdx.x, threads = WARP * blockDim.y;

    for (int i = thread; i < columns * t.span; i += threads)
        t.columns_space[i] =
            column_space<LORENTZIAN, ALONE>(h, i / t.span - radius / 2, i % t.span - radius);
    for (int i = thread; i < t.reach * t.span; i += threads)
        t.edges_space[i] = bits(
            __float2half2_rn(spatial<LORENTZIAN>(h, 2 * (i / t.span) + 1, i % t.span - radius)));
}

/* The picture and the spatial weights. */
template <bool LORENTZIAN>
static __device__ __forceinline__ void fill(const half2_params &h, const tile &t, int radius)
{
    const int x0 = blockIdx.x * WARP - t.reach;
    const int y0 = h.p.row_begin + blockIdx.y * blockDim.y * ROWS - radius;
    const int thread = threadIdx.y * WARP + threadIdx.x, threads = WARP * blockDim.y;

#pragma unroll 4
    for (int i = thread; i < t.columns * t.rows; i += threads) {
        const int row = __umulhi(i, h.divide_by_columns);

        t.pairs[i] = fetch(h, x0 + i - row * t.columns, y0 + row);
    }
    fill_space<LORENTZIAN, false>(h, t, radius);
}

/* Adds what a disc has beyond its columns. */
template <bool LORENTZIAN, class PAIR>
static __device__ __forceinline__ void add_disc_edges(const half2_params &h, const tile &t,
                                                      half_sums s[ROWS], const PAIR p[ROWS],
                                                      const uint2 *at, int radius)
{
    const uint32_t *space = t.edges_space + radius;

#pragma unroll 1
    for (int reach = 1; reach <= t.reach; reach++, space += t.span) {
        const int first = h.half_width[2 * reach] + 1, last = h.half_width[2 * reach - 1];

        if (first > last)
            continue;
        add_edge_rows<LORENTZIAN>(s, p, at, t.columns, space, reach, first ? first : -last, last);
        if (first)
            add_edge_rows<LORENTZIAN>(s, p, at, t.columns, space, reach, -last, -first);
    }
}

/* Adds what a square has beyond its columns: one column on either side if the radius is odd. */
template <bool LORENTZIAN, class PAIR>
static __device__ __forceinline__ void
add_square_edges(const tile &t, half_sums s[ROWS], const PAIR p[ROWS], const uint2 *at, int radius)
{
    if (radius % 2)
        add_edge_rows<LORENTZIAN>(s, p, at, t.columns,
                                  t.edges_space + radius + (t.reach - 1) * t.span, t.reach, -radius,
                                  radius);
}
