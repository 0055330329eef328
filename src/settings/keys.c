#include "settings/settings.h"

#include <string.h>

#include "filter/filter.h"

/* The numbers of these are the values of enums. */
static const char *const filters[] = {[FILTER_BILATERAL] = "bilateral",
                                      [FILTER_GAUSSIAN] = "gaussian",
                                      [FILTER_BOX] = "box",
                                      [FILTER_NONE] = "none",
                                      NULL};
static const char *const ranges[] = {
    [RANGE_GAUSSIAN] = "gaussian", [RANGE_LORENTZIAN] = "lorentzian", NULL};
static const char *const distances[] = {
    [DISTANCE_EUCLIDEAN] = "euclidean", [DISTANCE_MANHATTAN] = "manhattan", NULL};
static const char *const windows[] = {[WINDOW_DISC] = "disc", [WINDOW_SQUARE] = "square", NULL};
static const char *const temporal_modes[] = {
    [TEMPORAL_RECURSIVE] = "recursive", [TEMPORAL_WINDOW] = "window", NULL};
static const char *const on_demands[] = {
    [ON_DEMAND_AUTO] = "auto", [ON_DEMAND_ON] = "on", [ON_DEMAND_OFF] = "off", NULL};
static const char *const depths[] = {
    [DEPTH_AUTO] = "auto", [DEPTH_8] = "8", [DEPTH_16] = "16", NULL};

/* These are kept as text, or by the names of formats. */
static const char *const engines[] = {"auto", "cuda", "simd", "reference", NULL};
static const char *const formats_in[] = {"yuyv", "uyvy",  "mjpg",  "nv12", "yu12",
                                         "grey", "rgb24", "bgr24", "y16",  NULL};
static const char *const formats_out[] = {"yuyv", "yu12", "rgb24", "bgr24", NULL};

/* Where a value is kept; of a text also how much room it has. */
#define FIELD(field) .offset = offsetof(struct settings, field)
#define TEXT(field) FIELD(field), .size = sizeof(((struct settings *)0)->field)

