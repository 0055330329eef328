#pragma once
/* The mean over frames as it is kept from one frame to the next: levels in 1/256 and counts, in
 * the units of engine/time/stored.h. Context: plain data. */
#include <stddef.h>
#include <stdint.h>

#define LEVELS_PAD 32

/* What comes LEVELS_PAD samples before the first row, and more behind the last one, may be read:
 * numbers of no meaning. */
struct levels {
    uint16_t *sample[3]; /* in the sampling of the picture */
    uint8_t *count;      /* of luma */
    size_t stride[3];    /* samples from one row to the next; of counts as of luma */
};

static inline uint16_t *levels_row(const struct levels *l, int component, int y)
{
    return l->sample[component] + (size_t)y * l->stride[component];
}

static inline uint8_t *levels_counts(const struct levels *l, int y)
{
    return l->count + (size_t)y * l->stride[0];
}
