#pragma once
/* A picture turned upright: quarter turns and mirrors. Pure functions; any thread. */
#include "picture/frame.h"

/* Columns become rows and rows columns first, then what is set is mirrored. */
struct turn {
    bool swap;           /* width and height change places */
    bool flip_x, flip_y; /* left and right, top and bottom of the result */
};

bool turn_is_none(struct turn t);
bool turn_equal(struct turn a, struct turn b);

/* The format in which pictures of @format are turned: itself, but 4:4:4 planes for 4:2:2, whose
 * chroma has no such layout on its side. */
enum frame_format turn_format(struct turn t, enum frame_format format);

/* Writes @src, whose format turn_format() keeps, to @dst, which has the same one and the size that
 * the turn makes. */
void turn_frame(struct frame *dst, const struct frame *src, struct turn t);
