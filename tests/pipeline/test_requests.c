/* What settings mean to the stages. */
#include "tests/lib/unit.h"

#include "pipeline/parts.h"

static void test_cost_of_each_radius(void **state)
{
    struct filter_request w;
    struct settings s;

    (void)state;
    settings_init(&s);
    s.window = WINDOW_DISC;
    w = pipeline_filter_request(&s);
    assert_int_equal((int)w.cost[1], 5);
    assert_int_equal((int)w.cost[5], 81);
    s.window = WINDOW_SQUARE;
    w = pipeline_filter_request(&s);
    assert_int_equal((int)w.cost[1], 9);
    assert_int_equal((int)w.cost[FILTER_MAX_RADIUS], 65 * 65);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_of_each_radius),
    };

    return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
