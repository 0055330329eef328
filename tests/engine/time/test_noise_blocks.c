/* How much noise pictures have, against noise that was put into them. */
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "engine/time/motion.h"
#include "engine/time/noise_blocks.h"
#include "picture/colour.h"
#include "tests/lib/images.h"

#define WIDTH 320
#define HEIGHT 192

static double uniform(uint64_t *seed)
{
    return (double)(random_next(seed) >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *seed)
{
    const double u = 1.0 - uniform(seed);

    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * uniform(seed));
}

enum scene { FLAT, SHADED, TEXTURE };

static double clean(enum scene scene, int component, double x, double y)
{
    if (component)
        return 128.0 + (scene == FLAT ? 0.0 : 30.0 * sin(x / 40.0 + component));
    switch (scene) {
    case FLAT:
        return 120.0;
    case SHADED:
        return 125.0 + 90.0 * sin(x / 60.0) * cos(y / 45.0);
    default:
        return 120.0 + 25.0 * sin(x / 1.7) * sin(y / 2.1) + 20.0 * sin((x + y) / 3.3);
    }
}

enum kind {
    PLAIN,
    SMOOTH, /* of neighbours, too */
    UNEVEN, /* the variance of a block is 0.5 to 1.5 times the mean */
};

static double deviation_at(enum kind kind, double x, double y)
{
    const int block = (int)(x / 16.0) * 7 + (int)(y / 16.0) * 5;

    return kind == UNEVEN ? sqrt(0.5 + block % 11 / 10.0) : 1.0;
}

/* Noise of deviation @sigma in each sample of Y, U, V. */
static void paint(struct frame *f, enum scene scene, double dx, double sigma, enum kind kind,
                  uint64_t seed)
{
    static double noise[HEIGHT + 2][WIDTH + 2];

    for (int c = 0; c < format_table[f->format].components; c++) {
        const struct samples s = frame_samples(f, c);
        const double scale = c ? (double)f->width / s.width : 1.0;

        for (int y = 0; y < HEIGHT + 2; y++)
            for (int x = 0; x < WIDTH + 2; x++)
                noise[y][x] = normal(&seed);
        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++) {
                double n = noise[y + 1][x + 1], v;

                if (kind == SMOOTH) /* 2x2 sums, of unit variance */
                    n = (n + noise[y][x + 1] + noise[y + 1][x] + noise[y][x]) / 2.0;
                n *= deviation_at(kind, scale * x, y);
                v = clean(scene, c, scale * x - dx, y * scale) + sigma * n;
                s.base[(size_t)y * s.stride + (size_t)x * (size_t)s.step] =
                    (uint8_t)fmin(fmax(floor(v + 0.5), 0.0), 255.0);
            }
    }
}

/* E|n|^2 in R'G'B' of noise of variance 1 in each sample. */
static double unit_variance(const struct frame *f)
{
    double m[3][3], sum = 0.0;

    colour_to_rgb(f->colour, m);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < format_table[f->format].components; j++)
            sum += m[i][j] * m[i][j];
    return sum;
}

struct sight {
    struct frame frame[2];
    struct pyramid pyramid[2];
    struct motion_search *search;
    struct noise noise;
    int n;
};

static void open_sight(struct sight *s, enum frame_format format)
{
    memset(s, 0, sizeof(*s));
    for (int i = 0; i < 2; i++) {
        s->frame[i] = (struct frame){.format = format, .width = WIDTH, .height = HEIGHT};
        assert_int_equal(frame_alloc(&s->frame[i]), 0);
        assert_int_equal(pyramid_create(&s->pyramid[i], WIDTH, HEIGHT), 0);
    }
    assert_int_equal(motion_create(&s->search, WIDTH, HEIGHT), 0);
    noise_init(&s->noise);
}

static void close_sight(struct sight *s)
{
    for (int i = 0; i < 2; i++) {
        frame_free(&s->frame[i]);
        pyramid_finish(&s->pyramid[i]);
    }
    motion_destroy(s->search);
}

static struct frame *next(struct sight *s)
{
    return &s->frame[s->n % 2];
}

static void see(struct sight *s)
{
    const int now = s->n % 2;
    const struct motion_vector *v = NULL;
    struct noise_sums sums = {0};

    pyramid_build(&s->pyramid[now], &s->frame[now]);
    if (s->n)
        v = motion_find(s->search, &s->pyramid[now], &s->pyramid[!now]);
    noise_gather(&sums, &s->noise, &s->frame[now], s->n ? &s->frame[!now] : NULL, v);
    noise_update(&s->noise, &sums, s->n == 0 ? NOISE_FIRST : NOISE_NEXT);
    s->n++;
}

