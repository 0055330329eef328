#pragma once
/* The memory of a band (band.h): planes of samples with a pad on both sides, and rows of samples as
 * in frames. Context: one worker's. */
#include "engine/simd/plan.h"
#include "picture/frame.h"

/* One worker's buffers, grown when a frame or a window needs more and else kept. */
struct band {
    uint8_t *memory;
    size_t size;
    enum row_arithmetic arithmetic; /* of the samples in the planes */
    /* Parts of `memory`: */
    struct row_planes *rows;
    uint8_t *planes;
    size_t plane_bytes; /* from one plane of a row to the next */
    uint8_t *bytes;     /* rows of samples as in frames */
    size_t byte_stride;
    float *sums, *per, *levels[4]; /* as in struct row_job */
    uint16_t *limit, *factor;      /* likewise, for even and odd luma alike */
    uint32_t factors_by[256]; /* factor and limit by one of the two bytes of struct band_input */
};

void band_finish(struct band *b);

/* Rows of a band with which its planes fit the cache, even and at least 8. */
int band_rows(const struct row_plan *plan, const struct frame *shape, int n_frames);

/* Makes room for bands of @n_rows rows of frames like @shape. -ENOMEM. */
int band_prepare(struct band *b, const struct row_plan *plan, const struct frame *shape,
                 int n_frames, int n_rows);

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
