#include "sink/preview/overlay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "sink/preview/map.h"

#define MARGIN 12
#define PADDING 12
#define STATISTICS_WIDTH 290
#define LABEL_WIDTH 62
#define GRAPH_HEIGHT 48
#define GRAPH_STEP 4 /* one second */

static const SDL_Color panel = {16, 18, 22, 190};
static const SDL_Color bright = {238, 240, 242, 255};
static const SDL_Color dim = {160, 168, 178, 255};
static const SDL_Color warning = {255, 186, 92, 255};
static const SDL_Color typical = {112, 190, 235, 255}; /* the graph's p50 */
static const SDL_Color slowest = {112, 190, 235, 110}; /* and p99 */
static const SDL_Color line = {255, 255, 255, 235};
static const SDL_Color shadow = {0, 0, 0, 110};
static const SDL_Color ground = {255, 255, 255, 14};

/* -------------------------------------------------------------------- texts */

/* @text, shortened by dots where it is wider than @width. */
static void text_within(struct paint *p, SDL_Color color, int x, int y, const char *text, int width)
{
    const size_t length = strlen(text);
    const int dots = paint_text_width("...", 3);
    size_t n = length;

    if (paint_text_width(text, length) > width)
        n = paint_text_fit(text, length, width - dots);
    paint_text(p, color, x, y, text, n);
    if (n < length)
        paint_text(p, color, x + paint_text_width(text, n), y, "...", 3);
}

/* A word in a small dark box, of which (@x, @y) is the top left corner. */
static void tag(struct paint *p, SDL_Color color, int x, int y, const char *text)
{
    const int width = paint_text_width(text, strlen(text));

    paint_panel(p, panel, (struct paint_box){x, y, width + 12, 24});
    paint_text(p, color, x + 6, y + 3, text, strlen(text));
}

static int tag_width(const char *text)
{
    return paint_text_width(text, strlen(text)) + 12;
}

/* ------------------------------------------------------------------- labels */

static void draw_line(struct paint *p, int x, struct paint_box picture)
{
    const int middle = picture.y + picture.h / 2;

    paint_fill(p, shadow, (struct paint_box){x - 2, picture.y, 4, picture.h});
    paint_fill(p, line, (struct paint_box){x - 1, picture.y, 2, picture.h});
    paint_panel(p, shadow, (struct paint_box){x - 7, middle - 18, 14, 36});
    paint_panel(p, line, (struct paint_box){x - 6, middle - 17, 12, 34});
    for (int i = -1; i <= 1; i += 2)
        paint_fill(p, panel, (struct paint_box){x + 2 * i - (i < 0 ? 0 : 1), middle - 7, 1, 14});
}

int preview_overlay_line(const struct preview_ui *ui, struct paint_box picture)
{
    return picture.x + (int)(ui->split * picture.w + 0.5);
}

void preview_overlay_labels(struct paint *p, const struct preview_ui *ui, struct paint_box picture)
{
    const int y = picture.y + picture.h - 36;
    const int x = preview_overlay_line(ui, picture);
    const int left = x - 12 - tag_width("unfiltered"), right = x + 12;

    if (ui->view == VIEW_UNFILTERED)
        tag(p, bright, picture.x + MARGIN, y, "unfiltered");
    if (ui->view != VIEW_SPLIT)
        return;
    draw_line(p, x, picture);
    if (left >= picture.x)
        tag(p, bright, left, y, "unfiltered");
    if (right + tag_width("filtered") <= picture.x + picture.w)
        tag(p, bright, right, y, "filtered");
}

/* ------------------------------------------------------------------- legend */

