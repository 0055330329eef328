/* What follows from what means leave of noise: coordinates in which it is white, and how large a
 * change of light, a misfit and a range sigma are. */
#include "tests/lib/unit.h"

#include <math.h>

#include "filter/filter.h"
#include "filter/noise.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* What means leave of noise that is white in R'G'B', of noise with blotches of colour, of noise
 * whose luma and chroma are much alike, of one without chroma, and of next to nothing. */
static const struct {
    struct noise_left left;
    double share;
} known[] = {
    {{0.053, 0.002, 0.003, 0.052, -0.001, 0.055}, 0.13},
    {{0.034, 0.0, 0.0, 0.2, -0.01, 0.22}, 0.42},
    {{0.2, 0.09, -0.08, 0.1, -0.05, 0.1}, 0.3},
    {{0.1, 0.0, 0.0, 0.0, 0.0, 0.0}, 0.1},
    {{1e-6, 0.0, 0.0, 1e-6, 0.0, 1e-6}, 0.07},
};

/* W C W^T is diagonal, has the weights of the components in it, and so is 1 in all: C is what was
 * measured and what was added to that. */
static void test_whitening(void **state)
{
    static const double weight[3] = {0.6, 0.2, 0.2};

    (void)state;
    for (size_t i = 0; i < N(known); i++) {
        const struct noise_left left = known[i].left;
        const struct noise_white w = noise_whitening(left, known[i].share, false);
        const struct noise_spread s = noise_at_least(left, known[i].share, false);
        const double c[3][3] = {{s.yy, s.yu, s.yv}, {s.yu, s.uu, s.uv}, {s.yv, s.uv, s.vv}};
        const double m[3][3] = {{w.y, w.yu, w.yv}, {0.0, w.u, w.uv}, {0.0, 0.0, w.v}};

        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                double sum = 0.0;

                for (int k = 0; k < 3; k++)
                    for (int l = 0; l < 3; l++)
                        sum += m[a][k] * c[k][l] * m[b][l];
                assert_true(fabs(sum - (a == b ? weight[a] : 0.0)) < 1e-4);
            }
        assert_true(s.yy >= left.yy && s.yy <= left.yy + 0.03);
        assert_true(s.yy >= 0.02F && s.uu >= 0.02F && s.vv >= 0.02F);
    }
}

/* Grey pictures have luma alone; what was not measured is white. */
static void test_unknown(void **state)
{
    const struct noise_left nothing = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, grey = {.yy = 0.14};
    const struct noise_white w = noise_whitening(nothing, 0.14, false);
    const struct noise_white of_grey = noise_whitening(grey, 0.14, true);

    (void)state;
    assert_true(w.yu == 0.0F && w.yv == 0.0F && w.uv == 0.0F);
    assert_true(fabs(w.y * w.y * 0.42 * 0.14 - 0.6) < 1e-4);
    assert_true(fabs(w.u * w.u * 0.42 * 0.14 - 0.2) < 1e-4 && w.u == w.v);
    assert_true(fabs(of_grey.y * of_grey.y * 1.02 * 0.14 - 0.8) < 1e-4);
    assert_true(noise_whitening(nothing, 0.14, true).y == of_grey.y);
}

/* White noise, of which means of 7x7 cells leave what the squares of their weights add up to: light
 * is what exceeds that twice or more. Of chroma that neighbours share it has to exceed more. */
static void test_light(void **state)
{
    static const double cell[4] = {1.0 / 8, 3.0 / 8, 3.0 / 8, 1.0 / 8};
    const struct noise_left white = known[0].left, blotchy = known[1].left, grey = {.yy = 0.1};
    const struct noise_left all = {1.0, 0.0, 0.0, 1.0, 0.0, 1.0};
    double of_light = 0.0, weight[2 * 7 + 2] = {0};

    (void)state;
    for (int k = 0; k < 7; k++)
        for (int i = 0; i < 4; i++)
            weight[2 * k + i] += cell[i] / 7.0;
    for (int i = 0; i < 2 * 7 + 2; i++)
        of_light += weight[i] * weight[i];
    of_light *= of_light;
    assert_in_range(100 * noise_luma_light(white, 0.13, false) / of_light, 200, 350);
    assert_in_range(100 * noise_luma_light(grey, 0.1, true) / of_light, 300, 500);
    assert_in_range(100 * noise_chroma_light(white, 0.13) / of_light, 150, 350);
    assert_in_range(100 * noise_chroma_light(blotchy, 0.42) / noise_chroma_light(white, 0.13), 1500,
                    3000);
    assert_true(noise_chroma_light(all, 1.0) == 2.0F);
}

