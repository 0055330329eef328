#pragma once
/* The tile of a thread block that averages: E of cells and the frame's colours, and sums of both.
 *
 * DESIGN. A tile has 32x16 cells, a thread two of them beside each other, which have one vector.
 * Light needs E four cells beyond the tile, what it leaves one. Outside of the picture each of
 * these repeats its own nearest cell. The squares take the place of E once that is added up, and
 * the sums of E that of sums of colours, which are made before the noise is known. In shared memory
 * a thread's two cells are one load where they can be. */
#include "cuda/kernel/time_device.cuh"

#define WIDE 32 /* cells of a tile */
#define HIGH 16
#define BOX 7
#define E_HALO 4
#define E_WIDE (WIDE + 2 * E_HALO)
#define E_HIGH (HIGH + 2 * E_HALO)
#define L_WIDE (WIDE + 2)
#define L_HIGH (HIGH + 2)
#define RING (2 * (L_WIDE + HIGH)) /* cells around the tile */
#define CELLS 2                    /* of a thread */
#define THREADS (WIDE * HIGH / CELLS)
#define LANES (WIDE / CELLS)             /* threads of a row */
#define NEAR_WIDE (E_WIDE / BLOCK_CELLS) /* blocks */
#define NEAR_HIGH (E_HIGH / BLOCK_CELLS)
#define MOVES_WIDE (NEAR_WIDE + 2)
#define MOVES_HIGH (NEAR_HIGH + 2)
#define BLOCKS 32 /* of a tile: a warp */
#define ALL 0xffffffffu

/* E, clamped; then what D is the mean of, and rho times that with what |e|^2 has more than |A|^2.
 */
template <int C> union terms {
    float e[C][E_HIGH][E_WIDE];
    float2 square[L_HIGH][L_WIDE];
};

#define SUMS_WIDE (E_WIDE + 2)

/* Sums over 7 rows: of colours, and then of E, which begin at 1, so that those of two cells can be
 * loaded at once. */
template <int C> union sums {
    uint2 colour[L_HIGH][SUMS_WIDE];
    float e[C][L_HIGH][SUMS_WIDE];
};

/* `around` has sums of 7x7 colours: luma, and both chroma in halves. They begin at 1, too. */
template <int C> struct tile {
    alignas(16) terms<C> of;
    alignas(16) sums<C> column;
    alignas(16) uint2 around[L_HIGH][L_WIDE + 2];
    alignas(8) uint32_t colour[E_HIGH][E_WIDE]; /* of the frame: see colour_at() */
    float nu2[256], nu[256];                    /* by luma */
    bool moves[MOVES_HIGH][MOVES_WIDE];         /* whether a block does */
    bool near[NEAR_HIGH][NEAR_WIDE]; /* blocks in which or beside which something moves */
    uint32_t counted[BLOCKS];        /* of each block */
    time_bounds bounds;
};

/* The tile's first cell. */
static __device__ __forceinline__ int tile_x()
{
    return blockIdx.x * WIDE;
}

static __device__ __forceinline__ int tile_y()
{
    return blockIdx.y * HIGH;
}

static __device__ __forceinline__ float4 load_cell(const time_cell *cells, const time_shape &s,
                                                   int cx, int cy)
{
    return __ldg(reinterpret_cast<const float4 *>(cells) + cy * s.cells_x + cx);
}

/* The mean luma of a cell, rounded. */
static __device__ __forceinline__ int luma_at(const time_job &j, int cx, int cy)
{
    return (__ldg(j.now.level[1] + cy * j.shape.level_stride[1] + cx) + 2) >> 2;
}

/* What light needs of a cell: its luma, and chroma of its upper left sample, in a byte each. */
template <int C>
static __device__ __forceinline__ uint32_t colour_at(const time_job &j, int cx, int cy)
{
    const time_shape &s = j.shape;
    const int at = (2 * cy >> s.vshift) * s.stride_c + (2 * cx >> s.hshift);
    uint32_t ret = uint32_t(luma_at(j, cx, cy));

    if (C == 3)
        ret |= uint32_t(__ldg(j.now.chroma[0] + at)) << 8 | uint32_t(__ldg(j.now.chroma[1] + at))
                                                                << 16;
    return ret;
}

#define BETWEEN 256 /* added to a count: its guess lies between samples */

/* The stored count of a guess. */
static __device__ __forceinline__ int count_at(const time_job &j, int cx, int cy, time_vector v)
{
    const int x = cx + ((v.x + 8) >> 4), y = cy + ((v.y + 8) >> 4);

    if (x < 0 || y < 0 || x >= j.shape.cells_x || y >= j.shape.cells_y)
        return 0;
    return __ldg(j.old.count + y * j.shape.cells_x + x) | ((v.x | v.y) & 7 ? BETWEEN : 0);
}

