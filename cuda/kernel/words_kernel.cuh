#pragma once
/* The bilateral filter of grey and of planes of colour in single precision, any radius, any sigma:
 * what the kernels for frames alone (words.cu) and for stored ones (words_time.cu) share. Inside,
 * samples have 16 bits.
 *
 * DESIGN. A thread owns 4 pixels below each other and goes over their windows column by column. A
 * neighbour is loaded once and serves the pixels whose windows have it; above and below those are
 * fewer than 4, so nothing is computed for taps outside of a window. The sums are those of
 * differences from the pixel: one colour stays what it is, and the rounding of single precision
 * stays far below a level of 16 bits. As in generic.cu all sums are kept per pixel, and those of
 * pixels that share a chroma sample, which lie in neighbouring lanes or in one thread, are joined
 * at the end.
 *
 * The tile holds transformed samples. Where that takes too much shared memory, it holds what some
 * columns of the windows need, and is filled again for the next ones. */
#include "cuda/kernel/params.h"
#include "cuda/kernel/words_pair.cuh"

#define WARP 32
#define ROWS 4 /* of a thread */
#define MAX_WARPS 8
#define MAX_RADIUS 32
#define TILE_BYTES (48 * 1024 - int(sizeof(window_tables))) /* every GPU has that much */

/* By distance to the left and the right, or above and below. */
struct window_tables {
    float space[2 * MAX_RADIUS + 1]; /* a factor of the spatial weight; its log2 for the Gaussian */
    int reach[2 * MAX_RADIUS + 1];   /* of the column, up and down */
};

/* A plane each of Y1, U1 and V1, or of Y1 alone. */
struct tile_shape {
    int stride, rows, plane;
    int columns; /* of a window, for which it is filled at once */
    int fills;
};

struct sums {
    float w, y, u, v; /* weights, and weighted differences of Y1, U1, V1 from the pixel's */
};

