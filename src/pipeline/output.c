#include "pipeline/output.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "picture/convert.h"

#define LIVE_MEASURE_EVERY 64
#define UNWATCHED_NS (5 * NS_PER_S)    /* time without a reader that releases the camera */
#define SNAPSHOT_NS (1500 * NS_PER_MS) /* time that a snapshot waits for a frame */
/* Readers get the last frame again after this long, or two frame intervals. */
#define HOLD_NS (100 * NS_PER_MS)
#define ROUND_NS (2 * NS_PER_S) /* the longest round: they show that the stage is alive */

int output_init(struct output *o, struct stream *stream)
{
    o->stream = stream;
    return pthread_mutex_init(&o->request.lock, NULL) ? -ENOMEM : 0;
}

int output_open(struct output *o, const struct sink_ops *ops, const struct sink_config *config,
                bool wait, struct error *err)
{
    const int r = outlet_open(&o->outlets[o->n_outlets], o->stream, ops, config, wait, err);

    if (r == 0)
        o->n_outlets++;
    return r;
}

int output_measure(struct output *o, const struct source *source, struct error *err)
{
    if (source->format == FRAME_MJPG)
        return 0;
    o->truth_raw = (struct frame){.format = source->format,
                                  .width = source->width,
                                  .height = source->height,
                                  .colour = source->colour};
    o->truth = o->truth_raw;
    o->truth.format = working_format(source->format);
    if (frame_alloc(&o->truth) || frame_alloc(&o->truth_raw))
        return error_set(err, -ENOMEM, "out of memory for statistics");
    if (source->ops->truth(source, 0, &o->truth_raw) == 0)
        o->truth_source = source;
    return 0;
}

int output_trace(struct output *o, const char *path, struct error *err)
{
    return trace_open(&o->trace, path, stream_fd(o->stream, STREAM_EVENT_STOP), err);
}

void output_release_unread(struct output *o)
{
    o->on_demand = true;
}

void output_connect(struct output *o, struct ring *in, struct slot *slot)
{
    o->in = in;
    o->slot = slot;
}

/* Nobody is left to be told what came of it. The end of the program has said that it gave up. */
static void finish_snapshot(struct snapshot_request *q)
{
    char text[512];
    int r;

    if (!q->snapshot)
        return;
    r = snapshot_finish(q->snapshot, text, sizeof(text), NULL, 0);
    if (r && r != -ECANCELED)
        log_warning("%s", text);
}

void output_abandon(struct output *o)
{
    trace_end(o->trace);
}

int output_close(struct output *o)
{
    struct error err = {.text = ""};
    int result = trace_close(o->trace);

    for (int i = 0; i < o->n_outlets; i++) {
        const int r = outlet_close(&o->outlets[i], &err);

        if (r && !result) {
            result = r;
            log_error("%s", err.text);
        }
    }
    frame_free(&o->truth);
    frame_free(&o->truth_raw);
    finish_snapshot(&o->request);
    (void)pthread_mutex_destroy(&o->request.lock);
    return result;
}

/* The result of a write: what is left of it for the stage. A sink that fails for good ends the
 * run; one that is lost for a while does not. */
static int judge(struct output *o, int r, const struct error *err)
{
    if (r && r != -EAGAIN && r != -ECANCELED)
        stream_fail(o->stream, r, err);
    return r;
}

/* Whether the first sink took the frame: 0 or -EAGAIN; or an error that ends the run. */
static int write_all(struct output *o, const struct slot *slot)
{
    struct error err;
    int result = 0;

    for (int i = 0; i < o->n_outlets; i++) {
        const int r = judge(o, outlet_write(&o->outlets[i], slot->result, &slot->raw, &err), &err);

        if (r && r != -EAGAIN)
            return r;
        if (i == 0)
            result = r;
    }
    return result;
}

/* There is nothing new: keeps the readers of held sinks going with the last picture. Before the
 * first and while the camera is gone it is the card that they get, as windows do. */
