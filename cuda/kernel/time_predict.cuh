#pragma once
/* Step 1 of engine/time/average.h: what the frame before says of this one. */
#include "cuda/kernel/time_tile.cuh"

/* What @selector takes of @word as a number: it becomes the low mantissa bits of 2^23. */
static __device__ __forceinline__ float number(uint32_t word, uint32_t selector)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000, selector)) - 8388608.0f;
}

#define LOW_BYTE 0x7440
#define HIGH_BYTE 0x7441
#define LOW_HALF 0x7410
#define HIGH_HALF 0x7432

static __device__ __forceinline__ float2 levels_of(uint32_t pair)
{
    return make_float2(number(pair, LOW_HALF) * (1.0f / 256),
                       number(pair, HIGH_HALF) * (1.0f / 256));
}

/* Weights of the samples at -1 .. 2 for a sample @eighths away from 0. */
static __device__ __forceinline__ void cubic(int eighths, float weight[4])
{
    const float a = -0.7f, d = 0.125f * float(eighths), u = 1.0f - d;

    weight[0] = a * d * u * u;
    weight[1] = ((a + 2.0f) * d - (a + 3.0f)) * d * d + 1.0f;
    weight[2] = ((a + 2.0f) * u - (a + 3.0f)) * u * u + 1.0f;
    weight[3] = a * u * d * d;
}

static __device__ float2 moved_luma(const time_job &j, int x, int y, time_vector v)
{
    const time_shape &s = j.shape;
    float across[4], down[4];
    float2 sum = {0.0f, 0.0f};

    x += v.x >> 3;
    y += v.y >> 3;
    cubic(v.x & 7, across);
    cubic(v.y & 7, down);
    for (int k = 0; k < 4; k++) {
        const uint16_t *row = j.old.level[0] + clamp(y + k - 1, s.height - 1) * s.stride;
        float2 part = {0.0f, 0.0f};

        if (down[k] == 0.0f)
            continue;
#pragma unroll
        for (int i = 0; i < 5; i++) {
            const float level = number(__ldg(row + clamp(x + i - 1, s.width - 1)), LOW_HALF);

            if (i < 4)
                part.x += across[i] * level;
            if (i > 0)
                part.y += across[i - 1] * level;
        }
        sum.x += down[k] * part.x;
        sum.y += down[k] * part.y;
    }
    return make_float2(sum.x * (1.0f / 256), sum.y * (1.0f / 256));
}

static __device__ float moved_chroma(const time_job &j, const uint16_t *level, int x, int y,
                                     time_vector v)
{
    const time_shape &s = j.shape;
    const int right = (s.width - 1) >> s.hshift, last = (s.height - 1) >> s.vshift;
    const int x0 = x + (v.x >> (3 + s.hshift)), y0 = y + (v.y >> (3 + s.vshift));
    const float fx = float((v.x << (1 - s.hshift)) & 15) * (1.0f / 16);
    const float fy = float((v.y << (1 - s.vshift)) & 15) * (1.0f / 16);
    const uint16_t *upper = level + clamp(y0, last) * s.stride_c;
    const uint16_t *lower = level + clamp(y0 + 1, last) * s.stride_c;
    const int a = clamp(x0, right), b = clamp(x0 + 1, right);

    return ((1.0f - fy) * ((1.0f - fx) * number(__ldg(&upper[a]), LOW_HALF) +
                           fx * number(__ldg(&upper[b]), LOW_HALF)) +
            fy * ((1.0f - fx) * number(__ldg(&lower[a]), LOW_HALF) +
                  fx * number(__ldg(&lower[b]), LOW_HALF))) *
           (1.0f / 256);
}

