/* Which of several GPUs a name means, and that one waits for the other that chooses. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/gpu.h"

static void test_choice(void **state)
{
    static const struct gpu gpus[] = {
        {"NVIDIA A", "0000:0a:00.0", 8},
        {"NVIDIA B", "0000:18:00.0", 9},
        {"NVIDIA C", "0001:18:00.0", 9},
    };
    static const struct {
        const char *wanted;
        int n, expected;
    } rows[] = {
        {"", 1, 0},
        {"", 2, 1},
        {"", 3, 1},
        {"0", 3, 0},
        {"2", 3, 2},
        {"3", 3, -ENODEV},
        {"99999999999999999999", 3, -ENODEV},
        {"0000:0a:00.0", 3, 0},
        {"0000:0A:00.0", 3, 0},
        {"0a:00", 3, 0},
        {"18:00.0", 3, 1},
        {"00000001:18:00.0", 3, 2},
        {"1:18:0", 3, 2},
        {"1:18:0.1", 3, -ENODEV},
        {"1:18:0.0.", 3, -ENODEV},
        {"19:00", 3, -ENODEV},
        {":", 3, -ENODEV},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = {.text = ""};
        const int got = gpu_choose(gpus, rows[i].n, rows[i].wanted, &err);

        if (got != rows[i].expected)
            fail_msg("'%s' of %d: %d, not %d", rows[i].wanted, rows[i].n, got, rows[i].expected);
    }
}

static void test_unknown_room(void **state)
{
    static const struct gpu gpus[] = {{.name = "A"}, {.name = "B"}};
    struct error err;

    (void)state;
    assert_int_equal(gpu_choose(gpus, 2, "", &err), 0);
    assert_int_equal(gpu_choose(gpus, 2, "2", &err), -ENODEV);
    assert_string_equal(err.text, "there is no GPU '2' here, but 0 (), 1 ()");
}

static int next_in_line(int inherited, int pipe_fd)
{
    int lock;

    (void)close(inherited);
    lock = gpu_lock();
    (void)!write(pipe_fd, "x", 1);
    return lock < 0;
}

static void test_lock(void **state)
{
    int ends[2], status, lock = gpu_lock();
    pid_t child;
    char c;

    (void)state;
    assert_true(lock >= 0);
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    child = fork();
    if (child == 0)
        _exit(next_in_line(lock, ends[1]));
    assert_true(child > 0);
    (void)usleep(200000);
    assert_int_equal(read(ends[0], &c, 1), -1); /* it waits */
    assert_int_equal(close(lock), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], &c, 1), 1);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_unknown_room),
        cmocka_unit_test(test_lock),
    };

    return cmocka_run_group_tests_name("gpu-choice", tests, NULL, NULL);
}
