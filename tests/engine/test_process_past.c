/* An engine with a past in a process of its own: it gets to know of every picture, and of breaks,
 * and its owner of what it learns. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/process.h"

#define MAX_PAST 256

/* An engine whose pictures begin with a protocol of the calls before: '|' for forget, '-' for pass
 * and 'x' for submit, both followed by the picture's number, first sample and stamp. */
struct witness {
    struct engine base;
    bool busy;
    char past[MAX_PAST];
    struct engine_report report;
    uint8_t counts[2 * MAX_PAST];
};

static int probe(const char *wanted, char *device, size_t size, struct error *err)
{
    (void)wanted, (void)device, (void)size, (void)err;
    return 0;
}

static void destroy(struct engine *e)
{
    free(e);
}

static int pin(struct engine *e, void *memory, size_t bytes)
{
    (void)e, (void)memory, (void)bytes;
    return 0;
}

static void unpin(struct engine *e, void *memory)
{
    (void)e, (void)memory;
}

static void note(struct engine *e, char call, const struct frame *in)
{
    char *past = ((struct witness *)e)->past;
    const size_t n = strlen(past);

    (void)snprintf(past + n, MAX_PAST - n, "%c%d,%d,%d ", call, (int)in->seq, in->plane[0][0],
                   (int)in->t_capture_ns);
}

/* Figures that tell the picture; odd ones have no counts. Columns count from its number on. */
static void learn(struct witness *w, const struct frame *in)
{
    for (size_t i = 0; i < frame_counts_size(in); i++)
        w->counts[i] = (uint8_t)(in->seq + i);
    w->report = (struct engine_report){.noise = (double)in->seq + 0.25,
                                       .noise_share = (double)in->seq / 100.0,
                                       .frames = 2.0 * (double)in->seq,
                                       .counts = in->seq % 2 ? NULL : w->counts};
}

static int submit(struct engine *e, const struct frame *in, struct frame *out,
                  const struct filter *filter)
{
    (void)filter;
    note(e, 'x', in);
    memcpy(out->plane[0], ((struct witness *)e)->past, MAX_PAST);
    learn((struct witness *)e, in);
    ((struct witness *)e)->busy = true;
    return 0;
}

static int collect(struct engine *e)
{
    const bool busy = ((struct witness *)e)->busy;

    ((struct witness *)e)->busy = false;
    return busy ? 0 : -EAGAIN;
}

static void report(struct engine *e, struct engine_report *ret)
{
    *ret = ((struct witness *)e)->report;
}

/* A picture numbered 99 breaks it. */
static int pass(struct engine *e, const struct frame *in)
{
    note(e, '-', in);
    return in->seq == 99 ? -EIO : 0;
}

static void forget(struct engine *e)
{
    (void)strcpy(((struct witness *)e)->past, "| ");
}

static int create(struct engine **ret, const struct engine_config *config, struct error *err);

static const struct engine_ops witness_ops = {
    .name = "witness",
    .probe = probe,
    .create = create,
    .destroy = destroy,
    .release = engine_release_nothing,
    .pin = pin,
    .unpin = unpin,
    .submit = submit,
    .collect = collect,
    .pass = pass,
    .forget = forget,
    .report = report,
};

static int create(struct engine **ret, const struct engine_config *config, struct error *err)
{
    struct witness *w = calloc(1, sizeof(*w));

    (void)config;
    if (!w)
        return error_set(err, -ENOMEM, "out of memory");
    w->base.ops = &witness_ops;
    w->base.depth = 1;
    *ret = &w->base;
    return 0;
}

/* --- and its owner --- */

static const struct engine_process_limits patient = {.first_ms = 200000, .answer_ms = 200000};

static const struct engine_ops in_process = {
    .name = "witness",
    .destroy = engine_process_destroy,
    .pin = engine_process_pin,
    .unpin = engine_process_unpin,
    .submit = engine_process_submit,
    .collect = engine_process_collect,
    .pass = engine_process_pass,
    .forget = engine_process_forget,
    .report = engine_process_report,
};

struct owner {
    struct engine *engine;
    struct frame in, out;
};

static void open_owner(struct owner *o)
{
    const struct engine_config config = {.threads = 1};
    struct error err = {.text = ""};

    if (engine_process_create(&o->engine, &in_process, &config, &patient, &err))
        fail_msg("%s", err.text);
    o->in = (struct frame){.format = FRAME_GREY, .width = MAX_PAST, .height = 2};
    o->out = o->in;
    assert_int_equal(frame_alloc(&o->in), 0);
    assert_int_equal(frame_alloc(&o->out), 0);
}

static void close_owner(struct owner *o)
{
    o->engine->ops->destroy(o->engine);
    frame_free(&o->in);
    frame_free(&o->out);
}

static const struct frame *picture(struct owner *o, int seq)
{
    o->in.seq = (uint64_t)seq;
    o->in.t_capture_ns = 1000 + seq;
    o->in.plane[0][0] = (uint8_t)(100 + seq);
    return &o->in;
}