/* What the map's brightness means, at the top right. */
static void legend(struct paint *p, const struct preview_ui *ui, int y)
{
    const int bar = 64;
    uint32_t palette[256];
    char text[32];
    int width, x;

    (void)snprintf(text, sizeof(text), "%d frames", ui->most);
    width = paint_text_width("1", 1) + paint_text_width(text, SIZE_MAX) + bar + 28;
    x = p->width - MARGIN - width;
    paint_panel(p, panel, (struct paint_box){x, y, width, 24});
    paint_text(p, bright, x + 6, y + 3, "1", 1);
    x += 14 + paint_text_width("1", 1);
    preview_map_palette(palette, ui->most);
    for (int i = 0; i < bar; i++) {
        const uint32_t c = palette[(int)(2.0 * pow(ui->most, (i + 0.5) / bar) + 0.5)];
        const SDL_Color ink = {(Uint8)(c >> 16), (Uint8)(c >> 8), (Uint8)c, 255};

        paint_fill(p, ink, (struct paint_box){x + i, y + 6, 1, 12});
    }
    paint_text(p, bright, x + bar + 8, y + 3, text, SIZE_MAX);
}

/* --------------------------------------------------------------- statistics */

struct column {
    struct paint *p;
    int x, y, width;
};

static void draw_row(struct column *c, const struct preview_row *row)
{
    paint_text(c->p, dim, c->x, c->y, row->label, strlen(row->label));
    text_within(c->p, row->warns ? warning : bright, c->x + LABEL_WIDTH, c->y, row->text,
                c->width - LABEL_WIDTH);
    c->y += PAINT_LINE;
}

/* What the graph's full height stands for: the budget and all points fit below it. */
static int64_t graph_top(const struct preview_ui *ui, int n)
{
    int64_t top = ui->status.budget_ns + ui->status.budget_ns / 4;

    for (int i = 0; i < n; i++) {
        const int64_t p99 = ui->p99_ns[(ui->n_history - 1 - (uint64_t)i) % PREVIEW_HISTORY];

        if (p99 + p99 / 8 > top)
            top = p99 + p99 / 8;
    }
    return top > NS_PER_MS ? top : NS_PER_MS;
}

/* A column for each second, the newest at the right: the 99th percentile of added latency, in front
 * of it the median, and a line at the budget. */
static void graph(struct column *c, const struct preview_ui *ui)
{
    const int room = c->width / GRAPH_STEP;
    const uint64_t known = ui->n_history < PREVIEW_HISTORY ? ui->n_history : PREVIEW_HISTORY;
    const int n = known < (uint64_t)room ? (int)known : room;
    const int64_t top = graph_top(ui, n), budget = ui->status.budget_ns;
    const int bottom = c->y + GRAPH_HEIGHT;

    paint_fill(c->p, ground, (struct paint_box){c->x, c->y, c->width, GRAPH_HEIGHT});
    for (int i = 0; i < n; i++) {
        const uint64_t k = (ui->n_history - 1 - (uint64_t)i) % PREVIEW_HISTORY;
        const int x = c->x + c->width - (i + 1) * GRAPH_STEP;
        const int high = (int)(GRAPH_HEIGHT * ui->p99_ns[k] / top);
        const int low = (int)(GRAPH_HEIGHT * ui->p50_ns[k] / top);
        SDL_Color above = slowest;

        if (budget && ui->p99_ns[k] > budget)
            above = (SDL_Color){warning.r, warning.g, warning.b, 170};
        paint_fill(c->p, above, (struct paint_box){x, bottom - high, GRAPH_STEP - 1, high - low});
        paint_fill(c->p, typical, (struct paint_box){x, bottom - low, GRAPH_STEP - 1, low});
    }
    for (int x = 0; budget && x < c->width; x += 6)
        paint_fill(c->p, warning,
                   (struct paint_box){c->x + x, bottom - (int)(GRAPH_HEIGHT * budget / top), 3, 1});
    c->y += GRAPH_HEIGHT + 8;
}

static void statistics(struct paint *p, const struct preview_ui *ui)
{
    const int height = PREVIEW_ROWS * PAINT_LINE + GRAPH_HEIGHT + 12 + 2 * PADDING - 4;
    int width = STATISTICS_WIDTH;
    struct column c = {p, MARGIN + PADDING, MARGIN + PADDING, 0};
    struct preview_row rows[PREVIEW_ROWS];

    if (width > p->width - 2 * MARGIN)
        width = p->width - 2 * MARGIN;
    c.width = (width - 2 * PADDING) / GRAPH_STEP * GRAPH_STEP;
    if (c.width < 2 * LABEL_WIDTH || !ui->have_status)
        return;
    paint_panel(p, panel, (struct paint_box){MARGIN, MARGIN, width, height});
    preview_ui_rows(ui, rows);
    for (int i = 0; i < PREVIEW_ROWS; i++) {
        if (i == PREVIEW_ROWS_ABOVE) {
            c.y += 4;
            graph(&c, ui);
        }
        draw_row(&c, &rows[i]);
    }
}

