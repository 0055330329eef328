/* What the GPU's kernel for gaussian and box is told: everything about it that needs no GPU. */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>

#include "cuda/kernel/blur_params.h"
#include "filter/blur_axis.h"
#include "picture/frame.h"

static const int sizes[][2] = {{2, 1}, {4, 3}, {6, 2}, {14, 9}, {30, 7}, {34, 2}, {1920, 5}};

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))

static void prepare(struct blur_params *ret, struct frame *f, enum filter_kind kind, int radius)
{
    const struct filter filter = {.kind = kind,
                                  .radius = radius,
                                  .sigma_space = filter_auto_sigma(radius),
                                  .sigma_color = 18};
    struct bilateral_params p;

    assert_int_equal(bilateral_prepare(&p, f, f, &filter), 0);
    assert_true(p.blur);
    blur_params_init(ret, &p);
}

/* Calls @check for each plane of every format and size, at one radius. */
static void for_planes(int radius, void (*check)(const struct blur_plane *, const struct frame *,
                                                 int plane, int radius))
{
    for (int format = 0; format < FRAME_N_FORMATS; format++)
        for (int i = 0; i < N(sizes); i++) {
            struct frame f = {
                .format = (enum frame_format)format, .width = sizes[i][0], .height = sizes[i][1]};
            struct blur_params b;

            if (!format_filtered(f.format) || format_table[format].bytes > 1)
                continue; /* words_blur_params.h */
            assert_int_equal(frame_alloc(&f), 0);
            prepare(&b, &f, FILTER_BOX, radius);
            assert_int_equal(b.planes, format_table[format].planes);
            for (int k = 0; k < b.planes; k++) {
                assert_ptr_equal(b.plane[k].in, f.plane[k]);
                assert_int_equal(b.plane[k].bytes, frame_row_bytes(&f, k));
                assert_int_equal(b.plane[k].rows, frame_plane_rows(&f, k));
                check(&b.plane[k], &f, k, radius);
            }
            frame_free(&f);
        }
}

/* The component that byte @at of a row of @plane belongs to, whose first one is at *@ret_first. */
static int component_at(const struct frame *f, int plane, int at, int *ret_first)
{
    for (int c = 0; c < format_table[f->format].components; c++) {
        const struct samples s = frame_samples(f, c);
        const ptrdiff_t first = s.base - f->plane[plane];

        if (first >= 0 && first < (ptrdiff_t)s.step && (at - first) % s.step == 0) {
            *ret_first = (int)first;
            return c;
        }
    }
    fail_msg("byte %d belongs to nothing", at);
    return -1;
}

/* How the kernel gets byte @at of a row: by way of a word. */
static int byte_from(const struct blur_plane *q, int at)
{
    const int last = (q->bytes - 1) / 4 * 4, word = (at & ~3) < 0 ? -4 : at / 4 * 4;
    const uint32_t select = word < 0       ? q->before
                            : word < last  ? 0x3210
                            : word == last ? q->last_word
                                           : q->behind;

    return (word < 0 ? 0 : word < last ? word : last) + (int)(select >> 4 * (at & 3) & 15);
}

/* Outside of the picture the nearest sample of each kind is repeated. */
static void check_edges(const struct blur_plane *q, const struct frame *f, int plane, int radius)
{
    (void)radius;
    for (int at = -12; at < q->bytes + 12; at++) {
        int first = 0;
        const int step = frame_samples(f, component_at(f, plane, at, &first)).step;
        const int sample = (at + 16 * step - first) / step - 16;

        assert_int_equal(byte_from(q, at), first + frame_nearest(sample, q->bytes / step) * step);
    }
}

static void test_edges(void **state)
{
    (void)state;
    for_planes(3, check_edges);
}

/* Bytes at even and at odd places are of two kinds or of one, and each is weighed on its axis. */
static void check_kinds(const struct blur_plane *q, const struct frame *f, int plane, int radius)
{
    const struct format_info *info = &format_table[f->format];

    (void)radius;
    for (int at = 0; at < 4; at++) {
        int first = 0;
        const int c = component_at(f, plane, at, &first);

        assert_int_equal(q->pairs, frame_samples(f, c).step > 1);
        assert_int_equal(q->along[at % 2], c && info->hshift ? BLUR_SHARED : BLUR_EACH);
        if (at == 0 && !q->pairs)
            assert_int_equal(q->axis, c && info->vshift ? BLUR_SHARED : BLUR_EACH);
    }
    assert_int_equal(q->last, q->axis && f->height % 2 ? BLUR_LAST : q->axis);
}

