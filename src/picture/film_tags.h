#pragma once
/* What a film says of its pictures that no filter needs. It goes from the film that is read to the
 * one that is written. */
#include <stdbool.h>

#include "picture/frame.h"

/* Of a high dynamic range: the display that it was made on, and how bright it gets. */
struct light {
    bool has_primaries;              /* of the display, */
    struct fraction primaries[3][2]; /* x and y of red, green and blue, */
    struct fraction white[2];        /* and of white */
    bool has_luminance;
    struct fraction darkest, brightest; /* cd/m2 */
    unsigned max_content, max_average;  /* cd/m2 of the brightest pixel and picture; 0: not known */
};

struct film_tags {
    int width;                                      /* before a turn; 0: there is no film */
    int primaries, transfer, matrix, range, siting; /* in libav's numbers */
    struct fraction aspect;                         /* of a sample; 0/0: it does not say */
    struct light light;                             /* as the first picture says */
};
