#include "picture/stretch.h"

#include <math.h>
#include <string.h>

#include "picture/colour.h"

#define BINS 4096    /* of 16 levels each */
#define SHARE 1000   /* a pixel of so many may be beyond the darkest or the brightest: dead ones */
#define FOLLOW 0.125 /* of what is missing, with each picture */

static uint16_t *row_of(const struct frame *f, int y)
{
    return (uint16_t *)(void *)(f->plane[0] + (size_t)y * f->stride[0]);
}

/* The first bin, from @first on and in steps of @by, with which enough pixels are counted. */
static int find(const uint32_t bins[BINS], int first, int by, uint32_t enough)
{
    uint32_t n = bins[first];

    while (n <= enough) {
        first += by;
        n += bins[first];
    }
    return first;
}

/* The bins of the darkest and the brightest pixels. */
static void find_both(const struct frame *f, int *ret_low, int *ret_high)
{
    const bool words = format_table[f->format].bytes > 1;
    const uint32_t beyond = (uint32_t)(f->width * f->height / SHARE);
    uint32_t bins[BINS] = {0};

    for (int y = 0; y < f->height; y++) {
        const uint8_t *bytes = f->plane[0] + (size_t)y * f->stride[0];

        for (int x = 0; x < f->width; x++)
            bins[words ? row_of(f, y)[x] / 16 : bytes[x] * 16]++;
    }
    *ret_low = find(bins, 0, 1, beyond);
    *ret_high = find(bins, BINS - 1, -1, beyond);
}

double stretch_share(const struct frame *f)
{
    int low, high;

    find_both(f, &low, &high);
    return (double)(high - low) / BINS;
}

static void follow(struct stretch *s, const struct frame *f)
{
    double low, high;
    int darkest, brightest;

    find_both(f, &darkest, &brightest);
    low = 16.0 * darkest;
    high = 16.0 * brightest + 15.0;
    s->low += (low - s->low) * (s->known ? FOLLOW : 1.0);
    s->high += (high - s->high) * (s->known ? FOLLOW : 1.0);
    s->known = true;
}

void stretch_frame(struct stretch *s, const struct frame *f)
{
    const float black = (float)(256 * colour_zero(f->colour, 0));
    const float white = f->colour.range == COLOUR_FULL ? 65535.0F : 256.0F * 235.0F;
    float low, gain;

    if (f->format != FRAME_GREY16 || (!s->min && !s->max))
        return;
    if (s->min == STRETCH_AUTO)
        follow(s, f);
    low = (float)(s->min == STRETCH_AUTO ? s->low : s->min);
    gain = (white - black) / ((float)(s->min == STRETCH_AUTO ? s->high : s->max) - low);
    for (int y = 0; y < f->height; y++) {
        uint16_t *row = row_of(f, y);

        for (int x = 0; x < f->width; x++)
            row[x] =
                (uint16_t)(fminf(fmaxf(((float)row[x] - low) * gain + black, black), white) + 0.5F);
    }
}
