#pragma once
/* What is where in a band's memory: planes of samples with a pad on both sides, and rows of samples
 * as in frames. Context: that of the band. */
#include "engine/simd/band.h"

/* Samples in front of a row of a plane, and behind it. No window reaches further. */
#define BAND_PAD 32

enum byte_row {
    BYTES_Y,
    BYTES_UV,
    BYTES_Y0,
    BYTES_Y1,
    BYTES_U,
    BYTES_V,
    BYTES_OUT, /* as in struct row_job */
    BYTE_ROWS = BYTES_OUT + 8
};

/* Samples in a row of a plane. */
static inline int band_columns(const struct frame *f)
{
    return plan_layout(f->format) == ROWS_PAIR ? f->width / 2 : f->width;
}

static inline size_t band_sample_bytes(enum row_arithmetic a)
{
    return a == ROWS_FIXED || a == ROWS_HALF ? sizeof(int16_t) : sizeof(float);
}

static inline uint8_t *byte_row(const struct band *b, enum byte_row row)
{
    return b->bytes + row * b->byte_stride;
}

/* The first sample of @plane in the @row-th row that is kept. */
static inline void *plane_row(const struct band *b, int row, enum row_plane plane)
{
    return b->planes + ((size_t)row * ROW_PLANES + plane) * b->plane_bytes +
           BAND_PAD * band_sample_bytes(b->arithmetic);
}
