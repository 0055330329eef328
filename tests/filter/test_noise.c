/* From counted blocks to how much noise there is. The blocks here are made by formulas: what
 * pictures give is in tests/engine/time/test_noise_blocks.c. */
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "filter/noise.h"

/* @n blocks of @class whose variance goes evenly from @low to @high. */
static void add(struct noise_sums *s, int class, int n, double low, double high)
{
    for (int i = 0; i < n; i++)
        s->blocks[class][noise_bin(low + (high - low) * (i + 0.5) / n)]++;
}

/* Means leave @share of what is quiet, and a part of that in each pair of components. */
static void leave(struct noise_sums *s, double share)
{
    s->moved = 1000000;
    s->left = (int64_t)(share * NOISE_MEANS * 1e6);
    for (int i = 0; i < NOISE_PAIRS; i++)
        s->covariance[i] = (i + 1) * s->left / 10;
}

static void test_bins(void **state)
{
    int last = 0;

    (void)state;
    assert_int_equal(noise_bin(0.0), 0);
    assert_int_equal(noise_bin(-1.0), 0);
    assert_int_equal(noise_bin(1e-9), 0);
    assert_int_equal(noise_bin(1e9), NOISE_BINS - 1);
    assert_int_equal(noise_bin(1.0), 16 * -NOISE_LOWEST);
    assert_int_equal(noise_bin(2.0), 16 * (1 - NOISE_LOWEST));
    for (double v = 0.02; v < 1e4; v *= 1.03) { /* bins are 4 to 6 % wide */
        assert_in_range(noise_bin(v) - last, 0, v < 0.021 ? NOISE_BINS : 1);
        last = noise_bin(v);
    }
}

/* The low end of the blocks counts, whatever the others are. */
static void test_true_variance(void **state)
{
    (void)state;
    for (double sigma = 1.0; sigma <= 20.0; sigma *= 1.5) {
        const double variance = 3.0 * sigma * sigma;
        struct noise_sums sums = {0};
        struct noise n;

        noise_init(&n);
        for (int c = 0; c < NOISE_CLASSES; c++) {
            add(&sums, c, 100, 0.8 * variance, 1.2 * variance);
            add(&sums, c, 50, 10.0 * variance, 100.0 * variance); /* texture, motion */
        }
        leave(&sums, 0.2);
        for (int i = 0; i < 2; i++)
            noise_update(&n, &sums, i == 0 ? NOISE_FIRST : NOISE_NEXT);
        for (int y = 0; y < 256; y++)
            assert_in_range(1000 * noise_variance(&n, y) / variance, 950, 1100);
        assert_in_range(1000 * noise_sigma(&n) / sigma, 970, 1050);
        assert_in_range(1000 * n.share, 195, 205);
    }
}

/* Brightness by brightness; a class that the picture lacks is like its nearest. */
static void test_classes(void **state)
{
    struct noise_sums sums = {0};
    struct noise n;

    (void)state;
    noise_init(&n);
    add(&sums, 2, 40, 10, 10.01);
    add(&sums, 5, 40, 40, 40.01);
    add(&sums, 6, 11, 500, 500.01); /* too few */
    for (int i = 0; i < 2; i++)
        noise_update(&n, &sums, i == 0 ? NOISE_FIRST : NOISE_NEXT);
    for (int c = 0; c < NOISE_CLASSES; c++)
        assert_in_range(100 * n.variance[c] / (c <= 3 ? 12 : 48), 95, 107);
    /* Between the middles of two classes it goes in a straight line. */
    assert_in_range(100 * noise_variance(&n, 128.0) / 30.0, 95, 107);
}

/* The first picture cannot tell texture from noise, the second can: from then on the estimate is
 * right, and what moves does not drive it up. */
static void test_settles_on_the_second_picture(void **state)
{
    struct noise_sums texture = {0}, noise = {0}, moving = {0};
    struct noise n;

    (void)state;
    noise_init(&n);
    add(&texture, 3, 100, 900, 901);
    add(&noise, 3, 100, 30, 30.1);
    add(&moving, 3, 100, 300, 301);
    noise_update(&n, &texture, NOISE_FIRST);
    assert_in_range(noise_variance(&n, 112), 199, 200); /* capped */
    noise_update(&n, &noise, NOISE_NEXT);
    assert_in_range(100 * noise_variance(&n, 112) / 36, 95, 107);
    for (int i = 0; i < 8; i++)
        noise_update(&n, &moving, NOISE_NEXT);
    assert_in_range(100 * noise_variance(&n, 112) / 36, 95, 135); /* 3 % a picture */
    for (int i = 0; i < 20; i++)
        noise_update(&n, &noise, NOISE_NEXT);
    assert_in_range(100 * noise_variance(&n, 112) / 36, 95, 107);
}

