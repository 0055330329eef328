/* Sinks that need neither a device nor a display: null, and y4m files. */
#include "tests/sink/helpers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/source.h"

static char folder[] = "/tmp/bilatcam-sink-XXXXXX";
static char path[64]; /* folder/x.y4m */

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
        {FRAME_YUYV, -1, FRAME_I422},          {FRAME_UYVY, -1, FRAME_I422},
        {FRAME_NV12, -1, FRAME_I420},          {FRAME_I420, -1, FRAME_I420},
        {FRAME_I422, -1, FRAME_I422},          {FRAME_I444, -1, FRAME_I444},
        {FRAME_GREY, -1, FRAME_GREY},          {FRAME_GREY, FRAME_YUYV, FRAME_I422},
        {FRAME_YUYV, FRAME_I420, FRAME_I420},  {FRAME_I444, FRAME_NV12, FRAME_I420},
        {FRAME_GREY, FRAME_BGR24, FRAME_I444}, {FRAME_I420_16, -1, FRAME_I420_16},
        {FRAME_GREY16, -1, FRAME_GREY16},      {FRAME_GREY16, FRAME_YUYV, FRAME_I422},
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
        assert_int_equal(s->picture.stride[0], 322 * format_table[cases[i].out].bytes);
        assert_int_equal(s->picture.colour.matrix, COLOUR_BT601);
        assert_int_equal(s->picture.colour.range, COLOUR_FULL);
        close_well(s);
    }
}

static void expect_header(const struct sink_config *config, const char *expected)
{
    struct sink *s = open_well(&sink_y4m, config);
    struct frame frame = make_frame(s, 1, 0);
    char text[200] = "";
    FILE *f;

    write_well(s, &frame);
    frame_free(&frame);
    close_well(s);
    f = fopen(path, "rb");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
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
    config.picture.format = FRAME_GREY16;
    expect_header(&config, "YUV4MPEG2 W320 H181 F0:0 Ip A0:0 Cmono16 XCOLORRANGE=FULL\n");
    config.picture.format = FRAME_I422_16;
    config.depth = 10;
    expect_header(&config, "YUV4MPEG2 W320 H181 F0:0 Ip A0:0 C422p10 XCOLORRANGE=FULL\n");
    config.picture.format = FRAME_I420;
    expect_header(&config, "YUV4MPEG2 W320 H181 F0:0 Ip A0:0 C420jpeg XCOLORRANGE=FULL\n");
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
    config.format = FRAME_MJPG;
    open_badly(&sink_y4m, &config, -EINVAL, "takes raw frames, not mjpg");
    config.format = -1;
    config.name = path;
    (void)unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    open_badly(&sink_y4m, &config, -ENXIO, "nothing reads this pipe; start its reader first");
    assert_int_equal(unlink(path), 0);
}

static void test_y4m_no_room(void **state)
{
    const struct sink_config config = config_for("/dev/full", FRAME_YUYV, 320, 180);
    struct sink *s = open_well(&sink_y4m, &config);
    struct frame f = make_frame(s, 1, 0);

    (void)state;
    write_badly(s, &f, -ENOSPC, "cannot write the header of '/dev/full': No space left on device");
    frame_free(&f);
    close_well(s);
}

/* What was there stays until there is a frame to replace it, and nothing is left where none came.
 */
static void test_y4m_without_frames(void **state)
{
    const struct sink_config config = config_for(path, FRAME_I420, 64, 64);
    struct stat st;
    FILE *f;

    (void)state;
    (void)unlink(path);
    close_well(open_well(&sink_y4m, &config));
    assert_int_equal(stat(path, &st), -1);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs("precious", f) > 0);
    assert_int_equal(fclose(f), 0);
    close_well(open_well(&sink_y4m, &config));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, strlen("precious"));
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

static int prepare(void **state)
{
    (void)state;
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
        cmocka_unit_test(test_y4m_no_room),
        cmocka_unit_test(test_y4m_without_frames),
        cmocka_unit_test(test_y4m_full_disk),
        cmocka_unit_test(test_y4m_overwrites),
    };

    return cmocka_run_group_tests(tests, prepare, clean_up);
}
