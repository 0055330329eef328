/* Steps 1 and 2 of engine/time/average.h as far as they need no noise: E and |e|^2 of each cell.
 *
 * DESIGN. A lane has a column of cells, four of them, as high as a block that moves; the outer
 * lanes of a warp are there for the ones beside them. Going down, each row of samples adds to two
 * cells. Differences are whole stored steps with 2^15 added, two in a word, so that sums are exact.
 */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_predict.cuh"

#define WARPS 8
#define OWN_LANES 30
#define ALL 0xffffffffu
#define BIAS 32768u
#define TENT 64 /* sum of the weights 1 3 3 1, both ways */

/* Samples or differences of a cell's column in a row of luma: two of luma in a word. Chroma that
 * the two share is U, V in the first word, else both have two. */
struct sample_row {
    uint32_t luma, chroma[2];
};

/* Sums over a row, each weighed 1 3 3 1, and of |e|^2 of its two pixels. */
template <int C> struct row_sums {
    uint32_t tent[C];
    float square;
};

/* The pair of the picture nearest to one of cell column @cx. */
static __device__ __forceinline__ uint32_t repeat(const time_shape &s, int cx, uint32_t pair)
{
    return cx < 0            ? __byte_perm(pair, 0, 0x1010)
           : cx >= s.cells_x ? __byte_perm(pair, 0, 0x3232)
                             : pair;
}

static __device__ __forceinline__ uint32_t load_pair(const uint16_t *at)
{
    return __ldg(reinterpret_cast<const uint32_t *>(at));
}

/* Two bytes to two halves of a word. */
static __device__ __forceinline__ uint32_t load_bytes(const uint8_t *at)
{
    return __byte_perm(__ldg(reinterpret_cast<const uint16_t *>(at)), 0, 0x4140);
}

template <int C, int HS, int VS>
static __device__ __forceinline__ sample_row load_now(const time_job &j, int cx, int y)
{
    const time_shape &s = j.shape;
    sample_row r = {load_bytes(j.now.luma + y * s.stride + 2 * cx), {0, 0}};

    if (C == 3) {
        const int at = (y >> VS) * s.stride_c + (cx << (1 - HS));

        if (HS) {
            r.chroma[0] = __ldg(j.now.chroma[0] + at) | uint32_t(__ldg(j.now.chroma[1] + at)) << 16;
        } else {
            r.chroma[0] = load_bytes(j.now.chroma[0] + at);
            r.chroma[1] = load_bytes(j.now.chroma[1] + at);
        }
    }
    return r;
}

template <int C, int HS, int VS>
static __device__ __forceinline__ sample_row load_old(const time_job &j, int cx, int y)
{
    const time_shape &s = j.shape;
    sample_row r = {load_pair(j.old.level[0] + y * s.stride + 2 * cx), {0, 0}};

    if (C == 3) {
        const int at = (y >> VS) * s.stride_c + (cx << (1 - HS));
        const uint16_t *const u = j.old.level[1] + at, *const v = j.old.level[2] + at;

        if (HS) {
            r.chroma[0] = __ldg(u) | uint32_t(__ldg(v)) << 16;
        } else {
            r.chroma[0] = load_pair(u);
            r.chroma[1] = load_pair(v);
        }
    }
    return r;
}

/* What a lane needs from row to row along the motion. */
template <int HS> struct guess_columns {
    luma_column luma;
    chroma_column chroma[2 - HS];
};

template <int C, int HS, int VS>
static __device__ __forceinline__ sample_row predict(const time_job &j, guess_columns<HS> &guess,
                                                     int cx, int y, time_vector v)
{
    sample_row r = {guess.luma.predict(j, 2 * cx, y, v), {0, 0}};

    if (C == 3)
        r.chroma[0] = guess.chroma[0].predict(j, cx << (1 - HS), y >> VS, v);
    if (C == 3 && !HS) {
        const uint32_t first = r.chroma[0];
        const uint32_t second = guess.chroma[1 - HS].predict(j, 2 * cx + 1, y >> VS, v);

        r.chroma[0] = __byte_perm(first, second, 0x5410);
        r.chroma[1] = __byte_perm(first, second, 0x7632);
    }
    return r;
}

