/* Whether JPEGs have all their blocks. */
#include "tests/lib/unit.h"

#include "config-build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture/convert.h"
#include "picture/jpeg_layout.h"
#include "picture/jpeg_whole.h"
#include "tests/lib/images.h"

#ifdef HAVE_MJPEG
#include "tests/lib/jpegs.h"

/* What the decoder alone says of it: true, too, where it found no more than stray bytes. */
static bool decodes(const struct jpeg *j, size_t size)
{
    const tjhandle handle = tjInitDecompress();
    unsigned char *rgb = malloc((size_t)(j->frame.width * j->frame.height * 3));
    bool good;

    assert_non_null(rgb);
    good = !tjDecompress2(handle, j->bytes, size, rgb, j->frame.width, 0, j->frame.height, TJPF_RGB,
                          0) ||
           strstr(tjGetErrorStr2(handle), "extraneous bytes");
    free(rgb);
    (void)tjDestroy(handle);
    return good;
}

static void decode(const struct jpeg *j)
{
    struct frame dst = {.format = FRAME_I422, .width = j->frame.width, .height = j->frame.height};
    struct mjpeg *m = NULL;
    struct error err;

    assert_int_equal(frame_alloc(&dst), 0);
    assert_int_equal(mjpeg_create(&m, 1, NULL), 0);
    assert_int_equal(mjpeg_decode(m, &j->frame, &dst, &err), 0);
    mjpeg_destroy(m);
    frame_free(&dst);
}

static void check_cuts(struct jpeg *j)
{
    unsigned char *const copy = malloc(j->size);

    assert_non_null(copy);
    assert_true(jpeg_is_whole(j->bytes, j->size));
    for (size_t size = 0; size < j->size; size += 1 + size / 50) {
        memcpy(copy, j->bytes, size);
        assert_false(jpeg_is_whole(copy, size));
        if (size < 2 || size + 2 > j->size - 2)
            continue;
        copy[size - 2] = 0xff;
        copy[size - 1] = 0xd9;
        assert_false(jpeg_is_whole(copy, size));
    }
    free(copy);
}

static void test_jpeg_whole(void **state)
{
    static const int kinds[] = {TJSAMP_444, TJSAMP_422,  TJSAMP_420,
                                TJSAMP_440, TJSAMP_GRAY, TJSAMP_411};
    static const int sizes[][2] = {{16, 8}, {64, 48}, {66, 53}, {320, 240}};

    (void)state;
    for (int kind = 0; kind < 6; kind++)
        for (int size = 0; size < 4; size++) {
            struct jpeg j = jpeg_encode(sizes[size][0], sizes[size][1], kinds[kind], NULL);
            struct jpeg k =
                jpeg_encode_noisy(sizes[size][0], sizes[size][1], kinds[kind], "3B", 90);

            check_cuts(&j);
            check_cuts(&k);
            tjFree(j.bytes);
            tjFree(k.bytes);
        }
}

/* Whatever is wrong behind the header: what the decoder warns of is not whole. */
static void test_jpeg_not_whole(void **state)
{
    struct jpeg j[] = {jpeg_encode(128, 96, TJSAMP_422, NULL),
                       jpeg_encode_noisy(128, 96, TJSAMP_420, "1", 40)};
    uint64_t rng = 3;
    struct jpeg_layout l[2];
    int n_whole = 0;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(jpeg_layout_read(&l[i], j[i].bytes, j[i].size), 0);
    for (int i = 0; i < 4000; i++) {
        struct jpeg *k = &j[i % 2];
        const size_t n = 1 + random_next(&rng) % 30;
        const size_t at = l[i % 2].header + random_next(&rng) % (k->size - n - l[i % 2].header);
        unsigned char *const was = k->bytes;
        size_t size = k->size;

        k->bytes = malloc(size + n);
        assert_non_null(k->bytes);
        memcpy(k->bytes, was, size);
        if (i % 3 == 0) { /* some are lost */
            size -= n;
            memcpy(k->bytes + at, was + at + n, size - at);
        } else if (i % 3 == 1) { /* some are wrong */
            for (size_t b = 0; b < n; b++)
                k->bytes[at + b] = (unsigned char)random_next(&rng);
        } else { /* some are more */
            memcpy(k->bytes + at + n, was + at, size - at);
            size += n;
        }
        if (jpeg_is_whole(k->bytes, size)) {
            n_whole++;
            assert_true(decodes(k, size));
        }
        free(k->bytes);
        k->bytes = was;
    }
    assert_in_range(n_whole, 400, 3600);
    tjFree(j[0].bytes);
    tjFree(j[1].bytes);
}

/* What may be between blocks and end, or in a header, after which the stray bytes that some cameras
 * send do no harm either. */
static void test_jpeg_odd_bytes(void **state)
{
    static const struct {
        bool at_end;
        const char *bytes;
        size_t n;
    } rows[] = {
        {true, "\0\1\2", 3},        {true, "\0\xff\xfe\0\4ab", 7}, {true, "\xff\xd0", 2},
        {true, "\xff\xe1\0\2", 4},  {true, "\xff\xff", 2},         {false, "\xff", 1},
        {false, "\xff\xff\xff", 3}, {false, "\xff\xfe\0\4ab", 6},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct jpeg j = jpeg_encode(64, 48, TJSAMP_422, i % 2 ? "1" : NULL);

        jpeg_insert(&j, rows[i].at_end ? j.size - 2 : 2, rows[i].bytes, rows[i].n);
        assert_true(jpeg_is_whole(j.bytes, j.size));
        decode(&j);
        jpeg_insert(&j, j.size - 2 - (rows[i].at_end ? rows[i].n : 0), "stray", 5);
        decode(&j);
        tjFree(j.bytes);
    }
}

/* Without what its samples were multiplied by, a JPEG would get that of the one before. */
static void test_jpeg_no_quantizer(void **state)
{
    struct jpeg j = jpeg_encode(64, 48, TJSAMP_422, NULL);
    size_t at = 2;

    (void)state;
    while (j.bytes[at + 1] != 0xdb)
        at += 2 + (size_t)(j.bytes[at + 2] << 8 | j.bytes[at + 3]);
    j.bytes[at + 1] = 0xfe; /* a comment */
    assert_false(jpeg_is_whole(j.bytes, j.size));
    tjFree(j.bytes);
}

/* Where there are no tables. */
static void test_jpeg_no_tables(void **state)
{
    struct jpeg j = jpeg_encode(320, 240, TJSAMP_422, NULL);

    (void)state;
    jpeg_leave_tables_out(&j);
    check_cuts(&j);
    decode(&j);
    tjFree(j.bytes);
}

#endif

int main(void)
{
#ifdef HAVE_MJPEG
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jpeg_whole),     cmocka_unit_test(test_jpeg_not_whole),
        cmocka_unit_test(test_jpeg_odd_bytes), cmocka_unit_test(test_jpeg_no_quantizer),
        cmocka_unit_test(test_jpeg_no_tables),
    };

    return cmocka_run_group_tests_name("jpeg whole", tests, NULL, NULL);
#else
    puts("skipped: MJPG is not built into this program");
    return 77;
#endif
}
