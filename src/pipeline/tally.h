#pragma once
/* What all outputs share: whether anybody reads a virtual camera, what is counted and told of each
 * frame, snapshots.
 *
 * A frame is out as soon as one output has it, and its times are those of that one. */
#include <pthread.h>
#include <stdatomic.h>

#include "picture/snapshot.h"
#include "pipeline/fan.h"
#include "pipeline/stream.h"
#include "pipeline/trace.h"
#include "source/source.h"

/* A snapshot that somebody waits for. */
struct snapshot_request {
    bool asked;       /* main's own, until it has told what came of it */
    int64_t t_end_ns; /* main's own; no frame is waited for any longer */
    atomic_bool wanted;
    pthread_mutex_t lock; /* guards `wanted` becoming false, and what follows */
    char name[SNAPSHOT_NAME_MAX + 1];
    struct snapshot *snapshot; /* once it is taken */
    int result;
};

struct tally {
    struct stream *stream;
    struct fan *in;
    bool on_demand; /* the camera is released while nobody reads */

    pthread_mutex_t lock; /* guards the next five, and goes with `left` */
    int64_t t_watched_ns; /* when somebody last did, as far as is known */
    uint64_t n_shown;
    uint64_t n_newest;   /* the number after that of the newest slot shown */
    int n_running;       /* outputs */
    int n_needed;        /* those of them without which the run ends */
    pthread_cond_t left; /* one of them has */

    struct snapshot_request request;

    struct trace *trace;               /* or NULL */
    const struct source *truth_source; /* NULL: the clean picture is not known */
    struct frame truth, truth_raw;     /* in the working layout; as the source gives it */
};

/* -ENOMEM. Context: main, as for all of these. */
int tally_init(struct tally *t, struct stream *stream);

/* Returns the first error of what it wrote, which has been logged, or 0. */
int tally_finish(struct tally *t);

/* Measures the filter's gain where @source knows its clean picture, which is filtered in @format;
 * only the source's `truth` is called then. To be called before the outputs start, as are the next
 * three. */
int tally_measure(struct tally *t, const struct source *source, enum frame_format format,
                  struct error *err);

/* Releases the camera while nobody reads a virtual camera. */
void tally_release_unread(struct tally *t);

/* Writes one line of CSV per frame to the file at @path; see trace.h. */
int tally_trace(struct tally *t, const char *path, struct error *err);

/* The outputs are about to start. */
void tally_begin(struct tally *t);

/* Begins to write the next frame, before and after, to files; @name as for snapshot_start().
 * -EINVAL: that is no name for it. -EBUSY: another one is being written. */
int tally_snapshot(struct tally *t, const char *name, struct error *err);

/* What came of it, told once, @path and errors as by snapshot_finish(); -EINPROGRESS: nothing yet,
 * or nothing was asked for. -EAGAIN: there are no pictures now, which nothing announces; all
 * else is announced by STREAM_EVENT_CHANGE. */
int tally_snapshot_result(struct tally *t, char *path, size_t size, struct error *err);

/* The outputs are left to themselves: what is in the trace is written as far as it goes. Returns
 * its first error, which has been logged, or 0. Context: any thread. */
int tally_abandon(struct tally *t);

/* --- what outputs tell, by their numbers. Context: their threads --- */

/* There is one. @needed: the run is for it, as it is not for a window beside others. Context: main,
 * before they start. */
void tally_joined(struct tally *t, int number, const struct stream_output *output, bool needed);

/* It is alive, and like that; looks whether anybody reads. */
void tally_round(struct tally *t, int number, const struct stream_output *output);

/* It has shown the frame in @slot, beginning at @t_write_ns. */
void tally_shown(struct tally *t, int number, struct slot *slot, int64_t t_write_ns);

/* It ends, without an error or with one that is for good. */
void tally_left(struct tally *t, int number, bool needed, int code, const struct error *err);
