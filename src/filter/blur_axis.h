#pragma once
/* The filters gaussian and box along one axis of a component. Both are separable: a mean along
 * columns, then along rows.
 *
 * Chroma that luma samples share is a mean on their grid, where it is repeated, of the mean at each
 * of them. On its own grid that is a filter again, with other weights. Context: any thread. */
#include "filter/filter.h"

/* Which samples there are along a row or a column, for each one of luma. */
enum blur_axis {
    BLUR_EACH,
    BLUR_SHARED, /* by two of luma */
    BLUR_LAST,   /* as BLUR_SHARED, but the last row where the height is odd */
    BLUR_N_AXES
};

/* What @f, FILTER_GAUSSIAN or FILTER_BOX, weighs a sample with at @distance, 0 or more, on one of
 * its axes, compared with others. */
double blur_weight(const struct filter *f, enum blur_axis axis, int distance);

/* The greatest distance that may weigh anything. */
int blur_reach(int radius, enum blur_axis axis);
