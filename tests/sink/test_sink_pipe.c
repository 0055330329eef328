/* y4m to pipes and to standard output: readers that are slow, gone or never there. */
#include "tests/sink/helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/lib/stop.h"

static int saved_stdout;

static void replace_stdout(int fd)
{
    (void)fflush(stdout);
    saved_stdout = dup(STDOUT_FILENO);
    assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(fd);
}

static void restore_stdout(void)
{
    assert_int_equal(dup2(saved_stdout, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(saved_stdout);
}

/* Opens a sink for 640x480 on a pipe at standard output; @ret_fd is the reading end. */
static struct sink *open_pipe(int stop_fd, int *ret_fd)
{
    struct sink_config config = config_for("-", FRAME_I420, 640, 480);
    int pipe_fd[2];

    config.stop_fd = stop_fd;
    assert_int_equal(pipe(pipe_fd), 0);
    replace_stdout(pipe_fd[1]);
    *ret_fd = pipe_fd[0];
    return open_well(&sink_y4m, &config);
}

#define PIPE_FRAME (6 + 640 * 480 * 3 / 2)
#define LATE_PIPE (1 << 18) /* bytes in a pipe that has more than half of such a frame */

struct reader {
    int fd;
    int delay_us; /* between reads */
    size_t bytes; /* read in all */
};

static void *read_all(void *arg)
{
    static char buffer[1 << 16];
    struct reader *r = arg;
    ssize_t n;

    while ((n = read(r->fd, buffer, sizeof(buffer))) > 0) {
        r->bytes += (size_t)n;
        (void)usleep((useconds_t)r->delay_us);
    }
    return NULL;
}

static void test_y4m_to_a_pipe(void **state)
{
    struct reader reader = {.delay_us = 100};
    struct sink *s = open_pipe(-1, &reader.fd);
    struct frame f = make_frame(s, 1, 0);
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, read_all, &reader), 0);
    assert_string_equal(s->name, "standard output");
    for (int i = 0; i < 5; i++)
        write_well(s, &f);
    close_well(s);
    assert_int_equal(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0);
    restore_stdout();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(reader.bytes > 5 * PIPE_FRAME && reader.bytes < 5 * PIPE_FRAME + 200);
    (void)close(reader.fd);
    frame_free(&f);
}

static void test_y4m_reader_closed(void **state)
{
    int fd;
    struct sink *s = open_pipe(-1, &fd);
    struct frame f = make_frame(s, 1, 0);

    (void)state;
    (void)close(fd);
    write_badly(s, &f, -EPIPE, "cannot write the header of standard output: Broken pipe");
    close_well(s);
    restore_stdout();
    frame_free(&f);
}

/* Nobody reads; the pipe is full in the middle of the first frame, which is then a cut one. */
static void test_stop_ends_the_wait_for_a_reader(void **state)
{
    int stop_fd = event_open(), fd;
    struct sink *s = open_pipe(stop_fd, &fd);
    struct frame f = make_frame(s, 1, 0);
    const int64_t start = now_ns();
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, stop_after_50_ms, &stop_fd), 0);
    write_badly(s, &f, -EIO, "stopped while its reader took no data");
    assert_true(now_ns() - start < 700000000);
    write_badly(s, &f, -EIO, "has failed before");
    close_well(s);
    restore_stdout();
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)close(fd);
    event_close(stop_fd);
    frame_free(&f);
}

struct late_reader {
    struct reader reader;
    int stop_fd;
};

/* Has a writer stopped in the middle of a frame, and a little later makes room for all the rest: on
 * a busy machine that waits for a processor once, not for each read. */
static void *stop_then_read(void *arg)
{
    static char buffer[PIPE_FRAME];
    struct late_reader *r = arg;
    int full = 0;

    while (full < LATE_PIPE - 2 * PIPE_BUF && ioctl(r->reader.fd, FIONREAD, &full) == 0)
        (void)usleep(1000);
    event_ring(r->stop_fd);
    (void)usleep(20000);
    r->reader.bytes = (size_t)read(r->reader.fd, buffer, sizeof(buffer));
    return read_all(&r->reader);
}

/* A reader that is only slow gets its frame whole, though the stop came in the middle of it. */
static void test_stop_lets_a_slow_reader_finish(void **state)
{
    struct late_reader late = {.stop_fd = event_open()};
    struct sink *s = open_pipe(late.stop_fd, &late.reader.fd);
    struct frame f = make_frame(s, 1, 0);
    const struct reader *reader = &late.reader;
    pthread_t thread;

    (void)state;
    assert_int_equal(fcntl(reader->fd, F_SETPIPE_SZ, LATE_PIPE), LATE_PIPE);
    assert_int_equal(pthread_create(&thread, NULL, stop_then_read, &late), 0);
    write_well(s, &f);
    close_well(s);
    restore_stdout();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(reader->bytes > PIPE_FRAME && reader->bytes < PIPE_FRAME + 200);
    (void)close(reader->fd);
    event_close(late.stop_fd);
    frame_free(&f);
}

static void test_y4m_to_a_terminal(void **state)
{
    const struct sink_config config = config_for("-", FRAME_I420, 64, 48);
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    struct error err = {0};
    struct sink *s;
    int r;

    (void)state;
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
        skip();
    replace_stdout(open(ptsname(terminal), O_RDWR | O_NOCTTY));
    r = sink_y4m.open(&s, &config, &err);
    restore_stdout();
    assert_int_equal(r, -EINVAL);
    assert_string_equal(err.text, "standard output is a terminal; redirect it to a file or pipe");
    (void)close(terminal);
}

static int prepare(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_y4m_to_a_pipe),
        cmocka_unit_test(test_y4m_reader_closed),
        cmocka_unit_test(test_stop_ends_the_wait_for_a_reader),
        cmocka_unit_test(test_stop_lets_a_slow_reader_finish),
        cmocka_unit_test(test_y4m_to_a_terminal),
    };

    return cmocka_run_group_tests(tests, prepare, NULL);
}
