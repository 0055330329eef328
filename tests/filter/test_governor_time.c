/* The governor and filters over time: a mean over frames and a search for motion on the ladder, of
 * which each engine has costs of its own, and frames that cost less after a gap. */
#include "tests/filter/governor_run.h"

#define INTERVAL_NS 33333333

/* What the mean over frames and the search for motion cost, in taps. The table has none of the
 * first, and says 70 of the second. The last three are CPUs: AVX2, AVX-512, the same with VNNI. */
static const struct {
    double mean, search;
} engines[] = {{30, 70},  {10, 15}, {130, 320}, {30, 300},
               {200, 30}, {84, 90}, {158, 170}, {323, 325}};

enum { N_ENGINES = sizeof(engines) / sizeof(engines[0]) };

static const struct filter averaging = {.radius = 5, .temporal = 16};

static struct governor_config limits_of(const struct filter *f, int radius_min)
{
    struct governor_config ret = {.interval_ns = INTERVAL_NS, .warm_up = filter_warm_up(f)};

    ladder_init(&ret.ladder, f, radius_min);
    return ret;
}

/* A machine that takes 10 ms of 33 for all of @f, with engine @k. */
static void start_time(struct run *r, const struct filter *f, int k)
{
    const struct governor_config limits = limits_of(f, 1);

    start(r, limits.ladder.top, INTERVAL_NS, laptop);
    for (int rung = 0; rung < LADDER_RUNGS; rung++) {
        const bool searches = limits.ladder.search && rung >= limits.ladder.search;

        r->cost[rung] = limits.ladder.cost[rung] +
                        (rung < limits.ladder.mean ? 0.0 : engines[k].mean) +
                        (searches ? engines[k].search - engines[0].search : 0.0);
    }
    r->machine.per_tap_ns = 9 * MS / r->cost[limits.ladder.top];
    governor_init(&r->governor, &limits);
}

static double latency_of(const struct run *r, int rung, double load)
{
    const struct machine *m = &r->machine;

    return load * (m->fixed_ns + m->per_tap_ns * r->cost[rung]) + m->other_ns;
}

/* The highest rung that fits well, or 1. */
static int fitting(const struct run *r, double load)
{
    int rung = r->governor.config.ladder.top;

    while (rung > 1 && latency_of(r, rung, load * 1.05) > 0.95 * INTERVAL_NS)
        rung--;
    return rung;
}

/* One rung after the other, but for those without the mean that cost more than the first with it.
 */
static void check_rises(const struct run *r)
{
    for (int i = 1; i < r->n; i++)
        assert_true(r->radius[i] <= r->radius[i - 1] + 1 ||
                    r->radius[i] == r->governor.config.ladder.mean);
}

/* Under pressure the radius goes down to 3, then the search is left out, then the radius goes on
 * down, then the mean is left out; and all comes back when the load has gone. */
static void test_step(void **state)
{
    (void)state;
    for (int k = 0; k < N_ENGINES; k++)
        for (double load = 1.0;; load *= 1.1) {
            struct run r;
            int wanted;

            start_time(&r, &averaging, k);
            wanted = fitting(&r, load);
            if (latency_of(&r, 1, load) > 0.8 * INTERVAL_NS)
                break;
            frames(&r, 300, 1.0);
            assert_int_equal(changes(&r, 0, 300), 0);
            frames(&r, 600, load);
            assert_true(r.radius[r.n - 1] >= wanted - 1);
            assert_true(latency_of(&r, r.radius[r.n - 1], load) <= INTERVAL_NS);
            check_budget(&r, 300, 900, INTERVAL_NS);
            frames(&r, 360, 1.0);
            assert_int_equal(r.radius[r.n - 1], r.governor.config.ladder.top);
            check_rises(&r);
        }
}

/* Constant loads, 10 % noise, whatever the search costs: where the model was wrong a rung is tried
 * in vain, which teaches better, and a step too far down is taken back in up to three steps. */
