#include "tests/lib/unit.h"

#include "base/clock.h"
#include "base/pace.h"

static void test_duration(void **state)
{
    static const struct {
        uint32_t num, den;
        uint64_t n;
        int64_t ns;
    } table[] = {
        {30, 1, 0, 0},
        {50, 1, 1, 20000000},
        {30, 1, 1, 33333333},
        {30, 1, 2, 66666666},
        {30, 1, 3, 100000000},
        {30000, 1001, 1, 33366666},
        {30000, 1001, 30000, 1001 * NS_PER_S},
        {1, 3, 2, 6 * NS_PER_S},
        /* A day of a fast camera, and the largest numbers. */
        {120000, 1001, UINT64_C(120000) * 86400, 1001 * 86400 * NS_PER_S},
        {4294967295, 4294967295, 4294967295, 4294967295 * NS_PER_S},
        {4294967295, 1, 4294967294, 999999999},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(pace_ns(table[i].num, table[i].den, table[i].n), table[i].ns);
}

static void test_starts_again(void **state)
{
    struct pace p = {.num = 3, .den = 1};

    (void)state;
    pace_start(&p, 1000 * NS_PER_S);
    assert_int_equal(pace_due(&p, 0), 1000 * NS_PER_S);
    assert_int_equal(pace_due(&p, 3), 1001 * NS_PER_S);
    p.next += 2;
    assert_int_equal(pace_due(&p, 0), 1000 * NS_PER_S + 666666666);
    assert_int_equal(pace_due(&p, 1), 1001 * NS_PER_S);
    pace_start(&p, 5000 * NS_PER_S); /* goes on with its numbers */
    assert_int_equal(p.next, 2);
    assert_int_equal(pace_due(&p, 0), 5000 * NS_PER_S);
    p.next += 3;
    assert_int_equal(pace_due(&p, 0), 5001 * NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duration),
        cmocka_unit_test(test_starts_again),
    };

    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
