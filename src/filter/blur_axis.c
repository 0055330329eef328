#include "filter/blur_axis.h"

#include <math.h>
#include <stdlib.h>

static double weight_on_luma(const struct filter *f, int distance)
{
    if (abs(distance) > f->radius)
        return 0.0;
    return f->kind == FILTER_BOX
               ? 1.0
               : exp(-distance * distance / (2.0 * f->sigma_space * f->sigma_space));
}

double blur_weight(const struct filter *f, enum blur_axis axis, int distance)
{
    const int d = 2 * distance;

    if (axis == BLUR_EACH)
        return weight_on_luma(f, distance);
    if (axis == BLUR_LAST) /* below it there is only itself */
        return weight_on_luma(f, d) + (d ? weight_on_luma(f, d - 1) : 0.0);
    return 2.0 * weight_on_luma(f, d) + weight_on_luma(f, d + 1) + weight_on_luma(f, d - 1);
}

int blur_reach(int radius, enum blur_axis axis)
{
    return axis == BLUR_EACH ? radius : (radius + 1) / 2;
}
