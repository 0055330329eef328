#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "filter/filter.h"
#include "settings/settings.h"

static char folder[] = "/tmp/bilatcam-test-XXXXXX";
static char path[128];

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void test_file(void **state)
{
    struct settings s;
    struct error err;

    (void)state;
    settings_init(&s);
    write_file("# comment\nradius = 7\n\nsigma-color=25 ; why not\nwindow = square\n");
    assert_int_equal(settings_load(&s, path, &err), 0);
    assert_int_equal(s.radius, 7);
    assert_int_equal(s.window, WINDOW_SQUARE);
    assert_true(s.sigma_color > 24.9 && s.sigma_color < 25.1);
}

/* What a line says, as it is read. */
static void test_lines(void **state)
{
    static const char *const rows[][2] = {
        {"input = a;b\n", "a;b"},
        {"input = a ; b\n", "a"},
        {"input=;b\n", ";b"},
        {"input = ;b\n", ""},
        {"input : a = b\n", "a = b"},
        {" \t input=a b \t\r\n", "a b"},
        {"input = a # b\n", "a # b"},
        {"input = a\"b\"\n", "a\"b\""},
        {"\xef\xbb\xbfinput = a\n", "a"},
        {"input = a", "a"},
        {"input = \"a ; b\"\n", "a ; b"},
        {"input = \" a \" ; b\n", " a "},
        {"input=\"\"\n", ""},
        {"input = \"\\\"\\\\\\n\\;\"", "\"\\\n;"},
        {"input = \"C:\\\\cam\"\n", "C:\\cam"},
        {"input = C:\\cam\n", "C:\\cam"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct settings s;
        struct error err = {.text = ""};

        settings_init(&s);
        write_file(rows[i][0]);
        if (settings_load(&s, path, &err))
            fail_msg("%s: %s", rows[i][0], err.text);
        assert_string_equal(s.input, rows[i][1]);
    }
}

/* Prints settings with this value, and reads them again. */
static void round_trip(const char *value)
{
    struct settings s, again;
    struct error err = {.text = ""};
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    settings_init(&s);
    settings_init(&again);
    assert_int_equal(settings_set(&s, "input", value, &err), 0);
    assert_int_equal(settings_set(&s, "stats", value, &err), 0);
    settings_print(&s, f);
    assert_int_equal(fclose(f), 0);
    if (settings_load(&again, path, &err))
        fail_msg("'%s': %s", value, err.text);
    assert_string_equal(again.input, value);
    assert_memory_equal(&s, &again, sizeof(s));
}

/* Every three of these, alone and inside, and some of the longest values that there are. */
static void test_print_and_read(void **state)
{
    static const char alphabet[] = " \t\n;#\"\\=n[";
    const int n = (int)sizeof(alphabet) - 1;
    char value[SETTINGS_PATH_MAX];

    (void)state;
    round_trip("");
    for (int i = 0; i < n * n * n; i++) {
        (void)snprintf(value, sizeof(value), "x%c%c%cx", alphabet[i / n / n], alphabet[i / n % n],
                       alphabet[i % n]);
        round_trip(value);
        value[4] = '\0';
        round_trip(value + 1);
    }
    for (int i = 0; i < n; i++) {
        memset(value, alphabet[i], sizeof(value) - 1);
        value[sizeof(value) - 1] = '\0';
        round_trip(value);
    }
}

/* What a file gives takes the place of what was before, and several lines add up. */
static void test_lists(void **state)
{
    static const char *const rows[][2] = {
        {"radius = 3\n", "auto"},
        {"output = null:\n", "null:"},
        {"output = a.y4m\nradius = 3\noutput = \"b ; c.y4m\"\n", "a.y4m\nb ; c.y4m"},
        {"output = a,b.y4m\n", "a,b.y4m"},
        {"output = \"auto\\nnull:\"\noutput = -\n", "auto\nnull:\n-"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct settings s, again;
        struct error err = {.text = ""};
        FILE *f;

        settings_init(&s);
        settings_init(&again);
        write_file(rows[i][0]);
        if (settings_load(&s, path, &err))
            fail_msg("%s: %s", rows[i][0], err.text);
        assert_string_equal(s.output, rows[i][1]);
        f = fopen(path, "w");
        assert_non_null(f);
        settings_print(&s, f);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(settings_load(&again, path, &err), 0);
        assert_memory_equal(&s, &again, sizeof(s));
    }
}

static void test_items(void **state)
{
    char item[SETTINGS_PATH_MAX];

    (void)state;
    assert_true(settings_item("a\nbc\nd", 0, item));
    assert_string_equal(item, "a");
    assert_true(settings_item("a\nbc\nd", 1, item));
    assert_string_equal(item, "bc");
    assert_true(settings_item("a\nbc\nd", 2, item));
    assert_string_equal(item, "d");
    assert_false(settings_item("a\nbc\nd", 3, item));
    assert_false(settings_item("", 0, item));
}

static void test_bad_files_are_refused_whole(void **state)
{
    static const struct {
        const char *text, *expect[4];
    } rows[] = {
        {"radius = 3\nradius = 99\n", {"line 2", "radius", "99", "from 0 to 32"}},
        {"radius = 3\nradios = 4\n", {"line 2", "unknown key", "radios", ""}},
        {"output = null:\noutput =\n", {"line 2", "output = ''", "up to 8", ""}},
        {"radius = 3\n[camera]\nsize = 2x2\n", {"line 2", "[camera]", "", ""}},
        {"radius = 3\nnonsense\n", {"line 2", "KEY = VALUE", "", ""}},
        {"filter = blur\n", {"line 1", "filter", "bilateral", "box"}},
        {"input = \"a\n", {"line 1", "input", "quote", ""}},
        {"input = \"a ; b\n", {"line 1", "input", "quote", ""}},
        {"input = \"a\" # b\n", {"line 1", "input", "quote", "after a space and a ;"}},
        {"input = \"a\";b\n", {"line 1", "input", "quote", ""}},
        {"input = \"a\\\"\n", {"line 1", "input", "quote", ""}},
        {"radius ; = 3\n", {"line 1", "KEY = VALUE", "", ""}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct settings s, before;
        struct error err;

        settings_init(&s);
        before = s;
        write_file(rows[i].text);
        assert_int_equal(settings_load(&s, path, &err), -EINVAL);
        assert_memory_equal(&s, &before, sizeof(s));
        assert_non_null(strstr(err.text, path));
        for (int k = 0; k < 4; k++)
            if (rows[i].expect[k])
                assert_non_null(strstr(err.text, rows[i].expect[k]));
    }
}

static void test_zero_bytes(void **state)
{
    static const char *const rows[] = {"radius = 3\n@radius = 4\n", "radius = 3\nradius = 4@\n",
                                       "radius = 3\n@@"};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        FILE *f = fopen(path, "w");
        struct settings s;
        struct error err;

        assert_non_null(f);
        for (const char *p = rows[i]; *p; p++)
            assert_true(putc(*p == '@' ? '\0' : *p, f) >= 0);
        assert_int_equal(fclose(f), 0);
        settings_init(&s);
        assert_int_equal(settings_load(&s, path, &err), -EINVAL);
        assert_non_null(strstr(err.text, "line 2: has a byte of 0"));
    }
}

static void test_missing_file(void **state)
{
    struct settings s;
    struct error err;

    (void)state;
    settings_init(&s);
    assert_int_equal(settings_load(&s, "/nonexistent/x.conf", &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent/x.conf"));
}

static void test_finding_the_file(void **state)
{
    char found[256], expect[256];

    (void)state;
    assert_int_equal(setenv("XDG_CONFIG_HOME", folder, 1), 0);
    assert_int_equal(setenv("XDG_CONFIG_DIRS", "/nonexistent", 1), 0);
    assert_false(settings_find_file(found, sizeof(found)));
    (void)snprintf(expect, sizeof(expect), "%s/bilatcam", folder);
    assert_int_equal(mkdir(expect, 0700), 0);
    (void)snprintf(expect, sizeof(expect), "%s/bilatcam/bilatcam.conf", folder);
    write_file("radius = 9\n");
    assert_int_equal(rename(path, expect), 0);
    assert_true(settings_find_file(found, sizeof(found)));
    assert_string_equal(found, expect);
    assert_int_equal(setenv("XDG_CONFIG_HOME", "/nonexistent", 1), 0);
    assert_int_equal(setenv("XDG_CONFIG_DIRS", folder, 1), 0);
    assert_true(settings_find_file(found, sizeof(found)));
    assert_string_equal(found, expect);
}

static int parse(struct cli *cli, struct error *err, const char *const *words)
{
    static char copies[16][128];
    static char *argv[17];
    int argc = 0;

    for (; words[argc]; argc++) {
        (void)snprintf(copies[argc], sizeof(copies[argc]), "%s", words[argc]);
        argv[argc] = copies[argc];
    }
    argv[argc] = NULL;
    return cli_parse(cli, argc, argv, err);
}

#define WORDS(...) ((const char *const[]){"bilatcam", __VA_ARGS__, NULL})

static void test_command_line(void **state)
{
    struct settings s;
    struct error err;
    struct cli cli;

    (void)state;
    write_file("radius = 3\nsigma-color = 40\n");
    assert_int_equal(parse(&cli, &err,
                           WORDS("-i", "x.y4m", "--output=null:", "-r9", "-p", "-v", "--config",
                                 path, "--set", "window=square")),
                     0);
    assert_int_equal(cli.command, CLI_RUN);
    assert_int_equal(cli.verbosity, 1);
    assert_int_equal(cli_settings(&cli, &s, &err), 0);
    assert_string_equal(s.input, "x.y4m");
    assert_string_equal(s.output, "null:");
    assert_int_equal(s.radius, 9);
    assert_true(s.sigma_color > 39.9);
    assert_true(s.preview);
    assert_int_equal(s.window, WINDOW_SQUARE);
    cli_finish(&cli);
}

static void test_wrong_usage(void **state)
{
    static const struct {
        const char *words[4], *expect;
    } rows[] = {
        {{"bilatcam", "--radios", "5", NULL}, "--radios"},
        {{"bilatcam", "-x", NULL}, "-x"},
        {{"bilatcam", "--radius", NULL}, "--radius"},
        {{"bilatcam", "-r", NULL}, "-r"},
        {{"bilatcam", "extra", NULL}, "extra"},
        {{"bilatcam", "--preview=yes", NULL}, "--preview=yes"},
        {{"bilatcam", "--set", "radius", NULL}, "KEY=VALUE"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = {.text = ""};
        struct cli cli;

        assert_int_equal(parse(&cli, &err, rows[i].words), -EINVAL);
        assert_non_null(strstr(err.text, rows[i].expect));
        cli_finish(&cli);
    }
}

/* Whatever the order in which they come. */
static void test_frames_of_a_mode(void **state)
{
    static const struct {
        const char *words[6];
        bool fits;
    } rows[] = {
        {{"bilatcam", "--temporal", "17", "--temporal-mode", "window", NULL}, false},
        {{"bilatcam", "--temporal-mode", "window", "--temporal", "17", NULL}, false},
        {{"bilatcam", "--temporal", "17", "--temporal-mode", "recursive", NULL}, true},
        {{"bilatcam", "--temporal-mode", "window", "--temporal", "8", NULL}, true},
        {{"bilatcam", "--temporal-mode", "window", "--temporal", "auto", NULL}, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = {.text = ""};
        struct settings s;
        struct cli cli;

        assert_int_equal(parse(&cli, &err, rows[i].words), 0);
        assert_int_equal(cli_settings(&cli, &s, &err), rows[i].fits ? 0 : -EINVAL);
        assert_string_equal(
            err.text,
            rows[i].fits ? "" : "temporal: 17 frames, at most 8 with temporal-mode window");
        cli_finish(&cli);
    }
}

static void test_settings_that_do_not_fit_together(void **state)
{
    struct settings s;
    struct error err;
    struct cli cli;

    (void)state;
    assert_int_equal(parse(&cli, &err, WORDS("-o", "-", "--stats", "-")), 0);
    assert_int_equal(cli_settings(&cli, &s, &err), -EINVAL);
    cli_finish(&cli);
    assert_int_equal(parse(&cli, &err, WORDS("--set", "radius=x")), 0);
    assert_int_equal(cli_settings(&cli, &s, &err), -EINVAL);
    assert_non_null(strstr(err.text, "radius"));
    cli_finish(&cli);
}

static void test_commands(void **state)
{
    static const struct {
        const char *word;
        enum cli_command command;
    } rows[] = {
        {"--help", CLI_HELP},
        {"-V", CLI_VERSION},
        {"--print-config", CLI_PRINT_CONFIG},
        {"--list-devices", CLI_LIST_DEVICES},
        {"--list-engines", CLI_LIST_ENGINES},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err;
        struct cli cli;

        assert_int_equal(parse(&cli, &err, WORDS(rows[i].word)), 0);
        assert_int_equal(cli.command, rows[i].command);
        cli_finish(&cli);
    }
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof(path), "%s/test.conf", folder);
    return setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
}

static int remove_folder(void **state)
{
    char name[160];

    (void)state;
    (void)unlink(path);
    (void)snprintf(name, sizeof(name), "%s/bilatcam/bilatcam.conf", folder);
    (void)unlink(name);
    (void)snprintf(name, sizeof(name), "%s/bilatcam", folder);
    (void)rmdir(name);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_print_and_read),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_bad_files_are_refused_whole),
        cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_command_line),
        cmocka_unit_test(test_wrong_usage),
        cmocka_unit_test(test_settings_that_do_not_fit_together),
        cmocka_unit_test(test_frames_of_a_mode),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_finding_the_file),
    };

    return cmocka_run_group_tests_name("config and command line", tests, make_folder,
                                       remove_folder);
}
