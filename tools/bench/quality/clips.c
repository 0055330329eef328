#include "tools/bench/quality/clips.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

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

static struct rgb head(struct rgb c, double x, double y)
{
    const double grain = 4.0 * rough(x, y, 12, 3, 7);

    c = blend(c, colour(45, 60, 95), ellipse(x, y - 190, 150, 120));
    c = blend(c, lit(colour(50, 35, 25), 12.0 * value(x * 3.0, y, 6, 5)),
              ellipse(x, y + 25, 72, 88));
    c = blend(c, lit(colour(205, 160, 135), grain), ellipse(x, y, 58, 76));
    c = blend(c, colour(60, 40, 35), ellipse(x - 22, y + 8, 9, 5));
    c = blend(c, colour(60, 40, 35), ellipse(x + 22, y + 8, 9, 5));
    return blend(c, colour(150, 70, 70), ellipse(x, y - 40, 20, 6));
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

static struct rgb plant(struct rgb c, double x, double y)
{
    const double leaf = rough(x, y, 16, 4, 81);

    return leaf > 0.0 ? blend(c, colour(40 + 70 * leaf, 90 + 90 * leaf, 45),
                              ellipse(x - 90, y - 120, 85, 110))
                      : c;
}

static struct rgb wheel(struct rgb c, double x, double y, int t)
{
    const double angle = atan2(y, x) - 0.15 * t, spoke = cos(6.0 * angle);

    c = blend(c, colour(70, 70, 78), ellipse(x, y, 78, 78));
    return blend(c, colour(205, 200, 190),
                 ellipse(x, y, 68, 68) * fmin(fmax(4.0 * spoke + 0.5, 0.0), 1.0));
}

/* A plant that stands still, a wheel that turns, steam, and a hand that waves by up to
 * 43 pixels a frame. */
static struct rgb kitchen(double x, double y, int t)
{
    const double hand_x = 300.0 + 110.0 * sin(2.0 * PI * t / 16.0);
    const double hand_y = 250.0 + 20.0 * cos(2.0 * PI * t / 11.0);
    const double line =
        fmin(fabs(x - 37.0 * floor(x / 37.0 + 0.5)), fabs(y - 37.0 * floor(y / 37.0 + 0.5)));
    const double steam = ellipse(x - 540, y - 220, 60, 120) * rough(x, y + 4.0 * t, 30, 3, 83);
    struct rgb c = lit(colour(185, 190, 180 + 0.04 * x), 4.0 * rough(x, y, 25, 3, 82));

    c = blend(c, colour(120, 118, 112), fmin(fmax(2.0 - line, 0.0), 1.0));
    c = wheel(plant(c, x, y), x - 450, y - 130, t);
    c = lit(c, 30.0 * fmax(steam, 0.0));
    return blend(c, lit(colour(200, 155, 130), 6.0 * rough(x - hand_x, y - hand_y, 10, 3, 84)),
                 ellipse(x - hand_x, y - hand_y, 42, 60));
}

static struct rgb street(double x, double y, int t)
{
    const double car = x + 150.0 - 14.0 * t, floor_at = y - 52.0 * floor(y / 52.0);
    struct rgb c = colour(150 - 0.2 * y, 175 - 0.15 * y, 205 - 0.1 * y);

    c = blend(c, lit(colour(120, 112, 104), 9.0 * rough(x, y, 11, 3, 91)),
              box(x - 470, y - 90, 150, 180));
    c = blend(c, colour(70, 80, 92), box(x - 470, floor_at - 26, 110, 20));
    return blend(c, colour(170, 40, 45), ellipse(car, y - 165, 60, 22));
}

/* Who leans towards the camera and back, by a window with a curtain in a draught and a car that
 * passes; a screen that scrolls in jumps. */
static struct rgb study(double x, double y, int t)
{
    const double near = 1.0 + 0.22 * sin(2.0 * PI * t / 37.0);
    const double fold = 4.0 * sin(0.11 * t + y / 55.0);
    const double line = y + 18.0 * (t / 7);
    struct rgb c = lit(colour(172, 160, 150), 5.0 * rough(x, y, 40, 4, 94));

