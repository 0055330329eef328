/* What the filters gaussian and box do, on pictures for which it can be said in advance. Every test
 * is for the reference and for the CPU engine. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "tests/lib/images.h"

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))

static const enum filter_kind kinds[] = {FILTER_GAUSSIAN, FILTER_BOX};
static const enum frame_format formats[] = {FRAME_YUYV, FRAME_UYVY, FRAME_NV12, FRAME_I420,
                                            FRAME_I422, FRAME_I444, FRAME_GREY};

/* An engine, and how many levels it may be off. */
static struct engine *engine;
static int allowed;

static struct filter filter_of(enum filter_kind kind, int radius)
{
    return (struct filter){.kind = kind,
                           .radius = radius,
                           .sigma_space = filter_auto_sigma(radius),
                           .sigma_color = 30.0};
}

static void alloc(struct frame *f, enum frame_format format, int width, int height)
{
    *f = (struct frame){.format = format, .width = width, .height = height};
    assert_int_equal(frame_alloc(f), 0);
}

static void set(const struct frame *f, int component, int x, int y, int level)
{
    const struct samples s = frame_samples(f, component);

    s.base[(size_t)y * s.stride + (size_t)(x * s.step)] = (uint8_t)level;
}

static void fill(const struct frame *f, int component, int level)
{
    const struct samples s = frame_samples(f, component);

    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++)
            set(f, component, x, y, level);
}

static void filter(const struct frame *in, struct frame *out, const struct filter *f)
{
    assert_int_equal(engine->ops->submit(engine, in, out, f), 0);
    assert_int_equal(engine->ops->collect(engine), 0);
}

static void assert_level(const struct frame *f, int component, int x, int y, double level)
{
    const int is = frame_sample(f, component, x, y), wanted = (int)floor(level + 0.5);

    if (abs(is - wanted) > allowed)
        fail_msg("%s: component %d at %d, %d is %d, not %d", engine->ops->name, component, x, y, is,
                 wanted);
}

/* What a sample at @distance counts. */
static double weight(const struct filter *f, int distance)
{
    if (abs(distance) > f->radius)
        return 0.0;
    return f->kind == FILTER_BOX ? 1.0 : exp(-0.5 * pow(distance / f->sigma_space, 2.0));
}

static double total(const struct filter *f)
{
    double sum = 0.0;

    for (int d = -f->radius; d <= f->radius; d++)
        sum += weight(f, d);
    return sum;
}

/* One colour stays, whichever. */
static void check_constant(void)
{
    static const int radii[] = {1, 2, 3, 16, 31, 32};
    struct frame in, out;

    for (int i = 0; i < N(formats); i++)
        for (int level = 0; level < 256; level += allowed ? 1 : 51) {
            alloc(&in, formats[i], 4, 3);
            alloc(&out, formats[i], 4, 3);
            for (int c = 0; c < format_table[formats[i]].components; c++)
                fill(&in, c, (level + 85 * c) % 256);
            for (int k = 0; k < N(kinds) * N(radii); k++) {
                const struct filter f = filter_of(kinds[k % 2], radii[k / 2]);

                filter(&in, &out, &f);
                assert_int_equal(frame_difference(&in, &out).max, 0);
            }
            frame_free(&in);
            frame_free(&out);
        }
}

/* One bright pixel becomes the window itself. */
static void check_impulse(void)
{
    struct frame in, out;

    alloc(&in, FRAME_GREY, 140, 19);
    alloc(&out, FRAME_GREY, 140, 19);
    fill(&in, 0, 0);
    set(&in, 0, 9, 10, 250);
    for (int radius = 1; radius <= 7; radius++)
        for (int k = 0; k < N(kinds); k++) {
            struct filter f = filter_of(kinds[k], radius);

            if (radius == 7)
                f.sigma_space = 0.1; /* the pixel alone */
            filter(&in, &out, &f);
            for (int y = 0; y < 19; y++)
                for (int x = 0; x < 140; x++)
                    assert_level(&out, 0, x, y,
                                 250.0 * weight(&f, x - 9) * weight(&f, y - 10) /
                                     (total(&f) * total(&f)));
            assert_int_equal(frame_sample(&out, 0, 9 - radius - 1, 10), 0);
            assert_int_equal(frame_sample(&out, 0, 9, 10 + radius + 1), 0);
        }
    frame_free(&in);
    frame_free(&out);
}

