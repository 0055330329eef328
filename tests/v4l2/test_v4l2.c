/* What the camera source knows without a camera: codes, colours, layouts, stamps, choices. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config-build.h"
#include "v4l2/modes.h"
#include "v4l2/node.h"

/* --- claims --- */

/* Only one descriptor at a time has a claim, until it is closed, in one process or in several. */
static void test_claims(void **state)
{
    char path[] = "/tmp/test-v4l2-XXXXXX";
    const int first = mkstemp(path), second = open(path, O_RDWR), looking = open(path, O_RDONLY);

    (void)state;
    assert_true(first >= 0 && second >= 0 && looking >= 0);
    assert_int_equal(unlink(path), 0);
    assert_false(v4l2_claimed(looking));
    assert_int_equal(v4l2_claim(first), 0);
    assert_true(v4l2_claimed(looking));
    assert_int_equal(v4l2_claim(second), -EBUSY);
    assert_int_equal(close(first), 0);
    assert_false(v4l2_claimed(looking));
    assert_int_equal(v4l2_claim(second), 0);
    assert_false(v4l2_claimed(second)); /* not by another */
    assert_int_equal(close(second), 0);
    assert_int_equal(close(looking), 0);
}

/* --- formats --- */

static void test_fourcc(void **state)
{
    static const enum frame_format raw[] = {FRAME_YUYV, FRAME_UYVY,  FRAME_NV12,  FRAME_I420,
                                            FRAME_GREY, FRAME_RGB24, FRAME_BGR24, FRAME_GREY16};

    (void)state;
    for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++)
        assert_int_equal(v4l2_format_of(v4l2_fourcc_of(raw[i])), raw[i]);
#ifdef HAVE_MJPEG
    assert_int_equal(v4l2_format_of(V4L2_PIX_FMT_MJPEG), FRAME_MJPG);
    assert_int_equal(v4l2_format_of(V4L2_PIX_FMT_JPEG), FRAME_MJPG);
#else
    assert_int_equal(v4l2_format_of(V4L2_PIX_FMT_MJPEG), -1);
#endif
    assert_int_equal(v4l2_format_of(V4L2_PIX_FMT_RGB24), FRAME_RGB24);
    assert_int_equal(v4l2_format_of(V4L2_PIX_FMT_RGB565), -1);
    assert_int_equal(v4l2_format_of(V4L2_PIX_FMT_Y16_BE), -1);
    assert_int_equal(v4l2_fourcc_of(FRAME_I444), 0);
}

static void test_fourcc_name(void **state)
{
    (void)state;
    assert_string_equal(v4l2_fourcc_name(V4L2_PIX_FMT_YUV420).text, "YU12");
    assert_string_equal(v4l2_fourcc_name(V4L2_PIX_FMT_Y16).text, "Y16");
    assert_string_equal(v4l2_fourcc_name(V4L2_PIX_FMT_Y16_BE).text, "Y16");
    assert_string_equal(v4l2_fourcc_name(0x01020304).text, "????");
}

