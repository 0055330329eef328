#include "engine/simd/band.h"

#include <math.h>
#include <string.h>

#include "engine/simd/band_memory.h"

/* Repeats the sample at @left in front of a row and that at @right behind it. */
static void pad_row(const struct row_plan *plan, void *row, const void *left, const void *right,
                    int columns)
{
    const size_t size = band_sample_bytes(plan->arithmetic);
    uint8_t *p = row;

    for (int i = 1; i <= plan->reach_x; i++)
        memcpy(p - (size_t)i * size, left, size);
    for (int i = 0; i < plan->reach_x; i++)
        memcpy(p + (size_t)(columns + i) * size, right, size);
}

static const void *last_sample(const struct band *b, const void *row, int columns)
{
    return (const uint8_t *)row + (size_t)(columns - 1) * band_sample_bytes(b->arithmetic);
}

/* Luma of ROWS_TABLE and ROWS_HALF, for which chroma is in BYTES_U and BYTES_V. */
static void load_mixed_luma(struct band *b, const struct row_kernels *kernels,
                            const struct row_plan *plan, const uint8_t *from, int row, int columns)
{
    int16_t *const planes[2] = {plane_row(b, row, PLANE_Y0), plane_row(b, row, PLANE_Y1)};
    uint8_t *const y = byte_row(b, BYTES_Y), *u = byte_row(b, BYTES_U), *v = byte_row(b, BYTES_V);
    const bool half = plan->arithmetic == ROWS_HALF;

    if (from != y)
        memcpy(y, from, 2 * (size_t)columns);
    (half ? kernels->half_luma : kernels->table_luma)(&plan->scale, y, u, v, planes, columns);
    for (int p = 0; p < 2; p++) {
        const int16_t first = planes[half ? 0 : p][0];
        const int16_t last = half ? planes[1][columns - 1] : planes[p][2 * columns - 1];

        pad_row(plan, planes[p], (int16_t[2]){first, first}, (int16_t[2]){last, last}, columns);
    }
}

static void load_luma(struct band *b, const struct row_kernels *kernels,
                      const struct row_plan *plan, const uint8_t *y, int row, int columns,
                      bool pair)
{
    const bool real = row_is_real(plan->arithmetic);
    void *y0 = plane_row(b, row, PLANE_Y0), *y1 = plane_row(b, row, PLANE_Y1);

    if (pair)
        kernels->split(y, byte_row(b, BYTES_Y0), byte_row(b, BYTES_Y1), columns);
    else
        memcpy(byte_row(b, BYTES_Y0), y, (size_t)columns);
    kernels->luma[real](&plan->scale, byte_row(b, BYTES_Y0), y0, columns);
    if (pair) {
        kernels->luma[real](&plan->scale, byte_row(b, BYTES_Y1), y1, columns);
        pad_row(plan, y1, y0, last_sample(b, y1, columns), columns);
    }
    pad_row(plan, y0, y0, last_sample(b, pair ? y1 : y0, columns), columns);
}

/* Chroma from BYTES_U and BYTES_V. */
static void load_chroma(struct band *b, const struct row_kernels *kernels,
                        const struct row_plan *plan, int row, int columns)
{
    void *const planes[3] = {plane_row(b, row, PLANE_C), plane_row(b, row, PLANE_U),
                             plane_row(b, row, PLANE_V)};
    const uint8_t *u = byte_row(b, BYTES_U), *v = byte_row(b, BYTES_V);

    if (plan->arithmetic == ROWS_TABLE || plan->arithmetic == ROWS_HALF)
        (plan->arithmetic == ROWS_HALF ? kernels->half_chroma : kernels->table_chroma)(
            &plan->scale, u, v, (int16_t *const[3]){planes[0], planes[1], planes[2]}, columns);
    else
        kernels->chroma[row_is_real(plan->arithmetic)](&plan->scale, u, v, planes, columns);
    for (int p = 0; p < 3; p++)
        pad_row(plan, planes[p], planes[p], last_sample(b, planes[p], columns), columns);
}

static uint8_t *frame_row(const struct frame *f, int plane, int y)
{
    return f->plane[plane] + (size_t)y * f->stride[plane];
}

