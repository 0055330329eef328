/* The mean over frames: what it must be where that can be said without computing it again. */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/time/stored.h"
#include "tests/engine/time/film.h"
#include "tests/lib/images.h"

static void assert_is_raw(const struct film *f)
{
    for (int c = 0; c < format_table[f->frame.format].components; c++) {
        const struct samples s = frame_samples(&f->frame, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++)
                assert_true(average_level(f->average, c, x, y) == *film_at(&f->frame, c, x, y));
    }
    assert_true(film_count(f) == 1.0);
}

static void test_first_frame_is_itself(void **state)
{
    static const enum frame_format formats[] = {FRAME_YUYV, FRAME_NV12, FRAME_I444, FRAME_GREY};

    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct film f;

        film_open(&f, formats[i], 16);
        film_paint(&f, 6, 0);
        film_add(&f);
        assert_is_raw(&f);
        film_close(&f);
    }
}

/* A still picture: each frame counts, up to the most, and noise falls as in a mean of so many. */
static void test_still_picture_gets_cleaner(void **state)
{
    static const enum frame_format formats[] = {FRAME_YUYV, FRAME_NV12, FRAME_I444, FRAME_GREY};

    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct film f;
        double first[3] = {0};

        film_open(&f, formats[i], 16);
        for (int t = 0; t < 20; t++) {
            film_paint(&f, 6, 0);
            film_add(&f);
            for (int c = 0; c < format_table[formats[i]].components && t == 0; c++)
                first[c] = film_rms(&f, c, 0);
            if (t < 16)
                assert_in_range(20 * film_count(&f), 10 * (t + 1), 20 * (t + 1));
        }
        assert_in_range(10 * film_count(&f), 70, 160);
        for (int c = 0; c < format_table[formats[i]].components; c++)
            assert_in_range(100 * film_rms(&f, c, 0) / first[c], 10, 33);
        film_close(&f);
    }
}

/* The very bytes again, as some cameras send them: their noise must not count twice. */
static void test_repeated_frame_changes_nothing(void **state)
{
    struct film f;
    double before, frames;

    (void)state;
    film_open(&f, FRAME_YUYV, 16);
    film_run(&f, NOISE_SHOW + 1);
    before = average_level(f.average, 0, 11, 13);
    frames = film_count(&f);
    for (int t = 0; t < 2 * NOISE_STILL; t++)
        film_add(&f);
    assert_true(average_level(f.average, 0, 11, 13) == before);
    assert_true(film_count(&f) == frames);
    film_close(&f);
}

/* What was left of the pictures before is gone from a still of a show, whose upper half is grey. */
static void test_still_of_a_show_is_itself(void **state)
{
    struct film f;

    (void)state;
    film_open(&f, FRAME_YUYV, 16);
    film_run(&f, 6);
    memset(f.frame.plane[0], 128, (size_t)f.frame.height / 2 * f.frame.stride[0]);
    film_add(&f);
    for (int t = 0; t < NOISE_STILL; t++) {
        assert_true(average_noise(f.average, 11, 13) > 2.0);
        film_add(&f);
    }
    assert_is_raw(&f);
    for (int t = 0; t < NOISE_SHOW; t++) {
        assert_true(average_noise(f.average, 11, 13) <= 1.0);
        film_paint(&f, 6, 0);
        film_add(&f);
    }
    film_paint(&f, 6, 0);
    film_add(&f);
    assert_true(average_noise(f.average, 11, 13) > 2.0);
    film_close(&f);
}

static void test_breaks(void **state)
{
    struct film f;

    (void)state;
    film_open(&f, FRAME_YUYV, 16);
    film_run(&f, 6);
    average_forget(f.average);
    film_paint(&f, 6, 0);
    film_add(&f);
    assert_is_raw(&f);

    film_run(&f, 6);
    f.frame.colour.matrix = COLOUR_BT709;
    film_paint(&f, 6, 0);
    film_add(&f);
    assert_is_raw(&f);
    film_close(&f);
}

/* A cut shows nothing of what was before. */
static void test_cut(void **state)
{
    struct film f;

    (void)state;
    film_open(&f, FRAME_YUYV, 16);
    film_run(&f, 10);
    image_fill(&f.frame, IMAGE_RANDOM, 1);
    film_add(&f);
    assert_in_range(100 * film_count(&f), 100, 105);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            assert_true(fabs(average_level(f.average, 0, x, y) - *film_at(&f.frame, 0, x, y)) <
                        8.0);
    film_close(&f);
}

/* A faint thing that is thinner than a change of light is seen at once, though no pixel of it
 * differs by more than noise does. */
static void test_faint_things_are_seen(void **state)
{
    struct film f;
    double sum = 0.0;

    (void)state;
    film_open(&f, FRAME_GREY, 16);
    film_run(&f, 20);
    film_paint(&f, 6, 0);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 30; x < 33; x++)
            *film_at(&f.frame, 0, x, y) = (uint8_t)(*film_at(&f.frame, 0, x, y) + 5);
    film_add(&f);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 30; x < 33; x++)
            sum += average_level(f.average, 0, x, y) - (100 + x / 2 + y / 3);
    assert_true(sum / (3 * HEIGHT) > 3.0);
    film_close(&f);
}

