#pragma once
/* JPEGs decoded on the GPU by nvJPEG, a library that is used where it is installed. It is for
 * cameras, so that there is one decoder, and it is there only while an engine is: the GPU sleeps
 * when the last one has gone.
 *
 * nvJPEG tells nothing of damage: where blocks are missing it takes those of the JPEG before
 * (13.0, 2026-11-23). Context: any thread. */
#include "picture/convert.h"

/* An engine is there, on the GPU with this number; and has gone. Nothing is decoded any more when
 * the latter returns. */
void jpeg_engine_starts(int gpu);
void jpeg_engine_ends(void);

extern const struct jpeg_device jpeg_on_gpu;
