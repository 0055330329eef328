#pragma once
/* What keys and mouse mean in the preview window, and what it says: a state and its changes,
 * without a window, a clock or I/O. Times are given by the caller.
 * Context: plain data; the window thread owns it. */
#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"

#define PREVIEW_HISTORY 60 /* seconds in the graph of added latency */

/* Keys are ASCII, as printed on them, or one of these. */
enum preview_key { KEY_ESCAPE = 27, KEY_F11 = 256, KEY_LEFT, KEY_RIGHT };

enum preview_view { VIEW_FILTERED, VIEW_SPLIT, VIEW_UNFILTERED };

struct preview_ui {
    enum preview_view view;
    double split; /* where the line is: 0 = the picture's left edge, 1 = its right edge */
    bool statistics, help, fullscreen, frozen, mirror;
    bool map;     /* of the frames that each part of the picture is the mean of */
    bool counted; /* the picture has counts for it */
    int most;     /* frames that are brightest in it: as many as could count when time was on */

    bool pressed, dragging; /* a mouse button is down; and it has moved the line */
    double pressed_at;

    char toast[320];    /* a short message in up to two lines */
    int64_t t_toast_ns; /* since when; what is older than it lasts is not shown */

    bool have_status;
    struct status status;
    int64_t t_status_ns, t_history_ns;
    int64_t p50_ns[PREVIEW_HISTORY], p99_ns[PREVIEW_HISTORY]; /* second n at [n % size] */
    uint64_t n_history;
};

enum preview_action_kind { ACTION_NONE, ACTION_ADJUST, ACTION_TIME, ACTION_SNAPSHOT, ACTION_QUIT };

/* A line of the statistics. */
struct preview_row {
    const char *label;
    char text[128];
    bool warns;
};

/* The first of them, above the graph, and the others, below it. */
enum { PREVIEW_ROWS_ABOVE = 5, PREVIEW_ROWS = 12 };

/* What the caller has to do about a key. Everything else is in the state already. */
struct preview_action {
    enum preview_action_kind kind;
    const char *key; /* ACTION_ADJUST: the setting */
    int steps;
};

void preview_ui_init(struct preview_ui *ui);

/* @repeated: by holding the key down, which only what moves in steps takes. */
struct preview_action preview_ui_key(struct preview_ui *ui, int key, bool repeated, int64_t t_ns);

/* The mouse, @at in the unit of `split`, beyond 0..1 outside the picture. Where there is no line
 * yet, dragging by more than @slack makes one; dragged to an edge it goes away. True: the picture
 * has changed. */
bool preview_ui_press(struct preview_ui *ui, double at);
bool preview_ui_move(struct preview_ui *ui, double at, double slack);
bool preview_ui_release(struct preview_ui *ui);

void preview_ui_toast(struct preview_ui *ui, int64_t t_ns, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* How visible the toast is, 0..1. */
double preview_ui_toast_alpha(const struct preview_ui *ui, int64_t t_ns);

/* Whether a message is there that fades, or has just gone; the latter is said once. */
bool preview_ui_wants_redraw(struct preview_ui *ui, int64_t t_ns);

/* Whether it is time to ask for the status again, and what to do with the answer. */
bool preview_ui_wants_status(const struct preview_ui *ui, int64_t t_ns);
void preview_ui_set_status(struct preview_ui *ui, const struct status *status, int64_t t_ns);

/* The statistics, from the status. */
void preview_ui_rows(const struct preview_ui *ui, struct preview_row rows[PREVIEW_ROWS]);

/* When the window changes next by itself. */
int64_t preview_ui_next(const struct preview_ui *ui, int64_t t_ns);
