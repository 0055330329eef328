/* The best virtual camera that there is: one of v4l2loopback, which all programs see, or where no
 * such node is, PipeWire. What is opened is a sink of one of these two. */
#include <errno.h>

#include "base/log.h"
#include "sink/sink.h"

static int auto_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    struct error none;
    int r = sink_v4l2loopback.open(ret, config, err);

    if (r != -ENODEV || config->single_taken)
        return r;
    none = *err;
    r = sink_pipewire.open(ret, config, err);
    if (r == -ENODEV) {
        const struct error other = *err;

        return error_set(err, r, "%.300s; %.180s", none.text, other.text);
    }
    if (r)
        return r;
    log_info("no v4l2loopback node found: the virtual camera is one of PipeWire, which Firefox, "
             "Chrome and others list only where they ask PipeWire (see bilatcam(1))");
    return 0;
}

const struct sink_ops sink_auto = {
    .name = "auto",
    .device = true,
    .unannounced = true,
    .virtual_camera = true,
    .open = auto_open,
};
