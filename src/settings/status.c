#include "settings/status.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* What a field holds. */
#define FIELD(field)                                                                               \
    .offset = offsetof(struct status, field), .size = sizeof(((struct status *)0)->field)
#define TEXT(field) .type = FIGURE_TEXT, FIELD(field)
#define INT(field) .type = FIGURE_INT, FIELD(field)
#define COUNT(field) .type = FIGURE_COUNT, FIELD(field)
#define REAL(field) .type = FIGURE_REAL, FIELD(field)
#define MS(field) .type = FIGURE_DURATION, .unit = "ms", FIELD(field)

/* An object of the JSON: a duration since the start. */
#define PERCENTILES(object, field, what)                                                           \
    {.json = object ".p50", MS(run.field.p50_ns), .help = "median of " what},                      \
        {.json = object ".p95", MS(run.field.p95_ns), .help = "95th percentile of " what},         \
        {.json = object ".p99", MS(run.field.p99_ns), .help = "99th percentile of " what},         \
    {                                                                                              \
        .json = object ".max", MS(run.field.max_ns), .help = "maximum of " what                    \
    }

const struct figure figure_table[] = {
    {.property = "State",
     TEXT(state),
     .announced = true,
     .help = "one of: running, starting, idle, paused, asleep, no camera, no virtual camera"},
    {.property = "StateReason",
     TEXT(reason),
     .help = "why there is no camera, or no virtual camera; else empty"},
    {.property = "FpsMeasured", REAL(second.fps), .help = "frames per second, in the last one"},
    {.property = "LatencyP50Ms",
     MS(second.latency.p50_ns),
     .help =
         "median of the last second's latencies, from the camera's stamp until the frame is out"},
    {.property = "LatencyP99Ms", MS(second.latency.p99_ns), .help = "99th percentile of the same"},
    {.property = "AddedP50Ms",
     MS(second.added.p50_ns),
     .help = "median of the last second's latencies without the camera's own delay"},
    {.property = "AddedP99Ms", MS(second.added.p99_ns), .help = "99th percentile of the same"},
    {.property = "CameraDelayMs",
     MS(second.camera.p50_ns),
     .help = "the camera's own delay, from its stamp until the frame can be read"},
    {.json = "engine", .property = "EngineUsed", TEXT(engine), .help = "what filters"},
    {.json = "device",
     .property = "DeviceUsed",
     TEXT(device),
     .help = "the GPU or the processor that it filters on"},
    {.json = "threads",
     INT(threads),
     .help =
         "CPU threads that filtered the last frame, where threads = 0 leaves their number to the "
         "latency budget; else 0"},
    {.json = "width", INT(width), .unit = "pixels", .help = "width of the picture"},
    {.json = "height", INT(height), .unit = "pixels", .help = "height of the picture"},
    {.json = "fps",
     REAL(run.fps),
     .help = "frames per second, from the first to the last that was shown"},
    {.json = "format_in", TEXT(format_in), .help = "pixel format of the source"},
    {.json = "format_out", TEXT(format_out), .help = "pixel format of the first output"},
    {.json = "outputs",
     .property = "Outputs",
     TEXT(outputs),
     .help = "the outputs: name and frames written, and of a virtual camera how many programs read "
             "it; or why it cannot be written to"},
    {.json = "frames_in",
     .property = "FramesIn",
     COUNT(frames_in),
     .help = "frames that the source had: the sum of the next three"},
    {.json = "frames_out",
     .property = "FramesOut",
     COUNT(frames_out),
     .help = "frames written to at least one output"},
    {.json = "frames_dropped",
     .property = "FramesDropped",
     COUNT(frames_dropped),
     .help = "frames that were lost on their way: for want of time, of an output, or at the end"},
    {.json = "frames_bad", .property = "FramesBad", COUNT(frames_bad), .help = "damaged frames"},
    {.json = "radius_requested",
     INT(radius_requested),
     .unit = "pixels",
     .help = "radius that was asked for"},
    {.json = "radius_min_used",
     INT(radius_min_used),
     .unit = "pixels",
     .help = "least radius that a frame was filtered with; -1 before the first frame"},
    {.json = "radius_last",
     .property = "RadiusUsed",
     INT(radius_last),
     .unit = "pixels",
     .help = "radius that the last frame was filtered with; -1 before the first frame"},
    {.json = "sigma_color",
     .property = "SigmaColorUsed",
     REAL(sigma_color),
     .unit = "levels",
     .zero = "none",
     .help =
         "sigma-color in use: what auto stands for now, or the number given; 0, or not in the "
         "JSON, while auto knows of no noise (as for noise below), and where the filter has none"},
    {.json = "noise",
     .property = "Noise",
     REAL(noise),
     .unit = "levels",
     .zero = "none measured",
     .help = "standard deviation of the noise in one channel of colour; 0, or not in the JSON, "
             "while it is not measured, and where the picture has none, as slides do"},
    {.json = "frames_averaged",
     .property = "FramesAveraged",
     REAL(frames_averaged),
     .unit = "frames",
     .help = "how many frames a pixel is the mean of, on average; 1 where pictures are filtered "
             "one by one"},
    {.json = "search",
     .property = "Search",
     TEXT(search),
     .help =
         "whether the last frame's mean over frames followed what moves: on; off, or none as "
         "there was no mean either, which the latency budget asks for; or empty, as no mean was "
         "asked for or the frame passed"},
    PERCENTILES("latency_ms", latency, "the time from the camera's stamp until a frame is out"),
    PERCENTILES("camera_ms", camera, "the camera's own delay"),
    PERCENTILES("added_ms", added, "the latency without the camera's own delay"),
    PERCENTILES("filter_ms", filter, "the time that filtering a frame takes"),
    {.json = "psnr_gain_db",
     REAL(psnr_gain_db),
     .unit = "dB",
     .help = "how much nearer the filter brings a generated scene to the same without noise; "
             "only where that is known"},
    {.json = "reconnects",
     .property = "Reconnects",
     COUNT(reconnects),
     .help = "how often pictures came again after the camera was lost"},
    {.property = "ProcessorPercent",
     REAL(processor_percent),
     .unit = "% of one core",
     .zero = "not known yet",
     .help = "processor time that all threads take, in percent of one core, in the last second; "
             "that of a GPU engine's own process is not in it"},
    {.json = "gpu_memory_mib",
     .property = "GpuMemoryMib",
     REAL(gpu_memory_mib),
     .unit = "MiB",
     .zero = "",
     .help = "the GPU's memory that the engine's process has, with what CUDA and the driver need "
             "for themselves, as nvidia-smi tells; 0, or not in the JSON, without a GPU engine, in "
             "its first frames, and where the driver does not tell"},
    {.property = "Readers",
     INT(readers),
     .negative = "not known",
     .help = "programs that read the virtual cameras; -1 if that is not known"},
    {.help = NULL},
};

