#include "sink/preview/window.h"

#include <SDL.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "sink/preview/overlay.h"
#include "sink/preview/picture.h"

#define SLACK 4                /* design pixels that the mouse may move in a click */
#define IDLE_NS (2 * NS_PER_S) /* a resting mouse's arrow then goes away in full screen */

struct preview_window {
    SDL_Window *window;
    SDL_Renderer *renderer;
    struct preview_picture picture;
    struct paint paint;
    SDL_Event first; /* what ended the wait */
    bool have_first;
    Uint32 wake_event;
    bool visible;
    bool asked_to_fill; /* the screen, which has not been seen yet */
    int64_t t_mouse_ns; /* when it moved last */
};

static atomic_bool lost; /* the display, of which a program has one */

bool preview_window_lost(void)
{
    return atomic_load(&lost);
}

void preview_window_adapt(struct frame *f)
{
    preview_picture_adapt(f);
}

/* ------------------------------------------------------------------ opening */

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

struct _XDisplay;
typedef int (*x_handler)(struct _XDisplay *);

/* Xlib ends the whole program once its server has gone, unless this does not return. Neither
 * could the drivers below go on without a server, so the thread stays here, with their locks. */
static int x_server_lost(struct _XDisplay *display)
{
    (void)display;
    atomic_store(&lost, true);
    for (;;)
        (void)pause();
    return 0;
}

/* SDL has loaded Xlib and keeps it; a program without a window does not need it. */
static void survive_x_server(void)
{
    void *const xlib = SDL_LoadObject("libX11.so.6");
    x_handler (*set_handler)(x_handler);

    if (!xlib)
        return;
    *(void **)&set_handler = SDL_LoadFunction(xlib, "XSetIOErrorHandler");
    if (set_handler)
        (void)set_handler(x_server_lost);
    SDL_UnloadObject(xlib);
}

static int start_video(struct error *err)
{
    const char *const forced = setting("SDL_VIDEODRIVER");
    const bool x11 = setting("DISPLAY"), wayland = setting("WAYLAND_DISPLAY");
    int r = -1;

    if (preview_window_lost())
        return error_set(err, -ENODEV, "preview window: the display has gone");
    if (!x11 && !wayland && !forced)
        return error_set(err, -ENODEV,
                         "preview window: no display (neither DISPLAY nor WAYLAND_DISPLAY is set)");
    (void)SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    (void)SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
    (void)SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    (void)SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    /* Else SDL 2 on top of SDL 3 (2.32.74) tells units as small as pixels, and text is tiny. */
    (void)SDL_SetHintWithPriority("SDL_VIDEO_WAYLAND_SCALE_TO_DISPLAY", "0", SDL_HINT_OVERRIDE);
    if (forced)
        r = start_driver(forced);
    if (!forced && x11)
        r = start_driver("x11");
    if (!forced && r && wayland)
        r = start_driver("wayland");
    if (r)
        return error_set(err, -ENODEV, "preview window: no display (%s)", SDL_GetError());
    if (!strcmp(SDL_GetCurrentVideoDriver(), "x11"))
        survive_x_server();
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
    w->visible = true;
    return preview_picture_open(&w->picture, w->renderer, picture, err);
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
    /* Libraries may crash where they find no display any more. */
    if (!w || preview_window_lost())
        return;
    paint_finish(&w->paint);
    preview_picture_close(&w->picture);
    if (w->renderer)
        SDL_DestroyRenderer(w->renderer);
    if (w->window)
        SDL_DestroyWindow(w->window);
    SDL_Quit();
    free(w);
}

/* ----------------------------------------------------------------- geometry */

struct geometry {
    int width, height; /* of the window, in its own pixels */
    double density;    /* such pixels per unit of the mouse's places */
    int scale;         /* such pixels per design pixel: text grows on dense and large screens */
    SDL_Rect picture;  /* as large as its shape lets it be, in the middle */
};

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static struct geometry measure(const struct preview_window *w)
{
    const int64_t picture_w = w->picture.width, picture_h = w->picture.height;
    struct geometry g;
    int mouse_w = 1, mouse_h = 1, large;

    SDL_GetWindowSize(w->window, &mouse_w, &mouse_h);
    if (SDL_GetRendererOutputSize(w->renderer, &g.width, &g.height)) {
        g.width = mouse_w;
        g.height = mouse_h;
    }
    g.density = mouse_w > 0 ? (double)g.width / mouse_w : 1.0;
    large = smaller(g.width / 960, g.height / 540);
    g.scale = (int)(g.density + 0.5);
    if (large > g.scale)
        g.scale = large;
    if (g.scale < 1)
        g.scale = 1;
    g.picture.w = smaller(g.width, (int)(g.height * picture_w / picture_h));
    g.picture.h = smaller(g.height, (int)(g.width * picture_h / picture_w));
    g.picture.x = (g.width - g.picture.w) / 2;
    g.picture.y = (g.height - g.picture.h) / 2;
    return g;
}

/* ------------------------------------------------------------------- events */

