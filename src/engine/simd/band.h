#pragma once
/* A band is a few neighbouring rows of a frame on their way through the filter: read into
 * planes with the rows above and below that the window needs, filtered row by row, and
 * written back in the frame's format, all while they are in the processor's cache. */
#include "engine/simd/band_memory.h"
#include "engine/simd/levels.h"

/* What is filtered. */
struct band_input {
    /* The newest first; more than one is a window in time. */
    const struct frame *frame[FILTER_MAX_WINDOW];
    int n_frames;
    const struct levels *mean; /* in place of the newest frame's own samples; or NULL */
    /* For a plan of plan_make_each(): what an inverse square of the range sigma is the product of,
     * by the bytes of two planes, one for each cell of 2x2 luma samples, with rows of @stride;
     * without a plane the first entry counts. */
    const uint8_t *brightness, *count;
    size_t stride;
    float by_brightness[256], by_count[256];
    double sigma_color; /* the greatest, or a little more */
};

/* Filters the rows @first..@last - 1 of @in to @out. @first is even. @each: the plan was made by
 * plan_make_each(). */
void band_run(struct band *b, const struct row_kernels *kernels, const struct row_plan *plan,
              const struct band_input *in, bool each, const struct frame *out, int first, int last);
