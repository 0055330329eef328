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

    __device__ __forceinline__ part(const tensor_params &h) : top(0), rows(h.tile_rows)
    {
        int y, below;

        asm volatile("mov.u32 %0, %%ctaid.y;" : "=r"(y));
        below = y - h.whole_rows;
        if (below >= 0) {
            rows >>= h.parts_shift;
            top = (below & (1 << h.parts_shift) - 1) * rows;
            y = h.whole_rows + (below >> h.parts_shift);
        }
        picture_top = h.p.row_begin + y * h.tile_rows + top;
    }
};

/* Column 0 of the tile is that of the leftmost tap. Where the radius is odd it is the right half
 * of a pixel pair, so that the features have one column before it. Strides are such that no load of
 * the inner loop has a bank conflict: 2 or 6 entries more than a multiple of 8 for features, an odd
 * multiple of 16 bytes for rows of values, 64 bytes more than a multiple of 128 for planes. */
struct tile {
    uint4 *features;
    uint16_t *values; /* planes Y, U, V, and a row of ones */
    /* Masks of the window or spatial weights: by the rows between, the two pairs in a row of a
     * patch, and pairs of columns of the windows' union; a word for each pixel. */
    uint2 *window;
    int radius, odd; /* @odd: 1 if the radius is */
    int rows;        /* with the halo */

    __device__ __forceinline__ tile(const tensor_params &h, const part &own, uint4 *shared,
                                    int radius, int odd)
        : features(shared), radius(radius), odd(odd), rows(own.rows + 2 * radius)
    {
        values = reinterpret_cast<uint16_t *>(features + rows * h.feature_stride);
        window = reinterpret_cast<uint2 *>(values + 3 * h.value_plane + h.ones) -
                 h.window_first * h.window_stride;
    }
};

/* What a thread that fills the tile knows of its pixel pair's column. */
struct pair_column {
    const uint8_t *y, *u, *v; /* of the picture's first row; @y: all four bytes, where packed */
    uint32_t select[4];       /* bytes Y0 Y1 U V of its word, below those of a float */
    float2 x;                 /* features */
    float2 x_squared;         /* of the rounded ones */

    __device__ __forceinline__ pair_column(const tensor_params &h, const tile &t, int pair)
    {
        const bilateral_params &p = h.p;
        const int last = p.width / 2 - 1, column = 2 * pair - t.odd;
        const int at = (int(blockIdx.x) * h.tile_columns - t.radius - t.odd) / 2 + pair;
        const unsigned source = min(max(at, 0), last);
        const float place = float(column - t.radius - h.tile_columns / 2);
        float2 rounded;
        uint32_t bytes = p.packed ? p.unpack : 0x3210;

        y = p.in[0].base + size_t(source * (p.packed ? 4u : 2u));
        u = p.in[1].base + size_t(source * p.in[1].step);
        v = p.in[2].base + size_t(source * p.in[2].step);
        pin(y); /* or the compiler adds the base for each row */
        /* The nearest edge pixel outside the picture. */
        if (at < 0)
            bytes = (bytes & 0xff0f) | (bytes & 0x000f) << 4;
        if (at > last)
            bytes = (bytes & 0xfff0) | (bytes & 0x00f0) >> 4;
#pragma unroll
        for (int i = 0; i < 4; i++)
            select[i] = 0x7440 | (bytes >> 4 * i & 0xf);
        x = make_float2(place * h.to_place, (place + 1) * h.to_place);
        rounded = __half22float2(__float22half2_rn(x));
        x_squared = make_float2(rounded.x * rounded.x, rounded.y * rounded.y);
    }
    /* The word of a pixel pair. */
    template <bool PACKED>
    __device__ __forceinline__ uint32_t fetch(const bilateral_params &p, int row) const
    {
        const unsigned inside = min(max(row, 0), p.height - 1), half = inside >> p.vshift;

        if (PACKED)
            return *reinterpret_cast<const uint32_t *>(y + size_t(inside) * p.in[0].stride);
        return *reinterpret_cast<const uint16_t *>(y + size_t(inside) * p.in[0].stride) |
               uint32_t(u[size_t(half) * p.in[1].stride]) << 16 |
               uint32_t(v[size_t(half) * p.in[2].stride]) << 24;
    }
};

