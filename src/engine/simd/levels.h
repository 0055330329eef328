#pragma once
/* The mean over frames as it is kept from one frame to the next: levels in 1/128 and counts of
 * cells, in the units of engine/time/stored.h. Context: plain data. */
#include <stddef.h>
#include <stdint.h>

#define LEVELS_PAD 32
#define LEVELS_MOST 32767

/* What comes LEVELS_PAD samples before the first row, and more behind the last one, may be read:
 * numbers of no meaning. */
struct levels {
    uint16_t *sample[3]; /* in the sampling of the picture */
    uint8_t *count;      /* one for each cell of 2x2 luma samples */
    size_t stride[3];    /* samples from one row to the next */
    size_t cells;        /* likewise, counts */
};

static inline uint16_t *levels_row(const struct levels *l, int component, int y)
{
    return l->sample[component] + (size_t)y * l->stride[component];
}

/* Of the row of cells @y. */
static inline uint8_t *levels_counts(const struct levels *l, int y)
{
    return l->count + (size_t)y * l->cells;
}
