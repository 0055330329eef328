#pragma once
/* All steps of engine/time/average.h for a strip. */
#include "engine/simd/time/mean_store.h"

static inline bool mean_any_moved(const struct mean_job *j, int row)
{
    const int cols = (j->x.width + MOTION_BLOCK - 1) / MOTION_BLOCK;

    for (int x = j->left; x < j->right && j->vectors; x += MOTION_BLOCK) {
        const struct motion_vector v = j->vectors[row * cols + x / MOTION_BLOCK];

        if (v.x || v.y)
            return true;
    }
    return false;
}

static inline void mean_strip(const struct mean_job *j)
{
    const int first = j->top / 2, last = past_cells(j->bottom);
    struct mean_scratch *w = j->scratch;
    bool moved = false;

    w->next_noise = first > 4 ? first - 4 : 0;
    w->still.next_fit = w->moved.next_fit = -1000;
    for (int y = first; y < last; y++) {
        if (2 * y % MOTION_BLOCK == 0) {
            moved = mean_any_moved(j, 2 * y / MOTION_BLOCK);
            mean_make_slack(j, y);
        }
        mean_reach(j, &w->still, y);
        mean_believe(j, &w->still, y);
        if (moved) {
            mean_reach(j, &w->moved, y);
            mean_believe(j, &w->moved, y);
        }
        mean_store(j, y, moved);
    }
}
