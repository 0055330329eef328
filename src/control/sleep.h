#pragma once
/* Sleep of the machine, as logind tells of it on the system bus: tells the host, and holds the
 * sleep up until the camera has been released. Where there is no logind, the camera finds out by
 * itself. Part of control. Context: main, inside the event loop. */
#include <systemd/sd-event.h>

#include "control/host.h"

struct control_sleep;

/* @host outlives it. -ENOMEM and others of sd-event. */
int control_sleep_open(struct control_sleep **ret, sd_event *event,
                       const struct control_host *host);
void control_sleep_close(struct control_sleep *s); /* accepts NULL */

/* The camera has been released for the machine's sleep, which needs to wait no longer. */
void control_sleep_allow(struct control_sleep *s); /* accepts NULL */
