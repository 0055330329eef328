#include "control_systemd.h"

#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "frame.h"
#include "utf8.h"

void systemd_init(struct systemd *s)
{
    uint64_t limit_us = 0;

    *s = (struct systemd){.ready = false};
    if (sd_watchdog_enabled(0, &limit_us) > 0)
        s->feed_ns = (int64_t)limit_us * 1000 / 2;
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
        (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)(now_ns() / 1000));
    else
        (void)sd_notify(0, "READY=1");
}

void systemd_stopping(void)
{
    (void)sd_notify(0, "STOPPING=1");
}

void systemd_status(struct systemd *s, const char *state, const char *reason)
{
    char text[sizeof(s->status)];

    (void)snprintf(text, sizeof(text), "%s%s%s", state, *reason ? ": " : "", reason);
    /* A line that follows would be another message. */
    text[strcspn(text, "\n")] = '\0';
    utf8_mend(text);
    if (!strcmp(text, s->status))
        return;
    memcpy(s->status, text, sizeof(text));
    (void)sd_notifyf(0, "STATUS=%s", text);
}

void systemd_progress(struct systemd *s)
{
    const int64_t t = now_ns();

    if (!s->feed_ns || t - s->t_fed < s->feed_ns)
        return;
    s->t_fed = t;
    (void)sd_notify(0, "WATCHDOG=1");
}
