#pragma once
/* Raw frames as the past keeps them: in planes, with RAW_PAD samples on each side of each, which
 * repeat the nearest one of the picture. No vector of motion reaches further. Context: any thread,
 * each row by one at a time. */
#include "engine/simd/rows.h"
#include "picture/frame.h"

#define RAW_PAD 64

/* A frame of the size of @in with samples of 8 bits, in memory of its own: release with raw_free().
 * -ENOMEM. raw_alloc_words(): with those of @in, of 16 bits, and half as many on each side, which
 * may be anything. */
int raw_alloc(struct frame *f, const struct frame *in);
int raw_alloc_words(struct frame *f, const struct frame *in);
void raw_free(struct frame *f);

/* The luma rows @first..@last - 1 and their chroma: @first is even, as is @last but at the end. Of
 * samples of 16 bits their upper bytes; raw_take_words(): as they are. */
void raw_take_words(struct frame *f, const struct frame *in, int first, int last);
void raw_take(struct frame *f, const struct row_kernels *kernels, const struct frame *in, int first,
              int last);

/* Whether these rows are the same in two frames. */
bool raw_same(const struct frame *a, const struct frame *b, int first, int last);

static inline uint8_t *raw_row(const struct frame *f, int plane, int y)
{
    return f->plane[plane] + (size_t)y * f->stride[plane];
}
