#include "pipeline/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "base/url.h"
#include "engine/table.h"
#include "pipeline/backends.h"

static void request_filter(struct pipeline *p)
{
    const struct settings *s = &p->settings;
    const enum frame_format format = p->stages.capture.picture.format;
    const struct filter_request w = pipeline_filter_request(s);

    if (s->levels[1] && format != FRAME_GREY16)
        log_warning("levels: only grey of 16 bits has them to choose from, not %s",
                    format_table[format].name);
    stream_set_filter_request(p->stages.stream, &w);
}

static int open_capture(struct pipeline *p, struct error *err)
{
    const struct capture_request request = pipeline_capture_request(&p->settings);
    const int r =
        capture_open(&p->stages.capture, p->stages.stream, &request, p->settings.wait, err);

    if (r == 0)
        request_filter(p);
    return r;
}

/* A latency budget that was asked for has to hold; that of a configuration file is for cameras. */
static int check_budget(const struct pipeline *p, struct error *err)
{
    const struct settings *s = &p->settings;
    char shown[SETTINGS_PATH_MAX];

    if (stream_live(p->stages.stream) || !s->budget_asked || s->latency_budget <= 0)
        return 0;
    return error_usage(err,
                       "latency-budget: '%s' is not live: each of its frames gets the whole "
                       "filter, however long that takes (leave the option out, or use it with a "
                       "camera, or with test: and --fps)",
                       url_public(s->input, shown, sizeof(shown)));
}

static int open_filtering(struct pipeline *p, struct error *err)
{
    struct filtering_config config = {
        .engine = {.threads = p->settings.threads, .autotune = p->settings.autotune},
        .stand_in = &engine_simd,
        .rest_ns = FILTERING_REST_NS,
    };
    struct engine *engine;
    int r;

    memcpy(config.engine.device, p->settings.device, sizeof(config.engine.device));
    r = engine_open(&engine, engine_table, p->settings.engine, &config.engine, err);
    if (r == 0)
        filtering_open(&p->stages.filtering, p->stages.stream, engine, &config);
    return r;
}

/* Whether an output other than @but is of a kind of which a run has one. */
static bool single_taken(const struct pipeline *p, const char *but)
{
    for (int i = 0; i < p->n_outputs; i++)
        if (p->outputs[i] != but && sink_for(p->outputs[i])->single)
            return true;
    return false;
}

/* Whether the source's grey has more than 8 bits, and is shown as it comes. */
static bool unstretched(const struct pipeline *p)
{
    const struct source *s = p->stages.capture.source;

    return s && !p->settings.levels[1] && p->settings.depth == DEPTH_AUTO &&
           (s->format == FRAME_GREY16 || (s->format == FRAME_GREY && s->reduced));
}

static struct sink_config sink_request(const struct pipeline *p, const char *name)
{
    const struct source *source = p->stages.capture.source;
    const struct fraction tick = source ? source->tick : (struct fraction){0, 0};

    return (struct sink_config){
        .name = name,
        .instance = p->settings.instance,
        .picture = p->stages.capture.picture,
        .format = p->settings.output_format,
        .depth = source ? source->depth : 0,
        .unstretched = unstretched(p),
        .fps = p->stages.capture.fps,
        .pace = !stream_live(p->stages.stream),
        .single_taken = single_taken(p, name),
        .stop_fd = stream_fd(p->stages.stream, STREAM_EVENT_STOP),
        .control = &p->control,
        .y4m = source ? source->y4m : NULL,
        .film = tick.num ? p->settings.input : NULL,
        .tags = source ? &source->tags : NULL,
        .left_out = source ? source->left_out : NULL,
        .tick = tick,
        .encoder = p->settings.encoder,
        .threads = p->settings.threads,
    };
}

static int open_outputs(struct pipeline *p, struct error *err)
{
    const struct settings *s = &p->settings;
    int r = 0;

    for (int i = 0; i < p->n_outputs && r == 0; i++) {
        const struct sink_config config = sink_request(p, p->outputs[i]);

        r = output_open(&p->stages.output, sink_for(config.name), &config, s->wait, err);
    }
    /* A window alone is enough where no other output was asked for by name. */
    if (r && r != -ECANCELED && s->preview && !strcmp(s->output, "auto")) {
        log_info("%s; the window is the only output", err->text);
        return 0;
    }
    return r;
}

/* Whether somebody gets to see what goes to the outputs so far. */
static bool anything_seen(const struct output *o)
{
    for (int i = 0; i < o->n_writers; i++)
        if (!o->writers[i].outlet.ops->discards)
            return true;
    return false;
}

static int open_preview(struct pipeline *p, struct error *err)
{
    struct sink_config config = sink_request(p, "preview");

    config.format = -1;
    config.alone = !anything_seen(&p->stages.output);
    return output_open(&p->stages.output, window_sink, &config, false, err);
}