/* Brings the samples of luma row @y into BYTES_U and BYTES_V and returns where its luma is. */
static const uint8_t *read_row(struct band *b, const struct row_kernels *kernels,
                               const struct frame *in, int y, int columns, bool chroma)
{
    uint8_t *u = byte_row(b, BYTES_U), *v = byte_row(b, BYTES_V);
    uint8_t *luma = byte_row(b, BYTES_Y), *uv = byte_row(b, BYTES_UV);
    const int cy = y >> format_table[in->format].vshift;

    switch (in->format) {
    case FRAME_YUYV:
        kernels->split(frame_row(in, 0, y), luma, uv, 2 * columns);
        kernels->split(uv, u, v, columns);
        return luma;
    case FRAME_UYVY:
        kernels->split(frame_row(in, 0, y), uv, luma, 2 * columns);
        kernels->split(uv, u, v, columns);
        return luma;
    case FRAME_NV12:
        if (chroma)
            kernels->split(frame_row(in, 1, cy), u, v, columns);
        break;
    case FRAME_GREY:
        break;
    default:
        if (chroma) {
            memcpy(u, frame_row(in, 1, cy), (size_t)columns);
            memcpy(v, frame_row(in, 2, cy), (size_t)columns);
        }
        break;
    }
    return frame_row(in, 0, y);
}

/* The other way: from @from, as in struct row_job, into row @y; chroma only if @chroma. */
static void write_row(struct band *b, const struct row_kernels *kernels, const struct frame *out,
                      int y, uint8_t *const from[4], int columns, bool chroma)
{
    const uint8_t *y0 = from[0], *y1 = from[1], *u = from[2], *v = from[3];
    uint8_t *luma = byte_row(b, BYTES_Y), *uv = byte_row(b, BYTES_UV);
    const int cy = y >> format_table[out->format].vshift;

    switch (out->format) {
    case FRAME_YUYV:
    case FRAME_UYVY:
        kernels->merge(y0, y1, luma, columns);
        kernels->merge(u, v, uv, columns);
        if (out->format == FRAME_YUYV)
            kernels->merge(luma, uv, frame_row(out, 0, y), 2 * columns);
        else
            kernels->merge(uv, luma, frame_row(out, 0, y), 2 * columns);
        return;
    case FRAME_GREY:
    case FRAME_I444:
        memcpy(frame_row(out, 0, y), y0, (size_t)columns);
        break;
    default:
        kernels->merge(y0, y1, frame_row(out, 0, y), columns);
        break;
    }
    if (!chroma || out->format == FRAME_GREY)
        return;
    if (out->format == FRAME_NV12) {
        kernels->merge(u, v, frame_row(out, 1, cy), columns);
        return;
    }
    memcpy(frame_row(out, 1, cy), u, (size_t)columns);
    memcpy(frame_row(out, 2, cy), v, (size_t)columns);
}

/* One row of the mean over frames to the @row-th luma row and the @chroma_row-th chroma row that
 * are kept; a @chroma_row below 0 is none. */
static void load_mean(struct band *b, const struct row_kernels *kernels,
                      const struct row_plan *plan, const uint16_t *from[3], int row, int chroma_row,
                      int columns, bool pair)
{
    const bool real = row_is_real(plan->arithmetic);
    void *const y0 = plane_row(b, row, PLANE_Y0), *const y1 = plane_row(b, row, PLANE_Y1);
    uint16_t *const even = (uint16_t *)(void *)byte_row(b, BYTES_Y0);
    uint16_t *const odd = (uint16_t *)(void *)byte_row(b, BYTES_Y1);

    if (pair) {
        kernels->split16(from[0], even, odd, columns);
        kernels->luma16[real](&plan->scale, even, y0, columns);
        kernels->luma16[real](&plan->scale, odd, y1, columns);
        pad_row(plan, y1, y0, last_sample(b, y1, columns), columns);
    } else {
        kernels->luma16[real](&plan->scale, from[0], y0, columns);
    }
    pad_row(plan, y0, y0, last_sample(b, pair ? y1 : y0, columns), columns);
    if (chroma_row >= 0) {
        void *const planes[3] = {plane_row(b, chroma_row, PLANE_C),
                                 plane_row(b, chroma_row, PLANE_U),
                                 plane_row(b, chroma_row, PLANE_V)};

        kernels->chroma16[real](&plan->scale, from[1], from[2], planes, columns);
        for (int p = 0; p < 3; p++)
            pad_row(plan, planes[p], planes[p], last_sample(b, planes[p], columns), columns);
    }
}

/* A row of 16 bits, as if of the mean. Kernels read whole vectors, and a frame's row may end. */
static void load_words(struct band *b, const struct row_kernels *kernels,
                       const struct row_plan *plan, const struct frame *f, int y, int row,
                       int chroma_row, int columns, bool pair)
{
    static const enum byte_row rows[3] = {BYTES_Y, BYTES_U, BYTES_V}; /* luma: BYTES_UV, too */
    const uint16_t *from[3];

    for (int c = 0; c < (chroma_row >= 0 ? 3 : 1); c++) {
        uint8_t *to = byte_row(b, rows[c]);

        memcpy(to, frame_row(f, c, c ? y >> format_table[f->format].vshift : y),
               (size_t)columns * (!c && pair ? 4 : 2));
        from[c] = (const uint16_t *)(void *)to;
    }
    load_mean(b, kernels, plan, from, row, chroma_row, columns, pair);
}

