/* The mean over frames: what it must be where that can be said without computing it again. */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/time/average.h"
#include "engine/time/stored.h"
#include "tests/lib/images.h"

#define WIDTH 64
#define HEIGHT 48

struct film {
    struct frame frame;
    struct average *average;
    uint64_t seed;
    int frames;
    bool no_search;
};

static void open_film(struct film *f, enum frame_format format, int frames)
{
    *f = (struct film){.seed = 7, .frames = frames};
    f->frame = (struct frame){.format = format, .width = WIDTH, .height = HEIGHT};
    assert_int_equal(frame_alloc(&f->frame), 0);
    assert_int_equal(average_create(&f->average), 0);
}

static void close_film(struct film *f)
{
    frame_free(&f->frame);
    average_destroy(f->average);
}

static uint8_t *at(const struct frame *f, int component, int x, int y)
{
    const struct samples s = frame_samples(f, component);

    return &s.base[(size_t)y * s.stride + (size_t)x * (size_t)s.step];
}

/* Shading of which every sample is off by up to @noise, evenly; @light is added. */
static void paint_component(struct film *f, int c, int noise, int light)
{
    const struct samples s = frame_samples(&f->frame, c);

    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++)
            *at(&f->frame, c, x, y) =
                (uint8_t)(100 + x / 2 + y / 3 + light +
                          (noise ? (int)(random_next(&f->seed) % (uint64_t)(2 * noise + 1)) - noise
                                 : 0));
}

static void paint(struct film *f, int noise, int light)
{
    for (int c = 0; c < format_table[f->frame.format].components; c++)
        paint_component(f, c, noise, c ? 0 : light);
}

static void add(struct film *f)
{
    assert_int_equal(average_add(f->average, &f->frame, f->frames, !f->no_search), 0);
}

static double mean_count(const struct film *f)
{
    double sum = 0.0;

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            sum += average_count(f->average, x, y);
    return sum / (WIDTH * HEIGHT);
}

static double rms(const struct film *f, int component, int light)
{
    const struct samples s = frame_samples(&f->frame, component);
    double sum = 0.0;

    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++)
            sum += pow(average_level(f->average, component, x, y) -
                           (100 + x / 2 + y / 3 + (component ? 0 : light)),
                       2.0);
    return sqrt(sum / (s.width * s.height));
}

static void assert_is_raw(const struct film *f)
{
    for (int c = 0; c < format_table[f->frame.format].components; c++) {
        const struct samples s = frame_samples(&f->frame, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++)
                assert_true(average_level(f->average, c, x, y) == *at(&f->frame, c, x, y));
    }
    assert_true(mean_count(f) == 1.0);
}

static void test_first_frame_is_itself(void **state)
{
    static const enum frame_format formats[] = {FRAME_YUYV, FRAME_NV12, FRAME_I444, FRAME_GREY};

    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct film f;

        open_film(&f, formats[i], 16);
        paint(&f, 6, 0);
        add(&f);
        assert_is_raw(&f);
        close_film(&f);
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

        open_film(&f, formats[i], 16);
        for (int t = 0; t < 20; t++) {
            paint(&f, 6, 0);
            add(&f);
            for (int c = 0; c < format_table[formats[i]].components && t == 0; c++)
                first[c] = rms(&f, c, 0);
            if (t < 16)
                assert_in_range(20 * mean_count(&f), 10 * (t + 1), 20 * (t + 1));
        }
        assert_in_range(10 * mean_count(&f), 70, 160);
        for (int c = 0; c < format_table[formats[i]].components; c++)
            assert_in_range(100 * rms(&f, c, 0) / first[c], 10, 33);
        close_film(&f);
    }
}

/* The very bytes again, as some cameras send them: their noise must not count twice. */
static void test_repeated_frame_changes_nothing(void **state)
{
    struct film f;
    double before;

    (void)state;
    open_film(&f, FRAME_YUYV, 16);
    for (int t = 0; t < 3; t++) {
        paint(&f, 6, 0);
        add(&f);
    }
    before = average_level(f.average, 0, 11, 13);
    for (int t = 0; t < 5; t++)
        add(&f);
    assert_true(average_level(f.average, 0, 11, 13) == before);
    assert_in_range(10 * mean_count(&f), 25, 30);
    close_film(&f);
}