/* Features of a pair in the row with feature @y. */
static __device__ __forceinline__ void put_features(const tensor_params &h, uint4 *to,
                                                    const pair_column &c, float y, float y0,
                                                    float y1, float u, float v)
{
    const float of_chroma = h.to_f0_u * u + h.to_f0_v * v;
    const half2 f12 = __floats2half2_rn(h.to_f1_u * u + h.to_f1_v * v, h.to_f2_v * v);
    const float l0 = h.to_f0_y * y0 + of_chroma, l1 = h.to_f0_y * y1 + of_chroma;
    const float2 r12 = __half22float2(f12), r0 = __half22float2(__floats2half2_rn(l0, l1));
    const float color = r12.x * r12.x + r12.y * r12.y;
    const half2 place0 = __floats2half2_rn(c.x.x, y), place1 = __floats2half2_rn(c.x.y, y);
    const float row = __high2float(place0), common = row * row + color;
    const float n0 = r0.x * r0.x + (LORENTZIAN ? color : common + c.x_squared.x);
    const float n1 = r0.y * r0.y + (LORENTZIAN ? color : common + c.x_squared.y);
    const half2 nh0 = __floats2half2_rn(n0, 1.0f), nh1 = __floats2half2_rn(n1, 1.0f);
    const float nl0 = n0 - __low2float(nh0), nl1 = n1 - __low2float(nh1);

    if (LORENTZIAN) {
        to[0] = make_uint4(bits(f12), bits(__floats2half2_rn(l0, 0.0f)), bits(nh0),
                           bits(__floats2half2_rn(nl0, 1.0f)));
        to[1] = make_uint4(bits(f12), bits(__floats2half2_rn(l1, 0.0f)), bits(nh1),
                           bits(__floats2half2_rn(nl1, 1.0f)));
        return;
    }
    to[0] = make_uint4(bits(f12), bits(place0), bits(__floats2half2_rn(l0, nl0)), bits(nh0));
    to[1] = make_uint4(bits(f12), bits(place1), bits(__floats2half2_rn(l1, nl1)), bits(nh1));
}

template <bool ODD>
static __device__ __forceinline__ void put_values(const tensor_params &h, uint16_t *to, bool first,
                                                  float y0, float y1, float u, float v)
{
    const uint32_t pairs[3] = {pack_values(y0, y1), pack_values(u, u), pack_values(v, v)};

#pragma unroll
    for (int i = 0; i < 3; i++, to += h.value_plane) {
        if (!ODD) {
            *reinterpret_cast<uint32_t *>(to) = pairs[i];
            continue;
        }
        if (!first)
            to[-1] = uint16_t(pairs[i]);
        to[0] = uint16_t(i ? pairs[i] : pairs[i] >> 16); /* chroma is that of both */
    }
}

static __device__ __forceinline__ void put_ones(const tensor_params &h, const tile &t, int thread)
{
    uint32_t *const ones = reinterpret_cast<uint32_t *>(t.values + 3 * h.value_plane);

    if (thread < h.ones / 2)
        ones[thread] = VALUE_1 | VALUE_1 << 16;
}

/* Behind the last pair where the radius is odd: the last neighbours reach one column further. */
static __device__ __forceinline__ void put_last_column(const tensor_params &h, const tile &t,
                                                       int thread)
{
    uint16_t *const last = t.values + 2 * h.pairs - 1;

    for (int row = thread; row < t.rows; row += h.warps * WARP)
        for (int i = 0; i < 3; i++)
            last[i * h.value_plane + row * h.value_stride] = 0;
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

    for (unsigned i = threadIdx.y * WARP + threadIdx.x; i < columns * h.window_rows;
         i += h.warps * WARP) {
        const unsigned row = i / columns + h.window_first, column = i % columns;
        const int dx = int(2 * column - 2 * (row % 2)) - t.radius, dy = row / 2;
        const uint32_t left = window_half(h, dx - 1, dy), middle = window_half(h, dx, dy);
        const uint32_t right = window_half(h, dx + 1, dy);

        t.window[row * h.window_stride + column] =
            make_uint2(low_halves(middle, right), low_halves(left, middle));
    }
}

#define FILL_AT_ONCE 9 /* loads that a thread has under way */

/* A thread owns a pixel pair's column, and every h.fill_step-th of its rows. */
template <bool ODD>
static __device__ __forceinline__ void fill(const tensor_params &h, const tile &t, const part &own)
{
    const int thread = threadIdx.y * WARP + threadIdx.x;
    const int first = __umulhi(thread, h.divide_by_pairs), pair = thread - first * h.pairs;
    const pair_column c(h, t, pair);
    const int y0 = own.picture_top - t.radius;
    const float step = float(h.fill_step) * h.to_place;
    float place = float(own.top + first - t.radius - h.tile_rows / 2) * h.to_place;
    uint4 *features = t.features + first * h.feature_stride + 2 * pair;
    uint16_t *values = t.values + first * h.value_stride + 2 * pair;

    put_ones(h, t, thread);
    if (ODD)
        put_last_column(h, t, thread);
    if (first >= h.fill_step)
        return;
    for (int row = first; row < t.rows;) {
        uint32_t words[FILL_AT_ONCE];

        if (h.p.packed)
#pragma unroll
            for (int i = 0; i < FILL_AT_ONCE; i++)
                words[i] = c.fetch<true>(h.p, y0 + row + i * h.fill_step);
        else
#pragma unroll
            for (int i = 0; i < FILL_AT_ONCE; i++)
                words[i] = c.fetch<false>(h.p, y0 + row + i * h.fill_step);
#pragma unroll
        for (int i = 0; i < FILL_AT_ONCE; i++) {
            const float y_0 = value(words[i], c.select[0]), y_1 = value(words[i], c.select[1]);
            const float u = value(words[i], c.select[2]), v = value(words[i], c.select[3]);

            put_features(h, features, c, place, y_0, y_1, u, v);
            put_values<ODD>(h, values, pair == 0, y_0, y_1, u, v);
            features += h.fill_features;
            values += h.fill_values;
            place += step;
            row += h.fill_step;
            if (row >= t.rows)
                break;
        }
    }
}

} // namespace
