#pragma once
/* What the kernel for the filters gaussian and box is told (blur.cu). Context: any thread. */
#include <stdalign.h>
#include <stdint.h>

#include "cuda/kernel/params.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BLUR_MAX_REACH 32
#define BLUR_WEIGHTS 36 /* from the middle to there, and zeros; four are moved at once */
#define BLUR_AXES 3     /* as in filter/blur_axis.h, as are these two: */
#define BLUR_OF_EACH 0
#define BLUR_OF_SHARED 1
#define BLUR_TILE_BYTES 128 /* of a row, which a thread block filters */

/* Samples of one kind in a row. */
struct blur_kind {
    int offset, step;  /* bytes before the first, and from one to the next */
    int axis;          /* along the row */
    int tile, columns; /* samples before its own in a tile's row, and those */
    int first, margin; /* of which: where windows begin, and how much of them is a margin */
};

/* A plane as rows of words of four bytes, four of which are moved at once. They hold one kind of
 * samples; or U and V; or Y, U and V. */
struct blur_plane {
    const uint8_t *in;
    uint8_t *out;
    uint32_t stride_in, stride_out;
    int bytes, rows; /* of samples in a row, and of the plane */
    int begin, end;  /* rows to filter */
    int axis, last;  /* along columns, and that of the last row */
    int reach;       /* rows above and below */
    int margin;      /* bytes before and behind those of a tile's row */
    int kinds;
    struct blur_kind kind[3];
    uint32_t select[2]; /* of a word the two bytes that come first, and the others, as low bytes */
    /* The nearest bytes of each kind: before the first word; of the last word, which may not be
     * whole; and behind it. */
    uint32_t before, last_word, behind;
    /* Of 4 samples of the first kind, and of 4 others (U V U V, or those of the second), which make
     * the first of two words; the other has those two further. */
    uint32_t join;
    int moves, stride;        /* of a tile's row, and its samples with room behind them */
    uint32_t divide_by_moves; /* 2^32 / moves, rounded up */
};

struct blur_params {
    /* By distance, as half precision holds them; what they and their like make together, and what
     * makes that 1. */
    alignas(16) float weight[BLUR_AXES][BLUR_WEIGHTS];
    float total[BLUR_AXES], scale[BLUR_AXES];
    int planes;
    struct blur_plane plane[3];
};

/* @p has `blur` set. Rows of `out` are written to the end of the last 16 bytes. */
void blur_params_init(struct blur_params *ret, const struct bilateral_params *p);

#ifdef __cplusplus
}
#endif
