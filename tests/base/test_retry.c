#include "tests/lib/unit.h"

#include "base/retry.h"

static const struct retry_limits limits = {.first_ns = 250, .last_ns = 30000, .steady_ns = 10000};

/* Failures one after the other, each when the pause before it is over. */
static void test_pauses_double(void **state)
{
    static const int64_t pauses[] = {250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000};
    struct retry r = {0};
    int64_t t = 1000000;

    (void)state;
    for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
        const int64_t pause = retry_fails(&r, &limits, t);

        assert_int_equal(pause, pauses[i]);
        assert_int_equal(pause, r.pause_ns);
        assert_int_equal(r.t_next_ns, t + pause);
        t += pause;
    }
}

/* What failed thrice works for @worked and fails again: the pause then. */
static int64_t pause_after(int64_t worked)
{
    struct retry r = {0};

    for (int i = 0; i < 3; i++)
        (void)retry_fails(&r, &limits, 1000 * i);
    retry_works(&r, 5000);
    return retry_fails(&r, &limits, 5000 + worked);
}

static void test_what_fails_soon_waits_longer(void **state)
{
    (void)state;
    assert_int_equal(pause_after(0), 2000);
    assert_int_equal(pause_after(10000), 2000);
    assert_int_equal(pause_after(10001), 250);
}

/* It is told again and again that it works, and counts from the first time. */
static void test_works_from_the_first_time(void **state)
{
    struct retry r = {0};

    (void)state;
    (void)retry_fails(&r, &limits, 0);
    for (int64_t t = 1000; t <= 12000; t += 10)
        retry_works(&r, t);
    assert_int_equal(retry_fails(&r, &limits, 12010), 250);
    /* What worked before that counts no more. */
    assert_int_equal(retry_fails(&r, &limits, 30000), 500);
}

/* The first failure of all, whether it ever worked or not. */
static void test_first_failure(void **state)
{
    struct retry r = {0};

    (void)state;
    assert_int_equal(retry_fails(&r, &limits, 1), 250);
    r = (struct retry){0};
    retry_works(&r, 1);
    assert_int_equal(retry_fails(&r, &limits, 2), 250);
}

static void test_no_overflow(void **state)
{
    const struct retry_limits long_ones = {.first_ns = 1, .last_ns = INT64_MAX, .steady_ns = 0};
    struct retry r = {0};
    int64_t pause = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        const int64_t next = retry_fails(&r, &long_ones, 1);

        assert_true(next >= pause);
        pause = next;
    }
    assert_int_equal(pause, INT64_MAX);
    assert_int_equal(r.t_next_ns, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pauses_double),
        cmocka_unit_test(test_what_fails_soon_waits_longer),
        cmocka_unit_test(test_works_from_the_first_time),
        cmocka_unit_test(test_first_failure),
        cmocka_unit_test(test_no_overflow),
    };

    return cmocka_run_group_tests_name("retry", tests, NULL, NULL);
}
