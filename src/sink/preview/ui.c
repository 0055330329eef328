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

/* Settings of which a key takes the next choice. Holding it down must not flicker. */
static struct preview_action choice_key(struct preview_ui *ui, int key)
{
    switch (key) {
    case 'n':
        return (struct preview_action){ACTION_ADJUST, "filter", 1};
    case 'r':
        return (struct preview_action){ACTION_ADJUST, "range", 1};
    case 'w':
        return (struct preview_action){ACTION_ADJUST, "window", 1};
    default:
        return step_key(ui, key);
    }
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

/* The map lies on the filtered picture. */
static void toggle_map(struct preview_ui *ui, int64_t t_ns)
{
    if (!ui->counted) {
        preview_ui_toast(ui, t_ns,
                         ui->have_status && ui->status.temporal <= 1
                             ? "no map: time is off; t switches it on"
                             : "no map: frames are not counted now");
        return;
    }
    ui->map = !ui->map;
    if (ui->map && ui->view == VIEW_UNFILTERED)
        ui->view = VIEW_FILTERED;
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
    case 'c':
        toggle_map(ui, t_ns);
        break;
    case 't':
        return (struct preview_action){ACTION_TIME};
    case 's':
        return (struct preview_action){ACTION_SNAPSHOT};
    case 'q':
        return (struct preview_action){ACTION_QUIT};
    case KEY_ESCAPE:
        return escape_key(ui);
    default:
        return choice_key(ui, key);
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

void preview_ui_set_status(struct preview_ui *ui, const struct status *status, int64_t t_ns)
{
    ui->status = *status;
    if (status->temporal > 1)
        ui->most = status->temporal;
    ui->have_status = true;
    ui->t_status_ns = t_ns;
    /* Nothing was measured yet in the first second. */
    if (status->second.added.p99_ns <= 0 || (ui->n_history && t_ns - ui->t_history_ns < SECOND_NS))
        return;
    ui->p50_ns[ui->n_history % PREVIEW_HISTORY] = status->second.added.p50_ns;
    ui->p99_ns[ui->n_history % PREVIEW_HISTORY] = status->second.added.p99_ns;
    ui->n_history++;
    ui->t_history_ns = t_ns;
}

static struct preview_row make_row(const char *label, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static struct preview_row make_row(const char *label, const char *fmt, ...)
{
    struct preview_row row = {.label = label};
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(row.text, sizeof(row.text), fmt, ap);
    va_end(ap);
    return row;
}

static struct preview_row frames_row(const struct status *s)
{
    char bad[40] = "";

    if (s->frames_bad)
        (void)snprintf(bad, sizeof(bad), ", %llu bad", (unsigned long long)s->frames_bad);
    return make_row("frames", "%.1f per second, %llu dropped%s", s->second.fps,
                    (unsigned long long)s->frames_dropped, bad);
}

static struct preview_row duration_row(const char *label, const struct percentiles *p)
{
    return p->p99_ns > 0
               ? make_row(label, "p50 %.1f ms, p99 %.1f ms", in_ms(p->p50_ns), in_ms(p->p99_ns))
               : make_row(label, "measuring");
}

static struct preview_row radius_row(const struct status *s)
{
    const char *less = !strcmp(s->search, "off")    ? "no search (budget)"
                       : !strcmp(s->search, "none") ? "no mean (budget)"
                                                    : NULL;
    const bool limited = s->radius_last >= 0 && s->radius_last < s->radius_requested;
    struct preview_row row = make_row("radius", "%d", s->radius_requested);

    if (limited || less)
        row = make_row("radius", "%d of %d, %s", s->radius_last, s->radius_requested,
                       less ? less : "limited by the budget");
    row.warns = limited || less;
    return row;
}

static struct preview_row cpu_row(const struct status *s)
{
    if (s->processor_percent <= 0.0)
        return make_row("cpu", "measuring");
    return s->gpu_memory_mib > 0.0 ? make_row("cpu", "%.0f %%, GPU memory %.0f MiB",
                                              s->processor_percent, s->gpu_memory_mib)
                                   : make_row("cpu", "%.0f %% of one core", s->processor_percent);
}

/* Latency is all since the camera's stamp, the camera's own part of it, and what is added to that,
 * which is what the budget is for. */
void preview_ui_rows(const struct preview_ui *ui, struct preview_row rows[PREVIEW_ROWS])
{
    const struct status *s = &ui->status;

    *rows++ = frames_row(s);
    *rows++ = duration_row("latency", &s->second.latency);
    *rows++ = make_row("camera", "%.1f ms", in_ms(s->second.camera.p50_ns));
    *rows = duration_row("added", &s->second.added);
    rows++->warns = s->budget_ns && s->second.added.p99_ns > s->budget_ns;
    *rows++ = s->budget_ns ? make_row("budget", "%.1f ms", in_ms(s->budget_ns))
                           : make_row("budget", "none");
    *rows++ = radius_row(s);
    *rows++ = s->sigma_color > 0.0
                  ? make_row("sigma", "color %.3g, space %.3g", s->sigma_color, s->sigma_space)
                  : make_row("sigma", "color none, space %.3g", s->sigma_space);
    *rows++ = s->noise > 0.0 ? make_row("noise", "%.1f levels", s->noise)
                             : make_row("noise", "none measured");
    *rows++ = make_row("memory", "%.1f frames", s->frames_averaged);
    *rows++ = make_row("engine", "%s", s->engine);
    *rows++ = make_row("device", "%s", s->device);
    *rows++ = cpu_row(s);
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
