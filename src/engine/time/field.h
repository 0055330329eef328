#pragma once
/* A picture of doubles, for the reference. Outside of it the nearest edge value is repeated. */
#include <stdbool.h>
#include <stddef.h>

struct field {
    int width, height;
    double *v;
    double *line; /* room for a row or a column */
};

bool field_alloc(struct field *f, int width, int height);
void field_free(struct field *f); /* zeroed is fine */

static inline double *field_at(const struct field *f, int x, int y)
{
    return &f->v[(size_t)y * (size_t)f->width + (size_t)x];
}

/* Each value becomes the mean of the 2 @reach + 1 squared around it. */
void field_box(struct field *f, int reach);
