#pragma once
/* Pictures for tests: the cases in which filters go wrong. Deterministic for a seed. */
#include <stdint.h>

#include "picture/frame.h"

enum image_kind {
    IMAGE_NATURAL, /* smooth shading, soft edges and a little noise */
    IMAGE_RANDOM,  /* every sample uniform in 0..255 */
    IMAGE_BINARY,  /* every sample 0 or 255 */
    IMAGE_CHECKER, /* 0 and 255 in a checkerboard */
    IMAGE_SALT,    /* grey with single bright and dark samples */
    IMAGE_EDGE,    /* one straight edge, one pixel wide */
    IMAGE_BLACK,   /* all 0 */
    IMAGE_WHITE,   /* all 255 */
    IMAGE_BETWEEN, /* a fine pattern of two greys, and single samples about half-way */
    IMAGE_N_KINDS
};

extern const char *const image_names[IMAGE_N_KINDS];

uint64_t random_next(uint64_t *state);

/* Fills the samples of @f; its padding is filled with noise, which no filter may look at. */
void image_fill(struct frame *f, enum image_kind kind, uint64_t seed);

/* A frame in memory of its own with rows padded by @pad bytes and guard bytes before, between
 * and behind the planes. guarded_check() returns the number of guard and padding bytes that
 * were changed since guarded_arm(). */
struct guarded {
    struct frame frame;
    uint8_t *memory;
    size_t size;
};

int guarded_alloc(struct guarded *g, const struct frame *like, int pad);
void guarded_arm(struct guarded *g);
long guarded_check(const struct guarded *g);
void guarded_free(struct guarded *g);

/* How two frames of equal format and size differ, over all samples, in levels of 8 bits; of words,
 * a part of one counts as one in `max`. */
struct difference {
    int max;
    int max_word; /* in levels of 16 bits; 0 of bytes */
    long n_samples, n_over_1;
    double sum_squares;
};

struct difference frame_difference(const struct frame *a, const struct frame *b);
double difference_psnr(const struct difference *d); /* dB; INFINITY when equal */