/* Black, blown out, too small: never nothing, never infinite, and nothing after a good picture. */
static void test_odd_pictures(void **state)
{
    struct noise_sums none = {0}, dark = {0}, bright = {0};
    struct noise n;

    (void)state;
    noise_init(&n);
    for (int i = 0; i < 3; i++)
        noise_update(&n, &none, i == 0 ? NOISE_FIRST : NOISE_NEXT);
    assert_in_range(noise_variance(&n, 100), 1, 1000);
    assert_int_equal(n.n_frames, 0); /* the first that can be measured is still to come */

    add(&dark, NOISE_NEAR_BLACK, 100, 5, 5.01);
    for (int i = 0; i < 2; i++)
        noise_update(&n, &dark, i == 0 ? NOISE_FIRST : NOISE_NEXT);
    assert_in_range(100 * noise_variance(&n, 0) / 5, 95, 107);
    assert_in_range(100 * noise_variance(&n, 140) / 6, 95, 107);

    add(&bright, 4, 100, 40, 40.1); /* a lamp is switched on, and off again */
    for (int i = 0; i < 10; i++)
        noise_update(&n, &bright, NOISE_NEXT);
    for (int i = 0; i < 200; i++)
        noise_update(&n, i % 2 ? &dark : &none, NOISE_NEXT);
    assert_in_range(100 * noise_variance(&n, 140) / 48, 95, 107);
}

/* What is drawn has no noise. Drawn parts of a camera's picture tell nothing of the rest. */
static void test_drawn_pictures(void **state)
{
    struct noise_sums part = {0}, drawn = {0};
    struct noise n;

    (void)state;
    noise_init(&n);
    assert_true(noise_sigma(&n) == 0.0); /* not measured */
    add(&part, 3, 100, 30, 30.1);
    add(&part, 3, 80, 0, 0);
    leave(&part, 0.2);
    for (int i = 0; i < 3; i++)
        noise_update(&n, &part, i == 0 ? NOISE_FIRST : NOISE_NEXT);
    assert_in_range(100 * noise_variance(&n, 112) / 36, 95, 107);
    assert_in_range(1000 * n.share, 195, 205);

    add(&drawn, 3, 100, 30, 300); /* a pointer that moves */
    add(&drawn, 3, 320, 0, 0);
    leave(&drawn, 0.3);
    noise_init(&n);
    for (int i = 0; i < 3; i++)
        noise_update(&n, &drawn, i == 0 ? NOISE_FIRST : NOISE_NEXT);
    assert_true(n.share == 0.14 && n.left.yy == 0.0);
    assert_true(noise_sigma(&n) == 0.0);
    assert_true(noise_variance(&n, 112) == 1.0);
    for (int i = 0; i < 10; i++)
        noise_update(&n, &part, NOISE_NEXT); /* a camera comes on */
    assert_in_range(100 * noise_variance(&n, 112) / 36, 95, 107);
}

/* A camera beside what a program draws has two thirds of its picture without noise. A first picture
 * like that may be texture on a page, and what looks like much noise, text that is scrolled. */
static void test_much_drawn(void **state)
{
    static const double variances[] = {30.0, 500.0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct noise_sums sums = {0};
        struct noise n;

        noise_init(&n);
        add(&sums, 3, 100, variances[i], 1.01 * variances[i]);
        add(&sums, 3, 200, 0, 0);
        noise_update(&n, &sums, NOISE_FIRST);
        assert_true(noise_sigma(&n) == 0.0);
        for (int k = 0; k < 3; k++)
            noise_update(&n, &sums, NOISE_NEXT);
        if (i == 0)
            assert_in_range(100 * noise_variance(&n, 112) / 36, 95, 107);
        else
            assert_true(noise_sigma(&n) == 0.0);
    }
}

/* A pattern of which means have nothing is no noise; a share of 0 would divide by 0. */
static void test_least_share(void **state)
{
    struct noise_sums sums = {0};
    struct noise n;

    (void)state;
    noise_init(&n);
    add(&sums, 3, 100, 30, 30.1);
    leave(&sums, 0.0);
    for (int i = 0; i < 3; i++)
        noise_update(&n, &sums, i == 0 ? NOISE_FIRST : NOISE_NEXT);
    assert_in_range(1000 * n.share, 70, 71);
}