static void run(struct film *f, int n)
{
    for (int t = 0; t < n; t++) {
        paint(f, 6, 0);
        add(f);
    }
    assert_true(mean_count(f) > 1.5);
}

static void test_breaks(void **state)
{
    struct film f;

    (void)state;
    open_film(&f, FRAME_YUYV, 16);
    run(&f, 6);
    average_forget(f.average);
    paint(&f, 6, 0);
    add(&f);
    assert_is_raw(&f);

    run(&f, 6);
    f.frame.colour.matrix = COLOUR_BT709;
    paint(&f, 6, 0);
    add(&f);
    assert_is_raw(&f);
    close_film(&f);
}

/* A cut shows nothing of what was before. */
static void test_cut(void **state)
{
    struct film f;

    (void)state;
    open_film(&f, FRAME_YUYV, 16);
    run(&f, 10);
    image_fill(&f.frame, IMAGE_RANDOM, 1);
    add(&f);
    assert_in_range(100 * mean_count(&f), 100, 105);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            assert_true(fabs(average_level(f.average, 0, x, y) - *at(&f.frame, 0, x, y)) < 8.0);
    close_film(&f);
}

/* A faint thing that is thinner than a change of light is seen at once, though no pixel of it
 * differs by more than noise does. */
static void test_faint_things_are_seen(void **state)
{
    struct film f;
    double sum = 0.0;

    (void)state;
    open_film(&f, FRAME_GREY, 16);
    run(&f, 20);
    paint(&f, 6, 0);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 30; x < 33; x++)
            *at(&f.frame, 0, x, y) = (uint8_t)(*at(&f.frame, 0, x, y) + 5);
    add(&f);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 30; x < 33; x++)
            sum += average_level(f.average, 0, x, y) - (100 + x / 2 + y / 3);
    assert_true(sum / (3 * HEIGHT) > 3.0);
    close_film(&f);
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

/* A lamp or an exposure that changes slowly is followed, and what was averaged is kept. */
static void test_light_is_followed(void **state)
{
    struct film f;

    (void)state;
    open_film(&f, FRAME_YUYV, 16);
    run(&f, 16);
    for (int t = 1; t <= 20; t++) {
        paint(&f, 6, 2 * t);
        add(&f);
    }
    assert_in_range(10 * mean_count(&f), 80, 160);
    assert_true(rms(&f, 0, 40) < 2.2); /* 3.7 in a raw frame */
    close_film(&f);
}

/* Nor is it taken for something new where it jumps a little more than the noise does. */
static void test_light_that_jumps(void **state)
{
    struct film f;

    (void)state;
    open_film(&f, FRAME_YUYV, 16);
    run(&f, 16);
    paint(&f, 6, 8);
    add(&f);
    assert_in_range(10 * mean_count(&f), 60, 160);
    close_film(&f);
}

/* Smooths a plane as cameras that interpolate colours do. */
static void soften(const struct frame *f, int component)
{
    const struct samples s = frame_samples(f, component);
    static uint8_t from[HEIGHT][WIDTH];

    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++)
            from[y][x] = *at(f, component, x, y);
    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++) {
            int sum = 8;

            for (int i = 0; i < 9; i++)
                sum += (2 - abs(i % 3 - 1)) * (2 - abs(i / 3 - 1)) *
                       from[frame_nearest(y + i / 3 - 1, s.height)]
                           [frame_nearest(x + i % 3 - 1, s.width)];
            *at(f, component, x, y) = (uint8_t)(sum / 16);
        }
}

/* Noise that neighbours share scatters more, and is still no motion. */
static void test_smooth_noise(void **state)
{
    struct film f;

    (void)state;
    open_film(&f, FRAME_I444, 16);
    f.no_search = true;
    for (int t = 0; t < 24; t++) {
        paint(&f, 20, 0);
        for (int i = 0; i < 2; i++)
            for (int c = 0; c < 3; c++)
                soften(&f.frame, c);
        add(&f);
    }
    assert_in_range(10 * mean_count(&f), 90, 160);
    close_film(&f);
}

/* What is left of blotches of colour after 24 frames whose light goes up and down by @light. */
static double rms_of_blotches(int light)
{
    struct film f;
    double ret;

    open_film(&f, FRAME_I444, 16);
    f.no_search = true;
    for (int t = 0; t < 24; t++) {
        paint_component(&f, 0, 4, t % 2 ? light : 0);
        for (int c = 1; c < 3; c++) {
            paint_component(&f, c, 40, 0);
            for (int i = 0; i < 3; i++)
                soften(&f.frame, c);
        }
        add(&f);
    }
    ret = rms(&f, 1, 0);
    close_film(&f);
    return ret;
}

