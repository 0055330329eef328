#pragma once
/* What goes on in the preview's window: pictures, keys and mouse, and what follows from them.
 * Context: the window thread. */
#include "sink/preview/ui.h"
#include "sink/preview/window.h"

struct snapshot;

struct preview_show {
    struct preview_window *window;
    const struct sink_control *control;
    void (*saving)(void *user, bool saving);
    void *user;
    struct preview_ui ui;
    const struct frame *before, *after; /* what is shown; the caller's; NULL = no picture */
    struct snapshot *snapshot;          /* being written, or NULL */
    bool redraw;
};

/* @saving is told when a snapshot begins to be written and, by a thread of its own, when that
 * ends, so that the program does not end in between. */
void preview_show_init(struct preview_show *s, struct preview_window *window,
                       const struct sink_control *control, void (*saving)(void *user, bool saving),
                       void *user);

/* Waits for a snapshot that is being written. */
void preview_show_finish(struct preview_show *s);

/* Sets the pictures that are shown from now on: they stay as they are until the next call. With
 * NULL for @before, @after is the card. */
void preview_show_pictures(struct preview_show *s, const struct frame *before,
                           const struct frame *after);

/* Draws what is new, waits until something happens, and handles that. False: the window was
 * closed, or is lost. */
bool preview_show_step(struct preview_show *s);
