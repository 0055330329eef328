/* Keys one by one: their defaults, what is allowed, and how values change. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>

#include "settings/settings.h"

static void test_defaults_are_valid(void **state)
{
    struct settings s, again;
    struct error err;

    (void)state;
    settings_init(&s);
    settings_init(&again);
    for (const struct key *k = key_table; k->name; k++) {
        char value[SETTINGS_VALUE_MAX], allowed[256];

        settings_get(&s, k, value, sizeof(value));
        assert_string_equal(value, k->default_text);
        assert_int_equal(settings_set(&again, k->name, value, &err), 0);
        key_describe(k, allowed, sizeof(allowed));
        assert_true(strlen(allowed) > 0);
        assert_ptr_equal(key_find(k->name), k);
    }
    assert_memory_equal(&s, &again, sizeof(s));
}

static const struct {
    const char *key, *value, *back; /* back NULL: refused */
} values[] = {
    {"output", "a b", "a b"},
    {"output", "auto\nnull:", "auto\nnull:"},
    {"output", "1\n2\n3\n4\n5\n6\n7\n8", "1\n2\n3\n4\n5\n6\n7\n8"},
    {"output", "1\n2\n3\n4\n5\n6\n7\n8\n9", NULL},
    {"output", "", NULL},
    {"output", "a\n", NULL},
    {"output", "\na", NULL},
    {"radius", "0", "0"},
    {"radius", "32", "32"},
    {"radius", "33", NULL},
    {"radius", "-1", NULL},
    {"radius", "5.5", NULL},
    {"radius", "", NULL},
    {"radius", " 5", NULL},
    {"radius", "5x", NULL},
    {"radius", "99999999999999999999", NULL},
    {"sigma-color", "1", "1"},
    {"sigma-color", "22.5", "22.5"},
    {"sigma-color", "auto", "auto"},
    {"sigma-color", "0", NULL},
    {"sigma-color", "0.5", NULL},
    {"sigma-color", "nan", NULL},
    {"sigma-color", "inf", NULL},
    {"sigma-color", "0x10", NULL},
    {"sigma-color", "201", NULL},
    {"sigma-color", "1e400", NULL},
    {"sigma-space", "auto", "auto"},
    {"sigma-space", "0", NULL},
    {"sigma-space", "2", "2"},
    {"sigma-space", "0.01", NULL},
    {"temporal", "auto", "auto"},
    {"temporal", "1", "1"},
    {"temporal", "64", "64"},
    {"temporal", "0", NULL},
    {"temporal", "65", NULL},
    {"temporal", "2.5", NULL},
    {"temporal-mode", "window", "window"},
    {"device", "auto", "auto"},
    {"device", "0", "0"},
    {"device", "0000:0A:00.0", "0000:0A:00.0"},
    {"device", "", NULL},
    {"device", "-1", NULL},
    {"device", "1000", NULL},
    {"device", "1:", NULL},
    {"device", ":1", NULL},
    {"device", "1:2:3:4", NULL},
    {"device", "1:2.8", NULL},
    {"device", "1:2.0", "1:2.0"},
    {"device", "cpu", NULL},
    {"device", "0000:01:00.0/../x", NULL},
    {"temporal-mode", "mean", NULL},
    {"sigma-time", "auto", "auto"},
    {"sigma-time", "1.5", "1.5"},
    {"sigma-time", "101", NULL},
    {"size", "640x480", "640x480"},
    {"size", "641x480", NULL},
    {"size", "640", NULL},
    {"size", "640x", NULL},
    {"size", "x480", NULL},
    {"size", "640x480x2", NULL},
    {"size", "99999x2", NULL},
    {"size", "auto", "auto"},
    {"size", "2x1", "2x1"},
    {"fps", "30", "30"},
    {"fps", "29.97", "30000/1001"},
    {"fps", "30000/1001", "30000/1001"},
    {"fps", "12.5", "12500/1000"},
    {"fps", "0", NULL},
    {"fps", "1/0", NULL},
    {"fps", "9999", NULL},
    {"fps", "1/1000", NULL},
    {"format", "mjpg", "mjpg"},
    {"format", "auto", "auto"},
    {"format", "rgb24", "rgb24"},
    {"format", "rgb", NULL},
    {"output-format", "yu12", "yu12"},
    {"output-format", "bgr24", "bgr24"},
    {"output-format", "nv12", NULL},
    {"encoder", "libx264:crf=20", "libx264:crf=20"},
    {"depth", "auto", "auto"},
    {"depth", "8", "8"},
    {"depth", "16", "16"},
    {"depth", "10", NULL},
    {"depth", "", NULL},
    {"levels", "0,1", "0,1"},
    {"levels", "7000,9000", "7000,9000"},
    {"levels", "auto", "auto"},
    {"levels", "off", "off"},
    {"levels", "9000,7000", NULL},
    {"levels", "5,5", NULL},
    {"levels", "0,65536", NULL},
    {"levels", "-1,5", NULL},
    {"levels", "7000", NULL},
    {"levels", "7000,", NULL},
    {"levels", ",7000", NULL},
    {"levels", "1,2,3", NULL},
    {"encoder", "auto", "auto"},
    {"filter", "none", "none"},
    {"filter", "gaussian", "gaussian"},
    {"filter", "box", "box"},
    {"filter", "median", NULL},
    {"range", "lorentzian", "lorentzian"},
    {"distance", "manhattan", "manhattan"},
    {"distance", "l1", NULL},
    {"window", "square", "square"},
    {"engine", "simd", "simd"},
    {"engine", "opencl", NULL},
    {"preview", "on", "yes"},
    {"preview", "0", "no"},
    {"preview", "maybe", NULL},
    {"latency-budget", "off", "off"},
    {"latency-budget", "auto", "auto"},
    {"latency-budget", "12.5", "12.5"},
    {"latency-budget", "0", NULL},
    {"latency-budget", "-3", NULL},
    {"radius-min", "0", NULL},
    {"frames", "100", "100"},
    {"threads", "257", NULL},
    {"input", "/dev/video0", "/dev/video0"},
    {"nonsense", "1", NULL},
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct settings s, before;
        struct error err = {.text = ""};
        char value[SETTINGS_VALUE_MAX];
        int r;

        settings_init(&s);
        before = s;
        r = settings_set(&s, values[i].key, values[i].value, &err);
        if (!values[i].back) {
            assert_int_equal(r, -EINVAL);
            assert_non_null(strstr(err.text, values[i].key));
            assert_memory_equal(&s, &before, sizeof(s));
            continue;
        }
        assert_int_equal(r, 0);
        settings_get(&s, key_find(values[i].key), value, sizeof(value));
        assert_string_equal(value, values[i].back);
    }
}