    c = blend(c, street(x, y, t), box(x - 470, y - 110, 210, 190));
    c = blend(c, lit(colour(190, 185, 170), 14.0 * sin((x + fold) / 4.5)),
              box(x + fold - 380, y - 110, 60, 200));
    c = blend(c, colour(30, 34, 40), box(x - 90, y - 250, 150, 100));
    if (value(x, floor(line / 9.0) * 9.0, 13, 95) > 0.1 && line - 9.0 * floor(line / 9.0) < 5.0)
        c = blend(c, colour(190, 200, 190), box(x - 90, y - 250, 136, 86));
    return head(c, (x - 260.0) / near, (y - 185.0) / near);
}

static struct rgb keyboard(struct rgb c, double x, double y)
{
    const double kx = x - 22.0 * floor(x / 22.0) - 11.0, ky = y - 20.0 * floor(y / 20.0) - 10.0;

    c = blend(c, colour(38, 38, 42), box(x, y, 286, 100));
    return blend(c, colour(70, 72, 76), box(x, y, 280, 94) * box(kx, ky, 17, 15));
}

static struct rgb paper(struct rgb c, double x, double y)
{
    const double ink = value(x, floor(y / 11.0) * 11.0, 5, 101);

    c = blend(c, lit(colour(228, 226, 215), -0.06 * x), box(x, y, 170, 210));
    if (ink > -0.1 && y - 11.0 * floor(y / 11.0) < 4.0)
        c = blend(c, colour(60, 60, 75), box(x, y, 140, 180));
    return c;
}

/* A desk from above: grain of wood, keys, a printed page, a hand that writes on it and rests, and a
 * pencil that rolls down. The light of a window grows. */
static struct rgb desk(double x, double y, int t)
{
    const bool writes = t % 30 < 20;
    const double hand_x = 500.0 + (writes ? 2.5 * (t % 30) + 3.0 * sin(2.1 * t) : 50.0);
    const double hand_y = 190.0 + 4.0 * cos(1.7 * t) * (double)writes;
    const double pencil = y - 20.0 - 3.7 * t - 0.1 * (x - 200.0);
    struct rgb c = lit(colour(128, 92, 62), 16.0 * rough(x * 0.15, y, 9, 3, 102));

    c = keyboard(c, x - 190, y - 270);
    c = paper(c, x - 500, y - 170);
    c = blend(c, lit(colour(215, 165, 40), 40.0 * cos(pencil / 4.0)), box(x - 220, pencil, 180, 9));
    c = blend(c, lit(colour(196, 150, 128), 5.0 * rough(x - hand_x, y - hand_y, 9, 3, 103)),
              ellipse(x - hand_x - 40, y - hand_y - 50, 55, 75));
    return lit(c, 0.15 * t * (1.0 - x / 640.0));
}

/* Land and sea on a ball that turns, @x, @y from its middle. */
static struct rgb globe(struct rgb c, double x, double y, int t)
{
    const double r = 78.0, inside = fmax(1.0 - (x * x + y * y) / (r * r), 0.0);
    const double around =
        r * asin(fmax(fmin(x / sqrt(r * r - fmin(y * y, r * r - 1.0)), 1.0), -1.0));
    const double land = rough(around + 4.5 * t, y, 24, 4, 111);
    const double light = -70.0 + 75.0 * sqrt(inside) - 0.2 * x;

    c = blend(c, lit(land > 0.05 ? colour(120, 130, 70) : colour(60, 100, 150), light),
              ellipse(x, y, r, r));
    return blend(c, colour(90, 70, 50), box(x, y - 95, 60, 12));
}

/* The slats of a blind that is drawn up, to @below. */
static struct rgb blind(struct rgb c, double x, double y, double below)
{
    const double slat = cos(2.0 * PI * (y - below) / 9.0);

