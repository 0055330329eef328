#pragma once
/* All of the pipeline: source -> [ring] -> engine -> [ring] -> sinks, each stage in a thread of its
 * own. */
#include "settings/settings.h"
#include "settings/status.h"

struct pipeline;

/* Opens source, engine and sinks and makes the slots. A failure leaves nothing open.
 * @stop_fd, the caller's eventfd, stops the run, and opening too (-ECANCELED), once it is
 * readable; a sink's user who ends the program makes it so.
 * Context: main, as for all functions where nothing else is said. */
int pipeline_open(struct pipeline **ret, const struct settings *settings, int stop_fd,
                  struct error *err);

/* Starts the threads. */
int pipeline_start(struct pipeline *p, struct error *err);

/* Readable once no frame will come any more: the end of the stream, --frames, a stop, or an
 * error, which has been logged. */
int pipeline_done_fd(const struct pipeline *p);

/* Asks all stages to end; what they have not begun is not shown any more. Returns at once. */
void pipeline_stop(struct pipeline *p);

/* Whether frames come at their own pace, from a camera or a scene that is paced. */
bool pipeline_live(const struct pipeline *p);

/* Whether closing makes a file whole, which takes a while. */
bool pipeline_finishes(const struct pipeline *p);

/* Readable when the state or a live setting changed, or a snapshot is written; main reads it. */
int pipeline_change_fd(const struct pipeline *p);

/* Applies the live keys of @settings to the frames to come, reopens the source where another
 * one is requested, and logs what changed and what waits for the next start.
 * Context: any thread, as for the next two. */
void pipeline_apply(struct pipeline *p, const struct settings *settings);

/* Sets one live key. -EINVAL: as settings_set(), or the key is not live. */
int pipeline_set(struct pipeline *p, const char *key, const char *value, struct error *err);
void pipeline_settings(struct pipeline *p, struct settings *ret);

/* Releases the camera, and takes it again; the virtual camera stays and says why. */
void pipeline_pause(struct pipeline *p, bool paused);
void pipeline_sleep(struct pipeline *p, bool asleep);

/* A device came or went: whoever waits for one looks at once. */
void pipeline_devices_changed(struct pipeline *p);

/* Begins to write the next frame before and after the filter to files, and tells what came of it;
 * see tally_snapshot(). */
int pipeline_snapshot(struct pipeline *p, const char *name, struct error *err);
int pipeline_snapshot_result(struct pipeline *p, char *path, size_t size, struct error *err);

/* What it is like now. The counts add up at any time. Context: any thread. */
void pipeline_status(struct pipeline *p, struct status *ret);

/* The first error of the run so far, which has been logged, or 0. Context: any thread. */
int pipeline_result(struct pipeline *p);

/* Leaves the threads to themselves, because one of them does not end: what is on its way counts as
 * dropped from now on, and no file ends with half a line. Next comes the end of the process.
 * Returns the first error of the run, which has been logged, or 0. Context: any thread. */
int pipeline_abandon(struct pipeline *p);

/* Waits for the threads, which pipeline_stop() or the end of the stream lets end. */
void pipeline_join(struct pipeline *p);

/* Joins and closes everything. Returns the first error of the run, which has been logged, or
 * 0. */
int pipeline_close(struct pipeline *p);
