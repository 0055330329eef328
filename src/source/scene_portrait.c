/* A person at a desk, as a webcam sees them: a plastered wall lit from a window on the left, a
 * shelf of books on the right, and a head that sways and blinks. It has what a noise filter must
 * tell apart: smooth shading, fine texture (hair, knitwear, plaster) and hard edges. */
#include "source/scene_draw.h"

#include <stdbool.h>
#include <stdlib.h>

static const struct rgba skin = {222, 174, 146, 255};
static const struct rgba hair = {74, 52, 38, 255};
static const struct rgba sweater = {58, 92, 112, 255};

static struct rgba paint_wall(int x, int y)
{
    const struct rgba wall = {186, 178, 164, 255};
    const int light = 262 - (x + 3000) / 70 - y / 60;
    const int plaster = scene_texture(x, y, 13, 13, 1) / 7 + scene_texture(x, y, 300, 200, 2) / 24;

    return scene_shade(wall, scene_clamp(light, 120, 300) + plaster);
}

static struct rgba paint_window(int x, int y)
{
    const struct rgba frame = {232, 230, 224, 255};
    const struct rgba sky = {214, 226, 240, 255};
    const struct rgba trees = {122, 146, 112, 255};
    const int hill = 1500 + scene_texture(x, 0, 420, 1, 3) * 3;
    const int leaves = scene_texture(x, y, 90, 80, 4) / 5 + scene_texture(x, y, 24, 22, 23) / 6;
    const bool bar = abs(x + 2600) < 40 || abs(y - 1300) < 35;
    const bool rim = x < -3200 || x > -2000 || y < 330 || y > 2270;

    if (rim || bar)
        return scene_shade(frame, 250 - (y > 2270) * 40 - abs(x + 2600) / 40);
    if (y > hill + leaves * 3)
        return scene_shade(trees, 256 + leaves);
    return scene_shade(sky, 264 - y / 60);
}

/* Spines of different width, height and colour, rounded, with a line or two for a title. */
static struct rgba paint_book(int x, int up, int shelf)
{
    const int slot = scene_floor_div(x, 128);
    const uint32_t h = scene_hash(slot, shelf, 5);
    const int across = x - slot * 128;
    const int width = 96 + (int)(h & 31);
    const int height = 520 + (int)(h >> 8 & 255);
    const struct rgba cover = {70 + (int)(h >> 16 & 95), 58 + (int)(h >> 20 & 63),
                               54 + (int)(h >> 25 & 63), 255};
    const struct rgba title = {214, 200, 160, 255};
    const struct rgba shadow = {46, 38, 32, 255};
    const int middle = across - width / 2;
    const bool letters = (up / 26 & 1) && scene_hash(up / 26, slot, 6) % 3;

    if (up > height || across > width)
        return shadow;
    if (up > height * 5 / 8 && up < height * 7 / 8 && abs(middle) < 18 && letters)
        return title;
    return scene_shade(cover, 280 - middle * middle / 32 + scene_texture(x, up, 9, 13, 7) / 5);
}

static struct rgba paint_shelf(int x, int y)
{
    const struct rgba wood = {136, 98, 66, 255};
    const int pitch = 960;
    const int shelf = scene_floor_div(y + 200, pitch);
    const int down = y + 200 - shelf * pitch;
    const int grain = scene_texture(x, y, 260, 9, 8) / 9;

    if (x < 1640)
        return scene_shade(wood, 210 + scene_texture(x, y, 9, 260, 9) / 9);
    if (down < 84)
        return scene_shade(wood, (down < 12 ? 300 : 250) + grain);
    return scene_shade(paint_book(x, pitch - down, shelf), down < 230 ? 130 + down / 2 : 256);
}

static struct rgba paint_room(int x, int y)
{
    if (x > -3300 && x < -1900 && y > 230 && y < 2370)
        return paint_window(x, y);
    if (x > 1560)
        return paint_shelf(x, y);
    return paint_wall(x, y);
}

static struct rgba paint_body(int x, int y)
{
    const int body = scene_ellipse(x, y, 0, 4580, 1560, 1800);
    const int collar = scene_ellipse(x, y, 0, 2780, 420, 230);
    const int rib = abs((scene_floor_div(x * 4, 9) & 15) - 8) * 6; /* ridges, 36 units apart */
    const int knit = rib + scene_texture(x, y, 14, 18, 10) / 5 - 24;
    const int fold = scene_texture(x + y / 2, y, 420, 300, 11) / 5;

    if (collar < 3300 || (abs(x) < 300 && y < 2780)) {
        const int shadow = scene_clamp(256 - (2800 - y) / 4 - x / 8, 130, 256);

        return scene_shade(skin, y < 2300 ? 130 : shadow * 230 / 256);
    }
    if (body >= 4096)
        return scene_nothing;
    if (collar < 4700)
        return scene_shade(sweater, 200 + knit - x / 12);
    return scene_shade(sweater, 270 - x / 14 - body / 60 + fold + knit);
}