/* Whether anything moves in a block of 8x8 or in those around it. Only there a guess along the
 * motion differs from what stands still. */
template <int C> static __device__ __forceinline__ void find_near(tile<C> &t)
{
    const int x = threadIdx.x % NEAR_WIDE, y = threadIdx.x / NEAR_WIDE;
    bool near = false;

    if (y >= NEAR_HIGH)
        return;
#pragma unroll
    for (int i = 0; i < 9; i++)
        near |= t.moves[y + i / 3][x + i % 3];
    t.near[y][x] = near;
}

/* The cell @i of those around the tile. */
static __device__ __forceinline__ int2 ring_cell(int i)
{
    if (i < 2 * L_WIDE)
        return make_int2(i % L_WIDE, i / L_WIDE * (L_HIGH - 1));
    i -= 2 * L_WIDE;
    return make_int2(i / HIGH * (L_WIDE - 1), 1 + i % HIGH);
}

/* The cells of the tile and around it: a thread has every so many rows of a column, if it has any.
 */
#define E_ROWS (THREADS / E_WIDE)
#define E_LOADS (E_HIGH / E_ROWS)

static_assert(E_HIGH % E_ROWS == 0, "all rows are somebody's");

static __device__ __forceinline__ int e_column()
{
    return threadIdx.x % E_WIDE;
}

static __device__ __forceinline__ int e_row(int k)
{
    return threadIdx.x / E_WIDE + k * E_ROWS;
}

static __device__ __forceinline__ bool has_e()
{
    return threadIdx.x < E_ROWS * E_WIDE;
}

/* What a thread fetches for a guess: cells of the tile and around it, and the counts of those of
 * which it takes light. */
struct fetched {
    float4 cell[E_LOADS];
    uint32_t colour[E_LOADS]; /* of the first guess; it stays in the tile */
    int count[CELLS], ring;
};

template <int C, bool ALONG>
static __device__ __forceinline__ int light_count(const time_job &j, int x, int y)
{
    const int cx = clamp(tile_x() - 1 + x, j.shape.cells_x - 1);
    const int cy = clamp(tile_y() - 1 + y, j.shape.cells_y - 1);

    return count_at(j, cx, cy, ALONG ? vector_at(j, 2 * cx, 2 * cy) : time_vector{0, 0});
}

/* @x, @y: as of make_guess() */
template <int C, bool ALONG>
static __device__ __forceinline__ fetched fetch(const time_job &j, const tile<C> &t, int x, int y)
{
    const int2 ring = ring_cell(min(int(threadIdx.x), RING - 1));
    const time_shape &s = j.shape;
    const int cx = clamp(tile_x() - E_HALO + e_column(), s.cells_x - 1);
    fetched ret;

#pragma unroll
    for (int k = 0; k < E_LOADS; k++) { /* some for nothing, where a thread has none */
        const int cy = clamp(tile_y() - E_HALO + min(e_row(k), E_HIGH - 1), s.cells_y - 1);
        const bool near =
            ALONG &&
            t.near[(cy - tile_y() + E_HALO) / BLOCK_CELLS][(cx - tile_x() + E_HALO) / BLOCK_CELLS];

        ret.cell[k] = load_cell(near ? j.moved : j.still, s, cx, cy);
        if (!ALONG)
            ret.colour[k] = colour_at<C>(j, cx, cy);
    }
#pragma unroll
    for (int k = 0; k < CELLS; k++)
        ret.count[k] = light_count<C, ALONG>(j, x + k, y);
    ret.ring = light_count<C, ALONG>(j, ring.x, ring.y);
    return ret;
}

static __device__ __forceinline__ float within(float v, float most)
{
    return fminf(fmaxf(v, -most), most);
}

/* A component of a colour less its @zero. */
static __device__ __forceinline__ float colour_above(uint32_t colour, int component, float zero)
{
    const uint32_t mantissa = __byte_perm(colour, 0x4b000000, LOW_BYTE + uint32_t(component));

    return __uint_as_float(mantissa) - (8388608.0f + zero);
}

/* What a change of the light's colour adds to the chroma of a cell. */
template <int C>
static __device__ __forceinline__ float tint_of(const time_job &j, const tile<C> &t,
                                                uint32_t colour, int component)
{
    return component ? t.bounds.tint[component - 1] * colour_above(colour, 0, j.zero[0]) : 0.0f;
}

