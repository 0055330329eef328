#include "tests/lib/unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "picture/card.h"
#include "picture/colour.h"
#include "picture/convert.h"
#include "tests/lib/images.h"

static const struct colour limited_601 = {COLOUR_BT601, COLOUR_LIMITED};
static const struct colour full_601 = {COLOUR_BT601, COLOUR_FULL};

static struct guarded make(enum frame_format format, int width, int height, int pad)
{
    const struct frame like = {.format = format, .width = width, .height = height};
    struct guarded g;

    assert_int_equal(guarded_alloc(&g, &like, pad), 0);
    guarded_arm(&g);
    return g;
}

static int at(const struct frame *f, int component, int x, int y)
{
    return frame_sample(f, component, x, y);
}

/* What a sample of @from is in @to. */
static int as(enum frame_format to, enum frame_format from, int v)
{
    const int bytes = format_table[to].bytes;

    if (bytes == format_table[from].bytes)
        return v;
    return bytes > 1 ? v * 256 : v >= 255 * 256 ? 255 : (v + 128) / 256;
}

/* Whatever the threads, every byte is that of one: bands of rows end within pictures. */
static void test_several_threads(void **state)
{
    static const int sizes[][2] = {{6, 1}, {62, 64}, {6, 129}, {62, 191}};
    struct workers *workers;

    (void)state;
    assert_int_equal(workers_create(&workers, "convert", 3), 0);
    for (int from = 0; from < FRAME_MJPG; from++)
        for (int to = 0; to < FRAME_MJPG; to++)
            for (int i = 0; i < 4; i++) {
                struct guarded src = make((enum frame_format)from, sizes[i][0], sizes[i][1], 7);
                struct guarded one = make((enum frame_format)to, sizes[i][0], sizes[i][1], 5);
                struct guarded some = make((enum frame_format)to, sizes[i][0], sizes[i][1], 5);

                image_fill(&src.frame, IMAGE_RANDOM, (uint64_t)(from * 64 + to));
                src.frame.colour = limited_601;
                one.frame.colour = some.frame.colour = i % 2 ? limited_601 : full_601;
                convert_frame(&one.frame, &src.frame);
                convert_frame_by(workers, &some.frame, &src.frame);
                assert_int_equal(guarded_check(&some), 0);
                for (int p = 0; p < format_table[to].planes; p++)
                    for (int y = 0; y < frame_plane_rows(&one.frame, p); y++)
                        assert_memory_equal(one.frame.plane[p] + (size_t)y * one.frame.stride[p],
                                            some.frame.plane[p] + (size_t)y * some.frame.stride[p],
                                            frame_row_bytes(&one.frame, p));
                guarded_free(&src);
                guarded_free(&one);
                guarded_free(&some);
            }
    workers_destroy(workers);
}

/* Every pair of formats: luma is kept exactly, chroma is kept, replicated, averaged or 128,
 * and nothing outside the picture is touched. */
static void test_every_pair_of_formats(void **state)
{
    static const int sizes[][2] = {{2, 1}, {2, 2}, {6, 5}, {62, 21}};

    (void)state;
    for (int from = 0; from < FRAME_MJPG; from++)
        for (int to = 0; to < FRAME_MJPG; to++)
            for (int i = 0; i < 4; i++) {
                struct guarded src = make((enum frame_format)from, sizes[i][0], sizes[i][1], 7);
                struct guarded dst = make((enum frame_format)to, sizes[i][0], sizes[i][1], 5);
                const struct format_info *a = &format_table[from], *b = &format_table[to];

                image_fill(&src.frame, IMAGE_RANDOM, (uint64_t)(from * 64 + to));
                convert_frame(&dst.frame, &src.frame);
                assert_int_equal(guarded_check(&dst), 0);
                for (int y = 0; y < sizes[i][1]; y++)
                    for (int x = 0; x < sizes[i][0]; x++)
                        assert_int_equal(at(&dst.frame, 0, x, y),
                                         as((enum frame_format)to, (enum frame_format)from,
                                            at(&src.frame, 0, x, y)));
                for (int c = 1; c < b->components; c++) {
                    const struct samples s = frame_samples(&dst.frame, c);

                    if (a->components == 1)
                        assert_int_equal(at(&dst.frame, c, 0, 0), b->bytes > 1 ? 128 * 256 : 128);
                    else if (a->hshift >= b->hshift && a->vshift >= b->vshift)
                        for (int y = 0; y < s.height; y++)
                            for (int x = 0; x < s.width; x++)
                                assert_int_equal(at(&dst.frame, c, x, y),
                                                 as((enum frame_format)to, (enum frame_format)from,
                                                    at(&src.frame, c, x >> (a->hshift - b->hshift),
                                                       y >> (a->vshift - b->vshift))));
                }
                guarded_free(&src);
                guarded_free(&dst);
            }
}

