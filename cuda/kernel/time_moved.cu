/* Steps 1 and 2 of engine/time/average.h along the motion, as far as they need no noise: P_1, and E
 * and |e|^2 of each cell near what moves.
 *
 * DESIGN. A lane has a column of two cells, which have one vector; the outer lanes of a warp are
 * there for the ones beside them. What it predicts lies between stored steps and is compared as it
 * is: a count that is rounded the other way than in the reference can change a sample by several
 * levels. The rows above and below its cells a warp gets from the warps beside it. Where little
 * moves, a few warps take long, so they should have little to do.
 *
 * It needs nothing of the kernel started before it, which follows the noise with one thread block.
 */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_compare.cuh"
#include "cuda/kernel/time_predict.cuh"

#define MOVED_WARPS 8
#define MOVED_CELLS 2 /* of a lane */
#define ROWS (2 * MOVED_CELLS)

/* Sums over a row, each weighed 1 3 3 1, and of |e|^2 of its two pixels. */
template <int C> struct row_sums {
    float tent[C], square;
};

/* What a lane predicts of rows that have one vector. */
template <int C, int HS, int VS> struct guess_column {
    luma_column luma;
    chroma_column chroma[2 - HS];
    float2 y, uv[2 - HS]; /* of the row */

    __device__ __forceinline__ void begin(const time_job &j, int cx, int row, time_vector v)
    {
        luma.begin(j, 2 * cx, row, v);
#pragma unroll
        for (int i = 0; C == 3 && i < 2 - HS; i++)
            chroma[i].begin(j, (cx << (1 - HS)) + i, row >> VS, v);
    }

    /* Row @i from the first on; they are asked for one after the other. */
    __device__ __forceinline__ void predict(const time_job &j, int i)
    {
        y = luma.predict(j, i);
#pragma unroll
        for (int k = 0; C == 3 && !(VS && i % 2) && k < 2 - HS; k++)
            uv[k] = chroma[k].predict(j, i >> VS);
    }
};

/* Keeps P_1 where the mean over frames will be, which has the same place. */
template <int C, int HS, int VS>
static __device__ __forceinline__ void keep(const time_job &j, int cx, int y,
                                            const guess_column<C, HS, VS> &p)
{
    const time_shape &s = j.shape;
    const int at = (y >> VS) * s.stride_c + (cx << (1 - HS));

    *reinterpret_cast<uint32_t *>(j.state.level[0] + y * s.stride + 2 * cx) =
        steps_of(p.y.x, p.y.y);
    if (C == 1 || (VS && y % 2))
        return;
    if (HS) {
        const uint32_t both = steps_of(p.uv[0].x, p.uv[0].y);

        j.state.level[1][at] = uint16_t(both);
        j.state.level[2][at] = uint16_t(both >> 16);
    } else {
        *reinterpret_cast<uint32_t *>(j.state.level[1] + at) = steps_of(p.uv[0].x, p.uv[1 - HS].x);
        *reinterpret_cast<uint32_t *>(j.state.level[2] + at) = steps_of(p.uv[0].y, p.uv[1 - HS].y);
    }
}

/* What two samples differ by from @p, or the one of them that is in the picture. */
template <bool WORDS>
static __device__ __forceinline__ float2 apart(const time_shape &s, int cx, uint32_t now, float2 p)
{
    const float first = steps_each<WORDS>() * number(now, LOW_HALF) - p.x;
    const float second = steps_each<WORDS>() * number(now, HIGH_HALF) - p.y;

    return make_float2(cx >= s.cells_x ? second : first, cx < 0 ? first : second);
}

/* A pair between its neighbours, weighed 1 3 3 1. */
static __device__ __forceinline__ float tent_of(float2 e)
{
    return __shfl_up_sync(ALL, e.y, 1) + 3.0f * (e.x + e.y) + __shfl_down_sync(ALL, e.x, 1);
}

