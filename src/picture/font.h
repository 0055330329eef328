#pragma once
/* The preview's letters: outlines of strokes, drawn for this program, of which it makes pictures
 * of any whole scale. At scale 1 a small letter is 8 pixels high, its lines 1.4 pixels wide.
 * Context: pure functions; any thread. */
#include <stddef.h>
#include <stdint.h>

#define FONT_FIRST 32 /* characters from here */
#define FONT_LAST 126 /* to here */
#define FONT_COUNT (FONT_LAST - FONT_FIRST + 1)

/* A cell that holds any letter, in pixels at scale 1. */
#define FONT_CELL_WIDTH 12
#define FONT_CELL_HEIGHT 17

/* Pixels at scale 1 from one letter to the next. */
int font_advance(int c);

/* Draws @c into a cell of FONT_CELL_WIDTH x FONT_CELL_HEIGHT times @scale pixels: 0 = clear,
 * 255 = ink. */
void font_render(int c, int scale, uint8_t *cell, size_t stride);
