#include "engine/simd/levels.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/time/past.h"
#include "filter/mean_count.h"

size_t levels_cells_bytes(const struct frame *raw)
{
    return raw->stride[0] / 2 * (size_t)past_cells(raw->height) + LEVELS_BEHIND;
}

int levels_alloc(struct levels *l, const struct frame *raw)
{
    const int components = format_table[raw->format].components;
    size_t n = LEVELS_PAD, rows[3] = {0};
    uint16_t *memory;

    for (int c = 0; c < components; c++) {
        rows[c] = (size_t)frame_plane_rows(raw, c);
        l->stride[c] = raw->stride[c];
        n += rows[c] * l->stride[c];
    }
    l->cells = raw->stride[0] / 2;
    memory = calloc(n * sizeof(*memory) + levels_cells_bytes(raw), 1);
    if (!memory)
        return -ENOMEM;
    memory += LEVELS_PAD;
    for (int c = 0; c < components; c++) {
        l->sample[c] = memory;
        memory += rows[c] * l->stride[c];
    }
    l->count = (uint8_t *)memory;
    return 0;
}

void levels_free(struct levels *l)
{
    if (l->sample[0])
        free(l->sample[0] - LEVELS_PAD);
    *l = (struct levels){0};
}

/* The sum of the counts of a block, in frames. */
static double block_sum(const struct levels *l, const struct frame *f, int left, int top, int *n)
{
    const int right = left + FRAME_COUNT_BLOCK < f->width ? left + FRAME_COUNT_BLOCK : f->width;
    const int below = top + FRAME_COUNT_BLOCK < f->height ? top + FRAME_COUNT_BLOCK : f->height;
    double sum = 0.0;

    for (int y = top; y < below; y += 2)
        for (int x = left; x < right; x += 2)
            sum += (double)mean_count_frames(levels_counts(l, y / 2)[x / 2]) *
                   (y + 1 < below ? 4.0 : 2.0);
    *n = (right - left) * (below - top);
    return sum;
}

double levels_report(const struct levels *l, const struct frame *f, uint8_t *count)
{
    double all = 0.0;

    for (int y = 0; y < f->height; y += FRAME_COUNT_BLOCK)
        for (int x = 0; x < f->width; x += FRAME_COUNT_BLOCK) {
            int n;
            const double sum = block_sum(l, f, x, y, &n);

            *count++ = (uint8_t)(2.0 * sum / n + 0.5);
            all += sum;
        }
    return all / f->width / f->height;
}
