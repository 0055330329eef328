/* The preview window, on a display that test_preview.sh provides: what it shows is looked at as a
 * screenshot, and writing to it is timed while the display server stands still. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "colour.h"
#include "sink.h"

static pid_t server;

static void quit(void *user)
{
    (void)!write(*(int *)user, &(uint64_t){1}, sizeof(uint64_t));
}

static void status(void *user, struct sink_status *ret)
{
    (void)user;
    memset(ret, 0, sizeof(*ret));
}

static void adjust(void *user, const char *key, int steps, char *text, size_t size)
{
    (void)user;
    (void)snprintf(text, size, "%s %d", key, steps);
}

static int quit_fd = -1;
static const struct sink_control control = {&quit_fd, status, adjust, quit};

static struct sink_config config_for(enum frame_format format, struct colour colour)
{
    return (struct sink_config){
        .name = "preview",
        .picture = {.format = format, .width = 320, .height = 240, .colour = colour},
        .format = -1,
        .fps = {30, 1},
        .stop_fd = -1,
        .control = &control,
    };
}

static struct sink *open_well(const struct sink_config *config)
{
    struct error err = {0};
    struct sink *s = NULL;

    if (sink_preview.open(&s, config, &err))
        fail_msg("%s", err.text);
    assert_ptr_equal(s->ops, &sink_preview);
    assert_false(s->hold);
    return s;
}

struct rgb {
    int c[3];
};

static const struct rgb red = {{200, 40, 30}}, blue = {{40, 60, 220}}, black = {{0, 0, 0}};

/* Y'CbCr of @c, rounded. */
static void to_yuv(struct rgb c, struct colour colour, uint8_t yuv[3])
{
    const double kr = colour.matrix == COLOUR_BT709 ? 0.2126 : 0.299;
    const double kb = colour.matrix == COLOUR_BT709 ? 0.0722 : 0.114;
    const double luma = kr * c.c[0] + (1.0 - kr - kb) * c.c[1] + kb * c.c[2];
    const bool full = colour.range == COLOUR_FULL;
    const double scale = full ? 1.0 : 224.0 / 255.0;

    yuv[0] = (uint8_t)lround(full ? luma : 16.0 + luma * 219.0 / 255.0);
    yuv[1] = (uint8_t)lround(128.0 + scale * (c.c[2] - luma) / (2.0 * (1.0 - kb)));
    yuv[2] = (uint8_t)lround(128.0 + scale * (c.c[0] - luma) / (2.0 * (1.0 - kr)));
}

/* A frame as @s wants it: @left in its left half, @right in the other. */
static struct frame make_frame(const struct sink *s, struct rgb left, struct rgb right)
{
    struct frame f = s->picture;
    uint8_t yuv[2][3];

    assert_int_equal(frame_alloc(&f), 0);
    to_yuv(left, f.colour, yuv[0]);
    to_yuv(right, f.colour, yuv[1]);
    for (int c = 0; c < format_table[f.format].components; c++) {
        const struct samples p = frame_samples(&f, c);

        for (int y = 0; y < p.height; y++)
            for (int x = 0; x < p.width; x++)
                p.base[(size_t)y * p.stride + (size_t)(x * p.step)] = yuv[2 * x >= p.width][c];
    }
    return f;
}

static void show(struct sink *s, struct rgb left, struct rgb right)
{
    struct frame f = make_frame(s, left, right);

    assert_int_equal(s->ops->write(s, &f, NULL), 0);
    frame_free(&f);
}

/* ------------------------------------------------------------- screenshots */

struct screenshot {
    int width, height;
    uint8_t rgb[1024 * 768 * 3];
};

static bool take_screenshot(struct screenshot *shot)
{
    FILE *f = popen("timeout 5 import -window bilatcam -depth 8 ppm:- 2> /dev/null", "r");
    bool good;

    assert_non_null(f);
    good = fscanf(f, "P6 %d %d 255%*c", &shot->width, &shot->height) == 2 && shot->width <= 1024 &&
           shot->height <= 768;
    if (good) {
        const size_t size = (size_t)shot->width * (size_t)shot->height * 3;

        good = fread(shot->rgb, 1, size, f) == size;
    }
    return !pclose(f) && good;
}

/* The mean of the part from (x0, y0) to (x1, y1), in percent of width and height. */
static struct rgb mean(const struct screenshot *s, int x0, int y0, int x1, int y1)
{
    long sum[3] = {0}, n = 0;

