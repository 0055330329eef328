#pragma once
/* Constants of the weight in rows_fixed.h: e^-x = p(x / FIXED_RANGE)^16, p quadratic with
 * coefficients in units of 2^-16, fitted to the smallest relative error for x in 0..8 (1.8 %)
 * that rounds to no weight at all at the end of the range. */
#define FIXED_RANGE 11.6
#define FIXED_A0 60097
#define FIXED_A1 42754
#define FIXED_A2 12320
