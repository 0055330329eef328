#pragma once
/* The map: how many frames each part of a picture is the mean of, as brightness. Pure arithmetic.
 * Context: any thread. */
#include <stdint.h>

#include "picture/frame.h"

/* ARGB for each count of a frame: dark is one frame, bright is @most frames or more, and each
 * doubling in between is a step of the same size. */
void preview_map_palette(uint32_t palette[256], int most);

/* A pixel for each of the counts of @f, in rows of @stride pixels. */
void preview_map_render(const struct frame *f, const uint32_t palette[256], uint32_t *pixels,
                        size_t stride);
