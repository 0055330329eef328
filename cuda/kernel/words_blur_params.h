#pragma once
/* What the kernel for the filters gaussian and box is told of pictures with samples of 16 bits
 * (words_blur.cu). Context: any thread. */
#include <stdint.h>

#include "cuda/kernel/blur_params.h"
#include "cuda/kernel/params.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WORDS_BLUR_COLUMNS 64 /* which a thread block filters */

struct words_plane {
    const uint8_t *in;
    uint8_t *out;
    uint32_t stride_in, stride_out;
    int columns, rows;
    int begin, end;           /* rows to filter */
    int axis_x;               /* along rows */
    int axis_y, last;         /* along columns, and that of the last row */
    int reach_x, reach_y;     /* samples to each side */
    int margin, pairs;        /* before those of a tile's row, and of two samples in that row */
    uint32_t divide_by_pairs; /* 2^32 / pairs, rounded up */
};

struct words_blur_params {
    int planes;
    struct words_plane plane[3];
    float weight[BLUR_AXES][BLUR_MAX_REACH + 1]; /* by distance; a window's sum is 1 */
};

/* @p has `blur` and `words` set. Rows of `out` are written to the end of the last 16 bytes. */
void words_blur_params_init(struct words_blur_params *ret, const struct bilateral_params *p);

#ifdef __cplusplus
}
#endif
