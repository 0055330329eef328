#include "sink/preview/paint.h"

#include <stdlib.h>
#include <string.h>

#include "picture/font.h"

#define COLUMNS 16
#define ROWS ((FONT_COUNT + 1 + COLUMNS - 1) / COLUMNS)
#define DISC FONT_COUNT /* the atlas's last cell holds a disc, for round corners */
#define DISC_SIZE 12

static SDL_Rect cell(const struct paint *p, int index)
{
    const int w = FONT_CELL_WIDTH * p->scale, h = FONT_CELL_HEIGHT * p->scale;

    return (SDL_Rect){index % COLUMNS * w, index / COLUMNS * h, w, h};
}

static void render_disc(int scale, uint8_t *out, size_t stride)
{
    const double radius = DISC_SIZE * scale / 2.0;

    for (int y = 0; y < DISC_SIZE * scale; y++)
        for (int x = 0; x < DISC_SIZE * scale; x++) {
            const double d = SDL_sqrt((x + 0.5 - radius) * (x + 0.5 - radius) +
                                      (y + 0.5 - radius) * (y + 0.5 - radius));
            const double ink = radius - d + 0.5;

            out[(size_t)y * stride + (size_t)x] = (uint8_t)(255.0 * (ink < 0.0   ? 0.0
                                                                     : ink > 1.0 ? 1.0
                                                                                 : ink) +
                                                            0.5);
        }
}

/* White pixels, of which the ink is the alpha. */
static void render_atlas(const struct paint *p, uint32_t *argb, uint8_t *ink, size_t stride)
{
    const size_t n = stride * (size_t)(ROWS * FONT_CELL_HEIGHT * p->scale);

    for (int i = 0; i <= DISC; i++) {
        const SDL_Rect at = cell(p, i);
        uint8_t *const out = ink + (size_t)at.y * stride + (size_t)at.x;

        if (i == DISC)
            render_disc(p->scale, out, stride);
        else
            font_render(FONT_FIRST + i, p->scale, out, stride);
    }
    for (size_t i = 0; i < n; i++)
        argb[i] = (uint32_t)ink[i] << 24 | 0xffffffu;
}

static SDL_Texture *make_atlas(const struct paint *p)
{
    const int w = COLUMNS * FONT_CELL_WIDTH * p->scale, h = ROWS * FONT_CELL_HEIGHT * p->scale;
    uint32_t *argb = calloc((size_t)w * (size_t)h, sizeof(*argb));
    uint8_t *ink = calloc((size_t)w, (size_t)h);
    SDL_Texture *t = NULL;

    if (argb && ink)
        t = SDL_CreateTexture(p->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STATIC, w,
                              h);
    if (t) {
        render_atlas(p, argb, ink, (size_t)w);
        (void)SDL_UpdateTexture(t, NULL, argb, w * 4);
        (void)SDL_SetTextureBlendMode(t, SDL_BLENDMODE_BLEND);
        (void)SDL_SetTextureScaleMode(t, SDL_ScaleModeNearest);
    }
    free(argb);
    free(ink);
    return t;
}

bool paint_begin(struct paint *p, SDL_Renderer *renderer, int width, int height, int scale)
{
    p->renderer = renderer;
    p->scale = scale < 1 ? 1 : scale > PAINT_MAX_SCALE ? PAINT_MAX_SCALE : scale;
    p->width = width / p->scale;
    p->height = height / p->scale;
    p->alpha = 1.0;
    (void)SDL_SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_BLEND);
    if (p->atlas && p->atlas_scale == p->scale)
        return true;
    paint_finish(p);
    p->atlas = make_atlas(p);
    p->atlas_scale = p->scale;
    return p->atlas != NULL;
}

void paint_finish(struct paint *p)
{
    if (p->atlas)
        SDL_DestroyTexture(p->atlas);
    p->atlas = NULL;
}

static Uint8 faded(const struct paint *p, Uint8 alpha)
{
    return (Uint8)(alpha * p->alpha + 0.5);
}

static SDL_Rect scaled(const struct paint *p, struct paint_box b)
{
    return (SDL_Rect){b.x * p->scale, b.y * p->scale, b.w * p->scale, b.h * p->scale};
}

void paint_fill(struct paint *p, SDL_Color color, struct paint_box box)
{
    const SDL_Rect r = scaled(p, box);

    (void)SDL_SetRenderDrawColor(p->renderer, color.r, color.g, color.b, faded(p, color.a));
    (void)SDL_RenderFillRect(p->renderer, &r);
}

static void set_ink(struct paint *p, SDL_Color color)
{
    (void)SDL_SetTextureColorMod(p->atlas, color.r, color.g, color.b);
    (void)SDL_SetTextureAlphaMod(p->atlas, faded(p, color.a));
}

void paint_panel(struct paint *p, SDL_Color color, struct paint_box box)
{
    const int r = DISC_SIZE / 2;

    set_ink(p, color);
    for (int i = 0; i < 4; i++) {
        const int right = i & 1, low = i >> 1;
        const SDL_Rect disc = cell(p, DISC);
        const SDL_Rect from = {disc.x + right * r * p->scale, disc.y + low * r * p->scale,
                               r * p->scale, r * p->scale};
        const SDL_Rect to = scaled(p, (struct paint_box){right ? box.x + box.w - r : box.x,
                                                         low ? box.y + box.h - r : box.y, r, r});

        (void)SDL_RenderCopy(p->renderer, p->atlas, &from, &to);
    }
    paint_fill(p, color, (struct paint_box){box.x + r, box.y, box.w - 2 * r, r});
    paint_fill(p, color, (struct paint_box){box.x, box.y + r, box.w, box.h - 2 * r});
    paint_fill(p, color, (struct paint_box){box.x + r, box.y + box.h - r, box.w - 2 * r, r});
}

/* The letter for the byte @c of UTF-8 text, or 0 within a character. */
static int letter(unsigned char c)
{
    if (c >= FONT_FIRST && c <= FONT_LAST)
        return c;
    return (c & 0xc0) == 0x80 ? 0 : '?';
}

void paint_text(struct paint *p, SDL_Color color, int x, int y, const char *text, size_t max)
{
    set_ink(p, color);
    for (size_t i = 0; i < max && text[i]; i++) {
        const int c = letter((unsigned char)text[i]);
        const SDL_Rect to = scaled(p, (struct paint_box){x, y, FONT_CELL_WIDTH, FONT_CELL_HEIGHT});
        SDL_Rect from;

        if (!c)
            continue;
        from = cell(p, c - FONT_FIRST);
        if (c != ' ')
            (void)SDL_RenderCopy(p->renderer, p->atlas, &from, &to);
        x += font_advance(c);
    }
}

int paint_text_width(const char *text, size_t max)
{
    int width = 0;

    for (size_t i = 0; i < max && text[i]; i++) {
        const int c = letter((unsigned char)text[i]);

        width += c ? font_advance(c) : 0;
    }
    return width;
}

size_t paint_text_fit(const char *text, size_t max, int width)
{
    size_t n = 0;

    while (n < max && text[n] && paint_text_width(text, n + 1) <= width)
        n++;
    return n;
}
