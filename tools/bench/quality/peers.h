#pragma once
/* Filters of ffmpeg, if it is installed. Context: one thread. */
#include "tools/bench/quality/camera.h"

/* As ffmpeg's -vf takes them, with a short name; NULL ends. Their strengths are those that gained
 * most on these clips, of a few. The last two look at frames to come. */
struct peer {
    const char *name, *filter;
};

extern const struct peer peer_table[];

/* Filters @in to @out. False: there is no ffmpeg, or it has no such filter. */
bool peer_run(const struct peer *p, const struct frame in[CLIP_FRAMES],
              const struct frame out[CLIP_FRAMES]);
