#pragma once
/* The object that stands for the daemon on the user's bus: its methods, and its properties, one
 * for each key of key_table and one for each figure of the status. */
#include <systemd/sd-bus.h>

#include "control/host.h"

struct control_object;

/* @host outlives the object, which @bus serves until control_object_close(). */
int control_object_open(struct control_object **ret, sd_bus *bus, const struct control_host *host);
void control_object_close(struct control_object *o); /* accepts NULL */

/* Signals what differs from the last time, if anything; the first time nothing. */
void control_object_notify(struct control_object *o, const struct settings *s,
                           const struct status *status);

/* See control_snapshot_done(). */
void control_object_snapshot_done(struct control_object *o, int result, const char *path,
                                  struct error *err);