static void test_colour(void **state)
{
    enum { DEFAULT = 0, LIMITED = V4L2_QUANTIZATION_LIM_RANGE };
    static const struct {
        uint32_t fourcc, space, encoding, range;
        struct colour want;
    } row[] = {
        {V4L2_PIX_FMT_YUYV, DEFAULT, DEFAULT, DEFAULT, {COLOUR_BT601, COLOUR_LIMITED}},
        {V4L2_PIX_FMT_YUYV, V4L2_COLORSPACE_SRGB, DEFAULT, DEFAULT, {COLOUR_BT601, COLOUR_LIMITED}},
        {V4L2_PIX_FMT_NV12,
         V4L2_COLORSPACE_SMPTE170M,
         DEFAULT,
         DEFAULT,
         {COLOUR_BT601, COLOUR_LIMITED}},
        {V4L2_PIX_FMT_NV12,
         V4L2_COLORSPACE_REC709,
         DEFAULT,
         DEFAULT,
         {COLOUR_BT709, COLOUR_LIMITED}},
        {V4L2_PIX_FMT_YUYV, V4L2_COLORSPACE_JPEG, DEFAULT, DEFAULT, {COLOUR_BT601, COLOUR_FULL}},
        {V4L2_PIX_FMT_YUYV,
         V4L2_COLORSPACE_SRGB,
         V4L2_YCBCR_ENC_709,
         V4L2_QUANTIZATION_FULL_RANGE,
         {COLOUR_BT709, COLOUR_FULL}},
        {V4L2_PIX_FMT_YUYV,
         V4L2_COLORSPACE_REC709,
         V4L2_YCBCR_ENC_601,
         V4L2_QUANTIZATION_LIM_RANGE,
         {COLOUR_BT601, COLOUR_LIMITED}},
        {V4L2_PIX_FMT_GREY, DEFAULT, DEFAULT, DEFAULT, {COLOUR_BT601, COLOUR_FULL}},
        {V4L2_PIX_FMT_GREY,
         DEFAULT,
         DEFAULT,
         V4L2_QUANTIZATION_LIM_RANGE,
         {COLOUR_BT601, COLOUR_LIMITED}},
        {V4L2_PIX_FMT_Y16, DEFAULT, DEFAULT, DEFAULT, {COLOUR_BT601, COLOUR_FULL}},
        {V4L2_PIX_FMT_RGB24, DEFAULT, DEFAULT, DEFAULT, {COLOUR_RGB, COLOUR_FULL}},
        {V4L2_PIX_FMT_BGR24, DEFAULT, DEFAULT, LIMITED, {COLOUR_RGB, COLOUR_LIMITED}},
        {V4L2_PIX_FMT_MJPEG,
         V4L2_COLORSPACE_REC709,
         V4L2_YCBCR_ENC_709,
         V4L2_QUANTIZATION_LIM_RANGE,
         {COLOUR_BT601, COLOUR_FULL}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const struct v4l2_pix_format pix = {.pixelformat = row[i].fourcc,
                                            .colorspace = row[i].space,
                                            .ycbcr_enc = row[i].encoding,
                                            .quantization = row[i].range};
        const struct colour got = v4l2_colour(&pix);

        if (got.matrix != row[i].want.matrix || got.range != row[i].want.range)
            fail_msg("row %zu: matrix %d, range %d", i, got.matrix, got.range);
    }
}

static struct v4l2_pix_format pix_format(uint32_t fourcc, uint32_t width, uint32_t height,
                                         uint32_t bytesperline, uint32_t sizeimage)
{
    return (struct v4l2_pix_format){.pixelformat = fourcc,
                                    .width = width,
                                    .height = height,
                                    .bytesperline = bytesperline,
                                    .sizeimage = sizeimage};
}

static void test_layout(void **state)
{
    static const struct {
        uint32_t fourcc, width, height, bytesperline;
        size_t stride[3], bytes;
    } row[] = {
        {V4L2_PIX_FMT_YUYV, 320, 180, 640, {640}, 115200},
        {V4L2_PIX_FMT_YUYV, 322, 181, 704, {704}, 704 * 180 + 644},
        {V4L2_PIX_FMT_UYVY, 16, 3, 0, {32}, 96},
        {V4L2_PIX_FMT_GREY, 16, 3, 64, {64}, 144},
        {V4L2_PIX_FMT_NV12, 16, 4, 16, {16, 16}, 96},
        {V4L2_PIX_FMT_NV12, 16, 5, 64, {64, 64}, 64 * 7 + 16},
        {V4L2_PIX_FMT_YUV420, 16, 4, 16, {16, 8, 8}, 96},
        {V4L2_PIX_FMT_YUV420, 16, 5, 64, {64, 32, 32}, 64 * 5 + 32 * 5 + 8},
        {V4L2_PIX_FMT_YUV420, 6, 5, 0, {6, 3, 3}, 48},
        {V4L2_PIX_FMT_RGB24, 6, 5, 20, {20}, 20 * 4 + 18},
        {V4L2_PIX_FMT_BGR24, 6, 5, 0, {18}, 90},
        {V4L2_PIX_FMT_Y16, 6, 5, 15, {15}, 15 * 4 + 12},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const struct v4l2_pix_format pix =
            pix_format(row[i].fourcc, row[i].width, row[i].height, row[i].bytesperline, 1000000);
        struct frame f;
        size_t bytes;

        assert_int_equal(v4l2_layout(&pix, &f, &bytes, NULL), 0);
        assert_int_equal(f.width, row[i].width);
        assert_int_equal(f.height, row[i].height);
        assert_int_equal(bytes, row[i].bytes);
        assert_memory_equal(f.stride, row[i].stride, sizeof(f.stride));
    }
}

static void test_layout_refused(void **state)
{
    static const struct {
        uint32_t fourcc, width, height, bytesperline, sizeimage;
        const char *why;
    } row[] = {
        {V4L2_PIX_FMT_YUYV, 321, 180, 642, 1000000, "width must be even"},
        {V4L2_PIX_FMT_YUYV, 320, 0, 640, 1000000, "at least"},
        {V4L2_PIX_FMT_YUYV, 4294967294, 180, 640, 1000000, "at most"},
        {V4L2_PIX_FMT_YUYV, 320, 180, 639, 1000000, "rows of 639 bytes"},
        {V4L2_PIX_FMT_YUYV, 320, 180, 640, 115199, "buffers of 115199 bytes"},
        {V4L2_PIX_FMT_RGB24, 320, 180, 959, 1000000, "rows of 959 bytes"},
        {V4L2_PIX_FMT_RGB565, 320, 180, 640, 1000000, "RGBP"},
        {V4L2_PIX_FMT_MJPEG, 320, 180, 0, 1000000, "MJPG"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const struct v4l2_pix_format pix = pix_format(row[i].fourcc, row[i].width, row[i].height,
                                                      row[i].bytesperline, row[i].sizeimage);
        struct error err = {.text = ""};
        struct frame f;
        size_t bytes;

        assert_int_equal(v4l2_layout(&pix, &f, &bytes, &err), -EINVAL);
        if (!strstr(err.text, row[i].why))
            fail_msg("row %zu: '%s' does not tell of '%s'", i, err.text, row[i].why);
    }
}

static void test_timestamp(void **state)
{
    const uint32_t monotonic = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    const int64_t now = INT64_C(100000000000);
    const struct timeval recent = {99, 990000};

    (void)state;
    assert_int_equal(v4l2_timestamp(monotonic, recent, now), INT64_C(99990000000));
    assert_int_equal(v4l2_timestamp(monotonic | V4L2_BUF_FLAG_ERROR, recent, now),
                     INT64_C(99990000000));
    /* Of another clock; in the future; too old; none. */
    assert_int_equal(v4l2_timestamp(V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN, recent, now), now);
    assert_int_equal(v4l2_timestamp(V4L2_BUF_FLAG_TIMESTAMP_COPY, recent, now), now);
    assert_int_equal(v4l2_timestamp(monotonic, (struct timeval){100, 1}, now), now);
    assert_int_equal(v4l2_timestamp(monotonic, (struct timeval){94, 0}, now), now);
    assert_int_equal(v4l2_timestamp(monotonic, (struct timeval){0, 0}, 1000), 1000);
}

static void test_jpeg(void **state)
{
    uint8_t data[200] = {0xff, 0xd8};

    (void)state;
    assert_true(v4l2_jpeg_plausible(data, 200));
    assert_true(v4l2_jpeg_plausible(data, 128));
    assert_false(v4l2_jpeg_plausible(data, 127));
    assert_false(v4l2_jpeg_plausible(data, 0));
    data[1] = 0xd9;
    assert_false(v4l2_jpeg_plausible(data, 200));
}

/* --- choosing --- */

#define MODE(f, w, h, n, d)                                                                        \
    {                                                                                              \
        .format = (f), .width = {(w), (w), 1}, .height = {(h), (h), 1}, .fps_min = {(n), (d)},     \
        .fps_max = {                                                                               \
            (n),                                                                                   \
            (d)                                                                                    \
        }                                                                                          \
    }

/* A webcam on USB 2: raw pictures are slow where they are large. */
static const struct v4l2_mode webcam[] = {
    MODE(FRAME_MJPG, 1920, 1080, 30, 1), MODE(FRAME_MJPG, 1280, 720, 60, 1),
    MODE(FRAME_MJPG, 1280, 720, 30, 1),  MODE(FRAME_MJPG, 640, 480, 30, 1),
    MODE(FRAME_YUYV, 1920, 1080, 5, 1),  MODE(FRAME_YUYV, 1280, 720, 10, 1),
    MODE(FRAME_YUYV, 640, 480, 30, 1),   MODE(FRAME_YUYV, 640, 480, 15, 1),
    MODE(FRAME_YUYV, 320, 240, 30, 1),
};

/* Every format at two sizes, the dearest first. */
static const struct v4l2_mode many[] = {
    MODE(FRAME_GREY, 640, 480, 30, 1), MODE(FRAME_MJPG, 640, 480, 30, 1),
    MODE(FRAME_I420, 640, 480, 30, 1), MODE(FRAME_NV12, 640, 480, 30, 1),
    MODE(FRAME_UYVY, 640, 480, 30, 1), MODE(FRAME_YUYV, 641, 480, 30, 1),
};

static const struct v4l2_mode slow[] = {
    MODE(FRAME_YUYV, 1280, 720, 25, 2),
    MODE(FRAME_YUYV, 640, 480, 25, 1),
    MODE(FRAME_YUYV, 320, 180, 60, 1),
};

static const struct v4l2_mode ranges[] = {
    {
        .format = FRAME_NV12,
        .width = {33, 2593, 16},
        .height = {32, 1944, 8},
        .fps_min = {1, 1},
        .fps_max = {15, 1},
    },
    {.format = FRAME_GREY, .width = {2, 16384, 2}, .height = {1, 16384, 1}},
};

#define TABLE(t) t, sizeof(t) / sizeof((t)[0])

static const struct {
    const char *what;
    const struct v4l2_mode *modes;
    size_t n;
    struct v4l2_request request;
    int format, width, height; /* format -1: refused */
    struct fraction fps;
} choices[] = {
    {"no request: 720p30", TABLE(webcam), {-1, 0, 0, {0, 0}}, FRAME_MJPG, 1280, 720, {30, 1}},
    {"raw where it reaches the rate",
     TABLE(webcam),
     {-1, 640, 480, {0, 0}},
     FRAME_YUYV,
     640,
     480,
     {30, 1}},
    {"rate asked for", TABLE(webcam), {-1, 640, 480, {15, 1}}, FRAME_YUYV, 640, 480, {15, 1}},
    {"fast", TABLE(webcam), {-1, 0, 0, {60, 1}}, FRAME_MJPG, 1280, 720, {60, 1}},
    {"NTSC rate is 30",
     TABLE(webcam),
     {-1, 640, 480, {30000, 1001}},
     FRAME_YUYV,
     640,
     480,
     {30, 1}},
    {"format asked for",
     TABLE(webcam),
     {FRAME_YUYV, 1280, 720, {30, 1}},
     FRAME_YUYV,
     1280,
     720,
     {10, 1}},
    {"format, any size: one that is fast",
     TABLE(webcam),
     {FRAME_YUYV, 0, 0, {0, 0}},
     FRAME_YUYV,
     640,
     480,
     {30, 1}},
    {"nearest size", TABLE(webcam), {-1, 1024, 768, {0, 0}}, FRAME_MJPG, 1280, 720, {30, 1}},
    {"exact size", TABLE(webcam), {-1, 320, 240, {0, 0}}, FRAME_YUYV, 320, 240, {30, 1}},
    {"no such format", TABLE(webcam), {FRAME_NV12, 0, 0, {0, 0}}, -1, 0, 0, {0, 0}},
    {"colour and even width first",
     TABLE(many),
     {-1, 641, 480, {0, 0}},
     FRAME_UYVY,
     640,
     480,
     {30, 1}},
    {"only odd widths", TABLE(many), {FRAME_YUYV, 0, 0, {0, 0}}, -1, 0, 0, {0, 0}},
    {"25 fps count for 30", TABLE(slow), {-1, 0, 0, {0, 0}}, FRAME_YUYV, 640, 480, {25, 1}},
    {"a size is a size", TABLE(slow), {-1, 1280, 720, {0, 0}}, FRAME_YUYV, 1280, 720, {25, 2}},
    {"steps that meet odd widths only",
     TABLE(ranges),
     {FRAME_NV12, 640, 482, {30, 1}},
     -1,
     0,
     0,
     {0, 0}},
    {"rates unknown", TABLE(ranges), {FRAME_GREY, 642, 481, {0, 0}}, FRAME_GREY, 642, 481, {0, 0}},
    {"no modes", webcam, 0, {-1, 0, 0, {0, 0}}, -1, 0, 0, {0, 0}},
};

static void test_choose(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        struct v4l2_choice got = {NULL, 0, 0, {0, 0}};
        const int r = v4l2_modes_choose(choices[i].modes, choices[i].n, &choices[i].request, &got);
        const int format = r ? -1 : (int)got.mode->format;

        if (r != (choices[i].format < 0 ? -EINVAL : 0) || format != choices[i].format ||
            got.width != choices[i].width || got.height != choices[i].height ||
            got.fps.num != choices[i].fps.num || got.fps.den != choices[i].fps.den)
            fail_msg("%s: %d, format %d, %dx%d at %u/%u", choices[i].what, r, format, got.width,
                     got.height, got.fps.num, got.fps.den);
    }
}

/* In a range the nearest step is taken, and of rates the nearest end. */
static void test_choose_in_range(void **state)
{
    static const struct v4l2_mode range = {
        .format = FRAME_NV12,
        .width = {32, 2592, 16},
        .height = {32, 1944, 8},
        .fps_min = {1, 1},
        .fps_max = {15, 1},
    };
    const struct v4l2_request request = {-1, 645, 484, {30, 1}};
    struct v4l2_choice got;

    (void)state;
    assert_int_equal(v4l2_modes_choose(&range, 1, &request, &got), 0);
    assert_int_equal(got.width, 640);
    assert_int_equal(got.height, 488);
    assert_int_equal(got.fps.num, 15);
}

static void test_rates(void **state)
{
    (void)state;
    assert_int_equal(v4l2_millifps((struct fraction){25, 2}), 12500);
    assert_int_equal(v4l2_millifps((struct fraction){0, 0}), 0);
    assert_false(v4l2_fps_differ((struct fraction){30, 1}, (struct fraction){30000, 1001}));
    assert_true(v4l2_fps_differ((struct fraction){30, 1}, (struct fraction){25, 1}));
}

static void test_node_numbers(void **state)
{
    static const char *const names[] = {"video10", "video2", "video",    "video2x",
                                        "video-1", "vbi0",   "video007", "xvideo1"};
    char folder[] = "/tmp/bilatcam-nodes-XXXXXX";
    int number[V4L2_MAX_NODES];

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[64];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        assert_int_equal(close(creat(path, 0600)), 0);
    }
    assert_int_equal(v4l2_node_numbers(folder, number), 3);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[64];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(number[0], 2);
    assert_int_equal(number[1], 7);
    assert_int_equal(number[2], 10);
    assert_int_equal(v4l2_node_numbers(folder, number), 0); /* it is gone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_numbers),
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_fourcc),
        cmocka_unit_test(test_fourcc_name),
        cmocka_unit_test(test_colour),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_layout_refused),
        cmocka_unit_test(test_timestamp),
        cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_choose_in_range),
        cmocka_unit_test(test_rates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
