#include "tests/lib/unit.h"

#include <limits.h>

#include "base/clock.h"

static void test_now(void **state)
{
    struct timespec before, after;
    int64_t t;

    (void)state;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &before), 0);
    t = now_ns();
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &after), 0);
    assert_true(t >= before.tv_sec * NS_PER_S + before.tv_nsec);
    assert_true(t <= after.tv_sec * NS_PER_S + after.tv_nsec);
}

static void test_timespec(void **state)
{
    static const struct {
        int64_t ns;
        time_t s;
        long rest;
    } table[] = {
        {0, 0, 0},
        {1, 0, 1},
        {999999999, 0, 999999999},
        {NS_PER_S, 1, 0},
        {3 * NS_PER_S + 7, 3, 7},
        {INT64_MAX, 9223372036, 854775807},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct timespec t = timespec_of(table[i].ns);

        assert_int_equal(t.tv_sec, table[i].s);
        assert_int_equal(t.tv_nsec, table[i].rest);
    }
}

static void test_poll_ms(void **state)
{
    const int64_t now = 123 * NS_PER_S + 456;
    const struct {
        int64_t t_ns;
        int ms;
    } table[] = {
        {INT64_MAX, -1},
        {0, 0},
        {INT64_MIN / 2, 0},
        {now - 1, 0},
        {now, 0},
        {now + 1, 1}, /* 0 would spin until it is time */
        {now + NS_PER_MS - 1, 1},
        {now + NS_PER_MS, 1},
        {now + NS_PER_MS + 1, 2},
        {now + 20 * NS_PER_S, 20000},
        {now + INT_MAX * NS_PER_MS, INT_MAX},
        {now + INT_MAX * NS_PER_MS + 1, INT_MAX},
        {INT64_MAX - 1, INT_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(poll_ms(table[i].t_ns, now), table[i].ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_now),
        cmocka_unit_test(test_timespec),
        cmocka_unit_test(test_poll_ms),
    };

    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
