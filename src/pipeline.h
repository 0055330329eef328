#pragma once
/* The page on which everything meets: source -> [ring] -> engine -> [ring] -> sinks, each stage
 * in a thread of its own. The only file that sees all of them. */
#include "config.h"
#include "stats.h"

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

/* Asks all stages to end; frames on their way still arrive. Returns at once. */
void pipeline_stop(struct pipeline *p);

/* Applies the live keys of @settings to the frames to come, and logs what changed and what waits
 * for the next start. Context: any thread. */
void pipeline_apply(struct pipeline *p, const struct settings *settings);

void pipeline_stats(struct pipeline *p, struct stats_header *header, struct stats *stats);

/* Waits for the threads, which pipeline_stop() or the end of the stream lets end. */
void pipeline_join(struct pipeline *p);

/* Joins and closes everything. Returns the first error of the run, which has been logged, or
 * 0. */
int pipeline_close(struct pipeline *p);
