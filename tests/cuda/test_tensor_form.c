/* Which GPU gets which form of the tensor kernel. */
#include "tests/lib/unit.h"

#include "cuda/kernel/form.h"
#include "filter/filter.h"

static void test_form_by_device(void **state)
{
    static const struct {
        int capability;
        const char *name;
        enum form form;
        int code; /* 0: for the device */
    } devices[] = {
        {61, "NVIDIA GeForce GTX 1080", FORM_NONE},
        {70, "Tesla V100-SXM2-16GB", FORM_NONE},
        {75, "NVIDIA GeForce RTX 2060", FORM_F16},
        {75, "Quadro RTX 4000", FORM_F16},
        {75, "NVIDIA TITAN RTX", FORM_F16},
        {75, "Tesla T4", FORM_F16},
        {75, "NVIDIA T4G", FORM_F16},
        {75, "NVIDIA GeForce GTX 1660 Ti", FORM_NONE},
        {75, "NVIDIA T400 4GB", FORM_NONE},
        {75, "NVIDIA GeForce MX450", FORM_NONE},
        {80, "NVIDIA A100-SXM4-40GB", FORM_BF16},
        {86, "NVIDIA GeForce RTX 3060", FORM_F16},
        {87, "Orin", FORM_F16},
        {89, "NVIDIA GeForce RTX 4090", FORM_F16},
        {90, "NVIDIA H200", FORM_BF16},
        {100, "NVIDIA B200", FORM_BF16},
        {120, "NVIDIA GeForce RTX 5090", FORM_F16},
        /* Code that the driver makes from PTX for older ones. */
        {75, "NVIDIA GeForce RTX 2060", FORM_NONE, 70},
        {86, "NVIDIA GeForce RTX 3060", FORM_NONE, 61},
        {86, "NVIDIA A10", FORM_F16, 75},
        {90, "NVIDIA H200", FORM_NONE, 70},
        {90, "NVIDIA H200", FORM_NONE, 75},
        {90, "NVIDIA H200", FORM_BF16, 80},
        {100, "NVIDIA B200", FORM_F16, 89},
        {100, "NVIDIA B200", FORM_BF16, 90},
        {120, "NVIDIA GeForce RTX 5090", FORM_F16, 90},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
        assert_int_equal(form_for(devices[i].capability,
                                  devices[i].code ? devices[i].code : devices[i].capability,
                                  devices[i].name),
                         devices[i].form);
}

/* The least radii, square and disc; -1: half2 is quicker at all of them. */
static void test_least_radius(void **state)
{
    static const struct {
        enum form form;
        bool lorentzian;
        int tiles, square, disc;
    } rows[] = {
        {FORM_BF16, false, 2, 4, 6},   {FORM_BF16, false, 1, 4, 6},  {FORM_BF16, true, 2, 6, 12},
        {FORM_F16, false, 2, 8, -1},   {FORM_F16, false, 1, 12, -1}, {FORM_F16, true, 2, -1, -1},
        {FORM_NONE, false, 2, -1, -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int disc = 0; disc < 2; disc++) {
            const int want = disc ? rows[i].disc : rows[i].square;
            const int got =
                form_least_radius(rows[i].form, rows[i].lorentzian, disc, rows[i].tiles);

            if (want < 0)
                assert_true(got > FILTER_MAX_RADIUS);
            else
                assert_int_equal(got, want);
        }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_form_by_device),
                                              cmocka_unit_test(test_least_radius)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
