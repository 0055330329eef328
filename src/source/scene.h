#pragma once
/* Moving pictures made by arithmetic: the clean scenes behind the `test:` source.
 *
 * A scene is a still background and a few layers (a head, a blink) that move over it by whole
 * pixels. All are painted once, on create; a row of any frame is then a copy and some blending.
 * Only integers are used, so that every machine gets the same bytes.
 * Context: a scene does not change after create; any thread may read it. */
#include <stdint.h>

struct scene;

/* Names of the scenes, the default first, NULL at the end. */
extern const char *const scene_names[];

/* Paints scene number @index of scene_names. -ENOMEM; -ECANCELED: @stop_fd became readable before
 * it was done, which takes long where a picture is large. */
int scene_create(struct scene **ret, int index, int width, int height, int stop_fd);
void scene_destroy(struct scene *s); /* accepts NULL */

/* Writes the R', G' and B' of @n pixels of frame number @seq, from (x, y) to the right. */
void scene_row(const struct scene *s, uint64_t seq, int x, int y, int n, uint8_t *const rgb[3]);
