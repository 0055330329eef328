/* The file of block shapes: what is written is read back, and nothing else is believed. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/shape_cache.h"

#define KEY "bilatcam 1, a GPU"

static char home[64]; /* XDG_CACHE_HOME of a test */

static char *in_home(const char *name)
{
    static char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", home, name);
    return path;
}

static char *file(void)
{
    return in_home("bilatcam/cuda-shapes");
}

static int set_up(void **state)
{
    (void)state;
    strcpy(home, "/tmp/test-shape-cache.XXXXXX");
    return !mkdtemp(home) || setenv("XDG_CACHE_HOME", home, 1);
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    (void)snprintf(command, sizeof(command), "chmod -R u+rwx %s && rm -rf %s", home, home);
    return system(command);
}

static struct shape_table some_shapes(int n)
{
    struct shape_table t = {0};

    for (int i = 0; i < n; i++) {
        const struct shape s = {
            .width = 16384 - 2 * i, .rows = 16000 + i, .warps = {8, i % 9, 0, 1, 2, 6}};

        shape_add(&t, &s);
    }
    return t;
}

static void put_file(const char *text, size_t size)
{
    FILE *f;

    (void)mkdir(in_home("bilatcam"), 0700);
    f = fopen(file(), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* The error, when the table was left as it was. */
static int load_fails(void)
{
    struct shape_table t = {.n = -7};
    const int r = shape_cache_load(&t, KEY);

    assert_int_equal(t.n, -7);
    return r;
}

static void assert_saves_and_loads(int n)
{
    const struct shape_table t = some_shapes(n);
    struct shape_table back = {0};

    assert_int_equal(shape_cache_save(&t, KEY), 0);
    assert_int_equal(shape_cache_load(&back, KEY), 0);
    assert_memory_equal(&back, &t, sizeof(t));
}

static void test_classes(void **state)
{
    (void)state;
    for (int radius = 1; radius <= 32; radius++) {
        const int class = shape_class(radius);

        assert_in_range(class, 0, SHAPE_CLASSES - 1);
        assert_true(radius <= shape_class_radius(class));
        assert_true(class == 0 || radius > shape_class_radius(class - 1));
    }
}

static void test_table(void **state)
{
    struct shape_table t = some_shapes(SHAPES_MAX);
    const struct shape known = {.width = 16384 - 2 * 5, .rows = 16005, .warps = {3}};
    const struct shape other = {.width = 2, .rows = 1, .warps = {4}};

    (void)state;
    assert_null(shape_find(&t, 16384, 16001));
    shape_add(&t, &known);
    assert_int_equal(t.n, SHAPES_MAX);
    assert_int_equal(shape_find(&t, known.width, known.rows)->warps[0], 3);
    assert_non_null(shape_find(&t, 16384, 16000));
    shape_add(&t, &other);
    assert_int_equal(t.n, SHAPES_MAX);
    assert_null(shape_find(&t, 16384, 16000));
    assert_non_null(shape_find(&t, 16382, 16001));
    assert_int_equal(shape_find(&t, 2, 1)->warps[0], 4);
}

static void test_round_trip(void **state)
{
    struct stat st;

    (void)state;
    assert_int_equal(load_fails(), -ENOENT);
    assert_saves_and_loads(0);
    assert_saves_and_loads(SHAPES_MAX);
    assert_saves_and_loads(3);
    assert_int_equal(stat(in_home("bilatcam"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(file(), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    /* Nothing is left beside it. */
    assert_int_equal(unlink(file()), 0);
    assert_int_equal(rmdir(in_home("bilatcam")), 0);
}

static void test_other_key(void **state)
{
    struct shape_table t = some_shapes(2);

    (void)state;
    assert_int_equal(shape_cache_save(&t, "bilatcam 1, a GPU of another kind"), 0);
    assert_int_equal(load_fails(), -ESTALE);
    assert_int_equal(shape_cache_save(&t, "bilatcam"), 0);
    assert_int_equal(load_fails(), -ESTALE);
    assert_saves_and_loads(2);
}

static void test_truncated(void **state)
{
    static const char whole[] = KEY "\n1920x160 2 4 4 8 8 4\n640x480 2 2 2 2 0 0\nend\n";
    struct shape_table t;

    (void)state;
    put_file(whole, strlen(whole));
    assert_int_equal(shape_cache_load(&t, KEY), 0);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.shapes[0].warps[5], 4);
    for (size_t n = 0; n < strlen(whole); n++) {
        put_file(whole, n);
        assert_int_equal(load_fails(), -EBADMSG);
    }
}

static void test_garbage(void **state)
{
    static const char *const lines[] = {
        "",
        "hello",
        "1920x160",
        "1920x160 2 4 4 8 8",
        "1920x160 2 4 4 8 8 4 4",
        "1920x160 2 4 4 8 8 4 ",
        " 1920x160 2 4 4 8 8 4",
        "1920x160  2 4 4 8 8 4",
        "1920x160 2 4 4 8 8 04",
        "1920x160 2 4 4 8 8 +4",
        "1920x160 2 4 4 8 8 9",
        "1920x160 2 4 4 8 8 -1",
        "1920x160 2 4 4 8 8 99999999999999999999",
        "0x160 2 4 4 8 8 4",
        "1920x16385 2 4 4 8 8 4",
        "end\nend",
        "end\n1920x160 2 4 4 8 8 4",
    };
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        (void)snprintf(text, sizeof(text), KEY "\n640x480 2 2 2 2 0 0\n%s\nend\n", lines[i]);
        put_file(text, strlen(text));
        assert_int_equal(load_fails(), -EBADMSG);
    }
    put_file(KEY "\nend\n\0", strlen(KEY) + 6);
    assert_int_equal(load_fails(), -EBADMSG);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15);

        for (size_t n = 0; n < sizeof(text); n++)
            text[n] = (char)((x = x * 6364136223846793005u + 1442695040888963407u) >> 56);
        put_file(text, sizeof(text));
        assert_true(load_fails() < 0);
    }
    assert_saves_and_loads(1);
}

static void test_oversized(void **state)
{
    const size_t size = 1 << 20;
    char *text = malloc(size);
    size_t n = strlen(KEY "\n");

    (void)state;
    assert_non_null(text);
    memcpy(text, KEY "\n", n);
    memset(text + n, ' ', size - n);
    put_file(text, size);
    assert_int_equal(load_fails(), -EBADMSG);
    /* One line more than a table holds. */
    for (int i = 0; i <= SHAPES_MAX; i++)
        n += (size_t)sprintf(text + n, "%dx2 1 1 1 1 1 1\n", 2 * i + 2);
    n += (size_t)sprintf(text + n, "end\n");
    put_file(text, n);
    assert_int_equal(load_fails(), -EBADMSG);
    free(text);
    assert_saves_and_loads(SHAPES_MAX);
}

static void test_unwritable(void **state)
{
    const struct shape_table t = some_shapes(1);

    (void)state;
    /* A file where the folder should be: root could write to any folder. */
    assert_int_equal(close(creat(in_home("bilatcam"), 0600)), 0);
    assert_int_equal(shape_cache_save(&t, KEY), -ENOTDIR);
    assert_int_equal(load_fails(), -ENOTDIR);
    assert_int_equal(unlink(in_home("bilatcam")), 0);
    /* A folder that others may write to. */
    assert_int_equal(mkdir(in_home("bilatcam"), 0700), 0);
    assert_int_equal(chmod(in_home("bilatcam"), 0777), 0);
    assert_int_equal(shape_cache_save(&t, KEY), -EPERM);
    assert_int_equal(load_fails(), -EPERM);
    if (geteuid() == 0)
        return;
    assert_int_equal(chmod(in_home("bilatcam"), 0500), 0);
    assert_int_equal(shape_cache_save(&t, KEY), -EACCES);
}

static void test_links(void **state)
{
    static const char text[] = KEY "\nend\n";
    char target[256];
    struct stat st;

    (void)state;
    strcpy(target, in_home("elsewhere"));
    put_file(text, strlen(text));
    assert_int_equal(rename(file(), target), 0);
    assert_int_equal(symlink(target, file()), 0);
    assert_int_equal(load_fails(), -ELOOP);
    /* Writing replaces the link and leaves alone what it points to. */
    assert_saves_and_loads(2);
    assert_int_equal(lstat(file(), &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(stat(target, &st), 0);
    assert_int_equal(st.st_size, strlen(text));
    /* The folder is no link either. */
    assert_int_equal(rename(in_home("bilatcam"), target), -1);
    assert_int_equal(unlink(target), 0);
    assert_int_equal(rename(in_home("bilatcam"), target), 0);
    assert_int_equal(symlink(target, in_home("bilatcam")), 0);
    assert_true(load_fails() < 0);
    assert_true(shape_cache_save(&(struct shape_table){0}, KEY) < 0);
    assert_int_equal(unlink(in_home("bilatcam")), 0);
}

/* A pipe would have its reader wait. */
static void test_pipe(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_home("bilatcam"), 0700), 0);
    assert_int_equal(mkfifo(file(), 0600), 0);
    assert_int_equal(load_fails(), -EBADMSG);
    assert_saves_and_loads(1);
}

static void test_where(void **state)
{
    const struct shape_table t = some_shapes(1);
    struct stat st;

    (void)state;
    assert_int_equal(setenv("HOME", home, 1), 0);
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
    assert_int_equal(shape_cache_save(&t, KEY), 0);
    assert_int_equal(stat(in_home(".cache/bilatcam/cuda-shapes"), &st), 0);
    assert_int_equal(stat(in_home(".cache"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    /* A relative path is ignored. */
    assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    assert_saves_and_loads(1);
    assert_int_equal(stat("relative", &st), -1);
    assert_int_equal(setenv("HOME", "relative", 1), 0);
    assert_int_equal(shape_cache_save(&t, KEY), -ENOENT);
    assert_int_equal(unsetenv("HOME"), 0);
    assert_int_equal(shape_cache_save(&t, KEY), -ENOENT);
    assert_int_equal(load_fails(), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_table),
        TEST(test_round_trip),
        TEST(test_other_key),
        TEST(test_truncated),
        TEST(test_garbage),
        TEST(test_oversized),
        TEST(test_unwritable),
        TEST(test_links),
        TEST(test_pipe),
        TEST(test_where),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
