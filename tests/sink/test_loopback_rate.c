/* The rate at which a file goes to a virtual camera: with a simulated device and simulated time, so
 * that nothing here waits. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sink/sink.h"
#include "tests/lib/input.h"
#include "tests/lib/kernel.h"

#define N_FRAMES 50

/* --- what the simulated device needs; its empty script makes it honest --- */

void must(bool holds, const char *what)
{
    if (!holds)
        fail_msg("does not hold: %s", what);
}

void bytes_touch(const void *data, size_t size)
{
    (void)data;
    (void)size;
}

/* --- the log --- */

static int saved_stderr, log_fd;

static void begin_log(void)
{
    char name[] = "/tmp/bilatcam-rate-XXXXXX";

    log_fd = mkstemp(name);
    assert_true(log_fd >= 0);
    assert_int_equal(unlink(name), 0);
    saved_stderr = dup(STDERR_FILENO);
    assert_int_equal(dup2(log_fd, STDERR_FILENO), STDERR_FILENO);
}

static void end_log(char *text, size_t size)
{
    ssize_t n;

    assert_int_equal(dup2(saved_stderr, STDERR_FILENO), STDERR_FILENO);
    n = pread(log_fd, text, size - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    (void)close(saved_stderr);
    (void)close(log_fd);
}

/* --- */

/* Writes N_FRAMES and returns how long that took, in simulated time. */
static int64_t play(const struct sink_config *config, char *text, size_t size)
{
    static const uint8_t device[] = {0, 15, 23, 0}; /* yuyv, 32x24 */
    struct error err = {.text = ""};
    struct frame f = config->picture;
    struct sink *s;
    int64_t start;

    kernel_start(KERNEL_LOOPBACK, device, sizeof(device));
    begin_log();
    if (sink_v4l2loopback.open(&s, config, &err))
        fail_msg("%s", err.text);
    assert_int_equal(frame_alloc(&f), 0);
    start = kernel_now_ns();
    for (int i = 0; i < N_FRAMES; i++) {
        kernel_operation();
        assert_int_equal(sink_v4l2loopback.write(s, &f, NULL, &err), 0);
    }
    start = kernel_now_ns() - start;
    end_log(text, size);
    frame_free(&f);
    assert_int_equal(sink_v4l2loopback.close(s, &err), 0);
    kernel_stop();
    return start;
}

static void test_rates(void **state)
{
    static const struct {
        struct fraction fps;
        bool pace;
        int64_t interval_ns;
        bool told;
    } cases[] = {
        {{50, 1}, true, 20000000, false},
        {{30000, 1001}, true, 33366666, false},
        {{1, 3}, true, 3000000000, false},
        /* Files that tell no rate, or one that is a mistake. */
        {{0, 0}, true, 40000000, true},
        {{1, 100000}, true, 40000000, true},
        /* A camera keeps its own. */
        {{0, 0}, false, 0, false},
        {{50, 1}, false, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct sink_config config = {
            .name = "/dev/video0",
            .picture = {.format = FRAME_YUYV, .width = 32, .height = 24},
            .format = -1,
            .fps = cases[i].fps,
            .pace = cases[i].pace,
            .stop_fd = KERNEL_STOP_FD,
        };
        const int64_t wanted = (N_FRAMES - 1) * cases[i].interval_ns;
        char text[1024];
        const int64_t took = play(&config, text, sizeof(text));

        if (took < wanted || took > wanted + N_FRAMES)
            fail_msg("case %zu: %lld ns, not %lld", i, (long long)took, (long long)wanted);
        if (!strstr(text, "25 frames/s") == cases[i].told)
            fail_msg("case %zu: the log says: %s", i, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),
    };

    return cmocka_run_group_tests_name("loopback rate", tests, NULL, NULL);
}
