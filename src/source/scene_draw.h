#pragma once
/* What the painters of scenes share: their description and a few brushes.
 *
 * A painter is a function from a point to a colour. Points are in units of 1/4096 of the
 * picture's height, x = 0 in the middle, y = 0 at the top, so that one description serves
 * every size and shape of picture. */
#include <stdint.h>

#define SCENE_MAX_LAYERS 4

struct rgba {
    int r, g, b, a; /* 0..255 */
};

struct layer_spec {
    struct rgba (*paint)(int x, int y);
    int left, top, right, bottom; /* what it covers at rest, in units */
    int sway_x, sway_y;           /* how far it moves to each side, in units */
    int period_x, period_y;       /* frames that one sway takes there and back */
    int shows_every, shows_for;   /* frames; 0 = seen always */
};

struct scene_spec {
    struct rgba (*background)(int x, int y);
    struct layer_spec layer[SCENE_MAX_LAYERS];
    int n_layers;
};

extern const struct scene_spec scene_portrait;
extern const struct scene_spec scene_chart;

static const struct rgba scene_nothing;

static inline int scene_clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

/* Division that rounds down, so that patterns go through zero without a seam. */
static inline int scene_floor_div(int a, int b)
{
    return a / b - (a % b < 0);
}

static inline uint32_t scene_hash(int x, int y, uint32_t salt)
{
    uint32_t h = (uint32_t)x * 0x9E3779B1u ^ (uint32_t)y * 0x85EBCA77u ^ salt * 0xC2B2AE3Du;

    h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
    h = (h ^ (h >> 12)) * 0x297A2D39u;
    return h ^ (h >> 15);
}

/* Smooth random texture, -128..127, with features of about @cell_x by @cell_y units. */
static inline int scene_texture(int x, int y, int cell_x, int cell_y, uint32_t salt)
{
    const int cx = scene_floor_div(x, cell_x), cy = scene_floor_div(y, cell_y);
    int fx = (x - cx * cell_x) * 256 / cell_x, fy = (y - cy * cell_y) * 256 / cell_y;
    int v[4], top, bottom;

    fx = fx * fx * (768 - 2 * fx) >> 16;
    fy = fy * fy * (768 - 2 * fy) >> 16;
    for (int i = 0; i < 4; i++)
        v[i] = (int)(scene_hash(cx + (i & 1), cy + (i >> 1), salt) >> 24) - 128;
    top = v[0] * (256 - fx) + v[1] * fx;
    bottom = v[2] * (256 - fx) + v[3] * fx;
    return (top / 256 * (256 - fy) + bottom / 256 * fy) / 256;
}

/* How far (x, y) is out of the middle of an ellipse, squared: below 4096 is inside. */
static inline int scene_ellipse(int x, int y, int cx, int cy, int rx, int ry)
{
    const int64_t dx = x - cx, dy = y - cy;
    const int64_t f = dx * dx * 4096 / ((int64_t)rx * rx) + dy * dy * 4096 / ((int64_t)ry * ry);

    return f < INT32_MAX ? (int)f : INT32_MAX;
}

/* @c made brighter or darker, @k / 256. */
static inline struct rgba scene_shade(struct rgba c, int k)
{
    return (struct rgba){scene_clamp(c.r * k / 256, 0, 255), scene_clamp(c.g * k / 256, 0, 255),
                         scene_clamp(c.b * k / 256, 0, 255), c.a};
}

/* From @c (0) to @d (256). */
static inline struct rgba scene_mix(struct rgba c, struct rgba d, int t)
{
    return (struct rgba){c.r + (d.r - c.r) * t / 256, c.g + (d.g - c.g) * t / 256,
                         c.b + (d.b - c.b) * t / 256, c.a + (d.a - c.a) * t / 256};
}

/* Lays @d over @c where an ellipse is, strongest (@t / 256) in the middle, fading outwards. */
static inline struct rgba scene_glow(struct rgba c, struct rgba d, int t, int ellipse)
{
    return ellipse < 4096 ? scene_mix(c, d, t * (4096 - ellipse) / 4096) : c;
}
