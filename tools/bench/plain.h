#pragma once
/* The bilateral filter as it is commonly published in C: RGBA in, RGBA out, one loop over the
 * window per pixel, floating point, nothing shared or vectorised by hand. Lorentzian range
 * kernel, square window, nearest edge pixel repeated. The lowest rungs of the benchmark. */
#include <stdint.h>

void plain_filter(const uint8_t *in, uint8_t *out, int width, int height, int radius,
                  float sigma_space, float sigma_color);

/* The same loops with the rows shared out by OpenMP, where the compiler has it. */
void plain_filter_openmp(const uint8_t *in, uint8_t *out, int width, int height, int radius,
                         float sigma_space, float sigma_color);
