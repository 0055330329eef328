/* What settings mean to the stages. */
#include "tests/lib/unit.h"

#include "pipeline/parts.h"

static struct filter filter_for(int temporal, enum temporal_mode mode, int filter)
{
    struct settings s;

    settings_init(&s);
    s.temporal = temporal;
    s.temporal_mode = mode;
    s.filter = filter;
    return pipeline_filter_request(&s).filter;
}

static void test_frames(void **state)
{
    static const struct {
        int temporal;
        enum temporal_mode mode;
        int filter, frames;
    } rows[] = {
        {0, TEMPORAL_RECURSIVE, FILTER_BILATERAL, 16},
        {0, TEMPORAL_WINDOW, FILTER_BILATERAL, 4},
        {1, TEMPORAL_RECURSIVE, FILTER_BILATERAL, 1},
        {40, TEMPORAL_RECURSIVE, FILTER_BILATERAL, 40},
        {8, TEMPORAL_WINDOW, FILTER_BILATERAL, 8},
        {40, TEMPORAL_RECURSIVE, FILTER_NONE, 1},
        {0, TEMPORAL_RECURSIVE, FILTER_GAUSSIAN, 1},
        {8, TEMPORAL_WINDOW, FILTER_GAUSSIAN, 1},
        {40, TEMPORAL_RECURSIVE, FILTER_BOX, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct filter f = filter_for(rows[i].temporal, rows[i].mode, rows[i].filter);

        assert_int_equal(f.temporal, rows[i].frames);
        assert_int_equal(f.temporal_mode, rows[i].mode);
        assert_int_equal(f.kind, rows[i].filter);
        assert_true(filter_allowed(&f));
        assert_true(rows[i].filter == FILTER_BILATERAL || !filter_looks_back(&f));
    }
    assert_int_equal(filter_for(16, TEMPORAL_RECURSIVE, FILTER_NONE).radius, 0);
}

static void test_distance(void **state)
{
    struct settings s;

    (void)state;
    settings_init(&s);
    assert_int_equal(pipeline_filter_request(&s).filter.distance, DISTANCE_EUCLIDEAN);
    s.distance = DISTANCE_MANHATTAN;
    assert_int_equal(pipeline_filter_request(&s).filter.distance, DISTANCE_MANHATTAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_distance),
    };

    return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
