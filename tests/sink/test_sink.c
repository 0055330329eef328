/* Sinks that need neither a device nor a display: y4m files and pipes, and null. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "sink/sink.h"
#include "source/source.h"

static char folder[] = "/tmp/bilatcam-sink-XXXXXX";
static char path[64]; /* folder/x.y4m */

static const struct colour limited = {COLOUR_BT601, COLOUR_LIMITED};

static struct sink_config config_for(const char *name, enum frame_format format, int width,
                                     int height)
{
    return (struct sink_config){
        .name = name,
        .picture = {.format = format, .width = width, .height = height, .colour = limited},
        .format = -1,
        .fps = {30, 1},
        .stop_fd = -1,
    };
}

static struct sink *open_well(const struct sink_ops *ops, const struct sink_config *config)
{
    struct error err = {0};
    struct sink *s = NULL;

    if (ops->open(&s, config, &err))
        fail_msg("%s", err.text);
    assert_ptr_equal(s->ops, ops);
    assert_false(s->hold);
    return s;
}

static void open_badly(const struct sink_ops *ops, const struct sink_config *config, int code,
                       const char *text)
{
    struct error err = {0};
    struct sink *s = NULL;
    const int r = ops->open(&s, config, &err);

    if (r != code || !strstr(err.text, text))
        fail_msg("'%s' gave %d '%s', not %d '%s'", config->name, r, err.text, code, text);
    assert_null(s);
}

static void close_well(struct sink *s)
{
    struct error err = {0};

    if (s->ops->close(s, &err))
        fail_msg("%s", err.text);
}

static void write_well(struct sink *s, const struct frame *f)
{
    struct error err = {0};

    if (s->ops->write(s, f, NULL, &err))
        fail_msg("%s", err.text);
}

static void write_badly(struct sink *s, const struct frame *f, int code, const char *text)
{
    struct error err = {0};
    const int r = s->ops->write(s, f, NULL, &err);

    if (r != code || !strstr(err.text, text))
        fail_msg("%d '%s', not %d '%s'", r, err.text, code, text);
}

/* A frame as @s wants it, each sample made from its place and @seed. @pad more bytes per row. */
static struct frame make_frame(const struct sink *s, int seed, size_t pad)
{
    struct frame f = frame_like(&s->picture);
    size_t size = frame_layout_packed(&f);

    for (int p = 0; p < format_table[f.format].planes; p++) {
        f.stride[p] += pad;
        size += pad * (size_t)frame_plane_rows(&f, p);
    }
    frame_attach(&f, malloc(size));
    assert_non_null(f.plane[0]);
    memset(f.plane[0], 0xEE, size);
    for (int p = 0; p < format_table[f.format].planes; p++)
        for (int y = 0; y < frame_plane_rows(&f, p); y++)
            for (size_t x = 0; x < frame_row_bytes(&f, p); x++)
                f.plane[p][(size_t)y * f.stride[p] + x] =
                    (uint8_t)(seed * 41 + p * 83 + y * 7 + (int)x);
    return f;
}

/* -------------------------------------------------------------------- null */

static void test_null(void **state)
{
    struct sink_config config = config_for("null:", FRAME_UYVY, 320, 180);
    struct sink *s = open_well(&sink_null, &config);
    struct frame f;

    (void)state;
    assert_string_equal(s->name, "null:");
    assert_int_equal(s->picture.format, FRAME_UYVY);
    assert_int_equal(s->picture.stride[0], 640);
    f = make_frame(s, 1, 0);
    write_well(s, &f);
    close_well(s);
    config.format = FRAME_I420;
    s = open_well(&sink_null, &config);
    assert_int_equal(s->picture.format, FRAME_I420);
    close_well(s);
    config.format = FRAME_MJPG;
    open_badly(&sink_null, &config, -EINVAL, "'null:' takes raw frames, not mjpg");
    frame_free(&f);
}

/* --------------------------------------------------------------------- y4m */

static void test_y4m_pictures(void **state)
{
    static const struct {
        enum frame_format in;
        int request;
        enum frame_format out;
    } cases[] = {
        {FRAME_YUYV, -1, FRAME_I422},         {FRAME_UYVY, -1, FRAME_I422},
        {FRAME_NV12, -1, FRAME_I420},         {FRAME_I420, -1, FRAME_I420},
        {FRAME_I422, -1, FRAME_I422},         {FRAME_I444, -1, FRAME_I444},
        {FRAME_GREY, -1, FRAME_GREY},         {FRAME_GREY, FRAME_YUYV, FRAME_I422},
        {FRAME_YUYV, FRAME_I420, FRAME_I420}, {FRAME_I444, FRAME_NV12, FRAME_I420},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sink_config config = config_for(path, cases[i].in, 322, 181);
        struct sink *s;

        config.format = cases[i].request;
        config.picture.colour = (struct colour){COLOUR_BT709, COLOUR_FULL};
        s = open_well(&sink_y4m, &config);
        assert_int_equal(s->picture.format, cases[i].out);
        assert_int_equal(s->picture.width, 322);
        assert_int_equal(s->picture.height, 181);
        assert_int_equal(s->picture.stride[0], 322);
        assert_int_equal(s->picture.colour.matrix, COLOUR_BT601);
        assert_int_equal(s->picture.colour.range, COLOUR_FULL);
        close_well(s);
    }
}

