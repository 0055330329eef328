/* The search for motion: shifts that are known are found, and what stands still is left alone. */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "engine/time/motion.h"
#include "tests/lib/images.h"

#define WIDTH 192
#define HEIGHT 128

/* Smooth random luma at a point in eighths of a sample. */
static int texture(int x8, int y8)
{
    static const int cell = 48; /* 6 samples */
    const int cx = (x8 + (1 << 20) * cell) / cell, cy = (y8 + (1 << 20) * cell) / cell;
    const int fx = (x8 + (1 << 20) * cell) % cell, fy = (y8 + (1 << 20) * cell) % cell;
    int sum = 0;

    for (int k = 0; k < 4; k++) {
        uint64_t seed = (uint64_t)(cx + (k & 1)) * 7919 + (uint64_t)(cy + (k >> 1)) * 104729;
        const int v = (int)(random_next(&seed) % 200) + 20;

        sum += v * (k & 1 ? fx : cell - fx) * (k >> 1 ? fy : cell - fy);
    }
    return sum / (cell * cell);
}

/* The texture as seen when it has moved by (@dx8, @dy8), with noise of +-@noise. */
static void paint(struct frame *f, int dx8, int dy8, int noise, uint64_t seed)
{
    const struct samples luma = frame_samples(f, 0);

    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++)
            luma.base[(size_t)y * luma.stride + (size_t)x * (size_t)luma.step] =
                (uint8_t)(texture(8 * x - dx8, 8 * y - dy8) +
                          (noise ? (int)(random_next(&seed) % (uint64_t)(2 * noise + 1)) - noise
                                 : 0));
}

struct pair {
    struct frame frame[2]; /* before, now */
    struct pyramid pyramid[2];
    struct motion_search *search;
    const struct motion_vector *vector;
    int cols, rows;
};

static void open_pair(struct pair *p, enum frame_format format, int width, int height)
{
    memset(p, 0, sizeof(*p));
    for (int i = 0; i < 2; i++) {
        p->frame[i] = (struct frame){.format = format, .width = width, .height = height};
        assert_int_equal(frame_alloc(&p->frame[i]), 0);
        assert_int_equal(pyramid_create(&p->pyramid[i], width, height), 0);
    }
    assert_int_equal(motion_create(&p->search, width, height), 0);
    p->cols = (width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    p->rows = (height + MOTION_BLOCK - 1) / MOTION_BLOCK;
}

static void find(struct pair *p)
{
    for (int i = 0; i < 2; i++)
        pyramid_build(&p->pyramid[i], &p->frame[i]);
    p->vector = motion_find(p->search, &p->pyramid[1], &p->pyramid[0]);
}

static void close_pair(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        frame_free(&p->frame[i]);
        pyramid_finish(&p->pyramid[i]);
    }
    motion_destroy(p->search);
}

/* Blocks away from the edge whose vector is (@x8, @y8) to within @off eighths, in percent. */
static int found(const struct pair *p, int x8, int y8, int off)
{
    int n = 0, hits = 0;

    for (int row = 2; row < p->rows - 2; row++)
        for (int col = 2; col < p->cols - 2; col++, n++) {
            const struct motion_vector v = p->vector[row * p->cols + col];

            hits += abs(v.x - x8) <= off && abs(v.y - y8) <= off;
        }
    return 100 * hits / n;
}

static void test_shifts_are_found(void **state)
{
    static const struct {
        int x8, y8, noise, off, percent;
    } cases[] = {
        {0, 0, 0, 0, 100},   {8, 0, 0, 0, 97},    {-16, 8, 0, 0, 97}, {24, -24, 0, 0, 97},
        {56, 40, 0, 0, 97},  {-80, 16, 0, 0, 95}, {4, 0, 0, 1, 80},   {2, 6, 0, 1, 85},
        {-13, 21, 0, 1, 80}, {8, 0, 8, 1, 85},    {-16, 8, 8, 1, 85}, {-13, 21, 8, 1, 97},
        {12, -5, 16, 1, 97},
    };
    struct pair p;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_pair(&p, FRAME_YUYV, WIDTH, HEIGHT);
        paint(&p.frame[0], 0, 0, cases[i].noise, 1);
        paint(&p.frame[1], cases[i].x8, cases[i].y8, cases[i].noise, 2);
        find(&p);
        /* A vector points to where the block was. */
        if (found(&p, -cases[i].x8, -cases[i].y8, cases[i].off) < cases[i].percent)
            fail_msg("case %zu: %d %% found", i,
                     found(&p, -cases[i].x8, -cases[i].y8, cases[i].off));
        close_pair(&p);
    }
}

/* Noise alone must not make a still picture move: it would be blurred. */
static void test_noise_does_not_move(void **state)
{
    struct pair p;

    (void)state;
    open_pair(&p, FRAME_YUYV, WIDTH, HEIGHT);
    paint(&p.frame[0], 0, 0, 5, 3);
    paint(&p.frame[1], 0, 0, 5, 4);
    find(&p);
    assert_in_range(found(&p, 0, 0, 0), 97, 100);
    close_pair(&p);
}

