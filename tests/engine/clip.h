#pragma once
/* Clips for checks of what engines do over time: what they show, and how they are filtered. The
 * same for the same seed, everywhere. */
#include <stdbool.h>
#include <stdint.h>

#include "filter/filter.h"
#include "tests/lib/images.h"

enum content {
    CONTENT_STILL,  /* the same but for noise */
    CONTENT_PAN,    /* all moves, by parts of a pixel */
    CONTENT_OBJECT, /* something moves over what stands */
    CONTENT_LIGHT,  /* a lamp gets brighter */
    CONTENT_TINT,   /* it gets another colour every third frame, and something moves */
    CONTENT_IMAGE,  /* another picture of tests/lib/images.h each time: cuts */
    CONTENT_SHAKE,  /* one of these pictures, moved to and fro by whole samples */
    CONTENT_STAGE,  /* something moves before black, or white: few blocks tell the noise */
    CONTENT_DRAWN,  /* a square over a fine pattern, and no noise: a pattern is none */
    CONTENT_BESIDE, /* a camera with something that moves, beside more that is drawn */
    CONTENT_N
};

extern const char *const clip_contents[CONTENT_N];

struct clip {
    struct filter filter;
    struct frame shape;
    enum content content;
    enum image_kind image;
    double noise, speed[2];
    bool shared; /* 2x2 samples have the same noise */
    int pad_in, pad_out, frames;
    bool events; /* of check-clips */
    bool show;   /* see clip_stops() */
    uint64_t seed;
};

/* Frame @t of @c. @scratch is like @f. */
void clip_paint(const struct clip *c, int t, struct frame *f, struct frame *scratch);

/* Whether frame @t of a show is a still: slides with changes between them, then a camera, one more
 * slide, and the camera hangs. */
bool clip_stops(const struct clip *c, int t);
