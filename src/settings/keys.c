#include "settings/settings.h"

#include <string.h>

#include "filter/filter.h"

static const char *const filters[] = {"none", "bilateral", NULL};
static const char *const ranges[] = {"gaussian", "lorentzian", NULL};
static const char *const windows[] = {"disc", "square", NULL};
static const char *const engines[] = {"auto", "cuda", "simd", "reference", NULL};
static const char *const on_demands[] = {"auto", "on", "off", NULL};
static const char *const formats_in[] = {"yuyv", "uyvy", "mjpg", "nv12", "yu12", "grey", NULL};
static const char *const formats_out[] = {"yuyv", "yu12", NULL};

#define FIELD(name) offsetof(struct settings, name)
#define TEXT(name) FIELD(name), sizeof(((struct settings *)0)->name)

const struct key key_table[] = {
    {"input", 'i', "SRC", KEY_TEXT, TEXT(input), "auto", 0, 0, NULL, false,
     "camera (auto, /dev/videoN, /dev/v4l/by-id/NAME, or its name in words), FILE.y4m, - for "
     "standard input, or test:[scene=NAME,noise=N,seed=N]",
     true},
    {"output", 'o', "DST", KEY_TEXT, TEXT(output), "auto", 0, 0, NULL, false,
     "virtual camera (auto, /dev/videoN), FILE.y4m, - for standard output, or null:"},
    {"preview", 'p', NULL, KEY_BOOL, FIELD(preview), 0, "no", 0, 0, NULL, false, "live window"},
    {"size", 0, "WxH", KEY_SIZE, FIELD(width), 0, "auto", 2, FRAME_MAX_SIDE, NULL, false,
     "size of the camera's picture", true},
    {"fps", 0, "N", KEY_RATE, FIELD(fps), 0, "auto", 1, 1000, NULL, false,
     "frames per second; with test: it paces the scene in real time", true},
    {"format", 0, "NAME", KEY_FORMAT, FIELD(format), 0, "auto", 0, 0, formats_in, false,
     "pixel format of the camera", true},
    {"output-format", 0, "NAME", KEY_FORMAT, FIELD(output_format), 0, "auto", 0, 0, formats_out,
     false, "pixel format of the output"},
    {"filter", 0, "NAME", KEY_CHOICE, FIELD(filter), 0, "bilateral", 0, 0, filters, true,
     "what is done to the picture"},
    {"radius", 'r', "N", KEY_INT, FIELD(radius), 0, "5", 0, FILTER_MAX_RADIUS, NULL, true,
     "radius of the window in pixels; 0 passes the picture through"},
    {"sigma-space", 0, "S", KEY_AUTOREAL, FIELD(sigma_space), 0, "auto", 0.1, 100, NULL, true,
     "how far neighbours count, in pixels; auto is half the radius, at least 1"},
    {"sigma-color", 0, "S", KEY_REAL, FIELD(sigma_color), 0, "18", 1, 200, NULL, true,
     "how different a colour may be, in levels of 0..255; 2 to 2.5 times the noise is best"},
    {"range", 0, "NAME", KEY_CHOICE, FIELD(range), 0, "gaussian", 0, 0, ranges, true,
     "how the weight falls with the colour distance"},
    {"window", 0, "NAME", KEY_CHOICE, FIELD(window), 0, "disc", 0, 0, windows, true,
     "shape of the window"},
    {"engine", 'e', "NAME", KEY_CHOICE, TEXT(engine), "auto", 0, 0, engines, false,
     "what filters; auto takes the GPU, else the CPU"},
    {"threads", 0, "N", KEY_INT, FIELD(threads), 0, "0", 0, 256, NULL, false,
     "CPU threads of the simd engine; 0 is one per core"},
    {"autotune", 0, "yes|no", KEY_BOOL, FIELD(autotune), 0, "yes", 0, 0, NULL, false,
     "time the GPU for a quarter of a second when a size of picture is new to it, and keep what "
     "suits it in the user's cache folder"},
    {"latency-budget", 0, "MS", KEY_BUDGET, FIELD(latency_budget), 0, "auto", 0.1, 10000, NULL,
     true,
     "limits the radius so that bilatcam adds no more than this to the camera's own delay; auto "
     "is one frame interval; files, which are not live, always get the whole radius"},
    {"radius-min", 0, "N", KEY_INT, FIELD(radius_min), 0, "1", 1, FILTER_MAX_RADIUS, NULL, true,
     "the radius below which the latency budget does not push"},
    {"on-demand", 0, "WHEN", KEY_CHOICE, FIELD(on_demand), 0, "auto", 0, 0, on_demands, false,
     "let the camera go while nobody reads the virtual one; auto does unless there is a window or "
     "an end to the run"},
    {"wait", 0, NULL, KEY_BOOL, FIELD(wait), 0, "no", 0, 0, NULL, false,
     "if camera or virtual camera are not there at the start, wait for them"},
    {"frames", 0, "N", KEY_INT, FIELD(frames), 0, "0", 0, 1e9, NULL, false,
     "stop after N frames; 0 is no limit"},
    {"stats", 0, "FILE", KEY_TEXT, TEXT(stats), "", 0, 0, NULL, false,
     "write statistics as one JSON object at exit; - is standard output"},
    {"trace", 0, "FILE", KEY_TEXT, TEXT(trace), "", 0, 0, NULL, false,
     "write one line of CSV per frame: when, which radius, how long each stage took; - is standard "
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
