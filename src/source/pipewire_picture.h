#pragma once
/* Private to the source of PipeWire's cameras: the picture in one of its buffers. What is in there
 * was written by another program, and may be anything. Pure functions; any thread, as long as the
 * buffer stays. */
#include <spa/buffer/buffer.h>

#include "pipewire/format.h"

/* Has @ret show it in place; with a fourth byte in its pixels, rows of those.
 * False: it is damaged. */
bool pipewire_picture_of(const struct pipewire_picture *agreed, const struct spa_buffer *b,
                         struct frame *ret);

/* Makes @dst, which is of that size and has its own memory, @src without the fourth byte. */
void pipewire_pack(struct frame *dst, const struct frame *src, enum pipewire_fourth fourth);
