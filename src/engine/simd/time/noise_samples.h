#pragma once
/* A component of a block of noise: its samples, and how they lie. */
#include "engine/simd/time/noise.h"

#define NOISE_PIXELS (NOISE_BLOCK * NOISE_BLOCK)

/* A step that is not inlined: where it is, GCC 12 takes its loops apart, and a block takes twice as
 * long (AMD Zen 5, 2026-11-22). */
#define NOISE_STEP static __attribute__((noinline))

/* A component of a block, row by row. */
struct noise_bytes {
    uint8_t at[NOISE_PIXELS];
};

struct noise_samples {
    int16_t at[NOISE_PIXELS];
};

/* How a component is sampled in a block. */
struct noise_shape {
    int hshift, vshift;
    int width, height, n, pixels;           /* samples, and luma samples that share one */
    struct noise_samples one, across, down; /* what a sample weighs in S, A and B */
};

static inline void noise_shape(struct noise_shape *ret, int hshift, int vshift)
{
    const int pixels = 1 << hshift << vshift;

    ret->hshift = hshift;
    ret->vshift = vshift;
    ret->width = NOISE_BLOCK >> hshift;
    ret->height = NOISE_BLOCK >> vshift;
    ret->n = NOISE_PIXELS / pixels;
    ret->pixels = pixels;
    for (int y = 0; y < ret->height; y++)
        for (int x = 0; x < ret->width; x++) {
            ret->one.at[ret->width * y + x] = (int16_t)pixels;
            ret->across.at[ret->width * y + x] =
                (int16_t)(pixels * ((2 * x + 1) * (1 << hshift) - NOISE_BLOCK));
            ret->down.at[ret->width * y + x] =
                (int16_t)(pixels * ((2 * y + 1) * (1 << vshift) - NOISE_BLOCK));
        }
}
