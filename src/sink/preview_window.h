#pragma once
/* The preview's window: everything that is SDL.
 * Context: one thread calls all functions, but for preview_window_wake. */
#include <stdbool.h>

#include "error.h"
#include "frame.h"

struct preview_window;

struct preview_events {
    bool quit;   /* the user closed the window, or pressed q or Escape */
    bool redraw; /* what was drawn is gone or has another size */
    bool lost;   /* the window cannot wait any more; it must be closed */
};

/* A format and colour that a window can show, nearest to those of @f, which it replaces. */
void preview_window_adapt(struct frame *f);

/* Opens a window for frames like @picture. -ENODEV: there is no display, or it cannot. */
int preview_window_open(struct preview_window **ret, const struct frame *picture,
                        struct error *err);
void preview_window_close(struct preview_window *w); /* accepts NULL */

/* Waits until something happened in the window, or woke it. */
struct preview_events preview_window_wait(struct preview_window *w);

/* Ends a wait, now or the next. It may itself wait for a stuck display. Context: any thread. */
void preview_window_wake(struct preview_window *w);

/* Makes @f the picture that is drawn; its samples are the caller's again on return. */
void preview_window_set(struct preview_window *w, const struct frame *f);
void preview_window_draw(struct preview_window *w);
