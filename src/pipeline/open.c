#include "pipeline/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_id.h"
#include "base/log.h"
#include "engine/table.h"
#include "pipeline/backends.h"

/* Writing to a file that is read, or twice to one, would destroy it. Compared before any picture
 * file or the trace is opened; the file of the statistics is open, but as it was. */
static int check_files(const struct settings *s, struct error *err)
{
    const bool reads = source_for(s->input)->file;
    const bool writes = strcmp(s->output, "auto") && !sink_for(s->output)->discards;
    const struct {
        const char *what, *path;
    } written[] = {
        {"output", writes ? s->output : ""}, {"statistics", s->stats}, {"trace", s->trace}};
    struct file_id input, ids[3];
    const bool has_input = reads && !file_id_get(s->input, STDIN_FILENO, &input) &&
                           (input.type == 0 || S_ISREG(input.type) || S_ISFIFO(input.type));

    for (int i = 0; i < 3; i++) {
        if (!*written[i].path || file_id_get(written[i].path, STDOUT_FILENO, &ids[i])) {
            ids[i] = (struct file_id){.dev = (dev_t)-1};
            continue;
        }
        if (has_input && file_id_equal(&ids[i], &input))
            return error_usage(err, "'%s' is read and would be overwritten: choose another name",
                               written[i].path);
        for (int k = 0; k < i; k++)
            if (file_id_equal(&ids[i], &ids[k]) && !file_id_is_null(&ids[i]))
                return error_usage(
                    err, "%s '%.150s' and %s '%.150s' are the same file: choose another name",
                    written[k].what, written[k].path, written[i].what, written[i].path);
    }
    return 0;
}

/* What can be seen to be wrong before anything is opened or written. */
static int check_request(const struct settings *s, struct error *err)
{
    if (source_for(s->input)->missing)
        return error_set(err, -ENOTSUP, "'%.120s': %s", s->input, source_for(s->input)->missing);
    if (!sink_for(s->output))
        return error_usage(err,
                           "output '%s': must be auto, /dev/videoN, - or null:, or a file that "
                           "ends in .mp4, .mkv, "
                           ".webm, .mov, .png, .jpg or .y4m",
                           s->output);
    if (sink_for(s->output)->missing)
        return error_set(err, -ENOTSUP, "'%.120s': %s", s->output, sink_for(s->output)->missing);
    if (s->preview && window_sink->missing)
        return error_set(err, -ENOTSUP, "%s", window_sink->missing);
    return check_files(s, err);
}

static int open_capture(struct pipeline *p, struct error *err)
{
    const struct capture_request request = pipeline_capture_request(&p->settings);

    return capture_open(&p->stages.capture, p->stages.stream, &request, p->settings.wait, err);
}

/* A latency budget that was asked for has to hold; that of a configuration file is for cameras. */
static int check_budget(const struct pipeline *p, struct error *err)
{
    const struct settings *s = &p->settings;

    if (stream_live(p->stages.stream) || !s->budget_asked || s->latency_budget <= 0)
        return 0;
    return error_usage(err,
                       "latency-budget: '%s' is not live: each of its frames gets the whole "
                       "filter, however long that takes (leave the option out, or use it with a "
                       "camera, or with test: and --fps)",
                       s->input);
}

static int open_filtering(struct pipeline *p, struct error *err)
{
    const struct filtering_config config = {
        .engine = {.threads = p->settings.threads, .autotune = p->settings.autotune},
        .stand_in = &engine_simd,
        .rest_ns = FILTERING_REST_NS,
    };
    struct engine *engine;
    const int r = engine_open(&engine, engine_table, p->settings.engine, &config.engine, err);

    if (r == 0)
        filtering_open(&p->stages.filtering, p->stages.stream, engine, &config);
    return r;
}

static struct sink_config sink_request(const struct pipeline *p)
{
    const struct source *source = p->stages.capture.source;
    const struct fraction tick = source ? source->tick : (struct fraction){0, 0};

