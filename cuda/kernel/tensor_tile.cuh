#pragma once
/* A block's shared memory: features and values of the picture with its halo. */
#include "cuda/kernel/tensor.h"
#include "cuda/kernel/tensor_mma.cuh"

/* Each form has its own of all this. */
namespace
{

static __device__ __forceinline__ uint32_t bits(half2 h)
{
    return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ half2 from_bits(uint32_t b)
{
    return *reinterpret_cast<half2 *>(&b);
}

static __device__ __forceinline__ uint32_t low_halves(uint32_t a, uint32_t b)
{
    return __byte_perm(a, b, 0x5410);
}

#define BOTH 0x3c003c00u /* two halves: 1 and 1, 1 and 0 */
#define FIRST 0x00003c00u
#define SECOND 0x3c000000u

/* The rows of a tile that a block filters. Asking again takes no register meanwhile. */
struct part {
    int top, rows;   /* from the tile's first row on */
    int picture_top; /* the same row of the picture */

    __device__ __forceinline__ part(const tensor_params &h, const tensor_layout &l)
        : top(0), rows(l.tile_rows)
    {
        int y, below;

        asm volatile("mov.u32 %0, %%ctaid.y;" : "=r"(y));
        below = y - h.whole_rows;
        if (below >= 0) {
            rows >>= h.parts_shift;
            top = (below & (1 << h.parts_shift) - 1) * rows;
            y = h.whole_rows + (below >> h.parts_shift);
        }
        picture_top = h.p.row_begin + y * l.tile_rows + top;
    }
};

/* Column 0 of the tile is that of the leftmost tap. Where the radius is odd it is the right half
 * of a pixel pair, so that the features have one column before it. */
struct tile {
    tensor_layout l;
    uint4 *features;
    uint16_t *values; /* planes Y, U, V, and a row of ones */
    /* Masks of the window or spatial weights: by the rows between, the two pairs in a row of a
     * patch, and pairs of columns of the windows' union; a word for each pixel. */
    uint2 *window;
    int radius, odd; /* @odd: 1 if the radius is */
    int rows;        /* with the halo */

    __device__ __forceinline__ tile(const tensor_layout &l, const part &own, uint4 *shared,
                                    int radius, int odd)
        : l(l), features(shared), radius(radius), odd(odd), rows(own.rows + 2 * radius)
    {
        values = reinterpret_cast<uint16_t *>(features + rows * l.feature_stride);
        window = reinterpret_cast<uint2 *>(values + 3 * l.value_plane + l.ones) -
                 l.window_first * l.window_stride;
    }
};

/* What a thread that fills the tile knows of its pixel pair's column. */
struct pair_column {
    const uint8_t *y, *u, *v;     /* of the picture's first row; @y: all four bytes, where packed */
    uint32_t select, select_uv;   /* bytes Y0 Y1 and U V of its word, each with a byte 4 above it */
    float x0, x1;                 /* of both pixels */
    float x0_squared, x1_squared; /* what they add to the norms */

    __device__ __forceinline__ pair_column(const tensor_params &h, const tile &t, int pair)
    {
        const bilateral_params &p = h.p;
        const int last = p.width / 2 - 1;
        const int at = (int(blockIdx.x) * t.l.tile_columns - t.radius - t.odd) / 2 + pair;
        const unsigned source = min(max(at, 0), last);
        const uint32_t bytes = p.packed ? p.unpack : 0x3210;
        /* The nearest edge pixel outside the picture. */
        const uint32_t left = bytes >> (at > last ? 4 : 0), right = bytes >> (at < 0 ? 0 : 4);

        y = p.in[0].base + size_t(source * (p.packed ? 4u : 2u));
        u = p.in[1].base + size_t(source * p.in[1].step);
        v = p.in[2].base + size_t(source * p.in[2].step);
        pin(y); /* or the compiler adds the base for each row */
        select = 0x4040 | (left & 0xf) | (right & 0xf) << 8;
        select_uv = 0x4040 | (bytes >> 8 & 0xf) | (bytes >> 12 & 0xf) << 8;
        x0 = float(2 * pair - t.odd - t.radius - t.l.tile_columns / 2) * PLACE_UNIT;
        x1 = x0 + PLACE_UNIT;
        x0_squared = x0 * x0 * h.place_factor;
        x1_squared = x1 * x1 * h.place_factor;
    }
    /* The word of a pixel pair. */
    template <bool PACKED>
    __device__ __forceinline__ uint32_t fetch(const bilateral_params &p, int row) const
    {
        const unsigned inside = min(max(row, 0), p.height - 1), half = inside >> p.vshift;

        if (PACKED)
            return __ldg(reinterpret_cast<const uint32_t *>(y + size_t(inside) * p.in[0].stride));
        return __ldg(reinterpret_cast<const uint16_t *>(y + size_t(inside) * p.in[0].stride)) |
               uint32_t(__ldg(u + size_t(half) * p.in[1].stride)) << 16 |
               uint32_t(__ldg(v + size_t(half) * p.in[2].stride)) << 24;
    }
};

/* Features of a pair with samples @y and @uv. @place0 and @place1: x and y of its pixels; @row: y
 * again. */
static __device__ __forceinline__ void put_features(const tensor_params &h, uint4 *to,
                                                    const pair_column &c, half2 place0,
                                                    half2 place1, float row, half2 y, half2 uv)
{
    const half2 u = __low2half2(uv), v = __high2half2(uv);
    /* What is small comes first, and is rounded the least. */
    const half2 chroma = __hfma2(u, h.f0_u, __hfma2(v, h.f0_v, h.f0_128));
    const half2 f0 = __hfma2(__hsub2(y, h.y_128), h.f0_y, chroma);
    const half2 f12 = __hfma2(u, h.f12_u, __hfma2(v, h.f12_v, h.f12_128));
    const float2 l = __half22float2(f0), r12 = __half22float2(f12);
    const float color = r12.x * r12.x + r12.y * r12.y;
    const float common = LORENTZIAN ? color : row * row * h.place_factor + color;
    const float n0 = l.x * l.x + (LORENTZIAN ? common : common + c.x0_squared);
    const float n1 = l.y * l.y + (LORENTZIAN ? common : common + c.x1_squared);
    const half2 nh0 = __floats2half2_rn(n0, 1.0f), nh1 = __floats2half2_rn(n1, 1.0f);
    const float nl0 = n0 - __low2float(nh0), nl1 = n1 - __low2float(nh1);

    if (LORENTZIAN) {
        to[0] = make_uint4(bits(f12), bits(__floats2half2_rn(l.x, 0.0f)), bits(nh0),
                           bits(__floats2half2_rn(nl0, 1.0f)));
        to[1] = make_uint4(bits(f12), bits(__floats2half2_rn(l.y, 0.0f)), bits(nh1),
                           bits(__floats2half2_rn(nl1, 1.0f)));
        return;
    }
    to[0] = make_uint4(bits(f12), bits(place0), bits(__floats2half2_rn(l.x, nl0)), bits(nh0));
    to[1] = make_uint4(bits(f12), bits(place1), bits(__floats2half2_rn(l.y, nl1)), bits(nh1));
}

/* Where the radius is odd, the left pixel is not beside the right one, but @left bytes from it. */
template <bool ODD>
static __device__ __forceinline__ void put_values(const tile &t, uint16_t *to, int left, half2 y,
                                                  half2 uv)
{
    const uint32_t luma = sample_values(y);
    const int plane = t.l.value_plane;

    if (ODD) {
        const uint32_t right_at = shared_address(to), left_at = right_at + left;
        const uint32_t chroma = sample_values(uv); /* of both pixels */

        store_halves(left_at, right_at, luma);
        store_halves(left_at + 2 * plane, left_at + 4 * plane, chroma);
        store_halves(right_at + 2 * plane, right_at + 4 * plane, chroma);
    } else {
        uint32_t *const pair = reinterpret_cast<uint32_t *>(to);

        pair[0] = luma;
        pair[plane / 2] = sample_values(__low2half2(uv));
        pair[plane] = sample_values(__high2half2(uv));
    }
}

static __device__ __forceinline__ void put_ones(const tile &t, int thread)
{
    uint32_t *const ones = reinterpret_cast<uint32_t *>(t.values + 3 * t.l.value_plane);

    if (thread < t.l.ones / 2)
        ones[thread] = VALUE_1 | VALUE_1 << 16;
}

/* For a neighbour @dx columns to the right and @dy rows away: half of a word of a mask. */
static __device__ __forceinline__ uint32_t window_half(const tensor_params &h, int dx, int dy)
{
    const bool inside = abs(dx) <= h.half_width[dy];
    const float octaves = h.octaves_per_r2 * float(-dx * dx - dy * dy);

    if (LORENTZIAN)
        return inside ? bits(__floats2half2_rn(exp2f(octaves), 0.0f)) : 0;
    return inside ? 0 : 0xffff;
}

static __device__ __forceinline__ void put_window(const tensor_params &h, const tile &t)
{
    const unsigned columns = (t.radius + 3) / 2 * 2;

    for (unsigned i = threadIdx.y * WARP + threadIdx.x; i < columns * t.l.window_rows;
         i += t.l.warps * WARP) {
        const unsigned row = i / columns + t.l.window_first, column = i % columns;
        const int dx = int(2 * column - 2 * (row % 2)) - t.radius, dy = row / 2;
        const uint32_t left = window_half(h, dx - 1, dy), middle = window_half(h, dx, dy);
        const uint32_t right = window_half(h, dx + 1, dy);

        t.window[row * t.l.window_stride + column] =
            make_uint2(low_halves(middle, right), low_halves(left, middle));
    }
}

#define MOST_AT_ONCE 9 /* loads that a thread has under way */

/* Words of every @step-th row of the picture from @row on. */
template <int N>
static __device__ __forceinline__ void fetch_rows(uint32_t words[N], const bilateral_params &p,
                                                  const pair_column &c, int row, int step)
{
    if (p.packed)
#pragma unroll
        for (int i = 0; i < N; i++)
            words[i] = c.fetch<true>(p, row + i * step);
    else
#pragma unroll
        for (int i = 0; i < N; i++)
            words[i] = c.fetch<false>(p, row + i * step);
}

/* A thread owns a pixel pair's column, and every l.fill_step-th of its rows, of which it loads
 * @AT_ONCE. While the first are on their way it makes its part of the table of the window, if there
 * is one. */
template <bool ODD, bool TABLE, int AT_ONCE>
static __device__ __forceinline__ void fill(const tensor_params &h, const tile &t, const part &own)
{
    const int thread = threadIdx.y * WARP + threadIdx.x, fill_step = t.l.fill_step;
    const int first = __umulhi(thread, t.l.divide_by_pairs), pair = thread - first * t.l.pairs;
    const pair_column c(h, t, pair);
    const int y0 = own.picture_top - t.radius;
    const float step = float(fill_step) * PLACE_UNIT;
    float row_place = float(own.top + first - t.radius - t.l.tile_rows / 2) * PLACE_UNIT;
    half2 place0 = __floats2half2_rn(c.x0, row_place);
    half2 place1 = __floats2half2_rn(c.x1, row_place);
    uint4 *features = t.features + first * t.l.feature_stride + 2 * pair;
    uint16_t *values = t.values + first * t.l.value_stride + 2 * pair;
    /* Where the radius is odd, the first pair's left pixel is beyond the tile. It goes behind the
     * last pair, where the last neighbours reach one column further, and weighs nothing. */
    const int left = (pair ? -1 : 2 * t.l.pairs - 1) * int(sizeof(uint16_t));
    const bool has_rows = first < fill_step && first < t.rows;
    uint32_t words[AT_ONCE];

    if (has_rows)
        fetch_rows<AT_ONCE>(words, h.p, c, y0 + first, fill_step);
    put_ones(t, thread);
    if (TABLE)
        put_window(h, t);
    if (!has_rows)
        return;
    for (int row = first;;) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const half2 y = pair_samples(words[i], c.select);
            const half2 uv = pair_samples(words[i], c.select_uv);

            put_features(h, features, c, place0, place1, row_place, y, uv);
            put_values<ODD>(t, values, left, y, uv);
            if (i * fill_step >= t.rows - row - fill_step)
                return;
            features += t.l.fill_features;
            values += t.l.fill_values;
            row_place += step;
            place0 = __hadd2(place0, __floats2half2_rn(0.0f, step));
            place1 = __hadd2(place1, __floats2half2_rn(0.0f, step));
        }
        if (AT_ONCE * fill_step >= t.l.tile_rows + 2 * t.radius)
            return; /* which the compiler sees, too, where the radius is known */
        row += AT_ONCE * fill_step;
        fetch_rows<AT_ONCE>(words, h.p, c, y0 + row, fill_step);
    }
}

} // namespace