/* What became of it, to row @y; @scale: of a level as kernels have it. */
static void write_words(struct band *b, const struct frame *out, int y, int columns, bool chroma,
                        float scale)
{
    const enum row_layout layout = plan_layout(out->format);
    const int n = layout == ROWS_PAIR ? 2 : 1;
    uint16_t *words = (uint16_t *)(void *)byte_row(b, BYTES_OUT);

    for (int c = 0; c < (chroma && layout != ROWS_GREY ? 3 : 1); c++) {
        const int step = c ? 1 : n;

        for (int i = 0; i < step; i++) {
            const float *from = b->levels[c ? c + 1 : i];

            for (int x = 0; x < columns; x++) {
                const float word = (from[x] + 128.0F) * scale;

                words[step * x + i] = (uint16_t)(fminf(fmaxf(word, 0.0F), 65535.0F) + 0.5F);
            }
        }
        memcpy(frame_row(out, c, c ? y >> format_table[out->format].vshift : y), words,
               (size_t)columns * (size_t)step * sizeof(words[0]));
    }
}

/* Reads row @y of the frame @k before to the @row-th luma row and the @chroma_row-th chroma row. */
static void load_row(struct band *b, const struct row_kernels *kernels, const struct row_plan *plan,
                     const struct band_input *in, int k, int y, int row, int chroma_row)
{
    const struct frame *f = in->frame[k];
    const int columns = band_columns(f);
    const bool pair = plan_layout(f->format) == ROWS_PAIR;
    const uint8_t *luma;

    if (in->mean) {
        const uint16_t *from[3];

        for (int c = 0; c < format_table[f->format].components; c++)
            from[c] = levels_row(in->mean, c, c ? y >> format_table[f->format].vshift : y);
        load_mean(b, kernels, plan, from, row, chroma_row, columns, pair);
        return;
    }
    if (format_table[f->format].bytes > 1) {
        load_words(b, kernels, plan, f, y, row, chroma_row, columns, pair);
        return;
    }
    luma = read_row(b, kernels, f, y, columns, chroma_row >= 0);
    if (plan->arithmetic == ROWS_TABLE || plan->arithmetic == ROWS_HALF)
        load_mixed_luma(b, kernels, plan, luma, row, columns);
    else
        load_luma(b, kernels, plan, luma, row, columns, pair);
    if (chroma_row >= 0)
        load_chroma(b, kernels, plan, chroma_row, columns);
}

/* Reads the rows of the frame @k before that those from @first to @last - 1 need, and points
 * b->rows at them, from @first - reach on. */
static void load_rows(struct band *b, const struct row_kernels *kernels,
                      const struct row_plan *plan, const struct band_input *in, int k, int first,
                      int last)
{
    const struct frame *f = in->frame[k];
    const int vshift = format_table[f->format].vshift;
    const int wanted = first - plan->reach_y, end = last + plan->reach_y;
    const int top = wanted > 0 ? wanted : 0, bottom = end < f->height ? end : f->height;
    const int kept = k * (end - wanted);
    int loaded = -1; /* the last chroma row */

    for (int y = top; y < bottom; y++) {
        const bool chroma = plan_layout(f->format) != ROWS_GREY && y >> vshift != loaded;

        if (chroma)
            loaded = y >> vshift;
        load_row(b, kernels, plan, in, k, y, kept + y - top,
                 chroma ? kept + loaded - (top >> vshift) : -1);
    }
    for (int y = wanted; y < end; y++) {
        const int row = y < top ? top : y >= bottom ? bottom - 1 : y;

        for (int p = 0; p < ROW_PLANES; p++)
            b->rows[kept + y - wanted].plane[p] =
                plane_row(b, kept + (p < PLANE_C ? row - top : (row >> vshift) - (top >> vshift)),
                          (enum row_plane)p);
    }
}

/* Of @n columns, 1 << @shift to a cell. */
static void look_up_factors(const struct band_input *in, float *per, const uint8_t *brightness,
                            const uint8_t *count, int n, int shift)
{
    for (int x = 0; x < n; x++)
        per[x] = in->by_count[count ? count[x >> shift] : 0] *
                 in->by_brightness[brightness ? brightness[x >> shift] : 0];
}

