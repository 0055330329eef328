#pragma once
/* The mean over frames as it is kept from one frame to the next: levels in 1/128 and counts of
 * cells, in the units of engine/time/stored.h. Context: plain data. */
#include <stddef.h>
#include <stdint.h>

#include "picture/frame.h"

#define LEVELS_PAD 32
#define LEVELS_BEHIND 4224 /* bytes that may be read behind the last cell */
#define LEVELS_MOST 32767

/* What comes LEVELS_PAD samples before the first row, and more behind the last one, may be read:
 * numbers of no meaning. */
struct levels {
    uint16_t *sample[3]; /* in the sampling of the picture */
    uint8_t *count;      /* one for each cell of 2x2 luma samples */
    size_t stride[3];    /* samples from one row to the next */
    size_t cells;        /* likewise, counts */
};

/* For a picture like @raw (time/raw.h). levels_free() releases it, and accepts zeroes. -ENOMEM. */
int levels_alloc(struct levels *l, const struct frame *raw);
void levels_free(struct levels *l);

/* For a byte of each cell, and LEVELS_BEHIND. */
size_t levels_cells_bytes(const struct frame *raw);

/* Fills @count as struct engine_report has it, for a picture like @f; returns how many frames a
 * luma sample is the mean of on average. */
double levels_report(const struct levels *l, const struct frame *f, uint8_t *count);

static inline uint16_t *levels_row(const struct levels *l, int component, int y)
{
    return l->sample[component] + (size_t)y * l->stride[component];
}

/* Of the row of cells @y. */
static inline uint8_t *levels_counts(const struct levels *l, int y)
{
    return l->count + (size_t)y * l->cells;
}