/* --------------------------------------------------------------------- help */

static const struct {
    const char *keys, *what;
} help_rows[] = {
    {"b", "filtered, unfiltered"},
    {"drag", "a line: unfiltered left, filtered right"},
    {"v", "the line on or off; arrow keys move it"},
    {"o", "statistics"},
    {"space", "freeze the picture"},
    {"m", "mirror, in this window only"},
    {"c", "map of frames averaged: dark is one"},
    {"t", "averaging over frames on or off"},
    {"s", "snapshot: PNG files, before and after"},
    {"f, F11", "full screen"},
    {"+  -", "radius"},
    {"]  [", "sigma-color"},
    {".  ,", "sigma-space"},
    {"n", "next filter: bilateral, gaussian..."},
    {"r", "range: gaussian, lorentzian"},
    {"w", "window: disc, square"},
    {"h", "this help"},
    {"q", "quit"},
};

static void help(struct paint *p)
{
    const int n = (int)(sizeof(help_rows) / sizeof(help_rows[0]));
    const struct paint_box box = {(p->width - 350) / 2, (p->height - n * PAINT_LINE - 30) / 2, 350,
                                  n * PAINT_LINE + 30};

    paint_panel(p, (SDL_Color){panel.r, panel.g, panel.b, 225}, box);
    for (int i = 0; i < n; i++) {
        const int y = box.y + 15 + i * PAINT_LINE;

        paint_text(p, bright, box.x + 18, y, help_rows[i].keys, SIZE_MAX);
        paint_text(p, dim, box.x + 80, y, help_rows[i].what, SIZE_MAX);
    }
}

/* ----------------------------------------------------------------- messages */

/* A message of one or two lines near the bottom. */
static void toast(struct paint *p, const struct preview_ui *ui, double alpha)
{
    const char *const second = strchr(ui->toast, '\n');
    const char *const lines[2] = {ui->toast, second ? second + 1 : NULL};
    const int n = second ? 2 : 1, widest = p->width - 2 * MARGIN - 28;
    char text[2][sizeof(ui->toast)];
    int width = 0, y = p->height - 56 - n * PAINT_LINE;

    for (int i = 0; i < n; i++) {
        (void)snprintf(text[i], sizeof(text[i]), "%.*s", (int)strcspn(lines[i], "\n"), lines[i]);
        if (paint_text_width(text[i], SIZE_MAX) > width)
            width = paint_text_width(text[i], SIZE_MAX);
    }
    if (width > widest)
        width = widest;
    p->alpha = alpha;
    paint_panel(
        p, (SDL_Color){panel.r, panel.g, panel.b, 215},
        (struct paint_box){(p->width - width) / 2 - 14, y - 7, width + 28, n * PAINT_LINE + 14});
    for (int i = 0; i < n; i++, y += PAINT_LINE) {
        const int own = paint_text_width(text[i], SIZE_MAX);

        text_within(p, i ? dim : bright, (p->width - (own < width ? own : width)) / 2, y, text[i],
                    width);
    }
    p->alpha = 1.0;
}

void preview_overlay_panels(struct paint *p, const struct preview_ui *ui, int64_t t_ns)
{
    const double alpha = preview_ui_toast_alpha(ui, t_ns);

    if (ui->frozen)
        tag(p, bright, p->width - MARGIN - tag_width("frozen"), MARGIN, "frozen");
    if (ui->map && ui->counted && ui->view != VIEW_UNFILTERED)
        legend(p, ui, ui->frozen ? MARGIN + 30 : MARGIN);
    if (ui->help)
        help(p);
    else if (ui->statistics)
        statistics(p, ui);
    if (alpha > 0.0)
        toast(p, ui, alpha);
}