static bool handle_window_event(struct preview_window *w, Uint8 event, struct preview_event *ret)
{
    ret->kind = PREVIEW_REDRAW;
    switch (event) {
    case SDL_WINDOWEVENT_CLOSE:
        ret->kind = PREVIEW_CLOSE;
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
    return true;
}

/* The key's own sign, or where a keyboard has another there, the one on an American keyboard. */
static int key_of(const SDL_Keysym *k)
{
    static const struct {
        SDL_Keycode code;
        int key;
    } named[] = {
        {SDLK_F11, KEY_F11}, {SDLK_LEFT, KEY_LEFT}, {SDLK_RIGHT, KEY_RIGHT},
        {SDLK_KP_PLUS, '+'}, {SDLK_KP_MINUS, '-'},
    };
    static const struct {
        SDL_Scancode code;
        int key;
    } placed[] = {
        {SDL_SCANCODE_LEFTBRACKET, '['},
        {SDL_SCANCODE_RIGHTBRACKET, ']'},
        {SDL_SCANCODE_COMMA, ','},
        {SDL_SCANCODE_PERIOD, '.'},
    };

    for (size_t i = 0; i < SDL_arraysize(named); i++)
        if (k->sym == named[i].code)
            return named[i].key;
    if (k->sym > 0 && k->sym < 127)
        return k->sym;
    for (size_t i = 0; i < SDL_arraysize(placed); i++)
        if (k->scancode == placed[i].code)
            return placed[i].key;
    return 0;
}

static bool handle_key(const SDL_KeyboardEvent *e, struct preview_event *ret)
{
    /* With these, a key is meant for somebody else. */
    if (e->keysym.mod & (KMOD_CTRL | KMOD_LALT | KMOD_GUI))
        return false;
    ret->kind = PREVIEW_KEY;
    ret->key = key_of(&e->keysym);
    ret->repeated = e->repeat;
    return ret->key != 0;
}

static bool handle_mouse(struct preview_window *w, enum preview_event_kind kind, int x,
                         struct preview_event *ret)
{
    const struct geometry g = measure(w);

    w->t_mouse_ns = now_ns();
    if (g.picture.w < 1)
        return false;
    ret->kind = kind;
    ret->at = (x * g.density - g.picture.x) / g.picture.w;
    ret->slack = (double)SLACK * g.scale / g.picture.w;
    return true;
}

static bool translate(struct preview_window *w, const SDL_Event *e, struct preview_event *ret)
{
    switch (e->type) {
    case SDL_QUIT: /* without a close before it: the Wayland compositor has gone */
        atomic_store(&lost, true);
        ret->kind = PREVIEW_CLOSE;
        return true;
    case SDL_KEYDOWN:
        return handle_key(&e->key, ret);
    case SDL_MOUSEBUTTONDOWN:
        return e->button.button == SDL_BUTTON_LEFT &&
               handle_mouse(w, PREVIEW_PRESS, e->button.x, ret);
    case SDL_MOUSEBUTTONUP:
        return e->button.button == SDL_BUTTON_LEFT &&
               handle_mouse(w, PREVIEW_RELEASE, e->button.x, ret);
    case SDL_MOUSEMOTION:
        return handle_mouse(w, PREVIEW_MOVE, e->motion.x, ret);
    case SDL_WINDOWEVENT:
        return handle_window_event(w, e->window.event, ret);
    }
    return false;
}

bool preview_window_wait(struct preview_window *w, int64_t t_ns)
{
    const int wait_ms = poll_ms(t_ns, now_ns());

    if (wait_ms == 0) {
        w->have_first = SDL_PollEvent(&w->first);
        return true;
    }
    SDL_ClearError();
    w->have_first = SDL_WaitEventTimeout(&w->first, wait_ms);
    /* SDL says "no event" for a failure too; only then it is early. */
    if (!w->have_first && now_ns() < t_ns && *SDL_GetError())
        atomic_store(&lost, true);
    return !atomic_load(&lost);
}

bool preview_window_next(struct preview_window *w, struct preview_event *ret)
{
    SDL_Event e = w->first;

    while (w->have_first || SDL_PollEvent(&e)) {
        w->have_first = false;
        *ret = (struct preview_event){0};
        if (translate(w, &e, ret))
            return true;
    }
    return false;
}

void preview_window_wake(struct preview_window *w)
{
    SDL_Event e = {0};

    e.type = w->wake_event;
    (void)SDL_PushEvent(&e);
}

/* ------------------------------------------------------------------ showing */

bool preview_window_is_fullscreen(struct preview_window *w)
{
    if (!(SDL_GetWindowFlags(w->window) & SDL_WINDOW_FULLSCREEN))
        return w->asked_to_fill;
    w->asked_to_fill = false;
    return true;
}

void preview_window_set_fullscreen(struct preview_window *w, bool fullscreen)
{
    const int r =
        SDL_SetWindowFullscreen(w->window, fullscreen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);

    w->asked_to_fill = fullscreen && r == 0;
}

void preview_window_set(struct preview_window *w, const struct frame *before,
                        const struct frame *after)
{
    preview_picture_set(&w->picture, before, after);
}

void preview_window_draw(struct preview_window *w, const struct preview_ui *ui, int64_t t_ns)
{
    const struct geometry g = measure(w);
    const struct paint_box box = {g.picture.x / g.scale, g.picture.y / g.scale,
                                  g.picture.w / g.scale, g.picture.h / g.scale};
    const bool idle = t_ns - w->t_mouse_ns > IDLE_NS, fills = preview_window_is_fullscreen(w);

    if (!w->visible)
        return;
    (void)SDL_ShowCursor(idle && fills ? SDL_DISABLE : SDL_ENABLE);
    (void)SDL_SetRenderDrawColor(w->renderer, 0, 0, 0, 255);
    (void)SDL_RenderClear(w->renderer);
    preview_picture_draw(&w->picture, ui, g.picture, preview_overlay_line(ui, box) * g.scale);
    if (paint_begin(&w->paint, w->renderer, g.width, g.height, g.scale)) {
        preview_overlay_labels(&w->paint, ui, box);
        preview_overlay_panels(&w->paint, ui, t_ns);
    }
    SDL_RenderPresent(w->renderer);
}
