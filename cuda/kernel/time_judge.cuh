#pragma once
/* Step 2 of engine/time/average.h from E and |e|^2 on: light, and how a guess can be believed. For
 * a thread block, which has a tile. Cells outside of the picture are computed too, from the nearest
 * ones, so that loads need not wait for each other. */
#include "cuda/kernel/time_tile.cuh"
#include "filter/mean_count.h"

/* A cell as one guess sees it. */
template <int C> struct guessed {
    float l[C], part, m, nu2; /* L and h */
    float d, r, n;            /* D, R and n' */
};

/* How many frames a guess is the mean of. */
static __device__ __forceinline__ float frames_of(int count)
{
    const float m = count ? mean_count_frames(uint8_t(count % BETWEEN)) : 0.0f;

    return count >= BETWEEN ? fminf(m, 8.0f) : m;
}

static __device__ __forceinline__ float base_of(float m)
{
    return 1.0f + __fdividef(1.0f, fmaxf(m, 0.5f));
}

/* How much of a light whose square is @c2 is more than @noise. */
static __device__ __forceinline__ float kept(float c2, float noise)
{
    return c2 > noise ? 1.0f - __fdividef(noise, c2) : 0.0f;
}

/* |W e|^2 */
template <int C>
static __device__ __forceinline__ float whitened(const noise_white &w, const float e[C])
{
    const float u = C == 3 ? e[C / 2] : 0.0f, v = e[C - 1];
    const float first = w.y * e[0] + (C == 3 ? w.yu * u + w.yv * v : 0.0f);
    const float second = w.u * u + w.uv * v, third = w.v * v;

    return C == 3 ? first * first + second * second + third * third : first * first;
}

/* C of @N cells from (@x, @y) of the tile with a border of one on. */
template <int C, int N>
static __device__ __forceinline__ void light_of(const tile<C> &t, int x, int y, guessed<C> ret[N])
{
    const float share = 1.0f / (BOX * BOX);

#pragma unroll
    for (int c = 0; c < C; c++) {
        const float *const from = &t.column.e[c][y][x + 1];
        float v[BOX + 1], sum = 0.0f;

        if (N == 2) {
#pragma unroll
            for (int k = 0; k <= BOX; k += 2) {
                const float2 two = *reinterpret_cast<const float2 *>(from + k);

                v[k] = two.x;
                v[k + 1] = two.y;
            }
        } else {
#pragma unroll
            for (int k = 0; k < BOX; k++)
                v[k] = from[k];
        }
#pragma unroll
        for (int k = 1; k < BOX; k++)
            sum += v[k];
        ret[0].l[c] = (sum + v[0]) * share;
        if (N == 2)
            ret[N - 1].l[c] = (sum + v[BOX]) * share;
    }
}

/* L, h and G of a cell from C in the place of L; @part_of_x[0]: L of luma, the others G. */
template <int C>
static __device__ __forceinline__ void shrink_light(const time_job &j, const time_bounds &bounds,
                                                    uint32_t colour, uint2 around, float nu,
                                                    guessed<C> &cell, float part_of_x[C])
{
    const float noise = cell.nu2 * base_of(cell.m), share = 1.0f / (BOX * BOX);
    const float chroma[2] = {share * number(around.y, LOW_HALF),
                             share * number(around.y, HIGH_HALF)};
    float c2 = 0.0f, keep;

    cell.l[0] *= kept(cell.l[0] * cell.l[0], bounds.in_luma * noise);
    part_of_x[0] = cell.l[0];
    if (C == 1)
        return;
    const float bright = share * number(around.x, LOW_HALF) - j.zero[0];

    cell.part = within(__fdividef(cell.l[0], fmaxf(bright, 16.0f)), 1.0f / 3);
#pragma unroll
    for (int c = 1; c < C; c++) {
        part_of_x[c] = cell.part * colour_above(colour, c, j.zero[c]);
        cell.l[c] -= within(cell.part * (chroma[c - 1] - j.zero[c]), nu);
        c2 += NOISE_CHROMA * cell.l[c] * cell.l[c];
    }
    keep = kept(c2, bounds.in_chroma * noise);
#pragma unroll
    for (int c = 1; c < C; c++)
        cell.l[c] *= keep;
}

/* L with t (y - K), and h, of a cell whose C it has, at (@x, @y) of the tile with a border of one,
 * and the squares of what is left. */
