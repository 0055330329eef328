/* Keys and mouse in the preview window, pressed by xdotool on a display that test_preview.sh
 * provides, and what screenshots then show. */
#include "tests/sink/preview/helpers.h"

#include "config-build.h"

#include <SDL.h>
#include <dirent.h>
#include <pthread.h>

#include "picture/colour.h"

/* ------------------------------------------------------------------ control */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next two */
static char adjusted[512];
static int n_quits;

static void quit(void *user)
{
    (void)user;
    (void)pthread_mutex_lock(&lock);
    n_quits++;
    (void)pthread_mutex_unlock(&lock);
}

static void status(void *user, struct status *ret)
{
    (void)user;
    *ret = (struct status){
        .second = {.fps = 29.97,
                   .latency = {.p50_ns = 43000000, .p99_ns = 55000000},
                   .added = {.p50_ns = 9000000, .p99_ns = 21000000},
                   .camera = {.p50_ns = 34000000}},
        .budget_ns = 33333333,
        .radius_requested = 5,
        .radius_last = 3,
        .sigma_color = 18.0,
        .sigma_space = 2.5,
        .frames_dropped = 4,
        .engine = "simd",
        .device = "a device with a name that is longer than the panel is wide",
    };
}

static void adjust(void *user, const char *key, int steps, char *text, size_t size)
{
    (void)user;
    (void)snprintf(text, size, "%s 7", key);
    (void)pthread_mutex_lock(&lock);
    (void)snprintf(adjusted + strlen(adjusted), sizeof(adjusted) - strlen(adjusted), "%s %+d;", key,
                   steps);
    (void)pthread_mutex_unlock(&lock);
}

static const struct sink_control control = {NULL, status, adjust, quit};

static int quits(void)
{
    int n;

    (void)pthread_mutex_lock(&lock);
    n = n_quits;
    (void)pthread_mutex_unlock(&lock);
    return n;
}

static void expect_quits(int n)
{
    for (int i = 0; i < 50 && quits() != n; i++)
        (void)usleep(100000);
    assert_int_equal(quits(), n);
}

/* --------------------------------------------------------------------- sink */

static struct sink *open_window(int width, int height, bool alone)
{
    const struct sink_config config = {
        .name = "preview",
        .picture = {.format = FRAME_YUYV, .width = width, .height = height},
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
    (void)pthread_mutex_lock(&lock);
    n_quits = 0;
    *adjusted = '\0';
    (void)pthread_mutex_unlock(&lock);
    return s;
}

static void write_pair(struct sink *s, struct frame before, struct frame after)
{
    assert_int_equal(s->ops->write(s, &after, &before, NULL), 0);
    frame_free(&before);
    frame_free(&after);
}

/* A window that shows @after, with @before to compare. */
static struct sink *open_pair(struct rgb before, struct rgb after)
{
    struct sink *s = open_window(320, 240, false);

    write_pair(s, make_frame(s, before, before), make_frame(s, after, after));
    expect_halves(after, after);
    return s;
}

static void close_well(struct sink *s)
{
    assert_int_equal(s->ops->close(s, NULL), 0);
}

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
    struct sink *s = open_window(320, 240, false);

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

/* -------------------------------------------------------------------- texts */

/* Pixels of bright text, in a part of the window in percent. */
static int bright_pixels(const struct screenshot *s, int x0, int y0, int x1, int y1)
{
    int n = 0;

    for (int y = s->height * y0 / 100; y < s->height * y1 / 100; y++)
        for (int x = s->width * x0 / 100; x < s->width * x1 / 100; x++) {
            const uint8_t *c = &s->rgb[((size_t)y * (size_t)s->width + (size_t)x) * 3];

            n += c[0] > 190 && c[1] > 190 && c[2] > 190;
        }
    return n;
}

/* Waits until there are at least @least and at most @most such pixels. */
static void expect_text(int least, int most, int x0, int y0, int x1, int y1)
{
    static struct screenshot shot;
    int n = -1;

    for (int i = 0; i < 60; i++) {
        if (take_screenshot(&shot)) {
            n = bright_pixels(&shot, x0, y0, x1, y1);
            if (n >= least && n <= most)
                return;
        }
        (void)usleep(100000);
    }
    fail_msg("%d bright pixels", n);
}

static struct sink *open_large(void)
{
    struct sink *s = open_window(640, 480, false);

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
    static const char *const keys[] = {"plus",        "equal",  "minus", "bracketright",
                                       "bracketleft", "period", "comma", "KP_Add"};
    static const char wanted[] = "radius +1;radius +1;radius -1;sigma-color +1;sigma-color -1;"
                                 "sigma-space +1;sigma-space -1;radius +1;";
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

/* ---------------------------------------------------------------- snapshots */

#ifdef HAVE_PNG
static int count_files(const char *folder, const char *ending)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    int n = 0;

