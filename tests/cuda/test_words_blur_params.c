/* What the GPU's kernel for gaussian and box is told of samples of 16 bits. */
#include "tests/lib/unit.h"

#include <math.h>

#include "cuda/kernel/words_blur_params.h"
#include "filter/blur_axis.h"
#include "filter/filter.h"
#include "picture/frame.h"

static void prepare(struct words_blur_params *ret, struct bilateral_params *p, struct frame *f,
                    enum filter_kind kind, int radius)
{
    const struct filter filter = {.kind = kind,
                                  .radius = radius,
                                  .sigma_space = filter_auto_sigma(radius),
                                  .sigma_color = 18};

    assert_int_equal(bilateral_prepare(p, f, f, &filter), 0);
    assert_true(p->blur && p->words);
    words_blur_params_init(ret, p);
}

/* Planes are those of the frame, and so are the rows of a strip. */
static void test_planes(void **state)
{
    static const enum frame_format formats[] = {FRAME_GREY16, FRAME_I420_16, FRAME_I422_16,
                                                FRAME_I444_16};

    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const struct format_info *info = &format_table[formats[i]];
        struct frame f = {.format = formats[i], .width = 70, .height = 67};
        struct words_blur_params b;
        struct bilateral_params p;

        assert_int_equal(frame_alloc(&f), 0);
        prepare(&b, &p, &f, FILTER_BOX, 3);
        assert_int_equal(b.planes, info->planes);
        p.row_begin = 32;
        p.row_end = 64;
        for (int k = 0; k < b.planes; k++) {
            const struct words_plane *q = &b.plane[k];

            assert_ptr_equal(q->in, f.plane[k]);
            assert_int_equal(q->columns * 2, frame_row_bytes(&f, k));
            assert_int_equal(q->rows, frame_plane_rows(&f, k));
            assert_int_equal(q->begin, 0);
            assert_int_equal(q->end, q->rows);
            assert_int_equal(q->last, k && info->vshift ? BLUR_LAST : BLUR_EACH);
        }
        words_blur_params_init(&b, &p);
        for (int k = 0; k < b.planes; k++) {
            assert_int_equal(b.plane[k].begin, k && info->vshift ? 16 : 32);
            assert_int_equal(b.plane[k].end, k && info->vshift ? 32 : 64);
        }
        frame_free(&f);
    }
}

/* Windows lie in the tile, whose pairs are found by a product. */
static void test_tiles(void **state)
{
    struct frame f = {.format = FRAME_I420_16, .width = 16, .height = 9};

    (void)state;
    assert_int_equal(frame_alloc(&f), 0);
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++) {
        struct words_blur_params b;
        struct bilateral_params p;

        prepare(&b, &p, &f, FILTER_GAUSSIAN, radius);
        for (int k = 0; k < b.planes; k++) {
            const struct words_plane *q = &b.plane[k];

            assert_int_equal(q->margin % 2, 0);
            assert_in_range(q->reach_x, q->margin - 1, q->margin);
            assert_int_equal(2 * q->pairs, WORDS_BLUR_COLUMNS + 2 * q->margin);
            assert_in_range(q->pairs, 1, b.plane[0].pairs);
            assert_in_range(q->reach_y, 1, b.plane[0].reach_y);
            for (int i = 0; i < 128 * q->pairs; i++)
                assert_int_equal((uint64_t)i * q->divide_by_pairs >> 32, i / q->pairs);
        }
    }
    frame_free(&f);
}

/* They are those of the filter, and one colour stays what it is. */
static void test_weights(void **state)
{
    struct frame f = {.format = FRAME_I420_16, .width = 16, .height = 9};

    (void)state;
    assert_int_equal(frame_alloc(&f), 0);
    for (int i = 0; i < 2 * FILTER_MAX_RADIUS; i++) {
        const struct filter filter = {.kind = i % 2 ? FILTER_BOX : FILTER_GAUSSIAN,
                                      .radius = i / 2 + 1,
                                      .sigma_space = filter_auto_sigma(i / 2 + 1)};
        struct words_blur_params b;
        struct bilateral_params p;

        prepare(&b, &p, &f, filter.kind, filter.radius);
        for (int axis = 0; axis < BLUR_AXES; axis++) {
            const double middle = blur_weight(&filter, (enum blur_axis)axis, 0);
            double sum = -(double)b.weight[axis][0];

            for (int k = 0; k <= blur_reach(filter.radius, (enum blur_axis)axis); k++) {
                const double w = (double)b.weight[axis][k];

                assert_true(fabs(w / (double)b.weight[axis][0] -
                                 blur_weight(&filter, (enum blur_axis)axis, k) / middle) < 1e-6);
                sum += 2.0 * w;
            }
            assert_true(fabs(sum - 1.0) < 1e-6);
        }
    }
    frame_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_weights),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