static void test_true_noise(void **state)
{
    static const struct {
        enum frame_format format;
        enum scene scene;
        double speed; /* luma samples a frame */
        enum kind kind;
        int low, high; /* the variance found, in percent of the true one */
    } cases[] = {
        {FRAME_YUYV, SHADED, 60, PLAIN, 80, 160}, /* faster than the search reaches */
        {FRAME_YUYV, FLAT, 0, PLAIN, 90, 120},    {FRAME_YUYV, SHADED, 0, PLAIN, 85, 120},
        {FRAME_YUYV, TEXTURE, 0, PLAIN, 85, 125}, {FRAME_YUYV, FLAT, 0, SMOOTH, 75, 125},
        {FRAME_YUYV, SHADED, 3, PLAIN, 85, 130},  {FRAME_I420, SHADED, 0, PLAIN, 80, 125},
        {FRAME_GREY, SHADED, 0, PLAIN, 85, 120},  {FRAME_I444, TEXTURE, 0, PLAIN, 85, 125},
        {FRAME_I444, FLAT, 0, UNEVEN, 80, 120},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (double sigma = 1.0; sigma <= 16.0; sigma *= 2.0) {
            struct sight s;
            double wanted, found;

            open_sight(&s, cases[i].format);
            for (int t = 0; t < 4; t++) {
                paint(next(&s), cases[i].scene, cases[i].speed * t, sigma, cases[i].kind,
                      (uint64_t)t);
                see(&s);
            }
            /* Rounding to whole levels is noise, too. */
            wanted = unit_variance(&s.frame[0]) * (sigma * sigma + 1.0 / 12.0);
            found = 100.0 * noise_variance(&s.noise, 120) / wanted;
            if (found < cases[i].low || found > cases[i].high)
                fail_msg("case %zu, sigma %g: %g %% of %g", i, sigma, found, wanted);
            close_sight(&s);
        }
}

/* White noise loses most of itself to a smoothing filter, that of neighbours less. */
static void test_share(void **state)
{
    double share[2];

    (void)state;
    for (int smooth = 0; smooth < 2; smooth++) {
        struct sight s;

        open_sight(&s, FRAME_I444);
        for (int t = 0; t < 6; t++) {
            paint(next(&s), SHADED, 0, 5.0, smooth ? SMOOTH : PLAIN, (uint64_t)t);
            see(&s);
        }
        share[smooth] = s.noise.share;
        close_sight(&s);
    }
    assert_in_range(1000 * share[0], 80, 120);  /* (20/64)^2 = 0.098 */
    assert_in_range(1000 * share[1], 230, 360); /* (35/64)^2 = 0.30 */
}

/* Of noise of the same deviation in Y, U and V means of 4x4 leave (20/64)^2 of each, where it is a
 * part of all of it that is measured with a level of luma as the unit; and nothing in common. */
static void test_left(void **state)
{
    const double white = (20.0 / 64.0) * (20.0 / 64.0);
    struct noise_form form;
    struct sight s;
    double wanted;

    (void)state;
    open_sight(&s, FRAME_I444);
    for (int t = 0; t < 30; t++) {
        paint(next(&s), SHADED, 0, 5.0, PLAIN, (uint64_t)t);
        see(&s);
    }
    form = noise_form_of(&s.frame[0]);
    wanted = white * noise_form_luma(&form) / unit_variance(&s.frame[0]);
    assert_in_range(1000 * s.noise.left.yy / wanted, 900, 1100);
    assert_in_range(1000 * s.noise.left.uu / wanted, 900, 1100);
    assert_in_range(1000 * s.noise.left.vv / wanted, 900, 1100);
    assert_true(fabs(s.noise.left.yu) + fabs(s.noise.left.yv) + fabs(s.noise.left.uv) <
                0.2 * wanted);
    close_sight(&s);
}

/* What moves without being followed is not taken for what is left of noise. */
static void test_quiet_blocks(void **state)
{
    struct noise_sums all = {0}, quiet = {0}, drawn = {0};
    struct noise known;
    struct sight s;

    (void)state;
    open_sight(&s, FRAME_YUYV);
    noise_init(&known);
    for (int t = 0; t < 2; t++)
        paint(&s.frame[t], TEXTURE, 3.0 * t, 2.0, PLAIN, (uint64_t)t);
    for (int c = 0; c < NOISE_CLASSES; c++)
        known.variance[c] = 1e4;
    noise_gather(&all, &known, &s.frame[1], &s.frame[0], NULL);
    noise_gather(&drawn, &known, &s.frame[1], &s.frame[1], NULL);
    for (int c = 0; c < NOISE_CLASSES; c++)
        known.variance[c] = 20.0;
    noise_gather(&quiet, &known, &s.frame[1], &s.frame[0], NULL);
    assert_true(all.moved > 0 && all.left > 0);
    assert_true(quiet.moved == 0 && quiet.left == 0 && quiet.covariance[0] == 0);
    assert_true(drawn.moved == 0);
    close_sight(&s);
}

/* Steps of black and white in all components, the other way round in each picture, have more than
 * any noise: sums of them would leave 64 bits. */
static void test_most_of_all(void **state)
{
    struct frame f[2];
    struct noise_sums sums = {0};
    struct noise known;

    (void)state;
    noise_init(&known);
    for (int c = 0; c < NOISE_CLASSES; c++)
        known.variance[c] = 1e6;
    for (int t = 0; t < 2; t++) {
        f[t] = (struct frame){.format = FRAME_I444, .width = 736, .height = 688};
        assert_int_equal(frame_alloc(&f[t]), 0);
        for (int c = 0; c < 3; c++)
            for (int y = 0; y < f[t].height; y++)
                for (int x = 0; x < f[t].width; x++)
                    f[t].plane[c][(size_t)y * f[t].stride[c] + (size_t)x] =
                        (x / 8 + t) % 2 ? 255 : 0;
    }
    noise_gather(&sums, &known, &f[1], &f[0], NULL);
    assert_true(sums.moved == 0 && sums.left == 0);
    for (int t = 0; t < 2; t++)
        frame_free(&f[t]);
}

/* Blocks without texture are flat; a first picture does not tell. */
static void test_flat(void **state)
{
    (void)state;
    for (int scene = FLAT; scene <= TEXTURE; scene += TEXTURE - FLAT) {
        struct noise_sums sums = {0}, first = {0};
        uint32_t flat = 0;
        struct sight s;

        open_sight(&s, FRAME_YUYV);
        for (int t = 0; t < 2; t++)
            paint(&s.frame[t], (enum scene)scene, 0.0, 5.0, PLAIN, (uint64_t)t);
        noise_gather(&first, &s.noise, &s.frame[0], NULL, NULL);
        noise_gather(&sums, &s.noise, &s.frame[1], &s.frame[0], NULL);
        for (int c = 0; c < NOISE_ALL_CLASSES; c++) {
            assert_int_equal(first.flat[c], 0);
            flat += sums.flat[c];
        }
        assert_int_equal(flat, scene == FLAT ? WIDTH / 16 * (HEIGHT / 16) : 0);
        close_sight(&s);
    }
}

static uint64_t count_blocks(const struct noise_sums *sums)
{
    uint64_t n = 0;

    for (int c = 0; c < NOISE_ALL_CLASSES; c++)
        for (int i = 0; i < NOISE_BINS; i++)
            n += sums->blocks[c][i];
    return n;
}

/* The same sums, whatever the strides; blocks over the edge are left out. */
static void test_edges_and_strides(void **state)
{
    struct frame like = {.format = FRAME_I420, .width = 70, .height = 37};
    struct noise_sums a = {0}, b = {0};
    struct guarded wide, narrow;
    struct noise known;

    (void)state;
    noise_init(&known);
    assert_int_equal(guarded_alloc(&wide, &like, 24), 0);
    assert_int_equal(guarded_alloc(&narrow, &like, 0), 0);
    image_fill(&wide.frame, IMAGE_NATURAL, 1);
    frame_copy(&narrow.frame, &wide.frame);
    noise_gather(&a, &known, &wide.frame, &narrow.frame, NULL);
    noise_gather(&b, &known, &narrow.frame, &wide.frame, NULL);
    assert_memory_equal(&a, &b, sizeof(a));
    assert_int_equal(count_blocks(&a), 4 * 2);
    guarded_free(&wide);
    guarded_free(&narrow);
}

/* Some blocks of a large picture are left out, but in no column all of them. */
static void test_large(void **state)
{
    static const int steps[][3] = {
        {16, 16, 1}, {640, 480, 1}, {1280, 720, 2}, {1920, 1080, 8}, {3840, 2160, 32}};
    static const int sizes[][2] = {{15, 99}, {16, 16}, {1920, 1080}, {1918, 1079}, {34, 32768}};
    struct frame f = {.format = FRAME_GREY, .width = 1920, .height = 1080};
    struct noise_sums sums = {0};
    bool met[8] = {false};
    struct noise known;

    (void)state;
    noise_init(&known);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        assert_int_equal(noise_step(steps[i][0], steps[i][1]), steps[i][2]);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const int width = sizes[i][0], height = sizes[i][1], step = noise_step(width, height);
        int n = 0;

        for (int row = 0; row < height / NOISE_BLOCK; row++)
            for (int col = noise_first(row, step); col < width / NOISE_BLOCK; col += step)
                n++;
        assert_int_equal(noise_n_blocks(width, height), n);
    }
    for (int row = 0; row < 8; row++)
        met[noise_first(row, 8)] = true;
    for (int i = 0; i < 8; i++)
        assert_true(met[i]);
    assert_int_equal(frame_alloc(&f), 0);
    image_fill(&f, IMAGE_NATURAL, 1);
    noise_gather(&sums, &known, &f, NULL, NULL);
    assert_int_equal(count_blocks(&sums), 120 * 67 / 8);
    assert_int_equal(noise_n_blocks(1920, 1080), 120 * 67 / 8);
    frame_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true_noise),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_quiet_blocks),
        cmocka_unit_test(test_most_of_all),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_edges_and_strides),
        cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests_name("noise blocks", tests, NULL, NULL);
}
