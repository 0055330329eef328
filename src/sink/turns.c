#include "sink/turns.h"

#include <errno.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"

#define MAX_LAG 4         /* frames that are later than this are not caught up with */
#define MAX_INTERVAL 3600 /* seconds; a rate that slow is a mistake in some header */
#define ASSUMED_FPS 25    /* of files that do not tell theirs */

static bool sane(struct fraction fps)
{
    return fps.num && fps.den && fps.den / fps.num < MAX_INTERVAL;
}

struct turns turns_of(const struct sink_config *config)
{
    struct turns t = {.paced = config->pace, .stop_fd = config->stop_fd};

    t.assumed = t.paced && !sane(config->fps);
    t.pace = t.assumed ? (struct pace){.num = ASSUMED_FPS, .den = 1}
                       : (struct pace){.num = config->fps.num, .den = config->fps.den};
    return t;
}

void turns_tell(const struct turns *t, const char *name)
{
    if (t->assumed)
        log_info("the input tells no frame rate: '%s' gets %d frames/s (--fps sets another rate)",
                 name, ASSUMED_FPS);
}

int turns_wait(struct turns *t, struct error *err)
{
    struct pace *p = &t->pace;
    const int64_t now = now_ns();

    if (!t->paced)
        return 0;
    if (!p->t_started_ns || now > pace_due(p, MAX_LAG))
        pace_start(p, now);
    if (event_wait(t->stop_fd, pace_due(p, 0)))
        return error_set(err, -ECANCELED, "stopped");
    p->next++;
    return 0;
}
