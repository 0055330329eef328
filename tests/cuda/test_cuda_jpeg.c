/* JPEGs decoded on the GPU are as those decoded on the CPU, whatever is wrong with them, and as
 * engines come and go. */
#include "tests/lib/unit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "picture/convert.h"
#include "tests/lib/images.h"
#include "tests/lib/jpegs.h"

static atomic_int n_by_gpu;

static bool gpu_ready(void)
{
    return engine_cuda.jpegs->ready();
}

static int gpu_decode(const uint8_t *jpeg, size_t size, const struct jpeg_planes *to)
{
    const int r = engine_cuda.jpegs->decode(jpeg, size, to);

    n_by_gpu += r == 0;
    return r;
}

static const struct jpeg_device gpu = {.ready = gpu_ready, .decode = gpu_decode};

static struct engine *create(void)
{
    const struct engine_config config = {0};
    struct engine *e = NULL;
    struct error err;

    assert_int_equal(engine_cuda.create(&e, &config, &err), 0);
    return e;
}

static struct frame make(const struct jpeg *j)
{
    struct frame f = {.format = FRAME_I422, .width = j->frame.width, .height = j->frame.height};

    assert_int_equal(frame_alloc(&f), 0);
    return f;
}

static int decode(const struct jpeg *j, struct frame *to, const struct jpeg_device *device)
{
    struct mjpeg *m = NULL;
    struct error err;
    int r;

    assert_int_equal(mjpeg_create(&m, 1, device), 0);
    r = mjpeg_decode(m, &j->frame, to, &err);
    mjpeg_destroy(m);
    return r;
}

/* Whether it can be decoded; @same: to the same samples. */
static bool compare(const struct jpeg *j, bool same)
{
    struct frame on_gpu = make(j), on_cpu = make(j);
    const int r = decode(j, &on_cpu, NULL);

    assert_int_equal(decode(j, &on_gpu, &gpu), r);
    if (r == 0 && same)
        assert_in_range(frame_difference(&on_gpu, &on_cpu).max, 0, 1);
    frame_free(&on_gpu);
    frame_free(&on_cpu);
    return r == 0;
}

static void test_cuda_jpeg_equal(void **state)
{
    static const int kinds[] = {TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_440, TJSAMP_411};
    static const int sizes[][2] = {{16, 8},    {64, 48},    {66, 53},
                                   {320, 240}, {1280, 720}, {1918, 1079}};
    static const char *const restarts[] = {NULL, "1", "3B"};
    struct engine *e = create();
    int n = 0;

    (void)state;
    n_by_gpu = 0;
    for (int kind = 0; kind < 5; kind++)
        for (int size = 0; size < 6; size++)
            for (int k = 0; k < 6; k++, n += 3) {
                struct jpeg j = jpeg_encode_noisy(sizes[size][0], sizes[size][1], kinds[kind],
                                                  restarts[k / 2], 60 * (k % 2));

                assert_true(compare(&j, true));
                jpeg_leave_tables_out(&j);
                assert_true(compare(&j, true));
                jpeg_insert(&j, j.size - 2, "\xff\xfe\0\4ab", 6);
                assert_true(compare(&j, true));
                tjFree(j.bytes);
            }
    print_message("%d of %d by the GPU\n", (int)n_by_gpu, n);
    assert_in_range(n_by_gpu, n / 2, n);
    engine_cuda.destroy(e);
}

static void test_cuda_jpeg_damaged(void **state)
{
    struct jpeg j[] = {jpeg_encode_noisy(640, 360, TJSAMP_422, NULL, 30),
                       jpeg_encode_noisy(640, 360, TJSAMP_420, "1", 30)};
    struct engine *e = create();
    uint64_t rng = 9;
    int n_good = 0;

    (void)state;
    n_by_gpu = 0;
    for (int i = 0; i < 1500; i++) {
        struct jpeg k = j[i % 2];
        const size_t n = 1 + random_next(&rng) % 40,
                     at = 700 + random_next(&rng) % (k.size - 700 - n);

        k.bytes = k.frame.plane[0] = malloc(k.size + n);
        assert_non_null(k.bytes);
        memcpy(k.bytes, j[i % 2].bytes, k.size);
        if (i % 8 < 2) { /* some are lost */
            k.frame.bytes = k.size - n;
            memmove(k.bytes + at, k.bytes + at + n, k.size - at - n);
        } else if (i % 8 < 4) { /* stray bytes before a marker */
            size_t end = at;

            while (k.bytes[end] != 0xff || !k.bytes[end + 1])
                end++;
            k.frame.bytes = k.size + n;
            memmove(k.bytes + end + n, k.bytes + end, k.size - end);
            memset(k.bytes + end, (int)(random_next(&rng) % 255), n);
        } else if (i % 8 < 6) { /* the end is lost */
            k.frame.bytes = at;
        } else {
            for (size_t b = 0; b < n; b++)
                k.bytes[at + b] = (unsigned char)random_next(&rng);
        }
        /* Wrong bits that can be decoded mean nothing. */
        n_good += compare(&k, i % 8 >= 2 && i % 8 < 6);
        free(k.bytes);
    }
    print_message("%d of 1500 can be decoded, %d by the GPU\n", n_good, (int)n_by_gpu);
    assert_in_range(n_good, 100, 1400);
    tjFree(j[0].bytes);
    tjFree(j[1].bytes);
    engine_cuda.destroy(e);
}

struct decoding {
    struct jpeg jpeg;
    atomic_bool stop;
    int n, n_wrong;
};

static void *decode_on(void *arg)
{
    struct decoding *d = arg;
    struct frame now = make(&d->jpeg), first = make(&d->jpeg);

    d->n_wrong = decode(&d->jpeg, &first, NULL) != 0;
    for (; !d->stop; d->n++)
        d->n_wrong += decode(&d->jpeg, &now, &gpu) || frame_difference(&now, &first).max > 1;
    frame_free(&now);
    frame_free(&first);
    return NULL;
}

/* The decoder is there while an engine is, also where both are in use. */
static void test_cuda_jpeg_engines(void **state)
{
    struct decoding d = {.jpeg = jpeg_encode(640, 360, TJSAMP_422, NULL)};
    pthread_t thread;

    (void)state;
    assert_false(gpu.ready());
    assert_int_equal(pthread_create(&thread, NULL, decode_on, &d), 0);
    for (int i = 0; i < 10; i++) {
        const int64_t t_limit_ns = now_ns() + 20 * NS_PER_S;
        struct engine *e = create();

        n_by_gpu = 0;
        while (n_by_gpu < 5)
            assert_true(gpu.ready() && now_ns() < t_limit_ns);
        engine_release(e);
        assert_false(gpu.ready());
    }
    d.stop = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(d.n_wrong, 0);
    assert_true(d.n > 50);
    tjFree(d.jpeg.bytes);
}

static const char *missing(void)
{
    static const char *const names[] = {"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so.11"};
    struct error err;
    char device[128];

    if (engine_cuda.probe("", device, sizeof(device), &err))
        return "no GPU";
    for (int i = 0; i < 3; i++)
        if (dlopen(names[i], RTLD_LAZY))
            return NULL;
    return "no nvJPEG";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_jpeg_equal),
        cmocka_unit_test(test_cuda_jpeg_damaged),
        cmocka_unit_test(test_cuda_jpeg_engines),
    };
    const char *const without = missing();

    if (without) {
        printf("skipped: %s here\n", without);
        return 77;
    }
    return cmocka_run_group_tests_name("cuda jpeg", tests, NULL, NULL);
}