    for (int y = s->height * y0 / 100; y < s->height * y1 / 100; y++)
        for (int x = s->width * x0 / 100; x < s->width * x1 / 100; x++, n++)
            for (int c = 0; c < 3; c++)
                sum[c] += s->rgb[((size_t)y * (size_t)s->width + (size_t)x) * 3 + (size_t)c];
    assert_true(n > 0);
    return (struct rgb){{(int)(sum[0] / n), (int)(sum[1] / n), (int)(sum[2] / n)}};
}

static bool near(struct rgb a, struct rgb b)
{
    for (int c = 0; c < 3; c++)
        if (abs(a.c[c] - b.c[c]) > 8)
            return false;
    return true;
}

/* Has xdotool do something with the window. A tool that loses its way is asked again. */
static void xdotool(const char *what)
{
    char command[160];
    int r = -1;

    (void)snprintf(command, sizeof(command),
                   "timeout 5 xdotool search --name '^bilatcam$' %s > /dev/null", what);
    for (int i = 0; r && i < 3; i++)
        r = system(command);
    assert_int_equal(r, 0);
}

/* Waits until the window shows @left and @right in its halves, for up to 5 s. */
static void expect_halves(struct rgb left, struct rgb right)
{
    static struct screenshot shot;
    struct rgb l = {0}, r = {0};

    for (int i = 0; i < 50; i++) {
        if (take_screenshot(&shot)) {
            l = mean(&shot, 5, 5, 45, 95);
            r = mean(&shot, 55, 5, 95, 95);
            if (near(l, left) && near(r, right))
                return;
        }
        (void)usleep(100000);
    }
    fail_msg("the window shows %d %d %d and %d %d %d", l.c[0], l.c[1], l.c[2], r.c[0], r.c[1],
             r.c[2]);
}

/* -------------------------------------------------------------------- tests */

static void test_pictures_it_takes(void **state)
{
    static const struct {
        enum frame_format in, out;
    } cases[] = {
        {FRAME_YUYV, FRAME_YUYV}, {FRAME_UYVY, FRAME_UYVY}, {FRAME_NV12, FRAME_NV12},
        {FRAME_I420, FRAME_I420}, {FRAME_I422, FRAME_YUYV}, {FRAME_I444, FRAME_YUYV},
        {FRAME_GREY, FRAME_I420},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct colour colour = {COLOUR_BT709, COLOUR_FULL};
        const struct sink_config config = config_for(cases[i].in, colour);
        struct sink *s = open_well(&config);

        assert_int_equal(s->picture.format, cases[i].out);
        assert_int_equal(s->picture.colour.range, COLOUR_FULL);
        assert_int_equal(s->picture.colour.matrix, COLOUR_BT601);
        assert_int_equal(s->ops->close(s, NULL), 0);
    }
}

static void test_it_shows_the_frames(void **state)
{
    static const enum frame_format formats[] = {FRAME_YUYV, FRAME_UYVY, FRAME_NV12, FRAME_I420};
    static const struct colour colours[] = {{COLOUR_BT601, COLOUR_LIMITED},
                                            {COLOUR_BT709, COLOUR_LIMITED},
                                            {COLOUR_BT601, COLOUR_FULL}};

    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        for (size_t k = 0; k < sizeof(colours) / sizeof(colours[0]); k++) {
            const struct sink_config config = config_for(formats[i], colours[k]);
            struct sink *s = open_well(&config);

            show(s, red, blue);
            expect_halves(red, blue);
            show(s, blue, red);
            expect_halves(blue, red);
            assert_int_equal(s->ops->close(s, NULL), 0);
        }
}

/* In a wide window the picture keeps its shape, between black bars. */
static void test_resizing_keeps_the_aspect(void **state)
{
    static struct screenshot shot;
    const struct sink_config config = config_for(FRAME_YUYV, (struct colour){0});
    struct sink *s = open_well(&config);
    bool good = false;

    (void)state;
    show(s, red, blue);
    expect_halves(red, blue);
    xdotool("windowsize 640 240");
    for (int i = 0; i < 50 && !good; i++) {
        (void)usleep(100000);
        good = take_screenshot(&shot) && shot.width == 640 && shot.height == 240 &&
               near(mean(&shot, 1, 5, 23, 95), black) && near(mean(&shot, 27, 5, 48, 95), red) &&
               near(mean(&shot, 52, 5, 73, 95), blue) && near(mean(&shot, 77, 5, 99, 95), black);
    }
    assert_true(good);
    assert_int_equal(s->ops->close(s, NULL), 0);
}

