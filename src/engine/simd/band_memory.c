#include "engine/simd/band_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the planes of a band may take: about half of a second-level cache of 1 MiB. More rows
 * than the most would only make the last band of a frame uneven. */
#define CACHE_BYTES (512 * 1024)
#define ROWS_MOST 32
#define ROWS_LEAST 8

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

void band_finish(struct band *b)
{
    free(b->memory);
    *b = (struct band){0};
}

/* An odd number of cache lines, so that rows do not compete for the same few sets of a cache. */
static size_t plane_bytes_of(const struct row_plan *plan, const struct frame *shape)
{
    const size_t columns = round_up((size_t)band_columns(shape), ROW_LANES_MAX);

    return round_up((columns + 2 * BAND_PAD) * band_sample_bytes(plan->arithmetic), FRAME_ALIGN) |
           FRAME_ALIGN;
}

int band_rows(const struct row_plan *plan, const struct frame *shape, int n_frames)
{
    const size_t row = plane_bytes_of(plan, shape) * ROW_PLANES * (size_t)n_frames;
    const int rows = (int)(CACHE_BYTES / row) / 2 * 2 - 2 * plan->reach_y;

    return rows < ROWS_LEAST ? ROWS_LEAST : rows > ROWS_MOST ? ROWS_MOST : rows;
}

int band_prepare(struct band *b, const struct row_plan *plan, const struct frame *shape,
                 int n_frames, int n_rows)
{
    const size_t rows = (size_t)(n_rows + 2 * plan->reach_y) * (size_t)n_frames;
    const size_t columns = round_up((size_t)band_columns(shape), ROW_LANES_MAX);
    const size_t row_table = round_up(rows * sizeof(b->rows[0]), FRAME_ALIGN);
    size_t size;

    b->plane_bytes = plane_bytes_of(plan, shape);
    b->byte_stride = round_up(2 * columns, FRAME_ALIGN);
    size = row_table + rows * ROW_PLANES * b->plane_bytes + BYTE_ROWS * b->byte_stride +
           9 * columns * sizeof(float);
    if (size > b->size) {
        uint8_t *memory = aligned_alloc(FRAME_ALIGN, round_up(size, FRAME_ALIGN));

        if (!memory)
            return -ENOMEM;
        free(b->memory);
        b->memory = memory;
        b->size = size;
        memset(memory, 0, size);
    } else if (plan->arithmetic != b->arithmetic) {
        memset(b->memory, 0, b->size); /* whole vectors are computed, and must be numbers */
    }
    b->arithmetic = plan->arithmetic;
    b->rows = (struct row_planes *)(void *)b->memory;
    b->planes = b->memory + row_table;
    b->bytes = b->planes + rows * ROW_PLANES * b->plane_bytes;
    b->sums = (float *)(void *)(b->bytes + BYTE_ROWS * b->byte_stride);
    b->per = b->sums + 3 * columns;
    b->limit = (uint16_t *)(void *)(b->per + columns);
    b->factor = b->limit + columns;
    for (int i = 0; i < 4; i++)
        b->levels[i] = b->per + (size_t)(2 + i) * columns;
    return 0;
}
