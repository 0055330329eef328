#pragma once
/* What a kernel is told: a filter and two frames in device memory as one struct of plain numbers.
 * Context: any thread. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct filter;
struct frame;

/* The pixels of a launch are those of one for the whole picture if its first row is a multiple
 * of this. */
#define BILATERAL_ROWS_STEP 32

/* One component as a strided array in memory that the device can reach: sample (x, y) is
 * base[y * stride + x * step], and the byte behind it if it has 16 bits. */
struct bilateral_samples {
    uint8_t *base;
    uint32_t stride;
    uint32_t step;
};

/* Everything that is the same for all threads of a launch.
 *
 * Colours inside the kernels are (Y1, U1, V1), the Y'CbCr samples less 128 (32768 of 16 bits) times
 * the Cholesky factor of colour.h, scaled such that the square of the difference is the argument of
 * the range kernel, in the unit that suits the kernel. */
struct bilateral_params {
    struct bilateral_samples in[3], out[3];
    int width, height;      /* luma samples */
    int row_begin, row_end; /* rows to filter; row_begin is a multiple of BILATERAL_ROWS_STEP */
    int hshift, vshift;     /* log2 of luma columns and rows per chroma sample */
    int components;         /* 1 or 3 */
    int words;              /* samples have 16 bits, a plane for each component */
    int packed;             /* 4:2:2 in words of four bytes */
    uint32_t unpack;        /* byte selector that makes such a word Y0 Y1 U V */
    uint32_t repack;        /* byte selector that makes Y0 Y1 U V such a word */

    int radius;
    int blur; /* the filter gaussian, or box: of what follows they use inv_two_ss2 alone */
    int box;
    int disc;
    int lorentzian;
    float sigma_color;
    float inv_two_ss2;      /* 1 / (2 sigma_space^2) */
    float inv_sqrt2_sc;     /* 1 / (sqrt(2) sigma_color) */
    float a, b, c, d, e, f; /* colour_distance() */

    /* The distance is |dR'| + |dG'| + |dB'|. Y1, U1 and V1 are grey, and what B' and R' are more
     * than that; this much of U1 and V1 is what G' is more. Of pictures of R'G'B' they are G', B'
     * and R': nothing of Y1 is in the others. */
    int manhattan;
    float common; /* how much of Y1 is in B' and R', 1 or 0 */
    float green_u1, green_v1;

    int warps; /* of a block, where bilateral_tunable(); 0 = by a rule */
};

/* Fills @ret for the whole of frame @in. The planes of both frames are in memory that the device
 * can reach, on multiples of 16 bytes, as are the strides. -EINVAL: no raw format, or a filter out
 * of range. A radius of 0 is not the kernels' business. */
int bilateral_prepare(struct bilateral_params *ret, const struct frame *in, const struct frame *out,
                      const struct filter *filter);

/* How far the window reaches to either side in a row that is @distance from its middle, or above
 * and below in such a column; -1: not at all. */
int bilateral_half_width(const struct bilateral_params *p, int distance);

/* The largest sigma-color for which means are less than a level off although weights are linear
 * between powers of two. Of two such weights one may be 6 % greater than it should be beside the
 * other, and a pixel between two colours is off by a part of that and of their distance. Where the
 * spatial weights of a window span about an octave it evens out; the flatter they are, the less.
 * Fitted to fixed_form_holds() of ROWS_HALF (engine/simd), to one part in ten. Lorentzians have
 * better weights. */
float bilateral_most_sigma(const struct bilateral_params *p);

#ifdef __cplusplus
}
#endif
