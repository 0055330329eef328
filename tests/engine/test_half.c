/* Numbers in half precision: every one of them, and what lies between two. */
#include "tests/lib/unit.h"

#include "engine/simd/half.h"

static void test_values(void **state)
{
    (void)state;
    assert_true(half_value(0x0000) == 0.0);
    assert_true(half_value(0x0001) == 0x1p-24);
    assert_true(half_value(0x0400) == 0x1p-14);
    assert_true(half_value(0x3C00) == 1.0);
    assert_true(half_value(0xC500) == -5.0);
    assert_true(half_value(0x7BFF) == 65504.0);
    assert_int_equal(half_from(0.1), 0x2E66);
    assert_int_equal(half_from(-1.0 / 3.0), 0xB555);
    assert_int_equal(half_from(65519.0), 0x7BFF);
    assert_int_equal(half_from(65520.0), HALF_INFINITE);
    assert_int_equal(half_from(-1e9), 0x8000 | HALF_INFINITE);
}

static void test_rounds_to_even(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < HALF_INFINITE; bits++) {
        const double value = half_value((uint16_t)bits), next = half_value((uint16_t)(bits + 1));
        const double middle = (value + next) / 2.0;

        assert_true(value < next);
        assert_int_equal(half_from(value), bits);
        assert_int_equal(half_from(middle), bits + (bits & 1));
        assert_int_equal(half_from(middle * (1.0 - 0x1p-40)), bits);
        assert_int_equal(half_from(middle * (1.0 + 0x1p-40)), bits + 1);
        assert_int_equal(half_from(-middle), 0x8000 | (bits + (bits & 1)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_rounds_to_even),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
