#include "tools/bench/quality/clips.h"

#include <math.h>
#include <stddef.h>

#include "tools/bench/quality/scenes.h"

#define PI 3.14159265358979323846

static struct rgb room(double x, double y)
{
    struct rgb c = colour(150 + 0.08 * x, 140 + 0.05 * y, 120 + 0.05 * x);

    c = lit(c, 7.0 * rough(x, y, 60, 3, 1));
    c = blend(c, colour(70, 60, 50), box(x - 120, y - 110, 130, 150));
    for (int i = 0; i < 9; i++)
        c = blend(c, colour(60 + 20 * (i % 4), 40 + 25 * (i % 5), 60 + 18 * (i % 3)),
                  box(x - 65 - 14 * i, y - 110 - 3 * (i % 3), 11, 110));
    c = blend(c, colour(215, 220, 225), box(x - 520, y - 100, 120, 130));
    return blend(c, colour(120, 90, 70), box(x - 520, y - 100, 4, 130));
}

static double head_x(int t)
{
    return 320.0 + 28.0 * sin(2.0 * PI * t / 40.0);
}

static double head_y(int t)
{
    return 180.0 + 7.0 * sin(2.0 * PI * t / 22.0);
}

/* A head that sways before a room. */
static struct rgb talk(double x, double y, int t)
{
    return head(room(x, y), x - head_x(t), y - head_y(t));
}

static struct rgb wallpaper(double x, double y)
{
    const double s = 30.0 * rough(x, y, 18, 4, 21);
    const double flower = cos(x / 11.0) * cos(y / 13.0);

    return lit(colour(135 + 40 * flower, 120 + 15 * flower, 100 - 20 * flower), s);
}

/* A wallpaper, panned. */
static struct rgb pan(double x, double y, int t)
{
    return wallpaper(x + 3.3 * t, y + 0.6 * t);
}

static struct rgb facade(double x, double y)
{
    const double wx = x - 52.0 * floor(x / 52.0) - 26.0, wy = y - 64.0 * floor(y / 64.0) - 32.0;
    const double brick = fabs(y - 8.0 * floor(y / 8.0)) < 1.2 ? -22.0 : 0.0;
    struct rgb c = lit(colour(165, 105, 85), brick + 8.0 * rough(x, y, 7, 3, 31));

    c = blend(c, colour(225, 225, 220), box(wx, wy, 30, 42));
    c = blend(c, colour(60, 75, 95), box(wx, wy, 24, 36));
    return blend(c, colour(225, 225, 220), box(wx, wy, 3, 36));
}

/* A facade, by hand, with a slow zoom. */
static struct rgb shake(double x, double y, int t)
{
    const double zoom = 1.0 + 0.0012 * t;
    const double sx = 2.4 * sin(t * 1.7) + 1.3 * sin(t * 0.63), sy = 1.9 * cos(t * 1.31);

    return facade((x - 320.0) / zoom + 320.0 + sx, (y - 180.0) / zoom + 180.0 + sy);
}

/* Two things that cross. */
static struct rgb cross(double x, double y, int t)
{
    struct rgb c = room(x, y);
    const double ax = 60.0 + 9.0 * t, bx = 580.0 - 7.0 * t;

    c = blend(c, lit(colour(200, 60, 50), 25.0 * rough(x - ax, y, 14, 3, 41)),
              ellipse(x - ax, y - 200, 55, 70));
    return blend(c, lit(colour(50, 110, 190), 25.0 * rough(x - bx, y, 14, 3, 43)),
                 box(x - bx, y - 220, 90, 120));
}

/* Mains light: bands of a lamp of 100 Hz seen at 30 frames a second. */
static struct rgb banding(double x, double y, int t)
{
    struct rgb c = talk(x, y, t);
    const double light = 1.0 + 0.06 * sin(2.0 * PI * (y / 240.0 + t * 100.0 / 30.0));

    for (int i = 0; i < 3; i++)
        c.v[i] *= light;
    return c;
}

/* An exposure that rises, and that jumps back. */
static struct rgb exposure(double x, double y, int t)
{
    struct rgb c = talk(x, y, t);
    const double light = t < 12 ? 0.75 : t < 30 ? 0.75 + 0.02 * (t - 12) : t < 40 ? 1.11 : 0.85;

    for (int i = 0; i < 3; i++)
        c.v[i] = fmin(c.v[i] * light, 255.0);
    return c;
}

/* A camera that adjusts its white balance: red gets stronger and blue weaker, for a second. */
static struct rgb white_balance(double x, double y, int t)
{
    const double share = 0.12 * fmin(fmax((t - 8) / 24.0, 0.0), 1.0);
    struct rgb c = talk(x, y, t);

    c.v[0] = fmin(c.v[0] * (1.0 + share), 255.0);
    c.v[2] *= 1.0 - share;
    return c;
}

static struct rgb cuts(double x, double y, int t)
{
    return t < 16 ? talk(x, y, t) : t < 32 ? facade(x, y) : cross(x, y, t - 20);
}

/* Letters that are hardly seen, and a shadow that moves. */
static struct rgb low_contrast(double x, double y, int t)
{
    const double shadow = ellipse(x - 100 - 6.0 * t, y - 200, 70, 90);
    const double letters =
        value(x, y, 9, 51) > 0.2 && fmod(y, 40.0) < 18.0 && y > 40 && y < 320 ? 9.0 : 0.0;

    return lit(colour(118 + 0.03 * x, 118, 122), letters - 7.0 * shadow);
}

/* A cloth that stands still. */
static struct rgb fine_texture(double x, double y, int t)
{
    (void)t;
    return lit(colour(125, 125 + 10 * value(x, y, 80, 62), 115), 34.0 * rough(x, y, 4, 2, 61));
}

/* A head before leaves and fur. */
static struct rgb aside(double x, double y, int t)
{
    const double hx = 330.0 + 55.0 * sin(2.0 * PI * t / 34.0), hy = 190.0 + 10.0 * cos(t * 0.4);
    const double sway = 2.5 * sin(t * 0.35 + y / 90.0);
    const double leaf = rough(x + sway, y, 22, 4, 71);
    struct rgb c = leaf > 0.15 ? colour(60 + 60 * leaf, 110 + 70 * leaf, 50)
                               : colour(150 + 40 * leaf, 165 + 30 * leaf, 175);

    if (y > 230)
        c = lit(colour(150, 120, 90), 38.0 * rough(x * 1.8, y * 0.7, 5, 2, 73));
    return head(c, x - hx, y - hy);
}

const struct clip clip_table[] = {
    {"aside", aside},
    {"talk", talk},
    {"pan", pan},
    {"shake", shake},
    {"cross", cross},
    {"banding", banding},
    {"exposure", exposure},
    {"white balance", white_balance},
    {"cuts", cuts},
    {"low contrast", low_contrast},
    {"texture", fine_texture},
    {"kitchen", kitchen},
    {"study", study},
    {"desk", desk},
    {"lesson", lesson},
    {"market", market},
    {"stage", stage},
    {"window", from_window},
    {"evening", evening},
    {"train", train},
    {NULL, NULL},
};