static int write_meanwhile(struct output *o)
{
    const enum stream_state state = stream_state(o->stream);
    struct error err;
    int r = 0;

    /* It is not what the camera sees when it comes back. */
    if (state != STREAM_RUNS)
        o->last = NULL;
    for (int i = 0; i < o->n_outlets && (r == 0 || r == -EAGAIN); i++) {
        struct outlet *outlet = &o->outlets[i];

        if (o->last && outlet_holds(outlet))
            r = judge(o, outlet_write(outlet, o->last, NULL, &err), &err);
        else if (!o->last && outlet_wants_card(outlet))
            r = judge(o, outlet_write_card(outlet, state, &err), &err);
    }
    return r == -EAGAIN ? 0 : r;
}

/* The camera is released when nobody has looked for a while, and taken again at once. */
static void watch_readers(struct output *o)
{
    struct outlet *first = &o->outlets[0];
    const bool counts = first->sink && first->ops->virtual_camera;
    const int readers = counts ? first->ops->readers(first->sink) : -1;
    const int64_t now = now_ns();

    stream_round(o->stream, readers);
    if (!o->on_demand)
        return;
    if (readers < 0 && first->sink && !o->logged_unknown) {
        log_info("%s does not tell whether anybody reads: the camera stays on", outlet_name(first));
        o->logged_unknown = true;
    }
    if (readers != 0)
        o->t_watched_ns = now;
    stream_hold(o->stream, STREAM_IDLE, now - o->t_watched_ns > UNWATCHED_NS);
}

static void account(struct output *o, const struct slot *slot, int64_t t_write_ns)
{
    const int64_t t_now = now_ns();
    const int64_t added_ns = t_now - slot->t_readable_ns;
    const struct stream_feedback feedback = {
        .other_ns = added_ns - slot->filter_ns - slot->queue_ns,
        .camera_ns = slot->camera_ns,
        .budget_ns = slot->budget_ns,
        .noise = slot->noise,
        .frames = slot->frames,
        .search = slot->search,
    };
    int64_t spans[N_SPANS];

    spans[SPAN_WAIT] = slot->wait_ns;
    spans[SPAN_CONVERT] = slot->convert_ns;
    spans[SPAN_FILTER] = slot->filter_ns;
    spans[SPAN_WRITE] = t_now - t_write_ns;
    spans[SPAN_LATENCY] = t_now - slot->raw.t_capture_ns;
    spans[SPAN_CAMERA] = slot->camera_ns;
    spans[SPAN_ADDED] = added_ns;
    stats_output(stream_stats(o->stream), spans, slot->radius_requested, slot->radius, t_now);
    stream_set_feedback(o->stream, &feedback);
    trace_frame(o->trace, slot, spans);
}

static void measure(struct output *o, const struct slot *slot)
{
    const struct source *s = o->truth_source;

    /* Rendering the truth takes longer than a live frame has. */
    if (stream_live(o->stream) && slot->raw.seq % LIVE_MEASURE_EVERY)
        return;
    if (!s || s->ops->truth(s, slot->raw.seq, &o->truth_raw))
        return;
    convert_frame(&o->truth, &o->truth_raw);
    stats_quality(stream_stats(o->stream), frame_squared_error(&slot->raw, &o->truth),
                  frame_squared_error(slot->result, &o->truth));
}

static void tell_change(void *stream)
{
    stream_signal(stream, STREAM_EVENT_CHANGE);
}

static void take_snapshot(struct output *o, const struct slot *slot)
{
    struct snapshot_request *q = &o->request;

    if (!atomic_load(&q->wanted))
        return;
    (void)pthread_mutex_lock(&q->lock);
    /* Whoever asked may have given up meanwhile. */
    if (atomic_load(&q->wanted)) {
        q->result =
            snapshot_start(&q->snapshot, &slot->raw, slot->result, q->name, tell_change, o->stream);
        atomic_store(&q->wanted, false);
        if (q->result)
            tell_change(o->stream);
    }
    (void)pthread_mutex_unlock(&q->lock);
}

