#include "engine/simd/blur.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples before and behind those of a row. In packed 4:2:2 a Gaussian reaches 64 of them, as every
 * other one is of another kind, and ends with a whole vector. */
#define PAD 128

enum blur_row {
    ROW_SUMS,  /* along columns */
    ROW_PARTS, /* of them, each kind of sample by itself: four rows */
    ROW_RUNNING = ROW_PARTS + 4,
    ROW_NOTHING,
    ROW_BYTES, /* as in the frame, or each kind by itself: four rows */
    N_ROWS = ROW_BYTES + 4
};

/* What @filter's taps add up to, of which those in the middle count once. */
static double total_weight(const struct filter *f, enum blur_axis axis)
{
    double sum = blur_weight(f, axis, 0);

    for (int k = 1; k <= blur_reach(f->radius, axis); k++)
        sum += 2.0 * blur_weight(f, axis, k);
    return sum;
}

/* Adds the taps of one kind of sample, which make @one, at every @spread-th place; @places are 1 in
 * the half word of those that have them. What is rounded away at one tap is given to the next. */
static void add_taps(struct blur_taps *t, const struct filter *f, enum blur_axis axis, double one,
                     int spread, uint32_t places)
{
    const double unit = one / total_weight(f, axis);
    double sum = 0.0;
    long before = 0;

    for (int k = 0; k <= blur_reach(f->radius, axis); k++) {
        long now;

        sum += blur_weight(f, axis, k) * (k ? 1.0 : 0.5) * unit;
        now = lrint(fmin(sum, 32767.0)); /* a centre alone is one more than 16 bits hold */
        t->weight[spread * k] |= (uint32_t)(now - before) * places;
        if (now > before && t->reach < spread * k)
            t->reach = spread * k;
        before = now;
    }
}

/* Bytes from one sample of @plane to the next of the same kind: those of the most frequent kind,
 * and of the rarest. */
static int plane_step(const struct format_info *info, int plane)
{
    return info->component[plane].step;
}

static int plane_period(const struct format_info *info, int plane)
{
    return info->component[info->planes == 1 ? info->components - 1 : plane].step;
}

static enum blur_axis axis_along_row(const struct format_info *info, int component)
{
    return component && info->hshift ? BLUR_SHARED : BLUR_EACH;
}

static enum blur_axis axis_along_column(const struct frame *f, int plane, int y)
{
    if (plane == 0 || !format_table[f->format].vshift)
        return BLUR_EACH;
    return 2 * y + 1 == f->height ? BLUR_LAST : BLUR_SHARED;
}

/* A box on an axis is a sum of such windows. */
static struct box_taps windows_of(const struct filter *f, enum blur_axis axis)
{
    const int half = f->radius / 2;

    if (axis == BLUR_EACH)
        return (struct box_taps){.reach = {f->radius}};
    return (struct box_taps){.reach = {half, f->radius % 2 ? half + 1 : half - 1}, .two = true};
}

/* Levels for each unit of a sum, and no less: what lies between two levels is rounded up, and
 * floats tell it from all other sums of the largest window. */
static float per_unit(double total)
{
    const float per = (float)(1.0 / total);

    return (double)per * total < 1.0 ? nextafterf(per, 1.0F) : per;
}

void blur_plan_make(struct blur_plan *plan, const struct filter *f, enum frame_format format)
{
    const struct format_info *info = &format_table[format];

    *plan = (struct blur_plan){.filter = *f, .format = format};
    for (int a = 0; a < BLUR_N_AXES; a++) {
        add_taps(&plan->rows[a], f, (enum blur_axis)a, 65536.0, 1, 0x00010001);
        for (int i = 0; i < BLUR_N_AXES; i++) {
            plan->box[a][i] = windows_of(f, (enum blur_axis)a);
            plan->box[a][i].per =
                per_unit(total_weight(f, (enum blur_axis)a) * total_weight(f, (enum blur_axis)i));
        }
    }
    for (int c = 0; c < info->components; c++) {
        const struct component_layout *l = &info->component[c];
        const int step = plane_step(info, l->plane);

        add_taps(&plan->columns[l->plane], f, axis_along_row(info, c), 32768.0, l->step / step,
                 step == 1       ? 0x00010001
                 : l->offset % 2 ? 0x00010000
                                 : 0x00000001);
    }
}

void blur_finish(struct blur *b)
{
    free(b->memory);
    *b = (struct blur){0};
}

