#include "source/live.h"

#include "base/clock.h"
#include "base/log.h"
#include "v4l2/modes.h"

#define HANG_INTERVALS 5
#define HANG_NS NS_PER_S

void source_warn(const struct source *s, const struct source_config *config)
{
    const int64_t wanted = v4l2_millifps(config->fps), given = v4l2_millifps(s->fps);

    if (config->width && (s->width != config->width || s->height != config->height))
        log_warning("%s gives no %dx%d: using %dx%d", s->name, config->width, config->height,
                    s->width, s->height);
    if (wanted && !given)
        log_warning("%s does not tell its frame rate, which may not be %.4g fps", s->name,
                    (double)wanted / 1000);
    else if (wanted && v4l2_fps_differ(config->fps, s->fps))
        log_warning("%s gives no %.4g fps at %dx%d: using %.4g fps", s->name, (double)wanted / 1000,
                    s->width, s->height, (double)given / 1000);
}

int64_t source_hang_ns(struct fraction fps)
{
    const int64_t millifps = v4l2_millifps(fps);
    const int64_t hang = millifps ? HANG_INTERVALS * 1000 * NS_PER_S / millifps : 0;

    return hang > HANG_NS ? hang : HANG_NS;
}