static void expect_header(const struct sink_config *config, const char *expected)
{
    char text[200] = "";
    FILE *f;

    close_well(open_well(&sink_y4m, config));
    f = fopen(path, "rb");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
    (void)fclose(f);
    assert_string_equal(text, expected);
}

static void test_y4m_headers(void **state)
{
    struct sink_config config = config_for(path, FRAME_YUYV, 320, 181);

    (void)state;
    expect_header(&config, "YUV4MPEG2 W320 H181 F30:1 Ip A0:0 C422 XCOLORRANGE=LIMITED\n");
    config.picture.format = FRAME_NV12;
    config.picture.colour.range = COLOUR_FULL;
    config.fps = (struct fraction){30000, 1001};
    expect_header(&config, "YUV4MPEG2 W320 H181 F30000:1001 Ip A0:0 C420jpeg XCOLORRANGE=FULL\n");
    config.picture.format = FRAME_I444;
    config.fps = (struct fraction){0, 0};
    expect_header(&config, "YUV4MPEG2 W320 H181 F0:0 Ip A0:0 C444 XCOLORRANGE=FULL\n");
    config.picture.format = FRAME_GREY;
    expect_header(&config, "YUV4MPEG2 W320 H181 F0:0 Ip A0:0 Cmono XCOLORRANGE=FULL\n");
}

static void expect_samples(const struct frame *a, const struct frame *b)
{
    assert_int_equal(a->format, b->format);
    for (int p = 0; p < format_table[a->format].planes; p++) {
        const size_t bytes = frame_row_bytes(a, p);

        assert_int_equal(bytes, frame_row_bytes(b, p));
        for (int y = 0; y < frame_plane_rows(a, p); y++)
            assert_memory_equal(a->plane[p] + (size_t)y * a->stride[p],
                                b->plane[p] + (size_t)y * b->stride[p], bytes);
    }
}

static void round_trip(const struct sink_config *config, size_t pad)
{
    const struct source_config reading = {.name = path, .format = -1, .stop_fd = -1};
    struct sink *s = open_well(&sink_y4m, config);
    struct frame frames[3], f;
    struct source *in;

    for (int i = 0; i < 3; i++) {
        frames[i] = make_frame(s, i, pad);
        write_well(s, &frames[i]);
    }
    close_well(s);
    assert_int_equal(source_y4m.open(&in, &reading, NULL), 0);
    assert_int_equal(in->width, config->picture.width);
    assert_int_equal(in->height, config->picture.height);
    assert_int_equal(in->colour.range, config->picture.colour.range);
    assert_int_equal(in->fps.num, config->fps.num);
    assert_int_equal(in->fps.den, config->fps.den);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(source_y4m.read(in, &f, NULL), 0);
        expect_samples(&f, &frames[i]);
        source_y4m.release(in);
        frame_free(&frames[i]);
    }
    assert_int_equal(source_y4m.read(in, &f, NULL), -ENODATA);
    source_y4m.close(in);
}

static void test_y4m_round_trip(void **state)
{
    static const int sizes[][2] = {{2, 1}, {2, 2}, {14, 7}, {322, 45}, {640, 64}};

    (void)state;
    for (int format = 0; format < FRAME_MJPG; format++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            struct sink_config config =
                config_for(path, (enum frame_format)format, sizes[i][0], sizes[i][1]);

            round_trip(&config, 0);
            config.fps = (struct fraction){0, 0};
            config.picture.colour.range = COLOUR_FULL;
            round_trip(&config, 5);
        }
}

static void test_y4m_cannot_open(void **state)
{
    struct sink_config config = config_for("/tmp/no/such/x.y4m", FRAME_YUYV, 320, 180);

    (void)state;
    open_badly(&sink_y4m, &config, -ENOENT,
               "cannot open '/tmp/no/such/x.y4m': No such file or directory");
    config.name = "/tmp";
    open_badly(&sink_y4m, &config, -EISDIR, "cannot open '/tmp': Is a directory");
    config.name = "/dev/full";
    open_badly(&sink_y4m, &config, -ENOSPC,
               "cannot write the header of '/dev/full': No space left on device");
    config.format = FRAME_MJPG;
    open_badly(&sink_y4m, &config, -EINVAL, "takes raw frames, not mjpg");
    config.format = -1;
    config.name = path;
    (void)unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    open_badly(&sink_y4m, &config, -ENXIO, "nothing reads this pipe; start its reader first");
    assert_int_equal(unlink(path), 0);
}

