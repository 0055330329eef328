#include "sink/preview/map.h"

#include <math.h>

#define ALPHA 0xd2 /* the picture shows through, so that one sees what is where */

static const double dark[3] = {10, 14, 22}, bright[3] = {150, 215, 245}; /* R, G, B */

/* 0..1, for a count in halves of a frame. */
static double brightness(int count, int most)
{
    if (count <= 2)
        return 0.0;
    return most > 1 ? fmin(log(count / 2.0) / log(most), 1.0) : 1.0;
}

void preview_map_palette(uint32_t palette[256], int most)
{
    for (int count = 0; count < 256; count++) {
        const double b = brightness(count, most);
        uint32_t argb = ALPHA;

        for (int i = 0; i < 3; i++)
            argb = argb << 8 | (uint32_t)(dark[i] + b * (bright[i] - dark[i]) + 0.5);
        palette[count] = argb;
    }
}

void preview_map_render(const struct frame *f, const uint32_t palette[256], uint32_t *pixels,
                        size_t stride)
{
    const int columns = frame_count_columns(f), rows = frame_count_rows(f);
    const uint8_t *count = f->counts;

    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
            pixels[(size_t)y * stride + (size_t)x] = palette[*count++];
}
