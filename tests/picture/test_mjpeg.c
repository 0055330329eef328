/* JPEGs of cameras, whole, damaged and cut. */
#include "tests/lib/unit.h"

#include "config-build.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture/convert.h"
#include "picture/jpeg_layout.h"
#include "picture/jpeg_slices.h"
#include "picture/jpeg_whole.h"
#include "tests/lib/images.h"

#ifdef HAVE_MJPEG
#include "tests/lib/jpegs.h"

static struct guarded make(int width, int height, int pad)
{
    const struct frame like = {.format = FRAME_I422, .width = width, .height = height};
    struct guarded g;

    assert_int_equal(guarded_alloc(&g, &like, pad), 0);
    guarded_arm(&g);
    return g;
}

static void test_mjpeg_subsamplings(void **state)
{
    static const int kinds[] = {TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_440, TJSAMP_411};
    struct mjpeg *m = NULL;

    (void)state;
    assert_int_equal(mjpeg_create(&m, 1, NULL), 0);
    for (int i = 0; i < 5; i++)
        for (int height = 47; height <= 48; height++) {
            struct jpeg j = jpeg_encode(64, height, kinds[i], NULL);
            struct guarded dst = make(64, height, 16);
            struct error err;

            assert_int_equal(mjpeg_decode(m, &j.frame, &dst.frame, &err), 0);
            assert_int_equal(guarded_check(&dst), 0);
            for (int y = 2; y < height - 2; y += 5)
                for (int x = 4; x < 60; x += 7) {
                    const double r = x * 255 / 64, g = y * 255 / height;
                    const double want_y = 0.299 * r + 0.587 * g + 0.114 * 90;
                    const double want_v = 128 + (r - want_y) * 0.713;

                    assert_true(fabs(frame_sample(&dst.frame, 0, x, y) - want_y) < 5);
                    assert_true(fabs(frame_sample(&dst.frame, 2, x / 2, y) - want_v) < 9);
                }
            guarded_free(&dst);
            tjFree(j.bytes);
        }
    mjpeg_destroy(m);
}

static void test_mjpeg_damage(void **state)
{
    struct guarded dst = make(64, 48, 0), other = make(80, 48, 0);
    struct jpeg j = jpeg_encode(64, 48, TJSAMP_422, NULL),
                grey = jpeg_encode(64, 48, TJSAMP_GRAY, NULL);
    struct mjpeg *m = NULL;
    struct error err;
    uint64_t rng = 5;

    (void)state;
    assert_int_equal(mjpeg_create(&m, 1, NULL), 0);
    assert_int_equal(mjpeg_decode(m, &grey.frame, &dst.frame, &err), 0);
    assert_int_equal(frame_sample(&dst.frame, 1, 9, 9), 128);
    assert_int_equal(mjpeg_decode(m, &j.frame, &other.frame, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "64x48"));
    for (size_t cut = 0; cut < j.size - 2; cut += 37) {
        j.frame.bytes = cut;
        assert_int_equal(mjpeg_decode(m, &j.frame, &dst.frame, &err), -EBADMSG);
    }
    j.frame.bytes = j.size;
    for (int i = 0; i < 300; i++) { /* garbage must not crash; some of it still decodes */
        j.bytes[random_next(&rng) % j.size] = (unsigned char)random_next(&rng);
        (void)mjpeg_decode(m, &j.frame, &dst.frame, &err);
    }
    assert_int_equal(guarded_check(&dst), 0);
    mjpeg_destroy(m);
    guarded_free(&dst);
    guarded_free(&other);
    tjFree(j.bytes);
    tjFree(grey.bytes);
}

/* Stray bytes between segments, which some cameras send in every frame, do no harm. */
static void test_mjpeg_stray_bytes(void **state)
{
    struct guarded dst = make(64, 48, 0);
    struct jpeg j = jpeg_encode(64, 48, TJSAMP_422, NULL);
    unsigned char *bytes = malloc(j.size + 3);
    struct mjpeg *m = NULL;
    struct error err;

    (void)state;
    assert_non_null(bytes);
    memcpy(bytes, j.bytes, j.size - 2);
    memset(bytes + j.size - 2, 0, 3);
    memcpy(bytes + j.size + 1, j.bytes + j.size - 2, 2);
    j.frame.plane[0] = bytes;
    j.frame.bytes = j.size + 3;
    assert_int_equal(mjpeg_create(&m, 1, NULL), 0);
    assert_int_equal(mjpeg_decode(m, &j.frame, &dst.frame, &err), 0);
    mjpeg_destroy(m);
    guarded_free(&dst);
    free(bytes);
    tjFree(j.bytes);
}

