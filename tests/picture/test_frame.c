#include "tests/lib/unit.h"

#include <string.h>

#include "picture/frame.h"

static void test_layouts(void **state)
{
    struct frame f = {.format = FRAME_I420, .width = 6, .height = 5};
    uint8_t memory[64];

    (void)state;
    assert_int_equal(frame_layout_packed(&f), 30 + 9 + 9);
    frame_attach(&f, memory);
    assert_ptr_equal(f.plane[1], memory + 30);
    assert_ptr_equal(f.plane[2], memory + 39);
    f.format = FRAME_NV12;
    assert_int_equal(frame_layout_packed(&f), 30 + 18);
    f.format = FRAME_YUYV;
    assert_int_equal(frame_layout_packed(&f), 60);
    assert_int_equal(frame_layout(&f), 5 * FRAME_ALIGN);
}

static void test_sizes_and_names(void **state)
{
    (void)state;
    assert_null(frame_size_problem(2, 1));
    assert_non_null(frame_size_problem(3, 2));
    assert_non_null(frame_size_problem(0, 2));
    assert_non_null(frame_size_problem(2, FRAME_MAX_SIDE + 1));
    for (int i = 0; i < FRAME_N_FORMATS; i++)
        assert_int_equal(format_from_name(format_table[i].name), i);
    assert_int_equal(format_from_name("rgb"), -1);
}

