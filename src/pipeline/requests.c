#include "pipeline/parts.h"

#include "base/log.h"
#include "engine/table.h"
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

void pipeline_warn_unused(const struct settings *before, const struct settings *s)
{
    if (settings_time_unused(s) && !(before && settings_time_unused(before)))
        log_warning("temporal = %d has no effect with filter = %s: the mean over frames needs "
                    "filter = bilateral",
                    s->temporal, key_find("filter")->choices[s->filter]);
    if (settings_sigma_time_unused(s) && !(before && settings_sigma_time_unused(before)))
        log_warning("sigma-time has no effect: it is for temporal-mode = window with "
                    "filter = bilateral");
}

/* Whether an output has room for samples of more than 8 bits. */
static bool keeps_words(const struct settings *s, bool live)
{
    char name[SETTINGS_PATH_MAX];
    const struct sink_config config = {
        .name = name,
        .picture = {.format = FRAME_I422_16, .width = 1920, .height = 1080},
        .format = s->output_format,
        .pace = !live,
        .encoder = s->encoder,
    };

    for (int i = 0; settings_item(s->output, i, name); i++) {
        const struct sink_ops *const ops = sink_for(name);

        if (ops && ops->words && ops->words(&config))
            return true;
    }
    return false;
}

/* Bits of a sample, as in struct capture_request. What a film has beyond 8 is not seen in a virtual
 * camera or a window; who asks a camera or writes a y4m file for 16 wants them. */
static int wanted_depth(const struct settings *s, const struct source_ops *ops, bool live)
{
    if (s->depth == DEPTH_AUTO)
        return ops->films && !s->levels[1] && !keeps_words(s, live) ? 8 : 0;
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
        .depth = wanted_depth(s, ops, false),
        .live_depth = wanted_depth(s, ops, true),
        .threads = s->threads,
        .levels = {s->levels[0], s->levels[1]},
        .jpegs = engine_jpegs(engine_table),
    };

    (void)snprintf(w.name, sizeof(w.name), "%s", s->input);
    return w;
}
