/* Keys and mouse in the preview window, pressed by xdotool on a display that test_preview.sh
 * provides, and what screenshots then show. */
#include "tests/sink/preview/helpers.h"

#include <SDL.h>

#include "picture/colour.h"

/* Drags the mouse from one place to another, in percent of a window of 320 x 240. */
static void drag(int from, int to)
{
    char what[160];

    (void)snprintf(what, sizeof(what),
                   "mousemove --window %%1 %d 90 mousedown 1 mousemove --window %%1 %d 90 "
                   "mousemove --window %%1 %d 90 mouseup 1",
                   from * 320 / 100, (from + to) * 160 / 100, to * 320 / 100);
    xdotool(what);
}

/* -------------------------------------------------------------------- views */

static void test_b_toggles(void **state)
{
    struct sink *s = open_pair(red, blue);

    (void)state;
    press("b");
    expect_halves(red, red);
    press("b");
    expect_halves(blue, blue);
    close_well(s);
}

static void test_the_line_parts_before_and_after(void **state)
{
    struct sink *s = open_pair(red, blue);

    (void)state;
    press("v");
    expect_sides(50, red, blue);
    drag(50, 75);
    expect_sides(75, red, blue);
    drag(30, 25); /* the line comes to where the mouse is pressed */
    expect_sides(25, red, blue);
    press("Right");
    press("Right");
    expect_sides(29, red, blue);
    write_pair(s, make_frame(s, blue, blue), make_frame(s, red, red));
    expect_sides(29, blue, red);
    press("v");
    expect_halves(red, red);
    close_well(s);
}

static void test_dragging_alone_makes_a_line(void **state)
{
    struct sink *s = open_pair(red, blue);

    (void)state;
    drag(40, 60);
    expect_sides(60, red, blue);
    drag(60, 0);
    expect_halves(blue, blue);
    drag(40, 60);
    expect_sides(60, red, blue);
    drag(60, 100);
    expect_halves(red, red);
    close_well(s);
}

/* The card comes without a picture before the filter, and is there to be read. */
static void test_the_card(void **state)
{
    struct sink *s = open_pair(red, blue);
    struct frame f = make_frame(s, blue, red);

    (void)state;
    press("b");
    expect_halves(red, red);
    press("m");
    assert_int_equal(s->ops->write(s, &f, NULL, NULL), 0);
    expect_halves(blue, red);
    press("v");
    expect_halves(blue, red);
    write_pair(s, make_frame(s, red, red), make_frame(s, blue, blue));
    expect_sides(50, red, blue);
    frame_free(&f);
    close_well(s);
}

static void test_m_mirrors(void **state)
{
    struct sink *s = open_window(320, 240);

    (void)state;
    write_pair(s, make_frame(s, blue, blue), make_frame(s, red, blue));
    expect_halves(red, blue);
    press("m");
    expect_halves(blue, red);
    press("m");
    expect_halves(red, blue);
    close_well(s);
}

static void test_space_freezes(void **state)
{
    struct sink *s = open_pair(red, blue);

    (void)state;
    press("space");
    (void)usleep(500000);
    write_pair(s, make_frame(s, blue, blue), make_frame(s, red, blue));
    (void)usleep(500000);
    expect_halves(blue, blue);
    press("v");
    expect_sides(50, red, blue);
    press("v");
    press("space");
    expect_halves(red, blue);
    close_well(s);
}

/* Without a window manager the window keeps its size; but Escape undoes f, and does not quit. */
static void test_f_and_escape(void **state)
{
    struct sink *s = open_pair(red, blue);

    (void)state;
    press("f");
    (void)usleep(500000);
    press("Escape");
    expect_halves(blue, blue);
    assert_int_equal(quits(), 0);
    close_well(s);
}

/* A picture of 320 x 240 with counts in halves of a frame: @left in its left half, @right in the
 * other. */
static struct frame make_counted(const struct sink *s, struct rgb c, uint8_t left, uint8_t right)
{
    static uint8_t counts[30][40];
    struct frame f = make_frame(s, c, c);

    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 40; x++)
            counts[y][x] = x < 20 ? left : right;
    f.counts = counts[0];
    return f;
}

/* The map on red. */
static const struct rgb one_frame = {{43, 19, 23}}, all_frames = {{159, 184, 207}};

static void test_c_shows_the_map(void **state)
{
    struct sink *s = open_pair(blue, red);

    (void)state;
    press("c"); /* there are no counts yet */
    write_pair(s, make_frame(s, blue, blue), make_frame(s, blue, red));
    expect_halves(blue, red);
    write_pair(s, make_frame(s, blue, blue), make_counted(s, red, 2, 32));
    expect_halves(red, red);
    press("c");
    expect_halves(one_frame, all_frames);
    press("v");
    expect_sides(50, blue, all_frames);
    drag(50, 75);
    expect_sides(75, blue, all_frames);
    press("v");
    expect_halves(one_frame, all_frames);
    press("m");
    expect_halves(all_frames, one_frame);
    press("b");
    expect_halves(blue, blue);
    press("b");
    expect_halves(all_frames, one_frame);
    /* One that has none is seen as it is, whatever was in its memory. */
    for (int i = 0; i < 4; i++) {
        write_pair(s, make_frame(s, blue, blue),
                   i % 2 ? make_frame(s, red, blue) : make_frame(s, blue, red));
        expect_halves(i % 2 ? blue : red, i % 2 ? red : blue);
    }
    write_pair(s, make_frame(s, blue, blue), make_counted(s, red, 2, 2));
    expect_halves(one_frame, one_frame);
    write_pair(s, make_frame(s, blue, blue), make_counted(s, red, 32, 2));
    expect_halves(one_frame, all_frames); /* it is mirrored */
    press("c");
    expect_halves(red, red);
    close_well(s);
}

