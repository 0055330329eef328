/* Filters over time in the stages: what engines are asked to do, and what is shown of it. */
#include "tests/pipeline/recorder.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "settings/settings.h"

#define N_FRAMES 24

static const struct filter mean_alone = {.sigma_space = 1, .sigma_color = 20, .temporal = 16};

static struct status status_of(struct bench *b)
{
    struct status status;
    struct stats stats;

    status_init(&status);
    stages_stats(&b->stages, &stats);
    stats_fill_status(&stats, 1, &status);
    stream_fill_status(b->stages.stream, &status);
    return status;
}

/* From file to file: whatever it takes, all of it is done, with a radius of 0 too, and shown. */
static void test_files(void **state)
{
    static const struct {
        struct filter filter;
        bool acts;
        const char *search;
    } rows[] = {
        {{.radius = 0}, false, ""},
        {{.radius = 0, .temporal = 1}, false, ""},
        {{.radius = 2, .temporal = 1}, true, ""},
        {{.radius = 2, .temporal = 16}, true, "on"},
        {{.radius = 0, .temporal = 16}, true, "on"},
        {{.radius = 0, .temporal = 4, .temporal_mode = TEMPORAL_WINDOW}, true, ""},
    };
    uint64_t raw[N_FRAMES];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int depth = 1; depth <= 4; depth++) {
            struct bench b = {0};
            struct status status;

            reset(UINT64_MAX, N_FRAMES, -1);
            camera.file = true;
            open_recorded(&b, depth, RECORDED_NEVER, 0);
            set_filter(&rows[i].filter);
            run_bench(&b);
            assert_int_equal(count_calls(rows[i].acts ? 'x' : '-'), N_FRAMES);
            check_calls(false);
            if (i == 0)
                memcpy(raw, screen.sum, sizeof(raw));
            for (int k = 0; k < N_FRAMES; k++) {
                assert_int_equal(screen.sum[k] == raw[k], !rows[i].acts);
                assert_int_equal(recording.calls[k].filter.radius, rows[i].filter.radius);
                assert_int_equal(recording.calls[k].filter.temporal > 1,
                                 rows[i].filter.temporal > 1);
                assert_false(recording.calls[k].filter.no_search);
            }
            status = status_of(&b);
            assert_int_equal(status.radius_last, rows[i].filter.radius);
            assert_string_equal(status.search, rows[i].search);
            close_bench(&b);
        }
}

/* --- live --- */

static struct filter wanted;

/* The newest frame was treated as is wanted. */
static bool is_so(struct bench *b)
{
    const int n = recording.n_calls;
    const struct call *last;

    (void)b;
    if (n == 0)
        return false;
    last = &recording.calls[n - 1];
    if (!filter_acts(&wanted))
        return last->what == '-';
    return last->what == 'x' && last->filter.radius == wanted.radius &&
           last->filter.temporal == wanted.temporal;
}

static void play_changes(struct bench *b)
{
    static const struct filter filters[] = {
        {.radius = 2, .temporal = 1}, {.temporal = 16}, {.temporal = 1}, {.temporal = 2},
        {.radius = 3, .temporal = 2}, {.temporal = 0},
    };

    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        wanted = filters[i];
        set_filter(&wanted);
        assert_true(eventually(is_so, b));
    }
}

/* No change but a break in the stream makes the engine forget. */
static void test_changes(void **state)
{
    struct bench b = {0};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.pause_ms = 2;
    open_recorded(&b, 1, RECORDED_NEVER, 0);
    run_script(&b, play_changes);
    assert_int_equal(count_calls('|'), 0);
    check_calls(false);
    close_bench(&b);
}

static void play_change_meanwhile(struct bench *b)
{
    wanted = (struct filter){.radius = 2, .temporal = 1};
    set_filter(&wanted);
    assert_true(eventually(is_so, b));
    recording.gate_shut = true;
    assert_true(await_calls(b, 1));
    wanted.temporal = 16;
    set_filter(&wanted);
    recording.gate_shut = false;
    assert_true(eventually(is_so, b));
}

/* A frame that was begun before others were asked for is not one for which the budget left them
 * out. */
static void test_change_meanwhile(void **state)
{
    struct bench b = {0};

    (void)state;
    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.pause_ms = 2;
    open_recorded(&b, 1, RECORDED_NEVER, 0);
    run_script(&b, play_change_meanwhile);
    assert_false(b.stages.filtering.alone.logged);
    assert_int_equal(b.stages.filtering.alone.n, 0);
    close_bench(&b);
}

/* --- the budget --- */

static void open_with_budget(struct bench *b, const struct filter *filter)
{
    struct filter_request w;

    reset(UINT64_MAX, UINT64_MAX, -1);
    camera.fps = 30;
    camera.pause_ms = 33;
    open_recorded(b, 1, RECORDED_NEVER, 0);
    w = stream_filter_request(b->stages.stream);
    w.latency_budget = 20000000;
    stream_set_filter_request(b->stages.stream, &w);
    set_filter(filter);
}

/* Where the probe that follows call @i begins; -1: there is none. */
static int next_probe(int i)
{
    while (i < recording.n_calls && recording.calls[i].what == 'x')
        i++;
    while (i < recording.n_calls && recording.calls[i].what == '-')
        i++;
    return i < recording.n_calls ? i : -1;
}

static bool two_probes_came(struct bench *b)
{
    const int first = next_probe(0), second = first < 0 ? -1 : next_probe(first);

    (void)b;
    return second >= 0 && recording.n_calls > second + 3;
}

