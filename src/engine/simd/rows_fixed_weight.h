#pragma once
/* Constants of the weight in rows_fixed.h. */

/* The octaves that are left at no distance. There a weight is off by the middle of what weights are
 * off by, so that others are too great and too small beside it. */
#define FIXED_TOP 15.8
#define FIXED_EACH_OCTAVES 16 /* where each pixel has a factor */

/* How many octaves 2^16 units of distance have at least, so that differences which saturate are
 * beyond the range, and from where on steps are too coarse: two in an octave. */
#define FIXED_LEAST_OCTAVES 64
#define FIXED_MOST_OCTAVES 32768
