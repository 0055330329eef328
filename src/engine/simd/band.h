#pragma once
/* A band is a few neighbouring rows of a frame on their way through the filter: read into
 * planes with the rows above and below that the window needs, filtered row by row, and
 * written back in the frame's format, all while they are in the processor's cache. */
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
    float *sums;
};

void band_finish(struct band *b);

/* Rows of a band with which its planes fit the cache, even and at least 8. */
int band_rows(const struct row_plan *plan, const struct frame *shape);

/* Makes room for bands of @n_rows rows of frames like @shape. -ENOMEM. */
int band_prepare(struct band *b, const struct row_plan *plan, const struct frame *shape,
                 int n_rows);

/* Filters the rows @first..@last - 1 of @in to @out. @first is even. */
void band_run(struct band *b, const struct row_kernels *kernels, const struct row_plan *plan,
              const struct frame *in, const struct frame *out, int first, int last);
