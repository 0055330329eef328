#include "pipeline/parts.h"

#include "base/log.h"
#include "engine/table.h"
#include "pipeline/backends.h"

/* Of samples of 16 bits nothing is known of the frames before, and not how noisy they are. */
static void leave_time_out(struct filter *f)
{
    f->temporal = 1;
    if (f->sigma_color <= 0.0)
        f->sigma_color = SIGMA_COLOR;
}

struct filter_request pipeline_filter_request(const struct settings *s, enum frame_format format)
{
    struct filter_request w = {
        .latency_budget = s->latency_budget,
        .radius_min = s->radius_min,
    };

    settings_filter(s, &w.filter);
    if (format_table[format].bytes > 1)
        leave_time_out(&w.filter);
    return w;
}

void pipeline_warn_unused(const struct settings *before, const struct settings *s)
{
    if (settings_time_unused(s) && !(before && settings_time_unused(before)))
        log_warning("temporal = %d has no effect with filter = %s: the mean over frames needs "
                    "filter = bilateral",
                    s->temporal, key_find("filter")->choices[s->filter]);
}

/* Bits of a sample, as in struct capture_request. What a film has beyond 8 is seldom worth more
 * than what the filter learns of earlier frames; who asks a camera or writes a y4m file for 16
 * wants them. */
static int wanted_depth(const struct settings *s, const struct source_ops *ops)
{
    struct filter f;

    settings_filter(s, &f);
    if (s->depth == DEPTH_AUTO)
        return ops->films && filter_looks_back(&f) && !s->levels[1] ? 8 : 0;
    return s->depth == DEPTH_8 ? 8 : 0;
}

struct capture_request pipeline_capture_request(const struct settings *s)
{
    const struct source_ops *ops = source_for(s->input);
    struct capture_request w = {
        .ops = ops,
        .width = s->width,
        .height = s->height,
        .fps = s->fps,
        .format = s->format,
        .depth = wanted_depth(s, ops),
        .levels = {s->levels[0], s->levels[1]},
        .jpegs = engine_jpegs(engine_table),
    };

    (void)snprintf(w.name, sizeof(w.name), "%s", s->input);
    return w;
}
