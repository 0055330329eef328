#pragma once
/* The levels that a sensor of 16-bit grey uses, brought to all that there are: a thermal camera's
 * pictures take a few hundred of them. Context: plain data, one owner; zeroed it does nothing. */
#include "picture/frame.h"

#define STRETCH_AUTO (-1)

struct stretch {
    int min, max; /* what becomes black and white; 0, 0 = off; STRETCH_AUTO: each picture's own */
    bool known;   /* of STRETCH_AUTO, with the next two: what has become of those so far */
    double low, high; /* they follow slowly, so that a picture does not flicker */
};

/* In place; a frame that is not FRAME_GREY16 is left alone. */
void stretch_frame(struct stretch *s, const struct frame *f);

/* How far the brightest and the darkest pixels of grey picture @f are from each other, of 1. */
double stretch_share(const struct frame *f);
