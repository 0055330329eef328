/* Near black and white, where the range cuts noise off. */
#include "tests/lib/unit.h"

#include <math.h>

#include "filter/noise.h"

/* @n blocks of @class whose variance goes evenly from @low to @high. */
static void add(struct noise_sums *s, int class, int n, double low, double high)
{
    for (int i = 0; i < n; i++)
        s->blocks[class][noise_bin(low + (high - low) * (i + 0.5) / n)]++;
}

/* @n blocks near black, or near white, and @others with 36 in the darkest class and 60 in the
 * brightest. */
static struct noise_sums picture(int end, int n, double low, double high, int others)
{
    struct noise_sums ret = {0};

    add(&ret, 0, others, 30, 30.1);
    add(&ret, NOISE_CLASSES - 1, others, 50, 50.1);
    add(&ret, end, n, low, high);
    return ret;
}

static void follow(struct noise *n, const struct noise_sums *sums, int times)
{
    for (int i = 0; i < times; i++)
        noise_update(n, sums, n->n_frames == 0 ? NOISE_FIRST : NOISE_NEXT);
}

/* At @from 0 or 255, in deviations of the noise that is not cut off. */
static double at(const struct noise *n, int end, double from)
{
    const double y = from * sqrt(n->variance[noise_beside(end)] / 3.0);

    return noise_variance(n, end == NOISE_NEAR_BLACK ? y : 255.0 - y);
}

/* It is what half of their own blocks have, if there are enough of them, and never more than in the
 * class beside. */
static void test_own_blocks(void **state)
{
    static const struct {
        int n;
        double low, high, want;
    } cases[] = {{100, 2, 14, 8}, {12, 8, 8.01, 8}, {11, 8, 8.01, 0}, {100, 300, 301, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int end = NOISE_NEAR_BLACK; end <= NOISE_NEAR_WHITE; end++) {
            const struct noise_sums sums =
                picture(end, cases[i].n, cases[i].low, cases[i].high, 100);
            const double other = end == NOISE_NEAR_BLACK ? 36 : 60;
            struct noise n;

            noise_init(&n);
            follow(&n, &sums, 2);
            assert_in_range(100 * n.variance[end] / (cases[i].want > 0 ? cases[i].want : other), 95,
                            107);
            assert_in_range(100 * n.variance[noise_beside(end)] / other, 95, 107);
        }
}

/* As far away as noise is cut off, and no further: what is dark but not black has all of it. What
 * is between has no less than is left of a normal distribution, however little all that is quite
 * black has. */
static void test_how_far(void **state)
{
    (void)state;
    for (int end = NOISE_NEAR_BLACK; end <= NOISE_NEAR_WHITE; end++)
        for (int blacker = 0; blacker < 2; blacker++) {
            const double low = blacker ? 1.5 : 16, other = end == NOISE_NEAR_BLACK ? 36 : 60;
            const struct noise_sums sums = picture(end, 100, low, low + 0.01, 100);
            struct noise n;

            noise_init(&n);
            follow(&n, &sums, 2);
            assert_in_range(100 * at(&n, end, -0.1) / low, 93, 107);
            assert_in_range(100 * at(&n, end, 0.0) / low, 93, 107);
            assert_in_range(100 * at(&n, end, 0.4) / fmax(low, 0.34 * other), 93, 107);
            assert_in_range(100 * at(&n, end, 1.08) / other, 60, 82);
            for (double from = 1.51; from < 9.0; from += 0.5)
                assert_true(at(&n, end, from) > 0.9 * 36);
        }
}

/* Light changes what is cut off: that is followed, also where few other blocks tell anything. */
static void test_is_followed(void **state)
{
    (void)state;
    for (int others = 30; others <= 300; others *= 10)
        for (int end = NOISE_NEAR_BLACK; end <= NOISE_NEAR_WHITE; end++) {
            const struct noise_sums black = picture(end, 600, 8, 8.01, others);
            const struct noise_sums lifted = picture(end, 600, 15, 15.01, others);
            struct noise n;

            noise_init(&n);
            follow(&n, &black, 2);
            follow(&n, &lifted, 5);
            assert_in_range(10 * n.variance[end], 85, 95); /* 3 % a picture */
            follow(&n, &lifted, 20);
            assert_in_range(10 * n.variance[end], 143, 157);
            follow(&n, &black, 20);
            assert_in_range(10 * n.variance[end], 79, 86);
        }
}

/* A picture that is dark throughout tells what is near black, and nothing of the other classes; of
 * these the next bright one does, and then near black there is no more than they have. */
static void test_dark_picture(void **state)
{
    const struct noise_sums person = picture(NOISE_NEAR_BLACK, 600, 8, 8.01, 100);
    const struct noise_sums dark = picture(NOISE_NEAR_BLACK, 700, 45, 45.01, 0);
    struct noise n;
    double white;

    (void)state;
    noise_init(&n);
    follow(&n, &person, 10);
    white = n.variance[NOISE_NEAR_WHITE];
    follow(&n, &dark, 12); /* far more noise is known after ten pictures */
    assert_in_range(n.variance[NOISE_NEAR_BLACK], 43, 47);
    assert_in_range(n.variance[0], 34, 39);
    assert_in_range(n.variance[NOISE_CLASSES - 1], 57, 64);
    assert_true(n.variance[NOISE_NEAR_WHITE] == white);
    follow(&n, &person, 1);
    assert_in_range(n.variance[NOISE_NEAR_BLACK], 34, 39);
    follow(&n, &person, 20);
    assert_in_range(n.variance[NOISE_NEAR_BLACK], 8, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_blocks),
        cmocka_unit_test(test_how_far),
        cmocka_unit_test(test_is_followed),
        cmocka_unit_test(test_dark_picture),
    };

    return cmocka_run_group_tests_name("noise-cut-off", tests, NULL, NULL);
}
