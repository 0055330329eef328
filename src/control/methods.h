#pragma once
/* What is done for callers on the user's bus, and who may call. Part of control. */
#include <systemd/sd-bus.h>

#include "control/host.h"

/* What the methods of the object have as their userdata. */
struct control_methods {
    const struct control_host *host;
    sd_bus_message *snapshot; /* the call that waits for its picture, or NULL */
};

extern const sd_bus_vtable control_methods[];

/* Answers the call that waits for a picture, if one does; see control_snapshot_done(). */
void control_methods_snapshot_done(struct control_methods *c, int result, const char *path,
                                   struct error *err);

/* Lets pass our own user and root: the user's bus lets nobody else in by itself, but may be
 * configured to. An error that is negative and in @e refuses the rest. */
int control_check_sender(sd_bus_message *m, sd_bus_error *e);

/* Asks the host to set @key; a refusal is negative and in @e. */
int control_set_key(const struct control_host *host, const char *key, const char *value,
                    sd_bus_error *e);
