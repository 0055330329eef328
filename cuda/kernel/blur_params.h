#pragma once
/* What the kernel for the filters gaussian and box is told (blur.cu). Context: any thread. */
#include <stdalign.h>
#include <stdint.h>

#include "cuda/kernel/params.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BLUR_MAX_REACH 32
#define BLUR_AXES 3 /* as in filter/blur_axis.h: */
#define BLUR_OF_EACH 0
#define BLUR_OF_SHARED 1
#define BLUR_OF_LAST 2

/* A product of matrices has 16 rows or columns of samples. A window of 16 samples and the reach on
 * both sides takes this many. */
#define BLUR_STEPS(radius) (((radius)-1) / 8 + 2)
#define BLUR_MAX_STEPS 5

#define BLUR_TABLE (32 * BLUR_MAX_STEPS)
#define BLUR_MIDDLE (BLUR_TABLE / 2)

/* A plane as rows of bytes, 16 of which are moved at once. They are samples of one kind; or those
 * at even places are of one kind and those at odd places of others: U and V, or luma and chroma. */
struct blur_plane {
    const uint8_t *in;
    uint32_t stride_in;
    int bytes, rows; /* of samples in a row, and of the plane */
    int begin, end;  /* rows to filter */
    int reach;       /* rows above and below */
    int pairs;       /* or else one kind */
    uint32_t stride_out;
    uint8_t *out;
    int axis, last; /* along columns, and that of the last row */
    int along[2];   /* a row: of its even bytes, and of its odd ones */
    /* Of a word of four bytes those that are nearest: to the word before the first one; of the last
     * word, which may not be whole; and to the one behind it. */
    uint32_t before, last_word, behind;
};

struct blur_params {
    struct blur_plane plane[3]; /* what is read first comes first */
    int planes;
    float scale[BLUR_AXES];  /* times what weights make together: 2^12 */
    float centre[BLUR_AXES]; /* the sum of levels of 128, which are numbers of 128 * 2^-24 */
    /* Weights by distance, from the middle on and in half precision: that of each distance as the
     * low half and that of the next as the high one. Together they make about 2^14. In a row whose
     * luma and chroma lie in turns the weights of chroma are for every other place, and 0 for those
     * between. */
    alignas(16) uint32_t table[BLUR_AXES][BLUR_TABLE];
};

/* @p has `blur` set. Rows of `out` are written to the end of the last 16 bytes. */
void blur_params_init(struct blur_params *ret, const struct bilateral_params *p);

#ifdef __cplusplus
}
#endif
