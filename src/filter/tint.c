#include "filter/tint.h"

static uint64_t count(const uint32_t votes[TINT_BINS])
{
    uint64_t n = 0;

    for (int i = 0; i < TINT_BINS; i++)
        n += votes[i];
    return n;
}

/* Where @share of @n votes are before, in bins; they lie evenly in each. */
static double place(const uint32_t votes[TINT_BINS], uint64_t n, double share)
{
    const double wanted = share * (double)n;
    double before = 0.0;

    for (int i = 0; i < TINT_BINS; i++) {
        if (votes[i] && before + votes[i] >= wanted)
            return i + (wanted - before) / votes[i];
        before += votes[i];
    }
    return 0.0;
}

static struct tint_votes say(const uint32_t votes[TINT_BINS], uint64_t n)
{
    const double at[TINT_QUANTILES] = {place(votes, n, 0.125), place(votes, n, 0.5),
                                       place(votes, n, 0.875)};

    return tint_votes_at(at);
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
    struct tint_votes of[TINT_MEASURES][2];

    for (int m = 0; m < TINT_MEASURES; m++)
        for (int i = 0; i < 2; i++)
            of[m][i] = say(sums->votes[m][i], n);
    return tint_that_counts(of, n, sums->all);
}
