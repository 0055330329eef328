/* The preview window on a Wayland screen with two pixels per unit of length, which
 * test_preview.sh provides: a compositor that shows one window, as large as the screen. */
#define SCREENSHOT_OF "root"
#define KEYS_TO "--class weston"
#include "tests/sink/preview/helpers.h"

#include <errno.h>
#include <signal.h>

static void quit(void *user)
{
    (void)user;
}

static void status(void *user, struct status *ret)
{
    (void)user;
    memset(ret, 0, sizeof(*ret));
}

static void adjust(void *user, const char *key, int steps, char *text, size_t size)
{
    (void)user;
    (void)key;
    (void)steps;
    (void)snprintf(text, size, "HHHHHHHH");
}

static const struct sink_control control = {NULL, status, adjust, quit};

/* As many pixels as the screen has. */
static struct sink *open_window(bool alone)
{
    const struct sink_config config = {
        .name = "preview",
        .picture = {.format = FRAME_YUYV, .width = 1024, .height = 768},
        .format = -1,
        .fps = {30, 1},
        .stop_fd = -1,
        .alone = alone,
        .control = &control,
    };
    struct error err = {0};
    struct sink *s = NULL;

    if (sink_preview.open(&s, &config, &err))
        fail_msg("%s", err.text);
    return s;
}

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
    struct sink *s = open_window(false);
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
    assert_int_equal(s->ops->close(s, NULL), 0);
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
    struct sink *s = open_window(false);
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
    assert_int_equal(s->ops->close(s, NULL), 0);
}

/* The mouse's places are in units, the line's in pixels. */
static void test_the_line_is_at_the_mouse(void **state)
{
    struct sink *s = open_window(false);

    (void)state;
    assert_int_equal(write_frame(s, red, blue, NULL), 0);
    expect_halves(blue, blue);
    xdotool("mousemove 512 300 sleep 0.2 mousedown 1 mousemove 400 300 mousemove 256 300 sleep 0.2 "
            "mouseup 1");
    expect_sides(25, red, blue);
    assert_int_equal(s->ops->close(s, NULL), 0);
}

static void test_keys(void **state)
{
    struct sink *s = open_window(false);

    (void)state;
    assert_int_equal(write_frame(s, red, blue, NULL), 0);
    expect_halves(blue, blue);
    press("b");
    expect_halves(red, red);
    assert_int_equal(s->ops->close(s, NULL), 0);
}

/* The last test, because there is no compositor after it. */
static void test_the_compositor_goes(void **state)
{
    struct sink *s = open_window(true);
    struct error err = {.text = ""};
    int r = 0;

    (void)state;
    assert_int_equal(write_frame(s, red, blue, NULL), 0);
    expect_halves(blue, blue);
    assert_int_equal(kill(atoi(getenv("WESTON_PID")), SIGKILL), 0);
    for (int i = 0; i < 50 && !r; i++) {
        (void)usleep(100000);
        r = write_frame(s, red, blue, &err);
    }
    assert_int_equal(r, -ENODEV);
    assert_string_equal(err.text, "preview window: the display has gone");
    assert_int_equal(s->ops->close(s, NULL), 0);
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
