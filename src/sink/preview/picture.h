#pragma once
/* The two pictures of the preview, before and after the filter, as textures of the frames' own
 * pixel format, and how they are drawn side by side.
 * Context: the window thread. */
#include <SDL.h>

#include "base/error.h"
#include "picture/frame.h"
#include "sink/preview/ui.h"

struct preview_picture {
    SDL_Renderer *renderer;
    int width, height;
    SDL_Texture *texture[2];      /* before, after */
    const struct frame *frame[2]; /* the caller's; NULL = none yet */
    bool stale[2];                /* the texture does not hold the frame yet */
    SDL_Texture *map;             /* a pixel for each of the counts of the one after */
    int map_most;                 /* the map in it is drawn for so many frames; 0 = it is stale */
};

/* A format and colour that a texture can have, nearest to those of @f, which it replaces. */
void preview_picture_adapt(struct frame *f);

/* Makes textures for frames like @like. -ENODEV: the renderer cannot. */
int preview_picture_open(struct preview_picture *p, SDL_Renderer *renderer,
                         const struct frame *like, struct error *err);
void preview_picture_close(struct preview_picture *p);

/* Sets the pictures that are drawn from now on: they stay as they are until the next call. With
 * NULL for @before, @after is the card. */
void preview_picture_set(struct preview_picture *p, const struct frame *before,
                         const struct frame *after);

/* Draws at @at what @ui wants to see, parted at @line, all in pixels of the window. */
void preview_picture_draw(struct preview_picture *p, const struct preview_ui *ui, SDL_Rect at,
                          int line);
