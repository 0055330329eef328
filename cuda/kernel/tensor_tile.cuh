#pragma once
/* A block's shared memory: features and values of the picture with its halo. */
#include "cuda/kernel/tensor.h"
#include "cuda/kernel/tensor_mma.cuh"

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

static __device__ __forceinline__ uint32_t high_halves(uint32_t a, uint32_t b)
{
    return __byte_perm(a, b, 0x7632);
}

/* Column 0 of the tile is that of the leftmost tap. Where the radius is odd it is the right half
 * of a pixel pair, so that the features have one column before it. Strides are such that no load of
 * the inner loop has a bank conflict: 2 or 6 entries more than a multiple of 8 for features, an odd
 * multiple of 16 bytes for rows of values, 64 bytes more than a multiple of 128 for planes. */
struct tile {
    uint4 *features;
    uint16_t *values; /* planes Y, 1, U, V, in bfloat16 */
    int rows;
    int odd; /* 1: the radius is odd */

    __device__ __forceinline__ tile(const tensor_params &h, uint4 *shared)
        : features(shared), rows(h.tile_rows + 2 * h.p.radius + 2 * (h.p.radius & 1)),
          odd(h.p.radius & 1)
    {
        values = reinterpret_cast<uint16_t *>(features + rows * h.feature_stride);
    }
};

/* Byte @BYTE of @word less 128, times 2^100: 2^123 has such a unit in the last place. */
template <int BYTE> static __device__ __forceinline__ float value(uint32_t word)
{
    return __uint_as_float(__byte_perm(word, 0x7d000000, 0x7440 | BYTE)) -
           __uint_as_float(0x7d000080);
}

/* What a thread that fills the tile knows of its pixel pair's column. */
struct pair_column {
    int source;      /* the pair of the picture */
    uint32_t select; /* bytes of its word that become Y0 Y1 U V */
    uint32_t x;      /* both features */
    float2 x_squared;

    __device__ __forceinline__ pair_column(const tensor_params &h, const tile &t, int pair)
    {
        const int last = h.p.width / 2 - 1, column = 2 * pair - t.odd;
        const int at = (int(blockIdx.x) * h.tile_columns - h.p.radius - t.odd) / 2 + pair;
        const float place = float(column - h.p.radius - h.tile_columns / 2);
        const half2 both = __floats2half2_rn(place * h.to_place, (place + 1) * h.to_place);
        const float2 rounded = __half22float2(both);

        source = min(max(at, 0), last);
        select = h.p.packed ? h.p.unpack : 0x3210;
        /* The nearest edge pixel outside the picture. */
        if (at < 0)
            select = (select & 0xff0f) | (select & 0x000f) << 4;
        if (at > last)
            select = (select & 0xfff0) | (select & 0x00f0) >> 4;
        x = bits(both);
        x_squared = make_float2(rounded.x * rounded.x, rounded.y * rounded.y);
    }
};

/* The bytes Y0 Y1 U V of a pixel pair. */
template <bool PACKED>
static __device__ __forceinline__ uint32_t fetch(const tensor_params &h, const pair_column &c,
                                                 int y)
{
    const bilateral_params &p = h.p;
    const unsigned row = min(max(y, 0), p.height - 1), pair = c.source;
    uint32_t word;

    if (PACKED) {
        word = *reinterpret_cast<const uint32_t *>(p.in[0].base + size_t(row) * p.in[0].stride +
                                                   4 * pair);
    } else {
        const size_t half = row >> p.vshift;
        const uint32_t u = p.in[1].base[half * p.in[1].stride + pair * p.in[1].step];
        const uint32_t v = p.in[2].base[half * p.in[2].stride + pair * p.in[2].step];

        word = *reinterpret_cast<const uint16_t *>(p.in[0].base + size_t(row) * p.in[0].stride +
                                                   2 * pair);
        word |= u << 16 | v << 24;
    }
    return __byte_perm(word, 0, c.select);
}

