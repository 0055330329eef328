/* The table of figures: its rows are well-formed, and the JSON has all of them. That D-Bus and
 * bilatcamctl have theirs is in tests/control/test_control.sh. */
#include "tests/lib/unit.h"

#include <ctype.h>
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>

#include "tests/lib/figures.h"

/* What a field of each type is like. A text may have any size. */
static const struct {
    size_t size, align;
    const char *signature;
} types[] = {
    [FIGURE_TEXT] = {0, 1, "s"},
    [FIGURE_INT] = {sizeof(int), alignof(int), "i"},
    [FIGURE_COUNT] = {sizeof(uint64_t), alignof(uint64_t), "t"},
    [FIGURE_REAL] = {sizeof(double), alignof(double), "d"},
    [FIGURE_DURATION] = {sizeof(int64_t), alignof(int64_t), "d"},
};

static void test_fields(void **state)
{
    static char owner[sizeof(struct status)];

    (void)state;
    for (const struct figure *f = figure_table; f->help; f++) {
        assert_in_range(f->type, 0, sizeof(types) / sizeof(types[0]) - 1);
        assert_true(f->size && f->offset + f->size <= sizeof(struct status));
        assert_int_equal(f->offset % types[f->type].align, 0);
        if (f->type != FIGURE_TEXT)
            assert_int_equal(f->size, types[f->type].size);
        assert_string_equal(figure_signature(f), types[f->type].signature);
        /* No two figures are the same field, or share a part of it. */
        for (size_t i = f->offset; i < f->offset + f->size; i++)
            assert_int_equal(owner[i]++, 0);
    }
}

static bool same(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

static void test_names(void **state)
{
    (void)state;
    for (const struct figure *f = figure_table; f->help; f++) {
        assert_true(f->json || f->property);
        for (const struct figure *g = f + 1; g->help; g++)
            if (same(f->json, g->json) || same(f->property, g->property))
                fail_msg("two figures are called %s", f->json ? f->json : f->property);
        for (const char *c = f->json; c && *c; c++)
            assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_' ||
                        *c == '.');
        for (const char *c = f->property; c && *c; c++)
            assert_true(isalnum((unsigned char)*c));
        if (f->property) {
            assert_true(isupper((unsigned char)*f->property) && strlen(f->property) < 32);
            assert_ptr_equal(figure_find(f->property), f);
        }
        /* Only who is told on D-Bus is told of changes, and of what is not known. */
        assert_true(f->property || (!f->announced && !f->negative));
        assert_true(!f->negative || f->type == FIGURE_INT);
        assert_true(f->type != FIGURE_DURATION || same(f->unit, "ms"));
    }
    assert_null(figure_find("Radius"));
}

/* Returns what is before the dot in @name. */
static size_t object_of(const char *name)
{
    return strchr(name, '.') ? strcspn(name, ".") : 0;
}

/* Written twice, an object would lose the first half of its members. */
static void test_objects_are_whole(void **state)
{
    const char *last = "";

    (void)state;
    for (const struct figure *f = figure_table; f->help; f++) {
        const size_t n = f->json ? object_of(f->json) : 0;

        if (!f->json)
            continue;
        if (n && (n != object_of(last) || strncmp(f->json, last, n) != 0))
            for (const struct figure *g = figure_table; g < f; g++)
                if (g->json && !strncmp(g->json, f->json, n + 1))
                    fail_msg("the members of %.*s do not stand together", (int)n, f->json);
        last = f->json;
    }
}

static char *print(const struct status *s)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    status_print_json(s, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Each figure, in the order of the table, and nothing else. */
static void test_json_has_all_figures(void **state)
{
    struct status s;
    char *text, *at;

    (void)state;
    fill_figures(&s);
    text = at = print(&s);
    assert_int_equal(*at++, '{');
    for (const struct figure *f = figure_table; f->help; f++) {
        const char *const quote = f->type == FIGURE_TEXT ? "\"" : "";
        char value[64], expected[160];
        size_t n;

        if (!f->json)
            continue;
        figure_text(f, &s, value, sizeof(value));
        n = object_of(f->json) ? object_of(f->json) + 1 : 0;
        (void)snprintf(expected, sizeof(expected), "\"%s\": %s%s%s", f->json + n, quote, value,
                       quote);
        at = strstr(at, expected);
        if (!at)
            fail_msg("no %s in its place in %s", expected, text);
        at += strlen(expected);
    }
    assert_string_equal(at, "}\n");
    free(text);
}

static void test_values(void **state)
{
    const struct figure *f = figure_find("CameraDelayMs");
    struct status s;
    char text[32], *json;

    (void)state;
    status_init(&s);
    s.second.camera.p50_ns = 10250000;
    assert_non_null(f);
    assert_true(figure_real(f, &s) == 10.25);
    figure_text(f, &s, text, sizeof(text));
    assert_string_equal(text, "10.250");
    s.frames_in = UINT64_MAX;
    figure_text(figure_find("FramesIn"), &s, text, sizeof(text));
    assert_string_equal(text, "18446744073709551615");
    figure_text(figure_find("Readers"), &s, text, sizeof(text));
    assert_string_equal(text, "-1");
    /* What is not known is no number of JSON. */
    json = print(&s);
    assert_null(strstr(json, "nan"));
    assert_null(strstr(json, "psnr_gain_db"));
    assert_null(strstr(json, "\"noise\""));
    assert_null(strstr(json, "\"sigma_color\""));
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_objects_are_whole),
        cmocka_unit_test(test_json_has_all_figures),
        cmocka_unit_test(test_values),
    };

    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
