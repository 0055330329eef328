#pragma once
/* The average of the frames so far as every engine keeps it from one frame to the next: levels in
 * 1/128 (15 bits) in the sampling of the picture, and how many frames a cell of 2x2 luma samples is
 * the mean of (filter/mean_count.h), both rounded to nearest. Context: plain data. */
#include <stdbool.h>

#include "engine/time/past.h"
#include "picture/frame.h"

struct stored {
    struct frame shape;
    int frames; /* at most */
    uint16_t *level[3];
    uint8_t *count;
};

bool stored_alloc(struct stored *s, const struct frame *shape);
void stored_free(struct stored *s); /* zeroed is fine */

/* The nearest sample of the picture; 0..255. */
double stored_level(const struct stored *s, int component, int x, int y);
void stored_set_level(struct stored *s, int component, int x, int y, double level);

/* Of the cell at (@cx, @cy), which is in the picture; 1 or more. */
double stored_count(const struct stored *s, int cx, int cy);
void stored_set_count(struct stored *s, int cx, int cy, double count);
