#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/name.h"
#include "settings/settings.h"
#include "settings/status.h"

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
        if (figure_find(property))
            fail_msg("%s is a figure, too", property);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_services),
    };

    return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
