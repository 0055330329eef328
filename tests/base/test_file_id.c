/* Which paths lead to one file. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_id.h"

static char folder[] = "/tmp/bilatcam-file-id-XXXXXX";

/* What is in the folder: there, twin (a hard link to it), sub, and these symbolic links. */
static const struct {
    const char *target, *name;
} links[] = {
    {"there", "link"},          {"new", "dangling"},
    {"dangling", "far"},        {"sub", "way"},
    {"../new", "sub/up"},       {"loop", "loop"},
    {"missing/new", "nowhere"}, {"/dev/null", "null"},
    {"sub/deep", "inwards"},    {"/proc/self/fd/1", "out1"},
    {"sub/nothing/", "slash"},
};

static void expect(const char *a, const char *b, bool same)
{
    struct file_id x, y;
    const int r = file_id_get(a, STDOUT_FILENO, &x), q = file_id_get(b, STDOUT_FILENO, &y);

    if (r || q || file_id_equal(&x, &y) != same || file_id_equal(&y, &x) != same)
        fail_msg("%s and %s: %d %d, must be %s", a, b, r, q, same ? "one file" : "two");
}

static void test_one_file(void **state)
{
    static const char *const pairs[][2] = {
        {"there", "there"},     {"there", "./there"},    {"there", "sub/../there"},
        {"there", "twin"},      {"there", "link"},       {"twin", "way/../link"},
        {"new", "new"},         {"new", "./new"},        {"new", ".//new"},
        {"new", "sub/../new"},  {"new", "dangling"},     {"new", "far"},
        {"far", "./dangling"},  {"new", "sub/up"},       {"new", "way/up"},
        {"sub/new", "way/new"}, {"sub/deep", "inwards"}, {"way/deep", "inwards"},
        {"-", "/dev/stdout"},   {"-", "/dev/fd/1"},      {"-", "out1"},
        {"/dev/null", "null"},
    };
    char full[64];

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        expect(pairs[i][0], pairs[i][1], true);
    (void)snprintf(full, sizeof(full), "%s/new", folder);
    expect("new", full, true);
    expect("far", full, true);
    (void)snprintf(full, sizeof(full), "%s/there", folder);
    expect("link", full, true);
}

static void test_two_files(void **state)
{
    static const char *const pairs[][2] = {
        {"there", "new"},           {"new", "New"}, {"new", "newer"},
        {"new", "sub/new"},         {"new", "sub"}, {"dangling", "inwards"},
        {"there", "/dev/null"},     {"-", "there"}, {"-", "new"},
        {"/dev/null", "/dev/zero"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        expect(pairs[i][0], pairs[i][1], false);
}

/* A path that cannot be opened leads to no file. */
static void test_no_file(void **state)
{
    static const struct {
        const char *path;
        int result;
    } cases[] = {
        {"missing/new", -ENOENT}, {"nowhere", -ENOENT}, {"there/new", -ENOTDIR}, {"loop", -ELOOP},
        {"new/", -EISDIR},        {"slash", -EISDIR},   {"", -ENOENT},
    };
    char name[NAME_MAX + 2], path[PATH_MAX + 1];
    struct file_id id = {.name = "untouched"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (file_id_get(cases[i].path, STDOUT_FILENO, &id) != cases[i].result)
            fail_msg("'%s' leads to a file", cases[i].path);
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(file_id_get(name, STDOUT_FILENO, &id), -ENAMETOOLONG);
    memset(path, '/', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(file_id_get(path, STDOUT_FILENO, &id), -ENAMETOOLONG);
    assert_int_equal(file_id_get("-", 12345, &id), -EBADF);
    assert_string_equal(id.name, "untouched");
    name[NAME_MAX] = '\0'; /* just short enough */
    assert_int_equal(file_id_get(name, STDOUT_FILENO, &id), 0);
}

static void test_null(void **state)
{
    struct file_id id;

    (void)state;
    assert_int_equal(file_id_get("null", STDOUT_FILENO, &id), 0);
    assert_true(file_id_is_null(&id));
    assert_int_equal(file_id_get("/dev/zero", STDOUT_FILENO, &id), 0);
    assert_false(file_id_is_null(&id));
    assert_int_equal(file_id_get("new", STDOUT_FILENO, &id), 0);
    assert_false(file_id_is_null(&id));
}

static int make_folder(void **state)
{
    int fd;

    (void)state;
    if (!mkdtemp(folder) || chdir(folder) || mkdir("sub", 0700))
        return -1;
    fd = open("there", O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || close(fd) || link("there", "twin"))
        return -1;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        if (symlink(links[i].target, links[i].name))
            return -1;
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        (void)unlink(links[i].name);
    (void)unlink("there");
    (void)unlink("twin");
    (void)rmdir("sub");
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_file),
        cmocka_unit_test(test_two_files),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_null),
    };

    return cmocka_run_group_tests_name("file-id", tests, make_folder, remove_folder);
}
