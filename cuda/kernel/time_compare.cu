/* Steps 1 and 2 of engine/time/average.h as far as they need no noise: E and |e|^2 of each cell.
 *
 * DESIGN. A lane has a column of cells: four of them, as high as a block that moves, or two along
 * the motion; the outer lanes of a warp are there for the ones beside them. Going down, each row of
 * samples adds to two cells. Differences are whole stored steps with 2^15 added, two in a word, so
 * that sums are exact. Along the motion a warp predicts the rows of its own cells, with one vector
 * for each lane; those above and below it gets from the warps beside it. Where little moves, a few
 * warps take long, so they should have little to do.
 *
 * Neither kernel needs the one started before it, and both fill the device where that one does not:
 * the last step of the search, and the thread block that follows the noise. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_predict.cuh"

#define STILL_WARPS 4
#define MOVED_WARPS 8
#define OWN_LANES 30
#define MOVED_CELLS 2 /* of a lane; one block has them all */
#define ROWS (2 * MOVED_CELLS)
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

/* A lane's cells: in column @cx, or the nearest one to it in the picture, from row @cy on. */
struct place {
    int cx, column, cy;
    bool own; /* not beside those of another warp only */

    __device__ __forceinline__ place(const time_shape &s, int cells)
    {
        const int lane = threadIdx.x % 32;

        cx = blockIdx.x * OWN_LANES + lane - 1;
        cy = (blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32) * cells;
        column = clamp(cx, s.cells_x - 1);
        own = lane > 0 && lane <= OWN_LANES && cx < s.cells_x;
    }
};

/* What row @y differs by from a guess. */
template <int C, int HS, int VS>
static __device__ __forceinline__ row_sums<C> compare_row(const time_job &j, const place &at, int y,
                                                          const sample_row &p)
{
    const sample_row now = load_now<C, HS, VS>(j, at.column, y);
    sample_row e = {repeat(j.shape, at.cx, apart(now.luma, p.luma)), {0, 0}};

#pragma unroll
    for (int c = 0; c < (C == 1 ? 0 : 2 - HS); c++) {
        e.chroma[c] = apart(now.chroma[c], p.chroma[c]);
        if (!HS)
            e.chroma[c] = repeat(j.shape, at.cx, e.chroma[c]);
    }
    return add_row<C, HS>(j, e);
}

template <int C>
static __device__ __forceinline__ void store_cell(const time_job &j, time_cell *to, const place &at,
                                                  int k, const uint32_t tent[C], float square)
{
    if (at.own && at.cy + k < j.shape.cells_y)
        reinterpret_cast<float4 *>(to)[(at.cy + k) * j.shape.cells_x + at.cx] =
            finish<C>(j, tent, square);
}

/* With what stands still. */
template <int C, int HS, int VS>
static __device__ __forceinline__ void compare_column(const time_job &j, const place &at)
{
    row_sums<C> upper = {}; /* what a cell has so far */

#pragma unroll
    for (int k = 0; k <= BLOCK_CELLS; k++) {
        row_sums<C> row[2];
        uint32_t tent[C];

#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int y = clamp(2 * (at.cy + k) - 1 + i, j.shape.height - 1);

            row[i] = compare_row<C, HS, VS>(j, at, y, load_old<C, HS, VS>(j, at.column, y));
        }
#pragma unroll
        for (int c = 0; c < C; c++) {
            tent[c] = upper.tent[c] + 3 * row[0].tent[c] + row[1].tent[c];
            upper.tent[c] = row[0].tent[c] + 3 * row[1].tent[c];
        }
        if (k > 0)
            store_cell<C>(j, j.still, at, k - 1, tent, upper.square + row[0].square);
        upper.square = row[1].square;
    }
}

template <int C, int HS, int VS>
static __global__ void __launch_bounds__(32 * STILL_WARPS, 8) compare_still(const time_job j)
{
    const place at(j.shape, BLOCK_CELLS);

    if (!j.searches)
        wait_for_before();
    let_next_start();
    if (at.cy < j.shape.cells_y)
        compare_column<C, HS, VS>(j, at);
    end_after_before();
}

/* --- along the motion --- */

