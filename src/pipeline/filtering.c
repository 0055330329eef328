#include "pipeline/filtering.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "settings/settings.h"

#define LOOK_NS NS_PER_S /* idle time between checks for a restarted engine */

static bool governed(const struct stream *s, const struct filter_request *w)
{
    return stream_live(s) && w->latency_budget != BUDGET_OFF;
}

static struct governor_config governor_request(const struct stream *s,
                                               const struct filter_request *w)
{
    return (struct governor_config){
        .budget_ns = w->latency_budget > 0 ? w->latency_budget : 0,
        .interval_ns = stream_interval_ns(s),
        .warm_up = filter_warm_up(&w->filter),
        .ladder = w->ladder,
    };
}

static void publish_engine(const struct filtering *f)
{
    stream_set_engine(f->stream, f->engine->ops->name, f->engine->device);
}

void filtering_open(struct filtering *f, struct stream *stream, struct engine *engine,
                    const struct filtering_config *config)
{
    const struct filter_request request = stream_filter_request(stream);
    const struct governor_config limits = governor_request(stream, &request);

    f->stream = stream;
    f->engine = engine;
    f->config = *config;
    retry_works(&f->retry, now_ns());
    f->depth = stream_live(stream) ? 1 : engine->depth;
    if (f->depth > FILTERING_MAX_DEPTH)
        f->depth = FILTERING_MAX_DEPTH;
    governor_init(&f->governor, &limits);
    publish_engine(f);
}

void filtering_connect(struct filtering *f, struct ring *in, struct fan *out, struct slot *slots,
                       void *memory, size_t bytes)
{
    f->in = in;
    f->out = out;
    while (f->n_spare < f->depth)
        f->spare[f->n_spare++] = slots++;
    f->memory = memory;
    f->memory_size = bytes;
    if (f->engine->ops->pin(f->engine, memory, bytes))
        log_debug("frame memory is not pinned: copies to the device will be slower");
}

void filtering_close(struct filtering *f)
{
    rebuild_stop(f->rebuild);
    if (f->engine)
        f->engine->ops->destroy(f->engine);
}

/* Puts the CPU in the place of an engine on a device, which is returned in @ret. */
static int stand_in(struct filtering *f, struct engine **ret)
{
    struct error err;
    int r;

    *ret = f->engine;
    f->lost = f->engine->ops;
    f->engine = NULL;
    f->threads = (struct thread_count){0};
    r = f->config.stand_in->create(&f->engine, &f->config.engine, &err);
    if (r == 0)
        publish_engine(f);
    f->depth = 1; /* what a CPU engine takes; spare slots beyond that rest */
    return r;
}

/* Makes the engine that was lost again, in the background: at once if it was released, else after
 * @remains of it are cleared away, which can take most of a second, and a pause. */
static void begin_rebuild(struct filtering *f, struct engine *remains)
{
    const struct rebuild_config config = {
        .remains = remains,
        .ops = f->lost,
        .engine = f->config.engine,
        .memory = f->memory,
        .bytes = f->memory_size,
        .retry = &f->retry,
    };

    if (rebuild_start(&f->rebuild, &config) == 0)
        return;
    log_warning("engine %s is not started again: out of memory", f->lost->name);
    f->lost = NULL;
    engine_release(remains);
}

/* Shows the frame to the engine, which filters it or only sees it pass. */
static int show(struct filtering *f, const struct job *j)
{
    struct engine *e = f->engine;
    struct slot *slot = j->slot;

    if (slot->run != f->run)
        e->ops->forget(e);
    f->run = slot->run;
    return j->submitted ? e->ops->submit(e, &slot->raw, &slot->out, &j->filter)
                        : e->ops->pass(e, &slot->raw);
}

/* Why the engine did not take or finish a frame. */
static const char *failure(int code)
{
    return code == -EINVAL ? "pictures of this size and format are not for it" : strerror(-code);
}

/* Waits for the frame submitted first, which is @j's, and asks what the engine learned with it. */
static int collect(struct filtering *f, const struct job *j)
{
    struct slot *slot = j->slot;
    struct engine_report report;
    const int r = f->engine->ops->collect(f->engine);

    f->t_collected_ns = now_ns();
    if (r || j->probe)
        return r;
    f->engine->ops->report(f->engine, &report);
    stream_set_device_memory(f->stream, report.device_memory);
    slot->noise = report.noise;
    slot->noise_share = report.noise_share;
    slot->frames = report.frames;
    slot->out.counts = report.counts ? slot->counts : NULL;
    if (report.counts)
        memcpy(slot->counts, report.counts, frame_counts_size(&slot->out));
    return 0;
}

