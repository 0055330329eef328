#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event.h"

static void test_rings_until_cleared(void **state)
{
    const int fd = event_open();

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_false(event_rung(fd));
    assert_false(event_clear(fd)); /* and does not wait */
    event_ring(fd);
    event_ring(fd);
    assert_true(event_rung(fd));
    assert_true(event_rung(fd));
    assert_true(event_clear(fd)); /* once for both */
    assert_false(event_rung(fd));
    event_close(fd);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static int handler_fd;

static void on_signal(int number)
{
    (void)number;
    event_ring(handler_fd);
}

static void test_signal_handler(void **state)
{
    const struct sigaction action = {.sa_handler = on_signal};

    (void)state;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    for (int i = 0; i < 2; i++) {
        handler_fd = i ? event_open() : -1;
        errno = ENOTTY;
        assert_int_equal(raise(SIGUSR1), 0);
        assert_int_equal(errno, ENOTTY); /* what it interrupts does not see its failure */
        assert_int_equal(event_rung(handler_fd), i);
    }
    event_close(handler_fd);
}

static void *ring_soon(void *fd)
{
    (void)poll(NULL, 0, 20);
    event_ring(*(int *)fd);
    return NULL;
}

/* Signals interrupt the wait and do not end it. */
static void test_wait(void **state)
{
    const struct sigaction action = {.sa_handler = on_signal};
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    int fd = event_open();
    int64_t t_ns;
    pthread_t thread;

    (void)state;
    handler_fd = -1;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (int i = 0; i < 2; i++) {
        t_ns = now_ns() + 20 * NS_PER_MS;
        assert_false(event_wait(i ? -1 : fd, t_ns));
        assert_true(now_ns() >= t_ns);
    }
    assert_int_equal(pthread_create(&thread, NULL, ring_soon, &fd), 0);
    assert_true(event_wait(fd, INT64_MAX));
    assert_true(event_wait(fd, 0)); /* it looks even where it is late */
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(event_clear(fd));
    assert_false(event_wait(fd, 0));
    event_close(fd);
}

static void test_no_descriptor(void **state)
{
    struct rlimit limit, none;

    (void)state;
    event_close(-1);
    assert_false(event_rung(-1));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(event_open(), -EMFILE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings_until_cleared),
        cmocka_unit_test(test_signal_handler),
        cmocka_unit_test(test_wait),
        cmocka_unit_test(test_no_descriptor),
    };

    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
