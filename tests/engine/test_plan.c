/* Which arithmetic a filter gets: 16 bits with either distance wherever they hold the bound. */
#include "tests/lib/unit.h"

#include <math.h>

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

            plan_make(&plan, &f, (struct colour){0}, ROWS_PAIR, ROWS_FIXED);
            assert_int_equal(plan.arithmetic, ROWS_FIXED);
            assert_int_equal(plan.distance, distance);
            plan_make_each(&plan, &f, (struct colour){0}, ROWS_PAIR, 1, false);
            assert_int_equal(plan.arithmetic, ROWS_FIXED);
            assert_int_equal(plan.distance, distance);
        }
}

/* Neither where half of the pixels differ nor between two colours may a mean be a level off. */
static void test_errors_that_add_up(void **state)
{
    static struct row_plan plan;
    const struct filter two = {.radius = 27, .sigma_space = 40.0, .sigma_color = 200.0};
    const struct filter three = {
        .radius = 5, .window = WINDOW_SQUARE, .sigma_space = 40.0, .sigma_color = 69.0};

    (void)state;
    plan_make(&plan, &two, (struct colour){0}, ROWS_PAIR, ROWS_HALF);
    assert_int_equal(plan.arithmetic, ROWS_GAUSSIAN);
    plan_make(&plan, &three, (struct colour){0}, ROWS_PAIR, ROWS_HALF);
    assert_int_equal(plan.arithmetic, ROWS_GAUSSIAN);
    plan_make(&plan, &three, (struct colour){0}, ROWS_PAIR, ROWS_TABLE);
    assert_int_equal(plan.arithmetic, ROWS_GAUSSIAN);
    plan_make(&plan, &three, (struct colour){0}, ROWS_PAIR, ROWS_FIXED);
    assert_int_equal(plan.arithmetic, ROWS_GAUSSIAN);
}

/* The table of weights is for the Euclidean distance. */
static void test_table(void **state)
{
    static struct row_plan plan;
    struct filter f = {.radius = 5, .sigma_space = 2.5, .sigma_color = 30.0};

    (void)state;
    plan_make(&plan, &f, (struct colour){0}, ROWS_PAIR, ROWS_TABLE);
    assert_int_equal(plan.arithmetic, ROWS_TABLE);
    f.distance = DISTANCE_MANHATTAN;
    plan_make(&plan, &f, (struct colour){0}, ROWS_PAIR, ROWS_TABLE);
    assert_int_equal(plan.arithmetic, ROWS_FIXED);
}

/* Halves are for the Euclidean distance and shared chroma, with each radius. */
static void test_halves(void **state)
{
    static struct row_plan plan;

    (void)state;
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++)
        for (int window = WINDOW_DISC; window <= WINDOW_SQUARE; window++) {
            struct filter f = {.radius = radius,
                               .sigma_space = filter_auto_sigma(radius),
                               .sigma_color = 30.0,
                               .window = (enum window_shape)window};
            int most = 0, n = 0;

            plan_make(&plan, &f, (struct colour){0}, ROWS_PAIR, ROWS_HALF);
            assert_int_equal(plan.arithmetic, ROWS_HALF);
            for (const struct row_run *run = plan.run; run < plan.run + plan.n_runs; run++) {
                n += run->n_taps;
                most = n > most ? n : most;
                n = run->flush ? 0 : n;
            }
            assert_int_equal(n, 0); /* nothing is left unsummed */
            assert_in_range(most, 1, 48);
            plan_make(&plan, &f, (struct colour){0}, ROWS_SINGLE, ROWS_HALF);
            assert_int_not_equal(plan.arithmetic, ROWS_HALF);
            f.distance = DISTANCE_MANHATTAN;
            plan_make(&plan, &f, (struct colour){0}, ROWS_PAIR, ROWS_HALF);
            assert_int_not_equal(plan.arithmetic, ROWS_HALF);
        }
}

/* Where a pixel weighs no more than few others together that differ much, each weight counts. */
static void test_halves_that_are_too_coarse(void **state)
{
    static struct row_plan plan;
    const struct filter f = {.radius = 1, .sigma_space = 1.0, .sigma_color = 200.0};

    (void)state;
    plan_make(&plan, &f, (struct colour){0}, ROWS_PAIR, ROWS_HALF);
    assert_int_equal(plan.arithmetic, ROWS_GAUSSIAN);
}

/* With the least sigma-color differences are the greatest. */
static void test_halves_do_not_overflow(void **state)
{
    static struct row_plan plan;
    const struct filter f = {.radius = 5, .sigma_space = 2.5, .sigma_color = 1.0};

    (void)state;
    for (int matrix = 0; matrix <= COLOUR_RGB; matrix++) {
        plan_make(&plan, &f, (struct colour){.matrix = (enum colour_matrix)matrix}, ROWS_PAIR,
                  ROWS_HALF);
        assert_int_equal(plan.arithmetic, ROWS_HALF);
        assert_true(2.0 * 128.0 * (plan.scale.a + fabs(plan.scale.b) + fabs(plan.scale.c)) <
                    65504.0);
        assert_true(2.0 * 128.0 * (fabs(plan.scale.d) + fabs(plan.scale.e)) < 65504.0);
    }
}

/* Where one channel of R'G'B' may differ by all that samples can, and yet weigh. */
static void test_wide_ranges(void **state)
{
    static struct row_plan plan;
    const struct filter f = {
        .radius = 2, .sigma_space = 1.0, .sigma_color = 200.0, .distance = DISTANCE_MANHATTAN};

    (void)state;
    plan_make(&plan, &f, (struct colour){.matrix = COLOUR_RGB}, ROWS_SINGLE, ROWS_FIXED);
    assert_int_equal(plan.arithmetic, ROWS_GAUSSIAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual_filters_get_16_bits),
        cmocka_unit_test(test_errors_that_add_up),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_halves_that_are_too_coarse),
        cmocka_unit_test(test_halves_do_not_overflow),
        cmocka_unit_test(test_wide_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
