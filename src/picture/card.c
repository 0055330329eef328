#include "picture/card.h"

#include <stdlib.h>

#include "picture/font.h"

/* A dark grey, which no codec spends bits on and nobody takes for a crashed camera's black or
 * green; and letters that do not shout. */
#define GREY 46
#define INK 150

#define LINES 14 /* of text would fill the picture's height */

/* Components that are as bright as the picture: luma, or all of R'G'B'. */
static int bright_components(const struct frame *f)
{
    return f->colour.matrix == COLOUR_RGB ? format_table[f->format].components : 1;
}

static void fill(struct frame *f)
{
    const int bright = bright_components(f);

    for (int c = 0; c < format_table[f->format].components; c++) {
        const struct samples s = frame_samples(f, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++)
                s.base[(size_t)y * s.stride + (size_t)(x * s.step)] = c < bright ? GREY : 128;
    }
}

static int text_width(const char *text)
{
    int width = 0;

    for (; *text; text++)
        width += font_advance(*text);
    return width;
}

/* Blends a letter's cell into a component with its top left corner at (@x0, @y0). */
static void draw_cell(const struct samples *s, const uint8_t *cell, int scale, int x0, int y0)
{
    const int width = FONT_CELL_WIDTH * scale, height = FONT_CELL_HEIGHT * scale;

    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int ink = cell[y * width + x];
            const int px = x0 + x, py = y0 + y;
            uint8_t *at;

            if (!ink || px < 0 || py < 0 || px >= s->width || py >= s->height)
                continue;
            at = &s->base[(size_t)py * s->stride + (size_t)(px * s->step)];
            *at = (uint8_t)(*at + (INK - *at) * ink / 255);
        }
}

void card_draw(struct frame *f, const char *text)
{
    const int wanted = f->height / (LINES * FONT_CELL_HEIGHT) + 1;
    const int width = text_width(text);
    const int scale = wanted * width <= f->width ? wanted : f->width / (width ? width : 1);
    uint8_t *cell;
    int x;

    fill(f);
    if (!scale)
        return; /* no room for letters */
    cell = malloc((size_t)(FONT_CELL_WIDTH * scale) * (size_t)(FONT_CELL_HEIGHT * scale));
    if (!cell)
        return;
    x = (f->width - width * scale) / 2;
    for (; *text; text++) {
        font_render(*text, scale, cell, (size_t)(FONT_CELL_WIDTH * scale));
        for (int c = 0; c < bright_components(f); c++) {
            const struct samples s = frame_samples(f, c);

            draw_cell(&s, cell, scale, x, (f->height - FONT_CELL_HEIGHT * scale) / 2);
        }
        x += font_advance(*text) * scale;
    }
    free(cell);
}
