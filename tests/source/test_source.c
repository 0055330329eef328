/* The `test:` source: its scenes, its noise and its clock. */
#include <math.h>

#include "base/clock.h"
#include "picture/convert.h"
#include "tests/source/helpers.h"

/* FNV-1a over all samples. */
static uint64_t checksum(const struct frame *f)
{
    uint64_t h = 0xCBF29CE484222325u;

    for (int p = 0; p < format_table[f->format].planes; p++)
        for (int y = 0; y < frame_plane_rows(f, p); y++)
            for (size_t x = 0; x < frame_row_bytes(f, p); x++)
                h = (h ^ f->plane[p][(size_t)y * f->stride[p] + x]) * 0x100000001B3u;
    return h;
}

static struct source *open_test(const char *name, int width, int height, int format)
{
    struct source_config config = request(name);

    config.width = width;
    config.height = height;
    config.format = format;
    return open_well(&source_pattern, &config);
}

static struct frame read_until(struct source *s, uint64_t seq)
{
    struct frame f;

    do {
        assert_int_equal(s->ops->read(s, &f, NULL), 0);
        s->ops->release(s);
    } while (f.seq < seq);
    return f;
}

static struct frame frame_for(const struct source *s)
{
    struct frame f = {
        .format = s->format, .width = s->width, .height = s->height, .colour = s->colour};

    assert_int_equal(frame_alloc(&f), 0);
    return f;
}

static void test_defaults(void **state)
{
    const struct source_config config = request("test:");
    struct source *s = open_well(&source_pattern, &config);

    (void)state;
    assert_int_equal(s->format, FRAME_YUYV);
    assert_int_equal(s->width, 1280);
    assert_int_equal(s->height, 720);
    assert_int_equal(s->colour.matrix, COLOUR_BT601);
    assert_int_equal(s->colour.range, COLOUR_LIMITED);
    assert_int_equal(s->fps.num, 30);
    assert_int_equal(s->fps.den, 1);
    assert_false(s->live);
    assert_string_equal(s->name, "test scene 'portrait', noise 8");
    s->ops->close(s);
}

/* The same bytes on every machine: these sums hold for all compilers and architectures. */
static void test_same_bytes_everywhere(void **state)
{
    static const struct {
        const char *name;
        int width, height, format;
        uint64_t sum;
    } pinned[] = {
        {"test:seed=1", 320, 180, FRAME_YUYV, 0x421EDDB24D81C3D1},
        {"test:seed=2", 320, 180, FRAME_YUYV, 0x5E40E87DC2C8B500},
        {"test:noise=0", 320, 180, FRAME_YUYV, 0x5AD22F63ACDC0F5D},
        {"test:scene=chart,noise=20,seed=4294967295", 640, 361, FRAME_I420, 0x0F670BB1EA1DD153},
        {"test:", 62, 35, FRAME_I444, 0x332A05D55D0D0545},
        {"test:", 1026, 3, FRAME_GREY, 0x54427ADA689872C6},
    };
    bool same = true;

    (void)state;
    for (size_t i = 0; i < sizeof(pinned) / sizeof(pinned[0]); i++) {
        struct source *s =
            open_test(pinned[i].name, pinned[i].width, pinned[i].height, pinned[i].format);
        const struct frame f = read_until(s, 7);
        const uint64_t sum = checksum(&f);

        if (sum != pinned[i].sum)
            print_error("%s %dx%d %s: 0x%016llX\n", pinned[i].name, f.width, f.height,
                        format_table[f.format].name, (unsigned long long)sum);
        same &= sum == pinned[i].sum;
        s->ops->close(s);
    }
    assert_true(same);
}

static void test_truth_is_the_noise_free_frame(void **state)
{
    (void)state;
    for (int format = 0; format < FRAME_MJPG; format++) {
        struct source *noisy = open_test("test:seed=9", 322, 77, format);
        struct source *clean = open_test("test:noise=0", 322, 77, format);
        struct frame truth = frame_for(noisy);
        struct frame f = read_until(clean, 5);

        assert_int_equal(noisy->ops->truth(noisy, 5, &truth), 0);
        assert_true(checksum(&f) == checksum(&truth));
        f = read_until(noisy, 5);
        assert_true(checksum(&f) != checksum(&truth));
        frame_free(&truth);
        noisy->ops->close(noisy);
        clean->ops->close(clean);
    }
}

