/* Files that libav reads as a source. It knows y4m, too, which needs no encoder here; what others
 * are like is in tests/program/test_video.sh. */
#include <libavformat/avformat.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/source/helpers.h"

static char path[] = "/tmp/bilatcam-video-XXXXXX";

/* @n frames, the i-th of which is all 'a' + i. */
static void write_frames(const char *header, int n, size_t bytes)
{
    static char text[1 << 16];
    size_t size = (size_t)snprintf(text, sizeof(text), "YUV4MPEG2 %s\n", header);
    FILE *f = fopen(path, "wb");

    for (int i = 0; i < n; i++) {
        size += (size_t)snprintf(text + size, sizeof(text) - size, "FRAME\n");
        memset(text + size, 'a' + i, bytes);
        size += bytes;
    }
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void expect_frame(struct source *s, int n)
{
    struct error err = {0};
    struct frame f;

    if (s->ops->read(s, &f, &err))
        fail_msg("frame %d: %s", n, err.text);
    assert_int_equal(f.seq, n);
    assert_true(f.t_capture_ns > 0);
    assert_int_equal(f.format, s->format);
    assert_int_equal(f.width, s->width);
    assert_int_equal(f.height, s->height);
    for (int c = 0; c < format_table[f.format].components; c++)
        assert_int_equal(frame_sample(&f, c, 1, 0),
                         ('a' + n) * (format_table[f.format].bytes > 1 ? 257 : 1));
    s->ops->release(s);
}

static void expect_end(struct source *s, int code, const char *text)
{
    struct error err = {0};
    struct frame f;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(s->ops->read(s, &f, &err), code);
        if (!strstr(err.text, text))
            fail_msg("'%s', not '%s'", err.text, text);
    }
}

