#include "pipeline/parts.h"

#include <string.h>
#include <unistd.h>

#include "base/text.h"

struct filter_request pipeline_filter_request(const struct settings *s)
{
    struct filter_request w = {
        .filter = {.radius = s->filter == FILTER_NONE ? 0 : s->radius,
                   .sigma_space = s->sigma_space,
                   .sigma_color = s->sigma_color,
                   .range = (enum range_kernel)s->range,
                   .window = (enum window_shape)s->window},
        .latency_budget = s->latency_budget,
        .radius_min = s->radius_min,
    };

    /* From the radius asked for, so that limiting it does not pump the picture. */
    if (w.filter.sigma_space <= 0.0)
        w.filter.sigma_space = filter_auto_sigma(w.filter.radius);
    filter_cost(&w.filter, w.cost);
    return w;
}

/* Anything else that is not there as a file is a camera's name. */
static bool is_file(const char *name)
{
    if (!strcmp(name, "-") || ends_with(name, ".y4m") || !strncmp(name, "/dev/fd/", 8) ||
        !strcmp(name, "/dev/stdin"))
        return true;
    return strncmp(name, "/dev/", 5) && (strchr(name, '/') || !access(name, F_OK));
}

const struct source_ops *pipeline_source_for(const char *name)
{
    if (!strncmp(name, "test:", 5))
        return &source_pattern;
    if (!strcmp(name, "auto"))
        return &source_v4l2;
    return is_file(name) ? &source_y4m : &source_v4l2;
}

const struct sink_ops *pipeline_sink_for(const char *name)
{
    if (!strcmp(name, "null:"))
        return &sink_null;
    if (!strcmp(name, "-") || ends_with(name, ".y4m"))
        return &sink_y4m;
    if (!strcmp(name, "auto") || !strncmp(name, "/dev/", 5))
        return &sink_v4l2loopback;
    return NULL;
}

struct capture_request pipeline_capture_request(const struct settings *s)
{
    struct capture_request w = {
        .ops = pipeline_source_for(s->input),
        .width = s->width,
        .height = s->height,
        .fps = s->fps,
        .format = s->format,
    };

    (void)snprintf(w.name, sizeof(w.name), "%s", s->input);
    return w;
}
