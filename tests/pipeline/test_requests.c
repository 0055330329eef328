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
    assert_int_equal(pipeline_filter_request(&s).filter.distance, DISTANCE_EUCLIDEAN);
    s.distance = DISTANCE_MANHATTAN;
    assert_int_equal(pipeline_filter_request(&s).filter.distance, DISTANCE_MANHATTAN);
}

/* What a film has beyond 8 bits is kept where something that is written can hold it. */
static void test_depth(void **state)
{
    static const char film[] = "http://host/film", stream[] = "x.y4m";
    static const struct {
        const char *input, *output, *format, *encoder;
        int depth, level, want, want_live;
    } rows[] = {
        {film, "auto", "auto", "auto", DEPTH_AUTO, 0, 8, 8},
        {film, "pipewire:", "auto", "auto", DEPTH_AUTO, 0, 8, 8},
        {film, "/dev/video20", "auto", "auto", DEPTH_AUTO, 0, 8, 8},
        {film, "out.mkv", "auto", "ffv1", DEPTH_AUTO, 0, 0, 8},
        {film, "out.mkv", "yu12", "ffv1", DEPTH_AUTO, 0, 8, 8},
        {film, "out.mkv", "auto", "mpeg4", DEPTH_AUTO, 0, 8, 8},
        {film, "out.mkv", "auto", "none of this name", DEPTH_AUTO, 0, 8, 8},
        {film, "out.png", "auto", "auto", DEPTH_AUTO, 0, 0, 0},
        {film, "out.jpg", "auto", "auto", DEPTH_AUTO, 0, 8, 8},
        {film, "-", "auto", "auto", DEPTH_AUTO, 0, 0, 0},
        {film, "-", "yu12", "auto", DEPTH_AUTO, 0, 8, 8},
        {film, "null:", "auto", "auto", DEPTH_AUTO, 0, 0, 0},
        {film, "auto\nout.mkv", "auto", "ffv1", DEPTH_AUTO, 0, 0, 8},
        {film, "auto", "auto", "auto", DEPTH_AUTO, 100, 0, 0},
        {film, "auto", "auto", "auto", DEPTH_16, 0, 0, 0},
        {film, "out.mkv", "auto", "ffv1", DEPTH_8, 0, 8, 8},
        {stream, "auto", "auto", "auto", DEPTH_AUTO, 0, 0, 0},
        {stream, "auto", "auto", "auto", DEPTH_16, 0, 0, 0},
        {stream, "out.mkv", "auto", "ffv1", DEPTH_8, 0, 8, 8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct capture_request request;
        struct error err;
        struct settings s;

        settings_init(&s);
        (void)snprintf(s.input, sizeof(s.input), "%s", rows[i].input);
        (void)snprintf(s.output, sizeof(s.output), "%s", rows[i].output);
        (void)snprintf(s.encoder, sizeof(s.encoder), "%s", rows[i].encoder);
        assert_int_equal(settings_set(&s, "output-format", rows[i].format, &err), 0);
        s.depth = rows[i].depth;
        s.levels[1] = rows[i].level;
        request = pipeline_capture_request(&s);
        if (request.depth != rows[i].want || request.live_depth != rows[i].want_live)
            fail_msg("row %zu: %d, live %d", i, request.depth, request.live_depth);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_unused),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_depth),
    };

    return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
