/* The reference with a past: what it must give where that can be said by hand. How far the mean
 * over frames goes is in time/test_average.c. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "tests/lib/images.h"

#define WIDTH 20
#define HEIGHT 12

struct run {
    struct engine *engine;
    struct frame in, out;
};

static void open_run_of(struct run *r, enum frame_format format, int width, int height)
{
    const struct engine_config config = {0};
    struct error err;

    r->in = r->out = (struct frame){.format = format, .width = width, .height = height};
    assert_int_equal(frame_alloc(&r->in), 0);
    assert_int_equal(frame_alloc(&r->out), 0);
    assert_int_equal(engine_reference.create(&r->engine, &config, &err), 0);
}

static void open_run(struct run *r, enum frame_format format)
{
    open_run_of(r, format, WIDTH, HEIGHT);
}

static void close_run(struct run *r)
{
    engine_reference.destroy(r->engine);
    frame_free(&r->in);
    frame_free(&r->out);
}

static void filter_one(struct run *r, const struct filter *f)
{
    assert_int_equal(engine_reference.submit(r->engine, &r->in, &r->out, f), 0);
    assert_int_equal(engine_reference.collect(r->engine), 0);
    r->in.t_capture_ns += 33333333;
    r->in.seq++;
}

static void fill(struct frame *f, int level)
{
    for (int y = 0; y < f->height; y++)
        memset(f->plane[0] + (size_t)y * f->stride[0], level, frame_row_bytes(f, 0));
}

/* The level of a flat picture after @n frames of levels 40, 50, 60 ... */
static int window_of(struct run *r, int n, const struct filter *f)
{
    for (int t = 0; t < n; t++) {
        fill(&r->in, 40 + 10 * t);
        filter_one(r, f);
    }
    return r->out.plane[0][5 * r->out.stride[0] + 7];
}

static void test_window_in_time(void **state)
{
    struct filter f = {.radius = 2,
                       .sigma_space = 1,
                       .sigma_color = 1e6,
                       .temporal = 3,
                       .temporal_mode = TEMPORAL_WINDOW};
    struct run r;
    double w1, w2;

    (void)state;
    open_run(&r, FRAME_GREY);
    assert_int_equal(window_of(&r, 1, &f), 40); /* there is no other yet */
    r.engine->ops->forget(r.engine);
    assert_int_equal(window_of(&r, 2, &f), 45);
    r.engine->ops->forget(r.engine);
    assert_int_equal(window_of(&r, 3, &f), 50);
    r.engine->ops->forget(r.engine);
    assert_int_equal(window_of(&r, 6, &f), 80); /* the mean of 70, 80, 90 */
    r.engine->ops->forget(r.engine);
    f.sigma_time = 1.0;
    w1 = exp(-0.5);
    w2 = exp(-2.0);
    assert_int_equal(window_of(&r, 6, &f),
                     (int)floor((90 + 80 * w1 + 70 * w2) / (1 + w1 + w2) + 0.5));
    r.engine->ops->forget(r.engine);
    f.sigma_color = 1.0; /* ten levels apart: nothing of another frame counts */
    assert_int_equal(window_of(&r, 6, &f), 90);
    close_run(&r);
}

static void test_too_many_frames(void **state)
{
    struct filter f = {.radius = 1, .sigma_space = 1, .sigma_color = 20};
    struct run r;

    (void)state;
    open_run(&r, FRAME_GREY);
    fill(&r.in, 40);
    for (int mode = TEMPORAL_RECURSIVE; mode <= TEMPORAL_WINDOW; mode++) {
        f.temporal_mode = (enum temporal_mode)mode;
        f.temporal = filter_max_temporal(f.temporal_mode);
        for (int t = 0; t < 12; t++)
            filter_one(&r, &f);
        f.temporal++;
        assert_int_equal(engine_reference.submit(r.engine, &r.in, &r.out, &f), -EINVAL);
    }
    close_run(&r);
}

static void test_breaks(void **state)
{
    struct filter f = {.radius = 1,
                       .sigma_space = 1,
                       .sigma_color = 1e6,
                       .temporal = 8,
                       .temporal_mode = TEMPORAL_WINDOW};
    struct run r;

    (void)state;
    open_run(&r, FRAME_GREY);
    (void)window_of(&r, 4, &f);
    r.in.t_capture_ns += 300000000; /* a gap */
    r.in.seq += 8;
    assert_int_equal(window_of(&r, 1, &f), 40);
    (void)window_of(&r, 4, &f);
    f.temporal = 4; /* another length */
    assert_int_equal(window_of(&r, 1, &f), 40);
    (void)window_of(&r, 4, &f);
    r.in.colour.range = r.out.colour.range = COLOUR_FULL;
    assert_int_equal(window_of(&r, 1, &f), 40);
    close_run(&r);
}

