#pragma once
/* The preview's window: everything that is SDL.
 * Context: one thread calls all functions, but for preview_window_wake and
 * preview_window_lost. */
#include <stdbool.h>

#include "base/error.h"
#include "picture/frame.h"
#include "sink/preview/ui.h"

struct preview_window;

enum preview_event_kind {
    PREVIEW_CLOSE,  /* the user closed the window */
    PREVIEW_REDRAW, /* what was drawn is gone or has another size */
    PREVIEW_KEY,
    PREVIEW_PRESS, /* of the mouse, as the next two */
    PREVIEW_MOVE,
    PREVIEW_RELEASE,
};

struct preview_event {
    enum preview_event_kind kind;
    int key;       /* ASCII or enum preview_key */
    bool repeated; /* the key is held down */
    double at;     /* of the mouse: 0 = the picture's left edge, 1 = its right edge */
    double slack;  /* a few pixels in the same unit */
};

/* A format and colour that a window can show, nearest to those of @f, which it replaces. */
void preview_window_adapt(struct frame *f);

/* Opens a window for frames like @picture. -ENODEV: there is no display, or it cannot. */
int preview_window_open(struct preview_window **ret, const struct frame *picture,
                        struct error *err);
void preview_window_close(struct preview_window *w); /* accepts NULL */

/* Whether the display has gone, for good: then no window opens any more, and close leaves all as
 * it is. With an X server, the threads that use it do not come back. Context: any thread. */
bool preview_window_lost(void);

/* Waits until something happened in the window, or woke it, or @t_ns. False: the display has
 * gone. */
bool preview_window_wait(struct preview_window *w, int64_t t_ns);

/* The next of what has happened, if anything. */
bool preview_window_next(struct preview_window *w, struct preview_event *ret);

/* Ends a wait, now or the next. It may itself wait for a stuck display. Context: any thread. */
void preview_window_wake(struct preview_window *w);

/* Sets the pictures that are drawn from now on: they stay as they are until the next call. With
 * NULL for @before, @after is the card. */
void preview_window_set(struct preview_window *w, const struct frame *before,
                        const struct frame *after);

/* Whether the window fills its screen, which others than we may change, or was told to: without a
 * window manager it never does. */
bool preview_window_is_fullscreen(struct preview_window *w);
void preview_window_set_fullscreen(struct preview_window *w, bool fullscreen);

/* Draws the pictures and all that @ui says. Hidden windows are left alone. */
void preview_window_draw(struct preview_window *w, const struct preview_ui *ui, int64_t t_ns);
