#pragma once
/* Steps 1 and 2 of engine/time/average.h for one tile of the picture.
 *
 * DESIGN. A thread block compares a tile with what one guess predicts, from the outermost halo in:
 * e reaches 9 samples beyond the tile, E 8, L and the square of E - L 2. Each of these fields
 * repeats its own edge outside of the picture. All fields are pairs of neighbouring samples: in
 * half precision, squares as the upper halves of floats, which lose none of their range. A square
 * takes the place of e once that is used up, and e - L that of E, so that three blocks fit into a
 * multiprocessor, and one into any. */
#include "cuda/kernel/time_predict.cuh"

static __device__ __forceinline__ float2 noise_at(const time_job &j, int x, int y)
{
    const uint32_t around =
        __ldg(reinterpret_cast<const uint16_t *>(j.now.around + y * j.shape.stride + x));

    return make_float2(__ldg(j.noise->nu2 + (around & 255)), __ldg(j.noise->nu2 + (around >> 8)));
}

template <int W> static __device__ void find_clamps(const time_job &j, const tile &t)
{
    using size = sizes<W>;
    const time_shape &s = j.shape;

#pragma unroll 4
    for (int i = threadIdx.x; i < size::s; i += size::threads) {
        const int x = t.x0 - S_HALO + 2 * (i % size::s_columns);
        const int y = t.y0 - S_HALO + i / size::s_columns;
        const int at = clamp(y, s.height - 1) * s.stride + clamp(x, s.width - 2);
        const uint32_t around = __ldg(reinterpret_cast<const uint16_t *>(j.now.around + at));
        const uint32_t most = uint32_t(__ldg(j.noise->most + (around & 255))) |
                              uint32_t(__ldg(j.noise->most + (around >> 8))) << 16;

        t.most[i] = repeat(most, x, s.width);
    }
}

/* One pair of a row, weighed 1 2 1 with its neighbours. */
static __device__ __forceinline__ half2 weigh_row(const uint32_t *at)
{
    const uint32_t left = __funnelshift_r(at[-1], at[0], 16);
    const uint32_t right = __funnelshift_r(at[0], at[1], 16);

    return __hfma2(as_half2(at[0]), __float2half2_rn(2.0f),
                   __hadd2(as_half2(left), as_half2(right)));
}

#define SMOOTH_ROWS 8 /* of a thread at a time */

/* E from e. */
template <int C, int W> static __device__ __forceinline__ void smooth(const tile &t)
{
    using size = sizes<W>;
    const int n = size::s_columns * (size::s_rows / SMOOTH_ROWS);

    for (int i = threadIdx.x; i < C * n; i += size::threads) {
        const int c = i / n, column = i % size::s_columns;
        const int row = i % n / size::s_columns * SMOOTH_ROWS;
        const uint32_t *from = t.e + c * size::e + row * size::e_columns + column + 1;
        uint32_t *to = t.smooth + c * size::s + row * size::s_columns + column;
        half2 above = weigh_row(from), here = weigh_row(from + size::e_columns);

#pragma unroll
        for (int k = 0; k < SMOOTH_ROWS; k++) {
            const half2 below = weigh_row(from + (k + 2) * size::e_columns);

            to[k * size::s_columns] =
                as_bits(__hfma2(here, __float2half2_rn(2.0f), __hadd2(above, below)));
            above = here;
            here = below;
        }
    }
}

static __device__ __forceinline__ half2 clamped(uint32_t value, half2 most)
{
    return __hmax2(__hmin2(as_half2(value), most), __hneg2(most));
}

#define COLUMN_ROWS 6 /* of a thread at a time */

/* The means of E, clamped, over columns of 13. */
template <int C, int W> static __device__ __forceinline__ void add_columns(const tile &t)
{
    using size = sizes<W>;
    const int n = size::s_columns * (size::l_rows / COLUMN_ROWS);

    for (int i = threadIdx.x; i < C * n; i += size::threads) {
        const int c = i / n, column = i % size::s_columns;
        const int at = i % n / size::s_columns * COLUMN_ROWS * size::s_columns + column;
        const uint32_t *from = t.smooth + c * size::s + at, *most = t.most + at;
        half2 value[BOX + COLUMN_ROWS - 1], sum = __float2half2_rn(0.0f);

#pragma unroll
        for (int k = 0; k < BOX + COLUMN_ROWS - 1; k++) {
            value[k] = clamped(from[k * size::s_columns], as_half2(most[k * size::s_columns]));
            sum = __hadd2(sum, value[k]);
            if (k >= BOX)
                sum = __hsub2(sum, value[k - BOX]);
            if (k >= BOX - 1)
                t.columns[c * size::c + at + (k - BOX + 1) * size::s_columns] =
                    as_bits(__hmul2(sum, __float2half2_rn(1.0f / BOX)));
        }
    }
}

