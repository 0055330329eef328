#pragma once
/* What the three stages of the pipeline and main share beside the slots. Each stage owns one end:
 * capture.h the source, filtering.h the engine and the governor, output.h the sinks.
 *
 * The stream ends from the front: capture closes its ring and leaves, filtering empties that,
 * closes the fan and leaves, the outputs empty that and the last one tells main. A stage that fails
 * records why. Capture then ends the stream as ever, so that what it got is still shown; filtering
 * closes what is on its sides and asks for a stop, and so does the last output that fails.
 *
 * All is plain data, copied in and out under one lock. Context: any thread, where nothing else is
 * said. */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "filter/ladder.h"
#include "pipeline/stats.h"

struct stream;

/* @stop_fd is the event STREAM_EVENT_STOP and stays the caller's. @max_frames: the run ends
 * after so many; 0 = no limit. A negative errno on failure. Context: main, as for the next. */
int stream_create(struct stream **ret, int stop_fd, uint64_t max_frames);

/* Accepts NULL. */
void stream_destroy(struct stream *s);

/* --- what happens --- */

enum stream_event {
    STREAM_EVENT_STOP,   /* the stages shall end; what they have not begun is not shown any more */
    STREAM_EVENT_DONE,   /* all outputs have ended */
    STREAM_EVENT_WAKE,   /* the capture stage shall look at what is requested */
    STREAM_EVENT_CHANGE, /* main shall look: at the state, a live setting, a snapshot */
    STREAM_N_EVENTS
};

/* Readable once it has happened (base/event.h). */
int stream_fd(const struct stream *s, enum stream_event event);

void stream_signal(struct stream *s, enum stream_event event);
bool stream_stopping(const struct stream *s);

/* Logs an error, and keeps the first of the run, which is the result. */
void stream_fail(struct stream *s, int code, const struct error *err);

/* Whether the output that asks is the first one whose pictures use few of their levels: what
 * several of them find out is told once. */
bool stream_first_narrow(struct stream *s);
int stream_result(struct stream *s);

/* --- what stays as it is while the stages run --- */

/* As the source announced it; 0 = unknown interval. Context: main. */
void stream_announce(struct stream *s, bool live, int64_t interval_ns);

bool stream_live(const struct stream *s);
int64_t stream_interval_ns(const struct stream *s);
uint64_t stream_max_frames(const struct stream *s);
struct stats_recorder *stream_stats(const struct stream *s);

/* --- what is requested --- */

/* What a change of live keys can touch. */
struct filter_request {
    struct filter filter;
    int64_t latency_budget; /* ns, BUDGET_OFF or BUDGET_AUTO */
    int radius_min;
    struct ladder ladder; /* of all that; stream_set_filter_request() makes it */
};

void stream_set_filter_request(struct stream *s, const struct filter_request *request);
struct filter_request stream_filter_request(struct stream *s);

/* Why there is no picture; of several reasons the last one counts. */
enum stream_state {
    STREAM_RUNS,
    STREAM_STARTS, /* the camera has been opened, or is about to be */
    STREAM_LOST,   /* the camera is not there, or gives nothing */
    STREAM_IDLE,   /* nobody looks at the virtual camera */
    STREAM_PAUSED, /* the user said so */
    STREAM_ASLEEP, /* the machine goes to sleep */
};

/* "running", "starting", "no camera", "idle", "paused", "asleep" */
const char *stream_state_name(enum stream_state state);

/* Sets one of the last three, which are reasons to release the camera; wakes the capture stage if
 * that is a change. */
void stream_hold(struct stream *s, enum stream_state reason, bool on);

/* The reason to release the camera; STREAM_RUNS: there is none. */
enum stream_state stream_held(struct stream *s);

/* A device came, went or changed: whoever waits for one tries at once. */
void stream_devices_changed(struct stream *s);

/* How often one did. */
unsigned stream_device_changes(struct stream *s);

/* --- what the stages tell --- */

/* @reason: why the camera is lost; may be NULL. Context: the capture thread. */
void stream_set_state(struct stream *s, enum stream_state state, const char *reason);
enum stream_state stream_state(struct stream *s);

/* Whether what was captured at @t_capture_ns is from before pictures last stopped. */
bool stream_outdated(struct stream *s, int64_t t_capture_ns);

/* What filters now; how much memory it takes is not known yet. Context: main when it opens the
 * stage, then the filter thread. */
void stream_set_engine(struct stream *s, const char *engine, const char *device);

/* As in struct engine_report. Context: the filter thread. */
void stream_set_device_memory(struct stream *s, uint64_t bytes);

#define STREAM_MAX_OUTPUTS 9

/* What one of the outputs is like. */
struct stream_output {
    char name[160];      /* in words */
    char trouble[320];   /* why nothing can be written to it; else empty */
    bool virtual_camera; /* which can be written to */
    int readers;         /* of that; -1 = not known */
    uint64_t n_written;  /* frames */
};

/* The output numbered @i, of those that come in order, is alive. Returns how many programs read the
 * virtual cameras; -1: there are none, or one does not tell. Context: its thread, or main before.
 */
int stream_round(struct stream *s, int i, const struct stream_output *output);

/* About the newest frame shown, for the governor and for show. Context: output threads. */
struct stream_feedback {
    int64_t other_ns;  /* its added latency less what filtering took, also of frames before */
    int64_t camera_ns; /* the camera's own delay as it was known for it */
    int64_t budget_ns; /* the added latency that it was held to; 0 = none */
    double noise, noise_share, frames; /* as in struct engine_report */
    bool is_420;                       /* what was filtered */
    const char *search;                /* as in struct slot */
    int threads;                       /* likewise */
};

void stream_set_feedback(struct stream *s, const struct stream_feedback *feedback);
struct stream_feedback stream_feedback(struct stream *s);

/* Says in @ret what the stream is like; the counts are there already. */
void stream_fill_status(struct stream *s, struct status *ret);
