#pragma once
/* What live control asks of the daemon, and what the daemon tells it of itself. Context: main. */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "settings/settings.h"
#include "settings/status.h"

/* What the world outside may ask of the daemon. */
struct control_host {
    void *user;
    void (*status)(void *user, struct status *ret);
    void (*settings)(void *user, struct settings *ret);
    /* Sets one live key. -EINVAL: unknown, not live, or out of range; @err says what is allowed. */
    int (*set)(void *user, const char *key, const char *value, struct error *err);
    /* Rereads the configuration; a bad one is refused whole. */
    int (*reload)(void *user, struct error *err);
    void (*pause)(void *user, bool paused);
    void (*sleep)(void *user, bool asleep); /* the machine goes to sleep, or has woken */
    /* Begins to write the picture before and after to a file called @name in the folder of
     * snapshots ("": a name with the time); what comes of it is told by control_snapshot_done(),
     * later. -EINVAL: not a name for it; @err says why. -EBUSY: another one is being written. */
    int (*snapshot)(void *user, const char *name, struct error *err);
};