/* White noise has little, whatever is measured of it, and no noise has much. */
static void test_slack(void **state)
{
    (void)state;
    assert_true(noise_slack(0.07F) == 1.36F);
    assert_true(noise_slack(0.14F) == 1.36F);
    assert_in_range(100 * noise_slack(0.2F), 159, 161);
    assert_true(noise_slack(0.39F) == 1.85F);
}

/* Nothing for white noise, most from where neighbours share what a JPEG's do. */
static void test_widens(void **state)
{
    struct noise n;

    (void)state;
    assert_true(noise_widens(NOISE_LEAST_SHARE) == 1.0);
    assert_true(noise_widens(0.14) == 1.0);
    assert_in_range(1000 * noise_widens(0.21), 1130, 1150);
    assert_in_range(1000 * noise_widens(0.4), 1235, 1240);
    assert_true(noise_widens(1.0) == noise_widens(0.4));
    noise_init(&n);
    assert_true(noise_widens(n.share) == 1.0); /* a first picture */
}

/* In 4:2:0 also for white noise, but not for what neighbours share. */
static void test_widens_420(void **state)
{
    (void)state;
    assert_true(noise_widens_420(0.0) == 1.1);
    assert_true(noise_widens_420(0.25) == 1.1);
    assert_in_range(1000 * noise_widens_420(0.32), 1049, 1051);
    assert_true(noise_widens_420(0.38) == 1.0);
    assert_true(noise_widens_420(1.0) == 1.0);
}

/* Nothing for white noise and a JPEG's, and nothing where a mean is old, or as old as it gets. */
static void test_narrows(void **state)
{
    (void)state;
    assert_true(noise_narrows(0.14, 1.0F, 16) == 1.0F);
    assert_true(noise_narrows(0.25, 1.0F, 16) == 1.0F);
    assert_in_range(1000 * noise_narrows(0.32, 1.0F, 16), 899, 901);
    assert_true(noise_narrows(0.4, 1.0F, 16) == 0.8F);
    assert_true(noise_narrows(1.0, 1.0F, 2) == 0.8F);
    assert_in_range(1000 * noise_narrows(0.4, 2.0F, 16), 899, 901);
    assert_true(noise_narrows(0.4, 3.0F, 16) == 1.0F);
    assert_true(noise_narrows(0.4, 16.0F, 16) == 1.0F);
    assert_true(noise_narrows(0.4, 2.0F, 2) == 1.0F);
}

/* Only "auto" is narrower. */
static void test_averaged_share(void **state)
{
    const struct filter automatic = {.temporal = 16}, number = {.temporal = 16, .sigma_color = 18};
    const double fresh = filter_averaged_share(&number, 1.0, 0.4);

    (void)state;
    assert_in_range(1000 * fresh, 1000, 1002);
    assert_true(filter_averaged_share(&automatic, 1.0, 0.14) == fresh);
    assert_in_range(10000 * filter_averaged_share(&automatic, 1.0, 0.4) / fresh, 6399, 6401);
    assert_true(filter_averaged_share(&automatic, 8.0, 0.4) ==
                filter_averaged_share(&number, 8.0, 0.4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whitening), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_light),     cmocka_unit_test(test_slack),
        cmocka_unit_test(test_widens),    cmocka_unit_test(test_widens_420),
        cmocka_unit_test(test_narrows),   cmocka_unit_test(test_averaged_share),
    };

    return cmocka_run_group_tests_name("what follows from noise", tests, NULL, NULL);
}
