#pragma once
/* Drawing over the picture: text and boxes. All places and sizes are whole design pixels, each of
 * which is `scale` x `scale` pixels of the window.
 * Context: the window thread. */
#include <SDL.h>

#include "base/error.h"

#define PAINT_MAX_SCALE 8
#define PAINT_LINE 18 /* from one line of text to the next */

struct paint {
    SDL_Renderer *renderer;
    SDL_Texture *atlas; /* all letters and a disc, white; for `atlas_scale` */
    int atlas_scale;
    int scale;
    int width, height; /* of the window in design pixels */
    double alpha;      /* 0..1; fades all that is drawn */
};

struct paint_box {
    int x, y, w, h;
};

/* Makes @p ready to draw in a window of @width x @height pixels of its own. The atlas is made when
 * the scale changes. False: the renderer has no room for it. */
bool paint_begin(struct paint *p, SDL_Renderer *renderer, int width, int height, int scale);
void paint_finish(struct paint *p);

void paint_fill(struct paint *p, SDL_Color color, struct paint_box box);

/* A box with round corners. */
void paint_panel(struct paint *p, SDL_Color color, struct paint_box box);

/* Up to @max bytes of text; the first letter's cell has its top left corner at (@x, @y), and its
 * baseline 13 below. Characters that are not ASCII are shown as '?'. */
void paint_text(struct paint *p, SDL_Color color, int x, int y, const char *text, size_t max);
int paint_text_width(const char *text, size_t max);

/* How many bytes of @text fit into @width. */
size_t paint_text_fit(const char *text, size_t max, int width);
