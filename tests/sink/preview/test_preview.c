/* The preview window, on a display that test_preview.sh provides: what it shows is looked at as a
 * screenshot, and writing to it is timed while the display server stands still. */
#include "tests/sink/preview/helpers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "picture/colour.h"
#include "pipeline/pipeline.h"

static pid_t server;

static struct sink_config config_for(enum frame_format format, struct colour colour)
{
    struct sink_config config = window_config(320, 240);

    config.picture.format = format;
    config.picture.colour = colour;
    return config;
}

static const struct rgb black = {{0, 0, 0}};

static void show(struct sink *s, struct rgb left, struct rgb right)
{
    struct frame f = make_frame(s, left, right);

    assert_int_equal(s->ops->write(s, &f, NULL, NULL), 0);
    frame_free(&f);
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
    const struct sink_config rgb =
        config_for(FRAME_I444, (struct colour){COLOUR_RGB, COLOUR_LIMITED});
    const struct sink_config wide =
        config_for(FRAME_I420, (struct colour){COLOUR_BT2020, COLOUR_LIMITED});
    struct sink *window = open_well(&rgb);

    (void)state;
    assert_int_equal(window->picture.format, FRAME_RGB24);
    assert_int_equal(window->picture.colour.matrix, COLOUR_RGB);
    assert_int_equal(window->picture.colour.range, COLOUR_FULL);
    close_well(window);
    window = open_well(&wide);
    assert_int_equal(window->picture.colour.matrix, COLOUR_BT709);
    assert_int_equal(window->picture.colour.range, COLOUR_LIMITED);
    close_well(window);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct colour colour = {COLOUR_BT709, COLOUR_FULL};
        const struct sink_config config = config_for(cases[i].in, colour);
        struct sink *s = open_well(&config);

        assert_int_equal(s->picture.format, cases[i].out);
        assert_int_equal(s->picture.colour.range, COLOUR_FULL);
        assert_int_equal(s->picture.colour.matrix, COLOUR_BT601);
        close_well(s);
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
            close_well(s);
        }
}

/* In a wide window the picture keeps its shape, between black bars. */
static void test_resizing_keeps_the_aspect(void **state)
{
    static struct screenshot shot;
    struct sink *s = open_window(320, 240);
    bool good = false;

    (void)state;
    show(s, red, blue);
    expect_halves(red, blue);
    xdotool("windowsize 640 240");
    for (int i = 0; i < 50 && !good; i++) {
        (void)usleep(100000);
        good = take_screenshot(&shot) && shot.width == 640 && shot.height == 240 &&
               near(mean(&shot, 1, 5, 23, 60), black) && near(mean(&shot, 27, 5, 48, 60), red) &&
               near(mean(&shot, 52, 5, 73, 60), blue) && near(mean(&shot, 77, 5, 99, 60), black);
    }
    assert_true(good);
    close_well(s);
}

/* The longest of @n writes, about 300 per second. */
static int64_t slowest_write(struct sink *s, int n, struct rgb left, struct rgb right)
{
    struct frame f = make_frame(s, left, right);
    int64_t slowest = 0;

    for (int i = 0; i < n; i++) {
        const int64_t start = now_ns();

        assert_int_equal(s->ops->write(s, &f, NULL, NULL), 0);
        if (now_ns() - start > slowest)
            slowest = now_ns() - start;
        (void)usleep(3000);
    }
    frame_free(&f);
    return slowest;
}

static void test_a_hidden_window_delays_nothing(void **state)
{
    struct sink *s = open_window(320, 240);
    int64_t start;

    (void)state;
    xdotool("windowunmap");
    assert_true(slowest_write(s, 100, blue, red) < 100000000);
    xdotool("windowmap");
    expect_halves(blue, red);
    xdotool("windowunmap");
    start = now_ns();
    close_well(s);
    assert_true(now_ns() - start < 700000000);
}

static void continue_server_later(void)
{
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid)
        return;
    (void)sleep(1);
    _exit(kill(server, SIGCONT) ? 1 : 0);
}

static void test_a_blocked_display_delays_nothing(void **state)
{
    struct sink *s = open_window(320, 240);
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
    close_well(s);
    assert_true(now_ns() - start < 900000000);
    continue_server_later();
    /* This one waits for what close had to leave behind. */
    s = open_window(320, 240);
    show(s, red, blue);
    expect_halves(red, blue);
    close_well(s);
    assert_true(wait(NULL) > 0);
}