template <int C>
static __device__ __forceinline__ float2 take_light(const time_job &j, const tile<C> &t, int x,
                                                    int y, float4 cell, guessed<C> &ret)
{
    const float e[3] = {cell.x, cell.y, cell.z};
    const uint32_t colour = t.colour[y - 1 + E_HALO][x - 1 + E_HALO];
    float part_of_x[C], left[C], mean = 0.0f, d;

    ret.nu2 = t.nu2[colour & 255];
    shrink_light<C>(j, t.bounds, colour, t.around[y][x + 1], t.nu[colour & 255], ret, part_of_x);
#pragma unroll
    for (int c = 0; c < C; c++) {
        const float tint = tint_of(j, t, colour, c);

        left[c] = e[c] - tint - part_of_x[c];
        ret.l[c] += tint;
        mean += (c ? NOISE_CHROMA : 1.0f) * e[c] * e[c];
    }
    d = whitened<C>(t.bounds.white, left);
    return make_float2(d, cell.w - mean + t.bounds.rho * d);
}

/* The same of @N cells beside each other in a block, with the counts of their guesses. */
template <int C, int N, bool ALONG>
static __device__ __forceinline__ void take_lights(const time_job &j, tile<C> &t, int x, int y,
                                                   const int count[N], guessed<C> ret[N])
{
    const time_shape &s = j.shape;
    const int cy = clamp(tile_y() - 1 + y, s.cells_y - 1);
    const bool near =
        ALONG && t.near[(y - 1 + E_HALO) / BLOCK_CELLS][(x - 1 + E_HALO) / BLOCK_CELLS];
    float4 cell[N];

#pragma unroll
    for (int k = 0; k < N; k++)
        cell[k] =
            load_cell(near ? j.moved : j.still, s, clamp(tile_x() - 1 + x + k, s.cells_x - 1), cy);
    light_of<C, N>(t, x, y, ret);
#pragma unroll
    for (int k = 0; k < N; k++) {
        const int cx = tile_x() - 1 + x + k;

        ret[k].m = frames_of(count[k]);
        const float2 square = take_light<C>(j, t, x + k, y, cell[k], ret[k]);

        if (cx >= 0 && cx < s.cells_x && cy == tile_y() - 1 + y)
            t.of.square[y][x + k] = square;
    }
}

static __device__ __forceinline__ float believed(float m, float d, float r, float slack)
{
    const float base = slack * base_of(m);

    if (m <= 0.0f)
        return 0.0f;
    return __fdividef(1.0f, __fdividef(1.0f, m) + 0.8f * fmaxf(0.0f, d - 1.1f * base) +
                                fmaxf(0.0f, r - 1.7f * base));
}

static __device__ __forceinline__ void add(float2 &to, float2 a, float2 b, float2 c)
{
    to.x += a.x + b.x + c.x;
    to.y += a.y + b.y + c.y;
}

/* D, R and n' of a thread's cells, from (@x, @y) of the tile with its border on. @between: their
 * guess lies between samples. */
template <int C>
static __device__ __forceinline__ void judge(const time_job &j, const tile<C> &t, int x, int y,
                                             bool between, guessed<C> ret[CELLS])
{
    const bool is_first = x == 1 - tile_x(), is_last = x == j.shape.cells_x - tile_x();
    const bool is_next = x + 1 == j.shape.cells_x - tile_x();
    const int top = 1 - tile_y(), bottom = j.shape.cells_y - tile_y();
    const float slack = between ? 1.0f : t.bounds.slack;
    float2 sum[CELLS] = {};

    static_assert(CELLS == 2, "");
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const int row = min(max(y - 1 + k, top), bottom);
        const float4 *const from = reinterpret_cast<const float4 *>(&t.of.square[row][x - 1]);
        const float4 a = from[0], b = from[1];
        const float2 own = make_float2(a.z, a.w), next = is_last ? own : make_float2(b.x, b.y);
        const float2 before = is_first ? own : make_float2(a.x, a.y);
        const float2 after = is_next ? next : make_float2(b.z, b.w);

        add(sum[0], before, own, next);
        add(sum[1], own, next, after);
    }
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        const float inv = __fdividef(1.0f / 9, ret[k].nu2);

        ret[k].d = sum[k].x * inv;
        ret[k].r = sum[k].y * inv;
        ret[k].n = believed(ret[k].m, ret[k].d, ret[k].r, slack);
    }
}

/* What a guess is like before judge(), which needs the squares of all threads. */
template <int C, bool ALONG>
static __device__ __forceinline__ void make_guess(const time_job &j, tile<C> &t, int x, int y,
                                                  const fetched &f, guessed<C> ret[CELLS])
{
    __syncthreads();
    put_clamped<C>(j, t, f);
    __syncthreads();
    add_columns<C>(t);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < CELLS; k++)
        ret[k] = {};
    take_lights<C, CELLS, ALONG>(j, t, x, y, f.count, ret);
    if (threadIdx.x < RING) {
        const int2 at = ring_cell(threadIdx.x);
        guessed<C> unused = {};

        take_lights<C, 1, ALONG>(j, t, at.x, at.y, &f.ring, &unused);
    }
}
