/* The mean over frames where the light changes, and what a change of light must not be taken for.
 */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>

#include "tests/engine/time/film.h"
#include "tests/lib/images.h"

/* A lamp or an exposure that changes slowly is followed, and what was averaged is kept. */
static void test_light_is_followed(void **state)
{
    struct film f;

    (void)state;
    film_open(&f, FRAME_YUYV, 16);
    film_run(&f, 16);
    for (int t = 1; t <= 20; t++) {
        film_paint(&f, 6, 2 * t);
        film_add(&f);
    }
    assert_in_range(10 * film_count(&f), 80, 160);
    assert_true(film_rms(&f, 0, 40) < 2.2); /* 3.7 in a raw frame */
    film_close(&f);
}

/* Nor is it taken for something new where it jumps by several times the noise. */
static void test_light_that_jumps(void **state)
{
    struct film f;

    (void)state;
    film_open(&f, FRAME_YUYV, 16);
    film_run(&f, 16);
    film_paint(&f, 6, 20);
    film_add(&f);
    assert_in_range(10 * film_count(&f), 60, 160);
    film_close(&f);
}

/* Smooths a plane as cameras that interpolate colours do. */
static void soften(const struct frame *f, int component)
{
    const struct samples s = frame_samples(f, component);
    static uint8_t from[HEIGHT][WIDTH];

    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++)
            from[y][x] = *film_at(f, component, x, y);
    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++) {
            int sum = 8;

            for (int i = 0; i < 9; i++)
                sum += (2 - abs(i % 3 - 1)) * (2 - abs(i / 3 - 1)) *
                       from[frame_nearest(y + i / 3 - 1, s.height)]
                           [frame_nearest(x + i % 3 - 1, s.width)];
            *film_at(f, component, x, y) = (uint8_t)(sum / 16);
        }
}

/* Noise that neighbours share scatters more, and is still no motion. */
static void test_smooth_noise(void **state)
{
    struct film f;

    (void)state;
    film_open(&f, FRAME_I444, 16);
    f.no_search = true;
    for (int t = 0; t < 24; t++) {
        film_paint(&f, 20, 0);
        for (int i = 0; i < 2; i++)
            for (int c = 0; c < 3; c++)
                soften(&f.frame, c);
        film_add(&f);
    }
    assert_in_range(10 * film_count(&f), 90, 160);
    film_close(&f);
}

/* A frame with blotches of colour. */
static void paint_blotches(struct film *f)
{
    film_paint_component(f, 0, 4, 0);
    for (int c = 1; c < 3; c++) {
        film_paint_component(f, c, 40, 0);
        for (int i = 0; i < 3; i++)
            soften(&f->frame, c);
    }
}

/* What is left of them after 25 frames of which each second one is brighter by @percent. */
static double rms_of_blotches(int percent)
{
    struct film f;
    double ret;

    film_open(&f, FRAME_I444, 16);
    f.no_search = true;
    for (int t = 0; t < 25; t++) {
        f.brighter = t % 2 ? percent : 0;
        paint_blotches(&f);
        film_add(&f);
    }
    ret = film_rms(&f, 1, 0);
    film_close(&f);
    return ret;
}

/* Colours change with the light, and their noise is not taken for a part of that. */
static void test_light_without_noise(void **state)
{
    (void)state;
    assert_true(rms_of_blotches(12) < 1.1 * rms_of_blotches(0));
}

static void check_colours_follow_light(enum frame_format format)
{
    struct film f;

    film_open(&f, format, 16);
    f.no_search = true;
    f.stripes = 40;
    film_run(&f, 16);
    for (f.brighter = 2; f.brighter <= 30; f.brighter += 2) {
        film_paint(&f, 6, 0);
        film_add(&f);
    }
    f.brighter -= 2;
    assert_in_range(10 * film_count(&f), 90, 160);
    for (int c = 0; c < 3; c++)
        assert_true(film_rms(&f, c, 0) < 1.3); /* 3.7 in a raw frame */
    film_close(&f);
}

/* Light that gets brighter makes all colours stronger. They are followed, and stay averaged, beside
 * other colours too. */
static void test_colours_follow_light(void **state)
{
    (void)state;
    check_colours_follow_light(FRAME_I444);
    check_colours_follow_light(FRAME_RGB24);
}

/* So they do where the light flickers. */
static void test_stripes_that_flicker(void **state)
{
    struct film f;

    (void)state;
    film_open(&f, FRAME_I444, 16);
    f.no_search = true;
    f.stripes = 40;
    for (int t = 0; t < 39; t++) {
        f.brighter = t > 16 && t % 2 ? 12 : 0;
        film_paint(&f, 6, 0);
        film_add(&f);
    }
    assert_true(film_rms(&f, 1, 0) < 1.6); /* 3.7 in a raw frame */
    film_close(&f);
}