static bool same_component(const struct frame *a, const struct frame *b, int component)
{
    const struct samples p = frame_samples(a, component), q = frame_samples(b, component);

    if (p.width != q.width || p.height != q.height)
        return false;
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++)
            if (frame_sample(a, component, x, y) * (a->format < FRAME_GREY16 ? 256 : 1) !=
                frame_sample(b, component, x, y) * (b->format < FRAME_GREY16 ? 256 : 1))
                return false;
    return true;
}

/* All formats show one scene: luma is the same in all, chroma where it is shared alike. */
static void test_formats_agree(void **state)
{
    static const enum frame_format twins[][2] = {
        {FRAME_YUYV, FRAME_UYVY},   {FRAME_YUYV, FRAME_I422},    {FRAME_I420, FRAME_NV12},
        {FRAME_RGB24, FRAME_BGR24}, {FRAME_I420, FRAME_I420_16}, {FRAME_I422, FRAME_I422_16},
        {FRAME_I444, FRAME_I444_16}};
    struct source *s[FRAME_MJPG];
    struct frame f[FRAME_MJPG];

    (void)state;
    for (int i = 0; i < FRAME_MJPG; i++) {
        s[i] = open_test("test:", 518, 45, i);
        f[i] = read_until(s[i], 0);
        if (f[i].colour.matrix != COLOUR_RGB)
            assert_true(same_component(&f[0], &f[i], 0));
    }
    convert_frame(&f[FRAME_GREY], &f[FRAME_RGB24]);
    for (int x = 0; x < 518 * 45; x++)
        assert_in_range(f[FRAME_GREY].plane[0][x / 518 * (int)f[FRAME_GREY].stride[0] + x % 518],
                        frame_sample(&f[0], 0, x % 518, x / 518) - 1,
                        frame_sample(&f[0], 0, x % 518, x / 518) + 1);
    for (size_t i = 0; i < sizeof(twins) / sizeof(twins[0]); i++)
        for (int c = f[twins[i][0]].colour.matrix != COLOUR_RGB; c < 3; c++)
            assert_true(same_component(&f[twins[i][0]], &f[twins[i][1]], c));
    for (int i = 0; i < FRAME_MJPG; i++)
        s[i]->ops->close(s[i]);
}

/* Luma noise of frame @seq at (x, y). */
static double noise_at(const struct frame *f, const struct frame *truth, int x, int y)
{
    return (double)f->plane[0][(size_t)y * f->stride[0] + (size_t)x] -
           truth->plane[0][(size_t)y * truth->stride[0] + (size_t)x];
}

struct noise_sums {
    double n, sum, squares, neighbours;
};

/* Noise statistics where the clean luma is in [@low, @high). */
static struct noise_sums measure(struct source *s, uint64_t seq, int low, int high)
{
    struct frame truth = frame_for(s);
    const struct frame f = read_until(s, seq);
    struct noise_sums m = {0};

    assert_int_equal(s->ops->truth(s, f.seq, &truth), 0);
    for (int y = 0; y < f.height; y++)
        for (int x = 0; x + 1 < f.width; x++) {
            const int v = truth.plane[0][(size_t)y * truth.stride[0] + (size_t)x];
            const double d = noise_at(&f, &truth, x, y);

            if (v < low || v >= high)
                continue;
            m.n++;
            m.sum += d;
            m.squares += d * d;
            m.neighbours += d * noise_at(&f, &truth, x + 1, y);
        }
    frame_free(&truth);
    return m;
}

/* Luma noise is R'G'B' noise times 219/255 * |(0.299, 0.587, 0.114)| = 0.574. */
static void test_noise_is_like_a_sensors(void **state)
{
    struct source *s = open_test("test:noise=8", 640, 360, FRAME_I444);
    const struct noise_sums all = measure(s, 0, 0, 256);
    const struct noise_sums dark = measure(s, 1, 30, 70);
    const struct noise_sums bright = measure(s, 2, 170, 210);
    const double sigma = sqrt(all.squares / all.n) / 0.574;

    (void)state;
    print_message("noise=8: sigma %.2f, dark %.2f, bright %.2f, mean %.3f, neighbours %.4f\n",
                  sigma, sqrt(dark.squares / dark.n) / 0.574,
                  sqrt(bright.squares / bright.n) / 0.574, all.sum / all.n,
                  all.neighbours / all.squares);
    assert_true(sigma > 7.2 && sigma < 8.8);
    assert_true(fabs(all.sum / all.n) < 0.1);
    assert_true(fabs(all.neighbours / all.squares) < 0.01);
    assert_true(dark.n > 1000 && bright.n > 1000);
    assert_true(sqrt(bright.squares / bright.n) > 1.3 * sqrt(dark.squares / dark.n));
    s->ops->close(s);
}