/* x - P of a component for the pair at (@x, @y) in the picture. */
static __device__ __forceinline__ float2 luma_apart(const time_job &j, int x, int y, time_vector v)
{
    const int at = y * j.shape.stride + x;
    const uint32_t now = __ldg(reinterpret_cast<const uint16_t *>(j.now.luma + at));
    const float2 p =
        v.x || v.y ? moved_luma(j, x, y, v)
                   : levels_of(__ldg(reinterpret_cast<const uint32_t *>(j.old.level[0] + at)));

    return make_float2(number(now, LOW_BYTE) - p.x, number(now, HIGH_BYTE) - p.y);
}

static __device__ __forceinline__ float chroma_apart_at(const time_job &j, int c, int x, int y,
                                                        time_vector v)
{
    const int at = y * j.shape.stride_c + x;
    const uint16_t *level = j.old.level[c];
    const float p = v.x || v.y ? moved_chroma(j, level, x, y, v)
                               : number(__ldg(level + at), LOW_HALF) * (1.0f / 256);

    return number(__ldg(j.now.chroma[c - 1] + at), LOW_BYTE) - p;
}

static __device__ __forceinline__ float2 chroma_apart(const time_job &j, int c, int x, int y,
                                                      time_vector v)
{
    const int row = y >> j.shape.vshift;
    const float left = chroma_apart_at(j, c, x >> j.shape.hshift, row, v);

    return make_float2(left, j.shape.hshift ? left : chroma_apart_at(j, c, x + 1, row, v));
}

/* e of a pair in the picture, in (Y1, U1, V1). */
template <int C>
static __device__ __forceinline__ void subtract_pair(const time_job &j, int x, int y, time_vector v,
                                                     uint32_t ret[C])
{
    const float2 d = luma_apart(j, x, y, v);
    float2 e = {j.a * SCALE * d.x, j.a * SCALE * d.y};

    if (C == 3) {
        const float2 u = chroma_apart(j, 1, x, y, v), w = chroma_apart(j, 2, x, y, v);
        const float b = j.b * SCALE, c = j.c * SCALE, f = j.f * SCALE;
        const float k = j.d * SCALE, l = j.e * SCALE;

        e.x += b * u.x + c * w.x;
        e.y += b * u.y + c * w.y;
        ret[C / 2] = pack_halves({k * u.x + l * w.x, k * u.y + l * w.y});
        ret[C - 1] = pack_halves({f * w.x, f * w.y});
    }
    ret[0] = pack_halves(e);
}

/* e of the whole tile; ALONG: with the motion. */
template <int C, int W, bool ALONG>
static __device__ __forceinline__ void subtract(const time_job &j, const tile &t)
{
    using size = sizes<W>;
    const time_shape &s = j.shape;

#pragma unroll(ALONG ? 1 : 4)
    for (int i = threadIdx.x; i < size::e; i += size::threads) {
        const int x = t.x0 - E_HALO + 2 * (i % size::e_columns);
        const int y = t.y0 - E_HALO + 1 + i / size::e_columns;
        const int cx = clamp(x, s.width - 2), cy = clamp(y, s.height - 1);
        uint32_t pair[C];

        subtract_pair<C>(j, cx, cy, ALONG ? vector_at(j, cx, cy) : time_vector{0, 0}, pair);
#pragma unroll
        for (int c = 0; c < C; c++)
            t.e[c * size::e + i] = repeat(pair[c], x, s.width);
    }
}

/* How many frames the guess is the mean of at a pixel. */
static __device__ __forceinline__ float frames_at(const time_job &j, int x, int y, bool along)
{
    const time_vector v = along ? vector_at(j, x, y) : time_vector{0, 0};
    float m;

    x += (v.x + 4) >> 3;
    y += (v.y + 4) >> 3;
    if (x < 0 || y < 0 || x >= j.shape.width || y >= j.shape.height)
        return 0.0f;
    m = number(__ldg(j.old.count + y * j.shape.stride + x), LOW_BYTE) * j.inv_count_steps;
    return (v.x | v.y) & 7 ? fminf(m, 8.0f) : m;
}

static __device__ __forceinline__ float base_of(float m)
{
    return 1.0f + __fdividef(1.0f, fmaxf(m, 0.5f));
}