static void test_no_pumping(void **state)
{
    (void)state;
    for (int k = 0; k < N_ENGINES; k++)
        for (double load = 1.0;; load *= 1.05) {
            struct run r;

            start_time(&r, &averaging, k);
            r.machine.noise = 0.1;
            if (latency_of(&r, 1, load) > 0.8 * INTERVAL_NS)
                break;
            frames(&r, 3600, load);
            for (int from = 300; from + 300 <= r.n; from += 30)
                assert_true(changes(&r, from, from + 300) <= 4);
            assert_true(changes(&r, 300, r.n) <= 10);
            check_budget(&r, 300, r.n, INTERVAL_NS);
            check_rises(&r);
        }
}

/* The same where a frame by itself costs little besides its taps, and only a few of them fit. */
static void test_no_pumping_of_few_taps(void **state)
{
    (void)state;
    for (int k = 0; k < N_ENGINES; k++)
        for (double fixed = 0.5; fixed <= 2.0; fixed += 0.5)
            for (double share = 0.2; share <= 0.7; share += 0.05) { /* of the interval, radius 1 */
                const double tap_ns = share * INTERVAL_NS / (5 + fixed);
                struct run r;

                start_time(&r, &averaging, k);
                r.machine = (struct machine){fixed * tap_ns, tap_ns, 1 * MS, 0.06, 0};
                frames(&r, 1800, 1.0);
                assert_true(changes(&r, 600, r.n) <= 8);
                check_budget(&r, 600, r.n, INTERVAL_NS);
            }
}

/* Frames that are filtered while the others pass, and how often the picture changed between both.
 */
static void count_shown(struct run *r, int n, double load, int *ret_probes, int *ret_flips)
{
    *ret_probes = *ret_flips = 0;
    for (int i = 0; i < n; i++) {
        const bool passing = r->governor.passing;

        *ret_probes += passing && r->governor.limit > 0;
        frame(r, load);
        *ret_flips += passing != r->governor.passing;
    }
}

