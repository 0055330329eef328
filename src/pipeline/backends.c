#include "pipeline/backends.h"

#include "config-build.h"

#include <fnmatch.h>
#include <unistd.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* The first row that suits a name serves it; the last one suits any. */
static const struct {
    const char *pattern;
    const struct source_ops *ops;
    bool exists; /* only if a file has this name */
} sources[] = {
    {"test:*", &source_pattern}, {"auto", &source_v4l2},     {"-", &source_y4m},
    {"*.y4m", &source_y4m},      {"/dev/fd/*", &source_y4m}, {"/dev/stdin", &source_y4m},
    {"/dev/*", &source_v4l2},    {"*/*", &source_y4m},       {"*", &source_y4m, .exists = true},
    {"*", &source_v4l2},
};

static const struct {
    const char *pattern;
    const struct sink_ops *ops;
} sinks[] = {
    {"null:", &sink_null},          {"-", &sink_y4m},
    {"*.y4m", &sink_y4m},           {"auto", &sink_v4l2loopback},
    {"/dev/*", &sink_v4l2loopback},
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
           (fnmatch(sources[i].pattern, name, 0) || (sources[i].exists && access(name, F_OK))))
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
