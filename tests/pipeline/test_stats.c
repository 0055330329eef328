#include "tests/lib/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/stats.h"

/* Percentiles of a known spread over five decades are right to within 2 %. */
static void test_percentiles(void **state)
{
    static const double percents[] = {1, 50, 95, 99, 99.9};
    struct histogram *h = calloc(1, sizeof(*h));

    (void)state;
    assert_non_null(h);
    assert_int_equal(histogram_percentile(h, 50), 0);
    for (int i = 0; i < 100000; i++)
        histogram_add(h, (int64_t)(2000.0 * pow(10.0, 5.0 * i / 100000.0)));
    for (int i = 0; i < 5; i++) {
        const double want = 2000.0 * pow(10.0, 5.0 * percents[i] / 100.0);

        assert_true(fabs((double)histogram_percentile(h, percents[i]) / want - 1.0) < 0.02);
    }
    assert_int_equal(histogram_percentile(h, 100), h->max_ns);
    free(h);
}

static void test_extremes(void **state)
{
    struct histogram *h = calloc(1, sizeof(*h));

    (void)state;
    assert_non_null(h);
    histogram_add(h, -5);
    histogram_add(h, 0);
    histogram_add(h, INT64_MAX);
    assert_int_equal(h->n, 3);
    assert_int_equal(h->max_ns, INT64_MAX);
    assert_true(histogram_percentile(h, 50) <= 2048);
    free(h);
}

/* What three frames were like, as --stats says it. */
static void test_json(void **state)
{
    static const char expected[] =
        "{\"engine\": \"simd\", \"device\": \"a \\\"b\\\" \\\\ \\u000a\\u007f\\u009b\xc3\xa9?\", "
        "\"threads\": 3, \"width\": 64, \"height\": 48, \"fps\": 2.000, "
        "\"format_in\": \"yuyv\", \"format_out\": \"yu12\", \"outputs\": \"null:: 3 frames\", "
        "\"frames_in\": 12, \"frames_out\": 3, \"frames_dropped\": 1, \"frames_bad\": 2, "
        "\"radius_requested\": 5, \"radius_min_used\": 2, \"radius_last\": 4, "
        "\"frames_averaged\": 1.000, \"search\": \"\", "
        "\"latency_ms\": {\"p50\": 10.093, \"p95\": 1010.000, \"p99\": 1010.000, "
        "\"max\": 1010.000}, "
        "\"camera_ms\": {\"p50\": 5.964, \"p95\": 16.000, \"p99\": 16.000, \"max\": 16.000}, "
        "\"added_ms\": {\"p50\": 4.522, \"p95\": 444.500, \"p99\": 444.500, \"max\": 444.500}, "
        "\"filter_ms\": {\"p50\": 2.982, \"p95\": 33.123, \"p99\": 33.123, \"max\": 33.123}, "
        "\"psnr_gain_db\": 10.000, \"reconnects\": 3}\n";
    const int64_t span[N_SPANS] = {1000000, 2000000, 3000000, 4000000, 10000000, 6000000, 4500000};
    const int64_t slow[N_SPANS] = {1000000,    2000000,  33123456, 4000000,
                                   1010000000, 16000000, 444500000};
    struct stats_recorder *r = NULL;
    struct status status;
    struct stats s;
    char text[2048] = "";
    FILE *out = fmemopen(text, sizeof(text), "w");

    (void)state;
    assert_non_null(out);
    assert_int_equal(stats_create(&r), 0);
    stats_input(r, 12, 1, 2, 3);
    stats_output(r, span, 5, 5, 1000000000);
    stats_output(r, span, 5, 2, 1500000000);
    stats_output(r, slow, 5, 4, 2000000000);
    stats_quality(r, 100.0, 10.0);
    stats_not_shown(r, 6);
    stats_snapshot(r, &s);
    assert_int_equal(s.frames_not_shown, 6);
    status_init(&status);
    (void)snprintf(status.engine, sizeof(status.engine), "simd");
    (void)snprintf(status.device, sizeof(status.device), "a \"b\" \\ \n\x7f\xc2\x9b\xc3\xa9\xff");
    (void)snprintf(status.format_in, sizeof(status.format_in), "yuyv");
    (void)snprintf(status.format_out, sizeof(status.format_out), "yu12");
    (void)snprintf(status.outputs, sizeof(status.outputs), "null:: 3 frames");
    status.threads = 3;
    status.width = 64;
    status.height = 48;
    stats_fill_status(&s, 2000000000, &status);
    status_print_json(&status, out);
    assert_int_equal(fclose(out), 0);
    stats_destroy(r);
    assert_string_equal(text, expected);
}

/* Before there is one, and when nothing has come out for a while, there is no last second. */
static void test_last_second(void **state)
{
    const int64_t span[N_SPANS] = {[SPAN_LATENCY] = 10000000, [SPAN_ADDED] = 4000000};
    struct stats_recorder *r = NULL;
    struct status status;
    struct stats s;

    (void)state;
    assert_int_equal(stats_create(&r), 0);
    for (int64_t t_ns = 1000000000; t_ns <= 2000000000; t_ns += 50000000) {
        stats_snapshot(r, &s);
        stats_fill_status(&s, t_ns, &status);
        assert_true(status.second.fps == 0.0 && status.second.latency.p50_ns == 0);
        stats_output(r, span, 5, 5, t_ns);
    }
    stats_snapshot(r, &s);
    stats_destroy(r);
    stats_fill_status(&s, INT64_C(3999999999), &status);
    assert_true(status.second.fps == 20.0);
    assert_int_equal(status.second.latency.p99_ns, 10000000);
    assert_int_equal(status.second.added.max_ns, 4000000);
    stats_fill_status(&s, INT64_C(4000000000), &status);
    assert_true(status.second.fps == 0.0 && status.second.latency.p50_ns == 0);
    assert_int_equal(status.run.latency.p50_ns, 10000000);
}

/* Frames on their way belong to no count yet; of a run that has ended they are lost. */
static void test_balance(void **state)
{
    const struct stats now = {
        .frames_in = 12, .frames_out = 3, .frames_dropped = 1, .frames_bad = 2};
    struct stats s = now;

    (void)state;
    stats_balance(&s, false);
    assert_int_equal(s.frames_in, 6);
    assert_int_equal(s.frames_dropped, 1);
    s = now;
    stats_balance(&s, true);
    assert_int_equal(s.frames_in, 12);
    assert_int_equal(s.frames_dropped, 7);
    s.frames_out = 4; /* counted before the source tells of it */
    stats_balance(&s, true);
    assert_int_equal(s.frames_in, 13);
    assert_int_equal(s.frames_dropped, 7);
}

/* In percent of one core, between two looks that are a second apart or more. */
static void test_processor(void **state)
{
    static const struct {
        int64_t t_ms, processor_ms;
        double percent;
    } rows[] = {
        {5000, 700, 0.0},   {5300, 800, 0.0},    {6000, 1000, 30.0},
        {6999, 5000, 30.0}, {8000, 4000, 150.0}, {18000, 4000, 0.0},
    };
    struct stats_recorder *r;

    (void)state;
    assert_int_equal(stats_create(&r), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_float_equal(
            stats_processor(r, rows[i].processor_ms * 1000000, rows[i].t_ms * 1000000),
            rows[i].percent, 1e-9);
    stats_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_json),        cmocka_unit_test(test_last_second),
        cmocka_unit_test(test_balance),     cmocka_unit_test(test_processor),
    };

    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
