#include "source/scene.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/event.h"
#include "source/scene_draw.h"

#define UNITS 4096 /* per picture height */

struct layer {
    const struct layer_spec *spec;
    int left, top; /* at rest, pixels */
    int width, height;
    uint8_t *rgba; /* four planes */
};

struct scene {
    const struct scene_spec *spec;
    int width, height;
    int stop_fd;  /* while it is painted */
    uint8_t *rgb; /* the background, three planes */
    struct layer layer[SCENE_MAX_LAYERS];
};

const char *const scene_names[] = {"portrait", "chart", NULL};
static const struct scene_spec *const scene_specs[] = {&scene_portrait, &scene_chart};

static int to_pixels(const struct scene *s, int units)
{
    return (int)(((int64_t)units * s->height + UNITS / 2) / UNITS);
}

/* The colour of one pixel: the mean of @n x @n points in it. (@x, @y) counts from the middle of
 * the picture's upper edge. */
static struct rgba paint_pixel(const struct scene *s, struct rgba (*paint)(int x, int y), int x2,
                               int y, int n)
{
    struct rgba sum = {0};
    int half;

    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const int64_t px = (int64_t)x2 * n + 2 * i + 1; /* in 1 / (2 n) pixels */
            const int64_t py = (int64_t)y * 2 * n + 2 * j + 1;
            const struct rgba c = paint((int)(px * UNITS / (2 * n * s->height)),
                                        (int)(py * UNITS / (2 * n * s->height)));

            sum.r += c.r * c.a;
            sum.g += c.g * c.a;
            sum.b += c.b * c.a;
            sum.a += c.a;
        }
    if (!sum.a)
        return scene_nothing;
    half = sum.a / 2;
    return (struct rgba){(sum.r + half) / sum.a, (sum.g + half) / sum.a, (sum.b + half) / sum.a,
                         (sum.a + n * n / 2) / (n * n)};
}

static void paint_row(const struct scene *s, struct rgba (*paint)(int x, int y), int planes,
                      size_t plane_size, int left, int y, int width, uint8_t *p)
{
    const int n = s->height < 360 ? 3 : 2;

    for (int x = 0; x < width; x++, p++) {
        const struct rgba c = paint_pixel(s, paint, 2 * (left + x) - s->width, y, n);
        const int v[4] = {c.r, c.g, c.b, c.a};

        for (int i = 0; i < planes; i++)
            p[plane_size * (size_t)i] = (uint8_t)v[i];
    }
}

/* Paints @planes (3 or 4) planes of @width x @height pixels from (@left, @top). */
static int paint_planes(const struct scene *s, struct rgba (*paint)(int x, int y), int planes,
                        int left, int top, int width, int height, uint8_t **ret)
{
    const size_t size = (size_t)width * (size_t)height;
    uint8_t *memory = malloc(size * (size_t)planes);

    if (!memory)
        return -ENOMEM;
    for (int y = 0; y < height; y++) {
        if (event_rung(s->stop_fd)) {
            free(memory);
            return -ECANCELED;
        }
        paint_row(s, paint, planes, size, left, top + y, width, memory + (size_t)y * (size_t)width);
    }
    *ret = memory;
    return 0;
}

static int paint_layer(struct scene *s, struct layer *l, const struct layer_spec *spec)
{
    l->spec = spec;
    l->left = s->width / 2 + to_pixels(s, spec->left);
    l->top = to_pixels(s, spec->top);
    l->width = to_pixels(s, spec->right - spec->left) + 1;
    l->height = to_pixels(s, spec->bottom - spec->top) + 1;
    return paint_planes(s, spec->paint, 4, l->left, l->top, l->width, l->height, &l->rgba);
}

int scene_create(struct scene **ret, int index, int width, int height, int stop_fd)
{
    struct scene *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return -ENOMEM;
    s->spec = scene_specs[index];
    s->width = width;
    s->height = height;
    s->stop_fd = stop_fd;
    r = paint_planes(s, s->spec->background, 3, 0, 0, width, height, &s->rgb);
    for (int i = 0; !r && i < s->spec->n_layers; i++)
        r = paint_layer(s, &s->layer[i], &s->spec->layer[i]);
    if (r) {
        scene_destroy(s);
        return r;
    }
    *ret = s;
    return 0;
}

void scene_destroy(struct scene *s)
{
    if (!s)
        return;
    for (int i = 0; i < SCENE_MAX_LAYERS; i++)
        free(s->layer[i].rgba);
    free(s->rgb);
    free(s);
}

/* A sway there and back of amplitude @units at frame @seq, in pixels: two parabolas, which are
 * near enough to a sine. */
static int sway(const struct scene *s, int units, int period, uint64_t seq)
{
    const int64_t phase = period ? (int64_t)(seq % (uint64_t)period) * 65536 / period : 0;
    const int64_t t = phase & 32767;
    const int64_t wave = 4 * t * (32768 - t) / 32768; /* 0..32768 */
    const int64_t pixels = (units * wave * s->height + UNITS * 16384LL) / (UNITS * 32768LL);

    return (int)(phase < 32768 ? pixels : -pixels);
}

static void blend(uint8_t *restrict below, const uint8_t *restrict above,
                  const uint8_t *restrict alpha, int n)
{
    for (int i = 0; i < n; i++) {
        const uint16_t a = alpha[i];
        const uint16_t t = (uint16_t)(below[i] * (255 - a) + above[i] * a + 128);

        below[i] = (uint8_t)((uint16_t)(t + (t >> 8)) >> 8); /* t / 255, rounded */
    }
}

static void layer_row(const struct scene *s, const struct layer *l, uint64_t seq, int x, int y,
                      int n, uint8_t *const rgb[3])
{
    const struct layer_spec *spec = l->spec;
    const size_t size = (size_t)l->width * (size_t)l->height;
    const int left = l->left + sway(s, spec->sway_x, spec->period_x, seq);
    const int row = y - l->top - sway(s, spec->sway_y, spec->period_y, seq);
    const int from = x > left ? x : left;
    const int to = x + n < left + l->width ? x + n : left + l->width;
    const uint8_t *p;

    if (row < 0 || row >= l->height || from >= to)
        return;
    p = l->rgba + (size_t)row * (size_t)l->width + (from - left);
    for (int c = 0; c < 3; c++)
        blend(rgb[c] + (from - x), p + size * (size_t)c, p + size * 3, to - from);
}

static bool layer_shows(const struct layer_spec *spec, uint64_t seq)
{
    return !spec->shows_every ||
           seq % (uint64_t)spec->shows_every >= (uint64_t)(spec->shows_every - spec->shows_for);
}

void scene_row(const struct scene *s, uint64_t seq, int x, int y, int n, uint8_t *const rgb[3])
{
    const size_t size = (size_t)s->width * (size_t)s->height;
    const uint8_t *p = s->rgb + (size_t)y * (size_t)s->width + x;

    for (int c = 0; c < 3; c++)
        memcpy(rgb[c], p + size * (size_t)c, (size_t)n);
    for (int i = 0; i < s->spec->n_layers; i++)
        if (layer_shows(&s->spec->layer[i], seq))
            layer_row(s, &s->layer[i], seq, x, y, n, rgb);
}