/* Where there are restart markers, the decoder goes on after a gap as if nothing was. */
static void test_mjpeg_gaps(void **state)
{
    const size_t gap = 600;
    struct guarded dst = make(320, 240, 0);
    struct mjpeg *m = NULL;
    struct error err;
    struct jpeg j = jpeg_encode(320, 240, TJSAMP_422, "1");

    (void)state;
    assert_int_equal(mjpeg_create(&m, 1, NULL), 0);
    assert_int_equal(mjpeg_decode(m, &j.frame, &dst.frame, &err), 0);
    for (size_t at = 700; at + gap < j.size - 2; at += 41) {
        unsigned char *bytes = malloc(j.size - gap);

        assert_non_null(bytes);
        memcpy(bytes, j.bytes, at);
        memcpy(bytes + at, j.bytes + at + gap, j.size - at - gap);
        j.frame.plane[0] = bytes;
        j.frame.bytes = j.size - gap;
        assert_int_equal(mjpeg_decode(m, &j.frame, &dst.frame, &err), -EBADMSG);
        free(bytes);
    }
    mjpeg_destroy(m);
    guarded_free(&dst);
    tjFree(j.bytes);
}

/* Decodes with one thread and with several. Returns what the first of them does. */
static int compare_threads(const struct jpeg *j, int n_threads)
{
    const int width = j->frame.width, height = j->frame.height;
    struct guarded one = make(width, height, 16), several = make(width, height, 16);
    struct mjpeg *m = NULL, *many = NULL;
    struct error err;
    int r;

    assert_int_equal(mjpeg_create(&m, 1, NULL), 0);
    assert_int_equal(mjpeg_create(&many, n_threads, NULL), 0);
    r = mjpeg_decode(m, &j->frame, &one.frame, &err);
    assert_int_equal(mjpeg_decode(many, &j->frame, &several.frame, &err), r);
    assert_int_equal(guarded_check(&one), 0);
    assert_int_equal(guarded_check(&several), 0);
    for (int c = 0; c < 3 && !r; c++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < (c ? width / 2 : width); x++)
                assert_int_equal(frame_sample(&one.frame, c, x, y),
                                 frame_sample(&several.frame, c, x, y));
    mjpeg_destroy(m);
    mjpeg_destroy(many);
    guarded_free(&one);
    guarded_free(&several);
    return r;
}

/* Slices that are whole blocks high, lie one below the other and fill the picture. */
static void check_slices(const struct jpeg *j, int n_max, bool cuts)
{
    struct jpeg_slices s;
    int y = 0;

    assert_int_equal(jpeg_slices_find(&s, j->bytes, j->size, n_max), cuts ? 0 : -EINVAL);
    if (!cuts)
        return;
    assert_in_range(s.n, 2, n_max);
    for (int i = 0; i < s.n; i++) {
        assert_int_equal(s.slice[i].y, y);
        assert_int_equal(y % 8, 0);
        assert_true(s.slice[i].height > 0 && s.slice[i].to > s.slice[i].from);
        y += s.slice[i].height;
    }
    assert_int_equal(y, j->frame.height);
}

static void test_mjpeg_slices(void **state)
{
    static const int kinds[] = {TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_440, TJSAMP_411};
    static const int sizes[][2] = {{64, 48}, {320, 240}, {66, 53}, {130, 200}};
    static const char *const restarts[] = {"1", "2", "1B", "3"};

    (void)state;
    for (int kind = 0; kind < 5; kind++)
        for (int size = 0; size < 4; size++)
            for (int k = 0; k < 4; k++) {
                struct jpeg j =
                    jpeg_encode(sizes[size][0], sizes[size][1], kinds[kind], restarts[k]);

                for (int n_threads = 2; n_threads <= JPEG_SLICES_MAX; n_threads += 3) {
                    const int n_rows = (j.frame.height - 1) / tjMCUHeight[kinds[kind]] + 1;

                    check_slices(&j, n_threads, n_rows > (restarts[k][1] ? 1 : atoi(restarts[k])));
                    assert_int_equal(compare_threads(&j, n_threads), 0);
                }
                tjFree(j.bytes);
            }
}

enum { DEVICE_GREY = 77 };

static bool device_is_ready;
static int device_result, n_asked;

static bool is_ready(void)
{
    return device_is_ready;
}

