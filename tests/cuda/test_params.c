/* For which sigmas the quick kernels are accurate enough. */
#include "tests/lib/unit.h"

#include "cuda/kernel/params.h"
#include "filter/filter.h"
#include "picture/frame.h"

static double most_sigma(int radius, double sigma_space)
{
    const struct frame f = {.format = FRAME_YUYV, .width = 64, .height = 48};
    const struct filter filter = {
        .radius = radius, .sigma_space = sigma_space, .sigma_color = 18.0};
    struct bilateral_params p;

    assert_int_equal(bilateral_prepare(&p, &f, &f, &filter), 0);
    return (double)bilateral_most_sigma(&p);
}

static void test_usual_windows(void **state)
{
    (void)state;
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++)
        assert_int_equal((int)most_sigma(radius, filter_auto_sigma(radius)),
                         radius <= 16 ? 64 : 40);
}

/* The flatter, the less. */
static void test_flat_windows(void **state)
{
    (void)state;
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++) {
        double before = most_sigma(radius, radius);

        for (double ratio = 1.1; ratio < 10.0 && radius * ratio <= 100.0; ratio *= 1.1) {
            const double now = most_sigma(radius, radius * ratio);

            assert_true(now <= before);
            before = now;
        }
    }
    assert_in_range((int)most_sigma(5, 40.0), 20, 21);
    assert_in_range((int)most_sigma(16, 32.0), 28, 29);
    assert_int_equal((int)most_sigma(4, 100.0), 40);
    assert_int_equal((int)most_sigma(2, 100.0), 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual_windows),
        cmocka_unit_test(test_flat_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
