#include "sink/preview/ui.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SECOND_NS INT64_C(1000000000)
#define TOAST_NS (2 * SECOND_NS)    /* shown in full for so long, */
#define FADE_NS (SECOND_NS / 2)     /* then fading */
#define PICTURE_NS (SECOND_NS / 30) /* between the pictures of a fade */
#define STATUS_NS (SECOND_NS / 4)
#define EDGE 0.01      /* a line that is dropped so near to an edge goes away */
#define LINE_STEP 0.02 /* of the arrow keys */

void preview_ui_init(struct preview_ui *ui)
{
    memset(ui, 0, sizeof(*ui));
    ui->split = 0.5;
}

/* ------------------------------------------------------------------- toasts */

void preview_ui_toast(struct preview_ui *ui, int64_t t_ns, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(ui->toast, sizeof(ui->toast), fmt, args);
    va_end(args);
    ui->t_toast_ns = t_ns;
}

double preview_ui_toast_alpha(const struct preview_ui *ui, int64_t t_ns)
{
    const int64_t age = t_ns - ui->t_toast_ns;

    if (!*ui->toast || age >= TOAST_NS + FADE_NS)
        return 0.0;
    return age <= TOAST_NS ? 1.0 : 1.0 - (double)(age - TOAST_NS) / (double)FADE_NS;
}

bool preview_ui_wants_redraw(struct preview_ui *ui, int64_t t_ns)
{
    if (!*ui->toast || t_ns - ui->t_toast_ns <= TOAST_NS)
        return false;
    if (preview_ui_toast_alpha(ui, t_ns) <= 0.0)
        *ui->toast = '\0';
    return true;
}

/* --------------------------------------------------------------------- keys */

/* Settings that a key moves. On most keyboards + is = with shift. */
static const struct {
    int key;
    const char *setting;
    int steps;
} adjusting[] = {
    {'+', "radius", 1},       {'=', "radius", 1},       {'-', "radius", -1},
    {']', "sigma-color", 1},  {'[', "sigma-color", -1}, {'.', "sigma-space", 1},
    {',', "sigma-space", -1},
};

static double clamp(double x)
{
    return fmin(fmax(x, 0.0), 1.0);
}

static struct preview_action step_key(struct preview_ui *ui, int key)
{
    for (size_t i = 0; i < sizeof(adjusting) / sizeof(adjusting[0]); i++)
        if (adjusting[i].key == key)
            return (struct preview_action){ACTION_ADJUST, adjusting[i].setting, adjusting[i].steps};
    if (ui->view == VIEW_SPLIT && (key == KEY_LEFT || key == KEY_RIGHT))
        ui->split = clamp(ui->split + (key == KEY_LEFT ? -LINE_STEP : LINE_STEP));
    return (struct preview_action){ACTION_NONE};
}

/* Escape goes back by one: it closes the help, then ends full screen, then the program. */
static struct preview_action escape_key(struct preview_ui *ui)
{
    if (ui->help)
        ui->help = false;
    else if (ui->fullscreen)
        ui->fullscreen = false;
    else
        return (struct preview_action){ACTION_QUIT};
    return (struct preview_action){ACTION_NONE};
}

static void toggle_frozen(struct preview_ui *ui, int64_t t_ns)
{
    ui->frozen = !ui->frozen;
    preview_ui_toast(ui, t_ns, ui->frozen ? "frozen" : "live");
}

static void toggle_mirror(struct preview_ui *ui, int64_t t_ns)
{
    ui->mirror = !ui->mirror;
    preview_ui_toast(ui, t_ns, ui->mirror ? "mirrored, in this window only" : "not mirrored");
}

static void toggle_split(struct preview_ui *ui)
{
    ui->view = ui->view == VIEW_SPLIT ? VIEW_FILTERED : VIEW_SPLIT;
    /* A line at the very edge could not be seen. */
    if (ui->split < EDGE || ui->split > 1.0 - EDGE)
        ui->split = 0.5;
}

struct preview_action preview_ui_key(struct preview_ui *ui, int key, bool repeated, int64_t t_ns)
{
    if (repeated)
        return step_key(ui, key);
    switch (key) {
    case 'b':
        ui->view = ui->view == VIEW_UNFILTERED ? VIEW_FILTERED : VIEW_UNFILTERED;
        break;
    case 'v':
        toggle_split(ui);
        break;
    case 'o':
        ui->statistics = !ui->statistics;
        break;
    case 'h':
        ui->help = !ui->help;
        break;
    case 'f':
    case KEY_F11:
        ui->fullscreen = !ui->fullscreen;
        break;
    case ' ':
        toggle_frozen(ui, t_ns);
        break;
    case 'm':
        toggle_mirror(ui, t_ns);
        break;
    case 's':
        return (struct preview_action){ACTION_SNAPSHOT};
    case 'q':
        return (struct preview_action){ACTION_QUIT};
    case KEY_ESCAPE:
        return escape_key(ui);
    default:
        return step_key(ui, key);
    }
    return (struct preview_action){ACTION_NONE};
}

/* -------------------------------------------------------------------- mouse */

bool preview_ui_press(struct preview_ui *ui, double at)
{
    ui->pressed = true;
    ui->pressed_at = at;
    ui->dragging = ui->view == VIEW_SPLIT;
    if (ui->dragging)
        ui->split = clamp(at);
    return ui->dragging;
}

bool preview_ui_move(struct preview_ui *ui, double at, double slack)
{
    if (!ui->pressed)
        return false;
    if (!ui->dragging && fabs(at - ui->pressed_at) <= slack)
        return false;
    ui->dragging = true;
    ui->view = VIEW_SPLIT;
    ui->split = clamp(at);
    return true;
}

bool preview_ui_release(struct preview_ui *ui)
{
    const bool dragged = ui->dragging;

    ui->pressed = ui->dragging = false;
    if (!dragged)
        return false;
    if (ui->split < EDGE)
        ui->view = VIEW_FILTERED;
    else if (ui->split > 1.0 - EDGE)
        ui->view = VIEW_UNFILTERED;
    return true;
}

/* ------------------------------------------------------------------- status */

bool preview_ui_wants_status(const struct preview_ui *ui, int64_t t_ns)
{
    return !ui->have_status || t_ns - ui->t_status_ns >= STATUS_NS;
}

void preview_ui_set_status(struct preview_ui *ui, const struct sink_status *status, int64_t t_ns)
{
    ui->status = *status;
    ui->have_status = true;
    ui->t_status_ns = t_ns;
    /* Nothing was measured yet in the first second. */
    if (status->added_p99_ns <= 0 || (ui->n_history && t_ns - ui->t_history_ns < SECOND_NS))
        return;
    ui->p50_ns[ui->n_history % PREVIEW_HISTORY] = status->added_p50_ns;
    ui->p99_ns[ui->n_history % PREVIEW_HISTORY] = status->added_p99_ns;
    ui->n_history++;
    ui->t_history_ns = t_ns;
}

int64_t preview_ui_next(const struct preview_ui *ui, int64_t t_ns)
{
    const int64_t t_status = (ui->have_status ? ui->t_status_ns : t_ns) + STATUS_NS;
    const int64_t t_fade = ui->t_toast_ns + TOAST_NS;
    int64_t t_toast = t_status;

    if (*ui->toast)
        t_toast = t_ns < t_fade ? t_fade : t_ns + PICTURE_NS;
    return t_toast < t_status ? t_toast : t_status;
}