static void test_chroma_is_averaged(void **state)
{
    struct guarded src = make(FRAME_YUYV, 2, 3, 0), dst = make(FRAME_I420, 2, 3, 0);
    const uint8_t bytes[] = {1, 10, 2, 20, 3, 13, 4, 21, 5, 40, 6, 50};

    (void)state;
    memcpy(src.frame.plane[0], bytes, sizeof(bytes));
    convert_frame(&dst.frame, &src.frame);
    assert_int_equal(at(&dst.frame, 1, 0, 0), 12); /* (10 + 13 + 1) / 2 */
    assert_int_equal(at(&dst.frame, 2, 0, 0), 21);
    assert_int_equal(at(&dst.frame, 1, 0, 1), 40); /* the last row stands alone */
    assert_int_equal(at(&dst.frame, 2, 0, 1), 50);
    guarded_free(&src);
    guarded_free(&dst);
}

/* Against the formula in double precision: within one level, all matrices and ranges. */
static void test_colours(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            const enum frame_format format = i > 5 || j > 5 ? FRAME_I444 : FRAME_YUYV;
            const int shift = format == FRAME_YUYV;
            struct guarded src = make(format, 64, 32, 0), dst = make(format, 64, 32, 0);
            double m[3][3], offset[3];

            src.frame.colour =
                (struct colour){(enum colour_matrix)(i / 2), (enum colour_range)(i % 2)};
            dst.frame.colour =
                (struct colour){(enum colour_matrix)(j / 2), (enum colour_range)(j % 2)};
            image_fill(&src.frame, IMAGE_RANDOM, 3);
            convert_frame(&dst.frame, &src.frame);
            colour_convert(src.frame.colour, dst.frame.colour, m, offset);
            for (int y = 0; y < 32; y++)
                for (int x = 0; x < 64; x++)
                    for (int c = 0; c < 3; c++) {
                        double want = offset[c];

                        for (int k = 0; k < 3; k++)
                            want += m[c][k] * at(&src.frame, k, k ? x >> shift : x, y);
                        want = fmin(fmax(want, 0.0), 255.0);
                        assert_true(fabs(at(&dst.frame, c, c ? x >> shift : x, y) - want) <= 0.52);
                    }
            guarded_free(&src);
            guarded_free(&dst);
        }
}

/* The same in 16 bits, within one of its levels, and from there to 8 bits. */
static void test_colours_of_words(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            struct guarded src = make(FRAME_I444_16, 64, 8, 1), dst = make(FRAME_I444_16, 64, 8, 3);
            struct guarded bytes = make(FRAME_I444, 64, 8, 0);
            double m[3][3], offset[3];

            src.frame.colour =
                (struct colour){(enum colour_matrix)(i / 2), (enum colour_range)(i % 2)};
            dst.frame.colour = bytes.frame.colour =
                (struct colour){(enum colour_matrix)(j / 2), (enum colour_range)(j % 2)};
            image_fill(&src.frame, IMAGE_RANDOM, 3);
            convert_frame(&dst.frame, &src.frame);
            convert_frame(&bytes.frame, &src.frame);
            colour_convert(src.frame.colour, dst.frame.colour, m, offset);
            for (int p = 0; p < 64 * 8 * 3; p++) {
                const int c = p / 512, x = p % 64, y = p / 64 % 8;
                double want = offset[c] * 256.0;

                for (int k = 0; k < 3; k++)
                    want += m[c][k] * at(&src.frame, k, x, y);
                want = fmin(fmax(want, 0.0), 65535.0);
                assert_true(fabs(at(&dst.frame, c, x, y) - want) <= 0.6);
                assert_true(fabs(at(&bytes.frame, c, x, y) - fmin(want / 256.0, 255.0)) <= 0.51);
            }
            guarded_free(&src);
            guarded_free(&dst);
            guarded_free(&bytes);
        }
}

static void test_known_colours(void **state)
{
    double m[3][3], offset[3], rgb[3][3];
    const struct colour_distance d = colour_distance(limited_601);

    (void)state;
    colour_convert(full_601, limited_601, m, offset);
    assert_true(fabs(m[0][0] * 0 + offset[0] - 16.0) < 1e-9 &&
                fabs(m[0][0] * 255 + offset[0] + (m[0][1] + m[0][2]) * 128 - 235.0) < 1e-9);
    colour_to_rgb(limited_601, rgb);
    assert_true(fabs(rgb[0][0] - 1.164383562) < 1e-6 && fabs(rgb[0][2] - 1.596026786) < 1e-6 &&
                fabs(rgb[1][1] + 0.391762290) < 1e-6 && fabs(rgb[2][1] - 2.017232143) < 1e-6);
    /* The factored distance is the R'G'B' distance. */
    for (int i = 0; i < 3; i++) {
        const double v[3] = {i == 0 ? 3 : 1, i == 1 ? -7 : 2, i == 2 ? 11 : 0};
        const double y1 = d.a * v[0] + d.b * v[1] + d.c * v[2], u1 = d.d * v[1] + d.e * v[2],
                     v1 = d.f * v[2];
        double sum = 0.0;

        for (int k = 0; k < 3; k++)
            sum += pow(rgb[k][0] * v[0] + rgb[k][1] * v[1] + rgb[k][2] * v[2], 2);
        assert_true(fabs(sum - (y1 * y1 + u1 * u1 + v1 * v1)) < 1e-9);
    }
}

