/* The noise of the `test:` source: white in space, time and colour, of the right strength, and a
 * function of seed, frame number and place alone. All numbers are of fixed seeds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "source/pattern_noise.h"
#include "tests/lib/unit.h"

#define WIDTH NOISE_RUN
#define HEIGHT 256
#define N_FRAMES 64
#define LEVEL 128

struct picture {
    double v[HEIGHT][WIDTH];
};

static struct pattern_noise *noise_of(int level, uint32_t seed)
{
    struct pattern_noise *p = malloc(sizeof(*p));

    assert_non_null(p);
    pattern_noise_init(p, level, seed);
    return p;
}

static struct picture *zeros(void)
{
    struct picture *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    return p;
}

/* Adds to @sum what frame @seq adds to an even picture of @level. */
static void sum_noise(struct picture *sum, const struct pattern_noise *p, uint64_t seq,
                      int component, int level)
{
    uint8_t row[WIDTH];

    for (int y = 0; y < HEIGHT; y++) {
        memset(row, level, sizeof(row));
        pattern_noise_add(p, seq, 0, y, component, row, WIDTH);
        for (int x = 0; x < WIDTH; x++)
            sum->v[y][x] += row[x] - level;
    }
}

/* The correlation of @a with @b shifted by (@dx, @dy). */
static double correlation(const struct picture *a, const struct picture *b, int dx, int dy)
{
    double ab = 0.0, aa = 0.0, bb = 0.0;

    for (int y = 0; y < HEIGHT - dy; y++)
        for (int x = dx < 0 ? -dx : 0; x < WIDTH - (dx > 0 ? dx : 0); x++) {
            ab += a->v[y][x] * b->v[y + dy][x + dx];
            aa += a->v[y][x] * a->v[y][x];
            bb += b->v[y + dy][x + dx] * b->v[y + dy][x + dx];
        }
    return ab / sqrt(aa * bb);
}

static double variance(const struct picture *p)
{
    double sum = 0.0;

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            sum += p->v[y][x] * p->v[y][x];
    return sum / (WIDTH * HEIGHT);
}

static void expect_no_neighbours(const struct picture *p)
{
    static const int shifts[][2] = {{1, 0}, {2, 0}, {3, 0},  {8, 0}, {16, 0}, {0, 1}, {0, 2},
                                    {0, 8}, {1, 1}, {-1, 1}, {2, 1}, {-3, 2}, {8, 8}};

    for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
        const double r = correlation(p, p, shifts[i][0], shifts[i][1]);

        if (fabs(r) > 0.015)
            fail_msg("(%d, %d) away: %.4f", shifts[i][0], shifts[i][1], r);
    }
}

/* sigma = noise * (0.7 + 0.6 * v / 255), where nothing is cut off; rounding adds 1/12. */
static void test_strength_by_level(void **state)
{
    static const int noise[] = {1, 4, 8, 16}, levels[] = {80, 110, 128, 150, 175};

    (void)state;
    for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
        for (size_t j = 0; j < sizeof(levels) / sizeof(levels[0]); j++) {
            struct pattern_noise *p = noise_of(noise[i], 1);
            struct picture *f = zeros();
            const double sigma = noise[i] * (0.7 + 0.6 * levels[j] / 255.0);
            double is;

            sum_noise(f, p, 3, 0, levels[j]);
            is = sqrt(variance(f) - 1.0 / 12.0);
            if (fabs(is / sigma - 1.0) > 0.015)
                fail_msg("noise=%d at %d: sigma %.3f, not %.3f", noise[i], levels[j], is, sigma);
            free(f);
            free(p);
        }
}

static void test_white_in_each_frame(void **state)
{
    struct pattern_noise *p = noise_of(8, 1);

    (void)state;
    for (uint64_t seq = 0; seq < 4; seq++) {
        struct picture *f = zeros();

        sum_noise(f, p, seq, 0, LEVEL);
        expect_no_neighbours(f);
        free(f);
    }
    free(p);
}

