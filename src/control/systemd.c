#include "control/systemd.h"

#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "base/clock.h"
#include "base/text.h"
#include "control/host.h"

#define FIGURES_NS (5 * NS_PER_S) /* between two tellings of what is always changing */

void systemd_init(struct systemd *s)
{
    uint64_t limit_us = 0;

    *s = (struct systemd){.ready = false};
    if (sd_watchdog_enabled(0, &limit_us) > 0)
        s->feed_ns = (int64_t)limit_us * NS_PER_US / 2;
}

void systemd_ready(struct systemd *s)
{
    if (!s->ready)
        (void)sd_notify(0, "READY=1");
    s->ready = true;
}

void systemd_reloading(const struct systemd *s, bool reloading)
{
    if (!s->ready)
        return;
    if (reloading)
        (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)(now_ns() / NS_PER_US));
    else
        (void)sd_notify(0, "READY=1");
}

void systemd_stopping(void)
{
    (void)sd_notify(0, "STOPPING=1");
}

static void describe(const struct status *c, char *text, size_t size)
{
    const int n =
        snprintf(text, size, "%.1f frames/s, latency %.1f ms, %.1f ms of it added, radius %d of %d",
                 c->second.fps, in_ms(c->second.latency.p50_ns), in_ms(c->second.added.p50_ns),
                 c->radius_last, c->radius_requested);

    if (c->readers >= 0 && n > 0 && (size_t)n < size)
        (void)snprintf(text + n, size - (size_t)n, ", %d reader%s", c->readers,
                       c->readers == 1 ? "" : "s");
}

void systemd_status(struct systemd *s, const struct status *status)
{
    const int64_t t = now_ns();
    char state[sizeof(s->state)], figures[128] = "";

    (void)snprintf(state, sizeof(state), "%s%s%s", status->state, *status->reason ? ": " : "",
                   status->reason);
    /* A line that follows would be another message. */
    state[strcspn(state, "\n")] = '\0';
    (void)utf8_printable(state);
    if (!strcmp(state, s->state) && (*status->reason || t - s->t_status < FIGURES_NS))
        return;
    memcpy(s->state, state, sizeof(state));
    /* Before the first frame there is nothing to tell yet. */
    if (!*status->reason && status->radius_last >= 0) {
        describe(status, figures, sizeof(figures));
        s->t_status = t;
    }
    (void)sd_notifyf(0, "STATUS=%s%s%s", state, *figures ? ", " : "", figures);
}

void systemd_progress(struct systemd *s)
{
    const int64_t t = now_ns();

    if (!s->feed_ns || t - s->t_fed < s->feed_ns)
        return;
    s->t_fed = t;
    (void)sd_notify(0, "WATCHDOG=1");
}
