#pragma once
/* Whether a JPEG has all of its blocks, found out without decoding them: their codes are only
 * counted, which takes a quarter to a third of the time (tools/bench/mjpg.c). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False, too, where it is not as in jpeg_layout.h. Stray bytes between the last block and the
 * marker behind it do no harm, and some cameras put them into every frame. */
bool jpeg_is_whole(const uint8_t *jpeg, size_t size);
