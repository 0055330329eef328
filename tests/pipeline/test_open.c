/* Opening the pipeline: with what the tables of sources and sinks say of each, and while
 * descriptors run out. */
#include "tests/lib/unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pipeline/backends.h"
#include "pipeline/parts.h"

static int n_left = -1; /* eventfds that can still be made; negative: any number */

int __real_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags);

int __wrap_eventfd(unsigned count, int flags)
{
    if (n_left == 0) {
        errno = EMFILE;
        return -1;
    }
    n_left -= n_left > 0;
    return __real_eventfd(count, flags);
}

static int count_descriptors(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(folder);
    while (readdir(folder))
        n++;
    (void)closedir(folder);
    return n;
}

static struct settings settings_for(const char *input, const char *output)
{
    struct settings s;

    settings_init(&s);
    (void)snprintf(s.input, sizeof(s.input), "%s", input);
    (void)snprintf(s.output, sizeof(s.output), "%s", output);
    (void)snprintf(s.engine, sizeof(s.engine), "simd");
    return s;
}

static struct pipeline *open_well(const struct settings *s, int stop_fd)
{
    struct pipeline *p = NULL;
    struct error err = {.text = ""};

    if (pipeline_open(&p, s, stop_fd, &err))
        fail_msg("%s", err.text);
    return p;
}

static void open_badly(const struct settings *s, int stop_fd, int code, const char *text)
{
    struct pipeline *p = NULL;
    struct error err = {.text = ""};

    assert_int_equal(pipeline_open(&p, s, stop_fd, &err), code);
    assert_non_null(strstr(err.text, text));
    assert_null(p);
}

/* Only a device may come later. */
static void test_wait(void **state)
{
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct settings camera = settings_for("No such camera", "null:");
    struct settings file = settings_for("./no such file", "null:");

    (void)state;
    camera.wait = file.wait = true;
    assert_int_equal(pipeline_close(open_well(&camera, stop_fd)), 0);
    open_badly(&file, stop_fd, -ENOENT, "no such file");
    (void)close(stop_fd);
}

static void test_on_demand(void **state)
{
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct settings s = settings_for("test:", "null:");

    (void)state;
    s.on_demand = ON_DEMAND_ON;
    open_badly(&s, stop_fd, -EINVAL, "an output must be a virtual camera, not 'null:'");
    (void)close(stop_fd);
}

/* What does not fit together is refused while it runs, too. */
static void test_live_settings(void **state)
{
    static const struct {
        const char *key, *value, *refusal; /* NULL: taken */
    } rows[] = {
        {"temporal", "8", NULL},
        {"temporal-mode", "window", NULL},
        {"temporal", "17", "temporal: 17 frames, at most 8 with temporal-mode window"},
        {"temporal-mode", "recursive", NULL},
        {"temporal", "17", NULL},
        {"temporal-mode", "window", "temporal: 17 frames, at most 8 with temporal-mode window"},
        {"radius", "33", "radius = '33': must be an integer from 0 to 32"},
        {"size", "64x48", "size changes by the configuration file and a reload, not by set"},
        {"output", "null:", "output cannot change while bilatcam runs"},
    };
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const struct settings s = settings_for("test:", "null:");
    struct pipeline *p = open_well(&s, stop_fd);
    struct settings before, after;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = {.text = ""};

        pipeline_settings(p, &before);
        assert_int_equal(pipeline_set(p, rows[i].key, rows[i].value, &err),
                         rows[i].refusal ? -EINVAL : 0);
        assert_string_equal(err.text, rows[i].refusal ? rows[i].refusal : "");
        pipeline_settings(p, &after);
        assert_int_equal(memcmp(&before, &after, sizeof(after)) == 0, rows[i].refusal != NULL);
    }
    assert_int_equal(stream_filter_request(p->stages.stream).filter.temporal, 17);
    assert_int_equal(pipeline_close(p), 0);
    (void)close(stop_fd);
}

/* What the keys of a window do. */
static void test_adjusting(void **state)
{
    static const struct {
        const char *key;
        int steps;
        const char *says;
    } rows[] = {
        {"radius", 1, "radius 6"},
        {"sigma-space", 1, "sigma-space 3.25"}, /* from half of the radius */
        {"temporal", 1, "temporal 5"},          /* from auto */
        {"temporal", 3, "temporal 8"},
        {"temporal", 1, "temporal 8"}, /* 9 frames do not fit into a window */
        {"sigma-color", -1, "sigma-color 17"},
        {"range", 1, "range lorentzian"},
        {"filter", 1, "filter gaussian"},
        {"window", 1, "window square, which counts for filter bilateral"},
        {"filter", 3, "filter bilateral"},
    };
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct settings s = settings_for("test:", "null:");
    struct pipeline *p;

    (void)state;
    s.temporal = 0;
    s.temporal_mode = TEMPORAL_WINDOW;
    s.sigma_color = 0.0;
    p = open_well(&s, stop_fd);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct sink_control control = pipeline_sink_control(p);
        char text[64];

        control.adjust(control.user, rows[i].key, rows[i].steps, text, sizeof(text));
        assert_string_equal(text, rows[i].says);
    }
    assert_int_equal(pipeline_close(p), 0);
    (void)close(stop_fd);
}

