#include "pipeline/parts.h"

#include "pipeline/backends.h"

struct filter_request pipeline_filter_request(const struct settings *s)
{
    struct filter_request w = {
        .latency_budget = s->latency_budget,
        .radius_min = s->radius_min,
    };

    settings_filter(s, &w.filter);
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