/* The device failed: the CPU takes over, beginning with the frames that were in flight. */
static int replace_engine(struct filtering *f, int code)
{
    struct engine *failed;
    int r;

    if (!f->engine->ops->on_device)
        return code;
    log_error("engine %s (%s) failed: %s; the CPU takes over", f->engine->ops->name,
              f->engine->device, failure(code));
    r = stand_in(f, &failed);
    f->run = f->jobs[0].slot->run; /* it has nothing to forget */
    for (int i = 0; i < f->n_jobs && r == 0; i++) {
        struct job *j = &f->jobs[i];

        r = show(f, j);
        if (r == 0 && j->submitted)
            r = collect(f, j);
        j->submitted = false;
    }
    if (r == 0)
        begin_rebuild(f, failed);
    else
        engine_release(failed);
    return r;
}

/* The engine that was lost is there again. Context: nothing is in flight. */
static void take_rebuilt(struct filtering *f)
{
    struct engine *e = rebuild_take(f->rebuild);

    if (!e)
        return;
    rebuild_stop(f->rebuild);
    f->rebuild = NULL;
    f->lost = NULL;
    f->engine->ops->destroy(f->engine);
    f->engine = e;
    retry_works(&f->retry, now_ns());
    f->depth = stream_live(f->stream) ? 1 : e->depth < f->n_spare ? e->depth : f->n_spare;
    publish_engine(f);
    log_info("engine %s (%s) filters again", e->ops->name, e->device);
}

/* Releases the device until there is something to filter for it. */
static int rest(struct filtering *f)
{
    struct engine *idle;
    const int r = stand_in(f, &idle);

    engine_release(idle);
    f->retry = (struct retry){0};
    return r;
}

static int start_job(struct filtering *f, struct slot *slot)
{
    struct stream *s = f->stream;
    const struct filter_request w = stream_filter_request(s);
    struct job *j = &f->jobs[f->n_jobs++];
    bool shown;
    int r;

    if (f->lost && !f->rebuild)
        begin_rebuild(f, NULL);
    *j = (struct job){.slot = slot, .asked = w.filter, .t_start_ns = now_ns()};
    j->rung = w.ladder.top;
    if (governed(s, &w)) {
        const struct governor_config limits = governor_request(s, &w);

        governor_configure(&f->governor, &limits);
        j->rung = f->governor.limit;
        j->probe = f->governor.passing;
    }
    j->filter = ladder_filter(&w.filter, w.radius_min, j->rung);
    j->submitted = j->rung > 0;
    if (f->engine->threads_most)
        f->engine->threads = f->threads.n ? f->threads.n : f->engine->threads_most;
    shown = j->submitted && !j->probe;
    slot->queue_ns = j->t_start_ns - slot->t_ready_ns;
    slot->radius = shown ? j->filter.radius : 0;
    slot->radius_requested = w.filter.radius;
    slot->search = shown ? filter_search(&w.filter, &j->filter) : "";
    slot->result = shown ? &slot->out : &slot->raw;
    slot->noise = slot->noise_share = slot->frames = 0.0;
    slot->out.counts = NULL;
    r = show(f, j);
    return r ? replace_engine(f, r) : 0;
}

/* Whether a message has to tell of @state now, and in @text of changes that were not told. */
static bool flipped(struct flips *flips, bool state, int64_t t_ns, char *text, size_t size)
{
    const int n = flips_step(flips, state, t_ns);

    *text = '\0';
    if (n > 1)
        (void)snprintf(text, size, " (%d changes since the last message)", n);
    return n > 0;
}

static void log_passing(struct filtering *f, const struct filter_request *w)
{
    const bool passing = f->governor.passing;
    char changes[64];

    if (!flipped(&f->passing, passing, f->t_done_ns, changes, sizeof(changes)))
        return;
    if (passing)
        log_warning(
            "too slow for the latency budget even at radius %d: frames pass unfiltered%s",
            ladder_filter(&w->filter, w->radius_min, f->governor.config.ladder.lowest).radius,
            changes);
    else
        log_info("fast enough again: frames are filtered%s", changes);
}

/* Of something that the budget leaves out, while frames are filtered. */
static void log_less(const struct filtering *f, struct flips *flips, bool less, const char *is_less,
                     const char *is_all)
{
    char changes[64];

    if (!flipped(flips, less, f->t_done_ns, changes, sizeof(changes)))
        return;
    if (less)
        log_info("too slow for the latency budget: %s%s", is_less, changes);
    else
        log_info("fast enough again: %s%s", is_all, changes);
}

static void log_ladder(struct filtering *f, const struct filter *asked, const struct filter *used)
{
    if (f->governor.passing || !filter_averages(asked))
        return;
    log_less(f, &f->alone, !filter_averages(used), "each frame is filtered by itself",
             "frames are averaged");
    if (filter_averages(used))
        log_less(f, &f->searchless, used->no_search, "what moves is not followed",
                 "what moves is followed");
}