/* Frames, components, seeds, and either with a small shift, as a search for motion tries it. */
static void test_nothing_twice(void **state)
{
    struct pattern_noise *p = noise_of(8, 1), *other = noise_of(8, 2);
    const struct {
        const struct pattern_noise *p;
        uint64_t seq;
        int component;
    } others[] = {{p, 11, 0}, {p, 12, 0}, {p, 42, 0},     {p, 1ULL << 32, 0}, {p, 10, 1},
                  {p, 10, 2}, {p, 11, 1}, {other, 10, 0}, {other, 11, 0}};
    struct picture *f = zeros();

    (void)state;
    sum_noise(f, p, 10, 0, LEVEL);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct picture *g = zeros();

        sum_noise(g, others[i].p, others[i].seq, others[i].component, LEVEL);
        for (int dy = 0; dy < 3; dy++)
            for (int dx = -2; dx < 3; dx++)
                if (fabs(correlation(f, g, dx, dy)) > 0.015)
                    fail_msg("%zu, (%d, %d) away: %.4f", i, dx, dy, correlation(f, g, dx, dy));
        free(g);
    }
    free(f);
    free(other);
    free(p);
}

/* A mean over frames leaves what noise leaves: as much less as there are frames, and white. A
 * field that was not turned by chance would leave its own mean everywhere. */
static void test_mean_over_frames(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 8; seed++) {
        struct pattern_noise *p = noise_of(8, seed);
        struct picture *one = zeros(), *sum = zeros();
        double left, mean = 0.0;

        sum_noise(one, p, 0, 0, LEVEL);
        for (uint64_t seq = 0; seq < N_FRAMES; seq++)
            sum_noise(sum, p, seq, 0, LEVEL);
        left = variance(sum) / variance(one) / N_FRAMES;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                mean += sum->v[y][x] / N_FRAMES / (WIDTH * HEIGHT);
        if (fabs(left - 1.0) > 0.02 || fabs(mean) > 0.01)
            fail_msg("seed %u: %.4f of what should be left, mean %.4f", seed, left, mean);
        expect_no_neighbours(sum);
        free(sum);
        free(one);
        free(p);
    }
}

/* The values differ in every run of a row, and do not depend on what was asked before. */
static void test_a_function_of_the_place(void **state)
{
    struct pattern_noise *p = noise_of(8, 7), *again = noise_of(8, 7);
    uint8_t a[NOISE_RUN], b[NOISE_RUN], c[NOISE_RUN];

    (void)state;
    memset(a, LEVEL, sizeof(a));
    memset(b, LEVEL, sizeof(b));
    memset(c, LEVEL, sizeof(c));
    pattern_noise_add(p, 5, NOISE_RUN, 9, 2, a, NOISE_RUN);
    pattern_noise_add(again, 4, 0, 9, 2, b, NOISE_RUN);
    memset(b, LEVEL, sizeof(b));
    pattern_noise_add(again, 5, NOISE_RUN, 9, 2, b, 100);
    pattern_noise_add(p, 5, 2 * NOISE_RUN, 9, 2, c, NOISE_RUN);
    assert_memory_equal(a, b, 100);
    assert_memory_not_equal(a, c, sizeof(a));
    assert_int_equal(b[100], LEVEL);
    free(again);
    free(p);
}

/* Values stay within a byte at the strongest noise: what goes beyond is cut off. */
static void test_ends_of_the_range(void **state)
{
    struct pattern_noise *p = noise_of(NOISE_MAX, 1);

    (void)state;
    for (int end = 0; end < 256; end += 255) {
        int n_cut = 0;

        for (int y = 0; y < HEIGHT; y++) {
            uint8_t row[NOISE_RUN];

            memset(row, end, sizeof(row));
            pattern_noise_add(p, 0, 0, y, 0, row, NOISE_RUN);
            for (int x = 0; x < NOISE_RUN; x++) {
                assert_true(abs(row[x] - end) <= 226); /* 3.45 * 50 * 1.3, and rounding */
                n_cut += row[x] == end;
            }
        }
        assert_true(n_cut > NOISE_RUN * HEIGHT * 0.49 && n_cut < NOISE_RUN * HEIGHT * 0.53);
    }
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strength_by_level),       cmocka_unit_test(test_white_in_each_frame),
        cmocka_unit_test(test_nothing_twice),           cmocka_unit_test(test_mean_over_frames),
        cmocka_unit_test(test_a_function_of_the_place), cmocka_unit_test(test_ends_of_the_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
