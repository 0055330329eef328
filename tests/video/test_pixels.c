/* Pixel formats of libav: which are planes of words, and through which something is seen. */
#include "tests/lib/unit.h"

#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <string.h>

#include "video/pixels.h"

#define OPAQUE_HALF 0x3c /* a number of two bytes that both are this is 1.06, of four 0.01 */

/* All of its bytes are @fill. */
static AVFrame *make_picture(enum AVPixelFormat format, int fill)
{
    AVFrame *f = av_frame_alloc();

    assert_non_null(f);
    f->format = format;
    f->width = f->height = 16;
    assert_int_equal(av_frame_get_buffer(f, 0), 0);
    for (int i = 0; i < AV_NUM_DATA_POINTERS && f->buf[i]; i++)
        memset(f->buf[i]->data, fill, (size_t)f->buf[i]->size);
    return f;
}

static void expect_transparent(enum AVPixelFormat format, int fill, bool wanted)
{
    AVFrame *f = make_picture(format, fill);

    if (pixels_transparent(f) != wanted)
        fail_msg("%s of %d is %stransparent", av_get_pix_fmt_name(format), fill,
                 wanted ? "not " : "");
    av_frame_free(&f);
}

static void test_transparent(void **state)
{
    static const enum AVPixelFormat with[] = {AV_PIX_FMT_RGBA, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_YA8,
                                              AV_PIX_FMT_RGBA64LE, AV_PIX_FMT_GBRAP16BE};

    (void)state;
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
        expect_transparent(with[i], 255, false);
        expect_transparent(with[i], 254, true);
    }
    expect_transparent(AV_PIX_FMT_RGB24, 254, false);
}

/* Their bytes are no whole numbers, of which all that could be said would be wrong. */
static void test_floats(void **state)
{
    int n_alpha = 0;

    (void)state;
    for (const AVPixFmtDescriptor *d = NULL; (d = av_pix_fmt_desc_next(d)) != NULL;) {
        const enum AVPixelFormat format = av_pix_fmt_desc_get_id(d);
        struct deep_layout layout;

        if (!(d->flags & AV_PIX_FMT_FLAG_FLOAT))
            continue;
        if (deep_layout(format, &layout))
            fail_msg("%s is taken for planes of words", d->name);
        expect_transparent(format, OPAQUE_HALF, false);
        n_alpha += d->flags & AV_PIX_FMT_FLAG_ALPHA ? 1 : 0;
    }
    assert_true(n_alpha > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transparent),
        cmocka_unit_test(test_floats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