void status_init(struct status *s)
{
    *s = (struct status){.readers = -1,
                         .radius_min_used = -1,
                         .radius_last = -1,
                         .temporal = 1,
                         .frames_averaged = 1.0,
                         .psnr_gain_db = NAN};
}

double in_ms(int64_t ns)
{
    return (double)ns / 1e6;
}

const struct figure *figure_find(const char *property)
{
    for (const struct figure *f = figure_table; f->help; f++)
        if (f->property && !strcmp(f->property, property))
            return f;
    return NULL;
}

const char *figure_signature(const struct figure *f)
{
    static const char *const signatures[] = {
        [FIGURE_TEXT] = "s", [FIGURE_INT] = "i",      [FIGURE_COUNT] = "t",
        [FIGURE_REAL] = "d", [FIGURE_DURATION] = "d",
    };

    return signatures[f->type];
}

const void *figure_field(const struct figure *f, const struct status *s)
{
    return (const char *)s + f->offset;
}

double figure_real(const struct figure *f, const struct status *s)
{
    const void *field = figure_field(f, s);

    return f->type == FIGURE_REAL ? *(const double *)field : in_ms(*(const int64_t *)field);
}

static bool is_known(const struct figure *f, const struct status *s)
{
    const double value = f->type == FIGURE_REAL ? figure_real(f, s) : 1.0;

    return isfinite(value) && (!f->zero || value > 0.0);
}

void figure_text(const struct figure *f, const struct status *s, char *text, size_t size)
{
    const void *field = figure_field(f, s);

    switch (f->type) {
    case FIGURE_TEXT:
        (void)snprintf(text, size, "%s", (const char *)field);
        break;
    case FIGURE_INT:
        (void)snprintf(text, size, "%d", *(const int *)field);
        break;
    case FIGURE_COUNT:
        (void)snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)field);
        break;
    default:
        (void)snprintf(text, size, "%.3f", figure_real(f, s));
    }
}

/* The length of the object's name in "object.member"; 0: it is in none. */
static size_t object_length(const char *json)
{
    const char *const dot = strchr(json, '.');

    return dot ? (size_t)(dot - json) : 0;
}

/* What stands before the value of the figure called @json, which follows the one called @last:
 * the end of one object, the begin of another. */
static void print_name(const char *json, const char *last, FILE *out)
{
    const size_t n = object_length(json), open = object_length(last);
    const bool same = n == open && !strncmp(json, last, n);

    fprintf(out, "%s%s", open && !same ? "}" : "", *last ? ", " : "");
    if (n && !same)
        fprintf(out, "\"%.*s\": {", (int)n, json);
    fprintf(out, "\"%s\": ", n ? json + n + 1 : json);
}

static void print_value(const struct figure *f, const struct status *s, FILE *out)
{
    char text[32];

    if (f->type == FIGURE_TEXT) {
        json_print_string(out, figure_field(f, s));
        return;
    }
    figure_text(f, s, text, sizeof(text));
    fputs(text, out);
}

void status_print_json(const struct status *s, FILE *out)
{
    const char *last = ""; /* the name printed last */

    fputc('{', out);
    for (const struct figure *f = figure_table; f->help; f++) {
        if (!f->json || !is_known(f, s))
            continue;
        print_name(f->json, last, out);
        print_value(f, s, out);
        last = f->json;
    }
    fputs(object_length(last) ? "}}\n" : "}\n", out);
}
