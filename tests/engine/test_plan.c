/* Which arithmetic a filter gets: 16 bits with either distance wherever they hold the bound. */
#include "tests/lib/unit.h"

#include "engine/simd/plan.h"

static void test_usual_filters_get_16_bits(void **state)
{
    static const double sigmas[2] = {18.0, 30.0};
    static struct row_plan plan;

    (void)state;
    for (int distance = DISTANCE_EUCLIDEAN; distance <= DISTANCE_MANHATTAN; distance++)
        for (int radius = 1; radius <= 7; radius++) {
            const struct filter f = {.radius = radius,
                                     .sigma_space = filter_auto_sigma(radius),
                                     .sigma_color = sigmas[distance],
                                     .distance = (enum colour_metric)distance};

            plan_make(&plan, &f, (struct colour){0}, ROWS_PAIR, false);
            assert_int_equal(plan.arithmetic, ROWS_FIXED);
            assert_int_equal(plan.distance, distance);
            plan_make_each(&plan, &f, (struct colour){0}, ROWS_PAIR, 1);
            assert_int_equal(plan.arithmetic, ROWS_FIXED);
            assert_int_equal(plan.distance, distance);
        }
}

/* The table of weights is for the Euclidean distance. */
static void test_table(void **state)
{
    static struct row_plan plan;
    struct filter f = {.radius = 5, .sigma_space = 2.5, .sigma_color = 30.0};

    (void)state;
    plan_make(&plan, &f, (struct colour){0}, ROWS_PAIR, true);
    assert_int_equal(plan.arithmetic, ROWS_TABLE);
    f.distance = DISTANCE_MANHATTAN;
    plan_make(&plan, &f, (struct colour){0}, ROWS_PAIR, true);
    assert_int_equal(plan.arithmetic, ROWS_FIXED);
}

/* Where one channel of R'G'B' may differ by all that samples can, and yet weigh. */
static void test_wide_ranges(void **state)
{
    static struct row_plan plan;
    const struct filter f = {
        .radius = 2, .sigma_space = 1.0, .sigma_color = 200.0, .distance = DISTANCE_MANHATTAN};

    (void)state;
    plan_make(&plan, &f, (struct colour){.matrix = COLOUR_RGB}, ROWS_SINGLE, false);
    assert_int_equal(plan.arithmetic, ROWS_GAUSSIAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual_filters_get_16_bits),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_wide_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
