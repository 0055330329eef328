#pragma once
/* All steps of engine/time/average.h for a strip. */
#include "engine/simd/time/mean_store.h"

static inline void mean_strip(const struct mean_job *j)
{
    const int first = j->top / 2, last = past_cells(j->bottom);
    struct mean_scratch *w = j->scratch;
    struct mean_tiles room;

    mean_begin(j, first);
    for (int y = first; y < last; y++) {
        struct mean_parts moved;

        if (2 * y % MOTION_BLOCK == 0)
            mean_make_priors(j, y);
        mean_reach(j, y);
        moved = mean_list(&room, mean_needed(j, MEAN_BELIEVED, y));
        mean_believe(j, &w->still, y, mean_all(j), false);
        mean_believe(j, &w->moved, y, moved, true);
        mean_store(j, y, moved);
    }
}
