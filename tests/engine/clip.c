#include "tests/engine/clip.h"

#include <math.h>
#include <string.h>

#include "filter/noise_follow.h"

const char *const clip_contents[CONTENT_N] = {"still", "pan",   "object", "light", "tint",
                                              "image", "shake", "stage",  "drawn", "beside"};

static double draw_noise(uint64_t *seed, double sigma)
{
    double sum = 0.0;

    for (int i = 0; i < 4; i++)
        sum += (double)(random_next(seed) % 65536) / 65536.0 - 0.5;
    return sigma * sum * sqrt(3.0);
}

/* A smooth texture. */
static double texture(double x, double y, int component)
{
    const double k = component ? 0.5 : 1.0;

    return 120.0 + 20.0 * component +
           k * (45.0 * sin(0.23 * x + 0.11 * y + component) + 35.0 * sin(0.61 * y - 0.17 * x) +
                12.0 * sin(1.3 * x + 0.9 * y));
}

/* A texture with something that moves, in light that changes its colour. */
static double tinted(const struct clip *c, int t, int component, double x, double y)
{
    static const double tint[3][3] = {{0.0, 0.0, 0.0}, {-0.1, 0.12, -0.08}, {0.05, -0.03, 0.2}};
    const double left = c->shape.width / 4.0 + t * c->speed[0];
    const double dark = c->shape.colour.range == COLOUR_LIMITED ? 16.0 : 0.0;
    const double own = x > left && x < left + 20.0 ? 40.0 : 0.0;
    const double luma = texture(x, y, 0) - own - dark;
    const double level = component ? texture(x, y, component) + own : luma + dark;

    return level + tint[t / 3 % 3][component] * luma;
}

static double level_at(const struct clip *c, int t, int component, double x, double y)
{
    const double moved_x = x - t * c->speed[0], moved_y = y - t * c->speed[1];
    const double left = c->shape.width / 4.0, top = c->shape.height / 4.0;
    const double dark = component ? 128.0 : 16.0;

    switch (c->content) {
    case CONTENT_PAN:
        return texture(moved_x, moved_y, component);
    case CONTENT_OBJECT:
    case CONTENT_BESIDE:
        if (moved_x > left && moved_x < 3 * left && moved_y > top && moved_y < 3 * top)
            return 255.0 - texture(2.0 * moved_x, moved_y, component);
        return texture(x, y, component);
    case CONTENT_STAGE:
        if (moved_x > left && 2 * moved_x < 5 * left && moved_y > top && 2 * moved_y < 5 * top)
            return texture(2.0 * moved_x, moved_y, component);
        return component || c->speed[0] > 0.0 ? dark : 250.0;
    case CONTENT_DRAWN:
        if (moved_x > left && moved_x < 3 * left && moved_y > top && moved_y < 3 * top)
            return 180.0;
        return 100.0 + (component ? 0.0 : 8.0 * (((int)x + (int)y + t) % 2));
    case CONTENT_LIGHT:
        return dark + (texture(x, y, component) - dark) * (1.0 + 0.02 * t);
    case CONTENT_TINT:
        return tinted(c, t, component, x, y);
    default:
        return texture(x, y, component);
    }
}

static uint8_t *at(const struct samples *s, int x, int y)
{
    return &s->base[(size_t)y * s->stride + (size_t)x * (size_t)s->step];
}

static void set_level(const struct frame *f, uint8_t *sample, double level)
{
    if (format_table[f->format].bytes == 1)
        *sample = (uint8_t)fmin(fmax(level, 0.0), 255.0);
    else
        memcpy(sample, &(uint16_t){(uint16_t)fmin(fmax(256.0 * level, 0.0), 65535.0)}, 2);
}

static void add_noise(const struct clip *c, struct frame *f, uint64_t seed)
{
    for (int i = 0; i < format_table[f->format].components; i++) {
        const struct samples s = frame_samples(f, i);
        uint64_t above = seed;
        double noise = 0.0;

        for (int y = 0; y < s.height; y++) {
            if (c->shared && y % 2)
                seed = above;
            above = seed;
            for (int x = 0; x < s.width; x++) {
                if (!c->shared || x % 2 == 0)
                    noise = draw_noise(&seed, c->noise);
                set_level(f, at(&s, x, y), frame_level(f, i, x, y) + noise + 0.5);
            }
        }
    }
}

/* @from, moved to the right and down; the nearest sample outside. */
static void shift(struct frame *to, const struct frame *from, int dx, int dy)
{
    for (int i = 0; i < format_table[to->format].components; i++) {
        const struct samples s = frame_samples(to, i), r = frame_samples(from, i);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++) {
                const int px = x < dx ? 0 : x - dx < s.width ? x - dx : s.width - 1;
                const int py = y < dy ? 0 : y - dy < s.height ? y - dy : s.height - 1;

                memcpy(at(&s, x, y), at(&r, px, py), format_table[to->format].bytes);
            }
    }
}

static bool is_slide(const struct clip *c, int t)
{
    return c->show && (t < 8 || t == NOISE_SHOW + 15);
}

/* Draws what no camera sees, in eighths of the picture: @luma from column @left on, down to row
 * @bottom. */
static void draw(struct frame *f, int left, int bottom, double luma)
{
    for (int i = 0; i < format_table[f->format].components; i++) {
        const struct samples s = frame_samples(f, i);

        for (int y = 0; y < s.height * bottom / 8; y++)
            for (int x = s.width * left / 8; x < s.width; x++)
                set_level(f, at(&s, x, y), i ? 128.0 : luma);
    }
}

void clip_paint(const struct clip *c, int t, struct frame *f, struct frame *scratch)
{
    if (c->content == CONTENT_IMAGE) {
        image_fill(f, (enum image_kind)((c->image + t / 3) % IMAGE_N_KINDS), c->seed);
    } else if (c->content == CONTENT_SHAKE) {
        image_fill(scratch, c->image, c->seed);
        image_fill(f, c->image, c->seed);
        shift(f, scratch, t % 3 * 3, t % 2 * 5);
    } else {
        for (int i = 0; i < format_table[f->format].components; i++) {
            const struct format_info *info = &format_table[f->format];
            const struct samples s = frame_samples(f, i);

            for (int y = 0; y < s.height; y++)
                for (int x = 0; x < s.width; x++)
                    set_level(f, at(&s, x, y),
                              level_at(c, t, i, x << (i ? info->hshift : 0),
                                       y << (i ? info->vshift : 0)));
        }
    }
    if (c->content != CONTENT_DRAWN)
        add_noise(c, f, c->seed + 1000 * (uint64_t)t);
    if (c->content == CONTENT_BESIDE)
        draw(f, 3, 8, 110.0);
    if (is_slide(c, t))
        draw(f, 0, 4, 255.0);
}

bool clip_stops(const struct clip *c, int t)
{
    return c->show && (t < 2 || t == 5 || t == NOISE_SHOW + 15 || t == NOISE_SHOW + 20);
}
