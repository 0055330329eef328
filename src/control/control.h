#pragma once
/* The daemon's ties to the session: live control on the user's D-Bus, sleep as logind tells of it
 * on the system's, and notification of systemd (ready, status, watchdog). Each is used where it
 * is there, a bus whenever it is; without any of them the program runs all the same.
 *
 * Where another daemon has the name on the user's bus, this one waits in the queue for it, and can
 * be controlled once the other has ended. The machine's sleep waits until the camera has been let
 * go, but not for long.
 *
 * Knows nothing of the pipeline: main gives it a host to ask. Context: main, all of it. */
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

struct control;

/* @instance: "" or the name of one of several daemons, letters, digits and underscores; NULL: a run
 * that is not live, of which only systemd is told. What is not there (no bus, name taken) is
 * logged, once, and waited for. -EINVAL: the name. @host is copied, and asked by the functions
 * below only. Built without libsystemd, *ret is NULL and nothing below does anything. */
int control_open(struct control **ret, const char *instance, const struct control_host *host,
                 struct error *err);

/* All that follows accepts NULL, as where there is nothing to control. */
void control_close(struct control *c);

/* Readable when control_process() has something to do. */
int control_fd(const struct control *c);

/* Does what the buses ask for, and tells who listens when the state or a live setting changed, also
 * by other means (a reload, the window's keys). Never waits. */
void control_process(struct control *c);

/* The first picture, or the placeholder, is out, or there is no virtual camera to take it. */
void control_ready(struct control *c);

/* Around a reload that systemd asked for by a signal, so that it knows when that is done. */
void control_reloading(struct control *c, bool reloading);

/* Frames go on, or there is a reason why not: feeds the watchdog. Called about once a second. */
void control_progress(struct control *c);

/* The snapshot that the host was asked for last is at @path, or @result is a negative errno that
 * @err explains. */
void control_snapshot_done(struct control *c, int result, const char *path, struct error *err);