static void test_noise_is_new_in_each_frame(void **state)
{
    struct source *a = open_test("test:", 320, 180, FRAME_GREY);
    struct source *b = open_test("test:", 320, 180, FRAME_GREY);
    struct frame truth_a = frame_for(a), truth_b = frame_for(b);
    const struct frame f = read_until(a, 10), g = read_until(b, 30);
    double product = 0.0, squares = 0.0;

    (void)state;
    assert_int_equal(a->ops->truth(a, 10, &truth_a), 0);
    assert_int_equal(b->ops->truth(b, 30, &truth_b), 0);
    assert_true(checksum(&truth_a) != checksum(&truth_b)); /* it moves */
    for (int y = 0; y < 180; y++)
        for (int x = 0; x < 320; x++) {
            product += noise_at(&f, &truth_a, x, y) * noise_at(&g, &truth_b, x, y);
            squares += noise_at(&f, &truth_a, x, y) * noise_at(&f, &truth_a, x, y);
        }
    assert_true(fabs(product / squares) < 0.02);
    frame_free(&truth_a);
    frame_free(&truth_b);
    a->ops->close(a);
    b->ops->close(b);
}

static void test_wrong_test_options(void **state)
{
    static const struct {
        const char *name, *text;
    } wrong[] = {
        {"test:scene=beach", "'beach' is no value for 'scene'"},
        {"test:noise=51", "'51' is no value for 'noise'"},
        {"test:noise=-1", "'-1' is no value for 'noise'"},
        {"test:noise=", "'' is no value for 'noise'"},
        {"test:noise=8,seed=4294967296", "'4294967296' is no value for 'seed'"},
        {"test:seed=1x", "allowed: test:scene=portrait|chart,noise=0..50,seed=0..4294967295"},
        {"test:colour=red", "unknown option 'colour' in 'test:colour=red': allowed: "},
        {"test:noise", "unknown option 'noise'"},
        {"test:,", "unknown option ''"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct source_config config = request(wrong[i].name);

        open_badly(&source_pattern, &config, -EINVAL, wrong[i].text);
    }
}

static void test_wrong_test_requests(void **state)
{
    struct source_config config = request("test:");

    (void)state;
    config.width = 321;
    config.height = 240;
    open_badly(&source_pattern, &config, -EINVAL,
               "'test:' cannot be 321x240: the width must be even");
    config.width = 20000;
    open_badly(&source_pattern, &config, -EINVAL, "at most 16384 pixels");
    config = request("test:");
    config.format = FRAME_MJPG;
    open_badly(&source_pattern, &config, -EINVAL, "'test:' cannot give mjpg; allowed: yuyv, ");
    config = request("test:");
    config.fps = (struct fraction){2000, 1};
    open_badly(&source_pattern, &config, -EINVAL, "'test:' cannot give 2000 frames per second");
}

static void test_odd_shapes(void **state)
{
    static const int sizes[][2] = {{2, 1}, {2, 2}, {16384, 1}, {2, 3000}, {514, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int scene = 0; scene < 2; scene++) {
            struct source *s = open_test(scene ? "test:scene=chart" : "test:", sizes[i][0],
                                         sizes[i][1], FRAME_I420);

            (void)read_until(s, 120);
            s->ops->close(s);
        }
}

/* ---------------------------------------------------------------- live test: */

static struct source *open_live(struct fraction fps, int stop_fd)
{
    struct source_config config = request("test:");

    config.width = 64;
    config.height = 36;
    config.fps = fps;
    config.stop_fd = stop_fd;
    return open_well(&source_pattern, &config);
}

static void test_live_keeps_the_rate(void **state)
{
    struct source *s = open_live((struct fraction){200, 1}, -1);
    const int64_t start = now_ns();
    struct frame f;
    uint64_t n = 0;

    (void)state;
    assert_true(s->live);
    assert_int_equal(s->fps.num, 200);
    do {
        assert_int_equal(s->ops->read(s, &f, NULL), 0);
        assert_true(f.t_capture_ns >= start + (int64_t)f.seq * 5000000);
        n++;
    } while (f.seq < 20);
    assert_int_equal(f.seq + 1, n + s->n_dropped);
    s->ops->close(s);
}

/* Frames that the reader was too late for are counted, and do not change those that follow. */
static void test_live_drops_what_was_missed(void **state)
{
    struct source *s = open_live((struct fraction){100, 1}, -1);
    struct source *all = open_test("test:", 64, 36, FRAME_YUYV);
    struct frame f, g;

    (void)state;
    assert_int_equal(s->ops->read(s, &f, NULL), 0);
    assert_int_equal(f.seq, 0);
    (void)usleep(100000);
    assert_int_equal(s->ops->read(s, &f, NULL), 0);
    assert_true(f.seq >= 10);
    assert_int_equal(s->n_dropped, f.seq - 1);
    g = read_until(all, f.seq);
    assert_true(checksum(&f) == checksum(&g));
    s->ops->close(s);
    all->ops->close(all);
}

/* What nobody wanted to read is not lost: after a rest the scene goes on where it was. */
static void test_live_rests(void **state)
{
    struct source *s = open_live((struct fraction){100, 1}, -1);
    struct frame f;

    (void)state;
    assert_int_equal(s->ops->read(s, &f, NULL), 0);
    (void)usleep(100000);
    s->rested = true;
    assert_int_equal(s->ops->read(s, &f, NULL), 0);
    assert_int_equal(f.seq, 1);
    assert_int_equal(s->n_dropped, 0);
    assert_false(s->rested);
    (void)usleep(100000);
    assert_int_equal(s->ops->read(s, &f, NULL), 0);
    assert_true(f.seq >= 11);
    assert_int_equal(s->n_dropped, f.seq - 2);
    s->ops->close(s);
}

static void test_stop_ends_the_wait_for_a_frame(void **state)
{
    const int stop_fd = event_open();
    struct source *s = open_live((struct fraction){1, 5}, stop_fd);

    (void)state;
    read_until_stopped(s, stop_fd);
    s->ops->close(s);
    event_close(stop_fd);
}

static void test_stop_ends_an_unpaced_scene(void **state)
{
    const int stop_fd = event_open();
    struct source_config config = request("test:");
    struct source *s;

    (void)state;
    config.stop_fd = stop_fd;
    config.width = 64;
    config.height = 36;
    s = open_well(&source_pattern, &config);
    read_until_stopped(s, stop_fd);
    s->ops->close(s);
    event_close(stop_fd);
}

/* A large scene takes long to be painted, and its pictures to be rendered. */
static void test_stop_ends_painting(void **state)
{
    const int stop_fd = event_open();
    struct source_config config = request("test:");
    struct source *s;
    struct frame truth;

    (void)state;
    config.stop_fd = stop_fd;
    config.width = 512;
    config.height = 512;
    s = open_well(&source_pattern, &config);
    truth = frame_for(s);
    assert_int_equal(s->ops->truth(s, 0, &truth), 0);
    event_ring(stop_fd);
    assert_int_equal(s->ops->truth(s, 0, &truth), -ECANCELED);
    frame_free(&truth);
    s->ops->close(s);
    config.height = FRAME_MAX_SIDE;
    open_badly(&source_pattern, &config, -ECANCELED, "'test:': stopped while its scene");
    event_close(stop_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_same_bytes_everywhere),
        cmocka_unit_test(test_truth_is_the_noise_free_frame),
        cmocka_unit_test(test_formats_agree),
        cmocka_unit_test(test_noise_is_like_a_sensors),
        cmocka_unit_test(test_noise_is_new_in_each_frame),
        cmocka_unit_test(test_wrong_test_options),
        cmocka_unit_test(test_wrong_test_requests),
        cmocka_unit_test(test_odd_shapes),
        cmocka_unit_test(test_live_keeps_the_rate),
        cmocka_unit_test(test_live_drops_what_was_missed),
        cmocka_unit_test(test_live_rests),
        cmocka_unit_test(test_stop_ends_the_wait_for_a_frame),
        cmocka_unit_test(test_stop_ends_an_unpaced_scene),
        cmocka_unit_test(test_stop_ends_painting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
