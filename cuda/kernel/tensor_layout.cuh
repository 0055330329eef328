#pragma once
/* How a tile lies in shared memory. The host computes it for the device at hand; kernels that know
 * their radius have it as constants, from the same functions. */
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#define WARP 32
#define PATCH 4      /* its columns and rows */
#define SOME_WARPS 8 /* of a block; the registers suffice for two such blocks */
#define MAX_WARPS 16 /* of a block that has a multiprocessor to itself */
#define MAX_TILE_COLUMNS 64
#define MAX_TILE_ROWS 32

/* Odd squares of a known radius above this have no table of the window: up to 1 % quicker; radius 5
 * would be 2 % slower (2026-11, NVIDIA H200). */
#define LAST_LOW_TABLE 5

/* What a tile is for. */
struct tile_use {
    int radius;
    bool known;        /* to the compiler */
    bool whole_window; /* the table of the window has all rows, and not those of two left over */
    int patches;       /* of a warp */
};

/* In bytes: of a block, and of a multiprocessor. */
struct shared_memory {
    size_t block, all;
};

struct tensor_layout {
    int tile_columns, tile_rows;     /* output pixels of a tile */
    int walks;                       /* rows of patches that a warp has at a time */
    int across_shift;                /* log2 of those side by side */
    int warps;                       /* of a block */
    bool split;                      /* two warps share a row of patches */
    int pairs;                       /* pixel pairs in a row of the tile with its halo */
    int fill_step, fill_rows;        /* rows that a block fills at a time, and those of a thread */
    uint32_t divide_by_pairs;        /* 2^32 / pairs, rounded up */
    int feature_stride;              /* entries in a row of features */
    int value_stride;                /* samples in a row of a plane of values */
    int value_plane;                 /* samples in such a plane */
    int ones;                        /* samples in the row of ones */
    int fill_features, fill_values;  /* entries and samples in fill_step rows */
    uint32_t feature_row, value_row; /* bytes of a row of chunks, in features and in a plane */
    int window_stride;               /* pairs of columns in a row of the table of the window */
    int window_first, window_rows;   /* its rows, two for each distance; 0: there is none */
    size_t bytes;                    /* of it all */
    int fit;                         /* so many fit into a multiprocessor; 0: not one */
};

struct tile_shape {
    int columns, rows, most_warps;
};

/* The strides are such that no load of the inner loop has a bank conflict: 2 or 6 entries more than
 * a multiple of 8 for features, an odd multiple of 16 bytes for rows of values, 64 bytes more than
 * a multiple of 128 for planes. */
static __host__ __device__ constexpr tensor_layout make_layout(const tile_use &use,
                                                               const tile_shape &tile)
{
    tensor_layout l = {};
    const int rows = tile.rows + 2 * use.radius; /* with the halo */
    int plane = 0;

    l.tile_columns = tile.columns;
    l.tile_rows = tile.rows;
    l.pairs = tile.columns / 2 + use.radius + (use.radius & 1);
    l.divide_by_pairs = 0xffffffffu / unsigned(l.pairs) + 1;
    while (PATCH * use.patches << l.across_shift < tile.columns)
        l.across_shift++;
    l.walks = tile.rows / PATCH << l.across_shift;
    l.split = 2 * l.walks <= tile.most_warps && !use.known;
    l.warps = l.split ? 2 * l.walks : l.walks < tile.most_warps ? l.walks : tile.most_warps;
    l.fill_step = l.warps * WARP / l.pairs;
    l.fill_rows = (rows + l.fill_step - 1) / l.fill_step;
    l.feature_stride = 2 * l.pairs % 4 ? 2 * l.pairs : 2 * l.pairs + 2;
    l.value_stride = 8 * ((2 * l.pairs + 7) / 8 | 1);
    plane = rows * l.value_stride;
    l.value_plane = plane + (64 + 32 - plane % 64) % 64;
    l.ones = l.value_stride + 16;
    l.fill_features = l.fill_step * l.feature_stride;
    l.fill_values = l.fill_step * l.value_stride;
    l.feature_row = PATCH * l.feature_stride * 16u;
    l.value_row = PATCH * l.value_stride * 2u;
    l.window_stride = 2 * ((use.radius + 3) / 2 | 1);
    l.window_first = use.whole_window ? 0 : 2 * (use.radius - 1);
    if (use.whole_window || (use.radius % 2 && !(use.known && use.radius > LAST_LOW_TABLE)))
        l.window_rows = 2 * (use.radius + PATCH) - l.window_first;
    l.bytes = size_t(rows) * l.feature_stride * 16 + (3 * l.value_plane + l.ones) * 2 +
              size_t(l.window_rows) * l.window_stride * 8 + 16;
    return l;
}

/* Large tiles load the fewest halo pixels, but two should fit into a multiprocessor, so that one is
 * filtered while the other is loaded. Where radii are small, four of half the size are as quick at
 * 1920x1080 and up to 4 % quicker at 3840x2160; where they are large, the halo of two small tiles
 * costs more than to wait for a single large one (2026-11, NVIDIA H200). Where rows of patches are
 * too few for the warps that a block may have, two warps share each, but not in kernels that know
 * the radius. */
static __host__ __device__ constexpr tensor_layout choose_layout(const tile_use &use,
                                                                 const shared_memory &memory)
{
    constexpr size_t reserved = 1024; /* by the driver, for each block */
    constexpr struct {
        tile_shape tile;
        int fit, least_radius;
    } choices[] = {
        {{32, 32, 4}, 4, 0},          {{MAX_TILE_COLUMNS, MAX_TILE_ROWS, SOME_WARPS}, 2, 0},
        {{32, 32, SOME_WARPS}, 2, 0}, {{MAX_TILE_COLUMNS, MAX_TILE_ROWS, MAX_WARPS}, 1, 19},
        {{32, 16, SOME_WARPS}, 2, 0}, {{32, 32, MAX_WARPS}, 1, 0},
        {{32, 16, SOME_WARPS}, 1, 0},
    };
    tensor_layout l = {};

    for (const auto &choice : choices) {
        if (use.radius < choice.least_radius)
            continue;
        l = make_layout(use, choice.tile);
        l.fit = choice.fit;
        if (l.bytes <= memory.block && l.fit * (l.bytes + reserved) <= memory.all)
            return l;
    }
    l.fit = 0;
    return l;
}

/* Whether a kernel that knows the radius is quicker than the others, for which @use is: discs for
 * which two warps share rows of patches are quicker so. */
static __host__ __device__ constexpr bool known_wins(bool square, const tile_use &use,
                                                     const shared_memory &memory)
{
    return square || !choose_layout(use, memory).split;
}

/* Of the devices that kernels with a known radius are for: 8.0, 9.0 and 10.x. @major: of the
 * compute capability that they are compiled for. */
static __host__ __device__ constexpr shared_memory known_memory(int major)
{
    return major < 9 ? shared_memory{163 << 10, 164 << 10} : shared_memory{227 << 10, 228 << 10};
}
