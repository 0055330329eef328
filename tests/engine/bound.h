#pragma once
/* The bound of the image contract, for an engine against the reference. */
#include <stdlib.h>

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

struct count_difference {
    long n, n_off; /* blocks */
};

/* The counts of blocks (struct engine_report; @want may be NULL). A count is stored in steps of up
 * to 1/32 of it: what one rounds up the other rounds down, and as counts go on from each other they
 * may be two steps apart, in a picture without noise everywhere. A block is told in halves of a
 * frame, rounded once more. As of samples, one of a thousand may be further off: what is just over
 * the edge of a change of light for one engine is not for the other, until that fades. */
static inline bool counts_within_bound(const uint8_t *got, const uint8_t *want, size_t n,
                                       struct count_difference *all)
{
    bool within = true;

    for (size_t i = 0; want && i < n; i++) {
        const int off = abs(got[i] - want[i]);

        all->n++;
        all->n_off += off > 1 + want[i] / 16;
        within = within && off <= 1 + want[i] / 4;
    }
    return within;
}
