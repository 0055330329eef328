#include "pipeline/tally.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "picture/convert.h"

#define LIVE_MEASURE_EVERY 64
#define UNWATCHED_NS (5 * NS_PER_S)    /* time without a reader that releases the camera */
#define LAST_NS (2 * NS_PER_S)         /* for other outputs to write what they have */
#define SNAPSHOT_NS (1500 * NS_PER_MS) /* time that a snapshot waits for a frame */

int tally_init(struct tally *t, struct stream *stream)
{
    t->stream = stream;
    if (pthread_mutex_init(&t->lock, NULL))
        return -ENOMEM;
    if (pthread_mutex_init(&t->request.lock, NULL)) {
        (void)pthread_mutex_destroy(&t->lock);
        return -ENOMEM;
    }
    if (condition_init(&t->left)) {
        (void)pthread_mutex_destroy(&t->request.lock);
        (void)pthread_mutex_destroy(&t->lock);
        return -ENOMEM;
    }
    return 0;
}

int tally_measure(struct tally *t, const struct source *source, enum frame_format format,
                  struct error *err)
{
    if (source->format == FRAME_MJPG)
        return 0;
    t->truth_raw = (struct frame){.format = source->format,
                                  .width = source->width,
                                  .height = source->height,
                                  .colour = source->colour};
    t->truth = t->truth_raw;
    t->truth.format = format;
    if (frame_alloc(&t->truth) || frame_alloc(&t->truth_raw))
        return error_set(err, -ENOMEM, "out of memory for statistics");
    if (source->ops->truth(source, 0, &t->truth_raw) == 0)
        t->truth_source = source;
    return 0;
}

int tally_trace(struct tally *t, const char *path, struct error *err)
{
    return trace_open(&t->trace, path, stream_fd(t->stream, STREAM_EVENT_STOP), err);
}

