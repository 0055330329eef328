/* The preview window on a Wayland screen with two pixels per unit of length, which
 * test_preview.sh provides: a compositor that shows one window, as large as the screen. */
#define SCREENSHOT_OF "root"
#define KEYS_TO "--class weston"
#include "tests/sink/preview/helpers.h"

#include <errno.h>
#include <signal.h>

/* The window has as many pixels as the screen. */
static int write_frame(struct sink *s, struct rgb before, struct rgb after, struct error *err)
{
    struct frame f = make_frame(s, after, after), compared = make_frame(s, before, before);
    int r;

    r = s->ops->write(s, &f, &compared, err);
    frame_free(&compared);
    frame_free(&f);
    return r;
}

/* How much neighbours in a row differ, in the part of the window where nothing is written. */
static int contrast(const struct screenshot *s)
{
    const int x0 = s->width / 10, x1 = s->width * 9 / 10, y = s->height / 3;
    const uint8_t *const row = &s->rgb[(size_t)y * (size_t)s->width * 3];
    int sum = 0;

    for (int x = x0; x < x1; x++)
        sum += abs(row[3 * x + 3] - row[3 * x]);
    return sum / (x1 - x0);
}

/* Lines of one pixel's width are grey where a window has half the pixels. */
static void test_it_uses_all_pixels(void **state)
{
    static struct screenshot shot;
    struct sink *s = open_window(1024, 768);
    struct frame f = make_frame(s, (struct rgb){{0, 0, 0}}, (struct rgb){{0, 0, 0}});
    int seen = -1;

    (void)state;
    for (int y = 0; y < f.height; y++)
        for (int x = 0; x < f.width; x += 2)
            f.plane[0][(size_t)y * f.stride[0] + (size_t)x * 2] = 235;
    assert_int_equal(s->ops->write(s, &f, NULL, NULL), 0);
    for (int i = 0; i < 50 && seen < 200; i++) {
        (void)usleep(100000);
        if (take_screenshot(&shot) && shot.width == 1024 && shot.height == 768)
            seen = contrast(&shot);
    }
    assert_in_range(seen, 200, 255);
    frame_free(&f);
    close_well(s);
}

/* The height of what is bright near the lower edge. */
static int text_height(const struct screenshot *s)
{
    int top = -1, bottom = -1;

    for (int y = s->height * 3 / 4; y < s->height; y++)
        for (int x = 0; x < s->width; x++) {
            if (s->rgb[((size_t)y * (size_t)s->width + (size_t)x) * 3] < 190)
                continue;
            top = top < 0 ? y : top;
            bottom = y;
        }
    return top < 0 ? 0 : bottom - top + 1;
}

/* Capitals are 10 units high, which is 20 pixels here. */
static void test_text_grows_with_the_pixels(void **state)
{
    static struct screenshot shot;
    struct sink *s = open_window(1024, 768);
    int height = 0;

    (void)state;
    assert_int_equal(write_frame(s, blue, blue, NULL), 0);
    expect_halves(blue, blue);
    for (int i = 0; i < 50 && (height < 18 || height > 24); i++) {
        if (i % 10 == 0)
            press("plus");
        (void)usleep(100000);
        if (take_screenshot(&shot))
            height = text_height(&shot);
    }
    assert_in_range(height, 18, 24);
    close_well(s);
}

/* The mouse's places are in units, the line's in pixels. */
static void test_the_line_is_at_the_mouse(void **state)
{
    struct sink *s = open_window(1024, 768);

    (void)state;
    assert_int_equal(write_frame(s, red, blue, NULL), 0);
    expect_halves(blue, blue);
    xdotool("mousemove 512 300 sleep 0.2 mousedown 1 mousemove 400 300 mousemove 256 300 sleep 0.2 "
            "mouseup 1");
    expect_sides(25, red, blue);
    close_well(s);
}

static void test_keys(void **state)
{
    struct sink *s = open_window(1024, 768);

    (void)state;
    assert_int_equal(write_frame(s, red, blue, NULL), 0);
    expect_halves(blue, blue);
    press("b");
    expect_halves(red, red);
    close_well(s);
}

/* The last test, because there is no compositor after it. */
static void test_the_compositor_goes(void **state)
{
    struct sink_config config = window_config(1024, 768);
    struct error err = {.text = ""};
    struct sink *s;
    int r = 0;

    (void)state;
    config.alone = true;
    s = open_well(&config);
    assert_int_equal(write_frame(s, red, blue, NULL), 0);
    expect_halves(blue, blue);
    assert_int_equal(kill(atoi(getenv("WESTON_PID")), SIGKILL), 0);
    for (int i = 0; i < 50 && !r; i++) {
        (void)usleep(100000);
        r = write_frame(s, red, blue, &err);
    }
    assert_int_equal(r, -ENODEV);
    assert_string_equal(err.text, "preview window: the display has gone");
    close_well(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_uses_all_pixels),
        cmocka_unit_test(test_text_grows_with_the_pixels),
        cmocka_unit_test(test_the_line_is_at_the_mouse),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_the_compositor_goes),
    };

    if (!getenv("WAYLAND_DISPLAY") || !getenv("WESTON_PID")) {
        (void)fputs("skipped: run by test_preview.sh\n", stderr);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
