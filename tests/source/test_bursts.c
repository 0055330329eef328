/* When the pictures of a live stream are shown, by when they came. */
#include "tests/lib/unit.h"

#include "source/bursts.h"

#define MS INT64_C(1000000)
#define INTERVAL_NS (40 * MS)

/* Pieces of @n pictures, of which each piece comes at once when its last picture was taken, and
 * @late_ns(i) after that. Returns the longest time between two that are shown, from picture
 * @from on; *@ret_delay_ns is the last one's, after it was taken. */
static int64_t send_pieces(struct bursts *b, int n_pieces, int n, int64_t (*late_ns)(int), int from,
                           int64_t *ret_delay_ns)
{
    int64_t t_last_ns = 0, longest_ns = 0;
    int64_t busy_ns = 0; /* until then the last picture was held back */

    for (int i = 0; i < n_pieces * n; i++) {
        const int piece = i / n;
        const int64_t t_sent_ns = (piece + 1) * n * INTERVAL_NS + late_ns(piece);
        const int64_t t_ns = t_sent_ns > busy_ns ? t_sent_ns : busy_ns;
        const int64_t due_ns = bursts_due(b, 777 * MS + i * INTERVAL_NS, t_ns);

        assert_true(due_ns >= t_ns);
        if (i > from && due_ns - t_last_ns > longest_ns)
            longest_ns = due_ns - t_last_ns;
        busy_ns = t_last_ns = due_ns;
        *ret_delay_ns = due_ns - i * INTERVAL_NS;
    }
    return longest_ns;
}

static int64_t never(int piece)
{
    (void)piece;
    return 0;
}

static int64_t once(int piece)
{
    return piece == 5 ? 700 * MS : 0;
}

/* What comes in pieces runs evenly from its first picture on. */
static void test_pieces(void **state)
{
    (void)state;
    for (int n = 5; n < 300; n *= 2) {
        struct bursts b;
        int64_t delay_ns;

        bursts_init(&b, true);
        assert_int_equal(send_pieces(&b, 20, n, never, 0, &delay_ns), INTERVAL_NS);
        assert_int_equal(delay_ns, n * INTERVAL_NS);
    }
}

/* A piece that is late is shown whole, and what it is late by is taken back in time. */
static void test_late(void **state)
{
    struct bursts b;
    int64_t delay_ns;

    (void)state;
    bursts_init(&b, true);
    assert_int_equal(send_pieces(&b, 8, 25, once, 0, &delay_ns), INTERVAL_NS + 700 * MS);
    assert_true(delay_ns > 1000 * MS && delay_ns <= 1700 * MS);
    bursts_init(&b, true);
    assert_int_equal(send_pieces(&b, 60, 25, once, 7 * 25, &delay_ns), INTERVAL_NS);
    assert_int_equal(delay_ns, 1000 * MS);
}

/* What nobody said comes in pieces is known by that it does, over and over. */
static void test_found(void **state)
{
    (void)state;
    for (int n = 10; n < 100; n *= 2) {
        struct bursts b;
        int64_t delay_ns;

        bursts_init(&b, false);
        assert_int_equal(send_pieces(&b, 20, n, never, 6 * n, &delay_ns), INTERVAL_NS);
        assert_true(b.paced);
    }
}

/* A camera's pictures are shown when they come, though a network hangs and catches up. */
static void test_camera(void **state)
{
    struct bursts b;

    (void)state;
    bursts_init(&b, false);
    for (int i = 0; i < 5000; i++) {
        const int64_t shown_ns = i * INTERVAL_NS;
        const int into = i % 100, held = i % 1000 < 500 ? 10 : 60;
        const int64_t t_ns = 5000 * MS + (into < held ? shown_ns + (held - into) * INTERVAL_NS
                                                      : shown_ns + (i * 7 % 30) * MS);

        assert_int_equal(bursts_due(&b, shown_ns, t_ns), t_ns);
    }
    assert_false(b.paced);
    /* One that takes a picture every two seconds. */
    for (int i = 0; i < 100; i++)
        assert_int_equal(bursts_due(&b, i * 2000 * MS, i * 2000 * MS), i * 2000 * MS);
}

/* Times that jump, or are none, hold nothing back. */
static void test_jumps(void **state)
{
    static const int64_t jumps[] = {-2000 * MS, 6000 * MS, INT64_MAX / 5, INT64_MIN / 5};
    struct bursts b;

    (void)state;
    bursts_init(&b, true);
    assert_int_equal(bursts_due(&b, 100 * MS, 50 * MS), 50 * MS);
    assert_int_equal(bursts_due(&b, 140 * MS, 50 * MS), 90 * MS);
    for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
        assert_int_equal(bursts_due(&b, jumps[i], 90 * MS), 90 * MS);
        assert_int_equal(bursts_due(&b, jumps[i] + 40 * MS, 90 * MS), 130 * MS);
    }
    assert_int_equal(bursts_due(&b, BURSTS_NO_TIME, 90 * MS), 90 * MS);
    assert_int_equal(bursts_due(&b, INT64_MAX, 90 * MS), 90 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces), cmocka_unit_test(test_late),  cmocka_unit_test(test_found),
        cmocka_unit_test(test_camera), cmocka_unit_test(test_jumps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