    c = blend(c, lit(colour(190, 205, 220), -0.1 * y), box(x - 130, y - 120, 180, 200));
    return blend(c, colour(205 + 25 * slat, 195 + 25 * slat, 175 + 20 * slat),
                 box(x - 130, y - (below - 200.0) / 2.0, 176, 200 + below));
}

/* Before a camera that trembles: a map on a wall, a blind that is drawn up, a globe that turns, and
 * the shadow of who goes past. */
static struct rgb lesson(double x, double y, int t)
{
    const double wx = x + 0.9 * sin(0.8 * t) + 0.3 * sin(2.3 * t), wy = y + 0.6 * cos(1.1 * t);
    const double coast = rough(wx, wy, 34, 4, 112);
    const double road = fabs(value(wx, wy, 40, 113));
    const double shadow = ellipse(wx + 160.0 - 17.0 * t, wy - 250, 90, 220);
    struct rgb c = lit(colour(176, 170, 150), 5.0 * rough(wx, wy, 30, 4, 114));
    struct rgb map = coast > 0.0 ? colour(205 - 60 * coast, 200 - 20 * coast, 150)
                                 : colour(150, 185, 215 + 30 * coast);

    if (road < 0.03 && coast > 0.0)
        map = colour(170, 60, 55);
    c = blend(c, map, box(wx - 440, wy - 120, 330, 190));
    c = blind(c, wx, wy, 200.0 - 2.6 * t);
    c = globe(c, wx - 330, wy - 265, t);
    return lit(c, -34.0 * shadow);
}

/* Crates of fruit, row by row. */
static struct rgb crates(struct rgb c, double x, double y)
{
    const int col = (int)floor(x / 74.0), row = (int)floor(y / 52.0);
    const double cx = x - 74.0 * col - 37.0, cy = y - 52.0 * row - 26.0;
    const double fx = cx - 15.0 * floor(cx / 15.0) - 7.5, fy = cy - 13.0 * floor(cy / 13.0) - 6.5;
    const struct rgb fruit = colour(150 + 70 * hash(col, row, 121), 120 + 60 * hash(col, row, 122),
                                    60 + 30 * hash(col, row, 123));

    if (y < 0.0 || y > 104.0)
        return c;
    c = blend(c, colour(120, 95, 65), box(cx, cy, 70, 48));
    return blend(c, lit(fruit, 18.0 - 2.5 * fy - 1.5 * fx),
                 box(cx, cy, 60, 38) * ellipse(fx, fy, 7, 6));
}

/* A fan with three blades, which turns by a quarter of a radian a frame. */
static struct rgb fan(struct rgb c, double x, double y, int t)
{
    const double r = hypot(x, y), blade = cos(3.0 * (atan2(y, x) - 0.25 * t) + 0.03 * r);

    c = blend(c, colour(95, 100, 105), ellipse(x, y, 58, 58));
    c = blend(c, colour(200, 205, 208), (blade > 0.2) * ellipse(x, y, 54, 54));
    return blend(c, colour(60, 60, 64), ellipse(x, y, 10, 10));
}

/* A stall under a striped awning that waves: steam over crates, a fan, somebody in a coat as bright
 * as the wall, and a camera that swings to and fro and comes nearer. */
static struct rgb market(double x, double y, int t)
{
    const double zoom = 1.0 - 0.0015 * t, swing = 9.0 * sin(0.17 * t);
    const double wx = (x - 320.0) * zoom + 320.0 + swing, wy = (y - 180.0) * zoom + 180.0;
    const double wave = 5.0 * sin(wx / 38.0 - 0.35 * t) + 2.0 * sin(wx / 17.0 + 0.5 * t);
    const double steam = 0.5 + rough(wx + 0.6 * t, wy + 2.8 * t, 42, 3, 124);
    const double coat_x = wx + 90.0 - 13.0 * t;
    const double stripe = cos(2.0 * PI * wx / 46.0) > 0.0 ? 1.0 : 0.0;
    struct rgb c = lit(colour(150, 138, 126), 9.0 * rough(wx, wy, 26, 4, 125));