/* A window's key switches the filter in time off, and back to what it was. */
static void test_toggling_time(void **state)
{
    static const struct {
        const char *key, *value; /* set before */
        const char *says;
        int temporal; /* then */
    } rows[] = {
        {"temporal", "1", "temporal auto", 16}, /* it was off from the start */
        {NULL, NULL, "temporal 1", 1},
        {NULL, NULL, "temporal auto", 16},
        {"temporal", "12", "temporal 1", 1},
        {NULL, NULL, "temporal 12", 12},
        {"temporal", "5", "temporal 1", 1},
        {"temporal-mode", "window", "temporal 5", 5},
        {"temporal-mode", "recursive", "temporal 1", 1},
        {"temporal", "9", "temporal 1", 1},
        {"temporal-mode", "window", "temporal auto", 4}, /* which does not take 9 */
    };
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const struct settings s = settings_for("test:", "null:");
    struct pipeline *p = open_well(&s, stop_fd);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct sink_control control = pipeline_sink_control(p);
        struct status status;
        struct error err;
        char text[64];

        if (rows[i].key)
            assert_int_equal(pipeline_set(p, rows[i].key, rows[i].value, &err), 0);
        control.toggle_time(control.user, text, sizeof(text));
        assert_string_equal(text, rows[i].says);
        control.status(control.user, &status);
        assert_int_equal(status.temporal, rows[i].temporal);
    }
    assert_int_equal(pipeline_close(p), 0);
    (void)close(stop_fd);
}

/* A source takes the place of another one that is live, if it can and is live itself. */
static void test_another_source(void **state)
{
    static const struct {
        const char *input;
        uint32_t fps;
        bool reopens;
    } cases[] = {
        {"test:chart", 30, true}, {"test:", 15, true},  {"No such camera", 0, true},
        {"test:", 0, false},      {"x.y4m", 30, false},
    };
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct settings first = settings_for("test:", "null:");
    struct pipeline *p;

    (void)state;
    first.fps = (struct fraction){30, 1};
    p = open_well(&first, stop_fd);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct settings other = settings_for(cases[i].input, "null:");

        if (cases[i].fps)
            other.fps = (struct fraction){cases[i].fps, 1};
        pipeline_apply(p, &other);
        assert_int_equal(p->stages.capture.has_next_request, cases[i].reopens);
        pipeline_apply(p, &first);
        p->stages.capture.has_next_request = false;
    }
    assert_int_equal(pipeline_close(p), 0);
    (void)close(stop_fd);
}

/* The window ends the program if nothing else shows the pictures. */
static void test_window(void **state)
{
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    char path[] = "/tmp/bilatcam-open-XXXXXX.y4m";
    const int file = mkstemps(path, 4);
    char both[64];
    const char *const outputs[] = {"null:", path, both};

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(setenv("SDL_VIDEODRIVER", "dummy", 1), 0);
    (void)snprintf(both, sizeof(both), "null:\n%s", path);
    for (int i = 0; i < 3; i++) {
        struct settings s = settings_for("test:", outputs[i]);
        struct pipeline *p;

        s.preview = true;
        if (window_sink->missing) {
            open_badly(&s, stop_fd, -ENOTSUP, window_sink->missing);
            continue;
        }
        p = open_well(&s, stop_fd);
        assert_int_equal(p->stages.output.writers[p->n_outputs].outlet.config.alone, i == 0);
        assert_int_equal(pipeline_close(p), 0);
    }
    (void)unlink(path);
    (void)close(file);
    (void)close(stop_fd);
}

static void test_descriptors_run_out(void **state)
{
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), before = count_descriptors();
    const struct settings s = settings_for("test:", "null:");

    (void)state;
    for (int n = 0; n < 3; n++) {
        n_left = n;
        open_badly(&s, stop_fd, -EMFILE, strerror(EMFILE));
        assert_int_equal(count_descriptors(), before);
    }
    n_left = -1;
    (void)close(stop_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait),          cmocka_unit_test(test_on_demand),
        cmocka_unit_test(test_live_settings), cmocka_unit_test(test_adjusting),
        cmocka_unit_test(test_toggling_time), cmocka_unit_test(test_another_source),
        cmocka_unit_test(test_window),        cmocka_unit_test(test_descriptors_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