/* What is kept is exact to half a step, and stays in range. */
static void test_stored(void **state)
{
    const struct frame shape = {.format = FRAME_I420, .width = 6, .height = 3};
    struct stored s = {0};

    (void)state;
    assert_true(stored_alloc(&s, &shape));
    for (double v = 0.0; v <= 255.0; v += 0.37) {
        stored_set_level(&s, 2, 2, 1, v);
        assert_true(fabs(stored_level(&s, 2, 2, 1) - v) <= 0.5 / 128);
    }
    for (double n = 1.0; n <= AVERAGE_MAX_FRAMES; n += 0.09) {
        stored_set_count(&s, 2, 1, n);
        assert_true(fabs(stored_count(&s, 2, 1) - n) <= n / 64);
    }
    stored_set_level(&s, 1, 0, 0, -3.0);
    assert_true(stored_level(&s, 1, 0, 0) == 0.0);
    stored_set_level(&s, 1, 0, 0, 300.0);
    assert_true(stored_level(&s, 1, 0, 0) == 32767.0 / 128); /* 15 bits */
    stored_set_level(&s, 1, 2, 1, 9.0);
    assert_true(stored_level(&s, 1, 70, 70) == 9.0); /* the nearest */
    stored_free(&s);
}

/* Of two guesses that are alike but for single samples the one that has those wins: a checkerboard
 * that moves. */
static void test_fine_pattern_that_moves(void **state)
{
    struct film f;
    double sum = 0.0;

    (void)state;
    film_open(&f, FRAME_YUYV, 16);
    for (int t = 0; t < 8; t++) {
        film_paint(&f, 6, 0);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                *film_at(&f.frame, 0, x, y) =
                    (uint8_t)(*film_at(&f.frame, 0, x, y) + 40 * ((x + y + t) % 2));
        film_add(&f);
    }
    for (int y = 8; y < HEIGHT - 8; y++)
        for (int x = 8; x < WIDTH - 8; x++)
            sum += fabs(average_level(f.average, 0, x, y) - (100 + x / 2 + y / 3) -
                        40 * ((x + y + 7) % 2));
    assert_in_range(10 * film_count(&f), 40, 80);
    assert_true(sum / (WIDTH - 16) / (HEIGHT - 16) < 3.0);
    film_close(&f);
}

/* What moves by whole samples is averaged like what stands still: noise alone does not make it
 * doubtful. */
static void test_whole_samples_are_averaged(void **state)
{
    (void)state;
    for (int speed = 1; speed <= 2; speed++) {
        uint64_t noise = 7;
        double sum = 0.0;
        struct film f;

        film_open(&f, FRAME_YUYV, 16);
        for (int t = 0; t < 20; t++) {
            uint64_t seed = 3;

            film_paint(&f, 6, 0);
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH + 40; x++) {
                    const int level = 60 + (int)(random_next(&seed) % 100);

                    if (x >= speed * t && x < speed * t + WIDTH)
                        *film_at(&f.frame, 0, x - speed * t, y) =
                            (uint8_t)(level + (int)(random_next(&noise) % 21) - 10);
                }
            film_add(&f);
        }
        for (int y = 8; y < HEIGHT - 8; y++)
            for (int x = 8; x < WIDTH - 48; x++)
                sum += average_count(f.average, x, y);
        assert_in_range(10 * sum / ((WIDTH - 56) * (HEIGHT - 16)), 120, 160);
        film_close(&f);
    }
}

/* A picture that moves is only followed where the search is not left out. */
static void test_search_is_left_out(void **state)
{
    double counts[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct film f;

        film_open(&f, FRAME_YUYV, 16);
        f.no_search = i;
        for (int t = 0; t < 8; t++) {
            uint64_t seed = 3;

            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH + 16; x++) {
                    const int level = 60 + (int)(random_next(&seed) % 100);

                    if (x >= 2 * t && x - 2 * t < WIDTH)
                        *film_at(&f.frame, 0, x - 2 * t, y) = (uint8_t)level;
                }
            film_add(&f);
        }
        counts[i] = film_count(&f);
        film_close(&f);
    }
    assert_true(counts[0] > 3.0);
    assert_true(counts[1] < 2.0);
}

/* What two engines do not agree about fades: the mean of many frames has no drift. */
static void test_no_drift(void **state)
{
    struct film f;

    (void)state;
    film_open(&f, FRAME_GREY, 16);
    for (int t = 0; t < 500; t++) {
        film_paint(&f, 3, 0);
        film_add(&f);
    }
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            assert_true(fabs(average_level(f.average, 0, x, y) - (100 + x / 2 + y / 3)) < 3.0);
    assert_true(film_rms(&f, 0, 0) < 0.9);
    film_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_frame_is_itself),
        cmocka_unit_test(test_still_picture_gets_cleaner),
        cmocka_unit_test(test_repeated_frame_changes_nothing),
        cmocka_unit_test(test_still_of_a_show_is_itself),
        cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_faint_things_are_seen),
        cmocka_unit_test(test_stored),
        cmocka_unit_test(test_fine_pattern_that_moves),
        cmocka_unit_test(test_whole_samples_are_averaged),
        cmocka_unit_test(test_search_is_left_out),
        cmocka_unit_test(test_no_drift),
    };

    return cmocka_run_group_tests_name("average", tests, NULL, NULL);
}
