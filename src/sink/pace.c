#include "sink/pace.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"

#define MAX_LAG_INTERVALS 4 /* later than this, the clock starts again */
#define MAX_INTERVAL 3600   /* seconds; a rate that slow is a mistake in some header */

void pace_init(struct pace *p, bool on, struct fraction fps)
{
    const bool sane = fps.num && fps.den && fps.den / fps.num < MAX_INTERVAL;

    *p = (struct pace){.on = on, .assumed = on && !sane, .fps = fps};
    if (p->assumed)
        p->fps = (struct fraction){PACE_ASSUMED_FPS, 1};
}

static int64_t interval_ns(const struct pace *p)
{
    return NS_PER_S * (int64_t)p->fps.den / p->fps.num;
}

static void pace_advance(struct pace *p)
{
    p->remainder += NS_PER_S * (int64_t)p->fps.den % p->fps.num;
    p->t_due += interval_ns(p) + p->remainder / p->fps.num;
    p->remainder %= p->fps.num;
}

int pace_wait(struct pace *p, int stop_fd)
{
    struct pollfd stop = {.fd = stop_fd, .events = POLLIN};
    int64_t now = now_ns();

    if (!p->on)
        return 0;
    if (!p->running || now > p->t_due + MAX_LAG_INTERVALS * interval_ns(p)) {
        p->running = true;
        p->t_due = now;
        p->remainder = 0;
    }
    for (; now < p->t_due; now = now_ns()) {
        const struct timespec t = timespec_of(p->t_due - now);

        if (ppoll(&stop, 1, &t, NULL) > 0)
            return -ECANCELED;
    }
    pace_advance(p);
    return 0;
}