/* A length of one frame, or of none, is the filter that has no past: the very bytes. */
static void test_one_frame_is_no_past(void **state)
{
    static const enum frame_format formats[] = {FRAME_YUYV, FRAME_I420, FRAME_GREY};
    struct filter f = {.radius = 2, .sigma_space = 1, .sigma_color = 20};

    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct run plain, one;

        open_run(&plain, formats[i]);
        open_run(&one, formats[i]);
        for (int t = 0; t < 3; t++) {
            image_fill(&plain.in, IMAGE_NATURAL, (uint64_t)t);
            frame_copy(&one.in, &plain.in);
            f.temporal = 0;
            filter_one(&plain, &f);
            f.temporal = 1;
            f.temporal_mode = t == 1 ? TEMPORAL_WINDOW : TEMPORAL_RECURSIVE;
            filter_one(&one, &f);
            assert_true(frame_squared_error(&plain.out, &one.out) == 0.0);
        }
        close_run(&plain);
        close_run(&one);
    }
}

/* Radius 0 with a mean over frames shows that mean; and from the noise alone comes a range sigma
 * that cleans a flat picture. */
static void test_mean_and_measured_noise(void **state)
{
    struct filter mean = {.radius = 0, .sigma_space = 1, .temporal = 16};
    struct filter measured = {.radius = 3, .sigma_space = 1.5};
    struct run r;
    uint64_t seed = 1;
    double raw = 0.0, filtered[2] = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        open_run(&r, FRAME_GREY);
        for (int t = 0; t < 12; t++) {
            fill(&r.in, 100);
            for (int k = 0; k < WIDTH * HEIGHT; k++)
                r.in.plane[0][(size_t)(k / WIDTH) * r.in.stride[0] + (size_t)(k % WIDTH)] =
                    (uint8_t)(95 + random_next(&seed) % 11);
            filter_one(&r, i ? &measured : &mean);
        }
        raw = filtered[i] = 0.0;
        for (int k = 0; k < WIDTH * HEIGHT; k++) {
            const size_t at = (size_t)(k / WIDTH) * r.in.stride[0] + (size_t)(k % WIDTH);

            raw += pow(r.in.plane[0][at] - 100.0, 2.0);
            filtered[i] += pow(r.out.plane[0][at] - 100.0, 2.0);
        }
        assert_true(filtered[i] < 0.5 * raw);
        close_run(&r);
    }
}

/* A mean may lie above 255, where motion is followed between samples; what is shown may not. */
static void test_white_stays_white(void **state)
{
    const struct filter f = {.radius = 0, .sigma_space = 1, .sigma_color = 20, .temporal = 64};
    uint64_t seed = 1;
    struct run r;

    (void)state;
    open_run(&r, FRAME_GREY);
    for (int t = 0; t < 40; t++) {
        for (int k = 0; k < WIDTH * HEIGHT; k++)
            r.in.plane[0][(size_t)(k / WIDTH) * r.in.stride[0] + (size_t)(k % WIDTH)] =
                (uint8_t)(random_next(&seed) % 2 ? 255 : 255 - random_next(&seed) % 50);
        filter_one(&r, &f);
        for (int k = 0; k < WIDTH * HEIGHT; k++)
            assert_true(
                r.out.plane[0][(size_t)(k / WIDTH) * r.out.stride[0] + (size_t)(k % WIDTH)] > 128);
    }
    close_run(&r);
}

/* What is known of the pictures, and only what was asked for. */
static void test_report(void **state)
{
    struct filter f = {.sigma_space = 1.0, .sigma_color = 20.0, .temporal = 8};
    struct engine_report report;
    struct run r;

    (void)state;
    open_run_of(&r, FRAME_YUYV, 48, 32);
    engine_reference.report(r.engine, &report);
    assert_true(report.noise == 0.0 && report.frames == 0.0 && !report.counts);
    for (int t = 0; t < 3; t++) {
        image_fill(&r.in, IMAGE_RANDOM, (uint64_t)t + 1);
        filter_one(&r, &f);
        engine_reference.report(r.engine, &report);
        assert_true(report.noise > 0.0);
        assert_true(report.frames >= 1.0 && report.frames <= t + 1);
        assert_int_equal(frame_counts_size(&r.in), 6 * 4);
        for (size_t i = 0; i < frame_counts_size(&r.in); i++)
            assert_in_range(report.counts[i], 2, 2 * (t + 1));
        assert_true(t > 0 || (report.frames <= 1.0 && report.counts[5] == 2));
    }
    f = (struct filter){.radius = 1,
                        .sigma_space = 1.0,
                        .sigma_color = 20.0,
                        .temporal = 4,
                        .temporal_mode = TEMPORAL_WINDOW};
    (void)window_of(&r, 3, &f);
    engine_reference.report(r.engine, &report);
    assert_true(report.noise == 0.0 && report.frames == 3.0 && !report.counts);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_in_time),
        cmocka_unit_test(test_too_many_frames),
        cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_one_frame_is_no_past),
        cmocka_unit_test(test_mean_and_measured_noise),
        cmocka_unit_test(test_white_stays_white),
        cmocka_unit_test(test_report),
    };

    return cmocka_run_group_tests_name("reference in time", tests, NULL, NULL);
}
