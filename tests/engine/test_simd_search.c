/* The vectors and the sums of noise of the CPU engine are those of the reference, in every set of
 * row kernels and on several threads. */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "engine/simd/cpu.h"
#include "engine/simd/time/noise.h"
#include "engine/simd/time/raw.h"
#include "engine/simd/time/search.h"
#include "tests/lib/images.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* One is wider than what means of vectors are taken over at a time; of the noise of the last one
 * not every block is counted. */
static const int sizes[][2] = {{2, 1},    {16, 16},  {34, 17},  {50, 70},
                               {130, 75}, {2066, 9}, {900, 600}};
#define SMALL_SIZES 6 /* of them, the first */

static const enum frame_format formats[] = {FRAME_YUYV, FRAME_NV12, FRAME_I444, FRAME_GREY};

/* Two pictures, of which the second has moved by parts that differ. */
static void paint(struct frame *a, struct frame *b, enum image_kind kind, uint64_t seed)
{
    const int right = (int)(seed % 45), down = (int)(seed % 37);
    struct frame wide = frame_like(a);

    wide.width += 128; /* chroma has half of it */
    wide.height += 128;
    assert_int_equal(frame_alloc(&wide), 0);
    image_fill(&wide, kind, seed);
    for (int t = 0; t < 2; t++)
        for (int c = 0; c < format_table[a->format].components; c++) {
            const struct samples s = frame_samples(t ? b : a, c), from = frame_samples(&wide, c);

            for (int y = 0; y < s.height; y++)
                for (int x = 0; x < s.width; x++) {
                    const int dx = t ? right - (y / 20 % 3 ? 0 : 9) : 0;
                    const int dy = t ? down : 0;

                    s.base[(size_t)y * s.stride + (size_t)(x * s.step)] =
                        (uint8_t)(from.base[(size_t)(y + 16 + dy) * from.stride +
                                            (size_t)((x + 16 + dx) * from.step)] *
                                      7 / 8 +
                                  random_next(&seed) % 9);
                }
        }
    frame_free(&wide);
}

struct pictures {
    struct frame before, now;         /* as the reference takes them */
    struct frame raw_before, raw_now; /* as the engine keeps them */
    struct pyramid pyramid_before, pyramid_now;
};

/* @seed 0: all white before, and all black now. */
static void make(struct pictures *p, enum frame_format format, const int size[2], uint64_t seed)
{
    p->before = p->now = (struct frame){.format = format, .width = size[0], .height = size[1]};
    assert_int_equal(frame_alloc(&p->before), 0);
    assert_int_equal(frame_alloc(&p->now), 0);
    if (seed) {
        paint(&p->before, &p->now, (enum image_kind)(seed % IMAGE_N_KINDS), seed);
    } else {
        image_fill(&p->before, IMAGE_WHITE, 1);
        image_fill(&p->now, IMAGE_BLACK, 1);
    }
    assert_int_equal(raw_alloc(&p->raw_before, &p->before), 0);
    assert_int_equal(raw_alloc(&p->raw_now, &p->now), 0);
    raw_take(&p->raw_before, &row_kernels_c, &p->before, 0, size[1]);
    raw_take(&p->raw_now, &row_kernels_c, &p->now, 0, size[1]);
    assert_int_equal(pyramid_create(&p->pyramid_before, size[0], size[1]), 0);
    assert_int_equal(pyramid_create(&p->pyramid_now, size[0], size[1]), 0);
    pyramid_build(&p->pyramid_before, &p->before);
    pyramid_build(&p->pyramid_now, &p->now);
}

static void drop(struct pictures *p)
{
    frame_free(&p->before);
    frame_free(&p->now);
    raw_free(&p->raw_before);
    raw_free(&p->raw_now);
    pyramid_finish(&p->pyramid_before);
    pyramid_finish(&p->pyramid_now);
}

