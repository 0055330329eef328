/* Snapshots: what the files hold, what they are called and where they are. */
#include "tests/lib/unit.h"

#include "config-build.h"

#ifdef HAVE_PNG
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <png.h>

#include "picture/snapshot.h"

#define WIDTH 16
#define HEIGHT 9

static char folder[] = "/tmp/bilatcam-snapshot-XXXXXX";

/* A picture, each sample made from its place and @seed. */
static struct frame make_picture(enum frame_format format, int seed)
{
    struct frame f = {.format = format, .width = WIDTH, .height = HEIGHT};

    assert_int_equal(frame_alloc(&f), 0);
    for (int c = 0; c < format_table[format].components; c++) {
        const struct samples s = frame_samples(&f, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++)
                s.base[(size_t)y * s.stride + (size_t)(x * s.step)] =
                    (uint8_t)(16 + (seed + 11 * x + 13 * y) % 220);
    }
    return f;
}

/* --- a writer that takes its time --- */

static atomic_bool stuck; /* before the fourth row */
static atomic_int rows;   /* written so far */

void __real_png_write_row(png_structp png, png_const_bytep row);
void __wrap_png_write_row(png_structp png, png_const_bytep row);

void __wrap_png_write_row(png_structp png, png_const_bytep row)
{
    if (atomic_fetch_add(&rows, 1) == 3)
        while (atomic_load(&stuck))
            (void)poll(NULL, 0, 1);
    __real_png_write_row(png, row);
}

/* A file system that cannot rename without writing over what is there. */
static bool plain_renames;

int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    if (!plain_renames)
        return __real_renameat2(from_fd, from, to_fd, to, flags);
    errno = EINVAL;
    return -1;
}

/* How many files the folder has, those with temporary names alone or all. */
static int count_files(bool temporary)
{
    DIR *d = opendir(".");
    const struct dirent *e;
    int n = 0;

    assert_non_null(d);
    while ((e = readdir(d)))
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
             (!temporary || e->d_name[0] == '.');
    (void)closedir(d);
    return n;
}

static struct snapshot *begin(const char *name)
{
    struct frame before = make_picture(FRAME_GREY, 0), after = make_picture(FRAME_GREY, 50);
    struct snapshot *s;

    assert_int_equal(snapshot_start(&s, &before, &after, name, NULL, NULL), 0);
    frame_free(&before);
    frame_free(&after);
    return s;
}

/* One that does not go on until `stuck` is false. */
static struct snapshot *begin_stuck(const char *name)
{
    struct snapshot *s;

    atomic_store(&rows, 0);
    atomic_store(&stuck, true);
    s = begin(name);
    while (atomic_load(&rows) < 4)
        (void)poll(NULL, 0, 1);
    return s;
}

static int finish(struct snapshot *s)
{
    char text[512];

    return snapshot_finish(s, text, sizeof(text), NULL, 0);
}

/* Writes one, and says what came of it. */
static int snap(enum frame_format format, const char *name, char *text, size_t size)
{
    struct frame before = make_picture(format, 0), after = make_picture(format, 50);
    struct snapshot *s;

    assert_int_equal(snapshot_start(&s, &before, &after, name, NULL, NULL), 0);
    frame_free(&before);
    frame_free(&after);
    return snapshot_finish(s, text, size, NULL, 0);
}

/* R'G'B' bytes, the caller's to free. */
static png_bytep read_png(const char *name)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    png_bytep rgb;

    if (!png_image_begin_read_from_file(&image, name))
        fail_msg("%s: %s", name, image.message);
    image.format = PNG_FORMAT_RGB;
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    rgb = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(rgb);
    if (!png_image_finish_read(&image, NULL, rgb, 0, NULL))
        fail_msg("%s: %s", name, image.message);
    return rgb;
}

static void expect_greys(const char *name, int seed)
{
    png_bytep const rgb = read_png(name);

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int luma = 16 + (seed + 11 * x + 13 * y) % 220;
            const int grey = (int)(255.0 / 219.0 * (luma - 16) + 0.5);

            for (int i = 0; i < 3; i++)
                assert_in_range(rgb[3 * (y * WIDTH + x) + i], grey > 0 ? grey - 1 : 0, grey + 1);
        }
    free(rgb);
    assert_int_equal(unlink(name), 0);
}