static void test_formats(void **state)
{
    static const struct {
        const char *header;
        size_t bytes;
        enum frame_format format;
        struct colour colour;
        int rate, depth, asked;
    } cases[] = {
        {"W4 H4 F25:1 C420jpeg", 24, FRAME_I420, {COLOUR_BT601, COLOUR_LIMITED}, 25},
        {"W4 H4 F30:1 C422", 32, FRAME_I422, {COLOUR_BT601, COLOUR_LIMITED}, 30},
        {"W4 H4 F30:1 C444 XCOLORRANGE=FULL", 48, FRAME_I444, {COLOUR_BT601, COLOUR_FULL}, 30},
        {"W4 H4 F30:1 Cmono XCOLORRANGE=LIMITED",
         16,
         FRAME_GREY,
         {COLOUR_BT601, COLOUR_LIMITED},
         30},
        {"W4 H4 F30:1 Cmono", 16, FRAME_GREY, {COLOUR_BT601, COLOUR_FULL}, 30},
        {"W4 H720 F30:1 C420jpeg", 4320, FRAME_I420, {COLOUR_BT709, COLOUR_LIMITED}, 30},
        {"W4 H4 F30:1 C422p16", 64, FRAME_I422_16, {COLOUR_BT601, COLOUR_LIMITED}, 30, 16, 0},
        {"W4 H4 F30:1 C422p16", 64, FRAME_I422, {COLOUR_BT601, COLOUR_LIMITED}, 30, 0, 8},
        {"W4 H4 F30:1 C422", 32, FRAME_I422, {COLOUR_BT601, COLOUR_LIMITED}, 30, 0, 8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct source_config config = request(path);
        struct source *s;

        config.depth = cases[i].asked;
        write_frames(cases[i].header, 5, cases[i].bytes);
        s = open_well(&source_video, &config);
        assert_int_equal(s->format, cases[i].format);
        assert_int_equal(s->colour.matrix, cases[i].colour.matrix);
        assert_int_equal(s->colour.range, cases[i].colour.range);
        assert_int_equal(s->fps.num, cases[i].rate);
        assert_int_equal(s->depth, cases[i].depth);
        assert_false(s->live);
        assert_int_equal(s->n_frames, 5);
        assert_int_equal(s->ops->truth(s, 0, NULL), -ENOTSUP);
        for (int n = 0; n < 5; n++)
            expect_frame(s, n);
        expect_end(s, -ENODATA, "the end of '/tmp/");
        assert_int_equal(s->n_bad, 0);
        s->ops->close(s);
    }
}

static void test_requests(void **state)
{
    struct source_config config = request(path);
    struct source *s;

    (void)state;
    write_frames("W4 H4 F25:1 C422", 1, 32);
    config.width = config.height = 8;
    open_badly(&source_video, &config, -EINVAL, "is 4x4, not 8x8; a file cannot be resized");
    config.width = config.height = 4;
    config.format = FRAME_I420;
    open_badly(&source_video, &config, -EINVAL, "is 422p, not yu12; a file's format");
    config.format = FRAME_I422;
    config.fps = (struct fraction){50, 1};
    s = open_well(&source_video, &config);
    assert_int_equal(s->fps.num, 50);
    s->ops->close(s);
}

static void test_bad_files(void **state)
{
    struct source_config config = request("/tmp/no/such.mp4");

    (void)state;
    open_badly(&source_video, &config, -ENOENT,
               "cannot open '/tmp/no/such.mp4': No such file or directory");
    config = request("/tmp");
    open_badly(&source_video, &config, -EINVAL, "cannot read '/tmp': it is no file");
    config = request(path);
    write_frames("W3 H4 F25:1 C444", 1, 36);
    open_badly(&source_video, &config, -EINVAL, "is 3x4: the width must be even");
    write_frames("W4 H4 F25:1 C420 It", 1, 24);
    open_badly(&source_video, &config, -EINVAL, "is interlaced; deinterlace it first");
    write_frames("W4 H4 F25:1 C420", 0, 24);
    open_badly(&source_video, &config, -EBADMSG, "has no pictures");
    assert_int_equal(truncate(path, 0), 0);
    open_badly(&source_video, &config, -EINVAL, "is empty");
    assert_int_equal(truncate(path, 5000), 0);
    open_badly(&source_video, &config, -EINVAL, "cannot read '/tmp/bilatcam-video-");
}

static void write_list(void)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_true(
        fputs("<MPD type=\"static\" mediaPresentationDuration=\"PT1S\" "
              "profiles=\"urn:mpeg:dash:profile:isoff-on-demand:2011\"><Period><AdaptationSet "
              "mimeType=\"video/mp4\"><Representation id=\"1\" bandwidth=\"1\">"
              "<BaseURL>a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>",
              f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void test_stop_loses_nothing(void **state)
{
    struct source_config config = request(path);
    struct error err = {0};
    struct source *s;
    struct frame f;

    (void)state;
    write_frames("W4 H4 F25:1 C420", 3, 24);
    config.stop_fd = event_open();
    s = open_well(&source_video, &config);
    expect_frame(s, 0);
    event_ring(config.stop_fd);
    for (int i = 0; i < 3; i++)
        assert_int_equal(s->ops->read(s, &f, &err), -ECANCELED);
    assert_true(event_clear(config.stop_fd));
    expect_frame(s, 1);
    expect_frame(s, 2);
    expect_end(s, -ENODATA, "the end of");
    s->ops->close(s);
    event_ring(config.stop_fd);
    open_badly(&source_video, &config, -ECANCELED, "stopped reading");
    event_close(config.stop_fd);
}

/* That there is no memory has nothing to do with what the file is. */
static void test_no_memory(void **state)
{
    struct source_config config = request(path);

    (void)state;
    write_list();
    av_max_alloc(1 << 15);
    open_badly(&source_video, &config, -ENOMEM, "Cannot allocate memory");
    av_max_alloc(INT_MAX);
    open_badly(&source_video, &config, -EINVAL, "it is a list of other files");
}

static int make_path(void **state)
{
    const int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),   cmocka_unit_test(test_requests),
        cmocka_unit_test(test_bad_files), cmocka_unit_test(test_stop_loses_nothing),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
