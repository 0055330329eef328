#pragma once
/* Whether a frame goes on from the one before: every engine asks here, so that all start again at
 * the same frames. A frame goes on if the one before was of the same format, size and colour, and
 * filtered with the same `temporal` and `temporal_mode`, unless frames between them were lost that
 * took more than a quarter of a second: the frames of a file are stamped when they are read, which
 * says nothing of the pictures. Frames that only passed are as if lost: they do not come here.
 * Context: plain data, one owner; zeroed is no past. */
#include <stdbool.h>

#include "filter/filter.h"
#include "picture/frame.h"

struct past {
    bool any;
    struct frame shape; /* of the newest frame; no planes */
    int temporal;
    enum temporal_mode mode;
};

/* How many cells, of 2x2 luma samples by which pictures are compared (average.h), are along @n of
 * them; the last one may reach past the edge. */
static inline int past_cells(int n)
{
    return (n + 1) / 2;
}

/* Whether @x, to be filtered with @f, goes on. @x is the newest frame then. One that @f filters
 * by itself ends the past. */
bool past_goes_on(struct past *p, const struct frame *x, const struct filter *f);

/* The next frame has nothing to do with those before. */
void past_forget(struct past *p);