static double mean_of(const struct frame *f, int component)
{
    const struct samples s = frame_samples(f, component);
    double sum = 0.0;

    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++)
            sum += frame_sample(f, component, x, y);
    return sum / (s.width * s.height);
}

/* What is far from the border keeps its mean: nothing is rounded to one side. */
static void check_mean(void)
{
    struct frame in, out;
    uint64_t seed = 1;

    alloc(&in, FRAME_GREY, 80, 80);
    alloc(&out, FRAME_GREY, 80, 80);
    fill(&in, 0, 100);
    for (int i = 0; i < 40 * 40; i++)
        set(&in, 0, 20 + i % 40, 20 + i / 40, (int)(random_next(&seed) % 256));
    for (int radius = 1; radius <= 9; radius += 2)
        for (int k = 0; k < N(kinds); k++) {
            const struct filter f = filter_of(kinds[k], radius);

            filter(&in, &out, &f);
            assert_true(fabs(mean_of(&in, 0) - mean_of(&out, 0)) < 0.03);
        }
    frame_free(&in);
    frame_free(&out);
}

/* Outside of the picture its edge goes on: a line along an edge counts for all that is there. */
static void check_border(void)
{
    struct frame in[4], out;

    alloc(&out, FRAME_GREY, 16, 13);
    for (int i = 0; i < 4; i++) {
        alloc(&in[i], FRAME_GREY, 16, 13);
        fill(&in[i], 0, 0);
        for (int k = 0; k < (i < 2 ? 13 : 16); k++)
            set(&in[i], 0, i < 2 ? 15 * i : k, i < 2 ? k : 12 * (i - 2), 250);
    }
    for (int k = 0; k < 5 * N(kinds); k++) {
        const struct filter f = filter_of(kinds[k % 2], 1 + k / 2);

        for (int i = 0; i < 4; i++) {
            filter(&in[i], &out, &f);
            for (int inside = 0; inside < 8; inside++) {
                double sum = 0.0;

                for (int d = inside; d <= f.radius; d++)
                    sum += weight(&f, d);
                assert_level(&out, 0,
                             i == 0   ? inside
                             : i == 1 ? 15 - inside
                                      : 7,
                             i == 2   ? inside
                             : i == 3 ? 12 - inside
                                      : 6,
                             250.0 * sum / total(&f));
            }
        }
    }
    for (int i = 0; i < 4; i++)
        frame_free(&in[i]);
    frame_free(&out);
}

/* A chroma sample that two of luma share, and its neighbours, in a box of radius 1: of the mean at
 * each of the two, it has 2/3 and 2/3, its neighbours 1/3 and 0. */
static void check_chroma(void)
{
    static const double shared[3] = {1 / 6.0, 4 / 6.0, 1 / 6.0},
                        own[3] = {1 / 3.0, 1 / 3.0, 1 / 3.0};
    const struct filter f = filter_of(FILTER_BOX, 1);
    struct frame in, out;

    for (int i = 0; i < N(formats); i++) {
        const struct format_info *info = &format_table[formats[i]];

        if (info->components == 1)
            continue;
        alloc(&in, formats[i], 20, 18);
        alloc(&out, formats[i], 20, 18);
        for (int c = 0; c < 3; c++) {
            fill(&in, c, 0);
            set(&in, c, 4, 5, 240);
        }
        filter(&in, &out, &f);
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 9; d++)
                assert_level(&out, c, 3 + d % 3, 4 + d / 3,
                             240.0 * (c && info->hshift ? shared : own)[d % 3] *
                                 (c && info->vshift ? shared : own)[d / 3]);
        frame_free(&in);
        frame_free(&out);
    }
}

/* Where the height is odd, the last row of chroma belongs to one row of luma, below which it goes
 * on: that row sees 2/3 of it and 1/3 of the row above. */