    return (struct sink_config){
        .name = p->output_name,
        .picture = p->stages.capture.picture,
        .format = p->settings.output_format,
        .fps = p->stages.capture.fps,
        .pace = !stream_live(p->stages.stream),
        .stop_fd = stream_fd(p->stages.stream, STREAM_EVENT_STOP),
        .control = &p->control,
        .y4m = source ? source->y4m : NULL,
        .film = tick.num ? p->settings.input : NULL,
        .tick = tick,
        .encoder = p->settings.encoder,
    };
}

static int open_output(struct pipeline *p, struct error *err)
{
    const struct settings *s = &p->settings;
    const struct sink_config config = sink_request(p);
    const int r = output_open(&p->stages.output, sink_for(s->output), &config, s->wait, err);

    /* A window alone is enough where no other output was asked for by name. */
    if (r && r != -ECANCELED && s->preview && !strcmp(s->output, "auto")) {
        log_info("%s; the window is the only output", err->text);
        return 0;
    }
    return r;
}

static int open_preview(struct pipeline *p, struct error *err)
{
    struct sink_config config = sink_request(p);

    config.name = "preview";
    config.format = -1;
    config.alone = !p->stages.output.n_outlets || p->stages.output.outlets[0].ops->discards;
    return output_open(&p->stages.output, window_sink, &config, false, err);
}

static void fill_status(struct pipeline *p)
{
    const struct sink *sink = p->stages.output.outlets[0].sink;
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
    const struct outlet *first = &p->stages.output.outlets[0];
    const bool device = p->stages.capture.request.ops->device;

    if (s->on_demand == ON_DEMAND_ON && !first->ops->virtual_camera)
        return error_usage(err, "on-demand: the output must be a virtual camera, not '%s'",
                           s->output);
    if (s->on_demand == ON_DEMAND_ON ||
        (s->on_demand == ON_DEMAND_AUTO && device && first->ops->virtual_camera &&
         p->stages.output.n_outlets == 1 && !s->frames && !*s->trace))
        output_release_unread(&p->stages.output);
    return 0;
}

/* The window comes last: it may ask for the state of all the rest as soon as it stands. */
static int open_all(struct pipeline *p, struct error *err)
{
    int r = check_request(&p->settings, err);

    if (r == 0 && *p->settings.trace)
        r = output_trace(&p->stages.output, p->settings.trace, err);
    if (r == 0)
        r = open_capture(p, err);
    if (r == 0)
        r = check_budget(p, err);
    if (r == 0)
        r = open_filtering(p, err);
    if (r == 0)
        r = open_output(p, err);
    if (r == 0)
        r = stages_connect(&p->stages, stream_live(p->stages.stream) ? RING_LATEST : RING_LOSSLESS,
                           err);
    if (r == 0 && *p->settings.stats && p->stages.capture.source)
        r = output_measure(&p->stages.output, p->stages.capture.source, err);
    if (r == 0 && p->settings.preview)
        r = open_preview(p, err);
    if (r == 0)
        r = decide_on_demand(p, err);
    return r;
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
    struct status status;
    struct filter_request request;
    int r;

    if (!p)
        return error_set(err, -ENOMEM, "out of memory");
    p->settings = *settings;
    r = init(p, stop_fd);
    if (r) {
        free(p);
        return error_set(err, r, "cannot set up the pipeline: %s", strerror(-r));
    }
    (void)snprintf(p->output_name, sizeof(p->output_name), "%s", settings->output);
    p->control = pipeline_sink_control(p);
    request = pipeline_filter_request(settings);
    stream_set_filter_request(p->stages.stream, &request);
    r = open_all(p, err);
    if (r) {
        (void)pipeline_close(p);
        return r;
    }
    fill_status(p);
    pipeline_status(p, &status);
    log_info("%s, %dx%d %s -> %s (%s) -> %s, %s", p->stages.capture.name, status.width,
             status.height, status.format_in, status.engine, status.device,
             outlet_name(&p->stages.output.outlets[0]), status.format_out);
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