/* Filters picture @seq and compares what the engine knows then. */
static void check_past(struct owner *o, int seq, int radius, const char *expected)
{
    const struct filter f = {.radius = radius, .sigma_space = 1, .sigma_color = 10};
    const struct engine_ops *ops = o->engine->ops;

    assert_int_equal(ops->submit(o->engine, picture(o, seq), &o->out, &f), 0);
    assert_int_equal(ops->collect(o->engine), 0);
    if (radius)
        assert_string_equal((const char *)o->out.plane[0], expected);
    else
        assert_int_equal(o->out.plane[0][0], 100 + seq); /* copied */
}

static void test_every_picture_is_seen(void **state)
{
    struct owner o;

    (void)state;
    open_owner(&o);
    check_past(&o, 0, 1, "x0,100,1000 ");
    check_past(&o, 1, 1, "x0,100,1000 x1,101,1001 ");
    assert_int_equal(o.engine->ops->pass(o.engine, picture(&o, 2)), 0);
    check_past(&o, 4, 1, "x0,100,1000 x1,101,1001 -2,102,1002 x4,104,1004 ");
    close_owner(&o);
}

static void test_forget(void **state)
{
    const struct engine_ops *ops = &in_process;
    struct owner o;

    (void)state;
    open_owner(&o);
    check_past(&o, 0, 1, "x0,100,1000 ");
    ops->forget(o.engine);
    ops->forget(o.engine);
    check_past(&o, 1, 1, "| x1,101,1001 ");
    check_past(&o, 2, 1, "| x1,101,1001 x2,102,1002 ");
    ops->forget(o.engine);
    assert_int_equal(ops->pass(o.engine, picture(&o, 3)), 0);
    check_past(&o, 4, 1, "| -3,103,1003 x4,104,1004 ");
    close_owner(&o);
}

/* A radius of 0 is copied here, and seen there. */
static void test_radius_0(void **state)
{
    struct owner o;

    (void)state;
    open_owner(&o);
    check_past(&o, 0, 0, NULL);
    check_past(&o, 1, 1, "-0,100,1000 x1,101,1001 ");
    close_owner(&o);
}

/* One that is averaged over frames is filtered there. */
static void test_radius_0_in_time(void **state)
{
    const struct filter f = {.temporal = 2};
    struct owner o;

    (void)state;
    open_owner(&o);
    assert_int_equal(o.engine->ops->submit(o.engine, picture(&o, 5), &o.out, &f), 0);
    assert_int_equal(o.engine->ops->collect(o.engine), 0);
    assert_string_equal((const char *)o.out.plane[0], "x5,105,1005 ");
    close_owner(&o);
}

static void check_report(struct owner *o, double noise, double frames, int first_count)
{
    struct engine_report r;

    o->engine->ops->report(o->engine, &r);
    assert_true(r.noise == noise && r.frames == frames);
    assert_true(r.noise_share == (noise > 0.0 ? (noise - 0.25) / 100.0 : 0.0));
    assert_int_equal(r.counts == NULL, first_count < 0);
    for (size_t i = 0; r.counts && i < frame_counts_size(&o->in); i++)
        assert_int_equal(r.counts[i], (uint8_t)(first_count + (int)i));
}

static void test_report(void **state)
{
    const struct filter f = {.radius = 1, .sigma_space = 1, .sigma_color = 10};
    struct owner o;

    (void)state;
    open_owner(&o);
    check_report(&o, 0.0, 0.0, -1);
    for (int seq = 0; seq < 4; seq++) {
        assert_int_equal(o.engine->ops->submit(o.engine, picture(&o, seq), &o.out, &f), 0);
        assert_int_equal(o.engine->ops->collect(o.engine), 0);
        check_report(&o, seq + 0.25, 2.0 * seq, seq % 2 ? -1 : seq);
    }
    /* Of another size: the memory that is shared is another one. */
    frame_free(&o.in);
    frame_free(&o.out);
    o.in.height = o.out.height = 9;
    assert_int_equal(frame_alloc(&o.in), 0);
    assert_int_equal(frame_alloc(&o.out), 0);
    assert_int_equal(frame_counts_size(&o.in), 2 * MAX_PAST / 8);
    assert_int_equal(o.engine->ops->submit(o.engine, picture(&o, 8), &o.out, &f), 0);
    assert_int_equal(o.engine->ops->collect(o.engine), 0);
    check_report(&o, 8.25, 16.0, 8);
    /* What passes says nothing new, and takes the place of the counts. */
    assert_int_equal(o.engine->ops->pass(o.engine, picture(&o, 9)), 0);
    check_report(&o, 8.25, 16.0, -1);
    close_owner(&o);
}

/* A picture that the engine there cannot take says so, as one that it cannot filter does. */
static void test_device_fails(void **state)
{
    struct owner o;

    (void)state;
    open_owner(&o);
    assert_int_equal(o.engine->ops->pass(o.engine, picture(&o, 99)), -EIO);
    assert_int_equal(o.engine->ops->pass(o.engine, picture(&o, 1)), -EIO);
    o.engine->ops->forget(o.engine);
    close_owner(&o);
}

int main(int argc, char **argv)
{
    static const struct engine_ops *const engines[] = {&witness_ops, NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_picture_is_seen),
        cmocka_unit_test(test_forget),
        cmocka_unit_test(test_radius_0),
        cmocka_unit_test(test_radius_0_in_time),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_device_fails),
    };
    const int status = engine_process_main(engines, argc, argv);

    return status >= 0 ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