static __device__ __forceinline__ half2 add3(uint32_t a, uint32_t b, half2 c)
{
    return __hadd2(__hadd2(as_half2(a), as_half2(b)), c);
}

/* The means over 13 columns around the samples of two pairs, from the 8 pairs at @at: of each sum
 * the inner pairs add up whole, of the outer ones three samples. */
static __device__ __forceinline__ void mean_of_columns(const uint32_t *at, float2 ret[2])
{
    uint32_t w[8];
    half2 four;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint2 both = reinterpret_cast<const uint2 *>(at)[i];

        w[2 * i] = both.x;
        w[2 * i + 1] = both.y;
    }
    four = add3(w[2], w[3], __hadd2(as_half2(w[4]), as_half2(w[5])));
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float2 inner = __half22float2(__hadd2(four, as_half2(i ? w[6] : w[1])));
        const float2 outer =
            __half22float2(add3(w[i], w[i + 6], as_half2(__byte_perm(w[i], w[i + 6], 0x5432))));
        const float sum = inner.x + inner.y;

        ret[i] = make_float2((sum + outer.x) * (1.0f / BOX), (sum + outer.y) * (1.0f / BOX));
    }
}

/* The share of C that L keeps. */
static __device__ __forceinline__ float kept(float c2, float noise)
{
    return c2 > noise ? 1.0f - __fdividef(noise, c2) : 0.0f;
}

/* e - L and both squares of a pair, of which @light is C. */
template <int C, int W>
static __device__ __forceinline__ void take_light(const time_job &j, const tile &t, int column,
                                                  int row, bool along, const float2 light[C])
{
    using size = sizes<W>;
    const int x = clamp(t.x0 - L_HALO + 2 * column, j.shape.width - 2);
    const int y = clamp(t.y0 - L_HALO + row, j.shape.height - 1);
    uint32_t *e =
        t.e + (row + E_HALO - 1 - L_HALO) * size::e_columns + column + (E_HALO - L_HALO) / 2;
    uint32_t *smooth =
        t.smooth + (row + S_HALO - L_HALO) * size::s_columns + column + (S_HALO - L_HALO) / 2;
    const float2 nu2 = noise_at(j, x, y);
    const float k3 = __ldg(&j.noise->three_kappa);
    float2 c2 = {0, 0}, r = {0, 0}, d = {0, 0}, keep;

#pragma unroll
    for (int c = 0; c < C; c++) {
        c2.x += light[c].x * light[c].x;
        c2.y += light[c].y * light[c].y;
    }
    keep.x = kept(c2.x, k3 * nu2.x * base_of(frames_at(j, x, y, along)));
    keep.y = kept(c2.y, k3 * nu2.y * base_of(frames_at(j, x + 1, y, along)));
#pragma unroll
    for (int c = 0; c < C; c++) {
        const float2 all = __half22float2(as_half2(e[c * size::e]));
        const float2 low = __half22float2(as_half2(smooth[c * size::s]));
        const float lx = keep.x * light[c].x, ly = keep.y * light[c].y;

        r.x += all.x * all.x;
        r.y += all.y * all.y;
        d.x += (low.x - lx) * (low.x - lx);
        d.y += (low.y - ly) * (low.y - ly);
        smooth[c * size::s] =
            pack_halves({all.x * (1.0f / SCALE) - lx, all.y * (1.0f / SCALE) - ly});
    }
    e[0] = pack_halves(r);
    e[size::e] = __float_as_uint(d.x);
    e[2 * size::e] = __float_as_uint(d.y);
}

template <int C, int W>
static __device__ __forceinline__ void take_lights(const time_job &j, const tile &t, bool along)
{
    using size = sizes<W>;

    for (int i = threadIdx.x; i < size::l_columns / 2 * size::l_rows; i += size::threads) {
        const int column = i % (size::l_columns / 2) * 2, row = i / (size::l_columns / 2);
        float2 light[C][2];

#pragma unroll
        for (int c = 0; c < C; c++)
            mean_of_columns(t.columns + c * size::c + row * size::s_columns + column, light[c]);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            float2 own[C];

#pragma unroll
            for (int c = 0; c < C; c++)
                own[c] = light[c][k];
            take_light<C, W>(j, t, column + k, row, along, own);
        }
    }
}