/* Strands run from the crown outwards: fine across, long along. */
static struct rgba paint_hair(int x, int y)
{
    const int across = x * 2048 / (900 + abs(y - 500) / 2);
    const int strand =
        scene_texture(across, y, 26, 420, 12) / 2 + scene_texture(across, y, 11, 260, 13) / 3;
    const int shine = scene_ellipse(x, y, -240, 930, 460, 170);
    const struct rgba gleam = {150, 118, 92, 255};

    return scene_shade(scene_glow(hair, gleam, 190, shine), 256 - x / 10 + strand);
}

static struct rgba paint_eye(struct rgba face, int x, int y)
{
    const struct rgba white = {226, 220, 214, 255};
    const struct rgba iris = {86, 96, 72, 255};
    const struct rgba dark = {26, 20, 18, 255};
    const int away = abs(x) - 220;
    const int lid = scene_ellipse(away, y, 0, 1600, 122, 66);
    const int brow = scene_ellipse(away, y - away * away / 260, 8, 1436, 150, 34);
    const int side = x < 0 ? x + 220 : x - 220; /* both look the same way */

    if (brow < 4096)
        return scene_shade(hair, 250 + scene_texture(x - y, y, 10, 60, 14) / 2);
    if (scene_ellipse(away, y, 0, 1608, 106, 52) >= 4096)
        return lid < 4096 && y < 1600 ? scene_shade(dark, 400) : face;
    if (scene_ellipse(side, y, -14, 1584, 12, 12) < 4096)
        return white;
    if (scene_ellipse(side, y, 0, 1602, 22, 22) < 4096)
        return dark;
    if (scene_ellipse(side, y, 0, 1602, 50, 50) < 4096)
        return scene_shade(iris, 256 + scene_texture(side, y, 8, 8, 15) / 3);
    return scene_shade(white, 256 - lid / 60);
}

static struct rgba paint_mouth(struct rgba face, int x, int y)
{
    const struct rgba lips = {178, 98, 92, 255};
    const int line = y - 2176 + x * x / 900;

    if (scene_ellipse(x, y + x * x / 1400, 0, 2170, 190, 50 + (line > 0) * 14) >= 4096)
        return face;
    return scene_shade(lips, abs(line) < 9 ? 120 : line < 0 ? 230 : 276 - line);
}

static struct rgba paint_skin(int x, int y)
{
    const struct rgba rosy = {216, 140, 122, 255};
    const struct rgba shadow = {150, 100, 80, 255};
    const struct rgba bright = {246, 214, 192, 255};
    const int edge = scene_ellipse(x, y, 0, 1640, 580, 800);
    const int pores = scene_texture(x, y, 12, 12, 16) / 16 + scene_texture(x, y, 60, 60, 17) / 26;
    const int light = 268 - x / 9 - (y - 1640) / 22 - edge / 56 + pores;
    struct rgba c = scene_shade(skin, light);

    c = scene_glow(c, rosy, 110, scene_ellipse(abs(x), y, 330, 1930, 210, 170));
    c = scene_glow(c, shadow, 120, scene_ellipse(x, y, 74, 1830, 80, 250));
    c = scene_glow(c, bright, 150, scene_ellipse(x, y, -16, 1860, 60, 230));
    c = scene_glow(c, shadow, 230, scene_ellipse(abs(x), y, 62, 1985, 44, 26));
    c = scene_glow(c, shadow, 130, scene_ellipse(x, y, 0, 2290, 190, 60));
    c = scene_glow(c, shadow, 110, scene_ellipse(abs(x), y, 220, 1560, 190, 120));
    return c;
}

static struct rgba paint_head(int x, int y)
{
    const int hairline = 1130 + x * x / 640 + scene_texture(x, 0, 40, 1, 18) / 3;
    const int mop = scene_ellipse(x, y, 0, 1420, 730, 860) + scene_texture(x, y, 60, 60, 19);
    const bool face = scene_ellipse(x, y, 0, 1640, 580, 800) < 4096;

    if (mop < 4096 && y < 1980 && (!face || y < hairline))
        return paint_hair(x, y);
    if (face)
        return paint_mouth(paint_eye(paint_skin(x, y), x, y), x, y);
    if (scene_ellipse(abs(x), y, 590, 1700, 84, 170) < 4096)
        return scene_shade(skin, 224 - x / 9);
    return scene_nothing;
}

static struct rgba paint_eyelids(int x, int y)
{
    const int lid = scene_ellipse(abs(x) - 220, y, 0, 1606, 124, 68);

    if (lid >= 4096)
        return scene_nothing;
    return scene_shade(paint_skin(x, y), y > 1640 ? 90 : 235);
}

const struct scene_spec scene_portrait = {
    .background = paint_room,
    .layer =
        {
            {paint_body, -1600, 2200, 1600, 4140, 46, 16, 173, 131, 0, 0},
            {paint_head, -800, 480, 800, 2480, 130, 28, 149, 97, 0, 0},
            {paint_eyelids, -380, 1500, 380, 1700, 130, 28, 149, 97, 107, 4},
        },
    .n_layers = 3,
};
