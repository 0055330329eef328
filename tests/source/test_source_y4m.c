/* y4m files and pipes as a source. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/source/helpers.h"

static char folder[] = "/tmp/bilatcam-source-XXXXXX";
static char path[128]; /* of the file that write_file() made */

static const char *file_in_folder(const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static const char *write_file(const char *text, size_t size)
{
    FILE *f = fopen(file_in_folder("x.y4m"), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return path;
}

/* A file of @header and @n frames of @bytes bytes, the i-th of which are all 'a' + i. */
static const char *make_file(const char *header, const char *frame_line, int n, size_t bytes)
{
    static char text[1 << 16];
    size_t size = (size_t)snprintf(text, sizeof(text), "%s", header);

    for (int i = 0; i < n; i++) {
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s", frame_line);
        assert_true(size + bytes < sizeof(text));
        memset(text + size, 'a' + i, bytes);
        size += bytes;
    }
    return write_file(text, size);
}

static void expect_frame(struct source *s, uint64_t seq)
{
    struct error err = {0};
    struct frame f = {0};

    if (s->ops->read(s, &f, &err))
        fail_msg("frame %d: %s", (int)seq, err.text);
    assert_int_equal(f.seq, seq);
    assert_int_equal(f.format, s->format);
    assert_true(f.t_capture_ns > 0);
    for (int p = 0; p < format_table[f.format].planes; p++) {
        const size_t size = frame_row_bytes(&f, p) * (size_t)frame_plane_rows(&f, p);

        assert_int_equal(f.stride[p], frame_row_bytes(&f, p));
        for (size_t i = 0; i < size; i++)
            assert_int_equal(f.plane[p][i], 'a' + (int)seq);
    }
    s->ops->release(s);
}

/* The stream ends with @code and a text that contains @text, again and again. */
static void expect_end(struct source *s, int code, const char *text)
{
    struct frame f;

    for (int i = 0; i < 3; i++) {
        struct error err = {0};
        const int r = s->ops->read(s, &f, &err);

        if (r != code || !strstr(err.text, text))
            fail_msg("%d '%s', not %d '%s'", r, err.text, code, text);
    }
}

static void test_y4m_headers(void **state)
{
    static const struct {
        const char *header;
        enum frame_format format;
        int width, height;
        size_t bytes;
        struct fraction fps;
        enum colour_range range;
    } good[] = {
        {"YUV4MPEG2 W4 H3 F30:1 Ip A1:1 C420jpeg\n", FRAME_I420, 4, 3, 20, {30, 1}, COLOUR_LIMITED},
        {"YUV4MPEG2 W4 H3 C420mpeg2 XYSCSS=420MPEG2\n",
         FRAME_I420,
         4,
         3,
         20,
         {0, 0},
         COLOUR_LIMITED},
        {"YUV4MPEG2 H3 W4 C420paldv I?\n", FRAME_I420, 4, 3, 20, {0, 0}, COLOUR_LIMITED},
        {"YUV4MPEG2 W2 H2 C420 F0:0\n", FRAME_I420, 2, 2, 6, {0, 0}, COLOUR_LIMITED},
        {"YUV4MPEG2 W2 H2\n", FRAME_I420, 2, 2, 6, {0, 0}, COLOUR_LIMITED},
        {"YUV4MPEG2 W4 H3 C422 F30000:1001\n", FRAME_I422, 4, 3, 24, {30000, 1001}, COLOUR_LIMITED},
        {"YUV4MPEG2 W4 H3 C444 XCOLORRANGE=FULL\n", FRAME_I444, 4, 3, 36, {0, 0}, COLOUR_FULL},
        {"YUV4MPEG2 W4 H3 Cmono XCOLORRANGE=LIMITED\n",
         FRAME_GREY,
         4,
         3,
         12,
         {0, 0},
         COLOUR_LIMITED},
        {"YUV4MPEG2 W4 H3  Cmono Zunknown Xany \n", FRAME_GREY, 4, 3, 12, {0, 0}, COLOUR_LIMITED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        const struct source_config config = request(
            make_file(good[i].header, i % 2 ? "FRAME\n" : "FRAME Ip Xx\n", 3, good[i].bytes));
        struct source *s = open_well(&source_y4m, &config);

        assert_int_equal(s->format, good[i].format);
        assert_int_equal(s->width, good[i].width);
        assert_int_equal(s->height, good[i].height);
        assert_int_equal(s->fps.num, good[i].fps.num);
        assert_int_equal(s->fps.den, good[i].fps.den);
        assert_int_equal(s->colour.matrix, COLOUR_BT601);
        assert_int_equal(s->colour.range, good[i].range);
        assert_false(s->live);
        assert_int_equal(s->ops->truth(s, 0, NULL), -ENOTSUP);
        for (uint64_t n = 0; n < 3; n++)
            expect_frame(s, n);
        expect_end(s, -ENODATA, "the end of '/tmp/");
        s->ops->close(s);
    }
}

/* Words are in the low bits in files, and in the high ones in frames; too much is the most. */
static void test_y4m_words(void **state)
{
    static const struct {
        const char *tag;
        enum frame_format format;
        int depth;
    } rows[] = {{"C420p10", FRAME_I420_16, 10}, {"C420p9", FRAME_I420_16, 9},
                {"C422p12", FRAME_I422_16, 12}, {"C444p14", FRAME_I444_16, 14},
                {"C444p16", FRAME_I444_16, 16}, {"Cmono16", FRAME_GREY16, 16},
                {"Cmono10", FRAME_GREY16, 10}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const int most = (1 << rows[i].depth) - 1, shift = 16 - rows[i].depth;
        const uint16_t words[] = {0, 1, 300, (uint16_t)most, 65535};
        struct source_config config;
        struct source *s;
        struct frame f;
        char text[128];
        size_t n = (size_t)snprintf(text, sizeof(text), "YUV4MPEG2 W4 H2 %s\nFRAME\n", rows[i].tag);

        for (int k = 0; k < 4 * 2 * 3; k++, n += sizeof(words[0]))
            memcpy(text + n, &words[k % 5], sizeof(words[0]));
        config = request(write_file(text, n));
        s = open_well(&source_y4m, &config);
        assert_int_equal(s->format, rows[i].format);
        assert_int_equal(s->depth, rows[i].depth);
        assert_int_equal(s->ops->read(s, &f, NULL), 0);
        for (int x = 0; x < 4; x++)
            assert_int_equal(frame_sample(&f, 0, x, 0), words[x] << shift);
        assert_int_equal(frame_sample(&f, 0, 0, 1), (words[4] < most ? words[4] : most) << shift);
        s->ops->release(s);
        s->ops->close(s);
    }
}

static void test_y4m_bad_headers(void **state)
{
    static const struct {
        const char *header, *text;
    } bad[] = {
        {"", "x.y4m' is empty"},
        {"Y", "x.y4m' is not a YUV4MPEG2 file"},
        {"RIFF....AVI LIST and so on", "x.y4m' is not a YUV4MPEG2 file"},
        {"YUV4MPEG W4 H3\n", "is not a YUV4MPEG2 file"},
        {"YUV4MPEG22 W4 H3\n", "is not a YUV4MPEG2 file"},
        {"YUV4MPEG2 W4 H3", "ends in the middle of its header"},
        {"YUV4MPEG2\n", "no width or no height"},
        {"YUV4MPEG2 W4\n", "no width or no height"},
        {"YUV4MPEG2 W4x H3\n", "has a broken header: 'W4x'"},
        {"YUV4MPEG2 W H3\n", "has a broken header: 'W'"},
        {"YUV4MPEG2 W4 H3 F30\n", "has a broken header: 'F30'"},
        {"YUV4MPEG2 W4 H3 F-30:1\n", "has a broken header: 'F-30:1'"},
        {"YUV4MPEG2 W5 H3\n", "is 5x3: the width must be even"},
        {"YUV4MPEG2 W-4 H3\n", "is -4x3: the picture must be at least 2x1"},
        {"YUV4MPEG2 W100000 H3\n", "is 100000x3: the picture may be at most 16384"},
        {"YUV4MPEG2 W4 H3 C420p8\n",
         "has the colour space 'C420p8'; allowed: C420, C420jpeg, "
         "C420mpeg2, C420paldv, C422, C444, Cmono, and C420p10, C422p10, "
         "C444p10 and Cmono10 with any number from 9 to 16"},
        {"YUV4MPEG2 W4 H3 C420p17\n", "'C420p17'"},
        {"YUV4MPEG2 W4 H3 C420p010\n", "'C420p010'"},
        {"YUV4MPEG2 W4 H3 C420p\n", "'C420p'"},
        {"YUV4MPEG2 W4 H3 C444alpha\n", "'C444alpha'"},
        {"YUV4MPEG2 W4 H3 C411\n", "'C411'"},
        {"YUV4MPEG2 W4 H3 Cmono8\n", "'Cmono8'"},
        {"YUV4MPEG2 W4 H3 It\n", "is interlaced (It); deinterlace it first"},
        {"YUV4MPEG2 W4 H3 Im\n", "is interlaced (Im)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct source_config config =
            request(write_file(bad[i].header, strlen(bad[i].header)));

        open_badly(&source_y4m, &config, -EINVAL, bad[i].text);
    }
}

static void test_y4m_endless_header(void **state)
{
    static char header[6000] = "YUV4MPEG2 W4 H3 X";
    struct source_config config;

    (void)state;
    memset(header + 17, 'x', sizeof(header) - 18);
    config = request(write_file(header, strlen(header)));
    open_badly(&source_y4m, &config, -EINVAL, "has a header of more than 4096 bytes");
}

static void test_y4m_unreadable(void **state)
{
    struct source_config config = request("/tmp/no/such.y4m");

    (void)state;
    open_badly(&source_y4m, &config, -ENOENT,
               "cannot open '/tmp/no/such.y4m': No such file or directory");
    config = request("/tmp");
    open_badly(&source_y4m, &config, -EISDIR, "cannot read '/tmp': it is a directory");
    config = request(write_file("x", 1));
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid() != 0)
        open_badly(&source_y4m, &config, -EACCES, "Permission denied");
    assert_int_equal(unlink(path), 0);
}

static void test_y4m_requests(void **state)
{
    struct source_config config =
        request(make_file("YUV4MPEG2 W4 H3 F25:1 C422\n", "FRAME\n", 1, 24));
    struct source *s;

    (void)state;
    config.width = 320;
    config.height = 240;
    open_badly(&source_y4m, &config, -EINVAL,
               "x.y4m' is 4x3, not 320x240; a file cannot be resized");
    config.width = 4;
    config.height = 3;
    config.format = FRAME_YUYV;
    open_badly(&source_y4m, &config, -EINVAL,
               "x.y4m' is 422p, not yuyv; a file's format cannot be chosen");
    config.format = FRAME_I422;
    config.fps = (struct fraction){50, 1};
    s = open_well(&source_y4m, &config);
    assert_int_equal(s->fps.num, 50);
    expect_frame(s, 0);
    s->ops->close(s);
}

static void test_y4m_truncated(void **state)
{
    static const char header[] = "YUV4MPEG2 W4 H3 Cmono\n";
    const size_t frame = 6 + 12;

    (void)state;
    /* Every length from one whole frame to two. */
    for (size_t cut = 1; cut < frame; cut++) {
        const struct source_config config = request(make_file(header, "FRAME\n", 2, 12));
        struct source *s;
        char text[80];

        assert_int_equal(truncate(path, (off_t)(strlen(header) + frame + cut)), 0);
        s = open_well(&source_y4m, &config);
        expect_frame(s, 0);
        (void)snprintf(text, sizeof(text), "x.y4m' ends in the middle of frame 2: %s",
                       cut < 6 ? "in its header" : "");
        expect_end(s, -EBADMSG, text);
        s->ops->close(s);
    }
}

static void test_y4m_broken_frame(void **state)
{
    static const char *const lines[] = {"FRAMED\n", "frame\n", "\n", "RAME\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const struct source_config config =
            request(make_file("YUV4MPEG2 W4 H3 Cmono\n", lines[i], 2, 12));
        struct source *s = open_well(&source_y4m, &config);

        expect_end(s, -EBADMSG, "x.y4m' is broken at frame 1: no FRAME line there");
        s->ops->close(s);
    }
}

/* Many small frames in one buffer, and frames larger than what is read ahead. */
static void test_y4m_buffering(void **state)
{
    static const int sizes[] = {2, 64, 600};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const size_t bytes = (size_t)sizes[i] * (size_t)sizes[i];
        const int n = i ? 20 : 30000;
        FILE *f = fopen(file_in_folder("x.y4m"), "wb");
        const struct source_config config = request(path);
        uint8_t *samples = malloc(bytes);
        struct source *s;
        struct frame frame;

        assert_non_null(f);
        assert_non_null(samples);
        (void)fprintf(f, "YUV4MPEG2 W%d H%d Cmono\n", sizes[i], sizes[i]);
        for (int k = 0; k < n; k++) {
            memset(samples, k % 251, bytes);
            (void)fprintf(f, k % 3 ? "FRAME\n" : "FRAME Xcomment\n");
            assert_int_equal(fwrite(samples, 1, bytes, f), bytes);
        }
        assert_int_equal(fclose(f), 0);
        s = open_well(&source_y4m, &config);
        for (int k = 0; k < n; k++) {
            assert_int_equal(s->ops->read(s, &frame, NULL), 0);
            memset(samples, k % 251, bytes);
            assert_memory_equal(frame.plane[0], samples, bytes);
        }
        expect_end(s, -ENODATA, "the end of");
        s->ops->close(s);
        free(samples);
    }
}

/* ---------------------------------------------------------- pipes, standard input */

/* Puts @fd where standard input is; the old one is returned. */
static int replace_stdin(int fd)
{
    const int saved = dup(STDIN_FILENO);

    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    (void)close(fd);
    return saved;
}

static void restore_stdin(int saved)
{
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    (void)close(saved);
}

static void *write_slowly(void *arg)
{
    static const char text[] = "YUV4MPEG2 W2 H2 Cmono F5:1\nFRAME\naaaaFRAME\nbbbbFRAME\ncc";
    const int fd = *(int *)arg;

    for (const char *p = text; *p; p++) {
        assert_int_equal(write(fd, p, 1), 1);
        if ((p - text) % 8 == 0)
            (void)usleep(1000);
    }
    (void)close(fd);
    return NULL;
}

static void test_y4m_from_a_slow_pipe(void **state)
{
    const struct source_config config = request("-");
    int pipe_fd[2], saved;
    pthread_t thread;
    struct source *s;

    (void)state;
    assert_int_equal(pipe(pipe_fd), 0);
    saved = replace_stdin(pipe_fd[0]);
    assert_int_equal(pthread_create(&thread, NULL, write_slowly, &pipe_fd[1]), 0);
    s = open_well(&source_y4m, &config);
    assert_string_equal(s->name, "standard input");
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK, 0);
    expect_frame(s, 0);
    expect_frame(s, 1);
    expect_end(s, -EBADMSG,
               "standard input ends in the middle of frame 3: 2 of its 4 bytes are there");
    s->ops->close(s);
    assert_int_equal(pthread_join(thread, NULL), 0);
    restore_stdin(saved);
}

static void test_stop_and_wake_end_the_wait_for_a_pipe(void **state)
{
    static const char header[] = "YUV4MPEG2 W2 H2 Cmono\nFRAME\naaaaFRAME\nb";
    const int stop_fd = event_open();
    struct source_config config = request("-");
    int pipe_fd[2], saved;
    struct source *s;

    (void)state;
    config.stop_fd = stop_fd;
    assert_int_equal(pipe(pipe_fd), 0);
    assert_int_equal(write(pipe_fd[1], header, strlen(header)), strlen(header));
    saved = replace_stdin(pipe_fd[0]);
    s = open_well(&source_y4m, &config);
    expect_frame(s, 0);
    read_until_stopped(s, stop_fd);
    /* What wakes the capture stage ends the wait as a stop does, and reading goes on after it. */
    assert_true(event_clear(stop_fd));
    assert_int_equal(write(pipe_fd[1], "bbbFRAME\ncccc", 13), 13);
    expect_frame(s, 1);
    s->ops->close(s);
    event_ring(stop_fd);
    /* Stopped already, and waiting for a header that does not come. */
    open_badly(&source_y4m, &config, -ECANCELED, "stopped reading standard input");
    restore_stdin(saved);
    (void)close(pipe_fd[1]);
    event_close(stop_fd);
}

/* Opening a named pipe must not wait for a writer where no stop reaches it. */
static void test_named_pipe_without_writer(void **state)
{
    const int stop_fd = event_open();
    struct source_config config;
    pthread_t thread;
    int arg = stop_fd;

    (void)state;
    assert_int_equal(mkfifo(file_in_folder("fifo"), 0600), 0);
    config = request(path);
    config.stop_fd = stop_fd;
    assert_int_equal(pthread_create(&thread, NULL, stop_after_50_ms, &arg), 0);
    open_badly(&source_y4m, &config, -ECANCELED, "stopped reading '/tmp/");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(unlink(path), 0);
    event_close(stop_fd);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(file_in_folder("x.y4m"));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_y4m_headers),
        cmocka_unit_test(test_y4m_words),
        cmocka_unit_test(test_y4m_bad_headers),
        cmocka_unit_test(test_y4m_endless_header),
        cmocka_unit_test(test_y4m_unreadable),
        cmocka_unit_test(test_y4m_requests),
        cmocka_unit_test(test_y4m_truncated),
        cmocka_unit_test(test_y4m_broken_frame),
        cmocka_unit_test(test_y4m_buffering),
        cmocka_unit_test(test_y4m_from_a_slow_pipe),
        cmocka_unit_test(test_stop_and_wake_end_the_wait_for_a_pipe),
        cmocka_unit_test(test_named_pipe_without_writer),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