/* Three searches, of which the second finds the pyramid of the first, and the third does not. */
static void check_vectors(const struct pictures *p, const struct row_kernels *kernels,
                          const struct motion_vector *want, const struct motion_vector *back)
{
    const size_t n = (size_t)((p->now.width + 7) / 8) * (size_t)((p->now.height + 7) / 8);
    struct workers *workers;
    struct search *s;

    assert_int_equal(workers_create(&workers, "filter", 3), 0);
    assert_int_equal(search_create(&s, &p->now), 0);
    for (int k = 0; k < 3; k++) {
        const bool forth = k % 2 == 0;
        const struct motion_vector *got =
            search_find(s, workers, kernels, forth ? &p->raw_now : &p->raw_before,
                        forth ? &p->raw_before : &p->raw_now);

        assert_memory_equal(got, forth ? want : back, n * sizeof(*got));
        if (k == 1)
            search_skip(s);
    }
    search_destroy(s);
    workers_destroy(workers);
}

static void check_noise(const struct pictures *p, const struct row_kernels *kernels,
                        const struct motion_vector *vectors)
{
    struct noise known;

    noise_init(&known);
    for (int first = 0; first < 3; first++) {
        const struct noise_job job = {.now = &p->raw_now,
                                      .before = first == 0 ? NULL : &p->raw_before,
                                      .vectors = first == 2 ? vectors : NULL,
                                      .known = &known,
                                      .form = noise_form_of(&p->now)};
        struct noise_sums got = {0}, want = {0};

        noise_gather(&want, &known, &p->now, first == 0 ? NULL : &p->before, job.vectors);
        for (int row = 0; row < p->now.height / NOISE_BLOCK; row++)
            kernels->noise(&job, &got, row);
        assert_memory_equal(&got, &want, sizeof(got));
    }
}

/* For the large pictures the address sanitizer takes long: only the set that is used meets them. */
static bool is_met(const struct cpu_row *row, size_t size)
{
#ifdef __SANITIZE_ADDRESS__
    const struct row_kernels *best;

    if (size >= SMALL_SIZES && (cpu_choose_kernels(&best, NULL) || row->kernels != best))
        return false;
#else
    (void)size;
#endif
    return row->supported();
}

static void test_the_same_integers(void **state)
{
    (void)state;
    for (size_t i = 0; i < N(sizes); i++)
        for (size_t k = 0; k < (i < SMALL_SIZES ? 3 * N(formats) : 1); k++) {
            const size_t n = (size_t)((sizes[i][0] + 7) / 8) * (size_t)((sizes[i][1] + 7) / 8);
            struct motion_vector *want = malloc(n * sizeof(*want));
            struct motion_search *m;
            struct pictures p;

            make(&p, formats[k % N(formats)], sizes[i], 17 * k + i + 1);
            assert_int_equal(motion_create(&m, sizes[i][0], sizes[i][1]), 0);
            assert_non_null(want);
            memcpy(want, motion_find(m, &p.pyramid_now, &p.pyramid_before), n * sizeof(*want));
            for (const struct cpu_row *row = cpu_table; row->kernels; row++)
                if (is_met(row, i)) {
                    check_vectors(&p, row->kernels, want,
                                  motion_find(m, &p.pyramid_before, &p.pyramid_now));
                    check_noise(&p, row->kernels, want);
                }
            motion_destroy(m);
            free(want);
            drop(&p);
        }
}

/* The largest sums, which must fit the integers of each set. */
static void test_noise_of_extremes(void **state)
{
    (void)state;
    for (size_t k = 0; k < N(formats); k++) {
        struct pictures p;

        make(&p, formats[k], sizes[SMALL_SIZES - 1], 0);
        for (const struct cpu_row *row = cpu_table; row->kernels; row++)
            if (is_met(row, SMALL_SIZES - 1))
                check_noise(&p, row->kernels, NULL);
        drop(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_integers),
        cmocka_unit_test(test_noise_of_extremes),
    };

    return cmocka_run_group_tests_name("search of the CPU engine", tests, NULL, NULL);
}
