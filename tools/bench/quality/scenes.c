#include "tools/bench/quality/scenes.h"

#include <math.h>
#include <stdbool.h>

#define PI 3.14159265358979323846

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
struct rgb kitchen(double x, double y, int t)
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
struct rgb study(double x, double y, int t)
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
struct rgb desk(double x, double y, int t)
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
struct rgb lesson(double x, double y, int t)
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
struct rgb market(double x, double y, int t)
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
struct rgb stage(double x, double y, int t)
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
struct rgb from_window(double x, double y, int t)
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
struct rgb evening(double x, double y, int t)
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

/* Fields, trees and poles along a railway, the nearer the faster. */
static struct rgb landscape(double x, double y, int t)
{
    const double near = x + 13.0 * t, far = x + 2.5 * t;
    struct rgb c = colour(168, 190, 214);

    if (y > 96.0 + 14.0 * value(far, 0.0, 70, 161))
        c = lit(colour(96, 118, 84), 18.0 * rough(far, y, 22, 3, 162));
    if (y > 138.0)
        c = lit(colour(132, 134, 78), 30.0 * rough(near, y, 11, 3, 163));
    return blend(c, colour(74, 66, 60), box(fmod(near, 340.0) - 170.0, y - 110, 9, 190));
}

/* In a train: a landscape passes a window, its light comes and goes between trees and lies on all,
 * and who sits there is shaken, looks around and drinks. */
struct rgb train(double x, double y, int t)
{
    const double shaken_x = x - 0.8 * sin(2.1 * t), shaken_y = y - 1.1 * sin(1.7 * t + 1.0);
    const double px = shaken_x - 400.0 - 10.0 * sin(0.11 * t), py = shaken_y - 160.0;
    const double cup_y = py - 110.0 + 62.0 * fmax(sin(0.13 * t - 0.6), 0.0);
    const double sun = 0.5 + 0.5 * sin(0.55 * t + 1.4 * sin(0.21 * t));
    const double gain[3] = {0.8 + 0.15 * sun, 0.82 + 0.12 * sun, 0.86 + 0.06 * sun};
    struct rgb c = lit(colour(134, 138, 146), 4.0 * rough(x, y, 40, 3, 164));

    c = blend(c, landscape(x, y, t), box(x - 150, y - 116, 250, 170));
    c = blend(c, lit(colour(66, 84, 128), 15.0 * cos(x / 2.7) * cos((y + x) / 3.4)),
              box(x - 430, y - 230, 210, 300));
    c = blend(c, lit(colour(178, 182, 188), 3.0 * rough(x, y, 7, 2, 165)),
              box(x - 150, y - 330, 320, 90));
    c = blend(c, lit(colour(120, 64, 60), 12.0 * rough(px, py, 6, 3, 166)),
              ellipse(px, py - 185, 118, 110));
    c = blend(c, lit(colour(84, 58, 40), 14.0 * value(px * 2.0, py, 5, 167)),
              ellipse(px, py + 16, 52, 62));
    c = blend(c, lit(colour(208, 164, 138), 5.0 * rough(px, py, 9, 3, 168)),
              ellipse(px - 5.0 * sin(0.09 * t), py, 41, 54));
    c = blend(c, colour(232, 228, 218), box(px + 62, cup_y, 28, 36));
    for (int i = 0; i < 3; i++)
        c.v[i] = fmin(c.v[i] * gain[i], 255.0);
    return c;
}
