/* A test chart: hard edges, lines of shrinking pitch, lines of text-like bars, grey and coloured
 * ramps, a star of wedges, and a striped disc that wanders over all of it. */
#include "source/scene_draw.h"

#include <stdbool.h>
#include <stdlib.h>

static const struct rgba paper = {226, 224, 218, 255};
static const struct rgba ink = {34, 32, 36, 255};

/* Words of bars, line after line, each block of lines smaller than the one before. */
static struct rgba paint_text(int x, int y)
{
    static const int stroke[] = {28, 20, 14, 9}; /* in units */
    const int block = y / 500, size = stroke[scene_clamp(block, 0, 3)];
    const int line = y % 500 / (size * 10), row = y % 500 / size % 10;
    const int letter = scene_floor_div(x, size * 4), column = scene_floor_div(x, size) & 3;
    const uint32_t glyph = scene_hash(letter, line * 8 + block, 21);
    const bool whole = (line + 1) * size * 10 <= 500 && x > -3400 && x < -760;

    if (row > 4 || column == 3 || glyph % 6 == 0 || !whole)
        return paper;
    return glyph >> (8 + row * 3 + column) & 1 ? ink : paper;
}

static struct rgba paint_lines(int x, int y)
{
    const int band = scene_clamp(x / 340, 0, 5);
    const int pitch = 84 >> (band / 2) | 7;

    return (band & 1 ? y / pitch : x / pitch) & 1 ? ink : paper;
}

static struct rgba paint_star(int x, int y)
{
    const int far = scene_ellipse(x, y, 0, 0, 620, 620);
    const int diagonal =
        abs(x) < abs(y) ? 7 - 7 * abs(x) / (abs(y) + 1) : 7 * abs(y) / (abs(x) + 1);

    if (far > 4096)
        return paper;
    return (diagonal + (x < 0) + (y < 0)) & 1 ? ink : paper;
}

static struct rgba paint_ramps(int x, int y)
{
    const int t = scene_clamp((scene_clamp(x, -3600, 3600) + 3600) * 256 / 7200, 0, 255);
    const struct rgba grey = {t, t, t, 255};
    const struct rgba warm = {255 - t / 4, 60 + t / 2, 40 + t / 3, 255};
    const struct rgba cold = {30 + t / 3, 110 + t / 3, 220 - t / 2, 255};
    const int step = t & ~31;

    if (y < 280)
        return grey;
    if (y < 480)
        return (struct rgba){step, step, step, 255};
    return y < 720 ? warm : cold;
}

static struct rgba paint_chart(int x, int y)
{
    if (y > 3100)
        return paint_ramps(x, y - 3100);
    if (abs(x) > 3500 || y < 180)
        return scene_shade(paper, 150 + scene_texture(x, y, 40, 40, 22) / 16);
    if (x < -600)
        return y > 300 && y < 2300 ? paint_text(x, y - 300) : scene_shade(paper, 232);
    if (y > 2200)
        return paint_lines(x + 600, y);
    if (x < 900)
        return paint_star(x - 150, y - 1250);
    return scene_mix((struct rgba){70, 120, 90, 255}, (struct rgba){210, 160, 80, 255},
                     scene_clamp((x - 900 + y) / 16, 0, 256));
}

static struct rgba paint_disc(int x, int y)
{
    const int far = scene_ellipse(x, y, 0, 1700, 420, 420);
    const struct rgba red = {190, 52, 48, 255};

    if (far >= 4096)
        return scene_nothing;
    if (far < 1500)
        return scene_floor_div(x + y, 90) & 1 ? ink : paper;
    return scene_shade(red, 300 - far / 30 - x / 8);
}

const struct scene_spec scene_chart = {
    .background = paint_chart,
    .layer = {{paint_disc, -440, 1260, 440, 2140, 2400, 900, 240, 170, 0, 0}},
    .n_layers = 1,
};