/* A picture without chroma has no colour. */
static void test_grey(void **state)
{
    char text[320];

    (void)state;
    assert_int_equal(snap(FRAME_GREY, "grey", text, sizeof(text)), 0);
    expect_greys("grey-before.png", 0);
    expect_greys("grey-after.png", 50);
}

/* --- names --- */

static void make_file(const char *name, const char *text)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

/* What a name may hold: no way out of the folder, and nothing that is shown as something else. */
static void test_name_rules(void **state)
{
    static const char *const good[] = {"", "a", "-x", "a.b", " ", "%s%n", "caf\u00e9", "\u00a0"};
    static const char *const bad[] = {".",        "..",   ".a",       "../a",
                                      "a/b",      "a\nb", "\033[31m", "\177",
                                      "\xc2\x9b", "\xff", "\xc3",     "\xed\xa0\x80"};
    char name[SNAPSHOT_NAME_MAX + 2] = "";
    struct error err;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (snapshot_check_name(good[i], &err))
            fail_msg("refused: %s", err.text);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (snapshot_check_name(bad[i], &err) != -EINVAL || !strstr(err.text, "plain file name"))
            fail_msg("taken: bad name %zu", i);
    memset(name, 'x', SNAPSHOT_NAME_MAX);
    assert_int_equal(snapshot_check_name(name, &err), 0);
    name[SNAPSHOT_NAME_MAX] = 'x';
    assert_int_equal(snapshot_check_name(name, &err), -EINVAL);
    assert_non_null(strstr(err.text, "65 bytes"));
}

/* The colours of BT.601, in each format that pictures can have. */
static void test_formats(void **state)
{
    static const enum frame_format formats[] = {FRAME_YUYV, FRAME_UYVY, FRAME_NV12,
                                                FRAME_I420, FRAME_I422, FRAME_I444};
    char text[320];

    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        png_bytep rgb;

        assert_int_equal(snap(formats[i], "one", text, sizeof(text)), 0);
        rgb = read_png("one-after.png");
        for (int x = 0; x < WIDTH; x++) {
            const double y = 255.0 / 219.0 * ((50 + 11 * x) % 220);
            const int cx = x >> format_table[formats[i]].hshift;
            const double c = 255.0 / 224.0 * ((50 + 11 * cx) % 220 + 16 - 128); /* Cb and Cr */
            const double wanted[3] = {y + 1.402 * c, y - (0.344136 + 0.714136) * c, y + 1.772 * c};

            for (int k = 0; k < 3; k++)
                if (fabs(fmin(fmax(wanted[k], 0), 255) - rgb[3 * x + k]) > 1)
                    fail_msg("format %zu, pixel %d, colour %d: %d, not %.1f", i, x, k,
                             rgb[3 * x + k], wanted[k]);
        }
        free(rgb);
        assert_int_equal(unlink("one-before.png"), 0);
        assert_int_equal(unlink("one-after.png"), 0);
    }
}

/* A file that is there stays as it is, whichever of the two names it has. */
static void test_writes_over_nothing(void **state)
{
    static const char *const names[] = {"mine-before.png", "mine-after.png"};
    char text[512];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct stat st;

        make_file(names[i], "precious");
        assert_int_equal(snap(FRAME_GREY, "mine", text, sizeof(text)), -EEXIST);
        assert_non_null(strstr(text, "no snapshot 'mine' in '/tmp/"));
        assert_non_null(strstr(text, ": File exists"));
        assert_int_equal(stat(names[i], &st), 0);
        assert_int_equal(st.st_size, strlen("precious"));
        assert_int_equal(count_files(false), 1);
        assert_int_equal(unlink(names[i]), 0);
    }
}

static void test_plain_file_system(void **state)
{
    plain_renames = true;
    test_grey(state);
    test_writes_over_nothing(state);
    plain_renames = false;
}

