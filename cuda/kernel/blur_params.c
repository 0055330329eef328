#include "cuda/kernel/blur_params.h"

#include <math.h>
#include <string.h>

#include "filter/blur_axis.h"

_Static_assert(BLUR_AXES == BLUR_N_AXES && BLUR_OF_EACH == BLUR_EACH &&
                   BLUR_OF_SHARED == BLUR_SHARED && BLUR_OF_LAST == BLUR_LAST,
               "the same");
_Static_assert(BLUR_MAX_REACH == FILTER_MAX_RADIUS, "every weight has a place");
_Static_assert(BLUR_STEPS(FILTER_MAX_RADIUS) == BLUR_MAX_STEPS, "tables hold every window");

/* The nearest number that half precision has, as its bits; 0 for what is less than 2^-14. */
static uint32_t half_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    if (value < 0x1p-14F)
        return 0;
    return ((bits + 0xfff + (bits >> 13 & 1)) >> 13) - (112 << 10);
}

static float half_value(uint32_t half)
{
    const uint32_t bits = (half + (112 << 10)) << 13;
    float value;

    memcpy(&value, &bits, sizeof(value));
    return half ? value : 0.0F;
}

/* @spread: how many columns further the next weight is. */
static void set_weights(struct blur_params *b, const struct filter *f, enum blur_axis axis,
                        int spread)
{
    const int reach = blur_reach(f->radius, axis);
    uint32_t *const table = b->table[axis] + BLUR_MIDDLE;
    double weight[BLUR_MAX_REACH + 1], total = 0.0;
    float sum = 0.0F;

    for (int k = 0; k <= reach; k++) {
        weight[k] = blur_weight(f, axis, k);
        total += (k ? 2.0 : 1.0) * weight[k];
    }
    for (int k = 0; k <= reach; k++) {
        const uint32_t w = half_bits((float)(0x1p14 * weight[k] / total));

        sum += (k ? 2.0F : 1.0F) * half_value(w);
        table[-k * spread] |= w;
        table[-k * spread - 1] |= w << 16;
        if (k) {
            table[k * spread] |= w;
            table[k * spread - 1] |= w << 16;
        }
    }
    b->scale[axis] = 0x1p12F / sum;
    b->centre[axis] = -0x1p-17F * sum;
}

/* Of the word at @from, the bytes that are nearest to those of the word at @at. @step: bytes from
 * one sample to the next, of those at even places and at odd ones. */
static uint32_t nearest_bytes(const struct blur_plane *q, const int step[2], int at, int from)
{
    uint32_t select = 0;

    for (int i = 0; i < 4; i++) {
        const int place = i % step[i % 2];
        const int nearest = at < 0              ? place
                            : at + i < q->bytes ? at + i
                                                : q->bytes - step[i % 2] + place;

        select |= (uint32_t)(nearest - from) << 4 * i;
    }
    return select;
}

/* The plane of component @component, or of all where @p is packed. */
static void set_plane(struct blur_plane *q, const struct bilateral_params *p, int component)
{
    const int vshift = component ? p->vshift : 0, hshift = component ? p->hshift : 0;
    const int chroma_first = p->packed && p->in[1].base < p->in[0].base;
    const struct bilateral_samples *const in = &p->in[component + chroma_first];
    const int pairs = in->step > 1, axis = hshift ? BLUR_SHARED : BLUR_EACH;
    const int step[2] = {pairs ? 2 << (p->packed && chroma_first) : 1,
                         pairs ? 2 << (p->packed && !chroma_first) : 1};
    int last;

    *q = (struct blur_plane){
        .in = in->base,
        .out = p->out[component + chroma_first].base,
        .stride_in = in->stride,
        .stride_out = p->out[component + chroma_first].stride,
        .bytes = (p->width >> hshift) << pairs,
        .rows = (p->height + vshift) >> vshift,
        .begin = p->row_begin >> vshift,
        .end = (p->row_end + vshift) >> vshift,
        .pairs = pairs,
        .axis = vshift ? BLUR_SHARED : BLUR_EACH,
        .last = vshift && p->height % 2 ? BLUR_LAST
                : vshift                ? BLUR_SHARED
                                        : BLUR_EACH,
        .along = {p->packed && chroma_first ? BLUR_SHARED : axis,
                  p->packed && !chroma_first ? BLUR_SHARED : axis},
    };
    q->reach = blur_reach(p->radius, (enum blur_axis)q->axis);
    last = (q->bytes - 1) / 4 * 4;
    q->before = nearest_bytes(q, step, -4, 0);
    q->last_word = nearest_bytes(q, step, last, last);
    q->behind = nearest_bytes(q, step, last + 4, last);
}

void blur_params_init(struct blur_params *ret, const struct bilateral_params *p)
{
    const struct filter f = {.kind = p->box ? FILTER_BOX : FILTER_GAUSSIAN,
                             .radius = p->radius,
                             .sigma_space = sqrt(0.5 / (double)p->inv_two_ss2)};

    *ret = (struct blur_params){.planes = 0};
    set_weights(ret, &f, BLUR_EACH, 1);
    if (p->hshift || p->vshift)
        set_weights(ret, &f, BLUR_SHARED, p->packed ? 2 : 1);
    if (p->vshift && p->height % 2)
        set_weights(ret, &f, BLUR_LAST, 1);
    for (int component = 0; component < p->components;) {
        set_plane(&ret->plane[ret->planes++], p, component);
        component += p->packed ? 3 : (int)p->in[component].step;
    }
}