/* Features of a pair; @y is that of its row, twice. */
static __device__ __forceinline__ void put_features(const tensor_params &h, uint4 *to,
                                                    const pair_column &c, uint32_t y,
                                                    float y_squared, float y0, float y1, float u,
                                                    float v)
{
    const float of_chroma = h.to_f0_u * u + h.to_f0_v * v;
    const half2 f12 = __floats2half2_rn(h.to_f1_u * u + h.to_f1_v * v, h.to_f2_v * v);
    const half2 f0 = __floats2half2_rn(h.to_f0_y * y0 + of_chroma, h.to_f0_y * y1 + of_chroma);
    const float2 r12 = __half22float2(f12), r0 = __half22float2(f0);
    const float common = y_squared + r12.x * r12.x + r12.y * r12.y;
    const float n0 = r0.x * r0.x + (common + c.x_squared.x);
    const float n1 = r0.y * r0.y + (common + c.x_squared.y);
    const half2 nh = __floats2half2_rn(n0, n1);
    const float2 rounded = __half22float2(nh);
    const half2 nl = __floats2half2_rn(n0 - rounded.x, n1 - rounded.y);
    const uint32_t ones = 0x3c003c00;

    to[0] = make_uint4(bits(f12), low_halves(c.x, y), low_halves(bits(f0), bits(nl)),
                       low_halves(bits(nh), ones));
    to[1] = make_uint4(bits(f12), high_halves(c.x, y), high_halves(bits(f0), bits(nl)),
                       high_halves(bits(nh), ones));
}

/* Values of a pair; a bfloat16 is the high half of a float. */
template <bool ODD>
static __device__ __forceinline__ void put_values(const tensor_params &h, uint16_t *to, bool first,
                                                  float y0, float y1, float u, float v)
{
    const uint32_t pairs[4] = {high_halves(__float_as_uint(y0), __float_as_uint(y1)),
                               0x71807180, /* 2^100 */
                               high_halves(__float_as_uint(u), __float_as_uint(u)),
                               high_halves(__float_as_uint(v), __float_as_uint(v))};

#pragma unroll
    for (int i = 0; i < 4; i++, to += h.value_plane) {
        if (!ODD) {
            *reinterpret_cast<uint32_t *>(to) = pairs[i];
            continue;
        }
        if (!first)
            to[-1] = uint16_t(pairs[i]);
        to[0] = uint16_t(pairs[i] >> 16);
    }
}

#define FILL_AT_ONCE 8 /* loads that a thread has under way */

/* A thread owns a pixel pair's column, and every h.fill_step-th of its rows. */
template <bool ODD>
static __device__ __forceinline__ void fill(const tensor_params &h, const tile &t)
{
    const int thread = threadIdx.y * WARP + threadIdx.x;
    const int first = __umulhi(thread, h.divide_by_pairs), pair = thread - first * h.pairs;
    const pair_column c(h, t, pair);
    const int y0 = h.p.row_begin + int(blockIdx.y) * h.tile_rows - h.p.radius;

    if (first >= h.fill_step)
        return;
    for (int begin = first; begin < t.rows; begin += FILL_AT_ONCE * h.fill_step) {
        uint32_t words[FILL_AT_ONCE];

        if (h.p.packed)
#pragma unroll
            for (int i = 0; i < FILL_AT_ONCE; i++)
                words[i] = fetch<true>(h, c, y0 + begin + i * h.fill_step);
        else
#pragma unroll
            for (int i = 0; i < FILL_AT_ONCE; i++)
                words[i] = fetch<false>(h, c, y0 + begin + i * h.fill_step);
#pragma unroll
        for (int i = 0; i < FILL_AT_ONCE; i++) {
            const int row = begin + i * h.fill_step;
            const float place = float(row - h.p.radius - h.tile_rows / 2) * h.to_place;
            const half2 y = __floats2half2_rn(place, place);
            const float rounded = __low2float(y);
            const float y_0 = value<0>(words[i]), y_1 = value<1>(words[i]);
            const float u = value<2>(words[i]), v = value<3>(words[i]);

            if (row >= t.rows)
                break;
            put_features(h, t.features + row * h.feature_stride + 2 * pair, c, bits(y),
                         rounded * rounded, y_0, y_1, u, v);
            put_values<ODD>(h, t.values + row * h.value_stride + 2 * pair, pair == 0, y_0, y_1, u,
                            v);
        }
    }
}
