#pragma once
/* The bound of the image contract, for an engine against the reference. */
#include "tests/lib/images.h"

/* Of 16 bits the bound is 257 levels, but single precision does better. */
#define MOST_OF_WORDS 16

/* One sample of a small picture may be 2 levels off; over all cases the bound is strict. */
static inline bool within_bound(const struct difference *d)
{
    const long allowed = d->n_samples < 2000 ? 1 : d->n_samples / 1000;

    return d->max <= 2 && d->n_over_1 <= allowed &&
           (d->n_samples < 1000 || difference_psnr(d) >= 50.0);
}

static inline void difference_add(struct difference *all, const struct difference *d)
{
    all->max = d->max > all->max ? d->max : all->max;
    all->max_word = d->max_word > all->max_word ? d->max_word : all->max_word;
    all->n_samples += d->n_samples;
    all->n_over_1 += d->n_over_1;
    all->sum_squares += d->sum_squares;
}