static int decode_grey(const uint8_t *jpeg, size_t size, const struct jpeg_planes *to)
{
    struct jpeg_layout l;

    n_asked++;
    assert_true(jpeg_is_whole(jpeg, size));
    assert_int_equal(jpeg_layout_read(&l, jpeg, size), 0);
    assert_true(l.has_tables);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < to->plane[c].rows; y++)
            memset(to->plane[c].base + (size_t)y * to->plane[c].stride, DEVICE_GREY,
                   (size_t)to->plane[c].width);
    return device_result;
}

static const struct jpeg_device device = {.ready = is_ready, .decode = decode_grey};

/* Whether the device has made the whole picture. */
static bool device_made(struct mjpeg *m, const struct jpeg *j, struct guarded *dst)
{
    const int asked = n_asked;
    struct error err;
    int n = 0, n_device = 0;

    assert_int_equal(mjpeg_decode(m, &j->frame, &dst->frame, &err), 0);
    assert_int_equal(guarded_check(dst), 0);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < dst->frame.height; y++)
            for (int x = 0; x < dst->frame.width >> (c > 0); x++, n++)
                n_device += frame_sample(&dst->frame, c, x, y) == DEVICE_GREY;
    assert_true(n_asked == asked || n_device == n || device_result);
    return n_device == n;
}

static void test_mjpeg_device(void **state)
{
    static const int kinds[] = {TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_440, TJSAMP_411};
    struct error err;

    (void)state;
    for (int i = 0; i < 10; i++) {
        struct jpeg j = jpeg_encode(64, 47 + i % 2, kinds[i / 2], NULL);
        struct guarded dst = make(64, 47 + i % 2, 16);
        struct mjpeg *m = NULL;

        assert_int_equal(mjpeg_create(&m, 1, &device), 0);
        device_is_ready = false;
        assert_false(device_made(m, &j, &dst));
        device_is_ready = true;
        device_result = 0;
        n_asked = 0;
        assert_true(device_made(m, &j, &dst));
        device_result = -EINVAL;
        for (int k = 0; k < 101; k++) /* asked once */
            assert_false(device_made(m, &j, &dst));
        assert_int_equal(n_asked, 2);
        device_result = 0;
        assert_true(device_made(m, &j, &dst));
        jpeg_leave_tables_out(&j);
        assert_true(device_made(m, &j, &dst));
        assert_int_equal(n_asked, 4);
        j.frame.bytes -= 20; /* a damaged one is not for the device */
        assert_int_equal(mjpeg_decode(m, &j.frame, &dst.frame, &err), -EBADMSG);
        assert_int_equal(n_asked, 4);
        mjpeg_destroy(m);
        guarded_free(&dst);
        tjFree(j.bytes);
    }
}

static bool has_thread(const char *name)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *e;
    bool found = false;

    assert_non_null(tasks);
    while ((e = readdir(tasks))) {
        char path[300], comm[32] = "";
        FILE *f;

        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        f = fopen(path, "r");
        if (!f)
            continue;
        found = found || (fgets(comm, sizeof(comm), f) && !strncmp(comm, name, strlen(name)));
        (void)fclose(f);
    }
    (void)closedir(tasks);
    return found;
}

/* Threads are there for those that can be cut alone. */
static void test_mjpeg_threads(void **state)
{
    struct guarded dst = make(320, 240, 0);
    struct jpeg j = jpeg_encode(320, 240, TJSAMP_422, "1"),
                none = jpeg_encode(320, 240, TJSAMP_422, NULL);
    struct mjpeg *m = NULL;
    struct error err;

    (void)state;
    assert_int_equal(mjpeg_create(&m, 2, NULL), 0);
    assert_int_equal(mjpeg_decode(m, &none.frame, &dst.frame, &err), 0);
    assert_false(has_thread("decode-1"));
    assert_int_equal(mjpeg_decode(m, &j.frame, &dst.frame, &err), 0);
    assert_true(has_thread("decode-1"));
    mjpeg_destroy(m);
    guarded_free(&dst);
    tjFree(j.bytes);
    tjFree(none.bytes);
}

static unsigned char *put(unsigned char *to, const void *bytes, size_t n)
{
    memcpy(to, bytes, n);
    return to + n;
}

/* A header that holds two others: for whoever takes 0xff01 for a segment with a length, and for who
 * knows that it has none. The first one tells of a picture that is much higher. */
