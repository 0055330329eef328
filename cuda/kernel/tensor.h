#pragma once
/* The kernel on tensor cores: 4:2:2 and 4:2:0, packed or planar.
 *
 * DESIGN. Both halves of the filter are products of matrices. The exponent of a weight is one,
 * because with feature vectors f = (colour, place) the distance of p and q is
 *     -|fp - fq|^2 / 2 = fp fq - |fp|^2 / 2 - |fq|^2 / 2,
 * where the norms are further entries of the vectors. And the sums over the window are one: weights
 * times samples. Between them lies one instruction for two weights. So a tap costs what it costs to
 * multiply small matrices, and no table of spatial weights is needed.
 *
 * A patch is 4 x 4 output pixels: the 16 rows of a product. A chunk is 8 neighbours, 2 columns by 4
 * rows: its 8 columns. A patch meets all chunks that touch the windows of its pixels, 4 rows of the
 * tile at a time; taps outside the window get the weight 0. Where the radius is odd, two rows are
 * left over, for which chunks are 4 columns by 2 rows. A warp owns several patches side by side,
 * which share what they load of the chunks.
 *
 * Numbers. A feature vector is 8 halves: f1 f2 | x y | f0 nl | nh 1. (f0, f1, f2) is (Y1, U1, V1)
 * of colour.h; x and y are counted from the middle of the tile; nh + nl is the sum of the squares
 * of the rounded features. On the side of p the last three are -1/2, -1/2 and a constant less half
 * the norm. Features are scaled such that the exponent comes out in units of 2^-24, the unit of
 * half precision below 2^-13: its bits then are that multiple, and with the right number of units
 * for an octave they are, read as a float, a power of two with a mantissa that runs linearly (N.
 * Schraudolph, 1999; +-3 %). Saturation to 0..1 makes far colours weigh 0.
 *
 * Lorentzian weights are no exponentials, so that features are colours alone: f1 f2 | f0 0 | nh 1 |
 * nl 1, on the side of p times -2 with 1 and its own norm, plus 1, against the last four. The
 * product is what the weight is divided by, and spatial weights come from a table.
 *
 * The place of a pixel is rounded, and with it the weights are, by where it lies in the tile. So
 * that all roads give the same pixels, the shape of tiles depends on the device and the radius
 * alone, and tiles begin where strips do. A block filters a tile or, of the last ones, a part of
 * one, whose pixels have the places that they have in the tile. */
#include "cuda/kernel/kernels.h"

#include <cuda_fp16.h>

#define WARP 32
#define PATCH 4       /* its columns and rows */
#define MAX_RADIUS 32 /* of a window */
#define MAX_KNOWN_RADIUS 16
#define SOME_WARPS 8 /* of a block; the registers suffice for two such blocks */
#define MAX_WARPS 16 /* of a block that has a multiprocessor to itself */
#define MAX_TILE_COLUMNS 64
#define MAX_TILE_ROWS 32

struct tensor_params {
    bilateral_params p;
    int tile_columns, tile_rows; /* output pixels of a tile */
    int whole_rows;              /* of tiles, each of which one block filters */
    int parts_shift;             /* log2 of the blocks that share a tile of the rows below them */
    int across_shift;            /* log2 of rows of patches side by side */
    int warps;                   /* of a block */
    bool split;                  /* two warps share a row of patches */
    int split_row;               /* of chunks, with which the second of them begins */
    int pairs;                   /* pixel pairs in a row of the tile with its halo */
    int fill_step;               /* rows that a block fills at a time */
    uint32_t divide_by_pairs;    /* 2^32 / pairs, rounded up */
    int feature_stride;          /* entries in a row of features */
    int value_stride;            /* samples in a row of a plane of values */
    int value_plane;             /* samples in such a plane */
    int ones;                    /* samples in the row of ones */
    int fill_features, fill_values; /* entries and samples in fill_step rows */
    float to_f0_y, to_f0_u, to_f0_v, to_f1_u, to_f1_v, to_f2_v; /* features from values */
    float to_place;                                             /* features from columns and rows */
    uint32_t feature_row, value_row;   /* bytes of a row of chunks, in features and in a plane */
    int8_t half_width[MAX_RADIUS + 4]; /* columns of the window at a distance in rows, or -1 */
    /* Of a row of chunks, the steps in which some pixel of a patch sees something, and whether it
     * sees only one chunk in the last one. */
    int8_t first_step[MAX_RADIUS / 2 + 1], last_step[MAX_RADIUS / 2 + 1];
    int8_t half_step[MAX_RADIUS / 2 + 1];
    int low_first, low_last;       /* chunks of the two rows left over */
    int window_stride;             /* pairs of columns in a row of the table of the window */
    int window_first, window_rows; /* its rows, two for each distance */
    float octaves_per_r2;          /* of spatial weights */
};

using tensor_function = void (*)(tensor_params);

/* The kernels come in forms, which differ in the weights, and in the format of values and sums. */
struct tensor_form {
    tensor_function kernels[2][2]; /* [square][odd radius] */
    tensor_function split[2][2];   /* the same, where two warps share a row of patches */
    /* For square windows, by radius; quicker, because the compiler knew it. NULL: there is none. */
    tensor_function squares[MAX_KNOWN_RADIUS + 1];
    float octave;     /* units of an exponent */
    float value_unit; /* what values are multiplied by */
    int patches;      /* of a warp */
};

const tensor_form &tensor_bf16();
const tensor_form &tensor_f16();
const tensor_form &tensor_lorentzian();