/* What moves is followed while the light changes. */
static void test_light_on_what_moves(void **state)
{
    struct film f;

    (void)state;
    film_open(&f, FRAME_I444, 16);
    f.stripes = 20;
    for (int t = 1; t <= 24; t++) {
        f.right = 3 * t;
        f.brighter = t < 12 ? 0 : 2 * (t - 12);
        film_paint(&f, 6, 0);
        film_add(&f);
    }
    assert_in_range(10 * film_count(&f), 40, 160);
    for (int c = 0; c < 3; c++)
        assert_true(film_rms(&f, c, 0) < 2.3); /* 3.7 in a raw frame */
    film_close(&f);
}

/* Nor is it something new when the light gets another colour. */
static void test_colour_of_light(void **state)
{
    struct film f;

    (void)state;
    film_open(&f, FRAME_I444, 16);
    f.no_search = true;
    film_run(&f, 16);
    for (f.bluer = 1; f.bluer < 20; f.bluer++) {
        film_paint(&f, 6, 0);
        film_add(&f);
    }
    f.bluer--;
    assert_in_range(10 * film_count(&f), 70, 160);
    assert_true(film_rms(&f, 1, 0) < 1.5);
    film_close(&f);
}

/* Nor where it gets another colour all over the picture at once, and brighter or darker, too. */
static void test_light_of_another_shot(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        static const enum frame_format formats[3] = {FRAME_I444, FRAME_YUYV, FRAME_I420};
        struct film f;

        film_open_sized(&f, formats[i % 3], 112, 96, 16); /* enough blocks to tell */
        f.no_search = i < 3;
        f.right = i < 3 ? 0 : 1; /* something that can be followed */
        film_run(&f, 16);
        f.tint = i % 2 ? 15 : -15;
        f.brighter = i % 3 * 6 - 6;
        film_paint(&f, 6, 0);
        film_add(&f);
        assert_in_range(10 * film_count(&f), 80, 160);
        assert_true(film_rms(&f, 1, 0) < 2.0); /* 3.7 in a raw frame */
        film_close(&f);
    }
}

/* What has no part in it keeps its mean: here a wall that is too bright for the camera. */
static void test_light_beside_white(void **state)
{
    struct film f;
    double sum = 0.0;

    (void)state;
    film_open_sized(&f, FRAME_I444, 112, 96, 16);
    for (int t = 0; t < 17; t++) {
        f.tint = t == 16 ? 15 : 0;
        film_paint(&f, 6, 0);
        for (int c = 0; c < 3; c++)
            for (int y = 0; y < 96; y++)
                for (int x = 64; x < 112; x++)
                    *film_at(&f.frame, c, x, y) =
                        (uint8_t)((c ? 125 : 240) + random_next(&f.seed) % 7);
        film_add(&f);
    }
    for (int y = 8; y < 88; y++)
        for (int x = 72; x < 104; x++)
            sum += average_count(f.average, x, y);
    assert_in_range(10 * sum / (80 * 32), 120, 160);
    film_close(&f);
}

/* Another scene is no light, even if it is bluer all over. */
static void test_cut_to_another_colour(void **state)
{
    struct film f;

    (void)state;
    film_open_sized(&f, FRAME_I444, 112, 96, 16);
    f.right = 1;
    film_run(&f, 16);
    f.right = 61;
    f.tint = 15;
    film_paint(&f, 6, 0);
    film_add(&f);
    assert_in_range(10 * film_count(&f), 10, 40);
    film_close(&f);
}

/* Something as bright as what it covers moves on, below blotches: how much of its colour is left.
 */
static void test_colour_alone_moves(void **state)
{
    struct film f;
    double sum = 0.0;

    (void)state;
    film_open(&f, FRAME_I444, 16);
    f.no_search = true;
    for (int t = 0; t < 17; t++) {
        paint_blotches(&f);
        for (int y = 12; y < 36 && t < 16; y++)
            for (int x = 20; x < 44; x++)
                *film_at(&f.frame, 2, x, y) = (uint8_t)(*film_at(&f.frame, 2, x, y) - 24);
        film_add(&f);
    }
    for (int y = 12; y < 36; y++)
        for (int x = 20; x < 44; x++)
            sum += average_level(f.average, 2, x, y) - film_clean(&f, 2, x, y);
    assert_true(fabs(sum / (24 * 24)) < 4.0);
    film_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_light_is_followed),     cmocka_unit_test(test_light_that_jumps),
        cmocka_unit_test(test_smooth_noise),          cmocka_unit_test(test_light_without_noise),
        cmocka_unit_test(test_colours_follow_light),  cmocka_unit_test(test_stripes_that_flicker),
        cmocka_unit_test(test_light_on_what_moves),   cmocka_unit_test(test_colour_of_light),
        cmocka_unit_test(test_light_of_another_shot), cmocka_unit_test(test_light_beside_white),
        cmocka_unit_test(test_cut_to_another_colour), cmocka_unit_test(test_colour_alone_moves),
    };

    return cmocka_run_group_tests_name("average-light", tests, NULL, NULL);
}
