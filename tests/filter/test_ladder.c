/* The rungs of filters, and what each costs. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "filter/ladder.h"

#define MEAN                                                                                       \
    {                                                                                              \
        .temporal = 16, .temporal_mode = TEMPORAL_RECURSIVE                                        \
    }
#define WINDOW                                                                                     \
    {                                                                                              \
        .temporal = 4, .temporal_mode = TEMPORAL_WINDOW                                            \
    }

/* All rungs that may be taken, from the lowest to all that was asked for: "3a 2 3 3s" are radius 3
 * with each frame by itself, radius 2 and 3 with a mean but without the search, and 3 with it. */
static void test_rungs(void **state)
{
    static const struct {
        int radius, radius_min;
        const char *mean, *window, *single; /* of each kind of filter */
    } rows[] = {
        {5, 1, "1a 2a 3a 4a 5a 1 2 3 3s 4s 5s", "1 2 3 4 5", "1 2 3 4 5"},
        {5, 2, "2a 3a 4a 5a 2 3 3s 4s 5s", "2 3 4 5", "2 3 4 5"},
        {5, 3, "3a 4a 5a 3 3s 4s 5s", "3 4 5", "3 4 5"},
        {5, 4, "4a 5a 4 4s 5s", "4 5", "4 5"},
        {5, 5, "5a 5 5s", "5", "5"},
        {5, 9, "5a 5 5s", "5", "5"},
        {3, 1, "1a 2a 3a 1 2 3 3s", "1 2 3", "1 2 3"},
        {2, 1, "1a 2a 1 2 2s", "1 2", "1 2"},
        {1, 1, "1a 1 1s", "1", "1"},
        {1, 4, "1a 1 1s", "1", "1"},
        {0, 1, "0 0s", "0", ""},
        {0, 4, "0 0s", "0", ""},
    };
    static const struct filter kinds[] = {MEAN, WINDOW, {.temporal = 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int kind = 0; kind < 3; kind++) {
            const char *const expected[] = {rows[i].mean, rows[i].window, rows[i].single};
            const int radius_min = rows[i].radius_min;
            struct filter f = kinds[kind];
            char text[256] = "";
            struct ladder l;

            f.radius = rows[i].radius;
            ladder_init(&l, &f, radius_min);
            for (int rung = l.lowest; rung && rung <= l.top; rung++) {
                const bool alone = rung < l.mean;
                const struct filter step = ladder_filter(&f, radius_min, rung);
                const size_t n = strlen(text);

                (void)snprintf(text + n, sizeof(text) - n, "%s%d%s", *text ? " " : "", step.radius,
                               alone                                     ? "a"
                               : !strcmp(filter_search(&f, &step), "on") ? "s"
                                                                         : "");
                assert_int_equal(step.temporal, alone ? 1 : f.temporal);
                assert_int_equal(filter_averages(&step), kind == 0 && !alone);
                assert_int_equal(kind == 0 && !alone && !step.no_search,
                                 l.search && rung >= l.search);
            }
            assert_string_equal(text, expected[kind]);
        }
}

/* What was asked for is the top, to the last field; the bottom does nothing. */
static void test_ends(void **state)
{
    static const struct filter kinds[] = {MEAN, WINDOW, {.temporal = 1}, {.temporal = 0}};

    (void)state;
    for (int kind = 0; kind < 4; kind++)
        for (int radius = 0; radius <= FILTER_MAX_RADIUS; radius++)
            for (int radius_min = 1; radius_min <= FILTER_MAX_RADIUS; radius_min++) {
                struct filter f = kinds[kind], top, none;
                struct ladder l;

                f.radius = radius;
                f.sigma_color = 7.0;
                ladder_init(&l, &f, radius_min);
                top = ladder_filter(&f, radius_min, l.top);
                none = ladder_filter(&f, radius_min, 0);
                assert_int_equal(l.top > 0, filter_acts(&f));
                assert_true(l.top < LADDER_RUNGS);
                assert_int_equal(top.radius, radius);
                assert_int_equal(top.temporal > 1, f.temporal > 1);
                assert_int_equal(top.temporal_mode, f.temporal_mode);
                assert_true(!top.no_search && top.sigma_color >= 7.0);
                assert_false(filter_acts(&none));
            }
}

/* Each rung costs more than those below, so that none is left out; but the mean itself is in no
 * table. A mean of pixels alone is no more than the fixed part, as passing frames are. */
static void test_costs(void **state)
{
    static const struct filter kinds[] = {
        MEAN, WINDOW, {.temporal = 1}, {.kind = FILTER_GAUSSIAN, .temporal = 1}};

    (void)state;
    for (int kind = 0; kind < 4; kind++)
        for (int window = 0; window < 2; window++)
            for (int radius = 0; radius <= FILTER_MAX_RADIUS; radius++)
                for (int radius_min = 1; radius_min <= FILTER_MAX_RADIUS; radius_min++) {
                    struct filter f = kinds[kind];
                    struct ladder l;

                    f.radius = radius;
                    f.window = (enum window_shape)window;
                    ladder_init(&l, &f, radius_min);
                    assert_true(l.cost[0] >= 1.0 && l.cost[0] <= 1.0);
                    for (int rung = radius ? 1 : 2; rung <= l.top; rung++)
                        assert_true(rung == l.mean || l.cost[rung] > l.cost[rung - 1]);
                }
}

static void test_cost(void **state)
{
    static const struct {
        struct filter filter;
        int taps;
    } rows[] = {
        {{.radius = 5}, 81},
        {{.radius = 5, .window = WINDOW_SQUARE}, 121},
        {{.radius = 5, .temporal = 1}, 81},
        {{.radius = 5, .temporal = 4, .temporal_mode = TEMPORAL_WINDOW}, 324},
        {{.radius = 5, .temporal = 16}, 151},
        {{.radius = 5, .temporal = 2}, 151},
        {{.radius = 5, .temporal = 16, .no_search = true}, 81},
        {{.radius = 0, .temporal = 16, .no_search = true}, 1},
        {{.kind = FILTER_GAUSSIAN, .radius = 5}, 11},
        {{.kind = FILTER_GAUSSIAN, .radius = 0}, 1},
        {{.kind = FILTER_BOX, .radius = 5}, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal((int)filter_cost(&rows[i].filter), rows[i].taps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rungs),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_cost),
    };

    return cmocka_run_group_tests_name("ladder", tests, NULL, NULL);
}