const struct key key_table[] = {
    {.name = "input",
     .letter = 'i',
     .argument = "SRC",
     .type = KEY_TEXT,
     TEXT(input),
     .default_text = "auto",
     .reopens = true,
     .help = "camera (auto, /dev/videoN, /dev/v4l/by-id/NAME, or its name in words; "
             "pipewire:[NAME]), a video or picture FILE, a URL (rtsp://, http:// and others; live "
             "or a film), - for standard input (y4m), or test:[scene=NAME,noise=N,seed=N]"},
    {.name = "output",
     .letter = 'o',
     .argument = "DST",
     .type = KEY_LIST,
     TEXT(output),
     .default_text = "auto",
     .help = "virtual camera (auto, /dev/videoN, pipewire:[NAME]), FILE that ends in .mp4, .mkv, "
             ".webm, .mov, .png, .jpg or .y4m, - for standard output (y4m), or null:; may be given "
             "several times"},
    {.name = "preview",
     .letter = 'p',
     .type = KEY_BOOL,
     FIELD(preview),
     .default_text = "no",
     .help = "live window"},
    {.name = "size",
     .argument = "WxH",
     .type = KEY_SIZE,
     FIELD(width),
     .default_text = "auto",
     .min = 2,
     .max = FRAME_MAX_SIDE,
     .reopens = true,
     .help = "size of the camera's picture"},
    {.name = "fps",
     .argument = "N",
     .type = KEY_RATE,
     FIELD(fps),
     .default_text = "auto",
     .min = 1,
     .max = 1000,
     .reopens = true,
     .help = "frames per second; with test: it paces the scene in real time"},
    {.name = "format",
     .argument = "NAME",
     .type = KEY_FORMAT,
     FIELD(format),
     .default_text = "auto",
     .choices = formats_in,
     .reopens = true,
     .help = "pixel format of the camera"},
    {.name = "output-format",
     .argument = "NAME",
     .type = KEY_FORMAT,
     FIELD(output_format),
     .default_text = "auto",
     .choices = formats_out,
     .help = "pixel format of the output"},
    {.name = "depth",
     .argument = "BITS",
     .type = KEY_CHOICE,
     FIELD(depth),
     .default_text = "auto",
     .choices = depths,
     .help =
         "bits of a sample that are filtered where pictures have more than 8: 16 keeps all that "
         "they have; 8 takes them to 8; auto takes films to 8 where levels is off "
         "and no output has room for more"},
    {.name = "levels",
     .argument = "MIN,MAX",
     .type = KEY_LEVELS,
     FIELD(levels),
     .default_text = "off",
     .max = 65535,
     .help = "levels of 16-bit grey that become black and white before it is filtered, for sensors "
             "that use a few of them; auto takes those of the pictures"},
    {.name = "encoder",
     .argument = "NAME",
     .type = KEY_TEXT,
     TEXT(encoder),
     .default_text = "auto",
     .help =
         "encoder of the output file, by FFmpeg's name, with options as in libx264:crf=20; auto "
         "suits the file's ending and the bits of a sample"},
    {.name = "filter",
     .argument = "NAME",
     .type = KEY_CHOICE,
     FIELD(filter),
     .default_text = "bilateral",
     .choices = filters,
     .live = true,
     .help = "what is done to the picture: bilateral keeps edges; gaussian and box, a plain mean, "
             "blur them as well, each frame by itself, with the square window"},
    {.name = "radius",
     .letter = 'r',
     .argument = "N",
     .type = KEY_INT,
     FIELD(radius),
     .default_text = "5",
     .max = FILTER_MAX_RADIUS,
     .live = true,
     .help = "radius of the window in pixels; 0 leaves only what temporal does"},
    {.name = "sigma-space",
     .argument = "S",
     .type = KEY_AUTOREAL,
     FIELD(sigma_space),
     .default_text = "auto",
     .min = 0.1,
     .max = 100,
     .step = 0.25,
     .live = true,
     .help = "how far neighbours count, in pixels; auto is half the radius, at least 1"},
    {.name = "sigma-color",
     .argument = "S",
     .type = KEY_AUTOREAL,
     FIELD(sigma_color),
     .default_text = "auto",
     .min = 1,
     .max = 200,
     .live = true,
     .help = "how different a colour may be, in levels of 0..255; 2 to 3 times the noise is best, "
             "which auto measures"},
    {.name = "range",
     .argument = "NAME",
     .type = KEY_CHOICE,
     FIELD(range),
     .default_text = "gaussian",
     .choices = ranges,
     .live = true,
     .help = "how the weight falls with the colour distance"},
    {.name = "distance",
     .argument = "NAME",
     .type = KEY_CHOICE,
     FIELD(distance),
     .default_text = "euclidean",
     .choices = distances,
     .live = true,
     .help = "how far two colours are from each other: euclidean, or the sum of the differences of "
             "R', G' and B', as in OpenCV"},
    {.name = "window",
     .argument = "NAME",
     .type = KEY_CHOICE,
     FIELD(window),
     .default_text = "disc",
     .choices = windows,
     .live = true,
     .help = "shape of the window"},
    {.name = "temporal",
     .argument = "N",
     .type = KEY_AUTOINT,
     FIELD(temporal),
     .default_text = "auto",
     .min = 1,
     .max = FILTER_MAX_TEMPORAL,
     .live = true,
     .help = "how many frames a pixel is the mean of, along its motion and at most; 1 filters each "
             "frame by itself; auto is 16 (more hardly helps), or 4 with temporal-mode window"},
    {.name = "temporal-mode",
     .argument = "NAME",
     .type = KEY_CHOICE,
     FIELD(temporal_mode),
     .default_text = "recursive",
     .choices = temporal_modes,
     .live = true,
     .help =
         "recursive keeps a mean that follows motion, and filters that; window filters over the "
         "last frames themselves, of which 8 are the most, at a cost that grows with them"},
    {.name = "sigma-time",
     .argument = "S",
     .type = KEY_AUTOREAL,
     FIELD(sigma_time),
     .default_text = "auto",
     .min = 0.1,
     .max = 100,
     .live = true,
     .help = "how far back frames count with temporal-mode window, in frames; auto is all alike"},
    {.name = "engine",
     .letter = 'e',
     .argument = "NAME",
     .type = KEY_CHOICE,
     TEXT(engine),
     .default_text = "auto",
     .choices = engines,
     .help = "what filters; auto takes the GPU, else the CPU"},
    {.name = "device",
     .argument = "GPU",
     .type = KEY_GPU,
     TEXT(device),
     .default_text = "auto",
     .help = "which GPU filters, by its number or PCI bus ID (--list-engines tells both); auto "
             "takes the one with the most free memory"},
    {.name = "threads",
     .argument = "N",
     .type = KEY_INT,
     FIELD(threads),
     .default_text = "0",
     .max = 256,
     .help = "CPU threads of the simd engine; 0 is as many as the latency budget needs, one per "
             "core at most; a number is also the most that decode a video, and that encode one"},
    {.name = "autotune",
     .argument = "yes|no",
     .type = KEY_BOOL,
     FIELD(autotune),
     .default_text = "yes",
     .help = "time the GPU for a quarter of a second when a size of picture is new to it, and keep "
             "what suits it in the user's cache folder"},
    {.name = "latency-budget",
     .argument = "MS",
     .type = KEY_BUDGET,
     FIELD(latency_budget),
     .default_text = "auto",
     .min = 0.1,
     .max = 10000,
     .live = true,
     .help =
         "limits the radius, the search for motion and the mean over frames, so that bilatcam adds "
         "no more than this to the camera's own delay; auto is one frame interval; files, which "
         "are not live, "
         "always get the whole filter"},
    {.name = "radius-min",
     .argument = "N",
     .type = KEY_INT,
     FIELD(radius_min),
     .default_text = "1",
     .min = 1,
     .max = FILTER_MAX_RADIUS,
     .live = true,
     .help = "the radius below which the latency budget does not push"},
    {.name = "on-demand",
     .argument = "WHEN",
     .type = KEY_CHOICE,
     FIELD(on_demand),
     .default_text = "auto",
     .choices = on_demands,
     .help = "release the camera while nobody reads the virtual one; auto does unless there is a "
             "window or "
             "an end to the run"},
    {.name = "wait",
     .type = KEY_BOOL,
     FIELD(wait),
     .default_text = "no",
     .help = "if camera or virtual camera are not there at the start, wait for them"},
    {.name = "frames",
     .argument = "N",
     .type = KEY_INT,
     FIELD(frames),
     .default_text = "0",
     .max = 1e9,
     .help = "stop after N frames; 0 is no limit"},
    {.name = "stats",
     .argument = "FILE",
     .type = KEY_TEXT,
     TEXT(stats),
     .default_text = "",
     .help = "write statistics as one JSON object at exit; - is standard output"},
    {.name = "trace",
     .argument = "FILE",
     .type = KEY_TEXT,
     TEXT(trace),
     .default_text = "",
     .help = "write one line of CSV per frame: when, which radius, how long each stage took; - is "
             "standard "
             "output"},
    {.name = NULL},
};

const struct key *key_find(const char *name)
{
    for (const struct key *k = key_table; k->name; k++)
        if (!strcmp(k->name, name))
            return k;
    return NULL;
}