    assert_non_null(d);
    while ((e = readdir(d))) {
        const size_t length = strlen(e->d_name);

        n += length > strlen(ending) && !strcmp(e->d_name + length - strlen(ending), ending);
    }
    (void)closedir(d);
    return n;
}

static void expect_files(const char *folder, int n)
{
    int found = -1;

    for (int i = 0; i < 50 && found != n; i++) {
        (void)usleep(100000);
        found = count_files(folder, "-before.png") + count_files(folder, "-after.png");
    }
    assert_int_equal(found, n);
}

static void expect_png(const char *folder, const char *kind, struct rgb left, struct rgb right)
{
    static struct screenshot shot;
    char command[200];

    (void)snprintf(command, sizeof(command), "convert %s/bilatcam-*-%s.png -depth 8 ppm:-", folder,
                   kind);
    assert_true(read_picture(&shot, command));
    assert_int_equal(shot.width, 320);
    assert_int_equal(shot.height, 240);
    assert_true(near(mean(&shot, 0, 0, 50, 100), left));
    assert_true(near(mean(&shot, 50, 0, 100, 100), right));
}

/* Unmirrored whatever the window shows, and never over another file. */
static void test_s_saves_both(void **state)
{
    char folder[] = "/tmp/bilatcam-test-XXXXXX", command[60];
    struct sink *s = open_window(320, 240, false);

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("XDG_PICTURES_DIR", folder, 1), 0);
    write_pair(s, make_frame(s, red, blue), make_frame(s, blue, red));
    expect_halves(blue, red);
    press("m");
    expect_halves(red, blue);
    press("s");
    expect_text(20, 5000, 2, 60, 98, 98);
    expect_files(folder, 2);
    (void)usleep(500000);
    expect_png(folder, "before", red, blue);
    expect_png(folder, "after", blue, red);
    for (int i = 0; i < 3; i++) {
        press("s");
        expect_files(folder, 4 + 2 * i);
        (void)usleep(500000);
    }
    assert_int_equal(setenv("XDG_PICTURES_DIR", "/nonexistent", 1), 0);
    press("s");
    (void)usleep(500000);
    expect_files(folder, 8);
    close_well(s);
    assert_int_equal(unsetenv("XDG_PICTURES_DIR"), 0);
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* While there is no picture, there is nothing to save. */
static void test_s_saves_no_card(void **state)
{
    char folder[] = "/tmp/bilatcam-test-XXXXXX";
    struct sink *s = open_window(320, 240, false);
    struct frame f = make_frame(s, blue, red);

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("XDG_PICTURES_DIR", folder, 1), 0);
    assert_int_equal(s->ops->write(s, &f, NULL, NULL), 0);
    expect_halves(blue, red);
    press("s");
    expect_text(20, 5000, 2, 60, 98, 98);
    (void)usleep(500000);
    frame_free(&f);
    close_well(s);
    assert_int_equal(unsetenv("XDG_PICTURES_DIR"), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* A program that ends at once still writes the whole snapshot. */
static void test_a_snapshot_before_the_end(void **state)
{
    char folder[] = "/tmp/bilatcam-test-XXXXXX", command[60];
    struct sink *s = open_window(320, 240, false);

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("XDG_PICTURES_DIR", folder, 1), 0);
    write_pair(s, make_frame(s, red, blue), make_frame(s, blue, red));
    expect_halves(blue, red);
    press("s key q");
    expect_quits(1);
    close_well(s);
    expect_png(folder, "before", red, blue);
    expect_png(folder, "after", blue, red);
    assert_int_equal(unsetenv("XDG_PICTURES_DIR"), 0);
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}
#endif

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
        struct sink *s = open_window(320, 240, alone);

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
        cmocka_unit_test(test_f_and_escape),
        cmocka_unit_test(test_o_shows_statistics),
        cmocka_unit_test(test_h_shows_help),
        cmocka_unit_test(test_messages_fade),
        cmocka_unit_test(test_keys_adjust),
#ifdef HAVE_PNG
        cmocka_unit_test(test_s_saves_both),
        cmocka_unit_test(test_s_saves_no_card),
        cmocka_unit_test(test_a_snapshot_before_the_end),
#endif
        cmocka_unit_test(test_keys_quit),
        cmocka_unit_test(test_closing_the_window),
    };

    if (!getenv("DISPLAY") || !getenv("XVFB_PID")) {
        (void)fputs("skipped: run by test_preview.sh\n", stderr);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