static void play_probes(struct bench *b)
{
    assert_true(eventually(two_probes_came, b));
}

/* What the screen got of frame @seq. */
static uint64_t shown(uint64_t seq)
{
    int i = 0;

    while (i < screen.n && screen.seq[i] != seq)
        i++;
    assert_true(i < screen.n);
    return screen.sum[i];
}

/* Two frames each, without the mean, of which none is shown. */
static void test_probes(void **state)
{
    const struct filter filter = {.radius = 3, .sigma_space = 1, .sigma_color = 20, .temporal = 16};
    struct bench b = {0};

    (void)state;
    open_with_budget(&b, &filter);
    camera.still = true;
    recording.delay_ms = 50;
    run_script(&b, play_probes);
    for (int i = next_probe(0), n = 0; n < 2; n++, i = next_probe(i)) {
        assert_int_equal(recording.calls[i + 1].what, 'x');
        assert_int_equal(recording.calls[i + 2].what, '-');
        for (int k = i; k < i + 2; k++) {
            assert_int_equal(recording.calls[k].filter.radius, 1);
            assert_int_equal(recording.calls[k].filter.temporal, 1);
            assert_int_equal(shown(recording.calls[k].seq), shown(recording.calls[i - 1].seq));
        }
    }
    check_calls(false);
    close_bench(&b);
}

static bool search_is_off(struct bench *b)
{
    return !strcmp(status_of(b).search, "off");
}

static bool mean_is_off(struct bench *b)
{
    return !strcmp(status_of(b).search, "none");
}

static bool search_is_on(struct bench *b)
{
    return !strcmp(status_of(b).search, "on");
}

static void play_search(struct bench *b)
{
    struct filter_request w;

    assert_true(eventually(search_is_on, b));
    recording.search_ms = 30;
    assert_true(eventually(search_is_off, b));
    w = stream_filter_request(b->stages.stream);
    w.latency_budget = BUDGET_OFF;
    stream_set_filter_request(b->stages.stream, &w);
    assert_true(eventually(search_is_on, b));
}

/* The search goes before the radius does, below 3. */
static void test_search(void **state)
{
    struct filter filter = mean_alone;
    struct bench b = {0};

    (void)state;
    filter.radius = 5;
    open_with_budget(&b, &filter);
    run_script(&b, play_search);
    for (int i = 0; i < recording.n_calls; i++)
        if (recording.calls[i].what == 'x' && recording.calls[i].filter.radius < 3)
            assert_true(recording.calls[i].filter.no_search);
    check_calls(false);
    close_bench(&b);
}

static void play_mean(struct bench *b)
{
    assert_true(eventually(search_is_on, b));
    recording.mean_ms = 30;
    assert_true(eventually(mean_is_off, b));
    recording.mean_ms = 0;
    assert_true(eventually(search_is_on, b));
}

/* Where no radius fits with the mean, each frame is filtered by itself, but nothing passes. */
static void test_mean(void **state)
{
    struct filter filter = mean_alone;
    struct bench b = {0};

    (void)state;
    filter.radius = 5;
    open_with_budget(&b, &filter);
    run_script(&b, play_mean);
    assert_int_equal(count_calls('-'), 0);
    for (int i = 0; i < recording.n_calls; i++) {
        assert_true(recording.calls[i].filter.radius > 0);
        assert_true(recording.calls[i].filter.sigma_color > 19.0);
    }
    check_calls(false);
    close_bench(&b);
}

static double sigma_color_of(struct bench *b, const struct filter *f, const char *search,
                             bool is_420)
{
    const struct stream_feedback feedback = {
        .noise = 10.0, .noise_share = 0.3, .is_420 = is_420, .search = search};

    set_filter(f);
    stream_set_feedback(b->stages.stream, &feedback);
    return status_of(b).sigma_color / (10.0 * sqrt(3.0));
}

/* What auto stands for is another number where the budget leaves the mean out. What neighbours
 * share counts for the mean alone. */
static void test_sigma_color(void **state)
{
    const struct filter mean = {.radius = 2, .sigma_space = 1, .temporal = 16};
    const struct filter alone = {.radius = 2, .sigma_space = 1, .temporal = 1};
    const double with = filter_auto_sigma_color(&mean, 1.0, 0.3, false);
    const double without = filter_auto_sigma_color(&alone, 1.0, 0.3, false);
    struct bench b = {0};

    (void)state;
    reset(UINT64_MAX, N_FRAMES, -1);
    camera.file = true;
    open_recorded(&b, 1, RECORDED_NEVER, 0);
    run_bench(&b);
    assert_true(with > 1.1 * without);
    assert_true(filter_auto_sigma_color(&alone, 1.0, 0.1, false) == without);
    assert_true(filter_auto_sigma_color(&mean, 1.0, 0.1, false) < without);
    assert_true(fabs(sigma_color_of(&b, &mean, "on", false) - with) < 1e-9);
    assert_true(fabs(sigma_color_of(&b, &mean, "off", false) - with) < 1e-9);
    assert_true(fabs(sigma_color_of(&b, &mean, "none", false) - without) < 1e-9);
    assert_true(fabs(sigma_color_of(&b, &alone, "", false) - without) < 1e-9);
    assert_true(fabs(sigma_color_of(&b, &alone, "", true) - 1.1 * without) < 1e-9);
    assert_true(fabs(sigma_color_of(&b, &mean, "on", true) - noise_widens_420(0.3) * with) < 1e-9);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_change_meanwhile),
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_sigma_color),
    };

    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}
