/* Levels of 16-bit grey brought to the whole range. */
#include "tests/lib/unit.h"

#include "picture/stretch.h"

enum { WIDTH = 40, HEIGHT = 50 };

/* All of @level, but for one pixel in the corner. */
static struct frame make(int level, int corner, enum colour_range range)
{
    static uint16_t words[WIDTH * HEIGHT];

    for (int i = 0; i < WIDTH * HEIGHT; i++)
        words[i] = (uint16_t)(level + i % 200);
    words[0] = (uint16_t)corner;
    return (struct frame){.format = FRAME_GREY16,
                          .width = WIDTH,
                          .height = HEIGHT,
                          .colour = {COLOUR_BT601, range},
                          .plane = {(uint8_t *)words},
                          .stride = {WIDTH * sizeof(words[0])}};
}

static int at(const struct frame *f, int x)
{
    return frame_sample(f, 0, x, 0);
}

static void test_given(void **state)
{
    struct stretch s = {.min = 1000, .max = 1100};
    struct frame f = make(990, 60000, COLOUR_FULL);

    (void)state;
    stretch_frame(&s, &f);
    assert_int_equal(at(&f, 0), 65535);
    assert_int_equal(at(&f, 1), 0);
    assert_int_equal(at(&f, 10), 0);
    assert_int_equal(at(&f, 35), 65535 / 4 + 1);
    assert_int_equal(frame_sample(&f, 0, 110 % WIDTH, 110 / WIDTH), 65535);
    f = make(990, 0, COLOUR_LIMITED);
    stretch_frame(&s, &f);
    assert_int_equal(at(&f, 0), 16 * 256);
    assert_int_equal(frame_sample(&f, 0, 130 % WIDTH, 130 / WIDTH), 235 * 256);
}

/* What is off, or of another format, stays. */
static void test_left_alone(void **state)
{
    struct stretch off = {0}, on = {.min = 1000, .max = 1100};
    struct frame f = make(990, 60000, COLOUR_FULL);

    (void)state;
    stretch_frame(&off, &f);
    assert_int_equal(at(&f, 35), 1025);
    f.format = FRAME_GREY;
    stretch_frame(&on, &f);
    f.format = FRAME_GREY16;
    assert_int_equal(at(&f, 35), 1025);
}

/* A dead pixel does not count, and what comes later is followed slowly. */
static void test_auto(void **state)
{
    struct stretch s = {.min = STRETCH_AUTO, .max = STRETCH_AUTO};
    struct frame f = make(1600, 65535, COLOUR_FULL);
    int n = 0;

    (void)state;
    stretch_frame(&s, &f);
    assert_int_equal(at(&f, 0), 65535);
    assert_in_range(at(&f, 1), 0, 1200);
    assert_in_range(frame_sample(&f, 0, 199 % WIDTH, 199 / WIDTH), 61000, 65535);
    f = make(9600, 65535, COLOUR_FULL);
    stretch_frame(&s, &f);
    assert_true(s.low > 1600.0 && s.low < 4000.0);
    for (; s.low < 9590.0 && n < 1000; n++) {
        f = make(9600, 65535, COLOUR_FULL);
        stretch_frame(&s, &f);
    }
    assert_in_range(n, 8, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_left_alone),
        cmocka_unit_test(test_auto),
    };

    return cmocka_run_group_tests_name("stretch", tests, NULL, NULL);
}