/* Keeps P_1 where the mean over frames will be, which has the same place. */
template <int C, int HS, int VS>
static __device__ __forceinline__ void keep(const time_job &j, int cx, int y, const sample_row &p)
{
    const time_shape &s = j.shape;

    *reinterpret_cast<uint32_t *>(j.state.level[0] + y * s.stride + 2 * cx) = p.luma;
    if (C == 3 && !(VS && y % 2)) {
        const int at = (y >> VS) * s.stride_c + (cx << (1 - HS));

        if (HS) {
            j.state.level[1][at] = uint16_t(p.chroma[0]);
            j.state.level[2][at] = uint16_t(p.chroma[0] >> 16);
        } else {
            *reinterpret_cast<uint32_t *>(j.state.level[1] + at) = p.chroma[0];
            *reinterpret_cast<uint32_t *>(j.state.level[2] + at) = p.chroma[1];
        }
    }
}

static __device__ __forceinline__ uint32_t apart(uint32_t now, uint32_t p)
{
    return now * TIME_LEVEL_STEPS + (BIAS | BIAS << 16) - p;
}

/* A row of pairs, weighed 1 3 3 1 about the lane's. */
static __device__ __forceinline__ uint32_t tent_of_pairs(uint32_t left, uint32_t own,
                                                         uint32_t right)
{
    return __dp2a_lo(left, 0x0100u, __dp2a_lo(own, 0x0303u, __dp2a_lo(right, 0x0001u, 0u)));
}

static __device__ __forceinline__ float difference(uint32_t word, uint32_t selector)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000, selector)) - (8388608.0f + float(BIAS));
}

/* |e|^2 of a pixel, in steps. */
template <int C>
static __device__ __forceinline__ float square_of(const time_job &j, float y, float u, float v)
{
    const float y1 = j.a * y + (C == 3 ? j.b * u + j.c * v : 0.0f);
    const float u1 = j.d * u + j.e * v, v1 = j.f * v;

    return C == 3 ? y1 * y1 + u1 * u1 + v1 * v1 : y1 * y1;
}

template <int C, int HS>
static __device__ __forceinline__ row_sums<C> add_row(const time_job &j, const sample_row &e)
{
    const uint32_t left = __shfl_up_sync(ALL, e.luma, 1), right = __shfl_down_sync(ALL, e.luma, 1);
    const float y[2] = {difference(e.luma, LOW_HALF), difference(e.luma, HIGH_HALF)};
    float u[2] = {}, v[2] = {};
    row_sums<C> r;

    r.tent[0] = tent_of_pairs(left, e.luma, right);
    if (C == 3) {
        const uint32_t l0 = __shfl_up_sync(ALL, e.chroma[0], 1);
        const uint32_t r0 = __shfl_down_sync(ALL, e.chroma[0], 1);

        if (HS) {
            r.tent[C / 2] =
                __dp2a_lo(l0, 0x0001u, __dp2a_lo(e.chroma[0], 0x0006u, __dp2a_lo(r0, 0x0001u, 0u)));
            r.tent[C - 1] =
                __dp2a_lo(l0, 0x0100u, __dp2a_lo(e.chroma[0], 0x0600u, __dp2a_lo(r0, 0x0100u, 0u)));
            u[0] = u[1] = difference(e.chroma[0], LOW_HALF);
            v[0] = v[1] = difference(e.chroma[0], HIGH_HALF);
        } else {
            r.tent[C / 2] = tent_of_pairs(l0, e.chroma[0], r0);
            r.tent[C - 1] = tent_of_pairs(__shfl_up_sync(ALL, e.chroma[1], 1), e.chroma[1],
                                          __shfl_down_sync(ALL, e.chroma[1], 1));
            u[0] = difference(e.chroma[0], LOW_HALF);
            u[1] = difference(e.chroma[0], HIGH_HALF);
            v[0] = difference(e.chroma[1], LOW_HALF);
            v[1] = difference(e.chroma[1], HIGH_HALF);
        }
    }
    r.square = square_of<C>(j, y[0], u[0], v[0]) + square_of<C>(j, y[1], u[1], v[1]);
    return r;
}

