#pragma once
/* The fast kernel: 4:2:2 and 4:2:0, packed or planar, in pairs of half precision.
 *
 * DESIGN. A thread owns a chroma column, that is two pixels, in four rows. The tile holds the
 * picture and its halo as (Y1, U1, V1) of colour.h; a tile entry is a pixel pair: (Y1, Y1) and
 * the (U1, V1) that both share. Meeting an entry, an output pair does four taps at once: the
 * chroma part of the distance once, then luma directly (dx = 2c for both pixels) and with the
 * entry's two pixels swapped (dx = 2c+1 for the left pixel, 2c-1 for the right one). A
 * neighbour row, once loaded, moves through the thread's four output rows in registers.
 *
 * The window is cut into full columns c of height v(2c), v being the half-width of a row, and
 * into edges: at each odd distance D the taps (left pixel, -D) and (right pixel, +D) that the
 * columns did not cover are paired in one half2. So nothing is computed that the window does not
 * have, but the outer swapped taps of disc columns, whose weight is then 0.
 *
 * Sums are of differences from the output pixel, in half precision for a limited number of taps,
 * then in single precision. Sums over Y1 become sums over Y there: with the same weights,
 *     sum w dY = (sum w dY1 - k1 sum w dU1 - k2 sum w dV1) / a.
 *
 * Weights. Gaussian: the exponent is computed as a multiple of 2^-24, the unit of half precision
 * below 2^-13: its bits then are that multiple, and shifted by 4 they are those of 2^x with a
 * mantissa that runs linearly (N. Schraudolph, 1999; +-3 %). Saturation to 0..1, which costs
 * nothing, makes far colours weigh 0. Colours carry a factor of 2^-12 for it. Lorentzian: the
 * integer reciprocal, bits of 1/x = constant - bits of x, with one Newton step (0.4 %). Both are
 * invisible after normalisation for the sigmas that half2_suits() and bilateral_most_sigma() admit.
 */
#include <cuda_fp16.h>

#include "cuda/kernel/kernels.h"

#define ROWS 4  /* output rows of a thread */
#define WARP 32 /* a warp covers 64 pixels of a row; the warps of a block lie below each other */
#define MAX_WARPS 8
#define MAX_RADIUS 32
#define UNROLLED_RADII 16 /* radii with a kernel of their own */

/* Taps per pixel that half precision may add up before it goes to single precision. Above them
 * the bias of adding equal numbers shows: check-engines then finds isolated pixels in flat
 * pictures 2 levels off (2026-11, NVIDIA H200). */
#define FLUSH_TAPS_GAUSSIAN 190
#define FLUSH_TAPS_LORENTZIAN 150

/* What a linear mantissa adds to a weight on average, as the centre's own weight is exact. */
#define MEAN_EXCESS 0.04f

/* The exponent that means a weight of 1, and an octave of it: 64 units of 2^-24. */
#define EXPONENT_UNIT (1.0f / 16777216.0f)
#define EXPONENT_ONE (960.0f * EXPONENT_UNIT)
#define EXPONENT_OCTAVE (64.0f * EXPONENT_UNIT)

struct half2_params {
    bilateral_params p;
    uint32_t select_y, select_uv; /* bytes of a packed word that become (Y0, Y1) and (U, V) */
    uint32_t divide_by_columns;   /* 2^32 / columns of the tile, rounded up */
    uint32_t to_y1_y, to_y1_u, to_y1_v, to_uv1, to_u1_v; /* factors, bits of half2 */
    float y_from_u1, y_from_v1, y_scale;                 /* k1, k2, 1/a */
    float u_scale, u_from_v1, v_scale;
    uint32_t green_u1, green_v1;       /* likewise, of DISTANCE_MANHATTAN */
    float octaves_per_r2;              /* spatial weight: 2^(-octaves_per_r2 * |p-q|^2) */
    int8_t half_width[MAX_RADIUS + 3]; /* v(D): rows of the window at column distance D, or -1 */
};

half2_params half2_make_params(const bilateral_params &p);

/* Thread blocks of @warps warps, and how many pairs the tile of one has. */
dim3 half2_grid(const bilateral_params &p, int warps);
size_t half2_tile_pairs(const bilateral_params *p, int warps);

using half2_function = void (*)(half2_params);

/* The kernel for a radius and window. */
half2_function half2_gaussian(int radius, bool square);
half2_function half2_lorentzian(int radius, bool square);
half2_function half2_manhattan(int radius, bool lorentzian); /* any window */
