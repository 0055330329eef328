#pragma once
/* Finds out which block shape suits this GPU: when a size is met for the first time, the shapes
 * are timed on it, a quarter of a second at most, and what was found is kept on disk
 * (shape_cache.h). Context: the engine's thread. */
#include <stdbool.h>
#include <stdint.h>

#include "cuda/kernel/bilateral.h"
#include "cuda/shape_cache.h"

struct autotune {
    bool on;
    char key[512];            /* of the cache: what the times depend on */
    struct shape_table table; /* measured or from the cache */
    int64_t measured_ns;      /* spent in all */
};

/* @device is the GPU's name. Where @on is false nothing is measured, read or written. */
void autotune_init(struct autotune *a, bool on, const char *device);

/* Sets @p->warps for launches of @rows rows each. @p is for the whole picture. To measure, it waits
 * until the device has nothing to do and then filters the frames of @p on @streams by turns. 0 or
 * -errno as bilateral_launch. */
int autotune_choose(struct autotune *a, struct bilateral_params *p, int rows,
                    const cudaStream_t streams[2]);
