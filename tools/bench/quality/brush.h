#pragma once
/* What clips are painted with. Distances are in pixels. Context: pure functions. */
#include <stdint.h>

struct rgb {
    double v[3]; /* R', G', B' on a scale of 0..255, which they may leave */
};

/* A random number of a place, -1..1. */
double hash(int x, int y, uint32_t salt);

/* Smooth random values, -1..1, one to a cell; and the sum of some, each of cells half as large. */
double value(double x, double y, double cell, uint32_t salt);
double rough(double x, double y, double cell, int octaves, uint32_t salt);

struct rgb colour(double r, double g, double b);
struct rgb lit(struct rgb c, double by);
struct rgb blend(struct rgb a, struct rgb b, double part);

/* Around 0, 0: 1 inside, 0 outside, soft over a pixel or two. */
double ellipse(double x, double y, double rx, double ry);
double box(double x, double y, double w, double h);

/* A head and shoulders about 0, 0 over @c. */
struct rgb head(struct rgb c, double x, double y);