/* The limit on file sizes stands for a full disk. The file must end with a whole frame. */
static void test_y4m_full_disk(void **state)
{
    const struct sink_config config = config_for(path, FRAME_I420, 64, 64);
    const size_t frame = 6 + 64 * 64 * 3 / 2;
    struct rlimit old, tight;
    struct sink *s = open_well(&sink_y4m, &config);
    struct frame f = make_frame(s, 1, 0);
    struct stat before, after;

    (void)state;
    write_well(s, &f);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = old;
    tight.rlim_cur = (rlim_t)before.st_size + frame + 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    write_well(s, &f);
    write_badly(s, &f, -EFBIG, "cannot write frame 3 to '/tmp/");
    write_badly(s, &f, -EIO, "x.y4m' has failed before");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    close_well(s);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_size, (size_t)before.st_size + frame);
    frame_free(&f);
}

static void test_y4m_overwrites(void **state)
{
    const struct sink_config config = config_for(path, FRAME_I420, 64, 64);
    FILE *f = fopen(path, "wb");

    (void)state;
    assert_non_null(f);
    for (int i = 0; i < 10000; i++)
        (void)fputs("old content", f);
    assert_int_equal(fclose(f), 0);
    expect_header(&config, "YUV4MPEG2 W64 H64 F30:1 Ip A0:0 C420jpeg XCOLORRANGE=LIMITED\n");
}

/* --------------------------------------------------- pipes, standard output */

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
    write_badly(s, &f, -EPIPE, "cannot write frame 1 to standard output: Broken pipe");
    close_well(s);
    restore_stdout();
    frame_free(&f);
}

static void *raise_after_50_ms(void *arg)
{
    const uint64_t one = 1;

    (void)usleep(50000);
    assert_int_equal(write(*(int *)arg, &one, sizeof(one)), sizeof(one));
    return NULL;
}

/* Nobody reads; the pipe is full in the middle of the first frame, which is then a cut one. */
static void test_stop_ends_the_wait_for_a_reader(void **state)
{
    int stop_fd = eventfd(0, EFD_CLOEXEC), fd;
    struct sink *s = open_pipe(stop_fd, &fd);
    struct frame f = make_frame(s, 1, 0);
    const int64_t start = now_ns();
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, raise_after_50_ms, &stop_fd), 0);
    write_badly(s, &f, -EIO, "stopped while its reader took no data");
    assert_true(now_ns() - start < 700000000);
    write_badly(s, &f, -EIO, "has failed before");
    close_well(s);
    restore_stdout();
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)close(fd);
    (void)close(stop_fd);
    frame_free(&f);
}

/* A reader that is only slow gets its frame whole, though the stop came in the middle of it. */
static void test_stop_lets_a_slow_reader_finish(void **state)
{
    int stop_fd = eventfd(0, EFD_CLOEXEC);
    struct reader reader = {.delay_us = 10000};
    struct sink *s = open_pipe(stop_fd, &reader.fd);
    struct frame f = make_frame(s, 1, 0);
    pthread_t thread, stopper;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, read_all, &reader), 0);
    assert_int_equal(pthread_create(&stopper, NULL, raise_after_50_ms, &stop_fd), 0);
    write_well(s, &f);
    close_well(s);
    restore_stdout();
    assert_int_equal(pthread_join(stopper, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(reader.bytes > PIPE_FRAME && reader.bytes < PIPE_FRAME + 200);
    (void)close(reader.fd);
    (void)close(stop_fd);
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
    (void)signal(SIGXFSZ, SIG_IGN);
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof(path), "%s/x.y4m", folder);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_y4m_pictures),
        cmocka_unit_test(test_y4m_headers),
        cmocka_unit_test(test_y4m_round_trip),
        cmocka_unit_test(test_y4m_cannot_open),
        cmocka_unit_test(test_y4m_full_disk),
        cmocka_unit_test(test_y4m_overwrites),
        cmocka_unit_test(test_y4m_to_a_pipe),
        cmocka_unit_test(test_y4m_reader_closed),
        cmocka_unit_test(test_stop_ends_the_wait_for_a_reader),
        cmocka_unit_test(test_stop_lets_a_slow_reader_finish),
        cmocka_unit_test(test_y4m_to_a_terminal),
    };

    return cmocka_run_group_tests(tests, prepare, clean_up);
}