/* A change of light tells nothing of colours: their noise is not taken for a part of it. */
static void test_light_without_colour(void **state)
{
    (void)state;
    assert_true(rms_of_blotches(12) < 1.1 * rms_of_blotches(0));
}

/* Of two guesses that are alike but for single samples the one that has those wins: a checkerboard
 * that moves. */
static void test_fine_pattern_that_moves(void **state)
{
    struct film f;
    double sum = 0.0;

    (void)state;
    open_film(&f, FRAME_YUYV, 16);
    for (int t = 0; t < 8; t++) {
        paint(&f, 6, 0);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                *at(&f.frame, 0, x, y) = (uint8_t)(*at(&f.frame, 0, x, y) + 40 * ((x + y + t) % 2));
        add(&f);
    }
    for (int y = 8; y < HEIGHT - 8; y++)
        for (int x = 8; x < WIDTH - 8; x++)
            sum += fabs(average_level(f.average, 0, x, y) - (100 + x / 2 + y / 3) -
                        40 * ((x + y + 7) % 2));
    assert_in_range(10 * mean_count(&f), 40, 80);
    assert_true(sum / (WIDTH - 16) / (HEIGHT - 16) < 3.0);
    close_film(&f);
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

        open_film(&f, FRAME_YUYV, 16);
        for (int t = 0; t < 20; t++) {
            uint64_t seed = 3;

            paint(&f, 6, 0);
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH + 40; x++) {
                    const int level = 60 + (int)(random_next(&seed) % 100);

                    if (x >= speed * t && x < speed * t + WIDTH)
                        *at(&f.frame, 0, x - speed * t, y) =
                            (uint8_t)(level + (int)(random_next(&noise) % 21) - 10);
                }
            add(&f);
        }
        for (int y = 8; y < HEIGHT - 8; y++)
            for (int x = 8; x < WIDTH - 48; x++)
                sum += average_count(f.average, x, y);
        assert_in_range(10 * sum / ((WIDTH - 56) * (HEIGHT - 16)), 120, 160);
        close_film(&f);
    }
}

/* A picture that moves is only followed where the search is not left out. */
static void test_search_is_left_out(void **state)
{
    double counts[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct film f;

        open_film(&f, FRAME_YUYV, 16);
        f.no_search = i;
        for (int t = 0; t < 8; t++) {
            uint64_t seed = 3;

            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH + 16; x++) {
                    const int level = 60 + (int)(random_next(&seed) % 100);

                    if (x >= 2 * t && x - 2 * t < WIDTH)
                        *at(&f.frame, 0, x - 2 * t, y) = (uint8_t)level;
                }
            add(&f);
        }
        counts[i] = mean_count(&f);
        close_film(&f);
    }
    assert_true(counts[0] > 3.0);
    assert_true(counts[1] < 2.0);
}

/* What two engines do not agree about fades: the mean of many frames has no drift. */
static void test_no_drift(void **state)
{
    struct film f;

    (void)state;
    open_film(&f, FRAME_GREY, 16);
    for (int t = 0; t < 500; t++) {
        paint(&f, 3, 0);
        add(&f);
    }
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            assert_true(fabs(average_level(f.average, 0, x, y) - (100 + x / 2 + y / 3)) < 3.0);
    assert_true(rms(&f, 0, 0) < 0.9);
    close_film(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_frame_is_itself),
        cmocka_unit_test(test_still_picture_gets_cleaner),
        cmocka_unit_test(test_repeated_frame_changes_nothing),
        cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_faint_things_are_seen),
        cmocka_unit_test(test_stored),
        cmocka_unit_test(test_light_is_followed),
        cmocka_unit_test(test_light_that_jumps),
        cmocka_unit_test(test_smooth_noise),
        cmocka_unit_test(test_light_without_colour),
        cmocka_unit_test(test_fine_pattern_that_moves),
        cmocka_unit_test(test_whole_samples_are_averaged),
        cmocka_unit_test(test_search_is_left_out),
        cmocka_unit_test(test_no_drift),
    };

    return cmocka_run_group_tests_name("average", tests, NULL, NULL);
}
