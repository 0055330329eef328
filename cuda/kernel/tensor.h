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
 * of colour.h; x and y are counted from the middle of the tile, and exact; nh + nl is what the
 * rounded features make of |f|^2. On the side of p x and y have a factor, and the last three are
 * -1/2, -1/2 and a constant less half the norm. Features are scaled such that the exponent comes
 * out in units of 2^-24, the unit of half precision below 2^-13: its bits then are that multiple,
 * and with the right number of units for an octave they are, read as a float, a power of two with a
 * mantissa that runs linearly (N. Schraudolph, 1999; +-3 %). Saturation to 0..1 makes far colours
 * weigh 0.
 *
 * Lorentzian weights are no exponentials, so that features are colours alone: f1 f2 | f0 0 | nh 1 |
 * nl 1, on the side of p times -2 with 1 and its own norm, plus 1, against the last four. The
 * product is what the weight is divided by, and spatial weights come from a table.
 *
 * A pixel's weights are rounded by where it lies in the tile. So that all roads give the same
 * pixels, the shape of tiles depends on the device and the filter alone, and tiles begin where
 * strips do. A block filters a tile or, of the last ones, a part of one, whose pixels have the
 * places that they have in the tile. */
#include "cuda/kernel/kernels.h"
#include "cuda/kernel/tensor_layout.cuh"

#include <cuda_fp16.h>

#define MAX_RADIUS 32 /* of a window */
#define MAX_KNOWN_SQUARE 16
#define MAX_KNOWN_DISC 25
#define PLACE_UNIT 0x1p-7f /* a column or row in x and y: all of them are exact */

struct tensor_params {
    bilateral_params p;
    tensor_layout l;
    int whole_rows;  /* of tiles, each of which one block filters */
    int parts_shift; /* log2 of the blocks that share a tile of the rows below them */
    int split_row;   /* of chunks, with which the second of two warps begins */
    /* Features from samples: f0 of both pixels of a pair; f1 and f2. @y_128: the sample of 128. */
    half2 y_128, f0_y, f0_u, f0_v, f0_128, f12_u, f12_v, f12_128;
    float place_factor;                /* of places on the side of p: of half precision */
    int8_t half_width[MAX_RADIUS + 4]; /* columns of the window at a distance in rows, or -1 */
    /* Of a row of chunks, the steps in which some pixel of a patch sees something, and whether it
     * sees only one chunk in the last one. */
    int8_t first_step[MAX_RADIUS / 2 + 1], last_step[MAX_RADIUS / 2 + 1];
    int8_t half_step[MAX_RADIUS / 2 + 1];
    int low_first, low_last; /* chunks of the two rows left over */
    float octaves_per_r2;    /* of spatial weights */
};

using tensor_function = void (*)(tensor_params);

/* The kernels come in forms, which differ in the weights, and in the format of values and sums. */
struct tensor_form {
    tensor_function kernels[2][2]; /* [square][odd radius] */
    tensor_function split[2][2];   /* the same, where two warps share a row of patches */
    /* By radius; quicker, because the compiler knew it. NULL: there is none. */
    tensor_function squares[MAX_KNOWN_SQUARE + 1];
    tensor_function discs[MAX_KNOWN_DISC + 1];
    float octave;        /* units of an exponent */
    float sample_unit;   /* of a level */
    float sample_of_128; /* that of the level whose features are 0 */
    int patches;         /* of a warp */
};

const tensor_form &tensor_bf16();
const tensor_form &tensor_f16();
const tensor_form &tensor_lorentzian();