static __device__ __forceinline__ float exp2_fast(float x)
{
    float r;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

static __device__ __forceinline__ float reciprocal_fast(float x)
{
    float r;

    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

static __device__ __forceinline__ const uint8_t *row_of(const bilateral_samples &s, int y)
{
    return s.base + size_t(y) * s.stride;
}

template <bool BYTES>
static __device__ __forceinline__ uint32_t sample(const bilateral_samples &s, int x, int y)
{
    const uint8_t *const row = row_of(s, y);

    return BYTES ? __ldg(row + x) << 8 : __ldg(reinterpret_cast<const uint16_t *>(row) + x);
}

template <bool BYTES>
static __device__ __forceinline__ uint32_t pair(const bilateral_samples &s, int x, int y,
                                                int columns)
{
    return BYTES ? load_byte_pair(row_of(s, y), x, columns) : load_pair(row_of(s, y), x, columns);
}

/* (Y1, U1, V1) of the left or the right samples. Rounding is the same wherever it is computed. */
template <bool COLOUR>
static __device__ __forceinline__ float3 transform(const bilateral_params &p, uint32_t luma,
                                                   uint32_t us, uint32_t vs, bool right)
{
    const float y = centred(luma, right);

    if (!COLOUR)
        return make_float3(p.a * y, 0.0f, 0.0f);

    const float u = centred(us, right), v = centred(vs, right);

    return make_float3(fmaf(p.a, y, fmaf(p.b, u, p.c * v)), fmaf(p.d, u, p.e * v), p.f * v);
}

/* Chroma of the pixels in columns @x, which is even, and @x + 1 of any row. */
template <bool BYTES>
static __device__ __forceinline__ uint32_t chroma_pair(const bilateral_params &p,
                                                       const bilateral_samples &s, int x, int y)
{
    const int columns = p.width >> p.hshift;

    if (p.hshift)
        return sample<BYTES>(s, min(max(x >> 1, 0), columns - 1), y >> p.vshift) * 0x10001;
    return pair<BYTES>(s, x, y >> p.vshift, columns);
}

/* Fills the tile from @in, whose first sample is at (@x0, @y0), @x0 being even. */
template <bool COLOUR, bool BYTES>
static __device__ __forceinline__ void fill(const bilateral_params &p, const bilateral_samples *in,
                                            const tile_shape &t, float *tile, int x0, int y0)
{
    for (int i = 2 * threadIdx.x; i < t.stride; i += 2 * WARP)
#pragma unroll(COLOUR ? 2 : 4)
        for (int j = threadIdx.y; j < t.rows; j += blockDim.y) {
            const int y = min(max(y0 + j, 0), p.height - 1);
            const uint32_t luma = pair<BYTES>(in[0], x0 + i, y, p.width);
            const uint32_t us = COLOUR ? chroma_pair<BYTES>(p, in[1], x0 + i, y) : 0;
            const uint32_t vs = COLOUR ? chroma_pair<BYTES>(p, in[2], x0 + i, y) : 0;
            const float3 left = transform<COLOUR>(p, luma, us, vs, false);
            const float3 right = transform<COLOUR>(p, luma, us, vs, true);
            float *const to = tile + j * t.stride + i;

            *reinterpret_cast<float2 *>(to) = make_float2(left.x, right.x);
            if (COLOUR) {
                *reinterpret_cast<float2 *>(to + t.plane) = make_float2(left.y, right.y);
                *reinterpret_cast<float2 *>(to + 2 * t.plane) = make_float2(left.z, right.z);
            }
        }
}

template <bool COLOUR>
static __device__ __forceinline__ float3 colour_at(const tile_shape &t, const float *at)
{
    return make_float3(at[0], COLOUR ? at[t.plane] : 0.0f, COLOUR ? at[2 * t.plane] : 0.0f);
}

/* A pixel that is filtered. */
struct centre {
    float3 colour;
    float inv; /* what squared distances are multiplied by, with EACH */
    sums s;
};

/* EACH: colours are in levels, and pixels have range sigmas of their own; else colours are scaled
 * by the one of all. */
template <bool COLOUR, bool LORENTZIAN, bool MANHATTAN, bool EACH>
static __device__ __forceinline__ void tap(const bilateral_params &p, centre &c, const float3 &q,
                                           float space)
{
    const float dy = q.x - c.colour.x, du = q.y - c.colour.y, dv = q.z - c.colour.z;
    const float factor = (LORENTZIAN ? 1.0f : -1.0f) * (EACH ? c.inv : 1.0f);
    float w = LORENTZIAN ? 1.0f : space;

    if (MANHATTAN) {
        const float d = fabsf(p.common * dy + dv) + fabsf(p.common * dy + du) +
                        fabsf(dy + p.green_u1 * du + p.green_v1 * dv);

        w = fmaf(factor * d, d, w);
    } else if (EACH) {
        w = fmaf(factor, COLOUR ? fmaf(dv, dv, fmaf(du, du, dy * dy)) : dy * dy, w);
    } else {
        w = fmaf(factor * dy, dy, w);
        if (COLOUR)
            w = fmaf(factor * dv, dv, fmaf(factor * du, du, w));
    }
    w = LORENTZIAN ? space * reciprocal_fast(w) : exp2_fast(w);
    c.s.w += w;
    c.s.y = fmaf(w, dy, c.s.y);
    if (COLOUR) {
        c.s.u = fmaf(w, du, c.s.u);
        c.s.v = fmaf(w, dv, c.s.v);
    }
}

/* Adds a column of the windows, which reaches @reach up and down: @from is where the tile has the
 * pixel of it that is in the first row, @factor the column's part of spatial weights. */
template <bool COLOUR, bool LORENTZIAN, bool MANHATTAN, bool EACH>
static __device__ __forceinline__ void sum_column(const bilateral_params &p, const tile_shape &t,
                                                  const float *from, const float *space,
                                                  float factor, int reach, centre c[ROWS])
{
    float near[ROWS] = {}; /* spatial weights of the row at hand, for each of the pixels */
    /* The next row, which pixels @first to @last have in their windows. */
    const auto add_row = [&](int first, int last) {
        const float3 q = colour_at<COLOUR>(t, from);

        from += t.stride;
#pragma unroll
        for (int b = ROWS - 1; b > 0; b--)
            near[b] = near[b - 1];
        if (first == 0) {
            near[0] = LORENTZIAN ? *space * factor : *space + factor;
            space++;
        }
#pragma unroll
        for (int b = 0; b < ROWS; b++)
            if (b >= first && b <= last)
                tap<COLOUR, LORENTZIAN, MANHATTAN, EACH>(p, c[b], q, near[b]);
    };

    from -= reach * t.stride;
    space -= reach;
    if (reach == 0) {
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            add_row(k, k);
        return;
    }
#pragma unroll
    for (int k = 0; k < ROWS - 1; k++)
        add_row(0, k);
#pragma unroll(COLOUR ? 1 : 2)
    for (int n = 1; n < reach; n++) {
        add_row(0, ROWS - 1);
        add_row(0, ROWS - 1);
    }
#pragma unroll
    for (int k = 1; k < ROWS; k++)
        add_row(k, ROWS - 1);
}

/* The mean in samples: back from (Y1, U1, V1). */
static __device__ __forceinline__ float3 restore(const bilateral_params &p, const centre &c)
{
    const float scale = reciprocal_fast(c.s.w);
    const float v = fmaf(c.s.v, scale, c.colour.z) * reciprocal_fast(p.f);
    const float u = (fmaf(c.s.u, scale, c.colour.y) - p.e * v) * reciprocal_fast(p.d);
    const float y = (fmaf(c.s.y, scale, c.colour.x) - p.b * u - p.c * v) * reciprocal_fast(p.a);

    return make_float3(y + 32768.0f, u + 32768.0f, v + 32768.0f);
}

static __device__ __forceinline__ void add(sums &to, float w, float u, float v)
{
    to.w += w;
    to.u += u;
    to.v += v;
}

/* @store(component, x, y, sample) has what became of a sample. */
template <class STORE>
static __device__ __forceinline__ void store_luma(const bilateral_params &p, int x, int y,
                                                  const centre c[ROWS], const STORE &store)
{
#pragma unroll
    for (int b = 0; b < ROWS; b++)
        if (x < p.width && y + b < p.row_end)
            store(0, x, y + b, restore(p, c[b]).x);
}

/* For all lanes of a warp, of which those beyond the picture store nothing. */
template <class STORE>
static __device__ __forceinline__ void store_chroma(const bilateral_params &p, int x, int y,
                                                    centre c[ROWS], const STORE &store)
{
#pragma unroll
    for (int b = 0; b < ROWS; b++)
        if (p.hshift)
            add(c[b].s, __shfl_xor_sync(~0u, c[b].s.w, 1), __shfl_xor_sync(~0u, c[b].s.u, 1),
                __shfl_xor_sync(~0u, c[b].s.v, 1));
#pragma unroll
    for (int b = 0; b < ROWS; b += 2)
        if (p.vshift && y + b + 1 < p.height)
            add(c[b].s, c[b + 1].s.w, c[b + 1].s.u, c[b + 1].s.v);
    if (x >= p.width || (p.hshift && x % 2))
        return;
#pragma unroll
    for (int b = 0; b < ROWS; b++) {
        const float3 mean = restore(p, c[b]);

        if ((p.vshift && b % 2) || y + b >= p.row_end)
            continue;
        store(1, x >> p.hshift, (y + b) >> p.vshift, mean.y);
        store(2, x >> p.hshift, (y + b) >> p.vshift, mean.z);
    }
}

static __device__ __forceinline__ void make_tables(const bilateral_params &p, window_tables &w)
{
    const int r = p.radius;

    for (int i = threadIdx.y * WARP + threadIdx.x; i <= 2 * r; i += WARP * blockDim.y) {
        const int distance = i - r;
        const float log2_weight = -1.44269504f * p.inv_two_ss2 * float(distance * distance);

        w.space[i] = p.lorentzian ? exp2_fast(log2_weight) : log2_weight;
        w.reach[i] = p.disc ? int(sqrtf(float(r * r - distance * distance))) : r;
    }
}

/* As many columns of the windows as fit, of blocks of @warps. */
static tile_shape choose_shape(const bilateral_params &p, int warps)
{
    const int rows = ROWS * warps + 2 * p.radius, window = 2 * p.radius + 1;
    const int fit = TILE_BYTES / (int(sizeof(float)) * p.components * rows) / 2 * 2 - WARP;
    const int columns = fit < window ? fit : window, stride = (WARP + columns + 1) / 2 * 2;

    return {stride, rows, stride * rows, columns, (window + columns - 1) / columns};
}

/* Fewer rows leave room for more columns. */
static int choose_warps(const bilateral_params &p)
{
    return p.components == 3 && p.radius > 16 ? MAX_WARPS / 2 : MAX_WARPS;
}

static int tile_bytes(const bilateral_params &p, const tile_shape &t)
{
    return t.plane * p.components * int(sizeof(float));
}
