#pragma once
/* Steps 1 and 2 of average.h: what the frame before says of this one, what a change of light adds
 * to that, and how far it can be believed. Context: one thread at a time. */
#include <stdbool.h>

#include "engine/time/field.h"
#include "engine/time/motion.h"
#include "engine/time/stored.h"
#include "filter/noise.h"

struct guess {
    struct field p[3]; /* in the sampling of the picture: P */
    struct field e[3]; /* for each luma sample */
    /* For each cell: */
    struct field m;       /* how many frames P is the mean of */
    struct field mean[3]; /* A, then E */
    struct field l[3];    /* C, then L */
    struct field part;    /* h */
    struct field box[3];  /* box7 of y - K and of c - K */
    struct field d, r;    /* D and R */
    struct field n;       /* n' */
};

/* What a guess is made from. */
struct guess_input {
    const struct frame *x; /* the new frame */
    const struct stored *before;
    const struct motion_vector *vectors; /* along which the guess is made; NULL: nothing moved */
    const struct noise *noise;
    struct tint tint;
    const struct field *nu2; /* with a level of luma as the unit */
};

bool guess_alloc(struct guess *g, const struct frame *shape);
void guess_free(struct guess *g); /* zeroed is fine */

void guess_make(struct guess *g, const struct guess_input *in);

/* The mean luma of a cell, rounded. */
int guess_brightness(const struct frame *f, int cx, int cy);

/* The cell of a sample. */
static inline int guess_cell_x(const struct frame *f, int component, int x)
{
    return component ? (x << format_table[f->format].hshift) / 2 : x / 2;
}

static inline int guess_cell_y(const struct frame *f, int component, int y)
{
    return component ? (y << format_table[f->format].vshift) / 2 : y / 2;
}
