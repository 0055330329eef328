#include "placeholder.h"

/* A calm dark grey, which no codec spends bits on and nobody takes for a crashed camera's
 * black or green. */
#define GREY 46

void placeholder_draw(struct frame *f)
{
    for (int c = 0; c < format_table[f->format].components; c++) {
        const struct samples s = frame_samples(f, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++)
                s.base[(size_t)y * s.stride + (size_t)(x * s.step)] = c ? 128 : GREY;
    }
}
