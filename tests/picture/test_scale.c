/* Pictures fitted into others. */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "picture/scale.h"
#include "tests/lib/images.h"

static struct frame make(enum frame_format format, int width, int height)
{
    struct frame f = {.format = format, .width = width, .height = height};

    assert_int_equal(frame_alloc(&f), 0);
    return f;
}

static int at(const struct frame *f, int component, int x, int y)
{
    return frame_sample(f, component, x, y);
}

/* Writes an 8-bit level. */
static void put(const struct frame *f, int component, int x, int y, int level)
{
    const struct samples s = frame_samples(f, component);
    const uint16_t word = (uint16_t)(level << 8);

    if (format_table[f->format].bytes > 1)
        memcpy(s.base + (size_t)y * s.stride + (size_t)(x * s.step), &word, sizeof(word));
    else
        s.base[(size_t)y * s.stride + (size_t)(x * s.step)] = (uint8_t)level;
}

static void run(struct frame *dst, const struct frame *src)
{
    struct scaler *s;

    assert_int_equal(scaler_create(&s, dst, src), 0);
    assert_true(scaler_suits(s, src));
    scaler_run(s, dst, src);
    scaler_destroy(s);
}

/* Equal sizes: every sample of equal subsampling is kept. */
static void test_same_size(void **state)
{
    struct frame a = make(FRAME_YUYV, 34, 19), b = make(FRAME_I422, 34, 19);

    (void)state;
    image_fill(&a, IMAGE_RANDOM, 1);
    run(&b, &a);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < 19; y++)
            for (int x = 0; x < (c ? 17 : 34); x++)
                assert_int_equal(at(&a, c, x, y), at(&b, c, x, y));
    frame_free(&a);
    frame_free(&b);
}

/* A flat picture stays flat in a rectangle of its own shape, with black around it; every pair of
 * formats, and sizes that leave bars at the sides, above and below, and none. */
static void test_flat(void **state)
{
    static const int sizes[][2] = {{64, 36}, {36, 64}, {2, 2}, {320, 36}, {34, 19}, {128, 72}};

    (void)state;
    for (int from = 0; from < FRAME_MJPG; from++)
        for (int to = 0; to < FRAME_MJPG; to++)
            for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                struct frame a = make((enum frame_format)from, sizes[i][0], sizes[i][1]);
                struct frame b = make((enum frame_format)to, 64, 36);
                const bool grey = format_table[from].components == 1;

                for (int c = 0; c < format_table[from].components; c++) {
                    const struct samples s = frame_samples(&a, c);

                    for (int y = 0; y < s.height; y++)
                        for (int x = 0; x < s.width; x++)
                            put(&a, c, x, y, 100 + 50 * c);
                }
                run(&b, &a);
                for (int c = 0; c < format_table[to].components; c++) {
                    const struct samples s = frame_samples(&b, c);
                    const int unit = format_table[to].bytes > 1 ? 256 : 1;
                    const int inside = (c && grey ? 128 : 100 + 50 * c) * unit;
                    int n = 0;

                    assert_int_equal(at(&b, c, s.width / 2, s.height / 2), inside);
                    for (int y = 0; y < s.height; y++)
                        for (int x = 0; x < s.width; x++) {
                            n += at(&b, c, x, y) == inside;
                            if (at(&b, c, x, y) != inside)
                                assert_int_equal(at(&b, c, x, y), (c ? 128 : 16) * unit);
                        }
                    if (sizes[i][0] * 36 == sizes[i][1] * 64)
                        assert_int_equal(n, s.width * s.height);
                }
                frame_free(&a);
                frame_free(&b);
            }
}

/* A ramp stays a ramp. */
static void test_ramp(void **state)
{
    struct frame a = make(FRAME_GREY, 100, 50), b = make(FRAME_GREY, 200, 100);

    (void)state;
    for (int y = 0; y < 50; y++)
        for (int x = 0; x < 100; x++)
            a.plane[0][(size_t)y * a.stride[0] + (size_t)x] = (uint8_t)(2 * x);
    run(&b, &a);
    for (int x = 1; x < 199; x++)
        assert_in_range(at(&b, 0, x, 50), x - 1, x + 1);
    frame_free(&a);
    frame_free(&b);
}

/* Words are fitted as finely as they are. */
static void test_words(void **state)
{
    struct frame a = make(FRAME_GREY16, 100, 2), b = make(FRAME_GREY16, 400, 8);

    (void)state;
    for (int x = 0; x < 200; x++)
        ((uint16_t *)(void *)(a.plane[0] + (size_t)(x / 100) * a.stride[0]))[x % 100] =
            (uint16_t)(65535 - x % 100 * 40);
    run(&b, &a);
    for (int x = 2; x < 398; x++)
        assert_in_range(at(&b, 0, x, 4), 65535 - (10 * x - 15) - 1, 65535 - (10 * x - 15) + 1);
    frame_free(&a);
    frame_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_size),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_ramp),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
