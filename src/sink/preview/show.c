#include "sink/preview/show.h"

#include <string.h>

#include "base/clock.h"
#include "picture/snapshot.h"

void preview_show_init(struct preview_show *s, struct preview_window *window,
                       const struct sink_control *control, void (*saving)(void *user, bool saving),
                       void *user)
{
    *s = (struct preview_show){
        .window = window, .control = control, .saving = saving, .user = user, .redraw = true};
    preview_ui_init(&s->ui);
    preview_ui_toast(&s->ui, now_ns(), "h for help");
}

void preview_show_pictures(struct preview_show *s, const struct frame *before,
                           const struct frame *after)
{
    s->before = before;
    s->after = after;
    s->ui.counted = after->counts;
    s->redraw = true;
    preview_window_set(s->window, before, after);
}

/* ---------------------------------------------------------------- snapshots */

static void snapshot_done(void *user)
{
    struct preview_show *s = user;

    s->saving(s->user, false);
    preview_window_wake(s->window);
}

/* One at a time: while the last is being written, the key does nothing. */
static void start_snapshot(struct preview_show *s, int64_t t_ns)
{
    int r;

    if (s->snapshot)
        return;
    if (!s->before) {
        preview_ui_toast(&s->ui, t_ns, "no snapshot: there are no pictures now");
        return;
    }
    s->saving(s->user, true);
    r = snapshot_start(&s->snapshot, s->before, s->after, NULL, snapshot_done, s);
    if (!r)
        return;
    s->saving(s->user, false);
    preview_ui_toast(&s->ui, t_ns, "no snapshot: %s", strerror(-r));
}

static void finish_snapshot(struct preview_show *s, int64_t t_ns)
{
    char text[sizeof(s->ui.toast)];

    (void)snapshot_finish(s->snapshot, text, sizeof(text), NULL, 0);
    s->snapshot = NULL;
    preview_ui_toast(&s->ui, t_ns, "%s", text);
}

void preview_show_finish(struct preview_show *s)
{
    if (s->snapshot)
        finish_snapshot(s, now_ns());
}

/* ------------------------------------------------------------------- events */

static void press_key(struct preview_show *s, const struct preview_event *e, int64_t t_ns)
{
    const bool fullscreen = s->ui.fullscreen = preview_window_is_fullscreen(s->window);
    const struct preview_action action = preview_ui_key(&s->ui, e->key, e->repeated, t_ns);
    char text[128];

    if (s->ui.fullscreen != fullscreen)
        preview_window_set_fullscreen(s->window, s->ui.fullscreen);
    switch (action.kind) {
    case ACTION_ADJUST:
        s->control->adjust(s->control->user, action.key, action.steps, text, sizeof(text));
        preview_ui_toast(&s->ui, t_ns, "%s", text);
        break;
    case ACTION_TIME:
        s->control->toggle_time(s->control->user, text, sizeof(text));
        preview_ui_toast(&s->ui, t_ns, "%s", text);
        break;
    case ACTION_SNAPSHOT:
        start_snapshot(s, t_ns);
        break;
    case ACTION_QUIT:
        s->control->quit(s->control->user);
        break;
    case ACTION_NONE:
        break;
    }
}

/* False: the window was closed. */
static bool handle_event(struct preview_show *s, const struct preview_event *e, int64_t t_ns)
{
    switch (e->kind) {
    case PREVIEW_CLOSE:
        return false;
    case PREVIEW_REDRAW:
        s->redraw = true;
        break;
    case PREVIEW_KEY:
        press_key(s, e, t_ns);
        s->redraw = true;
        break;
    case PREVIEW_PRESS:
        s->redraw |= preview_ui_press(&s->ui, e->at);
        break;
    case PREVIEW_MOVE:
        /* In full screen it may be the arrow that has to come back. */
        s->redraw |=
            preview_ui_move(&s->ui, e->at, e->slack) || preview_window_is_fullscreen(s->window);
        break;
    case PREVIEW_RELEASE:
        s->redraw |= preview_ui_release(&s->ui);
        break;
    }
    return true;
}

/* Brings up to date what the window says. */
static void refresh(struct preview_show *s, int64_t t_ns)
{
    if (s->snapshot && snapshot_ended(s->snapshot))
        finish_snapshot(s, t_ns);
    /* Before the first picture the program is still being put together. */
    if (s->after && preview_ui_wants_status(&s->ui, t_ns)) {
        struct status status;

        s->control->status(s->control->user, &status);
        preview_ui_set_status(&s->ui, &status, t_ns);
        s->redraw |= s->ui.statistics;
    }
    if (preview_ui_wants_redraw(&s->ui, t_ns))
        s->redraw = true;
}

/* All that has happened is handled at once, so that a slow window does not lag behind. */
bool preview_show_step(struct preview_show *s)
{
    struct preview_event e;
    int64_t t_ns = now_ns();
    bool open;

    refresh(s, t_ns);
    if (s->redraw)
        preview_window_draw(s->window, &s->ui, t_ns);
    s->redraw = false;
    open = preview_window_wait(s->window, preview_ui_next(&s->ui, now_ns()));
    t_ns = now_ns();
    while (open && preview_window_next(s->window, &e))
        open = handle_event(s, &e, t_ns);
    return open;
}
