#pragma once
/* The quick road through the device for one frame alone: the picture is cut into strips, and
 * upload, kernel and download of neighbouring strips overlap. */
#include "cuda/kernel/bilateral.h"
#include "picture/frame.h"

#define STRIPS_MAX 12

struct strips {
    cudaStream_t upload, kernel[2], download;
    cudaEvent_t arrived[STRIPS_MAX], filtered[STRIPS_MAX];
};

/* @s is zeroed memory. On failure what was made is left for strips_finish(). */
cudaError_t strips_init(struct strips *s);
void strips_finish(struct strips *s);

/* Rows of every strip but the last of a picture. */
int strips_rows(int height);

/* Starts filtering @in to @out, both in pinned memory, by way of the device frames @before and
 * @after, for which @p was prepared. All is done when the download stream has done it. Nothing
 * else of @s may be under way. 0 or -errno. */
int strips_start(struct strips *s, const struct bilateral_params *p, const struct frame *in,
                 const struct frame *before, const struct frame *after, const struct frame *out);