int blur_prepare(struct blur *b, const struct frame *shape)
{
    const size_t samples = frame_row_bytes(shape, 0) + 2 * PAD;
    /* An odd number of cache lines, so that rows do not compete for the same few sets. */
    const size_t stride =
        (samples * sizeof(uint32_t) + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN | FRAME_ALIGN;
    uint8_t *memory;

    if (stride <= b->stride)
        return 0;
    memory = aligned_alloc(FRAME_ALIGN, N_ROWS * stride);
    if (!memory)
        return -ENOMEM;
    free(b->memory);
    memset(memory, 0, N_ROWS * stride);
    b->memory = memory;
    b->stride = stride;
    return 0;
}

static uint8_t *bytes_of(const struct blur *b, int row)
{
    return b->memory + (size_t)row * b->stride;
}

static uint16_t *samples_of(const struct blur *b, int row)
{
    return (uint16_t *)(void *)bytes_of(b, row) + PAD;
}

/* Row @y of a plane, of which the nearest is repeated outside of it. */
static uint8_t *row_of(const struct frame *f, int plane, int y)
{
    return f->plane[plane] +
           (size_t)frame_nearest(y, frame_plane_rows(f, plane)) * f->stride[plane];
}

/* Repeats the first and the last of the samples at every @step-th place from @offset on, in a row
 * of @n, as far as @reach samples. */
static void pad_row(uint16_t *row, int n, int offset, int step, int reach)
{
    const int last = n - step + offset;

    for (int x = offset - step; x >= -reach; x -= step)
        row[x] = row[offset];
    for (int x = last + step; x < n + reach; x += step)
        row[x] = row[last];
}

static void gaussian_row(const struct blur *b, const struct row_kernels *kernels,
                         const struct blur_plan *plan, const struct frame *in,
                         const struct frame *out, int plane, int y)
{
    const struct format_info *info = &format_table[in->format];
    const struct blur_taps *along = &plan->rows[axis_along_column(in, plane, y)];
    const struct blur_taps *across = &plan->columns[plane];
    const int n = (int)frame_row_bytes(in, plane), step = plane_step(info, plane);
    const uint8_t *rows[2 * FILTER_MAX_RADIUS + 1];
    uint16_t *sums = samples_of(b, ROW_SUMS);

    for (int k = -along->reach; k <= along->reach; k++)
        rows[along->reach + k] = row_of(in, plane, y + k);
    kernels->blur_rows(&rows[along->reach], along, (int16_t *)sums, n);
    for (int c = 0; c < info->components; c++)
        if (info->component[c].plane == plane)
            pad_row(sums, n, info->component[c].offset, info->component[c].step,
                    across->reach * step);
    kernels->blur_columns((const int16_t *)sums, step, across, bytes_of(b, ROW_BYTES), n);
    memcpy(row_of(out, plane, y), bytes_of(b, ROW_BYTES), (size_t)n);
}

/* The sums of columns around row @y. Those around the row before are there, but where it is the
 * @first. */
static void sum_columns(const struct blur *b, const struct row_kernels *kernels,
                        const struct filter *f, const struct frame *in, int plane, int y,
                        bool first)
{
    const enum blur_axis axis = axis_along_column(in, plane, y);
    const struct box_taps t = windows_of(f, axis);
    const int n = (int)frame_row_bytes(in, plane);
    uint16_t *sums = samples_of(b, ROW_SUMS);

    if (!first && axis != BLUR_LAST) {
        for (int i = 0; i <= t.two; i++)
            kernels->box_rows(sums, row_of(in, plane, y + t.reach[i]),
                              row_of(in, plane, y - 1 - t.reach[i]), t.two && !i ? 3 : 1, n);
        return;
    }
    memset(sums, 0, (size_t)n * sizeof(sums[0]));
    for (int k = -blur_reach(f->radius, axis); k <= blur_reach(f->radius, axis); k++)
        kernels->box_rows(sums, row_of(in, plane, y + k), bytes_of(b, ROW_NOTHING),
                          (int)blur_weight(f, axis, abs(k)), n);
}

/* From @n samples of one component to bytes. */
static void box_part(const struct blur *b, const struct row_kernels *kernels,
                     const struct box_taps *t, uint16_t *sums, uint8_t *to, int n)
{
    pad_row(sums, n, 0, 1, box_reach(t));
    kernels->box_columns(sums, t, (uint32_t *)(void *)bytes_of(b, ROW_RUNNING), to, n);
}

static void box_row(const struct blur *b, const struct row_kernels *kernels,
                    const struct blur_plan *plan, const struct frame *out, int plane, int y)
{
    const struct format_info *info = &format_table[out->format];
    const int n = (int)frame_row_bytes(out, plane), period = plane_period(info, plane);
    const enum blur_axis across = axis_along_column(out, plane, y);
    const struct box_taps *first = &plan->box[axis_along_row(info, plane)][across];
    const struct box_taps *chroma = &plan->box[axis_along_row(info, 2)][across];
    uint16_t *sums = samples_of(b, ROW_SUMS), *part[4];
    uint8_t *bytes[4], *to = row_of(out, plane, y);

    for (int i = 0; i < 4; i++) {
        part[i] = samples_of(b, ROW_PARTS + i);
        bytes[i] = bytes_of(b, ROW_BYTES + i);
    }
    if (period == 1) {
        box_part(b, kernels, first, sums, bytes[0], n);
        memcpy(to, bytes[0], (size_t)n);
        return;
    }
    kernels->split16(sums, part[0], part[1], n / 2);
    if (period == 4) {
        const int luma = info->component[0].offset;

        box_part(b, kernels, first, part[luma], bytes[luma], n / 2);
        kernels->split16(part[!luma], part[2], part[3], n / 4);
        box_part(b, kernels, chroma, part[2], bytes[2], n / 4);
        box_part(b, kernels, chroma, part[3], bytes[3], n / 4);
        kernels->merge(bytes[2], bytes[3], bytes[!luma], n / 4);
    } else {
        box_part(b, kernels, chroma, part[0], bytes[0], n / 2);
        box_part(b, kernels, chroma, part[1], bytes[1], n / 2);
    }
    kernels->merge(bytes[0], bytes[1], to, n / 2);
}

void blur_run(const struct blur *b, const struct row_kernels *kernels, const struct blur_plan *plan,
              const struct frame *in, const struct frame *out, int first, int last)
{
    const struct format_info *info = &format_table[in->format];

    for (int p = 0; p < info->planes; p++) {
        const int shift = p ? info->vshift : 0;
        const int top = first >> shift, bottom = (last + shift) >> shift;

        for (int y = top; y < bottom; y++) {
            if (plan->filter.kind == FILTER_GAUSSIAN) {
                gaussian_row(b, kernels, plan, in, out, p, y);
                continue;
            }
            sum_columns(b, kernels, &plan->filter, in, p, y, y == top);
            box_row(b, kernels, plan, out, p, y);
        }
    }
}
