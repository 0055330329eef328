#include "pipeline/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/text.h"

struct stream {
    int fds[STREAM_N_EVENTS];
    uint64_t max_frames;
    bool live;
    int64_t interval_ns;
    struct stats_recorder *stats;

    pthread_mutex_t lock; /* guards the rest */
    int result;
    bool narrow; /* stream_first_narrow() was asked */
    struct filter_request request;
    bool holds[STREAM_ASLEEP + 1]; /* by reason */
    unsigned device_changes;
    int64_t t_ended_ns; /* when the state last was not STREAM_RUNS any more */
    enum stream_state state;
    char reason[320]; /* why the camera is lost */
    char engine[16], device[128];
    uint64_t device_memory;
    struct stream_output outputs[STREAM_MAX_OUTPUTS];
    int n_outputs;
    uint64_t n_rounds;
    struct stream_feedback feedback;
};

static void lock(struct stream *s)
{
    (void)pthread_mutex_lock(&s->lock);
}

static void unlock(struct stream *s)
{
    (void)pthread_mutex_unlock(&s->lock);
}

/* Makes all but the caller's. */
static int make_events(struct stream *s)
{
    for (int i = STREAM_EVENT_STOP + 1; i < STREAM_N_EVENTS; i++) {
        s->fds[i] = event_open();
        if (s->fds[i] < 0)
            return s->fds[i];
    }
    return 0;
}

int stream_create(struct stream **ret, int stop_fd, uint64_t max_frames)
{
    struct stream *s = calloc(1, sizeof(*s));
    int r;

    if (!s || pthread_mutex_init(&s->lock, NULL)) {
        free(s);
        return -ENOMEM;
    }
    for (int i = 0; i < STREAM_N_EVENTS; i++)
        s->fds[i] = -1;
    s->fds[STREAM_EVENT_STOP] = stop_fd;
    s->max_frames = max_frames;
    r = stats_create(&s->stats);
    if (r == 0)
        r = make_events(s);
    if (r) {
        stream_destroy(s);
        return r;
    }
    *ret = s;
    return 0;
}

