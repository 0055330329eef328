#pragma once
/* Filters of OpenCV behind C functions, for comparison only; its bilateral filter has the disc
 * window and the L1 distance. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Packed rows of 8-bit BGR, or of Y alone for those with @channels of 1. All run on one thread. */
void opencv_filter(const uint8_t *in, uint8_t *out, int width, int height, int radius,
                   double sigma_space, double sigma_color);
void opencv_filter_float(const float *in, float *out, int width, int height, int radius,
                         double sigma_space, double sigma_color);
void opencv_gaussian(const uint8_t *in, uint8_t *out, int width, int height, int channels,
                     int radius, double sigma_space);
void opencv_box(const uint8_t *in, uint8_t *out, int width, int height, int channels, int radius);
const char *opencv_version(void);

#ifdef __cplusplus
}
#endif
