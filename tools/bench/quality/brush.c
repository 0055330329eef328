#include "tools/bench/quality/brush.h"

#include <math.h>

double hash(int x, int y, uint32_t salt)
{
    uint32_t h = (uint32_t)x * 0x9E3779B1u ^ (uint32_t)y * 0x85EBCA77u ^ salt * 0xC2B2AE3Du;

    h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
    h = (h ^ (h >> 12)) * 0x297A2D39u;
    return (double)(h ^ (h >> 15)) / 2147483648.0 - 1.0;
}

double value(double x, double y, double cell, uint32_t salt)
{
    const double u = x / cell, v = y / cell;
    const int iu = (int)floor(u), iv = (int)floor(v);
    const double fu = (u - iu) * (u - iu) * (3.0 - 2.0 * (u - iu));
    const double fv = (v - iv) * (v - iv) * (3.0 - 2.0 * (v - iv));
    const double top = hash(iu, iv, salt) * (1.0 - fu) + hash(iu + 1, iv, salt) * fu;
    const double low = hash(iu, iv + 1, salt) * (1.0 - fu) + hash(iu + 1, iv + 1, salt) * fu;

    return top * (1.0 - fv) + low * fv;
}

double rough(double x, double y, double cell, int octaves, uint32_t salt)
{
    double sum = 0.0, size = 1.0;

    for (int i = 0; i < octaves; i++, cell /= 2.0, size *= 0.6)
        sum += size * value(x, y, cell, salt + (uint32_t)i);
    return sum;
}

struct rgb colour(double r, double g, double b)
{
    return (struct rgb){{r, g, b}};
}

struct rgb lit(struct rgb c, double by)
{
    for (int i = 0; i < 3; i++)
        c.v[i] += by;
    return c;
}

struct rgb blend(struct rgb a, struct rgb b, double part)
{
    for (int i = 0; i < 3; i++)
        a.v[i] += part * (b.v[i] - a.v[i]);
    return a;
}

double ellipse(double x, double y, double rx, double ry)
{
    const double d = (1.0 - hypot(x / rx, y / ry)) * fmin(rx, ry);

    return fmin(fmax(d / 1.5 + 0.5, 0.0), 1.0);
}

double box(double x, double y, double w, double h)
{
    const double dx = w / 2 - fabs(x), dy = h / 2 - fabs(y);

    return fmin(fmax(fmin(dx, dy) + 0.5, 0.0), 1.0);
}

struct rgb head(struct rgb c, double x, double y)
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
