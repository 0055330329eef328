#pragma once
/* The search of engine/time/motion.h: the same vectors, from padded pictures and on several
 * threads. Context: one thread at a time; the workers share the work. */
#include "base/workers.h"
#include "engine/time/motion.h"

struct row_kernels;
struct search;

/* Samples around each level of a pyramid, as in raw.h. */
#define SEARCH_PAD 32

/* For frames like @shape; -ENOMEM. */
int search_create(struct search **ret, const struct frame *shape);
void search_destroy(struct search *s); /* accepts NULL */

/* The newest frame found no use: the pyramid that is kept is of an older one. */
void search_skip(struct search *s);

/* The vectors of the luma of @now against that of @before, as raw.h has them; valid until
 * the next search. */
const struct motion_vector *search_find(struct search *s, struct workers *workers,
                                        const struct row_kernels *kernels, const struct frame *now,
                                        const struct frame *before);

/* --- for the kernels --- */

struct search_level {
    int width, height;
    size_t stride;
    uint16_t *sample; /* the first of the picture */
};

struct search_vector {
    int16_t x, y; /* samples of the level that is searched */
};

/* What a level found, for the one below it. Around the blocks are vectors of 0, where the contract
 * repeats the edge: either one is a candidate there anyway. */
struct search_grid {
    int cols, rows;
    ptrdiff_t stride;
    struct search_vector *vector;
};

static inline struct search_vector *search_at(const struct search_grid *g, int col, int row)
{
    return g->vector + (row + 1) * g->stride + col + 1;
}

/* What level 0 found, component by component, and what that weighs (motion_weight()). Around the
 * blocks are vectors of 0, which count for nothing. */
struct search_matched {
    ptrdiff_t stride;
    int16_t *x, *y, *weight_x, *weight_y; /* the first block's */
};

/* One level. */
struct search_job {
    int level;
    const struct frame *luma_now, *luma_before; /* level 0 */
    const struct search_level *now, *before;    /* the others */
    const struct search_grid *parents;          /* of the level above; none at the top */
    struct search_grid *grid;
    struct search_matched matched; /* level 0, and what becomes of it */
    struct motion_vector *found;
};
