#pragma once
/* The card: the picture that a virtual camera shows while there is none, a line of text on a calm
 * grey. */
#include "picture/frame.h"

/* Fills @f, of 8 bits, in its own format, size and colour. */
void card_draw(struct frame *f, const char *text);
