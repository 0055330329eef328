/* Step 1 of engine/time/average.h for what stands still: E and |e|^2 of each cell.
 *
 * DESIGN. A lane has a column of cells, three of them; the outer lanes of a warp are there for the
 * ones beside them. Going down, each row of samples adds to two cells. Differences are whole stored
 * steps with 2^15 added, two in a word, so that sums are exact.
 *
 * It needs nothing of the kernel started before it, the last step of the search, and fills the
 * device where that does not. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_compare.cuh"

#define STILL_WARPS 4
/* Of a lane. With four, a picture of 1920x1080 has 1088 thread blocks, 32 more than find a place on
 * an H200 at once. */
#define STILL_CELLS 3
#define BIAS 32768u

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

template <bool WORDS> static __device__ __forceinline__ uint32_t apart(uint32_t now, uint32_t p)
{
    static_assert(TIME_LEVEL_STEPS == 128, "half as many as words have");

    return (WORDS ? now >> 1 & 0x7fff7fffu : now * TIME_LEVEL_STEPS) + (BIAS | BIAS << 16) - p;
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
    r.square = square_of<C>(y[0], u[0], v[0]) + square_of<C>(y[1], u[1], v[1]);
    return r;
}

/* What row @y differs by from a guess. */
template <int C, int HS, int VS, bool WORDS>
static __device__ __forceinline__ row_sums<C> compare_row(const time_job &j, const place &at, int y,
                                                          const sample_row &p)
{
    const sample_row now = load_now<C, HS, VS, WORDS>(j, at.column, y);
    sample_row e = {repeat(j.shape, at.cx, apart<WORDS>(now.luma, p.luma)), {0, 0}};

#pragma unroll
    for (int c = 0; c < (C == 1 ? 0 : 2 - HS); c++) {
        e.chroma[c] = apart<WORDS>(now.chroma[c], p.chroma[c]);
        if (!HS)
            e.chroma[c] = repeat(j.shape, at.cx, e.chroma[c]);
    }
    return add_row<C, HS>(j, e);
}

template <int C>
static __device__ __forceinline__ void store_exact(const time_job &j, const place &at, int k,
                                                   const uint32_t tent[C], float square)
{
    float sum[C];

#pragma unroll
    for (int c = 0; c < C; c++)
        sum[c] = float(int(tent[c] - TENT * BIAS));
    store_cell<C>(j, j.still, at, k, sum, square);
}

template <int C, int HS, int VS, bool WORDS>
static __device__ __forceinline__ void compare_column(const time_job &j, const place &at)
{
    row_sums<C> upper = {}; /* what a cell has so far */

#pragma unroll
    for (int k = 0; k <= STILL_CELLS; k++) {
        row_sums<C> row[2];
        uint32_t tent[C];

#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int y = clamp(2 * (at.cy + k) - 1 + i, j.shape.height - 1);

            row[i] = compare_row<C, HS, VS, WORDS>(
                j, at, y, load_planes<C, HS, VS>(j.shape, j.old.level, at.column, y));
        }
#pragma unroll
        for (int c = 0; c < C; c++) {
            tent[c] = upper.tent[c] + 3 * row[0].tent[c] + row[1].tent[c];
            upper.tent[c] = row[0].tent[c] + 3 * row[1].tent[c];
        }
        if (k > 0)
            store_exact<C>(j, at, k - 1, tent, upper.square + row[0].square);
        upper.square = row[1].square;
    }
}

template <int C, int HS, int VS, bool WORDS>
static __global__ void __launch_bounds__(32 * STILL_WARPS, 8) compare_still(const time_job j)
{
    const place at(j.shape, STILL_CELLS);

    if (!j.searches)
        wait_for_before();
    let_next_start();
    if (at.cy < j.shape.cells_y)
        compare_column<C, HS, VS, WORDS>(j, at);
    end_after_before();
}

extern "C" int time_compare_still(const time_job *j, cudaStream_t stream)
{
    const time_shape &s = j->shape;

    return bilateral_errno(start_early(FOR_JOB(compare_still, *j),
                                       grid_of(s, STILL_WARPS, STILL_CELLS), 32 * STILL_WARPS, 0,
                                       stream, *j));
}