/* What row @y differs by from a guess. */
template <int C, int HS, int VS, bool WORDS>
static __device__ __forceinline__ row_sums<C> compare_row(const time_job &j, const place &at, int y,
                                                          const guess_column<C, HS, VS> &p)
{
    const sample_row now = load_now<C, HS, VS, WORDS>(j, at.column, y);
    const float2 luma = apart<WORDS>(j.shape, at.cx, now.luma, p.y);
    float2 u = {}, v = {};
    row_sums<C> r;

    r.tent[0] = tent_of(luma);
    if (C == 3 && HS) {
        u.x = u.y = steps_each<WORDS>() * number(now.chroma[0], LOW_HALF) - p.uv[0].x;
        v.x = v.y = steps_each<WORDS>() * number(now.chroma[0], HIGH_HALF) - p.uv[0].y;
    } else if (C == 3) {
        u = apart<WORDS>(j.shape, at.cx, now.chroma[0], make_float2(p.uv[0].x, p.uv[1 - HS].x));
        v = apart<WORDS>(j.shape, at.cx, now.chroma[1], make_float2(p.uv[0].y, p.uv[1 - HS].y));
    }
    if (C == 3) {
        r.tent[C / 2] = tent_of(u);
        r.tent[C - 1] = tent_of(v);
    }
    r.square = square_of<C>(luma.x, u.x, v.x) + square_of<C>(luma.y, u.y, v.y);
    return r;
}

/* Whether anything moves in the blocks that a warp has, or in those around them. */
static __device__ __forceinline__ bool anything_moves(const time_job &j, const place &at)
{
    const int lane = threadIdx.x % 32, across = 10;
    const int col = int(blockIdx.x) * OWN_LANES / BLOCK_CELLS - 1 + lane % across;
    const int row = at.cy / BLOCK_CELLS - 1 + lane / across;

    return __any_sync(ALL, lane < 3 * across && col >= 0 && row >= 0 && col < j.shape.cols[0] &&
                               row < j.shape.rows[0] && moves_at(j, col, row));
}

/* Sums over rows, by side: above and below a warp's cells. */
enum { ABOVE, BELOW, SIDES };

template <int C> struct shared_rows {
    float own[MOVED_WARPS][SIDES][C][32]; /* a warp's first and last */
    float beside[SIDES][C][32];           /* those beside the thread block */
    bool near[MOVED_WARPS];               /* what moves */
};

/* A warp's sums: of whole cells, but for the rows above and below them. */
template <int C> struct strip {
    float tent[MOVED_CELLS][C], square[MOVED_CELLS];
};

template <int C>
static __device__ __forceinline__ void share(float to[C][32], const row_sums<C> &sums)
{
#pragma unroll
    for (int c = 0; c < C; c++)
        to[c][threadIdx.x % 32] = sums.tent[c];
}

template <int C, int HS, int VS, bool WORDS>
static __device__ __forceinline__ void add_rows(const time_job &j, const place &at,
                                                float own[SIDES][C][32], strip<C> &to)
{
    const time_vector v = vector_at(j, 2 * at.column, 2 * at.cy);
    guess_column<C, HS, VS> guess;
    row_sums<C> sums = {};

    to = {};
    guess.begin(j, at.column, 2 * at.cy, v);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int y = 2 * at.cy + i, k = i / 2, beside = k + (i % 2 ? 1 : -1);
        const bool inside = y < j.shape.height; /* else the last row is repeated */

        guess.predict(j, i);
        const row_sums<C> row = compare_row<C, HS, VS, WORDS>(j, at, y, guess);

#pragma unroll
        for (int c = 0; c < C; c++)
            sums.tent[c] = inside ? row.tent[c] : sums.tent[c];
        sums.square = inside ? row.square : sums.square;
        if (inside && at.own && (v.x || v.y))
            keep<C, HS, VS>(j, at.cx, y, guess);
        if (i == 0)
            share<C>(own[ABOVE], sums);
#pragma unroll
        for (int c = 0; c < C; c++) {
            to.tent[k][c] += 3.0f * sums.tent[c];
            if (beside >= 0 && beside < MOVED_CELLS)
                to.tent[beside % MOVED_CELLS][c] += sums.tent[c];
        }
        to.square[k] += sums.square;
    }
    share<C>(own[BELOW], sums);
}

