#include "preview_window.h"

#include <SDL.h>
#include <errno.h>
#include <stdlib.h>

struct preview_window {
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    Uint32 wake_event;
    bool have_picture;
    bool visible;
};

/* SDL has textures for the common layouts, but none of 4:2:2 in planes, 4:4:4 or grey, and no
 * conversion for full-range BT.709. */
void preview_window_adapt(struct frame *f)
{
    if (f->format == FRAME_GREY)
        f->format = FRAME_I420;
    else if (f->format == FRAME_I422 || f->format == FRAME_I444)
        f->format = FRAME_YUYV;
    if (f->colour.range == COLOUR_FULL)
        f->colour.matrix = COLOUR_BT601;
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

/* A size for the window: the picture's, or as large as fits comfortably on the screen. */
static void choose_size(const struct frame *picture, int *width, int *height)
{
    SDL_Rect screen;
    double scale = 1.0;

    if (!SDL_GetDisplayUsableBounds(0, &screen)) {
        const double fit_w = screen.w * 0.9 / picture->width;
        const double fit_h = screen.h * 0.9 / picture->height;

        scale = fit_w < fit_h ? fit_w : fit_h;
    }
    if (scale > 1.0)
        scale = 1.0;
    *width = (int)(picture->width * scale);
    *height = (int)(picture->height * scale);
    if (*width < 1)
        *width = 1;
    if (*height < 1)
        *height = 1;
}

/* An environment variable, or NULL where it is empty. */
static const char *setting(const char *name)
{
    const char *const value = getenv(name);

    return value && *value ? value : NULL;
}

/* SDL left to itself would go on to drivers that take over a text console, or that show nothing
 * anywhere. */
static int start_driver(const char *name)
{
    (void)SDL_SetHint(SDL_HINT_VIDEODRIVER, name);
    return SDL_Init(SDL_INIT_VIDEO);
}

static int start_video(struct error *err)
{
    const char *const forced = setting("SDL_VIDEODRIVER");
    const bool x11 = setting("DISPLAY"), wayland = setting("WAYLAND_DISPLAY");
    int r = -1;

    if (!x11 && !wayland && !forced)
        return error_set(err, -ENODEV,
                         "preview window: no display (neither DISPLAY nor WAYLAND_DISPLAY is set)");
    (void)SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    (void)SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
    (void)SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    (void)SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    if (forced)
        r = start_driver(forced);
    if (!forced && x11)
        r = start_driver("x11");
    if (!forced && r && wayland)
        r = start_driver("wayland");
    if (r)
        return error_set(err, -ENODEV, "preview window: no display (%s)", SDL_GetError());
    SDL_StopTextInput(); /* keys are commands here: no input method is wanted */
    return 0;
}

static int make_window(struct preview_window *w, const struct frame *picture, struct error *err)
{
    int width, height;

    choose_size(picture, &width, &height);
    w->wake_event = SDL_RegisterEvents(1);
    w->window = SDL_CreateWindow("bilatcam", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, width,
                                 height, SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
    if (!w->window)
        return error_set(err, -ENODEV, "preview window: cannot open it: %s", SDL_GetError());
    w->renderer = SDL_CreateRenderer(w->window, -1, SDL_RENDERER_PRESENTVSYNC);
    if (!w->renderer)
        w->renderer = SDL_CreateRenderer(w->window, -1, 0);
    if (!w->renderer)
        return error_set(err, -ENODEV, "preview window: cannot draw in it: %s", SDL_GetError());
    SDL_SetYUVConversionMode(conversion_mode(picture->colour));
    w->texture = SDL_CreateTexture(w->renderer, texture_format(picture->format),
                                   SDL_TEXTUREACCESS_STREAMING, picture->width, picture->height);
    if (!w->texture || SDL_RenderSetLogicalSize(w->renderer, picture->width, picture->height))
        return error_set(err, -ENODEV, "preview window: cannot show pictures of %dx%d: %s",
                         picture->width, picture->height, SDL_GetError());
    w->visible = true;
    return 0;
}

int preview_window_open(struct preview_window **ret, const struct frame *picture, struct error *err)
{
    struct preview_window *w = calloc(1, sizeof(*w));
    int r;

    if (!w)
        return error_set(err, -ENOMEM, "preview window: out of memory");
    r = start_video(err);
    if (!r)
        r = make_window(w, picture, err);
    if (r) {
        preview_window_close(w);
        return r;
    }
    *ret = w;
    return 0;
}

void preview_window_close(struct preview_window *w)
{
    if (!w)
        return;
    if (w->texture)
        SDL_DestroyTexture(w->texture);
    if (w->renderer)
        SDL_DestroyRenderer(w->renderer);
    if (w->window)
        SDL_DestroyWindow(w->window);
    SDL_Quit();
    free(w);
}

static void handle_window_event(struct preview_window *w, Uint8 event, struct preview_events *ret)
{
    ret->redraw = true;
    switch (event) {
    case SDL_WINDOWEVENT_CLOSE:
        ret->quit = true;
        break;
    case SDL_WINDOWEVENT_HIDDEN:
    case SDL_WINDOWEVENT_MINIMIZED:
        w->visible = false;
        break;
    case SDL_WINDOWEVENT_SHOWN:
    case SDL_WINDOWEVENT_RESTORED:
    case SDL_WINDOWEVENT_MAXIMIZED:
    case SDL_WINDOWEVENT_EXPOSED:
        w->visible = true;
        break;
    }
}

static void handle_event(struct preview_window *w, const SDL_Event *e, struct preview_events *ret)
{
    switch (e->type) {
    case SDL_QUIT:
        ret->quit = true;
        break;
    case SDL_KEYDOWN:
        if (e->key.keysym.sym == SDLK_q || e->key.keysym.sym == SDLK_ESCAPE)
            ret->quit = true;
        break;
    case SDL_WINDOWEVENT:
        handle_window_event(w, e->window.event, ret);
        break;
    }
}

/* All that has happened is handled at once, so that a slow window does not lag behind. */
struct preview_events preview_window_wait(struct preview_window *w)
{
    struct preview_events ret = {0};
    SDL_Event e;

    if (!SDL_WaitEvent(&e)) {
        ret.lost = true;
        return ret;
    }
    do
        handle_event(w, &e, &ret);
    while (SDL_PollEvent(&e));
    return ret;
}

void preview_window_wake(struct preview_window *w)
{
    SDL_Event e = {0};

    e.type = w->wake_event;
    (void)SDL_PushEvent(&e);
}

void preview_window_set(struct preview_window *w, const struct frame *f)
{
    const int pitch[3] = {(int)f->stride[0], (int)f->stride[1], (int)f->stride[2]};

    switch (f->format) {
    case FRAME_I420:
        (void)SDL_UpdateYUVTexture(w->texture, NULL, f->plane[0], pitch[0], f->plane[1], pitch[1],
                                   f->plane[2], pitch[2]);
        break;
    case FRAME_NV12:
        (void)SDL_UpdateNVTexture(w->texture, NULL, f->plane[0], pitch[0], f->plane[1], pitch[1]);
        break;
    default:
        (void)SDL_UpdateTexture(w->texture, NULL, f->plane[0], pitch[0]);
    }
    w->have_picture = true;
}

void preview_window_draw(struct preview_window *w)
{
    if (!w->visible)
        return;
    (void)SDL_SetRenderDrawColor(w->renderer, 0, 0, 0, 255);
    (void)SDL_RenderClear(w->renderer);
    if (w->have_picture)
        (void)SDL_RenderCopy(w->renderer, w->texture, NULL, NULL);
    SDL_RenderPresent(w->renderer);
}
