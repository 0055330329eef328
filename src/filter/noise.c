#include "filter/noise.h"

#include <math.h>
#include <string.h>

#define UNKNOWN_VARIANCE 75.0
#define UNKNOWN_SHARE 0.14 /* as of white noise */

int noise_bin(double variance)
{
    uint64_t bits;
    int bin;

    memcpy(&bits, &variance, sizeof(bits));
    bin = (int)(bits >> 48) - ((1023 + NOISE_LOWEST) << 4);
    return variance <= 0.0 || bin < 0 ? 0 : bin >= NOISE_BINS ? NOISE_BINS - 1 : bin;
}

/* Where bin @bin begins. */
static double bin_low(double bin)
{
    const double whole = floor(bin);
    const int octave = (int)floor(whole / 16.0);

    return ldexp(1.0 + (bin - 16.0 * octave) / 16.0, octave + NOISE_LOWEST);
}

static uint64_t count(const uint32_t bins[NOISE_BINS], int from, int to)
{
    uint64_t n = 0;

    for (int i = from; i < to; i++)
        n += bins[i];
    return n;
}

static uint64_t count_seen(const uint32_t bins[NOISE_BINS])
{
    return count(bins, NOISE_SEEN, NOISE_BINS);
}

/* Whether class @c is measured by itself. */
static bool has_enough(const struct noise_sums *sums, int c)
{
    return count_seen(sums->blocks[c]) >= NOISE_ENOUGH_BLOCKS;
}

/* The variance of which @share of all blocks have less. */
static double quantile(const uint32_t bins[NOISE_BINS], double share)
{
    const double wanted = share * (double)count_seen(bins);
    double before = 0.0;

    for (int i = NOISE_SEEN; i < NOISE_BINS; i++) {
        if (bins[i] && before + bins[i] >= wanted)
            return bin_low(i + (wanted - before) / bins[i]);
        before += bins[i];
    }
    return 0.0;
}

void noise_init(struct noise *n)
{
    *n = (struct noise){.share = UNKNOWN_SHARE};
    for (int c = 0; c < NOISE_ALL_CLASSES; c++)
        n->variance[c] = UNKNOWN_VARIANCE;
}

/* How much higher than their quantile the median of all blocks is, where most of a class is flat:
 * the mean over these classes. 0: there is too little of them. */
static double measure_uneven(const struct noise_sums *sums, enum noise_compared compared)
{
    double sum = 0.0, flat = 0.0, all = 0.0;

    for (int c = 0; c < NOISE_CLASSES; c++) {
        const uint64_t n = count_seen(sums->blocks[c]);
        const double least = quantile(sums->blocks[c], NOISE_QUANTILE);
        const double median = quantile(sums->blocks[c], 0.5);

        all += (double)n;
        if (noise_is_flat((uint32_t)n, sums->flat[c], median, least, compared)) {
            sum += (double)n * median / least;
            flat += (double)n;
        }
    }
    return NOISE_FLAT_PART * flat >= all && flat > 0.0 ? sum / flat : 0.0;
}

/* What this picture says of each class; a class with few blocks is like its nearest. False: there
 * are not enough blocks at all. */
static bool measure(const struct noise_sums *sums, enum noise_compared compared,
                    double ret[NOISE_CLASSES])
{
    const double factor = NOISE_QUANTILE_TO_MEAN * noise_raise(measure_uneven(sums, compared));
    double own[NOISE_CLASSES];
    bool enough[NOISE_CLASSES], any = false;

    for (int c = 0; c < NOISE_CLASSES; c++) {
        enough[c] = has_enough(sums, c);
        any = any || enough[c];
        own[c] = factor * quantile(sums->blocks[c], NOISE_QUANTILE);
    }
    for (int c = 0; c < NOISE_CLASSES; c++)
        for (int away = 0, found = 0; any && !found; away++)
            for (int side = -1; side <= 1 && !found; side += 2) {
                const int k = c + side * away;

                found = k >= 0 && k < NOISE_CLASSES && enough[k];
                if (found)
                    ret[c] = own[k];
            }
    return any;
}

/* The same for a picture without such blocks: all that there are, in one class. */
static bool measure_all(const struct noise_sums *sums, int first, int last,
                        double ret[NOISE_CLASSES])
{
    uint32_t all[NOISE_BINS] = {0};

    for (int c = first; c <= last; c++)
        for (int i = 0; i < NOISE_BINS; i++)
            all[i] += sums->blocks[c][i];
    for (int c = 0; c < NOISE_CLASSES; c++)
        ret[c] = NOISE_QUANTILE_TO_MEAN * quantile(all, NOISE_QUANTILE);
    return count_seen(all) > 0;
}

