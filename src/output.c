#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert.h"
#include "log.h"
#include "placeholder.h"

#define LIVE_MEASURE_EVERY 64
#define HOLD_NS 100000000 /* readers of a virtual camera get a frame at least this often */

int output_open(struct output *o, const struct sink_ops *ops, const struct sink_config *config,
                struct error *err)
{
    struct outlet *outlet = &o->outlets[o->n_outlets];
    struct frame picture;
    size_t bytes = 0;
    const int r = ops->open(&outlet->sink, config, err);

    if (r)
        return r;
    o->n_outlets++;
    picture = outlet->sink->picture;
    for (int i = 0; i < format_table[picture.format].planes; i++)
        bytes += picture.stride[i] * (size_t)frame_plane_rows(&picture, i);
    outlet->scratch_memory = malloc(2 * bytes);
    if (!outlet->scratch_memory)
        return error_set(err, -ENOMEM, "out of memory for %s", outlet->sink->name);
    outlet->scratch = outlet->scratch_before = picture;
    frame_attach(&outlet->scratch, outlet->scratch_memory);
    frame_attach(&outlet->scratch_before, (uint8_t *)outlet->scratch_memory + bytes);
    return 0;
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
    o->trace_path = path;
    o->trace = fopen(path, "we");
    if (!o->trace)
        return error_set(err, -errno, "trace '%s': %s", path, strerror(errno));
    fprintf(o->trace, "t_ms,seq,radius_requested,radius,wait_ms,convert_ms,filter_ms,write_ms,"
                      "latency_ms,budget_ms\n");
    return 0;
}

static int close_trace(struct output *o)
{
    int r = 0;

    if (!o->trace)
        return 0;
    if (ferror(o->trace))
        r = -EIO;
    if (fclose(o->trace))
        r = -errno;
    if (r)
        log_error("trace '%s': %s", o->trace_path, strerror(-r));
    return r;
}

int output_close(struct output *o)
{
    struct error err = {.text = ""};
    int result = close_trace(o);

    for (int i = 0; i < o->n_outlets; i++) {
        struct outlet *outlet = &o->outlets[i];
        const int r = outlet->sink->ops->close(outlet->sink, &err);

        if (r && !result) {
            result = r;
            log_error("%s", err.text);
        }
        free(outlet->scratch_memory);
    }
    frame_free(&o->truth);
    frame_free(&o->truth_raw);
    return result;
}

static bool same_layout(const struct frame *f, const struct frame *want)
{
    if (f->format != want->format || f->colour.matrix != want->colour.matrix ||
        f->colour.range != want->colour.range)
        return false;
    for (int i = 0; i < format_table[f->format].planes; i++)
        if (f->stride[i] != want->stride[i])
            return false;
    return true;
}

/* @f as the sink wants it: itself, or converted to @scratch. */
static struct frame fit(const struct outlet *o, const struct frame *f, struct frame *scratch)
{
    if (same_layout(f, &o->sink->picture))
        return *f;
    convert_frame(scratch, f);
    scratch->seq = f->seq;
    scratch->t_capture_ns = f->t_capture_ns;
    return *scratch;
}

/* Writes @f and, to a sink that compares, @before; the placeholder where @f is NULL. A failure
 * of a sink ends the run. */
static int write_to(struct output *o, struct outlet *outlet, const struct frame *f,
                    const struct frame *before)
{
    struct frame shown, compared;
    struct error err;
    int r;

    if (f) {
        shown = fit(outlet, f, &outlet->scratch);
    } else {
        placeholder_draw(&outlet->scratch);
        shown = outlet->scratch;
    }
    shown.before = NULL;
    if (before && outlet->sink->compare) {
        compared = fit(outlet, before, &outlet->scratch_before);
        shown.before = &compared;
    }
    r = outlet->sink->ops->write(outlet->sink, &shown, &err);
    if (r && r != -ECANCELED)
        shared_fail(o->shared, r, &err);
    return r;
}

static int write_all(struct output *o, const struct slot *slot)
{
    int r = 0;

    for (int i = 0; i < o->n_outlets && r == 0; i++)
        r = write_to(o, &o->outlets[i], slot->result, &slot->raw);
    return r;
}

/* Keeps the readers of held sinks going while there is nothing new: with the last picture, or
 * with the placeholder before the first and while the camera is gone. */
