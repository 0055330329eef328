#include "filter/tint.h"

static uint64_t count(const uint32_t votes[TINT_BINS])
{
    uint64_t n = 0;

    for (int i = 0; i < TINT_BINS; i++)
        n += votes[i];
    return n;
}

/* The median of @n votes, which lie evenly in a bin. */
static double median(const uint32_t votes[TINT_BINS], uint64_t n)
{
    const double wanted = 0.5 * (double)n;
    double before = 0.0;

    for (int i = 0; i < TINT_BINS; i++) {
        if (votes[i] && before + votes[i] >= wanted)
            return tint_at(i + (wanted - before) / votes[i]);
        before += votes[i];
    }
    return 0.0;
}

static struct tint medians(const uint32_t votes[2][TINT_BINS], uint64_t n)
{
    return (struct tint){median(votes[0], n), median(votes[1], n)};
}

void tint_add(struct tint_sums *to, const struct tint_sums *from)
{
    for (int m = 0; m < TINT_MEASURES; m++)
        for (int i = 0; i < TINT_BINS; i++) {
            to->votes[m][0][i] += from->votes[m][0][i];
            to->votes[m][1][i] += from->votes[m][1][i];
        }
    to->all += from->all;
}

struct tint tint_find(const struct tint_sums *sums)
{
    const uint64_t n = count(sums->votes[TINT_FOLLOWED][0]);

    return tint_that_counts(medians(sums->votes[TINT_FOLLOWED], n),
                            medians(sums->votes[TINT_IN_PLACE], n), n, sums->all);
}
