/* Snapshots from the preview window, asked for by its key, and the files that they become. */
#include "tests/sink/preview/helpers.h"

#include <dirent.h>
#include <sys/stat.h>

static char folder[32]; /* of the pictures, of each test its own */

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/bilatcam-test-XXXXXX");
    return mkdtemp(folder) && !setenv("XDG_PICTURES_DIR", folder, 1) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[60];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) || unsetenv("XDG_PICTURES_DIR") ? -1 : 0;
}

static int count_files(const char *ending)
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

static void expect_files(int n)
{
    int found = -1;

    for (int i = 0; i < 50 && found != n; i++) {
        (void)usleep(100000);
        found = count_files("-before.png") + count_files("-after.png");
    }
    assert_int_equal(found, n);
}

static void expect_png(const char *kind, struct rgb left, struct rgb right)
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
    struct sink *s = open_window(320, 240);

    (void)state;
    write_pair(s, make_frame(s, red, blue), make_frame(s, blue, red));
    expect_halves(blue, red);
    press("m");
    expect_halves(red, blue);
    press("s");
    expect_text(20, 5000, 2, 60, 98, 98);
    expect_files(2);
    (void)usleep(500000);
    expect_png("before", red, blue);
    expect_png("after", blue, red);
    for (int i = 0; i < 3; i++) {
        press("s");
        expect_files(4 + 2 * i);
        (void)usleep(500000);
    }
    assert_int_equal(setenv("XDG_PICTURES_DIR", "/nonexistent", 1), 0);
    press("s");
    (void)usleep(500000);
    expect_files(8);
    close_well(s);
}

/* While there is no picture, there is nothing to save. */
static void test_s_saves_no_card(void **state)
{
    struct sink *s = open_window(320, 240);
    struct frame f = make_frame(s, blue, red);

    (void)state;
    assert_int_equal(s->ops->write(s, &f, NULL, NULL), 0);
    expect_halves(blue, red);
    press("s");
    expect_text(20, 5000, 2, 60, 98, 98);
    (void)usleep(500000);
    frame_free(&f);
    close_well(s);
    assert_int_equal(rmdir(folder), 0); /* empty */
    assert_int_equal(mkdir(folder, 0700), 0);
}

/* A program that ends at once still writes the whole snapshot. */
static void test_a_snapshot_before_the_end(void **state)
{
    struct sink *s = open_window(320, 240);

    (void)state;
    write_pair(s, make_frame(s, red, blue), make_frame(s, blue, red));
    expect_halves(blue, red);
    press("s key q");
    expect_quits(1);
    close_well(s);
    expect_png("before", red, blue);
    expect_png("after", blue, red);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_s_saves_both, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_s_saves_no_card, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_a_snapshot_before_the_end, make_folder, remove_folder),
    };

    if (!getenv("DISPLAY") || !getenv("XVFB_PID")) {
        (void)fputs("skipped: run by test_preview.sh\n", stderr);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
