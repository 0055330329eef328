/* The CPU engine gives the same bytes of a clip whatever the number of threads, which is how a
 * picture is cut into parts, whatever the set of row kernels, and whatever was asked for before. */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/simd/cpu.h"
#include "tests/lib/images.h"

#define WIDTH 600
#define HEIGHT 210
#ifdef __SANITIZE_ADDRESS__ /* as many as the longest window */
#define FRAMES 3
#else
#define FRAMES 5
#endif

/* Some of the picture moves to the right, the rest stands; there is noise all over it. */
static void paint(struct frame *f, struct frame *scratch, int t)
{
    uint64_t seed = 50 + (uint64_t)t;

    image_fill(f, IMAGE_NATURAL, 3);
    image_fill(scratch, IMAGE_SALT, 4);
    for (int c = 0; c < format_table[f->format].components; c++) {
        const struct samples s = frame_samples(f, c), from = frame_samples(scratch, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++) {
                uint8_t *p = &s.base[(size_t)y * s.stride + (size_t)(x * s.step)];
                const int noise = (int)(random_next(&seed) % 7);

                if (x > s.width / 3 && y % 96 > 40 && x > 3 * t)
                    *p = from.base[(size_t)y * from.stride + (size_t)((x - 3 * t) * from.step)];
                *p = (uint8_t)(*p / 2 + 60 + noise);
            }
    }
}

static void run(const char *set, int threads, enum frame_format format, const struct filter *f,
                struct frame out[FRAMES])
{
    const struct engine_config config = {.threads = threads};
    struct frame in = {.format = format, .width = WIDTH, .height = HEIGHT}, scratch = in;
    struct engine *e;
    struct error err;

    (void)setenv("BILATCAM_CPU", set, 1);
    assert_int_equal(engine_simd.create(&e, &config, &err), 0);
    assert_int_equal(frame_alloc(&in), 0);
    assert_int_equal(frame_alloc(&scratch), 0);
    for (int t = 0; t < FRAMES; t++) {
        out[t] = frame_like(&in);
        assert_int_equal(frame_alloc(&out[t]), 0);
        paint(&in, &scratch, t);
        in.t_capture_ns += 33333333;
        assert_int_equal(engine_simd.submit(e, &in, &out[t], f), 0);
        assert_int_equal(engine_simd.collect(e), 0);
    }
    engine_simd.destroy(e);
    frame_free(&in);
    frame_free(&scratch);
}

/* Compares with the plain C kernels on one thread. */
static void check(const char *set, int threads, enum frame_format format, const struct filter *f,
                  const struct frame want[FRAMES])
{
    struct frame got[FRAMES];

    run(set, threads, format, f, got);
    for (int t = 0; t < FRAMES; t++) {
        assert_true(frame_squared_error(&got[t], &want[t]) == 0.0);
        frame_free(&got[t]);
    }
}

static const struct filter filters[] = {
    {.radius = 2, .sigma_space = 1.0, .temporal = 16},
    {.radius = 1, .sigma_space = 1.0, .sigma_color = 20.0, .temporal = 40, .no_search = true},
    {.radius = 1,
     .sigma_space = 1.0,
     .range = RANGE_LORENTZIAN,
     .temporal = 3,
     .temporal_mode = TEMPORAL_WINDOW,
     .sigma_time = 2.0},
};

static void test_same_bytes(void **state)
{
#ifdef __SANITIZE_ADDRESS__ /* takes minutes for all of them */
    static const enum frame_format formats[] = {FRAME_NV12};
#else
    static const enum frame_format formats[] = {FRAME_YUYV, FRAME_NV12, FRAME_I444, FRAME_GREY};
#endif
    static const int threads[] = {2, 3, 5};

    (void)state;
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
        for (size_t k = 0; k < sizeof(formats) / sizeof(formats[0]); k++) {
            struct frame want[FRAMES];

            run("c", 1, formats[k], &filters[i], want);
            for (const struct cpu_row *row = cpu_table; row->kernels; row++)
                if (row->supported())
                    check(row->kernels->name, 1, formats[k], &filters[i], want);
            for (size_t n = 0; n < sizeof(threads) / sizeof(threads[0]); n++)
                check("", threads[n], formats[k], &filters[i], want);
            for (int t = 0; t < FRAMES; t++)
                frame_free(&want[t]);
        }
}

/* The last of FRAMES pictures, of which those from @from on are shown: the first half filtered with
 * @before, the others with @f. */
static void run_change(int from, const struct filter *before, const struct filter *f,
                       struct frame *out)
{
    const struct engine_config config = {.threads = 1};
    struct frame in = {.format = FRAME_YUYV, .width = WIDTH, .height = HEIGHT}, scratch = in;
    struct engine *e;
    struct error err;

    *out = in;
    assert_int_equal(engine_simd.create(&e, &config, &err), 0);
    assert_int_equal(frame_alloc(&in) || frame_alloc(&scratch) || frame_alloc(out), 0);
    for (int t = from; t < FRAMES; t++) {
        paint(&in, &scratch, t);
        in.t_capture_ns = t * INT64_C(33333333);
        assert_int_equal(engine_simd.submit(e, &in, out, t < FRAMES / 2 ? before : f), 0);
        assert_int_equal(engine_simd.collect(e), 0);
    }
    engine_simd.destroy(e);
    frame_free(&in);
    frame_free(&scratch);
}

/* Another mode ends the past, and nothing is left of the filter before. */
static void test_changes(void **state)
{
    static const struct filter kinds[] = {
        {.radius = 2, .sigma_space = 1.0, .sigma_color = 20.0, .temporal = 1},
        {.radius = 2, .sigma_space = 1.0, .sigma_color = 20.0, .temporal = 16},
        {.radius = 2,
         .sigma_space = 1.0,
         .sigma_color = 20.0,
         .temporal = 3,
         .temporal_mode = TEMPORAL_WINDOW},
    };

    (void)state;
    (void)unsetenv("BILATCAM_CPU");
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            struct frame got, want;

            run_change(0, &kinds[i], &kinds[k], &got);
            run_change(i == k ? 0 : FRAMES / 2, &kinds[i], &kinds[k], &want);
            assert_true(frame_squared_error(&got, &want) == 0.0);
            frame_free(&got);
            frame_free(&want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_changes),
    };

    return cmocka_run_group_tests_name("CPU engine in time", tests, NULL, NULL);
}
