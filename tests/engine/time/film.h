#pragma once
/* A small film of a shading of known colours, and the mean over its frames. What fails here fails
 * the test. Context: one thread. */
#include <stdbool.h>
#include <stdint.h>

#include "engine/time/average.h"
#include "picture/frame.h"

#define WIDTH 64
#define HEIGHT 48

struct film {
    struct frame frame; /* the newest one; its memory is its own */
    struct average *average;
    uint64_t seed;
    int frames;          /* of the mean, at most */
    bool no_search;      /* for motion */
    int brighter, bluer; /* light by this many percent, and U by this many levels */
    int tint;            /* U by this many percent of luma */
    int stripes;         /* how far U of stripes is from neutral, if not 0 */
    int right;           /* how far all has moved; if not 0, luma has a texture, too */
};

void film_open(struct film *f, enum frame_format format, int frames);
void film_open_sized(struct film *f, enum frame_format format, int width, int height, int frames);
void film_close(struct film *f);

uint8_t *film_at(const struct frame *f, int component, int x, int y);

/* The shading. */
double film_clean(const struct film *f, int component, int x, int y);

/* Paints it, every sample off by up to @noise, evenly; @light is added to luma. */
void film_paint_component(struct film *f, int component, int noise, int light);
void film_paint(struct film *f, int noise, int light);

/* The frame as it is painted to the mean; the same of @n fresh ones. */
void film_add(struct film *f);
void film_run(struct film *f, int n);

/* Of how many frames pixels are the mean, in the mean. */
double film_count(const struct film *f);

/* How far a component of the mean is from the shading, with @light on luma. */
double film_rms(const struct film *f, int component, int light);
