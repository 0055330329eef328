/* What the GPU's kernel for gaussian and box is told: everything about it that needs no GPU. */
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

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
static void for_planes(int radius, void (*check)(const struct blur_plane *, int radius))
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
                check(&b.plane[k], radius);
            }
            frame_free(&f);
        }
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

static int kind_of(const struct blur_plane *q, int at)
{
    int kind = 0;

    while ((at - q->kind[kind].offset) % q->kind[kind].step)
        kind++;
    assert_in_range(kind, 0, q->kinds - 1);
    return kind;
}

/* Outside of the picture the nearest sample of each kind is repeated. */
static void check_edges(const struct blur_plane *q, int radius)
{
    (void)radius;
    for (int at = -12; at < q->bytes + 12; at++) {
        const struct blur_kind *k = &q->kind[kind_of(q, at)];
        const int sample = (at + 16 * k->step - k->offset) / k->step - 16;

        assert_int_equal(byte_from(q, at),
                         k->offset + frame_nearest(sample, q->bytes / k->step) * k->step);
    }
}

static void test_edges(void **state)
{
    (void)state;
    for_planes(3, check_edges);
}

/* Windows lie in the tile, and in the products of 16 that the kernel forms of them. */
static void check_windows(const struct blur_plane *q, int radius)
{
    const int steps = (radius - 1) / 8 + 2;

    assert_int_equal(q->margin % 16, 0);
    assert_true(q->reach <= 8 * (steps - 1));
    for (int i = 0; i < q->kinds; i++) {
        const struct blur_kind *k = &q->kind[i];
        const int reach = blur_reach(radius, (enum blur_axis)k->axis);

        assert_int_equal(k->first % 8, 0);
        assert_int_equal((k->first + k->margin) * k->step, q->margin);
        assert_int_equal((BLUR_TILE_BYTES + 2 * q->margin) / k->step % 8, 0);
        assert_in_range(reach, 0, k->margin);
        assert_in_range(k->margin + reach, 0, 16 * ((k->axis ? steps / 2 + 1 : steps) - 1));
    }
}

static void test_windows(void **state)
{
    (void)state;
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++)
        for_planes(radius, check_windows);
}

/* Kinds lie side by side in a tile's row, eight of which are in different banks. */
static void check_rows(const struct blur_plane *q, int radius)
{
    const int bytes = BLUR_TILE_BYTES + 2 * q->margin;
    int samples = 0;

    (void)radius;
    for (int i = 0; i < q->kinds; i++) {
        assert_int_equal(q->kind[i].tile, samples);
        assert_int_equal(q->kind[i].tile % 8, 0);
        assert_int_equal(q->kind[i].columns, bytes / q->kind[i].step);
        samples += q->kind[i].columns;
    }
    assert_in_range(q->stride, samples, samples + 8);
    assert_int_equal(q->stride % 16, 8);
    assert_int_equal(q->moves * 16, bytes);
    for (int i = 0; i < 256 * q->moves; i++)
        assert_int_equal((uint64_t)i * q->divide_by_moves >> 32, i / q->moves);
}

static void test_rows(void **state)
{
    (void)state;
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++)
        for_planes(radius, check_rows);
}

/* The bytes of a word are those of the first kind, then the others'. */
static void check_selectors(const struct blur_plane *q, int radius)
{
    (void)radius;
    for (int i = 0; i < 4; i++) {
        const uint32_t select = q->select[i / 2] >> 8 * (i % 2);
        const int kind = kind_of(q, (int)(select & 15));

        assert_int_equal(select >> 4 & 15, 4); /* not of the word */
        assert_int_equal(kind, q->kinds == 1 ? 0 : q->kinds == 2 ? i / 2 : i < 2 ? 0 : i - 1);
        assert_in_range(select & 15, q->kinds == 1 ? i : 0, q->kinds == 1 ? i : 3);
    }
}

static void test_selectors(void **state)
{
    (void)state;
    for_planes(1, check_selectors);
}

/* The kernel has 4 samples of the first kind and 4 others, and makes two words of them. */
static void check_join(const struct blur_plane *q, int radius)
{
    (void)radius;
    for (int at = 0; at < 8 && q->kinds > 1; at++) {
        const int from = (int)((q->join + (at < 4 ? 0 : 0x2222)) >> 4 * (at % 4) & 15);
        const int kind = from < 4 ? 0 : q->kinds == 2 ? 1 : 1 + from % 2;
        const int sample = from < 4 ? from : q->kinds == 2 ? from - 4 : (from - 4) / 2;

        assert_int_equal(kind, kind_of(q, at));
        assert_int_equal(sample, (at - q->kind[kind].offset) / q->kind[kind].step);
    }
}

static void test_join(void **state)
{
    (void)state;
    for_planes(1, check_join);
}

/* They are those of the filter as far as half precision goes, and one colour stays what it is. */
static void test_weights(void **state)
{
    struct frame f = {.format = FRAME_NV12, .width = 16, .height = 9};

    (void)state;
    assert_int_equal(frame_alloc(&f), 0);
    for (int i = 0; i < 2 * FILTER_MAX_RADIUS; i++) {
        const struct filter filter = {.kind = i % 2 ? FILTER_BOX : FILTER_GAUSSIAN,
                                      .radius = i / 2 + 1,
                                      .sigma_space = filter_auto_sigma(i / 2 + 1)};
        struct blur_params b;

        prepare(&b, &f, filter.kind, filter.radius);
        assert_int_equal(b.plane[1].last, BLUR_LAST);
        for (int axis = 0; axis < BLUR_AXES; axis++) {
            const double middle = blur_weight(&filter, (enum blur_axis)axis, 0);
            double sum = -(double)b.weight[axis][0];

            for (int k = 0; k < BLUR_WEIGHTS; k++) {
                const double w = (double)b.weight[axis][k];
                const double right = k > blur_reach(filter.radius, (enum blur_axis)axis)
                                         ? 0.0
                                         : blur_weight(&filter, (enum blur_axis)axis, k) / middle;

                assert_true(fabs(w / (double)b.weight[axis][0] - right) <= right / 1024 + 1e-6);
                assert_true(ldexp(w, 24) == rint(ldexp(w, 24)) && ldexp(w, 24) < 0x1p25);
                sum += 2.0 * w;
            }
            assert_true(fabs(sum * (double)b.scale[axis] - 1.0) < 1e-6);
            assert_true(fabs(sum - (double)b.total[axis]) < 1e-6);
        }
    }
    frame_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges), cmocka_unit_test(test_windows),
        cmocka_unit_test(test_rows),  cmocka_unit_test(test_selectors),
        cmocka_unit_test(test_join),  cmocka_unit_test(test_weights),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
