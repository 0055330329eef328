/* What settings mean to the stages. */
#include "tests/lib/unit.h"

#include <math.h>

#include "pipeline/parts.h"

static struct filter filter_for(int temporal, enum temporal_mode mode, int filter)
{
    struct settings s;

    settings_init(&s);
    s.temporal = temporal;
    s.temporal_mode = mode;
    s.filter = filter;
    return pipeline_filter_request(&s, FRAME_YUYV).filter;
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

/* What a blur does not do is told, unless nobody asked for it. */
static void test_unused(void **state)
{
    static const struct {
        int filter, temporal;
        bool unused;
    } rows[] = {
        {FILTER_BILATERAL, 16, false}, {FILTER_GAUSSIAN, 0, false}, {FILTER_GAUSSIAN, 1, false},
        {FILTER_GAUSSIAN, 2, true},    {FILTER_BOX, 8, true},       {FILTER_NONE, 8, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct settings s;

        settings_init(&s);
        s.filter = rows[i].filter;
        s.temporal = rows[i].temporal;
        assert_int_equal(settings_time_unused(&s), rows[i].unused);
    }
}

static void test_distance(void **state)
{
    struct settings s;

    (void)state;
    settings_init(&s);
    assert_int_equal(pipeline_filter_request(&s, FRAME_YUYV).filter.distance, DISTANCE_EUCLIDEAN);
    s.distance = DISTANCE_MANHATTAN;
    assert_int_equal(pipeline_filter_request(&s, FRAME_YUYV).filter.distance, DISTANCE_MANHATTAN);
}

/* Of 16 bits each picture is filtered by itself, and what would be measured has a value. */
static void test_words(void **state)
{
    struct settings s;
    struct filter f;

    (void)state;
    settings_init(&s);
    f = pipeline_filter_request(&s, FRAME_GREY16).filter;
    assert_false(filter_looks_back(&f));
    assert_true(f.sigma_color > 1.0);
    s.sigma_color = 30.0;
    assert_true(fabs(pipeline_filter_request(&s, FRAME_I420_16).filter.sigma_color - 30.0) < 1e-9);
    s.filter = FILTER_BOX;
    assert_int_equal(pipeline_filter_request(&s, FRAME_I420_16).filter.kind, FILTER_BOX);
}

/* What a film has beyond 8 bits is kept where the filter needs nothing that only 8 bits have. */
static void test_depth(void **state)
{
    static const char film[] = "rtsp://camera/", stream[] = "x.y4m";
    static const struct {
        const char *input;
        int depth, filter, temporal;
        double sigma_color;
        int level, want;
    } rows[] = {
        {film, DEPTH_AUTO, FILTER_BILATERAL, 0, 0.0, 0, 8},
        {film, DEPTH_AUTO, FILTER_BILATERAL, 0, 10.0, 0, 8},
        {film, DEPTH_AUTO, FILTER_BILATERAL, 1, 0.0, 0, 8},
        {film, DEPTH_AUTO, FILTER_BILATERAL, 1, 10.0, 0, 0},
        {film, DEPTH_AUTO, FILTER_BILATERAL, 0, 0.0, 100, 0},
        {film, DEPTH_AUTO, FILTER_GAUSSIAN, 0, 0.0, 0, 0},
        {film, DEPTH_AUTO, FILTER_NONE, 0, 0.0, 0, 0},
        {film, DEPTH_16, FILTER_BILATERAL, 0, 0.0, 0, 0},
        {film, DEPTH_8, FILTER_NONE, 1, 10.0, 0, 8},
        {stream, DEPTH_AUTO, FILTER_BILATERAL, 0, 0.0, 0, 0},
        {stream, DEPTH_16, FILTER_BILATERAL, 0, 0.0, 0, 0},
        {stream, DEPTH_8, FILTER_BILATERAL, 0, 0.0, 0, 8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct settings s;

        settings_init(&s);
        (void)snprintf(s.input, sizeof(s.input), "%s", rows[i].input);
        s.depth = rows[i].depth;
        s.filter = rows[i].filter;
        s.temporal = rows[i].temporal;
        s.sigma_color = rows[i].sigma_color;
        s.levels[1] = rows[i].level;
        if (pipeline_capture_request(&s).depth != rows[i].want)
            fail_msg("row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),   cmocka_unit_test(test_unused),
        cmocka_unit_test(test_distance), cmocka_unit_test(test_words),
        cmocka_unit_test(test_depth),
    };

    return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