/* Bytes in the order of the name; G' stands where luma does, and nothing is lost on the way to
 * planes and back. */
static void test_packed_rgb(void **state)
{
    static const uint8_t red_green[6] = {255, 0, 0, 10, 200, 30};
    struct guarded rgb = make(FRAME_RGB24, 2, 1, 3), planes = make(FRAME_I444, 2, 1, 5);
    struct guarded bgr = make(FRAME_BGR24, 2, 1, 0), yuv = make(FRAME_I444, 2, 1, 0);
    struct guarded grey = make(FRAME_GREY, 2, 1, 0);

    (void)state;
    rgb.frame.colour = planes.frame.colour = bgr.frame.colour =
        (struct colour){COLOUR_RGB, COLOUR_FULL};
    yuv.frame.colour = grey.frame.colour = full_601;
    memcpy(rgb.frame.plane[0], red_green, sizeof(red_green));
    convert_frame(&planes.frame, &rgb.frame);
    for (int x = 0; x < 2; x++)
        for (int c = 0; c < 3; c++)
            assert_int_equal(at(&planes.frame, c, x, 0), red_green[3 * x + (c + 1) % 3]);
    convert_frame(&bgr.frame, &planes.frame);
    for (int i = 0; i < 6; i++)
        assert_int_equal(bgr.frame.plane[0][i], red_green[i / 3 * 3 + 2 - i % 3]);
    convert_frame(&yuv.frame, &rgb.frame);
    assert_int_equal(at(&yuv.frame, 0, 0, 0), 76); /* JFIF's red */
    assert_int_equal(at(&yuv.frame, 1, 0, 0), 85);
    assert_int_equal(at(&yuv.frame, 2, 0, 0), 255);
    convert_frame(&grey.frame, &rgb.frame);
    assert_int_equal(at(&grey.frame, 0, 1, 0), 124); /* 0.299 10 + 0.587 200 + 0.114 30 */
    convert_frame(&rgb.frame, &grey.frame);
    for (int i = 0; i < 3; i++)
        assert_int_equal(rgb.frame.plane[0][3 + i], 124);
    guarded_free(&rgb);
    guarded_free(&planes);
    guarded_free(&bgr);
    guarded_free(&yuv);
    guarded_free(&grey);
}

static void test_colour_in(void **state)
{
    const struct colour rgb = {COLOUR_RGB, COLOUR_FULL};
    static const struct {
        enum frame_format format;
        enum colour_matrix of_yuv, of_rgb;
    } rows[] = {
        {FRAME_RGB24, COLOUR_RGB, COLOUR_RGB},    {FRAME_BGR24, COLOUR_RGB, COLOUR_RGB},
        {FRAME_I444, COLOUR_BT709, COLOUR_RGB},   {FRAME_I422, COLOUR_BT709, COLOUR_BT601},
        {FRAME_NV12, COLOUR_BT709, COLOUR_BT601}, {FRAME_GREY, COLOUR_BT709, COLOUR_BT601},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct colour yuv = {COLOUR_BT709, COLOUR_LIMITED};
        const struct colour a = colour_in(rows[i].format, yuv), b = colour_in(rows[i].format, rgb);

        assert_int_equal(a.matrix, rows[i].of_yuv);
        assert_int_equal(a.range, a.matrix == COLOUR_RGB ? COLOUR_FULL : COLOUR_LIMITED);
        assert_int_equal(b.matrix, rows[i].of_rgb);
        assert_int_equal(b.range, COLOUR_FULL);
    }
}

/* A card in R'G'B' is as grey as one in Y'CbCr. */
static void test_card(void **state)
{
    struct guarded rgb = make(FRAME_RGB24, 320, 180, 0), yuv = make(FRAME_I444, 320, 180, 0);

    (void)state;
    rgb.frame.colour = (struct colour){COLOUR_RGB, COLOUR_FULL};
    yuv.frame.colour = full_601;
    card_draw(&rgb.frame, "no camera");
    card_draw(&yuv.frame, "no camera");
    for (int y = 0; y < 180; y++)
        for (int x = 0; x < 320; x++)
            for (int c = 0; c < 3; c++) {
                assert_int_equal(at(&rgb.frame, c, x, y), at(&yuv.frame, 0, x, y));
                assert_true(!c || at(&yuv.frame, c, x, y) == 128);
            }
    guarded_free(&rgb);
    guarded_free(&yuv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_of_formats),
        cmocka_unit_test(test_several_threads),
        cmocka_unit_test(test_chroma_is_averaged),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_known_colours),
        cmocka_unit_test(test_colours_of_words),
        cmocka_unit_test(test_packed_rgb),
        cmocka_unit_test(test_colour_in),
        cmocka_unit_test(test_card),
    };

    return cmocka_run_group_tests_name("frame, colour and convert", tests, NULL, NULL);
}
