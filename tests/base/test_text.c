#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

static void test_ends_with(void **state)
{
    (void)state;
    assert_true(ends_with("a.y4m", ".y4m"));
    assert_true(ends_with(".y4m", ".y4m"));
    assert_true(ends_with("a", ""));
    assert_true(ends_with("", ""));
    assert_false(ends_with("y4m", ".y4m"));
    assert_false(ends_with("", ".y4m"));
    assert_false(ends_with("a.y4m.gz", ".y4m"));
    assert_false(ends_with("a.Y4M", ".y4m"));
}

static void test_list(void **state)
{
    char text[16] = "";

    (void)state;
    list_add(text, sizeof(text), ", ", "");
    assert_string_equal(text, "");
    list_add(text, sizeof(text), ", ", "avx2");
    assert_string_equal(text, "avx2");
    list_add(text, sizeof(text), ", ", "");
    list_add(text, sizeof(text), ", ", "c");
    assert_string_equal(text, "avx2, c");
    list_add(text, sizeof(text), " ", "neon");
    assert_string_equal(text, "avx2, c neon");
    for (int i = 0; i < 3; i++)
        list_add(text, sizeof(text), ", ", "vnni");
    assert_string_equal(text, "avx2, c neon, v");
}

/* Below: texts from outside, which may hold any bytes. */

static void test_repair(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"plain \n text", "plain \n text"},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x93\xb7", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x93\xb7"},
        {"Caf\xe9 x", "Caf? x"},
        {"\xff\xfe", "??"},
        {"cut \xe2\x82", "cut ??"},
        {"cut \xc3", "cut ?"},
        {"\x80", "?"},
        {"\xc0\xaf", "??"},           /* overlong '/' */
        {"\xe0\x80\xaf", "???"},      /* the same */
        {"\xed\xa0\x80", "???"},      /* a surrogate */
        {"\xf4\x90\x80\x80", "????"}, /* beyond the last character */
        {"\xf0\x8f\xbf\xbf", "????"}, /* overlong */
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[32];

        (void)snprintf(text, sizeof(text), "%s", cases[i][0]);
        assert_string_equal(utf8_repair(text), cases[i][1]);
    }
}

static void test_printable(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"Caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x93\xb7", "Caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x93\xb7"},
        {"\033[31mred\033]0;title\a", "?[31mred?]0;title?"},
        {"a\nb\rc\td\x7f", "a?b?c?d?"},
        {"\x9b"
         "31m",
         "?31m"},
        {"\xc2\x9b"
         "31m",
         "??31m"},
        {"\xc2\x80\xc2\x9f\xc2\xa0", "????\xc2\xa0"},
        {"cut \xc2", "cut ?"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%s", cases[i][0]);
        assert_string_equal(utf8_printable(text), cases[i][1]);
    }
}

static void print_to(char *text, size_t size, void (*print)(FILE *, const char *), const char *in)
{
    FILE *const f = fmemopen(text, size, "w");

    assert_non_null(f);
    print(f, in);
    assert_int_equal(fclose(f), 0);
}

static void test_strings(void **state)
{
    static const struct {
        const char *in, *json, *csv;
    } cases[] = {
        {"", "\"\"", "\"\""},
        {"a, b", "\"a, b\"", "\"a, b\""},
        {"\"a\" \\", "\"\\\"a\\\" \\\\\"", "\"\"\"a\"\" \\\""},
        {"\n\x7f\xc2\x9b", "\"\\u000a\\u007f\\u009b\"", "\"???\""},
        {"Caf\xc3\xa9\xe9", "\"Caf\xc3\xa9?\"", "\"Caf\xc3\xa9?\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];

        print_to(text, sizeof(text), json_print_string, cases[i].in);
        assert_string_equal(text, cases[i].json);
        print_to(text, sizeof(text), csv_print_string, cases[i].in);
        assert_string_equal(text, cases[i].csv);
    }
}

/* A text that is cut to fit is not cut inside a character. */
static void test_errors(void **state)
{
    char text[600] = "ab";
    struct error err;

    (void)state;
    assert_int_equal(error_set(&err, -EIO, "'%s' is off", "\033[31m\xc2\x9b\n"), -EIO);
    assert_string_equal(err.text, "'?[31m?\?\?' is off");
    while (strlen(text) + 2 < sizeof(text))
        strcat(text, "\xc3\xa9");
    assert_int_equal(error_set(&err, -EIO, "%s", text), -EIO);
    text[510] = '?';
    text[511] = '\0';
    assert_string_equal(err.text, text);
}

static void test_messages(void **state)
{
    char line[128] = "";
    int pipe_fd[2], saved;

    (void)state;
    assert_int_equal(pipe(pipe_fd), 0);
    saved = dup(STDERR_FILENO);
    assert_int_equal(dup2(pipe_fd[1], STDERR_FILENO), STDERR_FILENO);
    log_error("camera '%s'", "\033[31m\xc2\x9b\n\xff");
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    assert_true(read(pipe_fd[0], line, sizeof(line) - 1) > 0);
    assert_string_equal(line, "bilatcam: camera '?[31m?\?\?\?'\n");
    (void)close(saved);
    (void)close(pipe_fd[0]);
    (void)close(pipe_fd[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_with), cmocka_unit_test(test_list),
        cmocka_unit_test(test_repair),    cmocka_unit_test(test_printable),
        cmocka_unit_test(test_strings),   cmocka_unit_test(test_errors),
        cmocka_unit_test(test_messages),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