/* Two halves that move against each other. */
static void test_parts_move_apart(void **state)
{
    struct pair p;
    int right = 0, n = 0;

    (void)state;
    open_pair(&p, FRAME_I420, WIDTH, HEIGHT);
    for (int i = 0; i < 2; i++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                p.frame[i].plane[0][(size_t)y * p.frame[i].stride[0] + (size_t)x] =
                    (uint8_t)texture(8 * x - (y < HEIGHT / 2 ? 40 : -32) * i,
                                     8 * y + (y < HEIGHT / 2 ? 0 : 9999));
    find(&p);
    for (int row = 1; row < p.rows - 1; row++)
        for (int col = 2; col < p.cols - 2; col++) {
            const struct motion_vector v = p.vector[row * p.cols + col];

            if (row == p.rows / 2 || row == p.rows / 2 - 1)
                continue; /* these see both */
            n++;
            right += abs(v.x - (row < p.rows / 2 ? -40 : 32)) <= 1 && abs(v.y) <= 1;
        }
    assert_in_range(100 * right / n, 97, 100);
    close_pair(&p);
}

/* About an eighth of the root, as a power of 2, up to the most that sums of 16 bits can do. */
static void test_weights(void **state)
{
    static const struct {
        int rise, weight;
    } cases[] = {{-5, 1},   {0, 1},    {127, 1},   {128, 2},    {511, 2},    {512, 4},
                 {2047, 4}, {2048, 8}, {8192, 16}, {32767, 16}, {32768, 32}, {262144, 32}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(motion_weight(cases[i].rise), cases[i].weight);
    assert_true(MOTION_HEAVIEST * MOTION_ALIKE * (2 * MOTION_REACH + 1) * (2 * MOTION_REACH + 1) <=
                INT16_MAX);
}

/* A sample is what noise alone makes of a block that stands still, more is not. */
static void test_far(void **state)
{
    (void)state;
    assert_false(motion_is_far((struct motion_vector){0, 0}));
    assert_false(motion_is_far((struct motion_vector){-8, 0}));
    assert_false(motion_is_far((struct motion_vector){4, -4}));
    assert_true(motion_is_far((struct motion_vector){0, 9}));
    assert_true(motion_is_far((struct motion_vector){-5, -4}));
}

/* A half that stands still takes nothing from the vectors of one that moves by as little as half a
 * sample. */
static void test_what_stands_still_is_left_out(void **state)
{
    struct pair p;
    int alike = 0;

    (void)state;
    open_pair(&p, FRAME_GREY, WIDTH, HEIGHT);
    for (int i = 0; i < 2; i++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                p.frame[i].plane[0][(size_t)y * p.frame[i].stride[0] + (size_t)x] =
                    (uint8_t)texture(8 * x - (x < WIDTH / 2 ? 0 : 4 * i), 8 * y);
    find(&p);
    for (int row = 0; row < p.rows; row++) {
        const struct motion_vector *v = &p.vector[row * p.cols + p.cols / 2 + 1];

        assert_true(!v[-4].x && !v[-4].y);
        alike += abs(v->x + 4) <= 1 && abs(v->y) <= 1;
    }
    assert_in_range(100 * alike / p.rows, 80, 100);
    close_pair(&p);
}

/* Pictures smaller than a block, with rows and columns left over: no vector leads further than the
 * search reaches, and nothing is read outside (which a sanitizer would see). */
static void test_small_and_odd_sizes(void **state)
{
    static const int sizes[][2] = {{2, 1}, {2, 2}, {4, 3}, {8, 8}, {10, 9}, {18, 31}, {62, 17}};
    struct pair p;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        open_pair(&p, FRAME_YUYV, sizes[i][0], sizes[i][1]);
        image_fill(&p.frame[0], IMAGE_RANDOM, 1);
        image_fill(&p.frame[1], IMAGE_RANDOM, 2);
        find(&p);
        for (int k = 0; k < p.cols * p.rows; k++) {
            assert_in_range(p.vector[k].x + 380, 0, 760);
            assert_in_range(p.vector[k].y + 380, 0, 760);
        }
        close_pair(&p);
    }
}

/* The search reaches 47 samples each way, in pictures of any size. */
static void test_reach(void **state)
{
    static const int cases[][4] = {
        /* width, height, samples, percent of all blocks that see where they were */
        {1200, 1000, 43, 80},
        {640, 480, 38, 70},
        {320, 240, 35, 50},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int far = 8 * cases[i][2];
        struct pair p;

        open_pair(&p, FRAME_GREY, cases[i][0], cases[i][1]);
        paint(&p.frame[0], 0, 0, 8, 1);
        paint(&p.frame[1], far, -far, 8, 2);
        find(&p);
        assert_in_range(found(&p, -far, far, 1), cases[i][3], 100);
        close_pair(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shifts_are_found),
        cmocka_unit_test(test_noise_does_not_move),
        cmocka_unit_test(test_parts_move_apart),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_what_stands_still_is_left_out),
        cmocka_unit_test(test_small_and_odd_sizes),
        cmocka_unit_test(test_reach),
    };

    return cmocka_run_group_tests_name("motion", tests, NULL, NULL);
}
