/* Pictures of which few blocks tell the noise (NOISE_FEW). */
#include "tests/lib/unit.h"

#include <string.h>

#include "filter/noise.h"

/* @n blocks of a class with about the same variance. */
static void add(struct noise_sums *s, int class, int n, double variance)
{
    s->blocks[class][noise_bin(variance)] += (uint32_t)n;
}

/* A hundred blocks of a variance, and @others near black. */
static struct noise_sums before_black(double variance, int others)
{
    struct noise_sums ret = {0};

    add(&ret, 3, 100, variance);
    add(&ret, NOISE_NEAR_BLACK, others, 8);
    return ret;
}

/* Where few blocks tell anything the estimate falls as ever, but what is above it, as what moves
 * is, hardly raises it, not even in the second picture. After long it is believed. */
static void test_few(void **state)
{
    const struct noise_sums noise = before_black(30, 301), more = before_black(45, 301);
    struct noise_sums moving = before_black(300, 1);
    struct noise n;

    (void)state;
    moving.blocks[NOISE_NEAR_BLACK][0] = 300; /* without noise, too */
    noise_init(&n);
    noise_update(&n, &noise, NOISE_FIRST);
    for (int i = 0; i < 59; i++) {
        const double before = noise_variance(&n, 112);

        noise_update(&n, &moving, NOISE_NEXT);
        assert_in_range(1e5 * noise_variance(&n, 112) / before, 100100, 100501);
    }
    noise_update(&n, &moving, NOISE_NEXT);
    assert_in_range(100 * noise_variance(&n, 112) / 360, 95, 107);
    for (int i = 0; i < 60; i++)
        noise_update(&n, &noise, NOISE_NEXT);
    assert_in_range(100 * noise_variance(&n, 112) / 36, 95, 107);
    for (int i = 0; i < 200; i++)
        noise_update(&n, &more, NOISE_NEXT);
    assert_in_range(100 * noise_variance(&n, 112) / 54, 95, 107);
}

/* A first picture that came again found no noise. What comes then is known at once, up to a bound.
 */
static void test_few_after_none(void **state)
{
    static const double cases[][2] = {{30, 36}, {300, NOISE_FIRST_MOST}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct noise_sums sums = before_black(cases[i][0], 301);
        struct noise n;

        noise_init(&n);
        noise_update(&n, &sums, NOISE_FIRST);
        memset(n.variance, 0, sizeof(n.variance));
        noise_update(&n, &sums, NOISE_NEXT);
        assert_in_range(100 * noise_variance(&n, 112) / cases[i][1], 95, 107);
    }
}

/* A picture with few such blocks counts for a sixth of another: in whatever order they come, what
 * stays is known, also after there was no noise. */
static void test_few_now_and_then(void **state)
{
    const struct noise_sums few = before_black(300, 301), many = before_black(300, 300);
    const struct noise_sums quiet = before_black(30, 301);
    struct noise n;

    (void)state;
    for (int first = 0; first < 60; first++)
        for (int none = 0; none < 2; none++) {
            noise_init(&n);
            for (int i = 0; i < 3; i++)
                noise_update(&n, &quiet, i == 0 ? NOISE_FIRST : NOISE_NEXT);
            if (none)
                memset(n.variance, 0, sizeof(n.variance));
            for (int i = 0; i < first; i++)
                noise_update(&n, &few, NOISE_NEXT);
            assert_true(noise_variance(&n, 112) < 50);
            for (int i = 0; i < (59 - first) / 6; i++)
                noise_update(&n, &many, NOISE_NEXT);
            assert_true(noise_variance(&n, 112) < 70);
            noise_update(&n, &many, NOISE_NEXT);
            assert_in_range(100 * noise_variance(&n, 112) / 360, 95, 107);
        }
}

/* One block more, and there are enough. */
static void test_not_few(void **state)
{
    const struct noise_sums noise = before_black(30, 300), moving = before_black(300, 300);
    struct noise n;

    (void)state;
    noise_init(&n);
    noise_update(&n, &noise, NOISE_FIRST);
    noise_update(&n, &noise, NOISE_NEXT);
    for (int i = 0; i < 10; i++)
        noise_update(&n, &moving, NOISE_NEXT);
    assert_in_range(100 * noise_variance(&n, 112) / 360, 95, 107);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_not_few),
        cmocka_unit_test(test_few_after_none),
        cmocka_unit_test(test_few_now_and_then),
    };

    return cmocka_run_group_tests_name("noise-few", tests, NULL, NULL);
}
