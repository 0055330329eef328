#include "pipeline/parts.h"

#include "pipeline/backends.h"

struct filter_request pipeline_filter_request(const struct settings *s)
{
    const bool none = s->filter == FILTER_NONE;
    const enum temporal_mode mode = (enum temporal_mode)s->temporal_mode;
    const int temporal = s->temporal ? s->temporal : filter_auto_temporal(mode);
    struct filter_request w = {
        .filter = {.radius = none ? 0 : s->radius,
                   .sigma_space = s->sigma_space,
                   .sigma_color = s->sigma_color,
                   .range = (enum range_kernel)s->range,
                   .window = (enum window_shape)s->window,
                   .temporal = none ? 1 : temporal,
                   .temporal_mode = mode,
                   /* Auto, 0: all frames cost alike, and range leaves out what changed since. */
                   .sigma_time = s->sigma_time},
        .latency_budget = s->latency_budget,
        .radius_min = s->radius_min,
    };

    /* From the radius asked for, so that limiting it does not pump the picture. */
    if (w.filter.sigma_space <= 0.0)
        w.filter.sigma_space = filter_auto_sigma(w.filter.radius);
    ladder_cost(&w.filter, w.radius_min, w.cost);
    return w;
}

struct capture_request pipeline_capture_request(const struct settings *s)
{
    struct capture_request w = {
        .ops = source_for(s->input),
        .width = s->width,
        .height = s->height,
        .fps = s->fps,
        .format = s->format,
    };

    (void)snprintf(w.name, sizeof(w.name), "%s", s->input);
    return w;
}
