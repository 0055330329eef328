#pragma once
/* The picture that a virtual camera shows while there is none. */
#include "frame.h"

/* Fills @f, in its own format, size and colour. */
void placeholder_draw(struct frame *f);
