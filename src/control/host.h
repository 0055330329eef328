#pragma once
/* What live control asks of the daemon, and what the daemon tells it of itself. Context: main. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "settings/settings.h"

struct control_status {
    const char *state;                     /* "running", "no camera", "paused", ... */
    char reason[160];                      /* the same in a sentence; empty while it runs */
    double fps;                            /* of the last second */
    double latency_p50_ms, latency_p99_ms; /* from the camera's stamp; of the last second, as all */
    double added_p50_ms, added_p99_ms;     /* without the camera's own delay */
    double camera_ms;                      /* that delay */
    int radius_requested, radius;
    int readers; /* of the virtual camera; -1 = not known */
    char engine[16], device[128];
    uint64_t frames_in, frames_out, frames_dropped, frames_bad, reconnects;
    bool asleep; /* the camera is released for the machine's sleep */
};

/* What the world outside may ask of the daemon. */
struct control_host {
    void *user;
    void (*status)(void *user, struct control_status *ret);
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
    void (*statistics)(void *user, FILE *out); /* as --stats writes them */
};