    c = fan(c, wx - 545, wy - 165, t);
    c = crates(c, wx - 24.0, wy - 236.0);
    c = blend(c, colour(225, 226, 228),
              0.3 * fmax(steam, 0.0) * ellipse(wx - 190, wy - 190, 90, 75));
    c = blend(c, colour(96, 158, 170), ellipse(coat_x, wy - 230, 46, 110));
    c = blend(c, colour(196, 150, 128), ellipse(coat_x, wy - 105, 22, 28));
    return blend(c, blend(colour(178, 52, 48), colour(226, 218, 200), stripe),
                 box(wx - 320, wy - 20 - wave / 2.0, 720, 92 + wave));
}

/* A limb from a dancer's middle: @side -1 or 1, @rises -1 for arms, 1 for legs. */
static struct rgb limb(struct rgb c, double x, double y, double side, double rises, int t)
{
    const double a = side * (rises > 0.0 ? 2.2 : 0.6) + 0.7 * sin(0.81 * t + 2.3 * side + rises);
    const double ox = x - 28.0 * side, oy = rises * (y - 40.0 * rises);
    const double along = ox * sin(a) + oy * fabs(cos(a)), across = ox * cos(a) - oy * sin(a);

    return blend(c, lit(colour(180, 130, 110), 10.0 * rough(along, across, 9, 3, 141)),
                 box(along - 50, across, 110, 24));
}

/* Somebody who dances before a stage that is black: little else than what moves tells the noise. */
static struct rgb stage(double x, double y, int t)
{
    const double dx = x - 320.0 - 60.0 * sin(0.46 * t), dy = y - 190.0 - 8.0 * sin(1.1 * t);
    const struct rgb shirt = colour(150 + 40 * cos(dx / 5.0), 60, 70 + 30 * cos(dy / 4.0));
    struct rgb c = colour(0, 0, 0);

    for (int i = 0; i < 4; i++)
        c = limb(c, dx, dy, i % 2 ? 1.0 : -1.0, i < 2 ? 1.0 : -1.0, t);
    c = blend(c, lit(shirt, 10.0 * rough(dx, dy, 9, 3, 142)), ellipse(dx, dy, 50, 80));
    return blend(c, lit(colour(205, 160, 135), 8.0 * rough(dx, dy, 7, 3, 143)),
                 ellipse(dx, dy + 100, 26, 34));
}

/* A row of houses with windows, some of which are open. */
static struct rgb houses(struct rgb c, double x, double y)
{
    const int house = (int)floor(x / 96.0), storey = (int)floor((y - 90.0) / 44.0);
    const double hx = x - 96.0 * house - 48.0, sy = y - 90.0 - 44.0 * storey - 22.0;
    const double px = fabs(hx) - 22.0;
    struct rgb wall = colour(165 + 45 * hash(house, 0, 131), 140 + 35 * hash(house, 1, 131),
                             115 + 35 * hash(house, 2, 131));

    if (y < 70.0 + 12.0 * fabs(hash(house, 3, 131)) || y > 270.0)
        return c;
    wall = lit(wall, 5.0 * rough(x, y, 9, 2, 132));
    wall = blend(wall, colour(225, 222, 215), box(px, sy, 26, 34));
    return blend(wall, lit(colour(70, 82, 95), 30.0 * hash(house, storey, 133)),
                 box(px, sy, 20, 28));
}

/* From a window: leaves in the wind, a van with letters on it, somebody on a bicycle, and a sun
 * that comes out and goes, by which all is warmer. */
static struct rgb from_window(double x, double y, int t)
{
    const double sun = 0.5 + 0.5 * sin(0.16 * t), van = x + 150.0 - 11.0 * t,
                 bike = x - 640.0 + 6.5 * t;
    const double sway = 3.0 * sin(0.45 * t + y / 40.0) + 1.2 * sin(1.1 * t + x / 25.0);
    const double leaf = rough(x + sway, y, 8, 3, 134);
    const double letters = value(van, floor(y / 16.0) * 16.0, 6, 135);
    const double gain[3] = {0.86 + 0.16 * sun, 0.88 + 0.13 * sun, 0.92 + 0.07 * sun};
    struct rgb c = lit(colour(150, 175, 205), 20.0 * rough(x - 0.7 * t, y, 80, 3, 136));

