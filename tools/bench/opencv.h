#pragma once
/* cv::bilateralFilter behind a C function, for comparison only: disc window, L1 distance. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Packed rows of 8-bit BGR. Runs on one thread. */
void opencv_filter(const uint8_t *in, uint8_t *out, int width, int height, int radius,
                   double sigma_space, double sigma_color);
const char *opencv_version(void);

#ifdef __cplusplus
}
#endif