static void test_keys_quit(void **state)
{
    static const char *const keys[] = {"q", "Escape"};

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct sink_config config = config_for(FRAME_YUYV, (struct colour){0});
        struct sink *s = open_well(&config);
        char press[40];
        uint64_t n = 0;

        quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        show(s, red, blue);
        expect_halves(red, blue);
        assert_int_equal(read(quit_fd, &n, sizeof(n)), -1);
        (void)snprintf(press, sizeof(press), "windowfocus key %s", keys[i]);
        for (int k = 0; k < 50 && !n; k++) {
            xdotool(press);
            (void)usleep(100000);
            (void)!read(quit_fd, &n, sizeof(n));
        }
        assert_true(n > 0);
        show(s, blue, red); /* frames still come until the program has ended */
        expect_halves(blue, red);
        assert_int_equal(s->ops->close(s, NULL), 0);
        (void)close(quit_fd);
    }
}

/* The longest of @n writes, about 300 per second. */
static int64_t slowest_write(struct sink *s, int n, struct rgb left, struct rgb right)
{
    struct frame f = make_frame(s, left, right);
    int64_t slowest = 0;

    for (int i = 0; i < n; i++) {
        const int64_t start = now_ns();

        assert_int_equal(s->ops->write(s, &f, NULL), 0);
        if (now_ns() - start > slowest)
            slowest = now_ns() - start;
        (void)usleep(3000);
    }
    frame_free(&f);
    return slowest;
}

static void test_a_hidden_window_delays_nothing(void **state)
{
    const struct sink_config config = config_for(FRAME_YUYV, (struct colour){0});
    struct sink *s = open_well(&config);
    int64_t start;

    (void)state;
    xdotool("windowunmap");
    assert_true(slowest_write(s, 100, blue, red) < 100000000);
    xdotool("windowmap");
    expect_halves(blue, red);
    xdotool("windowunmap");
    start = now_ns();
    assert_int_equal(s->ops->close(s, NULL), 0);
    assert_true(now_ns() - start < 700000000);
}

static void test_a_blocked_display_delays_nothing(void **state)
{
    const struct sink_config config = config_for(FRAME_YUYV, (struct colour){0});
    struct sink *s = open_well(&config);
    int64_t slowest, start;

    (void)state;
    show(s, red, blue);
    expect_halves(red, blue);
    assert_int_equal(kill(server, SIGSTOP), 0);
    slowest = slowest_write(s, 300, blue, red);
    assert_int_equal(kill(server, SIGCONT), 0);
    print_message("slowest write while the display stood still: %.3f ms\n", (double)slowest / 1e6);
    assert_true(slowest < 100000000);
    expect_halves(blue, red);
    assert_int_equal(kill(server, SIGSTOP), 0);
    (void)slowest_write(s, 30, red, blue);
    start = now_ns();
    assert_int_equal(s->ops->close(s, NULL), 0);
    assert_int_equal(kill(server, SIGCONT), 0);
    assert_true(now_ns() - start < 900000000);
    (void)sleep(1); /* what close had to leave behind ends now */
}

static void expect_no_window(const char *text)
{
    const struct sink_config config = config_for(FRAME_YUYV, (struct colour){0});
    struct error err = {0};
    struct sink *s = NULL;

    assert_int_equal(sink_preview.open(&s, &config, &err), -ENODEV);
    assert_null(s);
    if (!strstr(err.text, text))
        fail_msg("%s", err.text);
}

static void test_no_display(void **state)
{
    char *display = strdup(getenv("DISPLAY"));

    (void)state;
    assert_int_equal(unsetenv("DISPLAY"), 0);
    expect_no_window("preview window: no display (neither DISPLAY nor WAYLAND_DISPLAY is set)");
    assert_int_equal(setenv("DISPLAY", ":9999", 1), 0);
    expect_no_window("preview window: no display (");
    assert_int_equal(setenv("DISPLAY", display, 1), 0);
    free(display);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures_it_takes),
        cmocka_unit_test(test_it_shows_the_frames),
        cmocka_unit_test(test_resizing_keeps_the_aspect),
        cmocka_unit_test(test_keys_quit),
        cmocka_unit_test(test_a_hidden_window_delays_nothing),
        cmocka_unit_test(test_no_display),
        cmocka_unit_test(test_a_blocked_display_delays_nothing),
    };

    if (!getenv("DISPLAY") || !getenv("XVFB_PID")) {
        (void)fputs("skipped: run by test_preview.sh\n", stderr);
        return 77;
    }
    server = atoi(getenv("XVFB_PID"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
