/* The noise of pictures that come again, to the bit. */
#include "tests/lib/unit.h"

#include "filter/noise.h"

/* @n blocks of class 3 whose variance is @variance. */
static void add(struct noise_sums *s, int n, double variance)
{
    s->blocks[3][noise_bin(variance)] += (uint32_t)n;
}

/* Letters on a page of which a good third is empty. */
static void add_slide(struct noise_sums *s)
{
    add(s, 100, 900);
    s->blocks[NOISE_NEAR_WHITE][0] += 55;
}

/* A first picture that is sent again was drawn; a later one tells nothing. */
static void test_repeated_pictures(void **state)
{
    struct noise_sums sums = {0};
    struct noise n;

    (void)state;
    noise_init(&n);
    add(&sums, 100, 30);
    noise_update(&n, &sums, NOISE_FIRST);
    noise_repeat(&n);
    assert_true(noise_sigma(&n) == 0.0);
    noise_update(&n, &sums, NOISE_NEXT);
    noise_repeat(&n);
    assert_in_range(100 * noise_variance(&n, 112) / 36, 95, 107);
}

/* What was known of a first picture that came several times is known again when there is another;
 * of a still nothing is. */
static void test_first_picture_again(void **state)
{
    static const enum noise_compared cases[] = {NOISE_FIRST, NOISE_AT_MOST, NOISE_NEXT};
    struct noise_sums sums = {0};

    (void)state;
    add(&sums, 100, 30);
    for (int again = 1; again <= 2 * NOISE_STILL; again++)
        for (int i = 0; i < 3; i++) {
            const bool known = again < NOISE_STILL || cases[i] == NOISE_NEXT;
            struct noise n;

            noise_init(&n);
            noise_update(&n, &sums, NOISE_FIRST);
            for (int k = 0; k < again; k++) {
                assert_false(noise_repeat(&n));
                assert_true(noise_sigma(&n) == 0.0);
            }
            for (int k = 0; k < 5; k++)
                noise_update(&n, &sums, cases[i]);
            assert_in_range(100 * n.variance[3] / 36, known ? 95 : 0, known ? 107 : 0);
        }
}

static void update(struct noise *n, const struct noise_sums *sums, int times)
{
    for (int i = 0; i < times; i++)
        noise_update(n, sums, NOISE_NEXT);
}

/* Until it is a still, and then once more; returns whether it is one of a show. */
static bool repeat(struct noise *n)
{
    bool ret;

    for (int i = 1; i < NOISE_STILL; i++)
        assert_false(noise_repeat(n));
    ret = noise_repeat(n);
    assert_int_equal(noise_repeat(n), ret);
    return ret;
}

/* Slides that are stills from the start, and changes between them: no noise. A camera after them is
 * measured as at the start, and has its noise when it hangs. A slide is one at once. */
static void test_show(void **state)
{
    struct noise_sums camera = {0}, slide = {0};
    struct noise n;

    (void)state;
    add(&camera, 100, 30);
    add_slide(&slide);
    noise_init(&n);
    update(&n, &slide, 1);
    for (int change = 1; change <= NOISE_SHOW; change++) {
        assert_true(repeat(&n));
        for (int i = 0; i < change; i++) {
            assert_true(noise_sigma(&n) == 0.0);
            update(&n, &slide, 1);
        }
    }
    update(&n, &camera, 2);
    assert_in_range(100 * n.variance[3] / 36, 95, 107);
    assert_int_equal(n.n_frames, 2);
    for (int i = 0; i < 3; i++) {
        update(&n, &camera, NOISE_SHOW + 1);
        assert_false(repeat(&n));
        assert_in_range(100 * n.variance[3] / 36, 95, 107);
    }
    update(&n, &camera, NOISE_SHOW + 1);
    update(&n, &slide, 1);
    assert_true(repeat(&n));
    assert_true(noise_sigma(&n) == 0.0);
}

/* A camera that hangs keeps its noise, even with each of its pictures, and with bars beside them.
 */
static void test_hangs(void **state)
{
    struct noise_sums camera = {0}, beside_bars = {0};
    struct noise n;

    (void)state;
    add(&camera, 100, 30);
    add(&beside_bars, 100, 30);
    beside_bars.blocks[NOISE_NEAR_BLACK][0] += 45;
    for (int run = 1; run <= 2 * NOISE_SHOW; run++) {
        noise_init(&n);
        update(&n, &camera, 2);
        for (int i = 0; i < 10; i++) {
            update(&n, i % 2 ? &beside_bars : &camera, run);
            assert_false(repeat(&n));
            assert_in_range(100 * n.variance[3] / 36, 95, 107);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated_pictures),
        cmocka_unit_test(test_first_picture_again),
        cmocka_unit_test(test_show),
        cmocka_unit_test(test_hangs),
    };

    return cmocka_run_group_tests_name("noise-again", tests, NULL, NULL);
}
