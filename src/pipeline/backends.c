#include "pipeline/backends.h"

#include "config-build.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/url.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

#ifndef HAVE_VIDEO
#define NO_VIDEO                                                                                   \
    "of files only .y4m is built into this program: the others need its feature video, with "      \
    "libavformat, libavcodec and libswscale"
#define source_video no_video_source
#define source_network no_network_source
#define sink_video no_video_sink
#define NO_NETWORK                                                                                 \
    "URLs are not built into this program: they need its feature video, with libavformat, "        \
    "libavcodec and libswscale"
static const struct source_ops source_video = {
    .name = "video", .file = true, .films = true, .missing = NO_VIDEO};
static const struct source_ops source_network = {
    .name = "network", .device = true, .films = true, .reopens = true, .missing = NO_NETWORK};
static const struct sink_ops sink_video = {.name = "video", .missing = NO_VIDEO};
#endif

#ifndef HAVE_PIPEWIRE
#define NO_PIPEWIRE                                                                                \
    "PipeWire is not built into this program: it needs its feature pipewire, with libpipewire "    \
    "0.3.65 or later"
#define source_auto source_v4l2
#define source_pipewire no_pipewire_source
#define sink_auto sink_v4l2loopback
#define sink_pipewire no_pipewire_sink
static const struct source_ops source_pipewire = {
    .name = "pipewire", .device = true, .reopens = true, .missing = NO_PIPEWIRE};
static const struct sink_ops sink_pipewire = {.name = "pipewire", .missing = NO_PIPEWIRE};
#endif

/* What must have the name. */
static bool exists(const char *name)
{
    return !access(name, F_OK);
}

/* A file that does not begin as a y4m file does. */
static bool is_video(const char *name)
{
    char magic[sizeof(Y4M_MAGIC)] = "";
    struct stat st;
    FILE *f;

    if (stat(name, &st) || !S_ISREG(st.st_mode) || !(f = fopen(name, "re")))
        return false;
    (void)!fread(magic, 1, sizeof(magic) - 1, f);
    (void)fclose(f);
    return strcmp(magic, Y4M_MAGIC) != 0;
}

/* The first row that suits a name serves it; the last one suits any. */
static const struct {
    const char *pattern;
    const struct source_ops *ops;
    bool (*suits)(const char *name); /* NULL: there is nothing more to ask */
} sources[] = {
    {"test:*", &source_pattern},
    {"pipewire:*", &source_pipewire},
    {"*", &source_network, is_url},
    {"auto", &source_auto},
    {"-", &source_y4m},
    {"*.y4m", &source_y4m},
    {"/dev/fd/*", &source_y4m},
    {"/dev/stdin", &source_y4m},
    {"*", &source_video, is_video},
    {"/dev/*", &source_v4l2},
    {"*/*", &source_y4m},
    {"*", &source_y4m, exists},
    {"*", &source_v4l2},
};

static const struct {
    const char *pattern;
    const struct sink_ops *ops;
} sinks[] = {
    {"pipewire:*", &sink_pipewire}, {"null:", &sink_null},          {"-", &sink_y4m},
    {"*.y4m", &sink_y4m},           {"auto", &sink_auto},           {"*.mp4", &sink_video},
    {"*.mkv", &sink_video},         {"*.webm", &sink_video},        {"*.mov", &sink_video},
    {"*.png", &sink_video},         {"*.jpg", &sink_video},         {"/dev/fd/*", &sink_y4m},
    {"/dev/stdout", &sink_y4m},     {"/dev/*", &sink_v4l2loopback},
};

const struct sink_ops *const window_sink =
#ifdef HAVE_PREVIEW
    &sink_preview;
#else
    &(const struct sink_ops){.name = "preview",
                             .missing = "the preview window is not built into this program"};
#endif

const struct source_ops *source_for(const char *name)
{
    size_t i = 0;

    while (i < N(sources) - 1 &&
           (fnmatch(sources[i].pattern, name, 0) || (sources[i].suits && !sources[i].suits(name))))
        i++;
    return sources[i].ops;
}

const struct sink_ops *sink_for(const char *name)
{
    for (size_t i = 0; i < N(sinks); i++)
        if (!fnmatch(sinks[i].pattern, name, 0))
            return sinks[i].ops;
    return NULL;
}