void stream_destroy(struct stream *s)
{
    if (!s)
        return;
    for (int i = STREAM_EVENT_STOP + 1; i < STREAM_N_EVENTS; i++)
        event_close(s->fds[i]);
    stats_destroy(s->stats);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ------------------------------------------------------------- what happens */

int stream_fd(const struct stream *s, enum stream_event event)
{
    return s->fds[event];
}

void stream_signal(struct stream *s, enum stream_event event)
{
    event_ring(s->fds[event]);
}

bool stream_stopping(const struct stream *s)
{
    return event_rung(s->fds[STREAM_EVENT_STOP]);
}

void stream_fail(struct stream *s, int code, const struct error *err)
{
    lock(s);
    if (!s->result)
        s->result = code;
    unlock(s);
    log_error("%s", err->text);
}

bool stream_first_narrow(struct stream *s)
{
    bool ret;

    lock(s);
    ret = !s->narrow;
    s->narrow = true;
    unlock(s);
    return ret;
}

int stream_result(struct stream *s)
{
    int result;

    lock(s);
    result = s->result;
    unlock(s);
    return result;
}

/* --------------------------------------------------------- what stays as it is */

void stream_announce(struct stream *s, bool live, int64_t interval_ns)
{
    s->live = live;
    s->interval_ns = interval_ns;
}

bool stream_live(const struct stream *s)
{
    return s->live;
}

int64_t stream_interval_ns(const struct stream *s)
{
    return s->interval_ns;
}

uint64_t stream_max_frames(const struct stream *s)
{
    return s->max_frames;
}

struct stats_recorder *stream_stats(const struct stream *s)
{
    return s->stats;
}

/* --------------------------------------------------------- what is requested */

void stream_set_filter_request(struct stream *s, const struct filter_request *request)
{
    struct filter_request made = *request;

    ladder_init(&made.ladder, &made.filter, made.radius_min);
    lock(s);
    s->request = made;
    unlock(s);
    stream_signal(s, STREAM_EVENT_CHANGE);
}

struct filter_request stream_filter_request(struct stream *s)
{
    struct filter_request request;

    lock(s);
    request = s->request;
    unlock(s);
    return request;
}

const char *stream_state_name(enum stream_state state)
{
    static const char *const names[] = {
        [STREAM_RUNS] = "running", [STREAM_STARTS] = "starting", [STREAM_LOST] = "no camera",
        [STREAM_IDLE] = "idle",    [STREAM_PAUSED] = "paused",   [STREAM_ASLEEP] = "asleep",
    };

    return names[state];
}

void stream_hold(struct stream *s, enum stream_state reason, bool on)
{
    bool changes;

    lock(s);
    changes = s->holds[reason] != on;
    s->holds[reason] = on;
    unlock(s);
    if (changes)
        stream_signal(s, STREAM_EVENT_WAKE);
}

enum stream_state stream_held(struct stream *s)
{
    enum stream_state held = STREAM_RUNS;

    lock(s);
    for (int i = STREAM_IDLE; i <= STREAM_ASLEEP; i++)
        if (s->holds[i])
            held = (enum stream_state)i;
    unlock(s);
    return held;
}

void stream_devices_changed(struct stream *s)
{
    lock(s);
    s->device_changes++;
    unlock(s);
    stream_signal(s, STREAM_EVENT_WAKE);
}

unsigned stream_device_changes(struct stream *s)
{
    unsigned n;

    lock(s);
    n = s->device_changes;
    unlock(s);
    return n;
}

/* ------------------------------------------------------- what the stages tell */

void stream_set_state(struct stream *s, enum stream_state state, const char *reason)
{
    bool changes;

    lock(s);
    changes = s->state != state;
    if (changes && s->state == STREAM_RUNS)
        s->t_ended_ns = now_ns();
    s->state = state;
    (void)snprintf(s->reason, sizeof(s->reason), "%s", reason ? reason : "");
    unlock(s);
    if (changes)
        stream_signal(s, STREAM_EVENT_CHANGE);
}

enum stream_state stream_state(struct stream *s)
{
    enum stream_state state;

    lock(s);
    state = s->state;
    unlock(s);
    return state;
}

bool stream_outdated(struct stream *s, int64_t t_capture_ns)
{
    bool outdated;

    lock(s);
    outdated = t_capture_ns < s->t_ended_ns;
    unlock(s);
    return outdated;
}

void stream_set_engine(struct stream *s, const char *engine, const char *device)
{
    lock(s);
    (void)snprintf(s->engine, sizeof(s->engine), "%s", engine);
    (void)snprintf(s->device, sizeof(s->device), "%s", device);
    s->device_memory = 0;
    unlock(s);
}

void stream_set_device_memory(struct stream *s, uint64_t bytes)
{
    lock(s);
    s->device_memory = bytes;
    unlock(s);
}

/* Context: with the lock, as for the next. */
static int count_readers(const struct stream *s)
{
    int n = 0, n_cameras = 0;

    for (int i = 0; i < s->n_outputs; i++) {
        const struct stream_output *o = &s->outputs[i];

        if (!o->virtual_camera)
            continue;
        if (o->readers < 0)
            return -1;
        n_cameras++;
        n += o->readers;
    }
    return n_cameras ? n : -1;
}

/* Why no output can be written to; empty: one can. */
static const char *no_output(const struct stream *s)
{
    for (int i = 0; i < s->n_outputs; i++)
        if (!*s->outputs[i].trouble)
            return "";
    return s->n_outputs ? s->outputs[0].trouble : "";
}

int stream_round(struct stream *s, int i, const struct stream_output *output)
{
    bool changes;
    int readers;

    lock(s);
    changes = strcmp(s->outputs[i].trouble, output->trouble) != 0;
    s->outputs[i] = *output;
    if (i == s->n_outputs)
        s->n_outputs++;
    s->n_rounds++;
    readers = count_readers(s);
    unlock(s);
    if (changes)
        stream_signal(s, STREAM_EVENT_CHANGE);
    return readers;
}

void stream_set_feedback(struct stream *s, const struct stream_feedback *feedback)
{
    lock(s);
    s->feedback = *feedback;
    unlock(s);
}

struct stream_feedback stream_feedback(struct stream *s)
{
    struct stream_feedback feedback;

    lock(s);
    feedback = s->feedback;
    unlock(s);
    return feedback;
}

/* Three channels of the same noise make what auto goes by, with the mean or, where the budget
 * leaves it out, without. Context: with the lock. */
static double sigma_color_in_use(const struct stream *s)
{
    const char *search = s->feedback.search;
    struct filter f = s->request.filter;

    if (f.kind != FILTER_BILATERAL)
        return 0.0;
    if (search && !strcmp(search, "none"))
        f.temporal = 1;
    return f.sigma_color > 0.0
               ? f.sigma_color
               : filter_auto_sigma_color(&f, sqrt(3.0) * s->feedback.noise, s->feedback.noise_share,
                                         s->feedback.is_420);
}

/* Says in @text what each of the outputs is like. Context: with the lock. */
static void tell_outputs(const struct stream *s, char *text, size_t size)
{
    *text = '\0';
    for (int i = 0; i < s->n_outputs; i++) {
        const struct stream_output *o = &s->outputs[i];
        char one[512];
        int n = snprintf(one, sizeof(one), "%s: ", o->name);

        if (*o->trouble)
            n += snprintf(one + n, sizeof(one) - (size_t)n, "%s", o->trouble);
        else
            n += snprintf(one + n, sizeof(one) - (size_t)n, "%" PRIu64 " frames", o->n_written);
        if (!*o->trouble && o->virtual_camera && o->readers >= 0)
            (void)snprintf(one + n, sizeof(one) - (size_t)n, ", %d readers", o->readers);
        list_add(text, size, "; ", one);
    }
}

void stream_fill_status(struct stream *s, struct status *ret)
{
    const char *nowhere;

    lock(s);
    nowhere = s->state == STREAM_LOST ? "" : no_output(s);
    (void)snprintf(ret->state, sizeof(ret->state), "%s",
                   *nowhere ? "no virtual camera" : stream_state_name(s->state));
    memcpy(ret->reason, *nowhere ? nowhere : s->reason, sizeof(ret->reason));
    tell_outputs(s, ret->outputs, sizeof(ret->outputs));
    memcpy(ret->engine, s->engine, sizeof(ret->engine));
    memcpy(ret->device, s->device, sizeof(ret->device));
    ret->gpu_memory_mib = (double)s->device_memory / 0x1p20;
    ret->asleep = s->state == STREAM_ASLEEP;
    ret->readers = count_readers(s);
    ret->n_rounds = s->n_rounds;
    ret->sigma_color = sigma_color_in_use(s);
    ret->sigma_space = s->request.filter.sigma_space;
    ret->budget_ns = s->feedback.budget_ns;
    ret->temporal = s->request.filter.temporal > 1 ? s->request.filter.temporal : 1;
    ret->threads = s->feedback.threads;
    ret->noise = s->feedback.noise;
    ret->frames_averaged = fmax(s->feedback.frames, 1.0);
    (void)snprintf(ret->search, sizeof(ret->search), "%s",
                   s->feedback.search ? s->feedback.search : "");
    unlock(s);
}
