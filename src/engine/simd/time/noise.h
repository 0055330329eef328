#pragma once
/* The sums of engine/time/noise_blocks.h, gathered by several threads. */
#include "engine/time/noise_blocks.h"

struct noise_job {
    const struct frame *now, *before;    /* as raw.h has them; @before NULL: a first
                                          * picture */
    const struct motion_vector *vectors; /* NULL: nothing moved */
    const struct noise *known;           /* before this frame */
    struct noise_form form;
};
