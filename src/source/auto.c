/* The best camera that there is: one of Video4Linux, or where none is, one of PipeWire. What is
 * opened is a source of one of these two. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "source/source.h"

/* As a setup without PipeWire is told: that a camera is missing. */
static int open_first(struct source **ret, const struct source_config *config, struct error *err)
{
    struct source_config other = *config;
    struct error none;
    int r = source_v4l2.open(ret, config, err);

    if (r != -ENODEV)
        return r;
    none = *err;
    other.name = "pipewire:";
    r = source_pipewire.open(ret, &other, err);
    if (r == -ENODEV)
        *err = none;
    else if (r == 0 && !config->again)
        log_info("no camera of Video4Linux found: the camera is one of PipeWire");
    return r;
}

/* Also what one of them said that it is to be opened by when it comes back. */
static int auto_open(struct source **ret, const struct source_config *config, struct error *err)
{
    if (!strcmp(config->name, "auto"))
        return open_first(ret, config, err);
    return strncmp(config->name, "pipewire:", strlen("pipewire:"))
               ? source_v4l2.open(ret, config, err)
               : source_pipewire.open(ret, config, err);
}

const struct source_ops source_auto = {
    .name = "auto",
    .device = true,
    .reopens = true,
    .unannounced = true, /* one of PipeWire */
    .open = auto_open,
};