/* Near black and white; with few blocks it is as beside them. */
static void measure_ends(const struct noise_sums *sums, double now[NOISE_ALL_CLASSES])
{
    for (int c = NOISE_NEAR_BLACK; c <= NOISE_NEAR_WHITE; c++)
        now[c] = has_enough(sums, c) ? quantile(sums->blocks[c], 0.5) : now[noise_beside(c)];
}

/* How many blocks have no noise at all, of the classes before @last. */
static uint64_t count_drawn(const struct noise_sums *sums, int last)
{
    uint64_t drawn = 0;

    for (int c = 0; c < last; c++)
        drawn += count(sums->blocks[c], 0, NOISE_SEEN);
    return drawn;
}

/* Those that have. */
static uint64_t count_all_seen(const struct noise_sums *sums, int last)
{
    uint64_t seen = 0;

    for (int c = 0; c < last; c++)
        seen += count_seen(sums->blocks[c]);
    return seen;
}

bool noise_is_quiet(const struct noise *n, int class, int bin)
{
    return class < NOISE_CLASSES && bin >= NOISE_SEEN && bin < NOISE_BINS - 1 &&
           bin <= noise_bin(n->variance[class]);
}

/* What means leave: @by of what is new, or all of it where nothing is known. The first picture knew
 * too little to say which blocks are quiet, so what the second finds in them is not kept. */
static void update_left(struct noise *n, const struct noise_sums *sums)
{
    const double by = n->n_frames < 3 || n->left.yy <= 0.0 ? 1.0 : 0.1;
    double *const old[NOISE_PAIRS] = {&n->left.yy, &n->left.yu, &n->left.yv,
                                      &n->left.uu, &n->left.uv, &n->left.vv};
    double all;

    if (sums->moved <= 0)
        return;
    all = NOISE_MEANS * (double)sums->moved;
    n->share += by * (fmax((double)sums->left / all, NOISE_LEAST_SHARE) - n->share);
    for (int i = 0; i < NOISE_PAIRS; i++)
        *old[i] += by * ((double)sums->covariance[i] / all - *old[i]);
}

void noise_update(struct noise *n, const struct noise_sums *sums, enum noise_compared compared)
{
    const uint64_t seen = count_all_seen(sums, NOISE_CLASSES);
    const uint64_t drawn = count_drawn(sums, NOISE_CLASSES);
    const uint64_t ends = count_drawn(sums, NOISE_ALL_CLASSES) - drawn;
    const enum noise_compared others =
        noise_compared_in(compared, seen, drawn + ends + count_all_seen(sums, NOISE_ALL_CLASSES));
    double now[NOISE_ALL_CLASSES] = {0};
    bool ends_alone = false;

    if (noise_show_changes(&n->show))
        n->n_frames = 0;
    n->show.part_drawn = noise_part_drawn(drawn, ends, seen);
    if (n->show.on)
        return;
    if (!noise_is_drawn(drawn, seen, compared)) {
        if (!measure(sums, others, now) && !measure_all(sums, 0, NOISE_CLASSES - 1, now)) {
            if (!measure_all(sums, NOISE_NEAR_BLACK, NOISE_NEAR_WHITE, now))
                return;
            /* What is too dark, or too bright, tells nothing of what comes after it. */
            ends_alone = n->n_frames > 1;
        }
        measure_ends(sums, now);
        for (int c = 0; c < NOISE_ALL_CLASSES; c++)
            now[c] = noise_beside_drawn(now[c], drawn, seen);
        if (compared != NOISE_FIRST)
            update_left(n, sums);
    }
    for (int c = 0; c < NOISE_ALL_CLASSES; c++)
        if (!ends_alone || (c >= NOISE_CLASSES && has_enough(sums, c)))
            noise_follow(&n->variance[c], &n->above[c], &n->low[c], now[c], n->n_frames,
                         c < NOISE_CLASSES ? others : compared);
    for (int c = NOISE_NEAR_BLACK; c <= NOISE_NEAR_WHITE && !ends_alone; c++)
        n->variance[c] = fmin(n->variance[c], n->variance[noise_beside(c)]);
    n->n_frames++;
}

bool noise_repeat(struct noise *n)
{
    const bool still = noise_show_repeats(&n->show);

    for (int c = 0; c < NOISE_ALL_CLASSES && n->n_frames == 1; c++)
        noise_set_aside(&n->variance[c], &n->low[c]);
    if (still && n->n_frames == 1)
        memset(n->low, 0, sizeof(n->low));
    if (still && n->show.on) {
        memset(n->variance, 0, sizeof(n->variance));
        memset(n->above, 0, sizeof(n->above));
    }
    return noise_show_stops(&n->show);
}

double noise_variance(const struct noise *n, double y)
{
    return noise_by_luma(n->variance, y);
}

double noise_sigma(const struct noise *n)
{
    double sum = 0.0;

    for (int c = 0; c < NOISE_CLASSES && n->n_frames > 0; c++)
        sum += n->variance[c];
    return sqrt(sum / NOISE_CLASSES / 3.0);
}
