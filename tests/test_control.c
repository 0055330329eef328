#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "control_name.h"
#include "utf8.h"

/* Each key becomes a property of its own, and back. */
static void test_keys(void **state)
{
    char property[32], other[32], key[32];

    (void)state;
    control_property_name("sigma-color", property, sizeof(property));
    assert_string_equal(property, "SigmaColor");
    for (const struct key *k = key_table; k->name; k++) {
        control_property_name(k->name, property, sizeof(property));
        control_key_name(property, key, sizeof(key));
        assert_string_equal(key, k->name);
        for (const struct key *l = key_table; l < k; l++) {
            control_property_name(l->name, other, sizeof(other));
            assert_string_not_equal(property, other);
        }
    }
    control_property_name("radius-min", property, 4);
    assert_string_equal(property, "Rad");
    control_key_name("RadiusMin", key, 8);
    assert_string_equal(key, "radius");
}

static void test_services(void **state)
{
    static const char *const refused[] = {"a-b", "a.b", "a b", "\xc3\xa4", "/"};
    char name[CONTROL_NAME_MAX], longest[66];

    (void)state;
    assert_int_equal(control_service_name("", name), 0);
    assert_string_equal(name, "org.bilatcam.Bilatcam1");
    assert_int_equal(control_service_name("Desk_2", name), 0);
    assert_string_equal(name, "org.bilatcam.Bilatcam1.Desk_2");
    assert_int_equal(control_service_name("2", name), 0);
    assert_string_equal(name, "org.bilatcam.Bilatcam1._2");
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        assert_int_equal(control_service_name(refused[i], name), -EINVAL);
    memset(longest, 'a', 65);
    longest[65] = '\0';
    assert_int_equal(control_service_name(longest, name), -EINVAL);
    assert_int_equal(control_service_name(longest + 1, name), 0);
    assert_int_equal(strlen(name), strlen("org.bilatcam.Bilatcam1.") + 64);
}

static void test_utf8(void **state)
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
        assert_string_equal(utf8_mend(text), cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_services),
        cmocka_unit_test(test_utf8),
    };

    return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
