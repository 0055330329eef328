#include "engine/time/past.h"

#define GAP_NS INT64_C(250000000)

bool past_goes_on(struct past *p, const struct frame *x, const struct filter *f)
{
    const bool next = x->seq == p->shape.seq + 1;
    const bool goes_on = p->any && filter_looks_back(f) && frame_alike(&p->shape, x) &&
                         (next || x->t_capture_ns - p->shape.t_capture_ns <= GAP_NS) &&
                         f->temporal == p->temporal && f->temporal_mode == p->mode;

    p->any = filter_looks_back(f);
    p->shape = frame_like(x);
    p->shape.t_capture_ns = x->t_capture_ns;
    p->shape.seq = x->seq;
    p->temporal = f->temporal;
    p->mode = f->temporal_mode;
    return goes_on;
}

void past_forget(struct past *p)
{
    p->any = false;
}