static void check_odd_height(void)
{
    static const double seen[2][3] = {{1 / 6.0, 4 / 6.0, 1 / 3.0}, {0.0, 1 / 6.0, 2 / 3.0}};
    const struct filter f = filter_of(FILTER_BOX, 1);
    struct frame in, out;

    for (int line = 1; line < 3; line++) {
        alloc(&in, FRAME_NV12, 6, 5);
        alloc(&out, FRAME_NV12, 6, 5);
        fill(&in, 0, 0);
        fill(&in, 1, 0);
        fill(&in, 2, 0);
        for (int x = 0; x < 3; x++)
            set(&in, 2, x, line, 240);
        filter(&in, &out, &f);
        for (int y = 0; y < 3; y++)
            assert_level(&out, 2, 1, y, 240.0 * seen[line - 1][y]);
        frame_free(&in);
        frame_free(&out);
    }
}

/* What is only for the bilateral filter changes nothing, and there is no past. */
static void check_ignored(void)
{
    struct frame in, out[2];

    alloc(&in, FRAME_YUYV, 32, 18);
    alloc(&out[0], FRAME_YUYV, 32, 18);
    alloc(&out[1], FRAME_YUYV, 32, 18);
    image_fill(&in, IMAGE_RANDOM, 1);
    for (int k = 0; k < N(kinds); k++) {
        struct filter f = filter_of(kinds[k], 4);

        filter(&in, &out[0], &f);
        f.sigma_color = 0.0;
        f.range = RANGE_LORENTZIAN;
        f.window = WINDOW_SQUARE;
        f.temporal_mode = TEMPORAL_WINDOW;
        filter(&in, &out[1], &f);
        assert_int_equal(frame_difference(&out[0], &out[1]).max, 0);
        f.temporal = 2;
        assert_int_equal(engine->ops->submit(engine, &in, &out[1], &f), -EINVAL);
        f.temporal = 1;
        f.radius = FILTER_MAX_RADIUS + 1;
        assert_int_equal(engine->ops->submit(engine, &in, &out[1], &f), -EINVAL);
    }
    frame_free(&in);
    frame_free(&out[0]);
    frame_free(&out[1]);
}

/* A box is a sum of whole numbers: the CPU engine has every sample right, also where the mean lies
 * between two levels. */
static void test_box_is_exact(void **state)
{
    static const enum image_kind images[] = {IMAGE_RANDOM, IMAGE_BINARY, IMAGE_CHECKER};
    const struct engine_config config = {.threads = 2};
    struct engine *truth;
    struct frame in, out, want;
    struct error err;

    (void)state;
    assert_int_equal(engine_simd.create(&engine, &config, &err), 0);
    assert_int_equal(engine_reference.create(&truth, &config, &err), 0);
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++)
        for (int i = 0; i < N(formats); i++) {
            const struct filter f = filter_of(FILTER_BOX, radius);

            alloc(&in, formats[i], 36, 15);
            alloc(&out, formats[i], 36, 15);
            alloc(&want, formats[i], 36, 15);
            image_fill(&in, images[(radius + i) % N(images)], (uint64_t)radius);
            filter(&in, &out, &f);
            assert_int_equal(truth->ops->submit(truth, &in, &want, &f), 0);
            assert_int_equal(truth->ops->collect(truth), 0);
            assert_int_equal(frame_difference(&out, &want).max, 0);
            frame_free(&in);
            frame_free(&out);
            frame_free(&want);
        }
    truth->ops->destroy(truth);
    engine->ops->destroy(engine);
}

static void test_blurs(void **state)
{
    static const struct {
        const struct engine_ops *ops;
        int allowed;
    } rows[] = {{&engine_reference, 0}, {&engine_simd, 1}};
    const struct engine_config config = {.threads = 2};
    struct error err;

    (void)state;
    for (int i = 0; i < N(rows); i++) {
        assert_int_equal(rows[i].ops->create(&engine, &config, &err), 0);
        allowed = rows[i].allowed;
        check_constant();
        check_impulse();
        check_mean();
        check_border();
        check_chroma();
        check_odd_height();
        check_ignored();
        engine->ops->destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blurs),
        cmocka_unit_test(test_box_is_exact),
    };

    return cmocka_run_group_tests_name("blur", tests, NULL, NULL);
}