/* After a break the noise stays known: texture in the first picture does not raise it. */
static void test_breaks(void **state)
{
    struct noise_sums noise = {0}, texture = {0}, less = {0};
    struct noise n;

    (void)state;
    noise_init(&n);
    add(&noise, 3, 100, 30, 30.1);
    add(&texture, 3, 100, 900, 901);
    add(&less, 3, 100, 10, 10.1);
    for (int i = 0; i < 2; i++)
        noise_update(&n, &noise, i == 0 ? NOISE_FIRST : NOISE_NEXT);
    for (int i = 0; i < 20; i++)
        noise_update(&n, &texture, NOISE_FIRST);
    assert_in_range(100 * noise_variance(&n, 112) / 36, 95, 107);
    noise_update(&n, &less, NOISE_FIRST);
    assert_in_range(100 * noise_variance(&n, 112) / (36 - 0.15 * 24), 95, 107);
}

/* The estimate after two pictures of 100 blocks in each of @n classes, whose variance goes evenly
 * from 20 to 60; of @n_flat classes so many blocks are flat. */
static double estimate_uneven(int n, int n_flat, uint32_t flat)
{
    struct noise_sums first = {0}, sums = {0};
    struct noise noise;

    for (int c = 0; c < n; c++)
        add(&sums, c, 100, 20.0, 60.0);
    first = sums;
    for (int c = 0; c < n_flat; c++)
        sums.flat[c] = flat;
    noise_init(&noise);
    noise_update(&noise, &first, NOISE_FIRST);
    noise_update(&noise, &sums, NOISE_NEXT);
    for (int c = 0; c < NOISE_CLASSES; c++) /* all alike */
        assert_true(fabs(noise.variance[c] - noise.variance[0]) < 0.01);
    return noise.variance[0];
}

/* Noise that is not alike in all blocks has more than the quietest show; but what is textured or
 * moves looks so, too, so it counts only where enough is flat. */
static void test_uneven(void **state)
{
    (void)state;
    assert_in_range(100 * estimate_uneven(3, 3, 100), 3800, 4300); /* the mean is 40 */
    assert_in_range(100 * estimate_uneven(3, 3, 51), 3800, 4300);
    assert_in_range(100 * estimate_uneven(3, 1, 51), 3800, 4300);
    assert_in_range(100 * estimate_uneven(3, 3, 49), 2600, 2800); /* 1.2 times the quantile */
    assert_in_range(100 * estimate_uneven(4, 1, 100), 2600, 2800);
    assert_in_range(100 * estimate_uneven(3, 0, 0), 2600, 2800);
}

/* Nothing for white noise, and never more than half. */
static void test_raise(void **state)
{
    (void)state;
    assert_true(noise_raise(0.0) == 1.0);
    assert_true(noise_raise(1.11) == 1.0);
    assert_in_range(100 * noise_raise(1.3), 125, 140);
    assert_true(noise_raise(1.5) == 1.5);
    assert_true(noise_raise(100.0) == 1.5);
}

/* What is compared with nothing is not found to be flat; but texture has variances that are far
 * apart, and noise has not. After a break it is the same. */
static void test_uneven_first(void **state)
{
    static const struct {
        double high, want; /* of variances from 30 on: raised or not */
    } cases[] = {{33, 36}, {60, 1.5 * 38}, {90, 1.5 * 40}, {150, 1.2 * 37}, {600, 1.2 * 64}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct noise_sums sums = {0};
        struct noise n;

        noise_init(&n);
        add(&sums, 3, 1000, 30, cases[i].high);
        noise_update(&n, &sums, NOISE_FIRST);
        assert_in_range(100 * noise_variance(&n, 112) / cases[i].want, 95, 107);
        noise_update(&n, &sums, NOISE_FIRST);
        assert_in_range(100 * noise_variance(&n, 112) / cases[i].want, 95, 107);
    }
}

/* Another light: what stays far above is believed, after longer where it may be motion. */
static void test_rises(void **state)
{
    static const struct {
        enum noise_compared compared;
        int run;
    } cases[] = {{NOISE_NEXT, 10}, {NOISE_AT_MOST, 60}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct noise_sums noise = {0}, more = {0};
        struct noise n;

        noise_init(&n);
        add(&noise, 3, 100, 30, 30.1);
        add(&more, 3, 100, 300, 301);
        for (int i = 0; i < 2; i++)
            noise_update(&n, &noise, i == 0 ? NOISE_FIRST : NOISE_NEXT);
        for (int i = 0; i < 3 * cases[k].run; i++) /* now and then it is as before */
            noise_update(&n, i % cases[k].run ? &more : &noise, cases[k].compared);
        assert_true(noise_variance(&n, 112) < 180);
        for (int i = 0; i < cases[k].run; i++)
            noise_update(&n, &more, cases[k].compared);
        assert_in_range(100 * noise_variance(&n, 112) / 360, 95, 107);
    }
}

