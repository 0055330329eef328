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

#include "control/host.h"

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
