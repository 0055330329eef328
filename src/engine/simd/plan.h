#pragma once
/* From a filter to the numbers that row kernels need: scales, taps, and which arithmetic keeps
 * the bound. Pure functions; any thread. */
#include "engine/simd/rows.h"
#include "picture/colour.h"

enum row_layout plan_layout(enum frame_format format);

/* @filter has a radius of 1 or more. @preferred: see struct row_kernels. */
void plan_make(struct row_plan *plan, const struct filter *filter, struct colour colour,
               enum row_layout layout, enum row_arithmetic preferred);

/* The same for frames of 16 bits, which kernels get as levels of 1/128 (row_kernels.luma16): there
 * are twice as many. In floating point, and for each kind of filter. */
void plan_make_words(struct row_plan *plan, const struct filter *filter, struct colour colour,
                     enum row_layout layout);

/* For kernels with a range sigma for each pixel (row_kernels.each), which are told the inverse of
 * its square. @filter has the greatest one; a radius of 0 is fine. @real: in floating point. */
void plan_make_each(struct row_plan *plan, const struct filter *filter, struct colour colour,
                    enum row_layout layout, int n_frames, bool real);
