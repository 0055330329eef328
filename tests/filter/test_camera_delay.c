/* The estimate of a camera's own delay: tables of stamps and readings. */
#include "tests/lib/unit.h"

#include "filter/camera_delay.h"

#define MS INT64_C(1000000)
#define INTERVAL_NS INT64_C(33333333)

/* @n frames that are read @delay_ns after their stamp, by a reader that has been waiting for
 * @waited_ns. Returns the last estimate. */
static int64_t read_after(struct camera_delay *d, int64_t *t_ns, int n, int64_t delay_ns,
                          int64_t waited_ns)
{
    int64_t estimate = -1;

    for (int i = 0; i < n; i++, *t_ns += INTERVAL_NS)
        estimate = camera_delay_step(d, *t_ns - delay_ns, *t_ns - waited_ns, *t_ns);
    return estimate;
}

/* The same with a reader that does nothing but wait. */
static int64_t read_frames(struct camera_delay *d, int64_t *t_ns, int n, int64_t delay_ns)
{
    return read_after(d, t_ns, n, delay_ns, INTERVAL_NS);
}

static void test_constant(void **state)
{
    (void)state;
    for (int64_t delay_ns = 0; delay_ns <= 60 * MS; delay_ns += 7 * MS)
        for (int n = 1; n < 1000; n = 2 * n + 1) {
            struct camera_delay d = {0};
            int64_t t_ns = 1000 * MS;

            assert_int_equal(read_frames(&d, &t_ns, n, delay_ns), delay_ns);
        }
}

/* What is read late now and then, or even most of the time, does not move the estimate. */
static void test_late_reading(void **state)
{
    struct camera_delay d = {0};
    int64_t t_ns = 1000 * MS;

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(read_frames(&d, &t_ns, 1, 10 * MS), 10 * MS);
        assert_int_equal(read_frames(&d, &t_ns, 1, 10 * MS), 10 * MS);
        assert_int_equal(read_after(&d, &t_ns, 5, 30 * MS, 0), 10 * MS);
    }
}

/* A reader that comes after the frame is due was late itself, however long it then waited. */
static void test_late_reader_that_waits(void **state)
{
    struct camera_delay d = {0};
    int64_t t_ns = 1000 * MS;

    (void)state;
    (void)read_frames(&d, &t_ns, 60, 10 * MS);
    assert_int_equal(read_after(&d, &t_ns, 50, 30 * MS, 19 * MS), 10 * MS);
}

/* Frames that are late now and then, seven in a row, or each by another time, are not believed to
 * stay so. */
static void test_jitter(void **state)
{
    struct camera_delay d = {0};
    int64_t t_ns = 1000 * MS;

    (void)state;
    (void)read_frames(&d, &t_ns, 60, 10 * MS);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(read_frames(&d, &t_ns, 7, 30 * MS), 10 * MS);
        assert_int_equal(read_frames(&d, &t_ns, 1, 10 * MS), 10 * MS);
    }
    (void)read_frames(&d, &t_ns, 60, 10 * MS);
    for (int i = 0; i < 20; i++)
        assert_int_equal(read_frames(&d, &t_ns, 1, (i % 2 ? 25 : 31) * MS), 10 * MS);
}

/* A camera that becomes slower is believed after eight frames, one that becomes quicker at once. A
 * reader that is always late is believed to be the camera after two seconds. */
static void test_steps(void **state)
{
    struct camera_delay d = {0};
    int64_t t_ns = 1000 * MS;

    (void)state;
    (void)read_frames(&d, &t_ns, 90, 10 * MS);
    assert_int_equal(read_frames(&d, &t_ns, 7, 40 * MS), 10 * MS);
    assert_int_equal(read_frames(&d, &t_ns, 1, 41 * MS), 41 * MS);
    assert_int_equal(read_frames(&d, &t_ns, 60, 40 * MS), 40 * MS);
    assert_int_equal(read_frames(&d, &t_ns, 8, 10 * MS), 10 * MS);
    (void)read_frames(&d, &t_ns, 60, 10 * MS);
    assert_int_equal(read_after(&d, &t_ns, 30, 40 * MS, 0), 10 * MS);
    assert_int_equal(read_after(&d, &t_ns, 31, 40 * MS, 0), 40 * MS);
}

static void test_odd_first_frame(void **state)
{
    struct camera_delay d = {0};
    int64_t t_ns = 1000 * MS;

    (void)state;
    (void)read_frames(&d, &t_ns, 1, 1 * MS);
    for (int i = 0; i < 100; i++)
        assert_int_equal(read_frames(&d, &t_ns, 1, 34 * MS), 34 * MS);
}

/* Stamps of the future, clocks that stand still or run back, and a pause. */
static void test_strange_clocks(void **state)
{
    struct camera_delay d = {0};
    int64_t t_ns = 10000 * MS;

    (void)state;
    assert_int_equal(read_frames(&d, &t_ns, 10, -5 * MS), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(camera_delay_step(&d, t_ns, t_ns, t_ns), 0);
    t_ns -= 5000 * MS;
    assert_true(read_frames(&d, &t_ns, 300, 20 * MS) >= 0);
    t_ns += 100000 * MS;
    assert_int_equal(read_frames(&d, &t_ns, 2, 20 * MS), 20 * MS);
}

/* Another camera begins with what it shows itself. */
static void test_reset(void **state)
{
    struct camera_delay d = {0};
    int64_t t_ns = 1000 * MS;

    (void)state;
    (void)read_frames(&d, &t_ns, 60, 5 * MS);
    camera_delay_reset(&d);
    assert_int_equal(read_frames(&d, &t_ns, 1, 45 * MS), 45 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_late_reading),
        cmocka_unit_test(test_late_reader_that_waits),
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_odd_first_frame),
        cmocka_unit_test(test_strange_clocks),
        cmocka_unit_test(test_reset),
    };

    return cmocka_run_group_tests_name("camera delay", tests, NULL, NULL);
}