static int write_held(struct output *o, const struct frame *last)
{
    bool lost;
    int r = 0;

    (void)pthread_mutex_lock(&o->shared->lock);
    lost = o->shared->source_lost;
    (void)pthread_mutex_unlock(&o->shared->lock);
    for (int i = 0; i < o->n_outlets && r == 0; i++)
        if (o->outlets[i].sink->hold)
            r = write_to(o, &o->outlets[i], lost ? NULL : last, NULL);
    return r;
}

static void trace(struct output *o, const struct slot *slot, const int64_t stage_ns[N_STAGES],
                  int64_t budget_ns)
{
    if (!o->trace)
        return;
    fprintf(o->trace, "%.3f,%llu,%d,%d", (double)slot->raw.t_capture_ns / 1e6,
            (unsigned long long)slot->raw.seq, slot->radius_requested, slot->radius);
    for (int i = 0; i < N_STAGES; i++)
        fprintf(o->trace, ",%.3f", (double)stage_ns[i] / 1e6);
    fprintf(o->trace, ",%.3f\n", (double)budget_ns / 1e6);
}

static void account(struct output *o, const struct slot *slot, int64_t t_write_ns)
{
    const int64_t t_now = now_ns();
    const int64_t latency_ns = t_now - slot->raw.t_capture_ns;
    int64_t stages[N_STAGES], budget_ns;

    stages[STAGE_WAIT] = slot->wait_ns;
    stages[STAGE_CONVERT] = slot->convert_ns;
    stages[STAGE_FILTER] = slot->filter_ns;
    stages[STAGE_WRITE] = t_now - t_write_ns;
    stages[STAGE_LATENCY] = latency_ns;
    stats_output(o->shared->stats, stages, slot->radius_requested, slot->radius, t_now);
    (void)pthread_mutex_lock(&o->shared->lock);
    budget_ns = o->shared->budget_ns;
    o->shared->other_ns = latency_ns - slot->filter_ns - slot->queue_ns;
    (void)pthread_mutex_unlock(&o->shared->lock);
    trace(o, slot, stages, budget_ns);
}

static void measure(struct output *o, const struct slot *slot)
{
    const struct source *s = o->truth_source;

    /* Rendering the truth takes longer than a live frame has. */
    if (o->shared->live && slot->raw.seq % LIVE_MEASURE_EVERY)
        return;
    if (!s || s->ops->truth(s, slot->raw.seq, &o->truth_raw))
        return;
    convert_frame(&o->truth, &o->truth_raw);
    stats_quality(o->shared->stats, frame_squared_error(&slot->raw, &o->truth),
                  frame_squared_error(slot->result, &o->truth));
}

static int show(struct output *o, const struct slot *slot)
{
    const int64_t t_write = now_ns();
    const int r = write_all(o, slot);

    if (r)
        return r;
    account(o, slot, t_write);
    measure(o, slot);
    return 0;
}

static bool any_held(const struct output *o)
{
    for (int i = 0; i < o->n_outlets; i++)
        if (o->outlets[i].sink->hold)
            return true;
    return false;
}

void *output_run(void *arg)
{
    struct output *o = arg;
    struct shared *s = o->shared;
    const int64_t wait_ns = 2 * s->interval_ns > HOLD_NS ? 2 * s->interval_ns : HOLD_NS;
    const bool held = any_held(o);
    const struct frame *last = NULL;
    uint64_t n_shown = 0;
    int r = held ? write_held(o, NULL) : 0;

    while (r == 0 && !shared_stopping(s)) {
        const int taken = ring_take(o->in, &o->slot, held ? now_ns() + wait_ns : INT64_MAX);

        if (taken == -EPIPE)
            break;
        if (taken == -EAGAIN) {
            r = write_held(o, last);
            continue;
        }
        last = o->slot->result;
        r = show(o, o->slot);
        if (r)
            stats_unshown(s->stats, 1);
        else if (++n_shown == s->max_frames)
            shared_stop(s);
    }
    if (r)
        shared_stop(s);
    stats_unshown(s->stats, ring_discard(o->in, &o->slot));
    (void)!write(s->done_fd, &(uint64_t){1}, sizeof(uint64_t));
    return NULL;
}
