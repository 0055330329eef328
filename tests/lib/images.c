#include "tests/lib/images.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 256
#define GUARD_BYTE 0xA5

const char *const image_names[IMAGE_N_KINDS] = {
    "natural", "random", "binary", "checker", "salt", "edge", "black", "white", "between",
};

/* splitmix64 (S. Vigna, public domain description). */
uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int natural(int component, int x, int y, uint64_t *rng)
{
    const int noise = (int)(random_next(rng) % 13) - 6;
    const double shade = 120.0 + 70.0 * sin(x * 0.11 + component) * cos(y * 0.07);
    const double blob = hypot(x - 30.0, y - 15.0) < 12.0 ? 45.0 : 0.0;

    return (int)(shade + (component ? -blob / 2 : blob)) + noise;
}

/* Where weights of both greys are wrong by a little, the two errors add up half-way. */
static int between(int component, int x, int y, uint64_t seed)
{
    const int dark = (int)(seed % 100), bright = 155 + (int)(seed / 100 % 100);

    if (component)
        return 128;
    return x % 6 == 1 && y % 5 == 1 ? (dark + bright) / 2 + (int)(seed / 10000 % 16) - 8
           : (x + y) % 2            ? dark
                                    : bright;
}

static int sample(enum image_kind kind, int component, int x, int y, uint64_t seed, uint64_t *rng)
{
    const uint64_t r = random_next(rng);

    switch (kind) {
    case IMAGE_NATURAL:
        return natural(component, x, y, rng);
    case IMAGE_RANDOM:
        return (int)(r & 255);
    case IMAGE_BINARY:
        return r & 1 ? 255 : 0;
    case IMAGE_CHECKER:
        return (x + y + component) & 1 ? 255 : 0;
    case IMAGE_SALT:
        return r % 16 == 0 ? 255 : r % 16 == 1 ? 0 : 128;
    case IMAGE_EDGE:
        return x == 5 || y == 3 ? 200 : 60;
    case IMAGE_WHITE:
        return 255;
    case IMAGE_BETWEEN:
        return between(component, x, y, seed);
    default:
        return 0;
    }
}

/* Words have something in their lower byte, too, but for the darkest and the brightest. */
static void put(uint8_t *at, int level, int bytes, uint64_t *rng)
{
    uint16_t word;

    if (bytes == 1) {
        *at = (uint8_t)level;
        return;
    }
    word = (uint16_t)(level == 0     ? 0
                      : level == 255 ? 65535
                                     : level * 256 + (int)(random_next(rng) & 255));
    memcpy(at, &word, sizeof(word));
}

void image_fill(struct frame *f, enum image_kind kind, uint64_t seed)
{
    const struct format_info *info = &format_table[f->format];
    uint64_t rng = seed;

    for (int p = 0; p < info->planes; p++)
        for (int y = 0; y < frame_plane_rows(f, p); y++)
            for (size_t i = frame_row_bytes(f, p); i < f->stride[p]; i++)
                f->plane[p][(size_t)y * f->stride[p] + i] = (uint8_t)random_next(&rng);
    for (int c = 0; c < info->components; c++) {
        const struct samples s = frame_samples(f, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++) {
                const int v = sample(kind, c, x, y, seed, &rng);

                put(s.base + (size_t)y * s.stride + (size_t)(x * s.step),
                    v < 0     ? 0
                    : v > 255 ? 255
                              : v,
                    info->bytes, &rng);
            }
    }
}

int guarded_alloc(struct guarded *g, const struct frame *like, int pad)
{
    size_t offset = GUARD;

    g->frame = frame_like(like);
    (void)frame_layout_packed(&g->frame);
    for (int p = 0; p < format_table[like->format].planes; p++)
        g->frame.stride[p] += (size_t)pad;
    g->size = GUARD;
    for (int p = 0; p < format_table[like->format].planes; p++)
        g->size += g->frame.stride[p] * (size_t)frame_plane_rows(&g->frame, p) + GUARD;
    g->memory = malloc(g->size);
    if (!g->memory)
        return -ENOMEM;
    for (int p = 0; p < format_table[like->format].planes; p++) {
        g->frame.plane[p] = g->memory + offset;
        offset += g->frame.stride[p] * (size_t)frame_plane_rows(&g->frame, p) + GUARD;
    }
    return 0;
}

void guarded_arm(struct guarded *g)
{
    memset(g->memory, GUARD_BYTE, g->size);
}

long guarded_check(const struct guarded *g)
{
    const struct frame *f = &g->frame;
    const uint8_t *next = g->memory; /* first byte not yet looked at */
    long changed = 0;

    for (int p = 0; p < format_table[f->format].planes; p++)
        for (int y = 0; y < frame_plane_rows(f, p); y++) {
            const uint8_t *row = f->plane[p] + (size_t)y * f->stride[p];

            for (; next < row; next++)
                changed += *next != GUARD_BYTE;
            next = row + frame_row_bytes(f, p);
        }
    for (; next < g->memory + g->size; next++)
        changed += *next != GUARD_BYTE;
    return changed;
}

void guarded_free(struct guarded *g)
{
    free(g->memory);
    g->memory = NULL;
}

struct difference frame_difference(const struct frame *a, const struct frame *b)
{
    const bool words = format_table[a->format].bytes > 1;
    struct difference d = {0};

    for (int c = 0; c < format_table[a->format].components; c++) {
        const struct samples s = frame_samples(a, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++) {
                const int raw = abs(frame_sample(a, c, x, y) - frame_sample(b, c, x, y));
                const int diff = words ? (raw + 256) / 257 : raw;
                const double exact = words ? raw / 257.0 : raw;

                d.max = diff > d.max ? diff : d.max;
                d.n_over_1 += diff > 1;
                d.n_samples++;
                d.sum_squares += exact * exact;
                d.max_word = words && raw > d.max_word ? raw : d.max_word;
            }
    }
    return d;
}

double difference_psnr(const struct difference *d)
{
    return d->sum_squares > 0.0
               ? 10.0 * log10(255.0 * 255.0 * (double)d->n_samples / d->sum_squares)
               : INFINITY;
}
