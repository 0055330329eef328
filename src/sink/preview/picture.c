#include "sink/preview/picture.h"

#include <errno.h>
#include <string.h>

#include "sink/preview/map.h"

enum { BEFORE, AFTER };

/* SDL has textures for the common layouts, but none of 4:2:2 in planes, 4:4:4, grey or 16 bits, and
 * no conversion for full-range BT.709, BT.2020 and limited R'G'B'. */
void preview_picture_adapt(struct frame *f)
{
    if (f->format == FRAME_GREY || f->format == FRAME_GREY16 || f->format == FRAME_I420_16)
        f->format = FRAME_I420;
    else if (f->colour.matrix == COLOUR_RGB)
        f->format = FRAME_RGB24;
    else if (f->format == FRAME_I422 || f->format == FRAME_I444 || f->format == FRAME_I422_16 ||
             f->format == FRAME_I444_16)
        f->format = FRAME_YUYV;
    if (f->format == FRAME_RGB24)
        f->colour.range = COLOUR_FULL;
    else if (f->colour.range == COLOUR_FULL)
        f->colour.matrix = COLOUR_BT601;
    else if (f->colour.matrix == COLOUR_BT2020)
        f->colour.matrix = COLOUR_BT709;
}

static Uint32 texture_format(enum frame_format format)
{
    switch (format) {
    case FRAME_YUYV:
        return SDL_PIXELFORMAT_YUY2;
    case FRAME_UYVY:
        return SDL_PIXELFORMAT_UYVY;
    case FRAME_NV12:
        return SDL_PIXELFORMAT_NV12;
    case FRAME_RGB24:
        return SDL_PIXELFORMAT_RGB24;
    default:
        return SDL_PIXELFORMAT_IYUV;
    }
}

static SDL_YUV_CONVERSION_MODE conversion_mode(struct colour c)
{
    if (c.range == COLOUR_FULL)
        return SDL_YUV_CONVERSION_JPEG;
    return c.matrix == COLOUR_BT709 ? SDL_YUV_CONVERSION_BT709 : SDL_YUV_CONVERSION_BT601;
}

int preview_picture_open(struct preview_picture *p, SDL_Renderer *renderer,
                         const struct frame *like, struct error *err)
{
    memset(p, 0, sizeof(*p));
    p->renderer = renderer;
    p->width = like->width;
    p->height = like->height;
    SDL_SetYUVConversionMode(conversion_mode(like->colour));
    p->map = SDL_CreateTexture(renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STREAMING,
                               frame_count_columns(like), frame_count_rows(like));
    if (p->map)
        (void)SDL_SetTextureBlendMode(p->map, SDL_BLENDMODE_BLEND);
    for (int i = 0; i < 2; i++) {
        p->texture[i] = SDL_CreateTexture(renderer, texture_format(like->format),
                                          SDL_TEXTUREACCESS_STREAMING, like->width, like->height);
        if (!p->texture[i])
            return error_set(err, -ENODEV, "preview window: cannot show pictures of %dx%d: %s",
                             like->width, like->height, SDL_GetError());
    }
    return 0;
}

void preview_picture_close(struct preview_picture *p)
{
    for (int i = 0; i < 2; i++)
        if (p->texture[i])
            SDL_DestroyTexture(p->texture[i]);
    if (p->map)
        SDL_DestroyTexture(p->map);
}

void preview_picture_set(struct preview_picture *p, const struct frame *before,
                         const struct frame *after)
{
    p->frame[BEFORE] = before;
    p->frame[AFTER] = after;
    p->stale[BEFORE] = p->stale[AFTER] = true;
    p->map_most = 0;
}

static void upload(SDL_Texture *t, const struct frame *f)
{
    const int pitch[3] = {(int)f->stride[0], (int)f->stride[1], (int)f->stride[2]};

    switch (f->format) {
    case FRAME_I420:
        (void)SDL_UpdateYUVTexture(t, NULL, f->plane[0], pitch[0], f->plane[1], pitch[1],
                                   f->plane[2], pitch[2]);
        break;
    case FRAME_NV12:
        (void)SDL_UpdateNVTexture(t, NULL, f->plane[0], pitch[0], f->plane[1], pitch[1]);
        break;
    default:
        (void)SDL_UpdateTexture(t, NULL, f->plane[0], pitch[0]);
    }
}

static void upload_map(SDL_Texture *t, const struct frame *f, int most)
{
    uint32_t palette[256];
    void *pixels;
    int pitch;

    if (SDL_LockTexture(t, NULL, &pixels, &pitch))
        return;
    preview_map_palette(palette, most);
    preview_map_render(f, palette, pixels, (size_t)pitch / sizeof(*palette));
    SDL_UnlockTexture(t);
}

/* Lays the map on the columns from @x0 to @x1 of the window. Its last blocks may reach past the
 * picture. */
static void draw_map(struct preview_picture *p, int most, bool mirror, SDL_Rect at, int x0, int x1)
{
    const struct frame *const f = p->frame[AFTER];
    const SDL_Rect clip = {x0, at.y, x1 - x0, at.h};
    SDL_Rect to = {at.x, at.y, at.w * FRAME_COUNT_BLOCK * frame_count_columns(f) / f->width,
                   at.h * FRAME_COUNT_BLOCK * frame_count_rows(f) / f->height};

    if (x1 <= x0 || !p->map)
        return;
    if (p->map_most != most)
        upload_map(p->map, f, most);
    p->map_most = most;
    if (mirror)
        to.x = at.x + at.w - to.w;
    (void)SDL_RenderSetClipRect(p->renderer, &clip);
    (void)SDL_RenderCopyEx(p->renderer, p->map, NULL, &to, 0.0, NULL,
                           mirror ? SDL_FLIP_HORIZONTAL : SDL_FLIP_NONE);
    (void)SDL_RenderSetClipRect(p->renderer, NULL);
}

/* Draws picture @i between the columns @x0 and @x1 of the window. Only what is seen is uploaded.
 * Both are drawn whole and clipped, so that they match to the pixel whatever the zoom. */
static void draw_part(struct preview_picture *p, int i, bool mirror, SDL_Rect at, int x0, int x1)
{
    const SDL_Rect clip = {x0, at.y, x1 - x0, at.h};

    if (x1 <= x0)
        return;
    if (!p->frame[BEFORE])
        i = AFTER;
    if (p->stale[i])
        upload(p->texture[i], p->frame[i]);
    p->stale[i] = false;
    (void)SDL_RenderSetClipRect(p->renderer, &clip);
    if (mirror)
        (void)SDL_RenderCopyEx(p->renderer, p->texture[i], NULL, &at, 0.0, NULL,
                               SDL_FLIP_HORIZONTAL);
    else
        (void)SDL_RenderCopy(p->renderer, p->texture[i], NULL, &at);
    (void)SDL_RenderSetClipRect(p->renderer, NULL);
}

void preview_picture_draw(struct preview_picture *p, const struct preview_ui *ui, SDL_Rect at,
                          int line)
{
    const int left = at.x, right = at.x + at.w;
    const bool mirror = ui->mirror && p->frame[BEFORE]; /* the card is for reading */

    if (!p->frame[AFTER])
        return;
    if (ui->view == VIEW_FILTERED)
        line = left;
    else if (ui->view == VIEW_UNFILTERED)
        line = right;
    draw_part(p, BEFORE, mirror, at, left, line);
    draw_part(p, AFTER, mirror, at, line, right);
    if (ui->map && ui->counted)
        draw_map(p, ui->most, mirror, at, line, right);
}
