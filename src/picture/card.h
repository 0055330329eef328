#pragma once
/* The picture that a virtual camera shows while there is none: a line of text on a calm grey. */
#include "picture/frame.h"

/* Fills @f, in its own format, size and colour. */
void placeholder_draw(struct frame *f, const char *text);