/* For each second of some minutes the first name is half taken. */
static void test_numbers(void **state)
{
    enum { SECONDS = 600 };
    char name[64], text[512], *end;
    const time_t start = time(NULL);

    (void)state;
    for (int i = 0; i < SECONDS; i++) {
        const time_t t = start + i;
        struct tm tm;

        (void)strftime(name, sizeof(name), "bilatcam-%Y%m%d-%H%M%S-after.png",
                       localtime_r(&t, &tm));
        make_file(name, "");
    }
    assert_int_equal(snap(FRAME_GREY, NULL, text, sizeof(text)), 0);
    assert_int_equal(count_files(false), SECONDS + 2);
    end = strstr(text, "-before.png, -after.png\nin /tmp/");
    assert_non_null(end);
    assert_memory_equal(end - 2, "-2", 2);
    *end = '\0';
    (void)snprintf(name, sizeof(name), "%.40s-before.png", text);
    expect_greys(name, 0);
    (void)snprintf(name, sizeof(name), "%.40s-after.png", text);
    expect_greys(name, 50);
    assert_int_equal(system("rm bilatcam-*-after.png"), 0);
}

/* --- whole or absent --- */

static void test_absent_until_whole(void **state)
{
    struct snapshot *s = begin_stuck("slow");

    (void)state;
    assert_int_equal(count_files(false), 2);
    assert_int_equal(count_files(true), 2);
    atomic_store(&stuck, false);
    assert_int_equal(finish(s), 0);
    assert_int_equal(count_files(false), 2);
    expect_greys("slow-before.png", 0);
    expect_greys("slow-after.png", 50);
}

/* The limit on file sizes stands for a full disk. */
static void test_full_disk(void **state)
{
    struct rlimit old, tight;
    char text[512];

    (void)state;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    for (rlim_t size = 0; size < 60; size += 15) { /* the least that a PNG has around its pixels */
        tight = old;
        tight.rlim_cur = size;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        assert_int_equal(snap(FRAME_GREY, "full", text, sizeof(text)), -EFBIG);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_non_null(strstr(text, "no snapshot 'full' in '/tmp/"));
        assert_int_equal(count_files(false), 0);
    }
}

static void test_no_folder(void **state)
{
    static const char *const folders[] = {"/nonexistent/folder", "/proc", "file"};
    char text[512];

    (void)state;
    make_file("file", "");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(setenv("XDG_PICTURES_DIR", folders[i], 1), 0);
        assert_true(snap(FRAME_GREY, "one", text, sizeof(text)) < 0);
        if (!strstr(text, folders[i]))
            fail_msg("no '%s' in: %s", folders[i], text);
    }
    assert_int_equal(setenv("XDG_PICTURES_DIR", ".", 1), 0);
    assert_int_equal(unlink("file"), 0);
}

/* --- the end of the program --- */

static void *release_later(void *unused)
{
    (void)unused;
    (void)poll(NULL, 0, 50);
    atomic_store(&stuck, false);
    return NULL;
}

static void test_end_waits(void **state)
{
    struct snapshot *s;
    pthread_t thread;

    (void)state;
    assert_int_equal(snapshots_end(0), 0);
    s = begin_stuck("last");
    assert_int_equal(pthread_create(&thread, NULL, release_later, NULL), 0);
    assert_int_equal(snapshots_end(INT64_C(60000000000)), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(finish(s), 0);
    assert_int_equal(snapshots_end(0), 0);
    expect_greys("last-before.png", 0);
    expect_greys("last-after.png", 50);
}

/* One that comes back when it is too late leaves nothing. In a process of its own, because it is
 * an end: whether all is right. */
static bool gives_up(void)
{
    struct snapshot *s = begin_stuck("late");

    if (snapshots_end(1000000) != -ETIMEDOUT)
        return false;
    atomic_store(&stuck, false);
    return finish(s) == -ECANCELED && count_files(false) == 0;
}

static void test_end_gives_up(void **state)
{
    int status;
    pid_t child;

    (void)state;
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(!gives_up());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && !chdir(folder) && !setenv("XDG_PICTURES_DIR", ".", 1) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grey),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_name_rules),
        cmocka_unit_test(test_writes_over_nothing),
        cmocka_unit_test(test_plain_file_system),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_absent_until_whole),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_end_waits),
        cmocka_unit_test(test_end_gives_up),
    };

    return cmocka_run_group_tests_name("snapshot", tests, make_folder, remove_folder);
}
#else
int main(void)
{
    return 77; /* built without libpng */
}
#endif
