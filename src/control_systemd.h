#pragma once
/* What systemd is told of the service: ready, reloading, stopping, its state in a line, and that
 * frames go on (the watchdog). Does nothing where systemd did not start the program. */
#include <stdbool.h>
#include <stdint.h>

struct systemd {
    bool ready;       /* was said */
    char status[256]; /* said last */
    int64_t feed_ns;  /* at least this long between two feedings of the watchdog; 0 = none */
    int64_t t_fed;
};

void systemd_init(struct systemd *s);
void systemd_ready(struct systemd *s);
void systemd_reloading(const struct systemd *s, bool reloading);
void systemd_stopping(void);

/* Tells the state if it is another than before. @reason may be empty. */
void systemd_status(struct systemd *s, const char *state, const char *reason);

/* Feeds the watchdog, if half of its time is over since the last time. */
void systemd_progress(struct systemd *s);
