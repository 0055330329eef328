#include "cuda/kernel/words_blur_params.h"

#include <math.h>

#include "filter/blur_axis.h"

static void set_weights(struct words_blur_params *b, const struct bilateral_params *p)
{
    const struct filter f = {.kind = p->box ? FILTER_BOX : FILTER_GAUSSIAN,
                             .radius = p->radius,
                             .sigma_space = sqrt(0.5 / (double)p->inv_two_ss2)};

    for (int axis = 0; axis < BLUR_AXES; axis++) {
        const int reach = blur_reach(p->radius, (enum blur_axis)axis);
        double total = 0.0;

        for (int k = 0; k <= reach; k++)
            total += (k ? 2.0 : 1.0) * blur_weight(&f, (enum blur_axis)axis, k);
        for (int k = 0; k <= reach; k++)
            b->weight[axis][k] = (float)(blur_weight(&f, (enum blur_axis)axis, k) / total);
    }
}

static struct words_plane plane_of(const struct bilateral_params *p, int component)
{
    const int hshift = component ? p->hshift : 0, vshift = component ? p->vshift : 0;
    struct words_plane q = {
        .in = p->in[component].base,
        .out = p->out[component].base,
        .stride_in = p->in[component].stride,
        .stride_out = p->out[component].stride,
        .columns = p->width >> hshift,
        .rows = (p->height + vshift) >> vshift,
        .begin = p->row_begin >> vshift,
        .end = (p->row_end + vshift) >> vshift,
        .axis_x = hshift ? BLUR_SHARED : BLUR_EACH,
        .axis_y = vshift ? BLUR_SHARED : BLUR_EACH,
    };

    q.last = vshift && p->height % 2 ? BLUR_LAST : q.axis_y;
    q.reach_x = blur_reach(p->radius, (enum blur_axis)q.axis_x);
    q.reach_y = blur_reach(p->radius, (enum blur_axis)q.axis_y);
    q.margin = (q.reach_x + 1) / 2 * 2;
    q.pairs = WORDS_BLUR_COLUMNS / 2 + q.margin;
    q.divide_by_pairs = 0xffffffffU / (uint32_t)q.pairs + 1;
    return q;
}

void words_blur_params_init(struct words_blur_params *ret, const struct bilateral_params *p)
{
    *ret = (struct words_blur_params){.planes = p->components};
    set_weights(ret, p);
    for (int i = 0; i < p->components; i++)
        ret->plane[i] = plane_of(p, i);
}
