#pragma once
/* What a film of a high dynamic range says of the light in its pictures: the display that it was
 * made on, and how bright it gets. It goes from the film that is read to the one that is written.
 */
#include <stdbool.h>

#include "picture/frame.h"

struct light {
    bool has_primaries;              /* of the display, */
    struct fraction primaries[3][2]; /* x and y of red, green and blue, */
    struct fraction white[2];        /* and of white */
    bool has_luminance;
    struct fraction darkest, brightest; /* cd/m2 */
    unsigned max_content, max_average;  /* cd/m2 of the brightest pixel and picture; 0: not known */
};
