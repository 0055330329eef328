#pragma once
/* A connection to a bus, made again whenever it is lost: soon after the bus's socket appears where
 * that can be watched, and at any rate after longer and longer pauses, up to a minute. Part of
 * control. Context: main, inside the event loop. */
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

struct control_bus;

struct control_bus_ops {
    int (*connect)(sd_bus **ret); /* sd_bus_open_user() or another of its kind */
    /* Puts on a new connection what belongs there. A negative errno: it is of no use. */
    int (*join)(void *user, sd_bus *bus);
    /* Undoes that before the connection is closed, however much of it there is. */
    void (*leave)(void *user);
    /* There is no connection, at this attempt. @code: why; 0: the bus has ended it. */
    void (*failed)(void *user, int code);
};

/* Makes the first attempt before it returns; that it fails is no error. @address as D-Bus writes
 * it is where the bus will be, as far as is known; "": not known. @ops and @event outlive the
 * connection. -ENOMEM and others of sd-event. */
int control_bus_open(struct control_bus **ret, sd_event *event, const struct control_bus_ops *ops,
                     const char *address, void *user);
void control_bus_close(struct control_bus *b); /* accepts NULL */

/* The present connection is of no use: it will be closed, and another one made after a pause. May
 * be called by what the connection calls. */
void control_bus_renew(struct control_bus *b);
