/* What keys and mouse mean in the preview, and the letters of its messages: tables of numbers,
 * without a window. */
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "picture/font.h"
#include "sink/preview/ui.h"

#define MS INT64_C(1000000)

static struct preview_ui fresh(void)
{
    struct preview_ui ui;

    preview_ui_init(&ui);
    return ui;
}

static enum preview_action_kind press(struct preview_ui *ui, int key)
{
    return preview_ui_key(ui, key, false, 0).kind;
}

static void test_adjusting_keys(void **state)
{
    static const struct {
        int key;
        const char *setting;
        int steps;
    } cases[] = {
        {'+', "radius", 1},       {'=', "radius", 1},       {'-', "radius", -1},
        {']', "sigma-color", 1},  {'[', "sigma-color", -1}, {'.', "sigma-space", 1},
        {',', "sigma-space", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int repeated = 0; repeated < 2; repeated++) {
            struct preview_ui ui = fresh();
            const struct preview_action a = preview_ui_key(&ui, cases[i].key, repeated, 0);

            assert_int_equal(a.kind, ACTION_ADJUST);
            assert_string_equal(a.key, cases[i].setting);
            assert_int_equal(a.steps, cases[i].steps);
        }
}

static void test_choosing_keys(void **state)
{
    static const struct {
        int key;
        const char *setting;
    } cases[] = {{'n', "filter"}, {'r', "range"}, {'w', "window"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct preview_ui ui = fresh();
        const struct preview_action a = preview_ui_key(&ui, cases[i].key, false, 0);

        assert_int_equal(a.kind, ACTION_ADJUST);
        assert_string_equal(a.key, cases[i].setting);
        assert_int_equal(a.steps, 1);
    }
}

/* Holding a key down must not flicker between two states, nor save a hundred snapshots. */
static void test_other_keys_do_not_repeat(void **state)
{
    static const int keys[] = {'b', 'v', 'o', 'h', 'f', ' ', 'm',        'c',
                               't', 's', 'q', 'n', 'r', 'w', KEY_ESCAPE, KEY_F11};

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct preview_ui ui = fresh(), same;

        ui.counted = true;
        same = ui;
        assert_int_equal(preview_ui_key(&ui, keys[i], true, 0).kind, ACTION_NONE);
        assert_memory_equal(&ui, &same, sizeof(ui));
    }
}

static void test_unknown_keys_do_nothing(void **state)
{
    struct preview_ui ui = fresh(), same = fresh();

    (void)state;
    for (int key = 0; key < 300; key++)
        if (!strchr("bvohf mctsqnrw+=-[],.", key) && key != KEY_ESCAPE && key != KEY_F11)
            assert_int_equal(press(&ui, key), ACTION_NONE);
    assert_memory_equal(&ui, &same, sizeof(ui));
}

static void test_views(void **state)
{
    static const struct {
        enum preview_view from;
        int key;
        enum preview_view to;
    } cases[] = {
        {VIEW_FILTERED, 'b', VIEW_UNFILTERED}, {VIEW_UNFILTERED, 'b', VIEW_FILTERED},
        {VIEW_SPLIT, 'b', VIEW_UNFILTERED},    {VIEW_FILTERED, 'v', VIEW_SPLIT},
        {VIEW_UNFILTERED, 'v', VIEW_SPLIT},    {VIEW_SPLIT, 'v', VIEW_FILTERED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct preview_ui ui = fresh();

        ui.view = cases[i].from;
        assert_int_equal(press(&ui, cases[i].key), ACTION_NONE);
        assert_int_equal(ui.view, cases[i].to);
    }
}

static void test_escape_goes_back_by_one(void **state)
{
    struct preview_ui ui = fresh();

    (void)state;
    (void)press(&ui, 'f');
    (void)press(&ui, 'h');
    assert_true(ui.fullscreen && ui.help);
    assert_int_equal(press(&ui, KEY_ESCAPE), ACTION_NONE);
    assert_true(ui.fullscreen && !ui.help);
    assert_int_equal(press(&ui, KEY_ESCAPE), ACTION_NONE);
    assert_false(ui.fullscreen);
    assert_int_equal(press(&ui, KEY_ESCAPE), ACTION_QUIT);
    assert_int_equal(press(&ui, 'q'), ACTION_QUIT);
    assert_int_equal(press(&ui, 's'), ACTION_SNAPSHOT);
    assert_int_equal(press(&ui, 't'), ACTION_TIME);
}

static void test_toggles(void **state)
{
    struct preview_ui ui = fresh();

    (void)state;
    for (int i = 0; i < 2; i++) {
        (void)press(&ui, ' ');
        (void)press(&ui, 'm');
        (void)press(&ui, 'o');
        (void)press(&ui, KEY_F11);
        assert_int_equal(ui.frozen, !i);
        assert_int_equal(ui.mirror, !i);
        assert_int_equal(ui.statistics, !i);
        assert_int_equal(ui.fullscreen, !i);
    }
}

/* The map lies on the filtered picture, which it brings back. Without counts there is none, and the
 * key says why. */
static void test_map(void **state)
{
    static const struct {
        bool map, counted;
        int temporal;
        enum preview_view view;
        bool map_after;
        enum preview_view view_after;
        const char *toast;
    } cases[] = {
        {false, true, 16, VIEW_FILTERED, true, VIEW_FILTERED, ""},
        {false, true, 16, VIEW_SPLIT, true, VIEW_SPLIT, ""},
        {false, true, 16, VIEW_UNFILTERED, true, VIEW_FILTERED, ""},
        {true, true, 16, VIEW_FILTERED, false, VIEW_FILTERED, ""},
        {true, true, 16, VIEW_UNFILTERED, false, VIEW_UNFILTERED, ""},
        {false, false, 1, VIEW_SPLIT, false, VIEW_SPLIT, "no map: time is off; t switches it on"},
        {true, false, 1, VIEW_SPLIT, true, VIEW_SPLIT, "no map: time is off; t switches it on"},
        {false, false, 16, VIEW_FILTERED, false, VIEW_FILTERED,
         "no map: frames are not counted now"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct preview_ui ui = fresh();
        const struct status s = {.temporal = cases[i].temporal};

        preview_ui_set_status(&ui, &s, MS);
        ui.map = cases[i].map;
        ui.counted = cases[i].counted;
        ui.view = cases[i].view;
        assert_int_equal(press(&ui, 'c'), ACTION_NONE);
        assert_int_equal(ui.map, cases[i].map_after);
        assert_int_equal(ui.view, cases[i].view_after);
        assert_string_equal(ui.toast, cases[i].toast);
    }
}

/* What is frozen keeps its scale while time is off. */
static void test_scale_of_the_map(void **state)
{
    static const int temporals[][2] = {{16, 16}, {1, 16}, {12, 12}, {0, 12}};
    struct preview_ui ui = fresh();

    (void)state;
    for (size_t i = 0; i < sizeof(temporals) / sizeof(temporals[0]); i++) {
        const struct status s = {.temporal = temporals[i][0]};

        preview_ui_set_status(&ui, &s, MS);
        assert_int_equal(ui.most, temporals[i][1]);
    }
}

static void test_a_click_is_no_drag(void **state)
{
    struct preview_ui ui = fresh();

    (void)state;
    assert_false(preview_ui_move(&ui, 0.3, 0.01)); /* no button is down */
    assert_false(preview_ui_press(&ui, 0.3));
    assert_false(preview_ui_move(&ui, 0.305, 0.01));
    assert_false(preview_ui_release(&ui));
    assert_int_equal(ui.view, VIEW_FILTERED);
}

static void test_dragging(void **state)
{
    struct preview_ui ui = fresh();

    (void)state;
    assert_false(preview_ui_press(&ui, 0.3));
    assert_true(preview_ui_move(&ui, 0.4, 0.01));
    assert_int_equal(ui.view, VIEW_SPLIT);
    assert_true(ui.split == 0.4);
    assert_true(preview_ui_release(&ui));
    assert_false(preview_ui_move(&ui, 0.9, 0.01));
    assert_true(ui.split == 0.4);
    assert_true(preview_ui_press(&ui, 0.7)); /* the line comes to the mouse */
    assert_true(ui.split == 0.7);
    assert_true(preview_ui_move(&ui, 1.5, 0.01));
    assert_true(ui.split == 1.0);
    assert_true(preview_ui_release(&ui));
    assert_int_equal(ui.view, VIEW_UNFILTERED);
    (void)press(&ui, 'v'); /* not where it could not be seen */
    assert_true(ui.split == 0.5);
    (void)preview_ui_press(&ui, -0.2);
    (void)preview_ui_release(&ui);
    assert_int_equal(ui.view, VIEW_FILTERED);
}

static void test_arrows_move_the_line(void **state)
{
    struct preview_ui ui = fresh();

    (void)state;
    (void)press(&ui, KEY_LEFT);
    assert_true(ui.split == 0.5);
    (void)press(&ui, 'v');
    (void)preview_ui_key(&ui, KEY_LEFT, true, 0);
    assert_true(ui.split < 0.5);
    for (int i = 0; i < 100; i++)
        (void)preview_ui_key(&ui, KEY_RIGHT, true, 0);
    assert_true(ui.split == 1.0);
}

static void test_a_message_comes_and_goes(void **state)
{
    struct preview_ui ui = fresh();
    const int64_t t = 5000 * MS;
    double last = 1.0;

    (void)state;
    assert_true(preview_ui_toast_alpha(&ui, t) == 0.0);
    preview_ui_toast(&ui, t, "radius %d", 6);
    assert_string_equal(ui.toast, "radius 6");
    assert_true(preview_ui_toast_alpha(&ui, t + 1500 * MS) == 1.0);
    assert_false(preview_ui_wants_redraw(&ui, t + 1500 * MS));
    for (int i = 2050; i < 2500; i += 50) {
        const double alpha = preview_ui_toast_alpha(&ui, t + i * MS);

        assert_true(preview_ui_wants_redraw(&ui, t + i * MS));
        assert_true(alpha < last && alpha > 0.0);
        last = alpha;
    }
    assert_true(preview_ui_toast_alpha(&ui, t + 2500 * MS) == 0.0);
    assert_true(preview_ui_wants_redraw(&ui, t + 2500 * MS)); /* to be rid of it */
    assert_false(preview_ui_wants_redraw(&ui, t + 2600 * MS));
}

static void test_history(void **state)
{
    struct preview_ui ui = fresh();
    struct status s = {.readers = -1};
    int64_t t = 100 * MS;

    (void)state;
    assert_true(preview_ui_wants_status(&ui, t));
    preview_ui_set_status(&ui, &s, t);
    assert_false(preview_ui_wants_status(&ui, t + 200 * MS));
    assert_true(preview_ui_wants_status(&ui, t + 250 * MS));
    assert_int_equal(ui.n_history, 0); /* nothing was measured yet */
    for (int i = 1; i <= 400; i++, t += 250 * MS) {
        s.second.added.p50_ns = i * MS;
        s.second.added.p99_ns = 2 * i * MS;
        preview_ui_set_status(&ui, &s, t);
    }
    assert_int_equal(ui.n_history, 100);
    assert_int_equal(ui.p50_ns[99 % PREVIEW_HISTORY], 397 * MS);
    assert_int_equal(ui.p99_ns[99 % PREVIEW_HISTORY], 794 * MS);
}

static void expect_rows(const struct status *s, const char *const texts[PREVIEW_ROWS],
                        unsigned warned)
{
    static const char *const labels[PREVIEW_ROWS] = {"frames", "latency", "camera", "added",
                                                     "budget", "radius",  "sigma",  "noise",
                                                     "memory", "engine",  "device", "cpu"};
    struct preview_row rows[PREVIEW_ROWS];
    struct preview_ui ui = fresh();

    preview_ui_set_status(&ui, s, MS);
    preview_ui_rows(&ui, rows);
    for (int i = 0; i < PREVIEW_ROWS; i++) {
        assert_string_equal(rows[i].label, labels[i]);
        assert_string_equal(rows[i].text, texts[i]);
        assert_int_equal(rows[i].warns, warned >> i & 1);
    }
}

/* What the statistics say, word for word. */
static void test_rows(void **state)
{
    struct status s = {
        .second = {.fps = 29.97,
                   .latency = {.p50_ns = 43 * MS, .p99_ns = 55 * MS},
                   .camera = {.p50_ns = 34 * MS},
                   .added = {.p50_ns = 9 * MS, .p99_ns = 21250000}},
        .budget_ns = 33333333,
        .radius_requested = 5,
        .radius_last = 5,
        .sigma_color = 22.123456,
        .sigma_space = 2.5,
        .noise = 3.25,
        .frames_averaged = 9.55,
        .frames_dropped = 4,
        .engine = "simd",
        .device = "a processor",
        .processor_percent = 41.7,
    };

    (void)state;
    expect_rows(&s,
                (const char *const[]){"30.0 per second, 4 dropped", "p50 43.0 ms, p99 55.0 ms",
                                      "34.0 ms", "p50 9.0 ms, p99 21.2 ms", "33.3 ms", "5",
                                      "color 22.1, space 2.5", "3.2 levels", "9.6 frames", "simd",
                                      "a processor", "42 % of one core"},
                0);
    s.radius_last = 3;
    s.frames_bad = 7;
    s.second.added.p99_ns = 34 * MS;
    expect_rows(&s,
                (const char *const[]){
                    "30.0 per second, 4 dropped, 7 bad", "p50 43.0 ms, p99 55.0 ms", "34.0 ms",
                    "p50 9.0 ms, p99 34.0 ms", "33.3 ms", "3 of 5, limited by the budget",
                    "color 22.1, space 2.5", "3.2 levels", "9.6 frames", "simd", "a processor",
                    "42 % of one core"},
                1 << 3 | 1 << 5);
    for (int k = 0; k < 2; k++) {
        (void)snprintf(s.search, sizeof(s.search), "%s", k ? "none" : "off");
        s.radius_last = k ? 5 : 3;
        expect_rows(
            &s,
            (const char *const[]){"30.0 per second, 4 dropped, 7 bad", "p50 43.0 ms, p99 55.0 ms",
                                  "34.0 ms", "p50 9.0 ms, p99 34.0 ms", "33.3 ms",
                                  k ? "5 of 5, no mean (budget)" : "3 of 5, no search (budget)",
                                  "color 22.1, space 2.5", "3.2 levels", "9.6 frames", "simd",
                                  "a processor", "42 % of one core"},
            1 << 3 | 1 << 5);
    }
    s = (struct status){
        .radius_requested = 5, .radius_last = -1, .sigma_space = 2.5, .frames_averaged = 1.0};
    expect_rows(&s,
                (const char *const[]){"0.0 per second, 0 dropped", "measuring", "0.0 ms",
                                      "measuring", "none", "5", "color none, space 2.5",
                                      "none measured", "1.0 frames", "", "", "measuring"},
                0);
}

/* With a GPU the last row has to tell of two things, in the room of one. */
static void test_gpu_row(void **state)
{
    const struct status s = {.processor_percent = 41.7, .gpu_memory_mib = 605.7};
    struct preview_row rows[PREVIEW_ROWS];
    struct preview_ui ui = fresh();

    (void)state;
    preview_ui_set_status(&ui, &s, MS);
    preview_ui_rows(&ui, rows);
    assert_string_equal(rows[PREVIEW_ROWS - 1].text, "42 %, GPU memory 606 MiB");
}

/* The window sleeps until something changes, and never for less than that. */
static void test_next_change(void **state)
{
    struct preview_ui ui = fresh();
    const struct status s = {.second = {.fps = 30.0}};
    const int64_t t = 1000 * MS;

    (void)state;
    assert_int_equal(preview_ui_next(&ui, t), t + 250 * MS);
    preview_ui_set_status(&ui, &s, t);
    assert_int_equal(preview_ui_next(&ui, t), t + 250 * MS);
    preview_ui_toast(&ui, t - 1900 * MS, "x");
    assert_int_equal(preview_ui_next(&ui, t), t + 100 * MS);
    preview_ui_toast(&ui, t - 2100 * MS, "x");
    assert_true(preview_ui_next(&ui, t) > t);
    assert_true(preview_ui_next(&ui, t) < t + 50 * MS);
}

/* Every letter has ink, keeps it inside of its cell and width, and is unlike all others. */
static void test_letters(void **state)
{
    enum { SCALE = 2, WIDTH = FONT_CELL_WIDTH * SCALE, SIZE = WIDTH * FONT_CELL_HEIGHT * SCALE };
    static uint8_t cells[FONT_COUNT][SIZE];

    (void)state;
    for (int i = 0; i < FONT_COUNT; i++) {
        const int c = FONT_FIRST + i, advance = font_advance(c);
        int ink = 0, outside = 0;

        assert_in_range(advance, 3, FONT_CELL_WIDTH);
        font_render(c, SCALE, cells[i], WIDTH);
        for (int k = 0; k < SIZE; k++) {
            ink += cells[i][k] > 128;
            outside += cells[i][k] > 128 && k % WIDTH >= advance * SCALE;
        }
        if (c != ' ' && (ink < 4 || outside))
            fail_msg("'%c' has %d pixels of ink, %d outside", c, ink, outside);
        for (int k = 0; k < i; k++)
            if (!memcmp(cells[i], cells[k], SIZE))
                fail_msg("'%c' looks like '%c'", c, FONT_FIRST + k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adjusting_keys),
        cmocka_unit_test(test_choosing_keys),
        cmocka_unit_test(test_other_keys_do_not_repeat),
        cmocka_unit_test(test_unknown_keys_do_nothing),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_escape_goes_back_by_one),
        cmocka_unit_test(test_toggles),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_scale_of_the_map),
        cmocka_unit_test(test_a_click_is_no_drag),
        cmocka_unit_test(test_dragging),
        cmocka_unit_test(test_arrows_move_the_line),
        cmocka_unit_test(test_a_message_comes_and_goes),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_gpu_row),
        cmocka_unit_test(test_next_change),
        cmocka_unit_test(test_letters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
