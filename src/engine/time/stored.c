#include "engine/time/stored.h"

#include <math.h>
#include <stdlib.h>

#include "filter/mean_count.h"

#define LEVEL_STEPS 128.0
#define LEVEL_MOST 32767.0 /* a level less another one fits 16 bits */

bool stored_alloc(struct stored *s, const struct frame *shape)
{
    const size_t n = (size_t)shape->width * (size_t)shape->height;
    bool made = true;

    s->shape = frame_like(shape);
    for (int c = 0; c < format_table[shape->format].components; c++) {
        s->level[c] = calloc(n, sizeof(*s->level[c]));
        made = made && s->level[c];
    }
    s->count = calloc(n, 1);
    return made && s->count;
}

void stored_free(struct stored *s)
{
    for (int c = 0; c < 3; c++)
        free(s->level[c]);
    free(s->count);
    *s = (struct stored){0};
}

/* The nearest sample of the picture, and where it is kept. */
static size_t index_of(const struct stored *s, int component, int x, int y)
{
    const struct format_info *info = &format_table[s->shape.format];
    const int hs = component ? info->hshift : 0, vs = component ? info->vshift : 0;
    const int width = (s->shape.width + (1 << hs) - 1) >> hs;
    const int height = (s->shape.height + (1 << vs) - 1) >> vs;

    return (size_t)frame_nearest(y, height) * (size_t)width + (size_t)frame_nearest(x, width);
}

double stored_level(const struct stored *s, int component, int x, int y)
{
    return s->level[component][index_of(s, component, x, y)] / LEVEL_STEPS;
}

void stored_set_level(struct stored *s, int component, int x, int y, double level)
{
    const double steps = floor(level * LEVEL_STEPS + 0.5);

    s->level[component][index_of(s, component, x, y)] =
        (uint16_t)fmin(fmax(steps, 0.0), LEVEL_MOST);
}

static uint8_t *count_at(const struct stored *s, int cx, int cy)
{
    return &s->count[(size_t)cy * (size_t)past_cells(s->shape.width) + (size_t)cx];
}

double stored_count(const struct stored *s, int cx, int cy)
{
    return (double)mean_count_frames(*count_at(s, cx, cy));
}

void stored_set_count(struct stored *s, int cx, int cy, double count)
{
    *count_at(s, cx, cy) = mean_count_of((float)count);
}
