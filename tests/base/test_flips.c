/* How often a state that flips is logged. */
#include "tests/lib/unit.h"

#include "base/flips.h"

#define SECOND INT64_C(1000000000)

static void test_first_change_at_once(void **state)
{
    struct flips f = {0};

    (void)state;
    assert_int_equal(flips_step(&f, false, 5), 0);
    assert_int_equal(flips_step(&f, true, 6), 1);
    assert_int_equal(flips_step(&f, true, 7), 0);
}

/* A state that flips with every frame for ten minutes: a message a minute, and all changes are
 * told of in the end. */
static void test_at_most_once_a_minute(void **state)
{
    struct flips f = {0};
    int messages = 0, told = 0, i;

    (void)state;
    for (i = 0; i < 30 * 600; i++) {
        const int n = flips_step(&f, i % 2, i * SECOND / 30);

        messages += n > 0;
        told += n;
    }
    assert_in_range(messages, 9, 10);
    told += flips_step(&f, true, i * SECOND / 30 + 60 * SECOND);
    assert_int_equal(told, 30 * 600 - 1);
}

/* The last change is told, if late. */
static void test_last_change(void **state)
{
    struct flips f = {0};

    (void)state;
    assert_int_equal(flips_step(&f, true, 0), 1);
    assert_int_equal(flips_step(&f, false, 1 * SECOND), 0);
    assert_int_equal(flips_step(&f, false, 59 * SECOND), 0);
    assert_int_equal(flips_step(&f, false, 60 * SECOND), 1);
    assert_int_equal(flips_step(&f, false, 1000 * SECOND), 0);
    assert_int_equal(flips_step(&f, true, 1001 * SECOND), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_change_at_once),
        cmocka_unit_test(test_at_most_once_a_minute),
        cmocka_unit_test(test_last_change),
    };

    return cmocka_run_group_tests_name("flips", tests, NULL, NULL);
}