/* Adds the sums over 5 of a row of squares to those of the thread's rows whose box has it. */
template <int ROWS>
static __device__ __forceinline__ void add_box_row(const float2 square[3], int row,
                                                   float sum[ROWS][2])
{
    const float middle = square[0].y + square[1].x + square[1].y + square[2].x;
    const float left = middle + square[0].x, right = middle + square[2].y;

#pragma unroll
    for (int k = 0; k < ROWS; k++)
        if (row - k >= 0 && row - k < 5) {
            sum[k][0] += left;
            sum[k][1] += right;
        }
}

template <int W, int ROWS>
static __device__ __forceinline__ void add_boxes(const uint32_t *at, float r[ROWS][2],
                                                 float d[ROWS][2])
{
#pragma unroll
    for (int k = 0; k < ROWS + 4; k++, at += sizes<W>::e_columns) {
        float2 of_e[3], of_d[3];

#pragma unroll
        for (int i = 0; i < 3; i++) {
            of_e[i] = __half22float2(as_half2(at[i - 1]));
            of_d[i] = make_float2(__uint_as_float(at[sizes<W>::e + i - 1]),
                                  __uint_as_float(at[2 * sizes<W>::e + i - 1]));
        }
        add_box_row<ROWS>(of_e, k, r);
        add_box_row<ROWS>(of_d, k, d);
    }
}

static __device__ __forceinline__ float believed(float m, float d, float r, float rho)
{
    const float base = base_of(m);

    if (m <= 0.0f)
        return 0.0f;
    return __fdividef(1.0f, __fdividef(1.0f, m) + 6.0f * fmaxf(0.0f, d - 1.5f * rho * base) +
                                fmaxf(0.0f, r - 2.0f * base));
}

/* D, R and n' of the thread's pixels, from row @row of the tile on. */
template <int C, int W, int ROWS>
static __device__ __forceinline__ void judge(const time_job &j, const tile &t, bool along, int x,
                                             int row, guess<C, ROWS> &ret)
{
    using size = sizes<W>;
    const int column = (x - t.x0) / 2;
    const float rho = __ldg(&j.noise->rho);
    float r[ROWS][2] = {}, d[ROWS][2] = {};

    add_boxes<W, ROWS>(t.e + (row + E_HALO - 1 - L_HALO) * size::e_columns + column + E_HALO / 2, r,
                       d);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int cx = min(x, j.shape.width - 2), cy = min(t.y0 + row + k, j.shape.height - 1);
        const float2 nu2 = noise_at(j, cx, cy);
        const time_vector v = along ? vector_at(j, cx, cy) : time_vector{0, 0};
        const uint32_t *w = t.smooth + (row + k + S_HALO) * size::s_columns + column + S_HALO / 2;

#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float inv = __fdividef(1.0f / 25, i ? nu2.y : nu2.x);
            const float m = frames_at(j, cx + i, cy, along);

            ret.d[k][i] = d[k][i] * inv;
            ret.n[k][i] = believed(m, d[k][i] * inv, r[k][i] * inv * (1.0f / (SCALE * SCALE)), rho);
            ret.follows[k][i] = (v.x || v.y) && m > 0.0f;
        }
#pragma unroll
        for (int c = 0; c < C; c++) {
            const float2 both = __half22float2(as_half2(w[c * size::s]));

            ret.w[c][k][0] = both.x;
            ret.w[c][k][1] = both.y;
        }
    }
}

/* All of it, for the thread's pixels at column @x of the picture and row @row of the tile. */
template <int C, int W, int ROWS>
static __device__ __forceinline__ void make_guess(const time_job &j, const tile &t, bool along,
                                                  int x, int row, guess<C, ROWS> &ret)
{
    using size = sizes<W>;

    __syncthreads();
    if (along)
        subtract<C, W, true>(j, t);
    else
        subtract<C, W, false>(j, t);
    __syncthreads();
    smooth<C, W>(t);
    if (t.edge)
        repeat_edges(j.shape, t.smooth, C, size::s_columns, size::s_rows, t.x0 - S_HALO,
                     t.y0 - S_HALO);
    __syncthreads();
    add_columns<C, W>(t);
    __syncthreads();
    take_lights<C, W>(j, t, along);
    if (t.edge) {
        __syncthreads();
        repeat_squares<W>(j.shape, t);
    }
    __syncthreads();
    judge<C, W, ROWS>(j, t, along, x, row, ret);
}
