#pragma once
/* Clips of which the clean picture is known, made by arithmetic. Context: pure functions. */
#include "tools/bench/quality/brush.h"

struct clip {
    const char *name;
    /* The colour of a point in frame @t, of a picture CLIP_WIDTH wide and CLIP_HEIGHT high. Things
     * move by parts of a pixel. */
    struct rgb (*at)(double x, double y, int t);
};

#define CLIP_WIDTH 640
#define CLIP_HEIGHT 360
#define CLIP_FRAMES 48

/* No number of the filter was chosen by looking at the last. NULL ends. */
extern const struct clip clip_table[];
