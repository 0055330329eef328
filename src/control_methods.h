#pragma once
/* What is done for callers on the user's bus, and who may call. Part of control. */
#include <systemd/sd-bus.h>

#include "control.h"

/* The methods of the object; their userdata is the host. */
extern const sd_bus_vtable control_methods[];

/* Lets pass our own user and root: the user's bus lets nobody else in by itself, but may be
 * configured to. An error that is negative and in @e refuses the rest. */
int control_check_sender(sd_bus_message *m, sd_bus_error *e);

/* Asks the host to set @key; a refusal is negative and in @e. */
int control_set_key(const struct control_host *host, const char *key, const char *value,
                    sd_bus_error *e);