/* Text that moves further than is searched for looks like more noise than any camera has. */
static void test_most(void **state)
{
    struct noise_sums sums = {0};
    struct noise n;

    (void)state;
    noise_init(&n);
    add(&sums, 3, 100, 22000, 22010);
    noise_update(&n, &sums, NOISE_FIRST);
    assert_true(noise_variance(&n, 112) == NOISE_FIRST_MOST);
    for (int i = 0; i < 30; i++) {
        noise_update(&n, &sums, NOISE_NEXT);
        assert_true(noise_variance(&n, 112) <= NOISE_MOST);
    }
}

/* What may be motion does not raise the estimate, not even the second picture. */
static void test_only_falls(void **state)
{
    struct noise_sums noise = {0}, moving = {0}, less = {0};
    struct noise n;

    (void)state;
    noise_init(&n);
    add(&noise, 3, 100, 30, 30.1);
    add(&moving, 3, 100, 300, 301);
    add(&less, 3, 100, 10, 10.1);
    noise_update(&n, &noise, NOISE_FIRST);
    for (int i = 0; i < 50; i++)
        noise_update(&n, &moving, NOISE_AT_MOST);
    assert_in_range(100 * noise_variance(&n, 112) / 36, 95, 107);
    for (int i = 0; i < 50; i++)
        noise_update(&n, &less, NOISE_AT_MOST);
    assert_in_range(100 * noise_variance(&n, 112) / 12, 95, 107);
}

/* What means leave: the first picture says nothing, the two after it are believed, and those that
 * follow a tenth each. A picture without quiet blocks changes nothing. */
static void test_left(void **state)
{
    struct noise_sums sums = {0}, other = {0}, none = {0};
    struct noise n;

    (void)state;
    noise_init(&n);
    add(&sums, 3, 100, 30, 30.1);
    other = none = sums;
    leave(&sums, 0.2);
    leave(&other, 0.4);
    noise_update(&n, &sums, NOISE_FIRST);
    assert_true(n.share == 0.14 && n.left.yy == 0.0);
    noise_update(&n, &sums, NOISE_NEXT);
    assert_in_range(1e5 * n.share, 19999, 20001);
    noise_update(&n, &other, NOISE_NEXT);
    assert_in_range(1e5 * n.share, 39999, 40001);
    noise_update(&n, &sums, NOISE_AT_MOST);
    assert_in_range(1e5 * n.share, 37999, 38001);
    noise_update(&n, &none, NOISE_NEXT);
    assert_in_range(1e5 * n.share, 37999, 38001);
    assert_in_range(1e5 * n.left.yy, 3799, 3801);
    assert_in_range(1e5 * n.left.yu, 7599, 7601);
    assert_in_range(1e5 * n.left.yv, 11399, 11401);
    assert_in_range(1e5 * n.left.uu, 15199, 15201);
    assert_in_range(1e5 * n.left.uv, 18999, 19001);
    assert_in_range(1e5 * n.left.vv, 22799, 22801);
    noise_init(&n); /* what was too dark to tell for a while */
    n.n_frames = 50;
    noise_update(&n, &sums, NOISE_NEXT);
    assert_in_range(1e5 * n.share, 19999, 20001);
    assert_in_range(1e5 * n.left.vv, 11999, 12001);
}

static void test_quiet(void **state)
{
    struct noise n;

    (void)state;
    noise_init(&n);
    n.variance[3] = 30.0;
    assert_true(noise_is_quiet(&n, 3, noise_bin(30.0)));
    assert_true(noise_is_quiet(&n, 3, noise_bin(3.0)));
    assert_false(noise_is_quiet(&n, 3, noise_bin(30.0) + 1));
    assert_false(noise_is_quiet(&n, 3, noise_bin(0.0))); /* drawn */
    assert_false(noise_is_quiet(&n, NOISE_NEAR_BLACK, noise_bin(3.0)));
    n.variance[3] = 1e5;
    assert_false(noise_is_quiet(&n, 3, NOISE_BINS - 1)); /* it may be anything */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most),         cmocka_unit_test(test_only_falls),
        cmocka_unit_test(test_bins),         cmocka_unit_test(test_true_variance),
        cmocka_unit_test(test_classes),      cmocka_unit_test(test_settles_on_the_second_picture),
        cmocka_unit_test(test_odd_pictures), cmocka_unit_test(test_drawn_pictures),
        cmocka_unit_test(test_much_drawn),   cmocka_unit_test(test_least_share),
        cmocka_unit_test(test_breaks),       cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_raise),        cmocka_unit_test(test_uneven_first),
        cmocka_unit_test(test_rises),        cmocka_unit_test(test_left),
        cmocka_unit_test(test_quiet),
    };

    return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}
