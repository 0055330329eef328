#include "tests/lib/unit.h"

#include <string.h>

#include "base/url.h"

static void test_is_url(void **state)
{
    (void)state;
    assert_true(is_url("rtsp://camera/"));
    assert_true(is_url("crypto+http://x"));
    assert_true(is_url("s3://x"));
    assert_false(is_url(""));
    assert_false(is_url("://x"));
    assert_false(is_url("./http://x"));
    assert_false(is_url("film.mp4"));
    assert_false(is_url("test:noise=1"));
    assert_false(is_url("http:/x"));
    assert_false(is_url("a b://x"));
}

static void test_public(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"film.mp4", "film.mp4"},
        {"user:secret@host", "user:secret@host"}, /* no URL */
        {"http://host/film.mp4", "http://host/film.mp4"},
        {"rtsp://host:554/a/b", "rtsp://host:554/a/b"},
        {"rtsp://user:secret@host:554/a", "rtsp://***@host:554/a"},
        {"rtsp://user@host/a", "rtsp://***@host/a"},
        {"rtsp://user:sec/ret@host/a", "rtsp://***@host/a"},
        {"rtsp://user:se@c?r#et@host/a", "rtsp://***@host/a"},
        {"http://host/a?token=secret", "http://host/a***"},
        {"http://host/a#secret", "http://host/a***"},
        {"http://host/a;secret", "http://host/a***"},
        {"http://host/a?mail=a@b&key=secret", "http://***@b***"},
        {"rtsp://host/user=admin&password=secret&channel=1", "rtsp://host/user***"},
        {"udp://@239.0.0.1:5000", "udp://***@239.0.0.1:5000"},
        {"--inptu=http://user:secret@host/", "--inptu=http://***@host/"},
        {"http://", "http://"},
        {"http://@", "http://***@"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64], room[128];

        assert_string_equal(url_public(cases[i][0], room, sizeof(room)), cases[i][1]);
        assert_string_equal(url_public(cases[i][0], text, sizeof(text)), cases[i][1]);
        assert_true(strlen(url_public(cases[i][0], text, 10)) < 10);
    }
}

/* What is left of the text is none of it. */
static void test_hide(void **state)
{
    char url[] = "http://u:geheim@host/path?geheim", tight[] = "http://u@h", plain[] = "film.mp4";

    (void)state;
    url_hide(url);
    assert_string_equal(url, "http://***@host/path***");
    for (size_t i = strlen(url); i < sizeof(url); i++)
        assert_int_equal(url[i], '\0');
    url_hide(tight);
    assert_string_equal(tight, "http://***");
    url_hide(plain);
    assert_string_equal(plain, "film.mp4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_url),
        cmocka_unit_test(test_public),
        cmocka_unit_test(test_hide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
