/* How many frames a mean is of, in a byte. */
#include "tests/lib/unit.h"

#include <math.h>

#include "filter/filter.h"
#include "filter/mean_count.h"

static void test_bytes(void **state)
{
    const uint8_t most = mean_count_of(FILTER_MAX_TEMPORAL);

    (void)state;
    assert_int_equal(mean_count_of(1.0F), MEAN_COUNT_ONE);
    assert_true(mean_count_frames(MEAN_COUNT_ONE) == 1.0F);
    assert_true(mean_count_frames(most) == FILTER_MAX_TEMPORAL - 0.5F);
    for (uint8_t i = MEAN_COUNT_ONE; i <= most; i++) {
        const float frames = mean_count_frames(i), next = mean_count_frames((uint8_t)(i + 1));

        assert_int_equal(mean_count_of(frames), i);
        assert_in_range(1000 * (next - frames) / frames, 10, 32);
        assert_true(truncf(frames * MEAN_COUNT_STEPS) == frames * MEAN_COUNT_STEPS);
    }
}

/* To the nearest, and one frame more always counts. */
static void test_frames(void **state)
{
    (void)state;
    for (float n = 1.0F; n <= FILTER_MAX_TEMPORAL; n += 0.01F)
        assert_true(fabsf(mean_count_frames(mean_count_of(n)) - n) <= n / 64.0F);
    for (uint8_t i = MEAN_COUNT_ONE; i < mean_count_of(FILTER_MAX_TEMPORAL); i++)
        assert_true(mean_count_of(mean_count_frames(i) + 1.0F) > i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_frames),
    };

    return cmocka_run_group_tests_name("mean count", tests, NULL, NULL);
}