/* The first frame after a gap has no past and fits easily; the ones that follow do not. */
static void test_probes(void **state)
{
    static const struct {
        struct filter filter;
        double fresh;
        int warm_up;
    } rows[] = {
        {{.radius = 5, .temporal = 16}, 0.2, 2},
        {{.radius = 0, .temporal = 16}, 0.2, 2},
        {{.radius = 5, .temporal = 1, .sigma_color = 0.0}, 0.5, 2},
        {{.radius = 5, .temporal = 1, .sigma_color = 18.0}, 0.0, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run r;
        int probes, flips;
        double load = 1.0;

        start_time(&r, &rows[i].filter, 0);
        assert_int_equal(r.governor.config.warm_up, rows[i].warm_up);
        r.fresh = rows[i].fresh;
        while (latency_of(&r, 1, load) < 1.3 * INTERVAL_NS)
            load += 0.1;
        frames(&r, 300, 1.0);
        frames(&r, 60, load);
        assert_true(r.governor.passing);
        count_shown(&r, 1800, load, &probes, &flips);
        assert_int_equal(flips, 0);
        assert_in_range(probes, 20 * rows[i].warm_up, 120);
        assert_true(probes % rows[i].warm_up == 0);
        count_shown(&r, 90, 1.0, &probes, &flips);
        assert_int_equal(flips, 1);
        assert_false(r.governor.passing);
    }
}

/* A window that is not full yet costs less, frame by frame. */
static void test_probes_of_a_window(void **state)
{
    const struct filter f = {
        .radius = 5, .temporal = 4, .temporal_mode = TEMPORAL_WINDOW, .sigma_color = 18.0};
    const struct governor_config limits = limits_of(&f, 1);
    struct governor_sample s = {.t_capture_ns = 0};
    struct governor g;
    int64_t probed_ns = 0;
    int probe = 0;

    (void)state;
    governor_init(&g, &limits);
    for (int i = 0; i < 600; i++) {
        s.t_capture_ns += INTERVAL_NS;
        s.seq++;
        s.rung = g.limit;
        probe = s.rung ? probe + 1 : 0;
        if (!g.passing)
            probe = 4;
        s.filter_ns = 10000000 * (probe < 4 ? probe : 4);
        probed_ns += g.passing ? s.filter_ns : 0;
        (void)governor_step(&g, &s);
        assert_true(i < 20 || g.passing);
    }
    assert_true(probed_ns > 0 && probed_ns <= s.t_capture_ns / 20);
}

/* A machine on which no radius with the mean fits, but radius 3 without it: each frame by itself,
 * steadily, never unfiltered, from the first frame on or after a step in load; and the mean comes
 * back when that has gone. Where a mean begins or ends, a frame costs less. */
static void test_alone(void **state)
{
    (void)state;
    for (int k = 0; k < N_ENGINES; k++)
        for (int idle = 0; idle <= 300; idle += 300)
            for (double load = 1.0;; load *= 1.1) {
                struct run r;
                int mean;

                start_time(&r, &averaging, k);
                mean = r.governor.config.ladder.mean;
                r.machine.noise = 0.15;
                r.fresh = 0.3;
                if (latency_of(&r, 3, load * 1.15) > 0.95 * INTERVAL_NS)
                    break;
                if (latency_of(&r, mean, load) < INTERVAL_NS)
                    continue;
                frames(&r, idle, 1.0);
                frames(&r, 2400, load);
                for (int i = 0; i < r.n; i++)
                    assert_true(r.radius[i] > 0);
                for (int i = idle + 600; i < r.n; i++)
                    assert_true(r.radius[i] >= 2 && r.radius[i] <= mean);
                assert_true(changes(&r, idle + 600, r.n) <= 6); /* a try in vain each minute */
                check_budget(&r, idle, r.n, INTERVAL_NS);
                frames(&r, 120, 1.0);
                assert_int_equal(r.radius[r.n - 1], r.governor.config.ladder.top);
            }
}

/* Where the ladder changes, a limit that stands keeps its place on it. */
static void test_changed_ladder(void **state)
{
    static const struct filter more = {.radius = 8, .temporal = 16}, single = {.radius = 8};
    const struct governor_config from = limits_of(&averaging, 1), to = limits_of(&more, 1);
    const struct governor_config without = limits_of(&single, 1);
    const struct {
        int limit, wanted;
    } rows[] = {
        {2, 2},
        {from.ladder.mean, to.ladder.mean},
        {from.ladder.mean + 1, to.ladder.mean + 1},
        {from.ladder.search, to.ladder.search},
        {from.ladder.search + 1, to.ladder.search + 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct governor g;

        governor_init(&g, &from);
        g.limit = rows[i].limit;
        g.fail_scale = 1.0;
        governor_configure(&g, &to);
        assert_int_equal(g.limit, rows[i].wanted);
        governor_configure(&g, &from);
        assert_int_equal(g.limit, rows[i].limit);
        governor_configure(&g, &without);
        assert_int_equal(g.limit, without.ladder.top);
    }
}

/* What the mean costs is not learnt from its first frame, which has nothing to average. */
static void test_first_frame_of_a_mean(void **state)
{
    static const int ms[] = {10, 10, 10, 10, 2, 30, 30, 30};
    const struct governor_config limits = limits_of(&averaging, 1);
    struct governor_sample s = {.t_capture_ns = 0};
    struct governor g;
    double alone;

    (void)state;
    governor_init(&g, &limits);
    alone = g.model.alone;
    for (int i = 0; i < 8; i++) {
        s.t_capture_ns += INTERVAL_NS;
        s.seq++;
        s.rung = i < 4 ? 3 : limits.ladder.mean;
        s.filter_ns = ms[i] * 1000000;
        g.limit = s.rung;
        (void)governor_step(&g, &s);
    }
    assert_in_range(
        g.model.base,
        3 * (limits.ladder.cost[3] + alone) - limits.ladder.cost[limits.ladder.mean] - 1,
        3 * (limits.ladder.cost[3] + alone) - limits.ladder.cost[limits.ladder.mean] + 1);
}

static void bursts(struct run *r, int n, int period, double load)
{
    for (int i = 0; i < n; i++)
        frame(r, i % period < 3 ? load : 1.0);
}

/* How often something higher was tried, or all of it at the start, that did not hold. */
static int failures(const struct run *r)
{
    bool tried = true;
    int n = 0;

    for (int i = 1; i < r->n; i++) {
        n += tried && r->radius[i] < r->radius[i - 1];
        tried = r->radius[i] > r->radius[i - 1] || (tried && r->radius[i] == r->radius[i - 1]);
    }
    return n;
}

/* Bursts of load of 0.1 s: what they end is tried again after waits that double, whether that is a
 * radius, the search, the mean or the filter. A minute after the last all is as before. */
static void test_bursts(void **state)
{
    static const int periods[] = {30, 45, 90};
    static const double loads[] = {3.0, 6.0, 25.0};

    (void)state;
    for (int k = 0; k < N_ENGINES; k++)
        for (int i = 0; i < 9; i++) {
            struct run r;

            start_time(&r, &averaging, k);
            bursts(&r, 1800, periods[i / 3], loads[i % 3]);
            assert_true(failures(&r) <= 8);
            frames(&r, 1900, 1.0);
            assert_int_equal(r.radius[r.n - 1], r.governor.config.ladder.top);
        }
}

/* Two frames that take long cost a radius for 10 s at most, and never the mean. */
static void test_mean_outlasts_a_stall(void **state)
{
    (void)state;
    for (int k = 0; k < N_ENGINES; k++)
        for (double load = 5.0; load <= 45.0; load += 10.0) {
            struct run r;

            start_time(&r, &averaging, k);
            frames(&r, 60, 1.0);
            frames(&r, 2, load);
            frames(&r, 330, 1.0);
            for (int i = 0; i < r.n; i++)
                assert_true(r.radius[i] >= r.governor.config.ladder.mean);
            assert_int_equal(r.radius[r.n - 1], r.governor.config.ladder.top);
        }
}

/* What held for long makes the next wait short again. */
static void test_wait_is_forgotten(void **state)
{
    struct run r;

    (void)state;
    start_time(&r, &averaging, 0);
    bursts(&r, 450, 45, 6.0);
    frames(&r, 1500, 1.0);
    assert_int_equal(r.radius[r.n - 1], r.governor.config.ladder.top);
    bursts(&r, 60, 60, 6.0);
    assert_true(changes(&r, r.n - 60, r.n) > 0);
    assert_int_equal(r.radius[r.n - 1], r.governor.config.ladder.top);
}

/* The search can become cheaper alone, as it is where less moves. */
static void test_search_is_tried_again(void **state)
{
    struct run r;

    (void)state;
    start_time(&r, &averaging, 3);
    frames(&r, 600, 4.0);
    assert_int_equal(r.radius[r.n - 1], r.governor.config.ladder.search - 1);
    for (int rung = r.governor.config.ladder.search; rung < LADDER_RUNGS; rung++)
        r.cost[rung] -= 250;
    frames(&r, 3000, 4.0);
    assert_in_range(r.radius[r.n - 1], r.governor.config.ladder.search,
                    r.governor.config.ladder.top);
    check_budget(&r, 600, r.n, INTERVAL_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_no_pumping),
        cmocka_unit_test(test_no_pumping_of_few_taps),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_changed_ladder),
        cmocka_unit_test(test_first_frame_of_a_mean),
        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_mean_outlasts_a_stall),
        cmocka_unit_test(test_wait_is_forgotten),
        cmocka_unit_test(test_search_is_tried_again),
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_probes_of_a_window),
    };

    return cmocka_run_group_tests_name("governor-time", tests, NULL, NULL);
}
