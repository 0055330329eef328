#pragma once
/* The noise of the `test:` source: like a sensor's it is white, new in each frame, and stronger
 * where there is more light.
 *
 * A field of values is made once, from the seed. What a frame gets of it depends on nothing but
 * frame number and place: for each run of samples a part that begins anywhere, with its sign kept
 * or turned, both by chance. Where two runs get the same part their signs still agree as often as
 * not, so that no mean over frames or neighbours finds a pattern. */
#include <stdint.h>

#define NOISE_MAX 50
#define NOISE_RUN 512 /* samples along a row and one component */

struct pattern_noise {
    int16_t field[65536 + NOISE_RUN];
};

/* Of sigma = @level * (0.7 + 0.6 * v / 255) at values v; @level is at most NOISE_MAX. */
void pattern_noise_init(struct pattern_noise *p, int level, uint32_t seed);

/* Adds the noise of frame @seq to @n values, at most NOISE_RUN, of a component of row @y that
 * begin at column @x, a multiple of NOISE_RUN. Context: any thread. */
void pattern_noise_add(const struct pattern_noise *p, uint64_t seq, int x, int y, int component,
                       uint8_t *v, int n);