static void set(struct settings *settings, const char *name, const char *value)
{
    struct error err = {0};

    if (settings_set(settings, name, value, &err))
        fail_msg("%s", err.text);
}

static uint64_t frames_out(struct pipeline *p)
{
    struct status s;

    pipeline_status(p, &s);
    return s.frames_out;
}

/* The program without its main, running, until @stop_fd is readable. */
static struct pipeline *start_program(const char *output, const char *frames, int stop_fd)
{
    const char *const wanted[][2] = {
        {"input", "test:"}, {"output", output}, {"preview", "yes"}, {"size", "160x120"},
        {"fps", "30"},      {"frames", frames}, {"filter", "none"}, {"latency-budget", "off"},
    };
    struct settings settings;
    struct pipeline *p = NULL;
    struct error err = {0};

    settings_init(&settings);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        set(&settings, wanted[i][0], wanted[i][1]);
    if (pipeline_open(&p, &settings, stop_fd, &err) || pipeline_start(p, &err))
        fail_msg("%s", err.text);
    for (int i = 0; frames_out(p) < 20 && i < 300; i++)
        (void)usleep(20000);
    return p;
}

/* Whether the window shows the card: a calm grey, with letters in the middle. */
static bool shows_card(void)
{
    static const struct rgb grey = {{35, 35, 35}};
    static struct screenshot shot;

    return take_screenshot(&shot) && near(mean(&shot, 2, 10, 30, 70), grey) &&
           near(mean(&shot, 70, 10, 98, 70), grey);
}

static void expect_card(bool shown)
{
    for (int i = 0; i < 50 && shows_card() != shown; i++)
        (void)usleep(100000);
    assert_int_equal(shows_card(), shown);
}

/* The window does not go on with the last picture when there is none. */
static void test_a_pause_is_told(void **state)
{
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct pipeline *p = start_program("null:", "0", stop_fd);
    struct pollfd done = {.fd = pipeline_done_fd(p), .events = POLLIN};

    (void)state;
    expect_card(false);
    pipeline_pause(p, true);
    expect_card(true);
    pipeline_pause(p, false);
    expect_card(false);
    pipeline_pause(p, true);
    expect_card(true);
    xdotool("windowfocus key q");
    assert_int_equal(poll(&done, 1, 10000), 1);
    assert_int_equal(pipeline_close(p), 0);
    (void)close(stop_fd);
}

/* Sends the display's server a signal in the midst of a run. All frames go to the other output, and
 * it ends well. */
static void expect_all_frames(int signal)
{
    struct pipeline *p;
    struct status s;
    struct pollfd done = {.events = POLLIN};
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    char file[] = "/tmp/bilatcam-test-XXXXXX.y4m";

    assert_int_equal(close(mkstemps(file, 4)), 0);
    p = start_program(file, "90", stop_fd);
    assert_int_equal(kill(server, signal), 0);
    done.fd = pipeline_done_fd(p);
    (void)poll(&done, 1, 30000);
    pipeline_status(p, &s);
    (void)kill(server, SIGCONT);
    pipeline_stop(p);
    assert_int_equal(pipeline_close(p), 0);
    (void)close(stop_fd);
    (void)unlink(file);
    print_message("%d frames out, %d dropped\n", (int)s.frames_out, (int)s.frames_dropped);
    assert_true(done.revents & POLLIN);
    assert_int_equal(s.frames_out, 90);
    assert_in_range(s.frames_dropped, 0, 90); /* a busy machine loses some by itself */
}

static void test_a_blocked_display_costs_no_frame(void **state)
{
    (void)state;
    expect_all_frames(SIGSTOP);
}

/* The last test, because there is no display after it. That this program ends is part of it. */
static void test_a_lost_display_costs_no_frame(void **state)
{
    (void)state;
    expect_all_frames(SIGKILL);
}

static void expect_no_window(const char *text)
{
    const struct sink_config config = window_config(320, 240);
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
        cmocka_unit_test(test_a_hidden_window_delays_nothing),
        cmocka_unit_test(test_no_display),
        cmocka_unit_test(test_a_pause_is_told),
        cmocka_unit_test(test_a_blocked_display_delays_nothing),
        cmocka_unit_test(test_a_blocked_display_costs_no_frame),
        cmocka_unit_test(test_a_lost_display_costs_no_frame),
    };

    if (!getenv("DISPLAY") || !getenv("XVFB_PID")) {
        (void)fputs("skipped: run by test_preview.sh\n", stderr);
        return 77;
    }
    server = atoi(getenv("XVFB_PID"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
