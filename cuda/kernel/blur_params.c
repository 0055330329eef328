#include "cuda/kernel/blur_params.h"

#include <math.h>
#include <stdbool.h>

#include "filter/blur_axis.h"

_Static_assert(BLUR_AXES == BLUR_N_AXES && BLUR_MAX_REACH == FILTER_MAX_RADIUS, "one table each");
_Static_assert(BLUR_OF_EACH == BLUR_EACH && BLUR_OF_SHARED == BLUR_SHARED, "the same");

/* The nearest number that half precision has. */
static double as_half(double value)
{
    int exponent;

    (void)frexp(value, &exponent);
    exponent = exponent > -13 ? exponent - 11 : -24;
    return ldexp(rint(ldexp(value, -exponent)), exponent);
}

static void set_weights(struct blur_params *b, const struct bilateral_params *p)
{
    const struct filter f = {.kind = p->box ? FILTER_BOX : FILTER_GAUSSIAN,
                             .radius = p->radius,
                             .sigma_space = sqrt(0.5 / (double)p->inv_two_ss2)};

    for (int axis = 0; axis < BLUR_AXES; axis++) {
        const int reach = blur_reach(p->radius, (enum blur_axis)axis);
        double total = 0.0, sum = 0.0;

        for (int k = 0; k <= reach; k++)
            total += (k ? 2.0 : 1.0) * blur_weight(&f, (enum blur_axis)axis, k);
        for (int k = 0; k <= reach; k++) {
            const double w = as_half(blur_weight(&f, (enum blur_axis)axis, k) / total);

            b->weight[axis][k] = (float)w;
            sum += (k ? 2.0 : 1.0) * w;
        }
        b->total[axis] = (float)sum;
        b->scale[axis] = (float)(1.0 / sum);
    }
}

/* The kinds of samples, and where a tile's row has them. Windows begin at a multiple of eight
 * samples, and eight rows at the same column lie in different banks. */
static void set_kinds(struct blur_plane *q, const struct bilateral_params *p, int component)
{
    for (int i = 0; i < q->kinds; i++) {
        const struct bilateral_samples *s = &p->in[component + i];
        const int axis = component + i && p->hshift ? BLUR_SHARED : BLUR_EACH;
        const int bytes = blur_reach(p->radius, (enum blur_axis)axis) * (int)s->step;

        q->kind[i] = (struct blur_kind){
            .offset = (int)(s->base - q->in), .step = (int)s->step, .axis = axis};
        q->margin = bytes > q->margin ? (bytes + 15) / 16 * 16 : q->margin;
    }
    for (int i = 0; i < q->kinds; i++) {
        struct blur_kind *k = &q->kind[i];
        const int margin = q->margin / k->step;

        k->tile = q->stride;
        k->columns = BLUR_TILE_BYTES / k->step + 2 * margin;
        q->stride += k->columns;
        k->first = (margin - blur_reach(p->radius, (enum blur_axis)k->axis)) / 8 * 8;
        k->margin = margin - k->first;
    }
    q->stride = (q->stride / 8 | 1) * 8;
    q->moves = (BLUR_TILE_BYTES + 2 * q->margin) / 16;
    q->divide_by_moves = 0xffffffffU / (uint32_t)q->moves + 1;
}

/* Of the word at @from, the bytes that are nearest to those of the word at @at. */
static uint32_t nearest_bytes(const struct blur_plane *q, int at, int from)
{
    uint32_t select = 0;

    for (int i = 0; i < 4; i++) {
        int kind = 0, step, place, nearest;

        while (kind < q->kinds - 1 && (i - q->kind[kind].offset) % q->kind[kind].step)
            kind++;
        step = q->kind[kind].step;
        place = i % step;
        nearest = at < 0 ? place : at + i < q->bytes ? at + i : q->bytes - step + place;
        select |= (uint32_t)(nearest - from) << 4 * i;
    }
    return select;
}

/* A word of the plane: of three kinds Y0 and Y1 come from the first four bytes, U0 and V0 are the
 * first two of the others; of two kinds U0 and U1, V0 and V1 are. */
static uint32_t join(const struct blur_plane *q)
{
    uint32_t select = 0;

    for (int k = 0; k < q->kinds; k++) {
        const struct blur_kind *kind = &q->kind[k];
        const uint32_t from = k == 0 ? 0 : q->kinds == 2 ? 4 : (uint32_t)k + 3;

        for (int i = 0; kind->offset + i * kind->step < 4; i++)
            select |= (from + (uint32_t)i) << 4 * (kind->offset + i * kind->step);
    }
    return select;
}

/* The first @kinds components from @component on lie in one plane. */
static void set_plane(struct blur_plane *q, const struct bilateral_params *p, int component,
                      int kinds)
{
    const int vshift = component ? p->vshift : 0, hshift = component ? p->hshift : 0;
    const bool y_last = p->packed && p->in[1].base < p->in[0].base;
    int last;

    *q = (struct blur_plane){
        .in = p->in[component + y_last].base,
        .out = p->out[component + y_last].base,
        .stride_in = p->in[component].stride,
        .stride_out = p->out[component].stride,
        .bytes = (p->width >> hshift) * (int)p->in[component].step,
        .rows = (p->height + vshift) >> vshift,
        .begin = p->row_begin >> vshift,
        .end = (p->row_end + vshift) >> vshift,
        .axis = vshift ? BLUR_SHARED : BLUR_EACH,
        .kinds = kinds,
        .select = {y_last      ? 0x4341
                   : kinds > 1 ? 0x4240
                               : 0x4140,
                   y_last      ? 0x4240
                   : kinds > 1 ? 0x4341
                               : 0x4342},
    };
    q->last = vshift && p->height % 2 ? BLUR_LAST : q->axis;
    q->reach = blur_reach(p->radius, (enum blur_axis)q->axis);
    set_kinds(q, p, component);
    last = (q->bytes - 1) / 4 * 4;
    q->before = nearest_bytes(q, -4, 0);
    q->last_word = nearest_bytes(q, last, last);
    q->behind = nearest_bytes(q, last + 4, last);
    q->join = join(q);
}

void blur_params_init(struct blur_params *ret, const struct bilateral_params *p)
{
    *ret = (struct blur_params){.planes = 0};
    set_weights(ret, p);
    for (int component = 0; component < p->components;) {
        const int kinds = p->packed ? 3 : (int)p->in[component].step;

        set_plane(&ret->plane[ret->planes++], p, component, kinds);
        component += kinds;
    }
}
