#include "tests/engine/time/film.h"

#include "tests/lib/unit.h"

#include <math.h>

#include "picture/colour.h"
#include "tests/lib/images.h"

void film_open(struct film *f, enum frame_format format, int frames)
{
    film_open_sized(f, format, WIDTH, HEIGHT, frames);
}

void film_open_sized(struct film *f, enum frame_format format, int width, int height, int frames)
{
    *f = (struct film){.seed = 7, .frames = frames};
    f->frame = (struct frame){.format = format, .width = width, .height = height};
    assert_int_equal(frame_alloc(&f->frame), 0);
    assert_int_equal(average_create(&f->average), 0);
}

void film_close(struct film *f)
{
    frame_free(&f->frame);
    average_destroy(f->average);
}

uint8_t *film_at(const struct frame *f, int component, int x, int y)
{
    const struct samples s = frame_samples(f, component);

    return &s.base[(size_t)y * s.stride + (size_t)x * (size_t)s.step];
}

/* Of squares of 4x4 samples, no two alike nearby; to both sides of 0. */
static int texture(int x, int y)
{
    return 4 * ((x / 4 * 7 + y / 4 * 5 + x / 4 * (y / 4) * 3) % 13 - 6);
}

double film_clean(const struct film *f, int c, int x, int y)
{
    const struct format_info *info = &format_table[f->frame.format];
    const int zero = colour_zero(f->frame.colour, c);
    const int from = x + 100 - f->right; /* above 0, for divisions */
    const int stripe = zero + (from / 8 % 2 ? f->stripes : -f->stripes);
    const int shade = 50 + from / 2 + y / 3 + (f->right && !c ? texture(from, y) : 0);
    const int level = c == 1 && f->stripes ? stripe : shade;
    double ret = zero + (level - zero) * (1.0 + f->brighter / 100.0);

    if (c == 1)
        ret += f->bluer;
    if (c == 1 && f->tint)
        ret += f->tint / 100.0 *
               (film_clean(f, 0, x << info->hshift, y << info->vshift) -
                colour_zero(f->frame.colour, 0));
    return ret;
}

void film_paint_component(struct film *f, int c, int noise, int light)
{
    const struct samples s = frame_samples(&f->frame, c);

    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++)
            *film_at(&f->frame, c, x, y) =
                (uint8_t)((int)(film_clean(f, c, x, y) + 0.5) + (c ? 0 : light) +
                          (noise ? (int)(random_next(&f->seed) % (uint64_t)(2 * noise + 1)) - noise
                                 : 0));
}

void film_paint(struct film *f, int noise, int light)
{
    for (int c = 0; c < format_table[f->frame.format].components; c++)
        film_paint_component(f, c, noise, light);
}

void film_add(struct film *f)
{
    assert_int_equal(average_add(f->average, &f->frame, f->frames, !f->no_search), 0);
}

double film_count(const struct film *f)
{
    double sum = 0.0;

    for (int y = 0; y < f->frame.height; y++)
        for (int x = 0; x < f->frame.width; x++)
            sum += average_count(f->average, x, y);
    return sum / (f->frame.width * f->frame.height);
}

double film_rms(const struct film *f, int component, int light)
{
    const struct samples s = frame_samples(&f->frame, component);
    double sum = 0.0;

    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++)
            sum += pow(average_level(f->average, component, x, y) - film_clean(f, component, x, y) -
                           (component ? 0 : light),
                       2.0);
    return sqrt(sum / (s.width * s.height));
}

void film_run(struct film *f, int n)
{
    for (int t = 0; t < n; t++) {
        film_paint(f, 6, 0);
        film_add(f);
    }
    assert_true(film_count(f) > 1.5);
}
