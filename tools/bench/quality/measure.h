#pragma once
/* How near frames are to the clean ones, and where they are not. Context: pure functions. */
#include "tools/bench/quality/camera.h"

/* PSNR in dB, over all samples of all frames that belong to a part of them. */
enum part {
    PART_WHOLE,
    PART_STILL,  /* the clean picture has not changed there in the last 8 frames */
    PART_MOVING, /* it has */
    PART_TRAIL,  /* it stands still again, but something left in the last 8 frames */
    PART_LUMA,
    PART_CHROMA,
    N_PARTS
};

extern const char *const part_names[N_PARTS];

struct score {
    double psnr[N_PARTS]; /* NAN: no sample belongs to it */
    double
        flicker; /* mean difference of still luma to the frame before, levels; NAN: none is still */
};

struct score measure(const struct frame frames[CLIP_FRAMES], const struct film *film);

/* Blocks of 16x16 luma and their chroma against the same blocks in @than, in dB of the mean squared
 * error, to which 1.5 are added on both sides. */
struct blocks {
    double worst;
    double share_worse;              /* of all blocks, by more than 1 dB, percent */
    double later_worst, later_share; /* the same without the first frame */
};

struct blocks compare_blocks(const struct frame frames[CLIP_FRAMES],
                             const struct frame than[CLIP_FRAMES], const struct film *film);
