/* How many threads filter a frame. Room for 30 ms lets it aim at 10. */
#include "tests/lib/unit.h"

#include "filter/governor.h"
#include "filter/thread_count.h"

#define MS INT64_C(1000000)
#define ROOM (30 * MS)
#define MOST 8

/* @n frames that take @work_ns of one thread, shared out evenly. */
static int after(struct thread_count *t, int n, int64_t work_ns)
{
    for (int i = 0; i < n; i++)
        (void)thread_count_step(t, MOST, work_ns / (t->n ? t->n : MOST), ROOM, false);
    return t->n;
}

static void test_all_at_first(void **state)
{
    struct thread_count t = {0};

    (void)state;
    assert_int_equal(after(&t, 1, 2 * MS), MOST);
    assert_int_equal(after(&t, THREAD_COUNT_FRAMES - 1, 2 * MS), MOST);
    assert_int_equal(after(&t, 1, 2 * MS), 1);
}

/* What one thread does in @ms, a number of them does in time. */
static void test_as_many_as_needed(void **state)
{
    static const struct {
        int ms, n;
    } cases[] = {{1, 1}, {6, 1}, {8, 2}, {13, 2}, {15, 3}, {40, 6}, {55, 8}, {79, 8}, {500, 8}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct thread_count t = {0};

        assert_int_equal(after(&t, 5 * THREAD_COUNT_FRAMES, cases[i].ms * MS), cases[i].n);
    }
}

static void test_more_at_once(void **state)
{
    struct thread_count t = {0};

    (void)state;
    assert_int_equal(after(&t, 100, 5 * MS), 1);
    assert_int_equal(after(&t, 1, 10 * MS), 1);
    assert_int_equal(after(&t, 1, 11 * MS), 2);
    assert_int_equal(after(&t, 1, 64 * MS), 7);
    assert_int_equal(after(&t, 1, 1000 * MS), MOST);
}

/* The longest of the frames decides: where each tenth takes longer, there are enough for that. */
static void test_load_that_comes_and_goes(void **state)
{
    struct thread_count t = {0};

    (void)state;
    (void)after(&t, 100, 5 * MS);
    for (int i = 0; i < 20; i++) {
        (void)after(&t, 9, 5 * MS);
        (void)after(&t, 1, 30 * MS);
        assert_in_range(t.n, i ? 3 : 1, 5);
    }
    assert_int_equal(after(&t, 2 * THREAD_COUNT_FRAMES, 5 * MS), 1);
}

/* The number does not go up and down with a load that stays the same. */
static void test_steady(void **state)
{
    (void)state;
    for (int64_t work = MS / 4; work < 100 * MS; work += MS / 4) {
        struct thread_count t = {0};
        const int n = after(&t, 2 * THREAD_COUNT_FRAMES, work);

        for (int i = 0; i < 4 * THREAD_COUNT_FRAMES; i++)
            assert_int_equal(after(&t, 1, work), n);
    }
}

static void test_all_where_limited(void **state)
{
    struct thread_count t = {0};

    (void)state;
    (void)after(&t, 100, MS);
    assert_int_equal(thread_count_step(&t, MOST, MS, ROOM, true), MOST);
    (void)after(&t, 100, MS);
    assert_int_equal(t.n, 1);
    assert_int_equal(thread_count_step(&t, MOST, MS, 0, false), MOST);
}

/* Another engine has taken over. */
static void test_other_number(void **state)
{
    struct thread_count t = {0};

    (void)state;
    (void)after(&t, 10, 20 * MS);
    assert_int_equal(thread_count_step(&t, 2, MS, ROOM, false), 2);
    assert_int_equal(thread_count_step(&t, 1, 100 * MS, ROOM, false), 1);
    assert_int_equal(thread_count_step(&t, 1, INT64_MAX, ROOM, false), 1);
}

/* How many frames of ten seconds at 30 frames/s are limited where the filter takes @work_ms of
 * one thread and all else @other_ms of a budget of @budget_ms (0: a frame interval). */
static int limited_frames(double other_ms, double work_ms, int most, int budget_ms, bool as_needed)
{
    const struct filter asked = {.kind = FILTER_BILATERAL, .radius = 8, .temporal = 1};
    struct governor_config config = {.budget_ns = budget_ms * MS, .interval_ns = 100 * MS / 3};
    struct thread_count t = {0};
    struct governor g;
    int n = 0;

    ladder_init(&config.ladder, &asked, 1);
    governor_init(&g, &config);
    for (uint64_t i = 0; i < 300; i++) {
        const double share = config.ladder.cost[g.limit] / config.ladder.cost[config.ladder.top];
        const struct governor_sample sample = {
            .t_capture_ns = (int64_t)(i + 1) * config.interval_ns,
            .seq = i,
            .filter_ns = (int64_t)(1e6 * work_ms * share / (as_needed && t.n ? t.n : most)),
            .other_ns = (int64_t)(1e6 * other_ms),
            .rung = g.limit,
        };

        (void)governor_step(&g, &sample);
        n += g.limit < config.ladder.top;
        (void)thread_count_step(&t, most, sample.filter_ns, governor_room_ns(&g),
                                g.passing || g.limit < config.ladder.top);
    }
    return n;
}

/* What all threads hold is never limited for want of threads. */
static void test_limits_nothing(void **state)
{
    static const int threads[] = {2, 4, 8}, budgets[] = {0, 15, 200};
    int n_held = 0;

    (void)state;
    for (int i = 0; i < 9; i++)
        for (int other = 0; other < 34; other += 2)
            for (int work = 2; work < 200; work = work * 3 / 2) {
                const int most = threads[i % 3], budget = budgets[i / 3];

                if (limited_frames(other, work, most, budget, false))
                    continue;
                n_held++;
                assert_int_equal(limited_frames(other, work, most, budget, true), 0);
            }
    assert_in_range(n_held, 500, 9 * 17 * 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_at_first), cmocka_unit_test(test_as_many_as_needed),
        cmocka_unit_test(test_more_at_once), cmocka_unit_test(test_load_that_comes_and_goes),
        cmocka_unit_test(test_steady),       cmocka_unit_test(test_all_where_limited),
        cmocka_unit_test(test_other_number), cmocka_unit_test(test_limits_nothing),
    };

    return cmocka_run_group_tests_name("thread count", tests, NULL, NULL);
}