/* Only live video that has a budget is filtered with fewer threads than there are. */
static void count_threads(struct filtering *f, const struct job *j)
{
    const struct governor *g = &f->governor;

    j->slot->threads = j->submitted && f->engine->threads_most ? f->engine->threads : 0;
    if (j->slot->threads)
        (void)thread_count_step(&f->threads, f->engine->threads_most, j->slot->filter_ns,
                                j->slot->budget_ns ? governor_room_ns(g) : 0,
                                g->passing || g->limit < g->config.ladder.top);
}

static void govern(struct filtering *f, const struct job *j)
{
    struct stream *s = f->stream;
    struct slot *slot = j->slot;
    const struct filter_request w = stream_filter_request(s);
    const struct stream_feedback feedback = stream_feedback(s);
    const struct governor_sample sample = {
        .t_capture_ns = slot->raw.t_capture_ns,
        .seq = slot->raw.seq,
        .filter_ns = slot->filter_ns,
        .rung = j->rung,
        .other_ns = feedback.other_ns,
        .camera_ns = feedback.camera_ns,
    };

    if (!governed(s, &w)) {
        const struct governor_config limits = governor_request(s, &w);

        if (f->governor.passing)
            governor_init(&f->governor, &limits);
        slot->budget_ns = 0;
    } else {
        (void)governor_step(&f->governor, &sample);
        slot->budget_ns = governor_budget_ns(&f->governor);
    }
    count_threads(f, j);
    log_passing(f, &w);
    log_ladder(f, &j->asked, &j->filter);
}

/* Waits for the oldest frame in flight and hands it on. */
static int finish_job(struct filtering *f)
{
    const struct job *j = &f->jobs[0];
    struct slot *slot = j->slot;
    int64_t t_begun;
    int r = 0;

    if (j->submitted)
        r = collect(f, j);
    if (r)
        r = replace_engine(f, r);
    if (r)
        return r;
    /* Frames in flight together share the time; each counts from when the one before was done. */
    t_begun = j->t_start_ns > f->t_done_ns ? j->t_start_ns : f->t_done_ns;
    f->t_done_ns = j->submitted ? f->t_collected_ns : now_ns();
    slot->filter_ns = f->t_done_ns - t_begun;
    govern(f, j);
    f->n_jobs--;
    memmove(&f->jobs[0], &f->jobs[1], (size_t)f->n_jobs * sizeof(f->jobs[0]));
    r = fan_put(f->out, &slot);
    if (r)
        stats_not_shown(stream_stats(f->stream), 1);
    f->spare[f->n_spare++] = slot;
    return r;
}

/* What is left on both sides when the stage ends is counted, not shown. */
static void abandon(struct filtering *f)
{
    uint64_t n = (uint64_t)f->n_jobs;

    while (f->n_jobs)
        f->spare[f->n_spare++] = f->jobs[--f->n_jobs].slot;
    n += ring_discard(f->in, &f->spare[0]);
    stats_not_shown(stream_stats(f->stream), n);
}

static int64_t deadline(int64_t ns)
{
    return ns == INT64_MAX ? INT64_MAX : now_ns() + ns;
}

/* One step: takes frames while the engine has room, else waits for the oldest. -EPIPE: there
 * is nothing left to do. */
static int step(struct filtering *f)
{
    const bool restful = stream_live(f->stream) && f->engine->ops->on_device;
    const int64_t idle_ns = restful ? f->config.rest_ns : f->rebuild ? LOOK_NS : INT64_MAX;
    int taken = -EAGAIN;

    if (f->rebuild && !f->n_jobs)
        take_rebuilt(f);
    if (f->n_jobs < f->depth)
        taken = ring_take(f->in, &f->spare[f->n_spare - 1], f->n_jobs ? 0 : deadline(idle_ns));
    if (taken == 0)
        return start_job(f, f->spare[--f->n_spare]);
    if (taken == -EAGAIN && !f->n_jobs) {
        if (restful)
            log_info("idle: releasing %s", f->engine->device);
        return restful ? rest(f) : 0;
    }
    return f->n_jobs ? finish_job(f) : -EPIPE;
}

void *filtering_run(void *arg)
{
    struct filtering *f = arg;
    struct error err;
    int r = 0;

    while (r == 0 && !stream_stopping(f->stream))
        r = step(f);
    if (r && r != -EPIPE) {
        (void)error_set(&err, r, "engine %s failed: %s",
                        f->engine ? f->engine->ops->name : f->config.stand_in->name, failure(r));
        stream_fail(f->stream, r, &err);
        stream_signal(f->stream, STREAM_EVENT_STOP);
    }
    fan_close(f->out);
    abandon(f);
    return NULL;
}
