#include "tools/bench/quality/measure.h"

#include <math.h>
#include <stdlib.h>

#define W CLIP_WIDTH
#define H CLIP_HEIGHT
#define MEMORY 8 /* frames */
#define BLOCK 16

const char *const part_names[N_PARTS] = {
    [PART_WHOLE] = "whole", [PART_STILL] = "still", [PART_MOVING] = "moving",
    [PART_TRAIL] = "trail", [PART_LUMA] = "luma",   [PART_CHROMA] = "chroma",
};

/* The sample that the luma sample at @x and @y has of a component. */
static uint8_t sample(const struct frame *f, int component, int x, int y)
{
    const struct format_info *i = &format_table[f->format];
    const int column = component ? x >> i->hshift : x, row = component ? y >> i->vshift : y;

    return f->plane[component][(size_t)row * f->stride[component] + (size_t)column];
}

/* Whether a component has a sample for the luma sample at @x and @y: several share one of chroma,
 * which belongs to the upper left one of them. */
static bool has_sample(const struct frame *f, int component, int x, int y)
{
    const struct format_info *i = &format_table[f->format];

    return !component || (x % (1 << i->hshift) == 0 && y % (1 << i->vshift) == 0);
}

/* Whether the clean picture changed from frame @t - 1 to @t at a luma sample or in its chroma. */
static bool changed(const struct film *film, int t, int x, int y)
{
    const struct frame *a = &film->clean[t - 1], *b = &film->clean[t];

    return sample(a, 0, x, y) != sample(b, 0, x, y) || sample(a, 1, x, y) != sample(b, 1, x, y) ||
           sample(a, 2, x, y) != sample(b, 2, x, y);
}

/* PART_STILL, PART_MOVING or PART_TRAIL; the first frames have no past and are none of them. */
static enum part part_of(const struct film *film, int t, int x, int y)
{
    bool before = false;

    if (t < MEMORY)
        return PART_WHOLE;
    for (int k = t - MEMORY + 1; k < t; k++)
        before = before || changed(film, k, x, y);
    if (changed(film, t, x, y))
        return PART_MOVING;
    return before ? PART_TRAIL : PART_STILL;
}

struct sums {
    double error[N_PARTS], n[N_PARTS];
    double flicker, n_flicker;
};

static void add(struct sums *s, enum part part, double squared)
{
    s->error[part] += squared;
    s->n[part]++;
}

static double squared_error(const struct frame *f, const struct frame *clean, int c, int x, int y)
{
    const double d = (double)sample(f, c, x, y) - sample(clean, c, x, y);

    return d * d;
}

static void add_pixel(struct sums *s, const struct frame *frames, const struct film *film, int t,
                      int x, int y)
{
    const enum part part = part_of(film, t, x, y);

    for (int c = 0; c < 3; c++) {
        double e;

        if (!has_sample(&frames[t], c, x, y))
            continue;
        e = squared_error(&frames[t], &film->clean[t], c, x, y);
        add(s, PART_WHOLE, e);
        add(s, c ? PART_CHROMA : PART_LUMA, e);
        if (part != PART_WHOLE)
            add(s, part, e);
    }
    if (part == PART_STILL) {
        s->flicker += abs(sample(&frames[t], 0, x, y) - sample(&frames[t - 1], 0, x, y));
        s->n_flicker++;
    }
}

struct score measure(const struct frame frames[CLIP_FRAMES], const struct film *film)
{
    struct sums s = {0};
    struct score score;

    for (int t = 0; t < CLIP_FRAMES; t++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                add_pixel(&s, frames, film, t, x, y);
    for (int i = 0; i < N_PARTS; i++)
        score.psnr[i] =
            s.n[i] > 0.0 ? 10.0 * log10(255.0 * 255.0 * s.n[i] / fmax(s.error[i], 1e-9)) : NAN;
    score.flicker = s.n_flicker > 0.0 ? s.flicker / s.n_flicker : NAN;
    return score;
}

/* The mean squared error of a block. */
static double block_error(const struct frame *f, const struct frame *clean, int x0, int y0)
{
    double sum = 0.0, n = 0.0;

    for (int c = 0; c < 3; c++)
        for (int y = y0; y < y0 + BLOCK; y++)
            for (int x = x0; x < x0 + BLOCK; x++)
                if (has_sample(f, c, x, y)) {
                    sum += squared_error(f, clean, c, x, y);
                    n++;
                }
    return sum / n;
}

struct blocks compare_blocks(const struct frame frames[CLIP_FRAMES],
                             const struct frame than[CLIP_FRAMES], const struct film *film)
{
    const double per_frame = (double)(W / BLOCK) * (H / BLOCK);
    struct blocks ret = {.worst = INFINITY, .later_worst = INFINITY};

    for (int t = 0; t < CLIP_FRAMES; t++)
        for (int y = 0; y + BLOCK <= H; y += BLOCK)
            for (int x = 0; x + BLOCK <= W; x += BLOCK) {
                const double mine = block_error(&frames[t], &film->clean[t], x, y) + 1.5;
                const double theirs = block_error(&than[t], &film->clean[t], x, y) + 1.5;
                const double gain = 10.0 * log10(theirs / mine);

                ret.worst = fmin(ret.worst, gain);
                ret.share_worse += gain < -1.0;
                if (t > 0)
                    ret.later_worst = fmin(ret.later_worst, gain);
                if (t > 0)
                    ret.later_share += gain < -1.0;
            }
    ret.share_worse *= 100.0 / (per_frame * CLIP_FRAMES);
    ret.later_share *= 100.0 / (per_frame * (CLIP_FRAMES - 1));
    return ret;
}