/* What squared distances are multiplied by in the row of cells @y. */
static void load_factors(struct band *b, const struct row_kernels *kernels,
                         const struct row_plan *plan, const struct band_input *in, int y)
{
    const int columns = band_columns(in->frame[0]);
    const int shift = columns == in->frame[0]->width;
    const size_t at = (size_t)y * in->stride;
    const uint8_t *brightness = in->brightness ? in->brightness + at : NULL;
    const uint8_t *count = in->count ? in->count + at : NULL;
    const uint8_t *only = !brightness ? count : !count ? brightness : NULL;

    if (plan->arithmetic == ROWS_FIXED && only) {
        for (int x = 0; x < columns; x++) {
            const uint32_t both = b->factors_by[only[x >> shift]];

            b->limit[x] = (uint16_t)both;
            b->factor[x] = (uint16_t)(both >> 16);
        }
        return;
    }
    look_up_factors(in, b->per, brightness, count, columns, shift);
    if (plan->arithmetic == ROWS_FIXED)
        kernels->factors(b->per, plan->per_unit, b->limit, b->factor, columns);
}

/* Where one plane alone tells them, once for all rows. */
static void prepare_factors(struct band *b, const struct row_kernels *kernels,
                            const struct row_plan *plan, const struct band_input *in)
{
    uint16_t limit[256], factor[256];
    float per[256];

    for (int i = 0; i < 256; i++)
        per[i] = in->by_brightness[in->brightness ? i : 0] * in->by_count[in->count ? i : 0];
    kernels->factors(per, plan->per_unit, limit, factor, 256);
    for (int i = 0; i < 256; i++)
        b->factors_by[i] = (uint32_t)factor[i] << 16 | limit[i];
}

static enum row_joint joint_of(const struct frame *f, int y)
{
    if (!format_table[f->format].vshift || (y % 2 == 0 && y + 1 == f->height))
        return JOINT_NONE;
    return y % 2 ? JOINT_ADD : JOINT_STORE;
}

/* Two rows at a time. What goes below the picture's last row is not written. */
static void filter_table_rows(struct band *b, const struct row_kernels *kernels,
                              struct row_job *job, const struct frame *out, int first, int last)
{
    const bool shared = format_table[out->format].vshift;

    for (int y = first; y < last; y += 2) {
        job->rows = &b->rows[y - first + job->plan->reach_y];
        job->joint = shared && y + 1 < last ? JOINT_ADD : JOINT_NONE;
        kernels->filter[DISTANCE_EUCLIDEAN][ROWS_TABLE][ROWS_PAIR](job);
        write_row(b, kernels, out, y, job->out, job->columns, true);
        if (y + 1 < last)
            write_row(b, kernels, out, y + 1, job->out + 4, job->columns, !shared);
    }
}

void band_run(struct band *b, const struct row_kernels *kernels, const struct row_plan *plan,
              const struct band_input *in, bool each, const struct frame *out, int first, int last)
{
    const enum row_layout layout = plan_layout(out->format);
    const bool words = format_table[out->format].bytes > 1;
    struct row_job job = {.plan = plan,
                          .columns = band_columns(out),
                          .n_frames = in->n_frames,
                          .frame_step = last - first + 2 * plan->reach_y,
                          .sums = b->sums,
                          .per = {b->per, b->per},
                          .limit = {b->limit, b->limit},
                          .factor = {b->factor, b->factor}};

    for (int i = 0; i < 8; i++)
        job.out[i] = byte_row(b, (enum byte_row)(BYTES_OUT + i));
    for (int i = 0; i < 4 && words; i++)
        job.levels[i] = b->levels[i];
    if (each && plan->arithmetic == ROWS_FIXED)
        prepare_factors(b, kernels, plan, in);
    for (int k = 0; k < in->n_frames; k++)
        load_rows(b, kernels, plan, in, k, first, last);
    if (plan->arithmetic == ROWS_TABLE) {
        filter_table_rows(b, kernels, &job, out, first, last);
        return;
    }
    for (int y = first; y < last; y++) {
        job.rows = &b->rows[y - first + plan->reach_y];
        job.joint = joint_of(out, y);
        if (each && y % 2 == 0)
            load_factors(b, kernels, plan, in, y / 2);
        (each ? kernels->each : kernels->filter)[plan->distance][plan->arithmetic][layout](&job);
        if (words)
            write_words(b, out, y, job.columns, job.joint != JOINT_STORE,
                        in->mean ? 256.0F : 128.0F);
        else
            write_row(b, kernels, out, y, job.out, job.columns, job.joint != JOINT_STORE);
    }
}
