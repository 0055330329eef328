/* From the votes of blocks to how the light changes its colour. The votes here are made by
 * formulas: what pictures give is in tests/engine/time/test_average_light.c. */
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "filter/noise.h"
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
                    assert_true(fabs(bin_of(y, c, h, t) + 0.5 - TINT_BINS / 2 -
                                     t * TINT_BINS_PER_ONE) <= 0.6);
    assert_int_equal(bin_of(100.0, 0.0, 0.0, 9.0), TINT_BINS - 1);
    assert_int_equal(bin_of(100.0, 0.0, 0.0, -9.0), 0);
    assert_int_equal(bin_of(16.0, 112.0, -0.875, 0.0), TINT_BINS / 2);
    assert_int_equal(tint_bin(1, -65280, -65280, 65280), 0); /* the largest numbers */
}

/* What is blacker than black has none. */
static void test_n_votes(void **state)
{
    (void)state;
    assert_int_equal(tint_n_votes(230 * 256 + 255, 256), 230);
    assert_int_equal(tint_n_votes(255, 256), 0);
    assert_int_equal(tint_n_votes(0, 256), 0);
    assert_int_equal(tint_n_votes(-5 * 256, 256), 0);
}

/* As much between the pictures as the known noise, or four times as much, is no more than noise and
 * what light makes of a block. */
static void test_alike(void **state)
{
    (void)state;
    assert_true(tint_is_alike(0, 0));
    assert_true(tint_is_alike(noise_bin(12.0), noise_bin(3.0)));
    assert_false(tint_is_alike(noise_bin(13.0), noise_bin(3.0)));
}

/* What moves has no say as long as it is less than an eighth. */
static void test_median(void **state)
{
    struct tint_sums s = {0};

    (void)state;
    add(&s, 10000, 0.08, -0.05);
    check(tint_find(&s), 0.08, -0.05);
    add(&s, 1400, -0.3, 0.3);
    check(tint_find(&s), 0.08, -0.05);
}

/* Where a sixth of the votes are from what has no part in the light, there is none for the whole
 * picture. */
static void test_part(void **state)
{
    (void)state;
    for (uint32_t others = 2000; others < 10000; others += 500) {
        struct tint_sums s = {0};

        add(&s, 10000, 0.08, -0.05);
        add(&s, others, 0.0, 0.0);
        assert_true(tint_find(&s).u == 0.0 && tint_find(&s).v == 0.0);
    }
}

/* Votes that lie around t as those of noise do, @by apart: three quarters of them within 0.3 by. */
static struct tint_sums noisy(double u, double v, double by)
{
    struct tint_sums s = {0};

    for (int i = -100; i <= 100; i++)
        add(&s, 100, u + by * i / 500.0, v + by * (i * 37 % 101) / 500.0);
    return s;
}

/* Between bins, and only where the votes are nearer to each other than to 0. */
static void test_noise(void **state)
{
    const struct tint_sums less = noisy(0.05, -0.05, 0.15), more = noisy(0.05, -0.05, 0.3);
    const struct tint_sums alone = noisy(0.001, 0.0, 0.1);

    (void)state;
    assert_true(fabs(tint_find(&less).u - 0.05) < 0.2 / TINT_BINS_PER_ONE);
    check(tint_find(&less), 0.05, -0.05);
    assert_true(tint_find(&more).u == 0.0 && tint_find(&more).v == 0.0);
    assert_true(tint_find(&alone).u == 0.0 && tint_find(&alone).v == 0.0);
}

/* Nor is there a t where nobody votes, or where nothing changes. */
static void test_none(void **state)
{
    struct tint_sums s = {0}, still = {0};

    (void)state;
    assert_true(tint_find(&s).u == 0.0 && tint_find(&s).v == 0.0);
    s.all = 10000;
    assert_true(tint_find(&s).u == 0.0 && tint_find(&s).v == 0.0);
    add(&still, 10000, 0.0, 0.0);
    assert_true(tint_find(&still).u == 0.0 && tint_find(&still).v == 0.0);
}

/* Of few blocks all votes may be near each other by chance. */
static void test_few(void **state)
{
    struct tint_sums s = {0};

    (void)state;
    add(&s, 4095, 0.1, 0.1);
    assert_true(tint_find(&s).u == 0.0 && tint_find(&s).v == 0.0);
    add(&s, 1, 0.1, 0.1);
    check(tint_find(&s), 0.1, 0.1);
}

/* After a cut most blocks are not alike. */
static void test_cut(void **state)
{
    struct tint_sums s = {0};

    (void)state;
    add(&s, 7000, 0.1, 0.1);
    s.all = 8000;
    check(tint_find(&s), 0.1, 0.1);
    s.all = 8001;
    assert_true(tint_find(&s).u == 0.0 && tint_find(&s).v == 0.0);
}

/* Where vectors lead elsewhere, both measures differ. */
static void test_measures_that_differ(void **state)
{
    struct tint_sums s = {0}, other = {0};

    (void)state;
    add(&s, 10000, 0.1, 0.0);
    add(&other, 10000, 0.1, 0.1);
    for (int i = 0; i < TINT_BINS; i++)
        s.votes[TINT_IN_PLACE][1][i] = other.votes[TINT_IN_PLACE][1][i];
    assert_true(tint_find(&s).u == 0.0 && tint_find(&s).v == 0.0);
    s = other = (struct tint_sums){0};
    add(&s, 10000, 0.1, 0.0);
    add(&other, 10000, 0.1, 0.02);
    for (int i = 0; i < TINT_BINS; i++)
        s.votes[TINT_IN_PLACE][1][i] = other.votes[TINT_IN_PLACE][1][i];
    check(tint_find(&s), 0.1, 0.0);
}

/* Either of them has to be clear. */
static void test_measures_that_spread(void **state)
{
    const struct tint_sums clear = noisy(0.05, -0.05, 0.15), spread = noisy(0.05, -0.05, 0.3);

    (void)state;
    for (int m = 0; m < TINT_MEASURES; m++) {
        struct tint_sums s = clear;

        memcpy(s.votes[m], spread.votes[m], sizeof(s.votes[m]));
        assert_true(tint_find(&s).u == 0.0 && tint_find(&s).v == 0.0);
    }
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
        cmocka_unit_test(test_n_votes),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_part),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_measures_that_differ),
        cmocka_unit_test(test_measures_that_spread),
        cmocka_unit_test(test_sum),
    };

    return cmocka_run_group_tests_name("tint", tests, NULL, NULL);
}
