#pragma once
/* The filters gaussian and box: a band of rows, from frame to frame.
 *
 * DESIGN. Both are separable: first each sample of a row becomes a mean of those above and below
 * it, on the bytes as they lie in the frame whatever its format, then of those beside it. A
 * Gaussian is a sum of weighted pairs in 16 bits. A box keeps the sums of the columns, to which the
 * next row brings one row more and one less, and takes what is between two places of a row from
 * sums that run along it: so its cost does not depend on the radius.
 * Their weights are those of filter/blur_axis.h. */
#include "engine/simd/rows.h"
#include "filter/blur_axis.h"
#include "picture/frame.h"

struct blur_plan {
    struct filter filter;
    enum frame_format format;
    struct blur_taps rows[BLUR_N_AXES];
    struct blur_taps columns[3]; /* of a plane */
    /* Along a row, by the axis that is along it and by that across it. */
    struct box_taps box[BLUR_N_AXES][BLUR_N_AXES];
};

/* @filter is FILTER_GAUSSIAN or FILTER_BOX, with a radius of 1 or more. */
void blur_plan_make(struct blur_plan *plan, const struct filter *filter, enum frame_format format);

/* One worker's buffers, grown when a frame needs more and else kept. */
struct blur {
    uint8_t *memory;
    size_t stride; /* of its rows */
};

void blur_finish(struct blur *b);

/* Makes room for rows of frames like @shape. -ENOMEM. */
int blur_prepare(struct blur *b, const struct frame *shape);

/* Filters the luma rows @first..@last - 1 of @in, and their chroma, to @out. @first is even. */
void blur_run(const struct blur *b, const struct row_kernels *kernels, const struct blur_plan *plan,
              const struct frame *in, const struct frame *out, int first, int last);
