#pragma once
/* Step 2 of engine/time/average.h from E and |e|^2 on: light, and how a guess can be believed.
 *
 * DESIGN. A thread block has a tile of 32x16 cells, a thread two of them below each other, which
 * have one vector. Light needs E four cells beyond the tile, what it leaves one. Outside of the
 * picture each of these repeats its own nearest cell. The squares take the place of E once that is
 * added up. Cells outside are computed from the nearest ones too, but never stored, so that loads
 * need not wait for each other. The frame's colours are added up before the noise is known, where
 * sums of E will be. */
#include "cuda/kernel/time_device.cuh"
#include "filter/mean_count.h"

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
#define NEAR_WIDE (E_WIDE / BLOCK_CELLS) /* blocks */
#define NEAR_HIGH (E_HIGH / BLOCK_CELLS)
#define MOVES_WIDE (NEAR_WIDE + 2)
#define MOVES_HIGH (NEAR_HIGH + 2)
#define BLOCKS 32 /* of a tile: a warp */
#define ALL 0xffffffffu

/* E, clamped; then what D is the mean of, and rho times that with what |e|^2 has more than |E|^2.
 */
template <int C> union terms {
    float e[C][E_HIGH][E_WIDE];
    struct {
        float d[L_HIGH][L_WIDE], r[L_HIGH][L_WIDE];
    } square;
};

template <int C> struct tile {
    terms<C> of;
    float column[C][L_HIGH][E_WIDE];    /* sums over 7 rows */
    float nu2[256], nu[256];            /* by luma */
    uint32_t colour[E_HIGH][E_WIDE];    /* of the frame: see colour_at() */
    uint2 around[L_HIGH][L_WIDE];       /* sums of 7x7 of these: luma, and both chroma in halves */
    bool moves[MOVES_HIGH][MOVES_WIDE]; /* whether a block does */
    bool near[NEAR_HIGH][NEAR_WIDE];    /* blocks in which or beside which something moves */
    uint32_t counted[BLOCKS];           /* of each block */
    noise_white white;                  /* W */
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

/* A cell as one guess sees it. */
template <int C> struct guessed {
    float l[C], part, m, nu2; /* L and h */
    float d, r, n;            /* D, R and n' */
};

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

/* A component of it less its @zero. */
static __device__ __forceinline__ float colour_above(uint32_t colour, int component, float zero)
{
    const uint32_t mantissa = __byte_perm(colour, 0x4b000000, LOW_BYTE + uint32_t(component));

    return __uint_as_float(mantissa) - (8388608.0f + zero);
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

#define E_LOADS ((E_WIDE * E_HIGH + THREADS - 1) / THREADS) /* of a thread */

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
    fetched ret;

#pragma unroll
    for (int k = 0; k < E_LOADS; k++) {
        const int i = min(int(threadIdx.x) + k * THREADS, E_WIDE * E_HIGH - 1);
        const int cx = clamp(tile_x() - E_HALO + i % E_WIDE, s.cells_x - 1);
        const int cy = clamp(tile_y() - E_HALO + i / E_WIDE, s.cells_y - 1);
        const bool near =
            ALONG &&
            t.near[(cy - tile_y() + E_HALO) / BLOCK_CELLS][(cx - tile_x() + E_HALO) / BLOCK_CELLS];

        ret.cell[k] = load_cell(near ? j.moved : j.still, s, cx, cy);
        if (!ALONG)
            ret.colour[k] = colour_at<C>(j, cx, cy);
    }
#pragma unroll
    for (int k = 0; k < CELLS; k++)
        ret.count[k] = light_count<C, ALONG>(j, x, y + k);
    ret.ring = light_count<C, ALONG>(j, ring.x, ring.y);
    return ret;
}

static __device__ __forceinline__ float within(float v, float most)
{
    return fminf(fmaxf(v, -most), most);
}

template <int C> static __device__ __forceinline__ void put_clamped(tile<C> &t, const fetched &f)
{
#pragma unroll
    for (int k = 0; k < E_LOADS; k++) {
        const int i = threadIdx.x + k * THREADS, row = i / E_WIDE, column = i % E_WIDE;
        const float e[3] = {f.cell[k].x, f.cell[k].y, f.cell[k].z};

        if (i >= E_WIDE * E_HIGH)
            break;
        const float nu = t.nu[t.colour[row][column] & 255];

#pragma unroll
        for (int c = 0; c < C; c++)
            t.of.e[c][row][column] = within(e[c], c ? nu : 3.5f * nu);
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
            t.column[c][from + k][column] = sum;
            sum -= value[k % BOX];
        }
    }
}