/* The row above a warp's cells, or below them. */
static __device__ __forceinline__ int row_beside(const place &at, int side)
{
    return 2 * at.cy + (side == ABOVE ? -1 : ROWS);
}

/* The warp that has it; none of the thread block does if it is less than 0. */
static __device__ __forceinline__ int warp_beside(int side)
{
    const int warp = threadIdx.x / 32 + (side == ABOVE ? -1 : 1);

    return warp < MOVED_WARPS ? warp : -1;
}

/* Adds up rows beside the cells of warps near what moves. Where their own warp is not near, it has
 * nothing else to do. */
template <int C, int HS, int VS, bool WORDS>
static __device__ __forceinline__ void add_rows_beside(const time_job &j, const place &at,
                                                       shared_rows<C> &rows)
{
    const int warp = threadIdx.x / 32;

#pragma unroll 1
    for (int side = 0; side < SIDES; side++) {
        const int other = warp_beside(side);
        const bool wanted = rows.near[warp] ? other < 0 : other >= 0 && rows.near[other];
        const int y = row_beside(at, side) + (rows.near[warp] ? 0 : side == ABOVE ? 1 : -1);
        guess_column<C, HS, VS> guess;

        if (!wanted || y < 0 || y >= j.shape.height)
            continue;
        guess.begin(j, at.column, y, vector_at(j, 2 * at.column, y));
        guess.predict(j, 0);
        share<C>(other < 0 ? rows.beside[side] : rows.own[warp][side],
                 compare_row<C, HS, VS, WORDS>(j, at, y, guess));
    }
}

/* The cell that lacks the row at @side. Outside of the picture the nearest one is repeated. */
template <int C>
static __device__ __forceinline__ void
finish_cell(const time_job &j, const place &at, const shared_rows<C> &rows, int side, strip<C> &s)
{
    const int warp = threadIdx.x / 32, y = row_beside(at, side);
    const int k = side == ABOVE ? 0 : MOVED_CELLS - 1;
    const int other = warp_beside(side);
    const float(*const row)[32] = y < 0 || y >= j.shape.height ? rows.own[warp][side]
                                  : other < 0                  ? rows.beside[side]
                                                               : rows.own[other][!side];

#pragma unroll
    for (int c = 0; c < C; c++)
        s.tent[k][c] += row[c][threadIdx.x % 32];
    store_cell<C>(j, j.moved, at, k, s.tent[k], s.square[k]);
}

template <int C, int HS, int VS, bool WORDS>
static __global__ void __launch_bounds__(32 * MOVED_WARPS, 3) compare_moved(const time_job j)
{
    __shared__ shared_rows<C> rows;
    const int warp = threadIdx.x / 32;
    const place at(j.shape, MOVED_CELLS);
    const bool near = at.cy < j.shape.cells_y && anything_moves(j, at);
    strip<C> s;

    let_next_start();
    if (threadIdx.x % 32 == 0)
        rows.near[warp] = near;
    __syncthreads();
    add_rows_beside<C, HS, VS, WORDS>(j, at, rows);
    if (near)
        add_rows<C, HS, VS, WORDS>(j, at, rows.own[warp], s);
    __syncthreads();
    if (near) {
        finish_cell<C>(j, at, rows, ABOVE, s);
        finish_cell<C>(j, at, rows, BELOW, s);
    }
    end_after_before();
}

extern "C" int time_compare_moved(const time_job *j, cudaStream_t stream)
{
    const time_shape &s = j->shape;

    return bilateral_errno(start_early(FOR_JOB(compare_moved, *j),
                                       grid_of(s, MOVED_WARPS, MOVED_CELLS), 32 * MOVED_WARPS, 0,
                                       stream, *j));
}