    c = houses(c, x, y);
    c = blend(c, lit(colour(105, 104, 102), 6.0 * rough(x, y, 5, 2, 137)),
              box(x - 320, y - 320, 660, 100));
    c = blend(c, colour(46, 90, 150), box(van, y - 250, 190, 90));
    if (letters > 0.1)
        c = blend(c, colour(230, 225, 120), box(van, y - 240, 150, 14));
    c = blend(c, colour(35, 35, 38),
              ellipse(van + 60, y - 297, 17, 17) + ellipse(van - 60, y - 297, 17, 17));
    c = blend(c, colour(172, 82, 74), ellipse(bike, y - 262, 15, 34));
    c = blend(c, colour(196, 150, 128), ellipse(bike, y - 220, 9, 11));
    c = blend(c, colour(60, 60, 62),
              ellipse(bike - 20, y - 305, 15, 15) + ellipse(bike + 20, y - 305, 15, 15));
    if (hypot(x - 40.0, (y - 90.0) * 1.2) < 150.0 + 40.0 * leaf)
        c = lit(colour(70, 105, 50), 55.0 * leaf);
    for (int i = 0; i < 3; i++)
        c.v[i] = fmin(c.v[i] * gain[i], 255.0);
    return c;
}

/* A checked blanket. */
static struct rgb blanket(double x, double y)
{
    const double across = cos(x / 6.0), down = cos(y / 8.0);

    return lit(colour(96 + 60 * across * across, 64 + 45 * down * down, 78), 20.0 * across * down);
}

/* An evening before a television, which lights a room in other colours with each shot: somebody
 * leans forward and lifts a mug, and a cat wags its tail. */
static struct rgb evening(double x, double y, int t)
{
    const double forward = 1.07 - 0.07 * cos(0.14 * t), lift = fmax(sin(0.12 * t), 0.0);
    const double px = (x - 330.0 - 14.0 * sin(0.14 * t)) / forward, py = (y - 165.0) / forward;
    const double mug_x = px - 74.0 + 30.0 * lift, mug_y = py - 120.0 + 75.0 * lift;
    const double tail = x - 566.0 - 0.3 * (270.0 - y) * sin(0.4 * t);
    struct rgb c = lit(colour(112, 104, 100), 6.0 * rough(x, y, 50, 3, 151));

    c = blend(c, colour(244, 222, 172), ellipse(x - 74, y - 66, 40, 30));
    c = blend(c, lit(colour(96, 66, 58), 14.0 * rough(x, y, 5, 2, 152)),
              box(x - 320, y - 272, 570, 190));
    c = blend(c, lit(colour(158, 152, 130), 26.0 * cos(x / 1.9) * cos(y / 2.3)),
              box(x - 126, y - 232, 92, 78));
    c = blend(c, blanket(px, py), ellipse(px, py - 200, 150, 124));
    c = blend(c, lit(colour(58, 42, 36), 16.0 * value(px * 3.0, py, 5, 153)),
              ellipse(px, py + 14, 54, 66));
    c = blend(c, lit(colour(204, 158, 134), 5.0 * rough(px, py, 9, 3, 154)),
              ellipse(px, py, 42, 56));
    c = blend(c, colour(70, 120, 128), box(mug_x, mug_y, 26, 30));
    if (y < 272.0 && y > 150.0)
        c = blend(c, lit(colour(150, 110, 70), 18.0 * cos(y / 4.0)), ellipse(tail, 0.0, 9, 9));
    for (int i = 0; i < 3; i++)
        c.v[i] = fmin(c.v[i] * (0.86 + 0.13 * hash(t / 13, i, 155)), 255.0);
    return c;
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
    {NULL, NULL},
};
