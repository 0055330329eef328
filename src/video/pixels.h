#pragma once
/* Pixel formats and colours of the program as libav has them. Pure functions; any thread. */
#include <libavutil/frame.h>

#include "picture/frame.h"

/* Planes of words, as frames of 16 bits have them, but with the samples in the low bits. */
struct deep_layout {
    enum frame_format format; /* one of 16 bits */
    bool rgb;                 /* G', B' and R' */
    int depth;                /* bits of a sample: 9 to 16 */
};

/* False: @pixels are laid out in another way. */
bool deep_layout(enum AVPixelFormat pixels, struct deep_layout *ret);

/* Of @list, which AV_PIX_FMT_NONE ends, or of all where it is NULL: the planes that are @like, with
 * as many bits, else with the fewest above that, else with the most. AV_PIX_FMT_NONE: there are no
 * such. */
enum AVPixelFormat deep_pixels(const enum AVPixelFormat *list, const struct deep_layout *like);

/* Whether something is seen through the picture in places. Not known of floating-point numbers. */
bool pixels_transparent(const AVFrame *f);

/* The coefficients of @matrix in libswscale. Those of COLOUR_RGB are for what becomes of it. */
const int *scaler_matrix(enum colour_matrix matrix);