template <int C>
static __device__ __forceinline__ void put_clamped(const time_job &j, tile<C> &t, const fetched &f)
{
    const int x = e_column();

#pragma unroll
    for (int k = 0; k < E_LOADS && has_e(); k++) {
        const float e[3] = {f.cell[k].x, f.cell[k].y, f.cell[k].z};
        const int y = e_row(k);
        const uint32_t colour = t.colour[y][x];
        const float nu = t.nu[colour & 255];

#pragma unroll
        for (int c = 0; c < C; c++)
            t.of.e[c][y][x] = within(e[c] - tint_of(j, t, colour, c), c ? nu : 3.5f * nu);
    }
}

#define STRIP (L_HIGH / 2) /* rows of a thread */

template <int C> static __device__ __forceinline__ void add_columns(tile<C> &t)
{
    for (int i = threadIdx.x; i < 2 * C * E_WIDE; i += THREADS) {
        const int c = i / E_WIDE % C, column = i % E_WIDE, from = i / (C * E_WIDE) * STRIP;
        float value[BOX], sum = 0.0f;

#pragma unroll
        for (int k = 0; k < BOX - 1; k++)
            sum += value[k] = t.of.e[c][from + k][column];
#pragma unroll
        for (int k = 0; k < STRIP; k++) {
            sum += value[(k + BOX - 1) % BOX] = t.of.e[c][from + k + BOX - 1][column];
            t.column.e[c][from + k][column + 1] = sum;
            sum -= value[k % BOX];
        }
    }
}

/* --- colours --- */

#define COLOUR_STRIP (L_HIGH / 3) /* rows of a thread */
#define COLOUR_RUN 4              /* cells of a thread, beside each other */

static __device__ __forceinline__ void add(uint2 &to, uint2 v)
{
    to.x += v.x;
    to.y += v.y;
}

static __device__ __forceinline__ void subtract(uint2 &from, uint2 v)
{
    from.x -= v.x;
    from.y -= v.y;
}

/* What is summed up: luma, and both chroma in halves. */
static __device__ __forceinline__ uint2 summands(uint32_t colour)
{
    return make_uint2(colour & 255, __byte_perm(colour, 0, 0x4241));
}

template <int C> static __device__ __forceinline__ void add_colour_columns(tile<C> &t)
{
    const int x = threadIdx.x % E_WIDE, from = threadIdx.x / E_WIDE * COLOUR_STRIP;
    uint2 value[BOX], sum = {0, 0};

    if (from >= L_HIGH)
        return;
#pragma unroll
    for (int k = 0; k < BOX - 1; k++)
        add(sum, value[k] = summands(t.colour[from + k][x]));
#pragma unroll
    for (int k = 0; k < COLOUR_STRIP; k++) {
        add(sum, value[(k + BOX - 1) % BOX] = summands(t.colour[from + k + BOX - 1][x]));
        t.column.colour[from + k][x] = sum;
        subtract(sum, value[k % BOX]);
    }
}

template <int C> static __device__ __forceinline__ void add_colour_rows(tile<C> &t)
{
    const int runs = (L_WIDE + COLOUR_RUN - 1) / COLOUR_RUN;
    const int x = threadIdx.x % runs * COLOUR_RUN, y = threadIdx.x / runs;
    uint2 value[BOX + COLOUR_RUN - 1], sum = {0, 0};

    static_assert((L_WIDE + COLOUR_RUN - 1) / COLOUR_RUN * COLOUR_RUN + BOX - 1 <= SUMS_WIDE, "");
    if (y >= L_HIGH)
        return;
#pragma unroll
    for (int k = 0; k < BOX + COLOUR_RUN - 1; k += 2) {
        const uint4 two = *reinterpret_cast<const uint4 *>(&t.column.colour[y][x + k]);

        value[k] = make_uint2(two.x, two.y);
        value[k + 1] = make_uint2(two.z, two.w);
    }
#pragma unroll
    for (int k = 0; k < BOX - 1; k++)
        add(sum, value[k]);
#pragma unroll
    for (int k = 0; k < COLOUR_RUN; k++) {
        add(sum, value[k + BOX - 1]);
        if (x + k < L_WIDE)
            t.around[y][x + k + 1] = sum;
        subtract(sum, value[k]);
    }
}

/* Keeps the colours of a frame and sums them up, while there is nothing else in the tile. */
template <int C> static __device__ __forceinline__ void add_colours(tile<C> &t, const fetched &f)
{
#pragma unroll
    for (int k = 0; k < E_LOADS && has_e(); k++)
        t.colour[e_row(k)][e_column()] = f.colour[k];
    if (C == 1)
        return;
    __syncthreads();
    add_colour_columns<C>(t);
    __syncthreads();
    add_colour_rows<C>(t);
}
