/* Pictures turned upright. */
#include "tests/lib/unit.h"

#include "picture/turn.h"
#include "tests/lib/images.h"

/* Where column @x and row @y of the result come from in a plane of @width and @height. */
static void origin(struct turn t, int width, int height, int *x, int *y)
{
    const int u = t.flip_x ? (t.swap ? height : width) - 1 - *x : *x;
    const int v = t.flip_y ? (t.swap ? width : height) - 1 - *y : *y;

    *x = t.swap ? v : u;
    *y = t.swap ? u : v;
}

static void check(enum frame_format format, int width, int height, struct turn t)
{
    const struct frame from = {.format = turn_format(t, format), .width = width, .height = height};
    const struct frame to = {
        .format = from.format, .width = t.swap ? height : width, .height = t.swap ? width : height};
    struct guarded a, b;

    assert_int_equal(guarded_alloc(&a, &from, 5), 0);
    assert_int_equal(guarded_alloc(&b, &to, 3), 0);
    image_fill(&a.frame, IMAGE_RANDOM, 1);
    image_fill(&b.frame, IMAGE_BLACK, 1);
    guarded_arm(&b);
    turn_frame(&b.frame, &a.frame, t);
    assert_int_equal(guarded_check(&b), 0);
    for (int c = 0; c < format_table[from.format].components; c++) {
        const struct samples s = frame_samples(&b.frame, c), old = frame_samples(&a.frame, c);

        for (int i = 0; i < s.width * s.height; i++) {
            int x = i % s.width, y = i / s.width;

            origin(t, old.width, old.height, &x, &y);
            assert_int_equal(frame_sample(&b.frame, c, i % s.width, i / s.width),
                             frame_sample(&a.frame, c, x, y));
        }
    }
    guarded_free(&a);
    guarded_free(&b);
}

static void test_turns(void **state)
{
    (void)state;
    for (int format = 0; format < FRAME_MJPG; format++)
        for (int i = 0; i < 8; i++) {
            const struct turn t = {.swap = i & 1, .flip_x = i & 2, .flip_y = i & 4};

            assert_int_equal(turn_is_none(t), i == 0);
            check((enum frame_format)format, 34, 18, t);
            check((enum frame_format)format, 2, 64, t);
            if (!t.swap)
                check((enum frame_format)format, 20, 7, t);
        }
}

/* What cannot lie on its side gets more chroma; nothing else changes. */
static void test_formats(void **state)
{
    const struct turn quarter = {.swap = true}, half = {.flip_x = true, .flip_y = true};

    (void)state;
    assert_int_equal(turn_format(quarter, FRAME_YUYV), FRAME_I444);
    assert_int_equal(turn_format(quarter, FRAME_I422), FRAME_I444);
    assert_int_equal(turn_format(half, FRAME_YUYV), FRAME_YUYV);
    assert_int_equal(turn_format(quarter, FRAME_NV12), FRAME_NV12);
    assert_int_equal(turn_format(quarter, FRAME_I420), FRAME_I420);
    assert_int_equal(turn_format(quarter, FRAME_GREY), FRAME_GREY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_formats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