/* Formats that there may be: what they say of a row. */
static void test_bytes_of_a_sample(void **state)
{
    static const struct {
        struct format_info info;
        size_t bytes[3]; /* of 6 columns */
    } table[] = {
        {{"p010", 2, 3, 2, 1, 1, {{0, 0, 2}, {1, 0, 4}, {1, 2, 4}}}, {12, 12, 0}},
        {{"i010", 3, 3, 2, 1, 1, {{0, 0, 2}, {1, 0, 2}, {2, 0, 2}}}, {12, 6, 6}},
        {{"y210", 1, 3, 2, 1, 0, {{0, 0, 4}, {0, 2, 8}, {0, 6, 8}}}, {24, 0, 0}},
        {{"y16 ", 1, 1, 2, 0, 0, {{0, 0, 2}}}, {12, 0, 0}},
        {{"yuyv", 1, 3, 1, 1, 0, {{0, 0, 2}, {0, 1, 4}, {0, 3, 4}}}, {12, 0, 0}},
        {{.name = "jpeg"}, {0, 0, 0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        for (int p = 0; p < 3; p++)
            assert_int_equal(format_row_bytes(&table[i].info, p, 6), table[i].bytes[p]);
}

/* Notes each byte of each sample of @f. */
static void mark_samples(const struct frame *f)
{
    const struct format_info *info = &format_table[f->format];

    for (int c = 0; c < info->components; c++) {
        const struct samples s = frame_samples(f, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++)
                for (int i = 0; i < info->bytes; i++)
                    s.base[(size_t)y * s.stride + (size_t)(x * s.step + i)]++;
    }
}

/* The samples of each format fill the rows of its planes, and none lies in another or outside. */
static void test_samples_fill_rows(void **state)
{
    (void)state;
    for (int format = 0; format < FRAME_N_FORMATS; format++) {
        struct frame f = {.format = (enum frame_format)format, .width = 6, .height = 5};
        uint8_t memory[32 * FRAME_ALIGN] = {0};
        size_t size, marked = 0, in_rows = 0;

        if (!format_table[format].planes)
            continue;
        assert_int_not_equal(format_table[format].bytes, 0);
        size = frame_layout(&f);
        assert_true(size <= sizeof(memory));
        frame_attach(&f, memory);
        mark_samples(&f);
        for (int p = 0; p < format_table[format].planes; p++)
            for (int y = 0; y < frame_plane_rows(&f, p); y++) {
                const uint8_t *const row = f.plane[p] + (size_t)y * f.stride[p];

                for (size_t x = 0; x < frame_row_bytes(&f, p); x++)
                    assert_int_equal(row[x], 1);
                in_rows += frame_row_bytes(&f, p);
            }
        for (size_t i = 0; i < sizeof(memory); i++)
            marked += memory[i];
        assert_int_equal(marked, in_rows);
        assert_int_equal(frame_layout_packed(&f), in_rows);
    }
}

static void test_copies_samples_alone(void **state)
{
    (void)state;
    for (int format = 0; format < FRAME_N_FORMATS; format++) {
        struct frame from = {.format = (enum frame_format)format, .width = 6, .height = 5};
        struct frame to = from;
        uint8_t source[32 * FRAME_ALIGN] = {0}, copy[sizeof(source)] = {0};

        if (!format_table[format].planes)
            continue;
        (void)frame_layout_packed(&from);
        frame_attach(&from, source);
        mark_samples(&from);
        (void)frame_layout(&to);
        frame_attach(&to, copy);
        frame_copy(&to, &from);
        assert_true(frame_squared_error(&to, &from) <= 0.0);
        memset(source, 0, sizeof(source));
        (void)frame_layout(&from);
        frame_attach(&from, source);
        mark_samples(&from);
        assert_memory_equal(source, copy, sizeof(source)); /* the padding, too */
    }
}

/* Every sample counts once, and the padding never. */
static void test_squared_error(void **state)
{
    (void)state;
    for (int format = 0; format < FRAME_N_FORMATS; format++) {
        struct frame a = {.format = (enum frame_format)format, .width = 6, .height = 5}, b = a;
        uint8_t one[32 * FRAME_ALIGN] = {0}, other[sizeof(one)];

        if (!format_table[format].planes)
            continue;
        (void)frame_layout(&a);
        frame_attach(&a, one);
        (void)frame_layout(&b);
        frame_attach(&b, other);
        memset(other, 7, sizeof(other));
        mark_samples(&a);
        frame_copy(&b, &a);
        assert_true(frame_squared_error(&a, &b) == 0.0);
        *(a.plane[0] + a.stride[0] * 4) += 3;
        a.plane[format_table[format].planes - 1][frame_row_bytes(&a, 0) / 2 - 1] += 200;
        /* Of words these are the lower and the upper byte. */
        assert_true(frame_squared_error(&a, &b) ==
                    (format_table[format].bytes > 1 ? 9.0 / 65536.0 : 9.0) + 200.0 * 200.0);
    }
}

static void test_largest_squared_error(void **state)
{
    static uint8_t black[2 * FRAME_MAX_SIDE], white[sizeof(black)];
    struct frame a = {.format = FRAME_YUYV, .width = FRAME_MAX_SIDE, .height = 1}, b = a;

    (void)state;
    (void)frame_layout_packed(&a);
    (void)frame_layout_packed(&b);
    frame_attach(&a, black);
    frame_attach(&b, white);
    memset(white, 255, sizeof(white));
    assert_true(frame_squared_error(&a, &b) == 2.0 * FRAME_MAX_SIDE * 255 * 255);
}

/* Each sample is found where it lies, beyond the edges the nearest one. */
static void test_one_sample(void **state)
{
    static uint8_t memory[] = {1, 2, 3, 4, 5, 6, 7, 8}; /* Y U Y V */
    const struct frame f = {
        .format = FRAME_YUYV, .width = 2, .height = 2, .plane = {memory}, .stride = {4}};
    static const struct {
        int component, x, y, value;
    } cases[] = {{0, 0, 0, 1},  {0, 1, 0, 3},  {1, 0, 0, 2}, {2, 0, 1, 8},
                 {0, -1, 1, 5}, {0, 2, -9, 3}, {1, 1, 7, 6}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int columns = cases[i].component ? 1 : 2;

        assert_int_equal(frame_sample(&f, cases[i].component, frame_nearest(cases[i].x, columns),
                                      frame_nearest(cases[i].y, 2)),
                         cases[i].value);
    }
}

static void test_counts(void **state)
{
    static const struct {
        int width, height, columns, rows;
    } cases[] = {{2, 1, 1, 1},
                 {8, 8, 1, 1},
                 {10, 9, 2, 2},
                 {640, 360, 80, 45},
                 {FRAME_MAX_SIDE, FRAME_MAX_SIDE, 2048, 2048}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct frame f = {.width = cases[i].width, .height = cases[i].height};

        assert_int_equal(frame_count_columns(&f), cases[i].columns);
        assert_int_equal(frame_count_rows(&f), cases[i].rows);
        assert_int_equal(frame_counts_size(&f), cases[i].columns * cases[i].rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_sizes_and_names),
        cmocka_unit_test(test_bytes_of_a_sample),
        cmocka_unit_test(test_samples_fill_rows),
        cmocka_unit_test(test_copies_samples_alone),
        cmocka_unit_test(test_squared_error),
        cmocka_unit_test(test_largest_squared_error),
        cmocka_unit_test(test_one_sample),
        cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
