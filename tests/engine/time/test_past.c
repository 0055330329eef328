/* Which frames go on from the one before. */
#include "tests/lib/unit.h"

#include "engine/time/past.h"

#define MS INT64_C(1000000)

struct stream {
    struct past past;
    struct frame x;
    struct filter f;
};

static struct stream begin(void)
{
    return (struct stream){
        .x = {.format = FRAME_YUYV, .width = 64, .height = 48, .t_capture_ns = 1000 * MS},
        .f = {.radius = 3, .sigma_color = 20.0, .temporal = 8}};
}

/* After @n_lost others. */
static bool next_but(struct stream *s, int n_lost, int ms)
{
    s->x.t_capture_ns += ms * MS;
    s->x.seq += (uint64_t)n_lost + 1;
    return past_goes_on(&s->past, &s->x, &s->f);
}

static bool next(struct stream *s, int ms)
{
    return next_but(s, 0, ms);
}

static void test_frames_follow(void **state)
{
    struct stream s = begin();

    (void)state;
    assert_false(next(&s, 33)); /* the first */
    for (int i = 0; i < 20; i++)
        assert_true(next(&s, 33));
    assert_true(next_but(&s, 6, 250));
    assert_false(next_but(&s, 1, 251));
    assert_false(next_but(&s, -1, 251)); /* another stream, though nobody said so */
    assert_true(next(&s, 33));
    assert_true(next(&s, 2000)); /* a slow camera, or a file that is filtered slowly */
    assert_true(next(&s, -500)); /* a clock that was set back */
    s.f.radius = 0;              /* the governor's business */
    s.f.sigma_color = 0.0;
    s.f.no_search = true;
    assert_true(next(&s, 33));
    past_forget(&s.past);
    assert_false(next(&s, 33));
    assert_true(next(&s, 33));
}

static void test_another_picture_ends_it(void **state)
{
    struct stream s = begin();

    (void)state;
    (void)next(&s, 33);
    s.x.format = FRAME_UYVY;
    assert_false(next(&s, 33));
    s.x.width = 66;
    assert_false(next(&s, 33));
    s.x.height = 50;
    assert_false(next(&s, 33));
    s.x.colour.matrix = COLOUR_BT709;
    assert_false(next(&s, 33));
    s.x.colour.range = COLOUR_FULL;
    assert_false(next(&s, 33));
    assert_true(next(&s, 33));
}

static void test_another_filter_ends_it(void **state)
{
    struct stream s = begin();

    (void)state;
    (void)next(&s, 33);
    s.f.temporal = 4;
    assert_false(next(&s, 33));
    s.f.temporal_mode = TEMPORAL_WINDOW;
    assert_false(next(&s, 33));
    assert_true(next(&s, 33));
}

/* A frame that is filtered by itself is remembered by nobody. */
static void test_filter_without_a_past(void **state)
{
    struct stream s = begin();

    (void)state;
    s.f.temporal = 1;
    assert_false(next(&s, 33));
    assert_false(next(&s, 33));
    s.f.sigma_color = 0.0; /* from the noise */
    assert_false(next(&s, 33));
    assert_true(next(&s, 33));
    s.f.radius = 0;
    assert_false(next(&s, 33));
    s.f.radius = 3;
    assert_false(next(&s, 33));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_follow),
        cmocka_unit_test(test_another_picture_ends_it),
        cmocka_unit_test(test_another_filter_ends_it),
        cmocka_unit_test(test_filter_without_a_past),
    };

    return cmocka_run_group_tests_name("past of engines", tests, NULL, NULL);
}