/* -------------------------------------------------------------------- texts */

static struct sink *open_large(void)
{
    struct sink *s = open_window(640, 480);

    write_pair(s, make_frame(s, red, red), make_frame(s, blue, blue));
    expect_halves(blue, blue);
    return s;
}

static void test_o_shows_statistics(void **state)
{
    struct sink *s = open_large();

    (void)state;
    expect_text(0, 0, 2, 2, 48, 48);
    press("o");
    expect_text(400, 10000, 2, 2, 48, 48);
    press("o");
    expect_text(0, 0, 2, 2, 48, 48);
    close_well(s);
}

static void test_h_shows_help(void **state)
{
    struct sink *s = open_large();

    (void)state;
    expect_text(0, 0, 25, 25, 75, 65);
    press("h");
    expect_text(100, 10000, 25, 25, 75, 65);
    press("Escape");
    expect_text(0, 0, 25, 25, 75, 65);
    assert_int_equal(quits(), 0);
    close_well(s);
}

static void test_messages_fade(void **state)
{
    struct sink *s = open_large();

    (void)state;
    expect_text(0, 0, 2, 70, 98, 98); /* the one at the start has gone */
    press("plus");
    expect_text(20, 2000, 2, 70, 98, 98);
    expect_text(0, 0, 2, 70, 98, 98);
    close_well(s);
}

static void test_keys_adjust(void **state)
{
    /* 86 is the plus of the number pad, by its code: by its name xdotool may hold Alt as well. */
    static const char *const keys[] = {
        "plus", "equal", "minus", "bracketright", "bracketleft", "period", "comma", "86", "t"};
    static const char wanted[] = "radius +1;radius +1;radius -1;sigma-color +1;sigma-color -1;"
                                 "sigma-space +1;sigma-space -1;radius +1;time +0;";
    struct sink *s = open_pair(red, blue);
    char seen[sizeof(adjusted)] = "";

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        press(keys[i]);
    for (int i = 0; i < 50 && strcmp(seen, wanted); i++) {
        (void)usleep(100000);
        (void)pthread_mutex_lock(&lock);
        memcpy(seen, adjusted, sizeof(seen));
        (void)pthread_mutex_unlock(&lock);
    }
    assert_string_equal(seen, wanted);
    close_well(s);
}

/* ------------------------------------------------------------------- ending */

static void test_keys_quit(void **state)
{
    static const char *const keys[] = {"q", "Escape"};

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct sink *s = open_pair(red, blue);

        assert_int_equal(quits(), 0);
        press(keys[i]);
        expect_quits(1);
        /* Frames still come until the program has ended. */
        write_pair(s, make_frame(s, red, red), make_frame(s, blue, red));
        expect_halves(blue, red);
        close_well(s);
    }
}

static bool window_is_there(void)
{
    return !system("timeout 5 xdotool search --name '^bilatcam$' > /dev/null 2>&1");
}

/* What a window manager's close button leads to. */
static void click_close(void)
{
    SDL_Event e = {.window = {.type = SDL_WINDOWEVENT, .event = SDL_WINDOWEVENT_CLOSE}};

    assert_int_equal(SDL_PushEvent(&e), 1);
}

static void test_closing_the_window(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        struct sink_config config = window_config(320, 240);
        struct sink *s;

        config.alone = alone;
        s = open_well(&config);
        write_pair(s, make_frame(s, red, red), make_frame(s, blue, blue));
        expect_halves(blue, blue);
        click_close();
        for (int i = 0; i < 50 && window_is_there(); i++)
            (void)usleep(100000);
        assert_false(window_is_there());
        expect_quits(alone);
        for (int i = 0; i < 100; i++)
            write_pair(s, make_frame(s, red, red), make_frame(s, blue, blue));
        close_well(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_b_toggles),
        cmocka_unit_test(test_the_line_parts_before_and_after),
        cmocka_unit_test(test_dragging_alone_makes_a_line),
        cmocka_unit_test(test_the_card),
        cmocka_unit_test(test_m_mirrors),
        cmocka_unit_test(test_space_freezes),
        cmocka_unit_test(test_c_shows_the_map),
        cmocka_unit_test(test_f_and_escape),
        cmocka_unit_test(test_o_shows_statistics),
        cmocka_unit_test(test_h_shows_help),
        cmocka_unit_test(test_messages_fade),
        cmocka_unit_test(test_keys_adjust),
        cmocka_unit_test(test_keys_quit),
        cmocka_unit_test(test_closing_the_window),
    };

    if (!getenv("DISPLAY") || !getenv("XVFB_PID")) {
        (void)fputs("skipped: run by test_preview.sh\n", stderr);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
