#pragma once
/* What a camera makes of a clip: a lens that leaves no pixel sharp, noise, 8 bits, and fewer
 * samples of chroma. Context: one thread. */
#include "picture/frame.h"
#include "tools/bench/quality/clips.h"

enum noise_kind {
    NOISE_WHITE,      /* of each pixel by itself */
    NOISE_CORRELATED, /* of neighbours, as after demosaicing */
    NOISE_BLOTCHY,    /* of chroma, several pixels wide */
    NOISE_JPEG,       /* white, and then compressed as MJPG of quality 80 */
    NOISE_N_KINDS
};

extern const char *const noise_names[NOISE_N_KINDS];

struct film {
    struct frame clean[CLIP_FRAMES], noisy[CLIP_FRAMES];
};

/* BT.601, full range; frames own their memory. The variance of the noise of each of R', G', B' is
 * 25 + 0.35 times the level. False: out of memory, or there is no JPEG library. */
bool film_shoot(struct film *f, const struct clip *clip, enum noise_kind kind,
                enum frame_format format);
void film_free(struct film *f); /* zeroed is fine */

/* CLIP_FRAMES frames like those of a film of @format, FRAME_I422 or FRAME_I420. False: out of
 * memory. */
bool frames_alloc(struct frame frames[CLIP_FRAMES], enum frame_format format);
void frames_free(struct frame frames[CLIP_FRAMES]);