void tally_release_unread(struct tally *t)
{
    t->on_demand = true;
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

int tally_finish(struct tally *t)
{
    const int result = trace_close(t->trace);

    frame_free(&t->truth);
    frame_free(&t->truth_raw);
    finish_snapshot(&t->request);
    (void)pthread_cond_destroy(&t->left);
    (void)pthread_mutex_destroy(&t->request.lock);
    (void)pthread_mutex_destroy(&t->lock);
    return result;
}

void tally_begin(struct tally *t)
{
    t->t_watched_ns = now_ns();
    trace_begin(t->trace);
}

int tally_abandon(struct tally *t)
{
    return trace_end(t->trace);
}

void tally_joined(struct tally *t, int number, const struct stream_output *output, bool needed)
{
    t->n_running++;
    t->n_needed += needed;
    (void)stream_round(t->stream, number, output);
}

/* The camera is released when nobody has looked for a while, and taken again at once. */
void tally_round(struct tally *t, int number, const struct stream_output *output)
{
    const int64_t now = now_ns();

    (void)pthread_mutex_lock(&t->lock);
    if (stream_round(t->stream, number, output) != 0)
        t->t_watched_ns = now;
    if (t->on_demand)
        stream_hold(t->stream, STREAM_IDLE, now - t->t_watched_ns > UNWATCHED_NS);
    (void)pthread_mutex_unlock(&t->lock);
}

/* Of a frame that is newer than all that are out. */
static void account(struct tally *t, const struct slot *slot, int64_t t_write_ns)
{
    const int64_t t_now = now_ns();
    const int64_t added_ns = t_now - slot->t_readable_ns;
    const struct stream_feedback feedback = {
        .other_ns = added_ns - slot->filter_ns - slot->queue_ns,
        .camera_ns = slot->camera_ns,
        .budget_ns = slot->budget_ns,
        .noise = slot->noise,
        .noise_share = slot->noise_share,
        .is_420 = format_table[slot->raw.format].vshift > 0,
        .frames = slot->frames,
        .search = slot->search,
        .threads = slot->threads,
    };
    int64_t spans[N_SPANS];

    spans[SPAN_WAIT] = slot->wait_ns;
    spans[SPAN_CONVERT] = slot->convert_ns;
    spans[SPAN_FILTER] = slot->filter_ns;
    spans[SPAN_WRITE] = t_now - t_write_ns;
    spans[SPAN_LATENCY] = t_now - slot->raw.t_capture_ns;
    spans[SPAN_CAMERA] = slot->camera_ns;
    spans[SPAN_ADDED] = added_ns;
    stats_output(stream_stats(t->stream), spans, slot->radius_requested, slot->radius, t_now);
    stream_set_feedback(t->stream, &feedback);
    trace_frame(t->trace, slot, spans);
}

static void measure(struct tally *t, const struct slot *slot)
{
    const struct source *s = t->truth_source;

    /* Rendering the truth takes longer than a live frame has. */
    if (stream_live(t->stream) && slot->raw.seq % LIVE_MEASURE_EVERY)
        return;
    if (!s || s->ops->truth(s, slot->raw.seq, &t->truth_raw))
        return;
    convert_frame(&t->truth, &t->truth_raw);
    stats_quality(stream_stats(t->stream), frame_squared_error(&slot->raw, &t->truth),
                  frame_squared_error(slot->result, &t->truth));
}

static void tell_change(void *stream)
{
    stream_signal(stream, STREAM_EVENT_CHANGE);
}

static void take_snapshot(struct tally *t, const struct slot *slot)
{
    struct snapshot_request *q = &t->request;

    if (!atomic_load(&q->wanted))
        return;
    (void)pthread_mutex_lock(&q->lock);
    /* Whoever asked may have given up meanwhile. */
    if (atomic_load(&q->wanted)) {
        q->result =
            snapshot_start(&q->snapshot, &slot->raw, slot->result, q->name, tell_change, t->stream);
        atomic_store(&q->wanted, false);
        if (q->result)
            tell_change(t->stream);
    }
    (void)pthread_mutex_unlock(&q->lock);
}

int tally_snapshot(struct tally *t, const char *name, struct error *err)
{
    struct snapshot_request *q = &t->request;
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

int tally_snapshot_result(struct tally *t, char *path, size_t size, struct error *err)
{
    struct snapshot_request *q = &t->request;
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

/* Enough frames are out: the other outputs write what they have, those that are stuck do not, and
 * the run ends. */
static void complete_all(struct tally *t)
{
    const struct timespec deadline = timespec_of(now_ns() + LAST_NS);

    fan_close(t->in);
    (void)pthread_mutex_lock(&t->lock);
    while (t->n_running > 1 && pthread_cond_timedwait(&t->left, &t->lock, &deadline) == 0)
        ;
    (void)pthread_mutex_unlock(&t->lock);
    stream_signal(t->stream, STREAM_EVENT_STOP);
}

/* Counts a frame that is out now. Whether it is the newest one, and in @complete whether they are
 * enough. */
static bool count(struct tally *t, const struct slot *slot, bool *complete)
{
    struct stream *s = t->stream;
    bool newest;

    (void)pthread_mutex_lock(&t->lock);
    newest = slot->number >= t->n_newest;
    if (newest)
        t->n_newest = slot->number + 1;
    /* Of what is not live capture reads no more than that. */
    *complete = ++t->n_shown == stream_max_frames(s) && stream_live(s);
    (void)pthread_mutex_unlock(&t->lock);
    return newest;
}

void tally_shown(struct tally *t, int number, struct slot *slot, int64_t t_write_ns)
{
    bool complete = false;

    if (fan_show(t->in, slot)) {
        if (count(t, slot, &complete))
            account(t, slot, t_write_ns);
        else
            stats_late(stream_stats(t->stream));
        take_snapshot(t, slot);
    }
    if (number == 0)
        measure(t, slot);
    if (complete)
        complete_all(t);
}

void tally_left(struct tally *t, int number, bool needed, int code, const struct error *err)
{
    bool stop, last;

    if (code)
        stream_fail(t->stream, code, err);
    fan_leave(t->in, number);
    (void)pthread_mutex_lock(&t->lock);
    t->n_running--;
    t->n_needed -= needed;
    last = !t->n_running;
    /* Sinks are told that there might be more: what goes with the pictures ends with them. */
    stop = (code && !t->n_needed) || (last && t->n_shown == stream_max_frames(t->stream));
    (void)pthread_cond_broadcast(&t->left);
    (void)pthread_mutex_unlock(&t->lock);
    if (stop)
        stream_signal(t->stream, STREAM_EVENT_STOP);
    if (last)
        stream_signal(t->stream, STREAM_EVENT_DONE);
}
