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

struct capture_request pipeline_capture_request(const struct settings *s)
{
    struct capture_request w = {
        .ops = source_for(s->input),
        .width = s->width,
        .height = s->height,
        .fps = s->fps,
        .format = s->format,
        .levels = {s->levels[0], s->levels[1]},
        .jpegs = engine_jpegs(engine_table),
    };

    (void)snprintf(w.name, sizeof(w.name), "%s", s->input);
    return w;
}
