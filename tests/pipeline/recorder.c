#include "tests/pipeline/recorder.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct recording recording;

struct recorder {
    struct engine base;
    int number, n_seen;
    enum recorded breaks_in;
    int breaks_at;
};

static void record(const struct recorder *r, char what, uint64_t seq, const struct filter *filter)
{
    assert_true(recording.n_calls < RECORDED_MAX);
    recording.calls[recording.n_calls] =
        (struct call){what, r->number, seq, filter ? *filter : (struct filter){0}};
    recording.n_calls++;
}

static int n_awaited;

static bool calls_came(struct bench *b)
{
    (void)b;
    return recording.n_calls >= n_awaited;
}

bool await_calls(struct bench *b, int n)
{
    n_awaited = recording.n_calls + n;
    return eventually(calls_came, b);
}

void set_filter(const struct filter *filter)
{
    struct filter_request w = stream_filter_request(recording.bench->stages.stream);

    w.filter = *filter;
    stream_set_filter_request(recording.bench->stages.stream, &w);
}

void set_radius(int radius)
{
    struct filter filter = stream_filter_request(recording.bench->stages.stream).filter;

    filter.radius = radius;
    set_filter(&filter);
}

/* -EIO: the engine breaks here. */
static int see(struct recorder *r, enum recorded call, const struct frame *f,
               const struct filter *filter)
{
    if (r->breaks_in == call && r->n_seen >= r->breaks_at)
        return -EIO;
    r->n_seen++;
    record(r, call == RECORDED_PASS ? '-' : 'x', f->seq, filter);
    if (recording.mixed)
        set_radius(f->seq % 3 == 1 ? 0 : 2);
    return 0;
}

static int recorder_submit(struct engine *e, const struct frame *in, struct frame *out,
                           const struct filter *filter)
{
    struct recorder *r = (struct recorder *)e;
    uint64_t *n = &recording.n_submitted_to[r->number];

    assert_true(filter_acts(filter));
    assert_true(*n - recording.n_collected_from[r->number] < (uint64_t)e->depth);
    if (see(r, RECORDED_SUBMIT, in, filter))
        return -EIO;
    while (recording.gate_shut)
        (void)poll(NULL, 0, 1);
    (void)poll(NULL, 0,
               recording.delay_ms + (filter->no_search ? 0 : recording.search_ms) +
                   (filter_averages(filter) ? recording.mean_ms : 0));
    frame_copy(out, in);
    out->plane[0][0] ^= 0xff;
    ++*n;
    return 0;
}

static int recorder_collect(struct engine *e)
{
    struct recorder *r = (struct recorder *)e;
    uint64_t *n = &recording.n_collected_from[r->number];

    if (r->breaks_in == RECORDED_COLLECT && *n >= (uint64_t)r->breaks_at)
        return -EIO;
    assert_true(*n < recording.n_submitted_to[r->number]);
    ++*n;
    return 0;
}

static int recorder_pass(struct engine *e, const struct frame *in)
{
    return see((struct recorder *)e, RECORDED_PASS, in, NULL);
}

static void recorder_forget(struct engine *e)
{
    record((struct recorder *)e, '|', 0, NULL);
}

static int recorder_pin(struct engine *e, void *memory, size_t bytes)
{
    (void)e, (void)memory, (void)bytes;
    return 0;
}

static void recorder_destroy(struct engine *e)
{
    free(e);
}

static int device_create(struct engine **ret, const struct engine_config *config, struct error *err)
{
    (void)ret, (void)config;
    return error_set(err, -ENODEV, "the device does not answer");
}

static const struct engine_ops device_ops = {
    .name = "recorder",
    .on_device = true,
    .create = device_create,
    .destroy = recorder_destroy,
    .release = engine_release_nothing,
    .pin = recorder_pin,
    .submit = recorder_submit,
    .collect = recorder_collect,
    .pass = recorder_pass,
    .forget = recorder_forget,
    .report = engine_report_nothing,
};

static struct engine *make_recorder(const struct engine_ops *ops, int depth,
                                    enum recorded breaks_in, int breaks_at)
{
    struct recorder *r = calloc(1, sizeof(*r));

    assert_non_null(r);
    r->base.ops = ops;
    r->base.depth = depth;
    r->number = recording.n_engines++;
    r->breaks_in = breaks_in;
    r->breaks_at = breaks_at;
    assert_true(recording.n_engines <= 4);
    return &r->base;
}

/* Takes over. */
static int stand_in_create(struct engine **ret, const struct engine_config *config,
                           struct error *err);

static const struct engine_ops stand_in_ops = {
    .name = "stand-in",
    .create = stand_in_create,
    .destroy = recorder_destroy,
    .release = engine_release_nothing,
    .pin = recorder_pin,
    .submit = recorder_submit,
    .collect = recorder_collect,
    .pass = recorder_pass,
    .forget = recorder_forget,
    .report = engine_report_nothing,
};

static int stand_in_create(struct engine **ret, const struct engine_config *config,
                           struct error *err)
{
    (void)config, (void)err;
    *ret = make_recorder(&stand_in_ops, 1, RECORDED_NEVER, 0);
    return 0;
}

int count_calls(char what)
{
    int n = 0;

    for (int i = 0; i < recording.n_calls; i++)
        n += recording.calls[i].what == what;
    return n;
}

static bool broke_between(uint64_t before, uint64_t after)
{
    for (int i = 0; i < recording.n_breaks; i++)
        if (before < recording.breaks[i] && recording.breaks[i] <= after)
            return true;
    return false;
}

static uint64_t first_uncollected(int engine)
{
    uint64_t n = 0;

    for (int i = 0; i < recording.n_calls; i++)
        if (recording.calls[i].engine == engine && recording.calls[i].what == 'x' &&
            n++ == recording.n_collected_from[engine])
            return recording.calls[i].seq;
    return UINT64_MAX;
}

void check_calls(bool missing)
{
    const struct call *last = NULL;
    int forgot = -1; /* the engine that was told so */

    for (int i = 0; i < recording.n_calls; i++) {
        const struct call *c = &recording.calls[i];

        if (c->what == '|') {
            assert_int_not_equal(forgot, c->engine);
            forgot = c->engine;
            continue;
        }
        if (last && last->engine == c->engine) {
            assert_true(missing ? c->seq > last->seq : c->seq == last->seq + 1);
            assert_int_equal(forgot == c->engine, broke_between(last->seq, c->seq));
        } else {
            assert_true(c->seq <= (last ? last->seq + 1 : 0));
            assert_true(!last || c->seq <= first_uncollected(last->engine));
            assert_int_not_equal(forgot, c->engine);
        }
        forgot = -1;
        last = c;
    }
    assert_non_null(last);
}

uint64_t last_seq(void)
{
    return recording.calls[recording.n_calls - 1].seq;
}

void open_recorded(struct bench *b, int depth, enum recorded breaks_in, int breaks_at)
{
    memset(&recording, 0, sizeof(recording));
    recording.bench = b;
    b->stand_in = &stand_in_ops;
    open_bench(b, make_recorder(&device_ops, depth, breaks_in, breaks_at));
}