static void test_text_that_is_too_long(void **state)
{
    struct settings s;
    struct error err;
    char text[SETTINGS_PATH_MAX + 1];

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    settings_init(&s);
    assert_int_equal(settings_set(&s, "input", text, &err), -EINVAL);
    text[SETTINGS_PATH_MAX - 1] = '\0';
    assert_int_equal(settings_set(&s, "input", text, &err), 0);
}

/* What does not fit changes nothing, whichever of the two keys it is. */
static void test_change(void **state)
{
    struct settings s, before;
    struct error err = {.text = ""};

    (void)state;
    settings_init(&s);
    assert_int_equal(settings_change(&s, "temporal", "17", &err), 0);
    before = s;
    assert_int_equal(settings_change(&s, "temporal-mode", "window", &err), -EINVAL);
    assert_non_null(strstr(err.text, "17 frames, at most 8"));
    assert_int_equal(settings_change(&s, "temporal", "65", &err), -EINVAL);
    assert_memory_equal(&s, &before, sizeof(s));
    assert_int_equal(settings_change(&s, "temporal", "8", &err), 0);
    assert_int_equal(settings_change(&s, "temporal-mode", "window", &err), 0);
    assert_int_equal(settings_change(&s, "temporal", "9", &err), -EINVAL);
    assert_int_equal(s.temporal, 8);
}

/* Steps of each key's own size, from what auto stands for, as far as is allowed. */
static void test_adjust(void **state)
{
    static const struct {
        const char *key, *before;
        int steps;
        double automatic;
        const char *after;
    } rows[] = {
        {"radius", "5", 2, 0, "7"},
        {"radius", "31", 2, 0, "32"},
        {"radius", "1", -3, 0, "0"},
        {"sigma-color", "18", 1, 0, "19"},
        {"sigma-color", "auto", -1, 12, "11"},
        {"sigma-color", "auto", 1, 17.91324714, "19"},
        {"sigma-color", "2", -5, 0, "1"},
        {"sigma-space", "auto", 1, 2.5, "2.75"},
        {"sigma-space", "3", -1, 0, "2.75"},
        {"temporal", "auto", 1, 16, "17"},
        {"temporal", "2", -4, 0, "1"},
        {"temporal", "64", 1, 0, "64"},
        {"filter", "bilateral", 1, 0, "gaussian"},
        {"filter", "none", 1, 0, "bilateral"},
        {"filter", "bilateral", -1, 0, "none"},
        {"window", "disc", -3, 0, "square"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct key *k = key_find(rows[i].key);
        struct settings s;
        struct error err;
        char value[64];

        settings_init(&s);
        assert_int_equal(settings_set(&s, rows[i].key, rows[i].before, &err), 0);
        settings_adjust(&s, k, rows[i].steps, rows[i].automatic);
        settings_get(&s, k, value, sizeof(value));
        assert_string_equal(value, rows[i].after);
    }
}

/* Every type has a row, and what completions offer is taken. */
static void test_words_are_values(void **state)
{
    struct settings s;
    struct error err;

    (void)state;
    settings_init(&s);
    for (const struct key *k = key_table; k->name; k++) {
        char words[64], *rest = words;

        assert_non_null(strstr("bids", key_signature(k)));
        (void)snprintf(words, sizeof(words), "%s", key_words(k));
        for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
            char value[64];

            assert_int_equal(settings_set(&s, k->name, word, &err), 0);
            settings_get(&s, k, value, sizeof(value));
            assert_string_equal(value, word);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_valid),
        cmocka_unit_test(test_words_are_values),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_text_that_is_too_long),
        cmocka_unit_test(test_change),
        cmocka_unit_test(test_adjust),
    };

    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
