/* For which sigmas the quick kernels are accurate enough. */
#include "tests/lib/unit.h"

#include "cuda/kernel/params.h"
#include "engine/simd/fixed_form.h"
#include "filter/filter.h"
#include "picture/frame.h"

static double most_sigma(const struct filter *filter)
{
    const struct frame f = {.format = FRAME_YUYV, .width = 64, .height = 48};
    struct bilateral_params p;

    assert_int_equal(bilateral_prepare(&p, &f, &f, filter), 0);
    return (double)bilateral_most_sigma(&p);
}

static void test_usual_windows(void **state)
{
    (void)state;
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++) {
        const struct filter f = {
            .radius = radius, .sigma_space = filter_auto_sigma(radius), .sigma_color = 18.0};

        assert_int_equal((int)most_sigma(&f), radius <= 16 ? 64 : 40);
    }
}

/* Weights that are as wrong as these are good enough there by the CPU's rule, which asks for a
 * fifth of a level less: that is one part in ten of the sigma. */
static void assert_holds(struct filter f)
{
    const struct colour_distance l =
        colour_distance((struct colour){.matrix = COLOUR_BT709, .range = COLOUR_FULL});
    struct fixed_form form;

    f.sigma_color = 0.9 * most_sigma(&f);
    form = fixed_form_make(&f, &l, ROWS_HALF);
    if (!fixed_form_holds(&f, &l, &form, ROWS_PAIR))
        fail_msg("radius %d, window %d, sigma-space %g, sigma-color %g", f.radius, (int)f.window,
                 f.sigma_space, f.sigma_color);
}

static void test_flat_windows(void **state)
{
    (void)state;
    for (int window = WINDOW_DISC; window <= WINDOW_SQUARE; window++)
        for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++)
            for (double space = 0.5 * radius; space <= 100.0; space *= 1.15)
                assert_holds((struct filter){.radius = radius,
                                             .sigma_space = space,
                                             .sigma_color = 18.0,
                                             .window = (enum window_shape)window});
}

/* A reciprocal is more accurate. */
static void test_lorentzian(void **state)
{
    const struct filter f = {
        .radius = 5, .sigma_space = 40.0, .sigma_color = 18.0, .range = RANGE_LORENTZIAN};

    (void)state;
    assert_int_equal((int)most_sigma(&f), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual_windows),
        cmocka_unit_test(test_flat_windows),
        cmocka_unit_test(test_lorentzian),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
