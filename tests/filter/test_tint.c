/* From the votes of blocks to how the light changes its colour. The votes here are made by
 * formulas: what pictures give is in tests/engine/time/test_average_light.c. */
#include "tests/lib/unit.h"

#include <math.h>

#include "filter/tint.h"

#define PIXELS 65536 /* more than a block has, so that rounding is no matter */

/* A block in light that changes: where it votes. */
static int bin_of(double y, double c, double h, double t)
{
    const double more_y = h * y, more_c = h * c + t * y;

    return tint_bin(llround(PIXELS * y), llround(PIXELS * more_y), llround(PIXELS * c),
                    llround(PIXELS * more_c));
}

/* @n votes for each of U and V, in both measures. */
static void add(struct tint_sums *s, uint32_t n, double u, double v)
{
    const int at[2] = {bin_of(100.0, 0.0, 0.0, u), bin_of(100.0, 0.0, 0.0, v)};

    for (int m = 0; m < TINT_MEASURES; m++)
        for (int i = 0; i < 2; i++)
            s->votes[m][i][at[i]] += n;
    s->all += n;
}

static void check(struct tint t, double u, double v)
{
    assert_true(fabs(t.u - u) <= 1.0 / TINT_BINS_PER_ONE);
    assert_true(fabs(t.v - v) <= 1.0 / TINT_BINS_PER_ONE);
}

/* Whatever the colour of a block, and however much brighter the light gets. */
static void test_bins(void **state)
{
    (void)state;
    for (double t = -0.3; t < 0.3; t += 0.013)
        for (double y = 16.0; y <= 230.0; y += 23.0)
            for (double c = -100.0; c <= 100.0; c += 40.0)
                for (double h = -0.3; h <= 0.3; h += 0.15)
                    assert_true(fabs(tint_at(bin_of(y, c, h, t) + 0.5) - t) <=
                                0.6 / TINT_BINS_PER_ONE);
    assert_int_equal(bin_of(100.0, 0.0, 0.0, 9.0), TINT_BINS - 1);
    assert_int_equal(bin_of(100.0, 0.0, 0.0, -9.0), 0);
    assert_int_equal(bin_of(16.0, 112.0, -0.875, 0.0), TINT_BINS / 2);
    assert_int_equal(tint_bin(1, -65280, -65280, 65280), 0); /* the largest numbers */
}

static void test_dark_and_white(void **state)
{
    (void)state;
    assert_true(tint_is_lit(0, 16 * PIXELS, PIXELS));
    assert_false(tint_is_lit(0, 16 * PIXELS - 1, PIXELS));
    assert_false(tint_is_lit(NOISE_NEAR_WHITE, 230 * PIXELS, PIXELS));
    assert_false(tint_is_lit(NOISE_NEAR_BLACK, 18 * PIXELS, PIXELS));
}

/* What moves, or has a light of its own, has no say as long as it is less than half of it. */
static void test_median(void **state)
{
    struct tint_sums s = {0};

    (void)state;
    add(&s, 100, 0.08, -0.05);
    check(tint_find(&s), 0.08, -0.05);
    add(&s, 49, -0.3, 0.3);
    add(&s, 49, 0.3, 0.0);
    check(tint_find(&s), 0.08, -0.05);
}

/* Between bins, where votes lie around it as those of noise do. */
static void test_between_bins(void **state)
{
    struct tint_sums s = {0};

    (void)state;
    for (int i = -100; i <= 100; i++)
        add(&s, 10, 0.05 + 0.0002 * i, -0.05 + 0.0002 * i);
    assert_true(fabs(tint_find(&s).u - 0.05) < 0.2 / TINT_BINS_PER_ONE);
    assert_true(fabs(tint_find(&s).v + 0.05) < 0.2 / TINT_BINS_PER_ONE);
}

/* One that noise alone gives is none, nor is there one where nobody votes. */
static void test_none(void **state)
{
    struct tint_sums s = {0}, small = {0};

    (void)state;
    check(tint_find(&s), 0.0, 0.0);
    s.all = 1000;
    check(tint_find(&s), 0.0, 0.0);
    add(&small, 50, 0.0, 0.0);
    add(&small, 51, 0.0021, 0.0);
    assert_true(tint_find(&small).u == 0.0 && tint_find(&small).v == 0.0);
    add(&small, 400, 0.005, 0.0);
    assert_true(tint_find(&small).u > 0.0);
}

/* After a cut most blocks are not alike. */
static void test_cut(void **state)
{
    struct tint_sums s = {0};

    (void)state;
    add(&s, 700, 0.1, 0.1);
    s.all = 800;
    check(tint_find(&s), 0.1, 0.1);
    s.all = 801;
    assert_true(tint_find(&s).u == 0.0 && tint_find(&s).v == 0.0);
}

/* Where vectors lead elsewhere, both measures differ. */
static void test_measures_that_differ(void **state)
{
    struct tint_sums s = {0}, other = {0};

    (void)state;
    add(&s, 100, 0.1, 0.0);
    add(&other, 100, 0.1, 0.1);
    for (int i = 0; i < TINT_BINS; i++)
        s.votes[TINT_IN_PLACE][1][i] = other.votes[TINT_IN_PLACE][1][i];
    assert_true(tint_find(&s).u == 0.0 && tint_find(&s).v == 0.0);
    s = other = (struct tint_sums){0};
    add(&s, 100, 0.1, 0.0);
    add(&other, 100, 0.1, 0.02);
    for (int i = 0; i < TINT_BINS; i++)
        s.votes[TINT_IN_PLACE][1][i] = other.votes[TINT_IN_PLACE][1][i];
    check(tint_find(&s), 0.1, 0.0);
}

static void test_sum(void **state)
{
    struct tint_sums s = {0}, more = {0}, all = {0};

    (void)state;
    add(&s, 10, 0.1, 0.0);
    add(&more, 20, -0.1, 0.2);
    add(&all, 10, 0.1, 0.0);
    add(&all, 20, -0.1, 0.2);
    tint_add(&s, &more);
    assert_memory_equal(&s, &all, sizeof(s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bins),
        cmocka_unit_test(test_dark_and_white),
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_between_bins),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_measures_that_differ),
        cmocka_unit_test(test_sum),
    };

    return cmocka_run_group_tests_name("tint", tests, NULL, NULL);
}