static void test_mjpeg_two_headers(void **state)
{
    static const unsigned char skip[] = {0xff, 0xd8, 0xff, 0x01, 0xff, 0xe1, 0, 4, 0, 0};
    const int false_height = 65528, interval = 2048;
    struct jpeg j = jpeg_encode(16, 16, TJSAMP_420, NULL);
    unsigned char *const bytes = calloc(1, 200000), *p, *sof = NULL, *sos = j.bytes + 2;
    const size_t resume = 4 + 0xffe1; /* for the former */
    size_t n_sof = 0, n_scan, hidden;

    (void)state;
    assert_non_null(bytes);
    p = put(bytes, skip, sizeof(skip));
    for (; sos[1] != 0xda; sos += 2 + (sos[2] << 8 | sos[3])) {
        const size_t n = 2 + (size_t)(sos[2] << 8 | sos[3]);

        if (sos[1] == 0xc0) {
            sof = sos;
            n_sof = n;
        }
        p = put(p, sos, n);
    }
    n_scan = (size_t)(j.bytes + j.size - 2 - sos);
    hidden = resume + n_sof - (size_t)(p - bytes) - 2;
    (void)put(p, (unsigned char[]){0xff, 0xe2, (unsigned char)(hidden >> 8), (unsigned char)hidden},
              4);
    p = put(bytes + resume, sof, n_sof);
    p[5 - (long)n_sof] = (unsigned char)(false_height >> 8);
    p[6 - (long)n_sof] = (unsigned char)false_height;
    p = put(p, (unsigned char[]){0xff, 0xdd, 0, 4, interval >> 8, interval & 255}, 6);
    p = put(p, sos, n_scan);
    p = put(p, (unsigned char[]){0xff, 0xd0}, 2);
    p = put(p, sos + 2 + (sos[2] << 8 | sos[3]), n_scan - 2 - (size_t)(sos[2] << 8 | sos[3]));
    p = put(p, (unsigned char[]){0xff, 0xd9}, 2);
    tjFree(j.bytes);
    j.bytes = j.frame.plane[0] = bytes;
    j.size = j.frame.bytes = (size_t)(p - bytes);
    check_slices(&j, 2, false);
    (void)compare_threads(&j, 2);
    free(bytes);
}

/* Restart markers that are never at the end of a row but the last. */
static void test_mjpeg_odd_restarts(void **state)
{
    struct jpeg j = jpeg_encode(320, 240, TJSAMP_422, "19B"),
                none = jpeg_encode(320, 240, TJSAMP_422, NULL);

    (void)state;
    check_slices(&none, 4, false);
    assert_int_equal(compare_threads(&none, 4), 0);
    check_slices(&j, 4, true); /* 19 rows of 20 blocks */
    assert_int_equal(compare_threads(&j, 4), 0);
    tjFree(j.bytes);
    tjFree(none.bytes);
    j = jpeg_encode(304, 144, TJSAMP_422, "341B"); /* 18 rows of 19 blocks are 342 */
    check_slices(&j, 4, false);
    assert_int_equal(compare_threads(&j, 4), 0);
    tjFree(j.bytes);
}

/* Whatever is wrong with a JPEG, more threads come to the same result. */
static void test_mjpeg_damaged_slices(void **state)
{
    struct jpeg j = jpeg_encode(128, 96, TJSAMP_422, "1");
    unsigned char *whole = malloc(j.size);
    const size_t size = j.size;
    uint64_t rng = 11;
    int n_whole = 0;

    (void)state;
    assert_non_null(whole);
    memcpy(whole, j.bytes, size);
    for (int i = 0; i < 2000; i++) {
        j.bytes[random_next(&rng) % size] = (unsigned char)random_next(&rng);
        if (i % 3 == 0) /* the end is lost */
            j.size = j.frame.bytes = size - random_next(&rng) % (size / 4);
        n_whole += compare_threads(&j, 4) == 0;
        memcpy(j.bytes, whole, size);
        j.size = j.frame.bytes = size;
    }
    assert_in_range(n_whole, 20, 1980);
    free(whole);
    tjFree(j.bytes);
}

#endif

int main(void)
{
#ifdef HAVE_MJPEG
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mjpeg_subsamplings),   cmocka_unit_test(test_mjpeg_damage),
        cmocka_unit_test(test_mjpeg_stray_bytes),    cmocka_unit_test(test_mjpeg_gaps),
        cmocka_unit_test(test_mjpeg_slices),         cmocka_unit_test(test_mjpeg_threads),
        cmocka_unit_test(test_mjpeg_two_headers),    cmocka_unit_test(test_mjpeg_odd_restarts),
        cmocka_unit_test(test_mjpeg_damaged_slices), cmocka_unit_test(test_mjpeg_device),
    };

    return cmocka_run_group_tests_name("mjpeg", tests, NULL, NULL);
#else
    puts("skipped: MJPG is not built into this program");
    return 77;
#endif
}
