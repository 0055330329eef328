/* The governor and what is asked of it: radii, and what each of them costs. */
#include "tests/filter/governor_run.h"

#include <string.h>

static void test_changed_requests(void **state)
{
    struct governor_config request = request_of(4, 33333333);
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 100, 1.0);
    governor_configure(&r.governor, &request);
    assert_int_equal(r.governor.limit, 4);
    request.ladder.top = 12;
    governor_configure(&r.governor, &request);
    frames(&r, 60, 1.0);
    assert_int_equal(r.radius[r.n - 1], 12);
    request.ladder.top = 0;
    governor_configure(&r.governor, &request);
    assert_int_equal(r.governor.limit, 0);
    frames(&r, 60, 1.0);
    assert_false(r.governor.passing);
    request.ladder.top = 10;
    governor_configure(&r.governor, &request);
    frames(&r, 2, 1.0);
    assert_int_equal(r.radius[r.n - 1], 10);
    request.ladder.lowest = 9; /* a minimum that the load does not allow: unfiltered, not late */
    governor_configure(&r.governor, &request);
    frames(&r, 60, 6.0);
    assert_true(r.governor.passing);
}

static void test_minimum_acts_at_once(void **state)
{
    struct governor_config request = request_of(10, 33333333);
    struct run r;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 300, 8.0);
    assert_true(r.governor.limit > 0 && r.governor.limit < 6);
    request.ladder.lowest = 6;
    governor_configure(&r.governor, &request);
    assert_int_equal(r.governor.limit, 6);
    frames(&r, 10, 8.0);
    assert_true(r.governor.passing); /* it was said not to go below */
    request.ladder.lowest = 1;
    governor_configure(&r.governor, &request);
    frames(&r, 4, 8.0);
    assert_false(r.governor.passing);
}

/* --- costs other than those of a disc --- */

static const double loads[] = {1.0, 3.2, 4.5, 8.0, 16.0};

/* Starts with @cost and a machine of 10 ms at the radius asked for, which is 10. */
static void start_with(struct run *r, const double *cost)
{
    struct governor_config request = request_of(10, 33333333);
    struct machine m = laptop;

    m.per_tap_ns = 9 * MS / cost[10];
    start(r, 10, 33333333, m);
    memcpy(r->cost, cost, sizeof(r->cost));
    memcpy(request.ladder.cost, cost, sizeof(request.ladder.cost));
    governor_init(&r->governor, &request);
}

/* Checks that all frames passed or had one of the radii whose bits are set in @allowed. */
static void check_radii(const struct run *r, unsigned allowed)
{
    for (int i = 0; i < r->n; i++)
        assert_true(r->radius[i] == 0 || allowed >> r->radius[i] & 1);
}

/* As a box filter with running sums. A lower radius would gain nothing. */
static void test_flat_cost(void **state)
{
    double cost[LADDER_RUNGS];
    struct run r;

    (void)state;
    for (int i = 0; i < LADDER_RUNGS; i++)
        cost[i] = 3.0;
    start_with(&r, cost);
    frames(&r, 300, 1.0);
    assert_int_equal(changes(&r, 0, r.n), 0);
    frames(&r, 300, 8.0);
    assert_true(r.governor.passing);
    check_budget(&r, 300, 600, 33333333);
    frames(&r, 60, 1.0);
    assert_false(r.governor.passing);
    assert_int_equal(r.radius[r.n - 1], 10);
    check_radii(&r, 1 << 10);
}

/* As a separable filter. */
static void test_linear_cost(void **state)
{
    double cost[LADDER_RUNGS];

    (void)state;
    for (int i = 0; i < LADDER_RUNGS; i++)
        cost[i] = 2 * i + 1;
    for (int k = 1; k < 4; k++) {
        int fitting = 1;
        struct run r;

        start_with(&r, cost);
        frames(&r, 300, 1.0);
        assert_int_equal(changes(&r, 0, r.n), 0);
        frames(&r, 600, loads[k]);
        while (loads[k] * 1.05 * (1 * MS + 9 * MS * cost[fitting + 1] / cost[10]) + 4 * MS <=
               0.95 * 33333333)
            fitting++;
        assert_in_range(r.radius[r.n - 1], fitting - 1, fitting + 1);
        check_budget(&r, 300, r.n, 33333333);
        frames(&r, 60, 1.0);
        assert_int_equal(r.radius[r.n - 1], 10);
        check_rises_by_one(&r);
    }
}

/* Where several radii cost the same the highest of them is taken; one that costs more than a higher
 * one, never. */
static void test_uneven_cost(void **state)
{
    static const struct {
        double cost[11];
        unsigned allowed;
    } cases[] = {
        {{1, 49, 49, 49, 49, 197, 197, 197, 197, 441, 441}, 1 << 4 | 1 << 8 | 1 << 10},
        {{1, 5, 13, 40, 30, 81, 113, 149, 140, 253, 317}, 0x7fe & ~(1 << 3 | 1 << 7)},
        {{1, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10}, 1 << 10},
    };

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 5; k++) {
            double cost[LADDER_RUNGS] = {0};
            struct run r;

            memcpy(cost, cases[i].cost, sizeof(cases[i].cost));
            start_with(&r, cost);
            frames(&r, 300, 1.0);
            assert_int_equal(changes(&r, 0, r.n), 0);
            frames(&r, 600, loads[k]);
            check_budget(&r, 300, r.n, 33333333);
            frames(&r, 60, 1.0);
            assert_int_equal(r.radius[r.n - 1], 10);
            check_radii(&r, cases[i].allowed);
        }
}

/* A limit that stands is moved to the radius that is worth taking. */
static void test_changed_cost(void **state)
{
    struct governor_config request = request_of(10, 33333333);
    struct run r;
    int limit;

    (void)state;
    start(&r, 10, 33333333, laptop);
    frames(&r, 300, 4.5);
    limit = r.governor.limit;
    assert_in_range(limit, 2, 8);
    request.ladder.cost[limit] = request.ladder.cost[limit + 1];
    governor_configure(&r.governor, &request);
    assert_int_equal(r.governor.limit, limit + 1);
}

static void test_unit_of_cost(void **state)
{
    const struct governor_config request = request_of(10, 33333333);
    struct governor_config scaled = request;
    struct run r, same;

    (void)state;
    for (int i = 0; i < LADDER_RUNGS; i++)
        scaled.ladder.cost[i] *= 1024; /* so that not even rounding differs */
    for (int k = 0; k < 5; k++) {
        start(&r, 10, 33333333, laptop);
        start(&same, 10, 33333333, laptop);
        governor_init(&same.governor, &scaled);
        for (int i = 0; i < 900; i++) {
            frame(&r, i < 600 ? loads[k] : 1.0);
            frame(&same, i < 600 ? loads[k] : 1.0);
        }
        assert_memory_equal(r.radius, same.radius, sizeof(r.radius));
        assert_true(r.governor.model.base * 1024 == same.governor.model.base);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed_requests), cmocka_unit_test(test_minimum_acts_at_once),
        cmocka_unit_test(test_flat_cost),        cmocka_unit_test(test_linear_cost),
        cmocka_unit_test(test_uneven_cost),      cmocka_unit_test(test_changed_cost),
        cmocka_unit_test(test_unit_of_cost),
    };

    return cmocka_run_group_tests_name("governor-request", tests, NULL, NULL);
}