static __device__ __forceinline__ uint32_t summand(uint32_t colour, int word)
{
    return word ? (colour >> 8 & 255) | (colour & 0xff0000) : colour & 255;
}

/* Keeps the colours of a frame and sums them up, while there is nothing else in the tile. */
template <int C> static __device__ __forceinline__ void add_colours(tile<C> &t, const fetched &f)
{
    uint32_t(*const column)[L_HIGH][E_WIDE] =
        reinterpret_cast<uint32_t(*)[L_HIGH][E_WIDE]>(t.column);

#pragma unroll
    for (int k = 0; k < E_LOADS; k++) {
        const int i = threadIdx.x + k * THREADS;

        if (i < E_WIDE * E_HIGH)
            t.colour[i / E_WIDE][i % E_WIDE] = f.colour[k];
    }
    if (C == 1)
        return;
    __syncthreads();
    for (int i = threadIdx.x; i < 4 * E_WIDE; i += THREADS) {
        const int word = i / E_WIDE % 2, x = i % E_WIDE, from = i / (2 * E_WIDE) * STRIP;
        uint32_t value[BOX], sum = 0;

#pragma unroll
        for (int k = 0; k < BOX - 1; k++)
            sum += value[k] = summand(t.colour[from + k][x], word);
#pragma unroll
        for (int k = 0; k < STRIP; k++) {
            sum += value[(k + BOX - 1) % BOX] = summand(t.colour[from + k + BOX - 1][x], word);
            column[word][from + k][x] = sum;
            sum -= value[k % BOX];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < L_WIDE * L_HIGH; i += THREADS) {
        const int x = i % L_WIDE, y = i / L_WIDE;
        uint2 sum = {0, 0};

#pragma unroll
        for (int k = 0; k < BOX; k++) {
            sum.x += column[0][y][x + k];
            sum.y += column[1][y][x + k];
        }
        t.around[y][x] = sum;
    }
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

/* C of the cell at (@x, @y) of the tile with a border of one. */
template <int C>
static __device__ __forceinline__ void light_of(const tile<C> &t, int x, int y, float light[C])
{
#pragma unroll
    for (int c = 0; c < C; c++) {
        float sum = 0.0f;

#pragma unroll
        for (int k = 0; k < BOX; k++)
            sum += t.column[c][y][x + k];
        light[c] = sum * (1.0f / (BOX * BOX));
    }
}

/* L, h and G of a cell from C in the place of L; @part_of_x[0]: L of luma, the others G. */
template <int C>
static __device__ __forceinline__ void shrink_light(const time_job &j, uint32_t colour,
                                                    uint2 around, float nu, guessed<C> &cell,
                                                    float part_of_x[C])
{
    const float noise = cell.nu2 * base_of(cell.m), share = 1.0f / (BOX * BOX);
    const float chroma[2] = {share * number(around.y, LOW_HALF),
                             share * number(around.y, HIGH_HALF)};
    float c2 = 0.0f, keep;

    cell.l[0] *= kept(cell.l[0] * cell.l[0], __ldg(&j.noise->in_luma) * noise);
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
    keep = kept(c2, __ldg(&j.noise->in_chroma) * noise);
#pragma unroll
    for (int c = 1; c < C; c++)
        cell.l[c] *= keep;
}

/* L and h of the cell at (@x, @y) of the tile with a border of one, and the squares of what is
 * left. */
template <int C, bool ALONG>
static __device__ __forceinline__ void take_light(const time_job &j, tile<C> &t, int x, int y,
                                                  int count, guessed<C> &ret)
{
    const time_shape &s = j.shape;
    const int cx = clamp(tile_x() - 1 + x, s.cells_x - 1);
    const int cy = clamp(tile_y() - 1 + y, s.cells_y - 1);
    const bool near =
        ALONG && t.near[(y - 1 + E_HALO) / BLOCK_CELLS][(x - 1 + E_HALO) / BLOCK_CELLS];
    const float4 cell = load_cell(near ? j.moved : j.still, s, cx, cy);
    const float e[3] = {cell.x, cell.y, cell.z};
    const uint32_t colour = t.colour[y - 1 + E_HALO][x - 1 + E_HALO];
    float part_of_x[C], left[C], mean = 0.0f;

    ret.m = frames_of(count);
    ret.nu2 = t.nu2[colour & 255];
    light_of<C>(t, x, y, ret.l);
    shrink_light<C>(j, colour, t.around[y][x], t.nu[colour & 255], ret, part_of_x);
#pragma unroll
    for (int c = 0; c < C; c++) {
        left[c] = e[c] - part_of_x[c];
        mean += (c ? NOISE_CHROMA : 1.0f) * e[c] * e[c];
    }
    if (cx == tile_x() - 1 + x && cy == tile_y() - 1 + y) {
        const float d = whitened<C>(t.white, left);

        t.of.square.d[y][x] = d;
        t.of.square.r[y][x] = cell.w - mean + __ldg(&j.noise->rho) * d;
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

/* D, R and n' of a thread's cells, from (@x, @y) of the tile with its border on. @between: their
 * guess lies between samples. */
template <int C>
static __device__ __forceinline__ void judge(const time_job &j, const tile<C> &t, int x, int y,
                                             bool between, guessed<C> ret[CELLS])
{
    const int left = max(x - 1, 1 - tile_x()), right = min(x + 1, j.shape.cells_x - tile_x());
    const int top = 1 - tile_y(), bottom = j.shape.cells_y - tile_y();
    const float slack = between ? 1.0f : __ldg(&j.noise->slack);
    float d[CELLS + 2], r[CELLS + 2];

    __syncthreads();
#pragma unroll
    for (int k = 0; k < CELLS + 2; k++) {
        const int row = min(max(y - 1 + k, top), bottom);
        const float *const of_d = t.of.square.d[row], *const of_r = t.of.square.r[row];

        d[k] = of_d[left] + of_d[x] + of_d[right];
        r[k] = of_r[left] + of_r[x] + of_r[right];
    }
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        const float inv = __fdividef(1.0f / 9, ret[k].nu2);

        ret[k].d = (d[k] + d[k + 1] + d[k + 2]) * inv;
        ret[k].r = (r[k] + r[k + 1] + r[k + 2]) * inv;
        ret[k].n = believed(ret[k].m, ret[k].d, ret[k].r, slack);
    }
}

/* What a guess is like before judge(), which needs the squares of all threads. */
template <int C, bool ALONG>
static __device__ __forceinline__ void make_guess(const time_job &j, tile<C> &t, int x, int y,
                                                  const fetched &f, guessed<C> ret[CELLS])
{
    __syncthreads();
    put_clamped<C>(t, f);
    __syncthreads();
    add_columns<C>(t);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        ret[k] = {};
        take_light<C, ALONG>(j, t, x, y + k, f.count[k], ret[k]);
    }
    if (threadIdx.x < RING) {
        const int2 at = ring_cell(threadIdx.x);
        guessed<C> unused;

        take_light<C, ALONG>(j, t, at.x, at.y, f.ring, unused);
    }
}