int output_snapshot(struct output *o, const char *name, struct error *err)
{
    struct snapshot_request *q = &o->request;
    const int r = snapshot_check_name(name, err);

    if (r)
        return r;
    if (q->asked)
        return error_set(err, -EBUSY, "no snapshot: another one is being written");
    (void)pthread_mutex_lock(&q->lock);
    (void)snprintf(q->name, sizeof(q->name), "%s", name);
    q->result = -EAGAIN;
    atomic_store(&q->wanted, true);
    (void)pthread_mutex_unlock(&q->lock);
    q->t_end_ns = now_ns() + SNAPSHOT_NS;
    q->asked = true;
    return 0;
}

/* Whether it is still to be taken or written. */
static bool snapshot_under_way(struct snapshot_request *q)
{
    bool under_way;

    (void)pthread_mutex_lock(&q->lock);
    if (atomic_load(&q->wanted))
        atomic_store(&q->wanted, now_ns() < q->t_end_ns);
    under_way = atomic_load(&q->wanted) || (q->snapshot && !snapshot_ended(q->snapshot));
    (void)pthread_mutex_unlock(&q->lock);
    return under_way;
}

int output_snapshot_result(struct output *o, char *path, size_t size, struct error *err)
{
    struct snapshot_request *q = &o->request;
    char text[512];
    int r;

    if (!q->asked || snapshot_under_way(q))
        return -EINPROGRESS;
    q->asked = false;
    if (!q->snapshot)
        return error_set(err, q->result,
                         q->result == -EAGAIN ? "no snapshot: there are no pictures now"
                                              : "no snapshot: out of memory");
    r = snapshot_finish(q->snapshot, text, sizeof(text), path, size);
    q->snapshot = NULL;
    return r ? error_set(err, r, "%s", text) : 0;
}

static int show(struct output *o, const struct slot *slot)
{
    const int64_t t_write = now_ns();
    const int r = write_all(o, slot);

    if (r)
        return r;
    account(o, slot, t_write);
    measure(o, slot);
    take_snapshot(o, slot);
    return 0;
}

static bool any_wants_card(const struct output *o)
{
    for (int i = 0; i < o->n_outlets; i++)
        if (outlet_wants_card(&o->outlets[i]))
            return true;
    return false;
}

/* The frame that has been taken. @wants_card: one that was still being filtered when its camera
 * went or was released may not come after the card. */
static int show_new(struct output *o, bool wants_card)
{
    struct stream *s = o->stream;
    const bool old = wants_card && stream_outdated(s, o->slot->raw.t_capture_ns);
    const int r = old ? 0 : show(o, o->slot);

    o->last = old ? NULL : o->slot->result;
    if (old || r)
        stats_not_shown(stream_stats(s), 1);
    else if (++o->n_shown == stream_max_frames(s))
        stream_signal(s, STREAM_EVENT_STOP);
    return r == -EAGAIN ? 0 : r;
}

void *output_run(void *arg)
{
    struct output *o = arg;
    struct stream *s = o->stream;
    const int64_t two_ns = 2 * stream_interval_ns(s);
    const int64_t hold_ns = two_ns > HOLD_NS ? two_ns : HOLD_NS;
    const int64_t wait_ns = hold_ns < ROUND_NS ? hold_ns : ROUND_NS;
    const bool wants_card = any_wants_card(o);
    int r = wants_card ? write_meanwhile(o) : 0;

    trace_begin(o->trace);
    o->t_watched_ns = now_ns();
    while (r == 0 && !stream_stopping(s)) {
        const int taken = ring_take(o->in, &o->slot, now_ns() + wait_ns);

        watch_readers(o);
        if (taken == -EPIPE)
            break;
        r = taken ? write_meanwhile(o) : show_new(o, wants_card);
    }
    if (r)
        stream_signal(s, STREAM_EVENT_STOP);
    stats_not_shown(stream_stats(s), ring_discard(o->in, &o->slot));
    stream_signal(s, STREAM_EVENT_DONE);
    return NULL;
}
