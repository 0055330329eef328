#pragma once
/* A tile of the picture in shared memory, as time_compare.cuh fills it. */
#include <cuda_fp16.h>

#include "cuda/kernel/time_device.cuh"

#define TILE_H 32
#define E_HALO 10 /* columns that e reaches beyond the tile; rows one less */
#define S_HALO 8  /* E */
#define L_HALO 2
#define BOX 13
#define SCALE (1.0f / 16) /* of e: E then is a plain sum */

/* Sizes for tiles of W columns. Those of fields are in pairs and rows; a field of three components
 * has three such parts. */
template <int W> struct sizes {
    /* Two rows of pairs for a thread. Two blocks of 512 threads are 17 % quicker than three of 256
     * (2026-11, NVIDIA H200). */
    static constexpr int own_rows = 2;
    static constexpr int threads = W / 2 * TILE_H / own_rows;
    static constexpr int blocks = 1024 / threads; /* in a multiprocessor */
    static constexpr int e_columns = (W + 2 * E_HALO) / 2;
    static constexpr int e_rows = TILE_H + 2 * (E_HALO - 1);
    static constexpr int e = e_columns * e_rows;
    static constexpr int s_columns = (W + 2 * S_HALO) / 2;
    static constexpr int s_rows = TILE_H + 2 * S_HALO;
    static constexpr int s = s_columns * s_rows;
    static constexpr int l_columns = (W + 2 * L_HALO) / 2;
    static constexpr int l_rows = TILE_H + 2 * L_HALO;
    static constexpr int c = s_columns * l_rows; /* means over columns */

    static constexpr int words(int components)
    {
        return 3 * e + components * (s + c) + s;
    }
};

struct tile {
    int x0, y0;
    bool edge;         /* something of it lies outside of the picture */
    uint32_t *e;       /* then |e|^2 and |E - L|^2 in its three parts */
    uint32_t *smooth;  /* E, then e - L */
    uint32_t *columns; /* means of E over columns of 13 */
    uint32_t *most;    /* 2.5 nu */
};

template <int C, int W>
static __device__ __forceinline__ tile make_tile(const time_shape &s, uint32_t *shared)
{
    const int x0 = blockIdx.x * W, y0 = blockIdx.y * TILE_H;
    const bool edge =
        x0 < E_HALO || y0 < E_HALO || x0 + W + E_HALO > s.width || y0 + TILE_H + E_HALO > s.height;
    uint32_t *const smooth = shared + 3 * sizes<W>::e;
    uint32_t *const columns = smooth + C * sizes<W>::s;

    return {x0, y0, edge, shared, smooth, columns, columns + C * sizes<W>::c};
}

/* What a guess says of a thread's pixels: e - L, D, n', and whether it moves to get there. */
template <int C, int ROWS> struct guess {
    float w[C][ROWS][2], d[ROWS][2], n[ROWS][2];
    bool follows[ROWS][2];
};

static __device__ __forceinline__ half2 as_half2(uint32_t b)
{
    return *reinterpret_cast<half2 *>(&b);
}

static __device__ __forceinline__ uint32_t as_bits(half2 h)
{
    return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ uint32_t pack_halves(float2 v)
{
    return as_bits(__floats2half2_rn(v.x, v.y));
}

/* The pair of the picture nearest to the one at @x, as both are repeated outside. */
static __device__ __forceinline__ uint32_t repeat(uint32_t pair, int x, int width)
{
    return x < 0 ? __byte_perm(pair, 0, 0x1010) : x >= width ? __byte_perm(pair, 0, 0x3232) : pair;
}

/* Fills what of @n fields lies outside of the picture. The field begins at (@x0, @y0). */
static __device__ void repeat_edges(const time_shape &s, uint32_t *field, int n, int columns,
                                    int rows, int x0, int y0)
{
    __syncthreads();
    for (int i = threadIdx.x; i < columns * rows; i += blockDim.x) {
        const int x = x0 + 2 * (i % columns), y = y0 + i / columns;
        const int cx = clamp(x, s.width - 2), cy = clamp(y, s.height - 1);

        if (cx == x && cy == y)
            continue;
        for (int c = 0; c < n; c++)
            field[c * columns * rows + i] =
                repeat(field[(c * rows + cy - y0) * columns + (cx - x0) / 2], x, s.width);
    }
}

/* The same for |E - L|^2 of tile @t. */
template <int W> static __device__ void repeat_squares(const time_shape &s, const tile &t)
{
    using size = sizes<W>;
    const int x0 = t.x0 - E_HALO, y0 = t.y0 - E_HALO + 1;

    for (int i = threadIdx.x; i < size::e; i += size::threads) {
        const int x = x0 + 2 * (i % size::e_columns), y = y0 + i / size::e_columns;
        const int cx = clamp(x, s.width - 2), cy = clamp(y, s.height - 1);
        const int from = (cy - y0) * size::e_columns + (cx - x0) / 2;

        if (cx == x && cy == y)
            continue;
        t.e[size::e + i] = t.e[(x >= s.width ? 2 : 1) * size::e + from];
        t.e[2 * size::e + i] = t.e[(x < 0 ? 1 : 2) * size::e + from];
    }
}