static void test_kinds(void **state)
{
    (void)state;
    for_planes(1, check_kinds);
}

/* Windows lie in the steps of 16 rows and columns that the kernel takes. */
static void check_windows(const struct blur_plane *q, const struct frame *f, int plane, int radius)
{
    const int steps = BLUR_STEPS(radius);
    const bool packed = format_table[f->format].planes == 1 && q->pairs;

    (void)plane;
    assert_int_equal(q->reach, blur_reach(radius, (enum blur_axis)q->axis));
    assert_true(q->reach <= 8 * (steps - 1));
    for (int i = 0; i < 2; i++) {
        const int reach = blur_reach(radius, (enum blur_axis)q->along[i]);

        if (packed)
            assert_true(reach * (q->along[i] ? 2 : 1) <= 8 * (steps - 1));
        else
            assert_true(reach <= 8 * (q->pairs ? 1 : 2) * (steps / 2));
    }
}

static void test_windows(void **state)
{
    (void)state;
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++)
        for_planes(radius, check_windows);
}

/* The number that @half is the bits of. */
static double half_value(uint32_t half)
{
    const int exponent = (int)(half >> 10);

    return exponent ? ldexp(1024 + half % 1024, exponent - 25) : ldexp(half, -24);
}

/* Weights on @axis are those of the filter as far as half precision goes, in every @spread-th
 * place, and one colour stays what it is. */
static void check_table(const struct blur_params *b, const struct filter *f, enum blur_axis axis,
                        int spread)
{
    const uint32_t *const middle = b->table[axis] + BLUR_MIDDLE;
    const int reach = blur_reach(f->radius, axis), steps = BLUR_STEPS(f->radius);
    double total = 0.0, sum = 0.0;

    for (int k = -reach; k <= reach; k++)
        total += blur_weight(f, axis, abs(k));
    for (int at = -16 * steps; at < 16 * steps; at++) {
        const int k = abs(at) / spread;
        const double w = half_value(middle[at] & 0xffff);
        const double right =
            abs(at) % spread || k > reach ? 0.0 : ldexp(blur_weight(f, axis, k) / total, 14);

        assert_true(fabs(w - right) <= right / 2048 + 0x1p-14);
        if (at + 1 < 16 * steps)
            assert_int_equal(middle[at] >> 16, middle[at + 1] & 0xffff);
        sum += w;
    }
    assert_true(fabs(sum * (double)b->scale[axis] - 0x1p12) < 0x1p-9);
    assert_true(fabs(sum * -0x1p-17 - (double)b->centre[axis]) < 1e-6);
}

static void test_weights(void **state)
{
    struct frame nv12 = {.format = FRAME_NV12, .width = 16, .height = 9};
    struct frame yuyv = {.format = FRAME_YUYV, .width = 16, .height = 9};

    (void)state;
    assert_int_equal(frame_alloc(&nv12), 0);
    assert_int_equal(frame_alloc(&yuyv), 0);
    for (int i = 0; i < 2 * FILTER_MAX_RADIUS; i++) {
        const struct filter filter = {.kind = i % 2 ? FILTER_BOX : FILTER_GAUSSIAN,
                                      .radius = i / 2 + 1,
                                      .sigma_space = filter_auto_sigma(i / 2 + 1)};
        struct blur_params b;

        prepare(&b, &nv12, filter.kind, filter.radius);
        for (int axis = 0; axis < BLUR_AXES; axis++)
            check_table(&b, &filter, (enum blur_axis)axis, 1);
        prepare(&b, &yuyv, filter.kind, filter.radius);
        check_table(&b, &filter, BLUR_EACH, 1);
        check_table(&b, &filter, BLUR_SHARED, 2);
    }
    frame_free(&nv12);
    frame_free(&yuyv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_weights),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