template <int C>
static __device__ __forceinline__ float4 finish(const time_job &j, const uint32_t tent[C],
                                                float square)
{
    const float scale = 1.0f / (TENT * TIME_LEVEL_STEPS);
    float e[3] = {};

#pragma unroll
    for (int c = 0; c < C; c++)
        e[c] = float(int(tent[c] - TENT * BIAS)) * scale;
    return make_float4(j.a * e[0] + j.b * e[1] + j.c * e[2], j.d * e[1] + j.e * e[2], j.f * e[2],
                       square * (0.25f / (TIME_LEVEL_STEPS * TIME_LEVEL_STEPS)));
}

/* ALONG: the guess along the motion, near what moves; else the one of what stands still. */
template <int C, int HS, int VS, bool ALONG>
static __global__ void __launch_bounds__(32 * WARPS, ALONG ? 4 : 6) compare(const time_job j)
{
    const time_shape &s = j.shape;
    const int lane = threadIdx.x % 32, cx = blockIdx.x * OWN_LANES + lane - 1;
    const int cy = (blockIdx.y * WARPS + threadIdx.x / 32) * BLOCK_CELLS;
    const int column = clamp(cx, s.cells_x - 1);
    const bool own = lane > 0 && lane <= OWN_LANES && cx < s.cells_x;
    float4 *const to = reinterpret_cast<float4 *>(ALONG ? j.moved : j.still);
    guess_columns<HS> guess;
    row_sums<C> upper = {}; /* what a cell has so far */

    if (cy >= s.cells_y)
        return;
    if (ALONG && !__any_sync(ALL, own && moves_near(j, column / BLOCK_CELLS, cy / BLOCK_CELLS)))
        return;
#pragma unroll(ALONG ? 1 : 5)
    for (int k = 0; k <= BLOCK_CELLS; k++) {
        row_sums<C> row[2];

#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int below = 2 * (cy + k) - 1 + i, y = clamp(below, s.height - 1);
            const time_vector v = ALONG ? vector_at(j, 2 * column, y) : time_vector{0, 0};
            const sample_row p = ALONG ? predict<C, HS, VS>(j, guess, column, y, v)
                                       : load_old<C, HS, VS>(j, column, y);
            const sample_row now = load_now<C, HS, VS>(j, column, y);
            sample_row e = {repeat(s, cx, apart(now.luma, p.luma)), {0, 0}};

#pragma unroll
            for (int c = 0; c < (C == 1 ? 0 : 2 - HS); c++) {
                e.chroma[c] = apart(now.chroma[c], p.chroma[c]);
                if (!HS)
                    e.chroma[c] = repeat(s, cx, e.chroma[c]);
            }
            row[i] = add_row<C, HS>(j, e);
            if (ALONG && own && y == below && (v.x || v.y) && k + i > 0 && k + i <= BLOCK_CELLS)
                keep<C, HS, VS>(j, cx, y, p);
        }
        uint32_t tent[C];

#pragma unroll
        for (int c = 0; c < C; c++) {
            tent[c] = upper.tent[c] + 3 * row[0].tent[c] + row[1].tent[c];
            upper.tent[c] = row[0].tent[c] + 3 * row[1].tent[c];
        }
        if (k > 0 && own && cy + k - 1 < s.cells_y)
            to[(cy + k - 1) * s.cells_x + cx] = finish<C>(j, tent, upper.square + row[0].square);
        upper.square = row[1].square;
    }
}

template <bool ALONG> static int launch(const time_job &j, cudaStream_t stream)
{
    const time_shape &s = j.shape;
    const int rows = WARPS * BLOCK_CELLS;
    const dim3 grid((s.cells_x + OWN_LANES - 1) / OWN_LANES, (s.cells_y + rows - 1) / rows);
    const auto kernel = s.components == 1 ? compare<1, 0, 0, ALONG>
                        : !s.hshift       ? compare<3, 0, 0, ALONG>
                        : !s.vshift       ? compare<3, 1, 0, ALONG>
                                          : compare<3, 1, 1, ALONG>;

    kernel<<<grid, 32 * WARPS, 0, stream>>>(j);
    return bilateral_errno(cudaGetLastError());
}

extern "C" int time_compare_still(const time_job *j, cudaStream_t stream)
{
    return launch<false>(*j, stream);
}

extern "C" int time_compare_moved(const time_job *j, cudaStream_t stream)
{
    return launch<true>(*j, stream);
}