/* What a lane predicts of rows that have one vector. */
template <int C, int HS, int VS> struct guess_column {
    luma_column luma;
    chroma_column chroma[2 - HS];
    sample_row row;

    __device__ __forceinline__ void begin(const time_job &j, int cx, int y, time_vector v)
    {
        row = {0, {0, 0}};
        luma.begin(j, 2 * cx, y, v);
#pragma unroll
        for (int i = 0; C == 3 && i < 2 - HS; i++)
            chroma[i].begin(j, (cx << (1 - HS)) + i, y >> VS, v);
    }

    /* Row @i from the first on; they are asked for one after the other. */
    __device__ __forceinline__ void predict(const time_job &j, int i)
    {
        row.luma = luma.predict(j, i);
        if (C == 1 || (VS && i % 2))
            return;
        row.chroma[0] = chroma[0].predict(j, i >> VS);
        if (!HS) {
            const uint32_t first = row.chroma[0], second = chroma[1 - HS].predict(j, i >> VS);

            row.chroma[0] = __byte_perm(first, second, 0x5410);
            row.chroma[1] = __byte_perm(first, second, 0x7632);
        }
    }
};

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
    uint32_t own[MOVED_WARPS][SIDES][C][32]; /* a warp's first and last */
    uint32_t beside[SIDES][C][32];           /* those beside the thread block */
    bool near[MOVED_WARPS];                  /* what moves */
};

/* A warp's sums: of whole cells, but for the rows above and below them. */
template <int C> struct strip {
    uint32_t tent[MOVED_CELLS][C];
    float square[MOVED_CELLS];
};

template <int C>
static __device__ __forceinline__ void share(uint32_t to[C][32], const row_sums<C> &sums)
{
#pragma unroll
    for (int c = 0; c < C; c++)
        to[c][threadIdx.x % 32] = sums.tent[c];
}

template <int C, int HS, int VS>
static __device__ __forceinline__ void add_rows(const time_job &j, const place &at,
                                                uint32_t own[SIDES][C][32], strip<C> &to)
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
        const row_sums<C> row = compare_row<C, HS, VS>(j, at, y, guess.row);

#pragma unroll
        for (int c = 0; c < C; c++)
            sums.tent[c] = inside ? row.tent[c] : sums.tent[c];
        sums.square = inside ? row.square : sums.square;
        if (inside && at.own && (v.x || v.y))
            keep<C, HS, VS>(j, at.cx, y, guess.row);
        if (i == 0)
            share<C>(own[ABOVE], sums);
#pragma unroll
        for (int c = 0; c < C; c++) {
            to.tent[k][c] += 3 * sums.tent[c];
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
template <int C, int HS, int VS>
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
                 compare_row<C, HS, VS>(j, at, y, guess.row));
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
    const uint32_t(*const row)[32] = y < 0 || y >= j.shape.height ? rows.own[warp][side]
                                     : other < 0                  ? rows.beside[side]
                                                                  : rows.own[other][!side];

#pragma unroll
    for (int c = 0; c < C; c++)
        s.tent[k][c] += row[c][threadIdx.x % 32];
    store_cell<C>(j, j.moved, at, k, s.tent[k], s.square[k]);
}

/* Along the motion, near what moves. */
template <int C, int HS, int VS>
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
    add_rows_beside<C, HS, VS>(j, at, rows);
    if (near)
        add_rows<C, HS, VS>(j, at, rows.own[warp], s);
    __syncthreads();
    if (near) {
        finish_cell<C>(j, at, rows, ABOVE, s);
        finish_cell<C>(j, at, rows, BELOW, s);
    }
    end_after_before();
}

/* Thread blocks of @warps whose lanes have @cells. */
static dim3 grid_of(const time_shape &s, int warps, int cells)
{
    const int rows = warps * cells;

    return dim3((s.cells_x + OWN_LANES - 1) / OWN_LANES, (s.cells_y + rows - 1) / rows);
}

extern "C" int time_compare_still(const time_job *j, cudaStream_t stream)
{
    const time_shape &s = j->shape;
    const auto kernel = s.components == 1 ? compare_still<1, 0, 0>
                        : !s.hshift       ? compare_still<3, 0, 0>
                        : !s.vshift       ? compare_still<3, 1, 0>
                                          : compare_still<3, 1, 1>;

    return bilateral_errno(
        start_early(kernel, grid_of(s, STILL_WARPS, BLOCK_CELLS), 32 * STILL_WARPS, 0, stream, *j));
}

extern "C" int time_compare_moved(const time_job *j, cudaStream_t stream)
{
    const time_shape &s = j->shape;
    const auto kernel = s.components == 1 ? compare_moved<1, 0, 0>
                        : !s.hshift       ? compare_moved<3, 0, 0>
                        : !s.vshift       ? compare_moved<3, 1, 0>
                                          : compare_moved<3, 1, 1>;

    return bilateral_errno(
        start_early(kernel, grid_of(s, MOVED_WARPS, MOVED_CELLS), 32 * MOVED_WARPS, 0, stream, *j));
}