static void fill_status(struct pipeline *p)
{
    const struct sink *sink = p->stages.output.writers[0].outlet.sink;
    const struct frame *picture = sink ? &sink->picture : &p->stages.capture.picture;
    struct status *s = &p->opened;

    status_init(s);
    (void)snprintf(s->format_in, sizeof(s->format_in), "%s",
                   format_table[p->stages.capture.format].name);
    (void)snprintf(s->format_out, sizeof(s->format_out), "%s", format_table[picture->format].name);
    s->frames_total = p->stages.capture.source ? p->stages.capture.source->n_frames : 0;
    if (p->settings.frames && (!s->frames_total || s->frames_total > (uint64_t)p->settings.frames))
        s->frames_total = (uint64_t)p->settings.frames;
    s->width = p->stages.capture.picture.width;
    s->height = p->stages.capture.picture.height;
}

/* Left to itself, the program releases a camera that nobody looks at, if that is all it does. */
static int decide_on_demand(struct pipeline *p, struct error *err)
{
    const struct settings *s = &p->settings;
    const struct output *o = &p->stages.output;
    int n_cameras = 0;
    const bool device = p->stages.capture.request.ops->device && stream_live(p->stages.stream);

    for (int i = 0; i < o->n_writers; i++)
        n_cameras += o->writers[i].outlet.ops->virtual_camera;
    if (s->on_demand == ON_DEMAND_ON && !n_cameras)
        return error_usage(err, "on-demand: an output must be a virtual camera, not '%s'",
                           p->outputs[0]);
    if (s->on_demand == ON_DEMAND_ON || (s->on_demand == ON_DEMAND_AUTO && device &&
                                         n_cameras == o->n_writers && !s->frames && !*s->trace))
        tally_release_unread(&p->stages.output.tally);
    return 0;
}

static int connect_stages(struct pipeline *p, struct error *err)
{
    const bool live = stream_live(p->stages.stream);
    const int n_outputs = p->stages.output.n_writers + p->settings.preview;

    return stages_connect(&p->stages, live ? RING_LATEST : RING_LOSSLESS, n_outputs, err);
}

/* Whether the pictures have other levels than the source gives them, and knows them clean. */
static bool stretched(const struct pipeline *p)
{
    return p->settings.levels[1] && p->stages.capture.picture.format == FRAME_GREY16;
}

/* The window comes last: it may ask for the state of all the rest as soon as it stands. */
static int open_all(struct pipeline *p, struct error *err)
{
    int r = pipeline_check(p, err);

    if (r == 0 && *p->settings.trace)
        r = tally_trace(&p->stages.output.tally, p->settings.trace, err);
    if (r == 0)
        r = open_capture(p, err);
    if (r == 0)
        r = check_budget(p, err);
    if (r == 0)
        r = open_filtering(p, err);
    if (r == 0)
        r = open_outputs(p, err);
    if (r == 0)
        r = connect_stages(p, err);
    if (r == 0 && *p->settings.stats && p->stages.capture.source && !stretched(p))
        r = tally_measure(&p->stages.output.tally, p->stages.capture.source,
                          p->stages.capture.picture.format, err);
    if (r == 0 && p->settings.preview)
        r = open_preview(p, err);
    if (r == 0)
        r = decide_on_demand(p, err);
    return r;
}

/* What goes where. */
static void log_outputs(struct pipeline *p)
{
    const struct output *o = &p->stages.output;
    char names[640] = "";
    struct status status;

    for (int i = 0; i < o->n_writers; i++)
        list_add(names, sizeof(names), ", ", outlet_name(&o->writers[i].outlet));
    pipeline_status(p, &status);
    log_info("%s, %dx%d %s -> %s (%s) -> %s, %s", p->stages.capture.name, status.width,
             status.height, status.format_in, status.engine, status.device, names,
             status.format_out);
}

/* A failure leaves nothing to finish. */
static int init(struct pipeline *p, int stop_fd)
{
    int r = -pthread_mutex_init(&p->settings_lock, NULL);

    if (r)
        return r;
    r = stages_init(&p->stages, stop_fd, (uint64_t)p->settings.frames);
    if (r)
        (void)pthread_mutex_destroy(&p->settings_lock);
    return r;
}

int pipeline_open(struct pipeline **ret, const struct settings *settings, int stop_fd,
                  struct error *err)
{
    struct pipeline *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return error_set(err, -ENOMEM, "out of memory");
    p->settings = *settings;
    r = init(p, stop_fd);
    if (r) {
        free(p);
        return error_set(err, r, "cannot set up the pipeline: %s", strerror(-r));
    }
    p->control = pipeline_sink_control(p);
    r = open_all(p, err);
    if (r) {
        (void)pipeline_close(p);
        return r;
    }
    pipeline_warn_unused(NULL, settings);
    fill_status(p);
    log_outputs(p);
    *ret = p;
    return 0;
}

int pipeline_start(struct pipeline *p, struct error *err)
{
    return stages_start(&p->stages, err);
}

void pipeline_join(struct pipeline *p)
{
    stages_join(&p->stages);
    atomic_store(&p->ended, true);
}

int pipeline_close(struct pipeline *p)
{
    int r;

    pipeline_join(p);
    r = stages_close(&p->stages);
    (void)pthread_mutex_destroy(&p->settings_lock);
    free(p);
    return r;
}
