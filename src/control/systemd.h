#pragma once
/* What systemd is told of the service: ready, reloading, stopping, its state in a line, and that
 * frames go on (the watchdog). Does nothing where systemd did not start the program. */
#include <stdbool.h>
#include <stdint.h>

struct status;

struct systemd {
    bool ready;       /* was said */
    char state[384];  /* said last, without the figures */
    int64_t t_status; /* when */
    int64_t feed_ns;  /* at least this long between two feedings of the watchdog; 0 = none */
    int64_t t_fed;
};

void systemd_init(struct systemd *s);
void systemd_ready(struct systemd *s);
void systemd_reloading(const struct systemd *s, bool reloading);
void systemd_stopping(void);

/* Tells the state at once if it is another than before; the figures from time to time. */
void systemd_status(struct systemd *s, const struct status *status);

/* Feeds the watchdog, if half of its time is over since the last time. */
void systemd_progress(struct systemd *s);
