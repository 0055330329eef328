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

/* Sends picture @i, whose time is @shown_ns, at @t_sent_ns, or once the one before was shown.
 * Returns how long after it was sent it is shown. */
static int64_t send(struct bursts *b, int64_t *busy_ns, int64_t shown_ns, int64_t t_sent_ns)
{
    const int64_t t_ns = t_sent_ns > *busy_ns ? t_sent_ns : *busy_ns;

    *busy_ns = bursts_due(b, shown_ns, t_ns);
    assert_true(*busy_ns >= t_ns);
    return *busy_ns - t_sent_ns;
}

/* When picture @i was sent, of those that come 25 at once. */
static int64_t in_pieces(int i)
{
    return (i / 25 + 1) * 25 * INTERVAL_NS;
}

/* Times that jump forward over and over do not make the stream late. */
static void test_forward(void **state)
{
    (void)state;
    for (int n_jumps = 3; n_jumps <= 8; n_jumps += 5) {
        struct bursts b;
        int64_t busy_ns = 0, longest_ns = 0;

        bursts_init(&b, true);
        for (int i = 0; i < 1000; i++) {
            const int jumps = i / 110 < n_jumps ? i / 110 : n_jumps;
            const int64_t delay_ns =
                send(&b, &busy_ns, i * INTERVAL_NS + jumps * 4000 * MS, in_pieces(i));

            longest_ns = delay_ns > longest_ns ? delay_ns : longest_ns;
        }
        assert_true(longest_ns < 1500 * MS);
    }
}

/* A clock that runs faster or slower than ours, for an hour. */
static void test_drift(void **state)
{
    (void)state;
    for (int ppm = -500; ppm <= 500; ppm += 1000) {
        struct bursts b;
        int64_t busy_ns = 0, longest_ns = 0;

        bursts_init(&b, true);
        for (int64_t i = 0; i < 3600 * 25; i++) {
            const int64_t shown_ns = i * INTERVAL_NS + i * INTERVAL_NS / 1000000 * ppm;
            const int64_t delay_ns = send(&b, &busy_ns, shown_ns, in_pieces((int)i));

            longest_ns = delay_ns > longest_ns ? delay_ns : longest_ns;
        }
        assert_true(longest_ns < 1500 * MS);
    }
}

/* 100 pictures in a second that say 25, from a network that hangs every five seconds or minutes. */
static void test_wrong_times(void **state)
{
    (void)state;
    for (int every = 500; every <= 30000; every *= 60) {
        struct bursts b;
        int64_t busy_ns = 0, longest_ns = 0;

        bursts_init(&b, false);
        for (int64_t i = 0; i < 100 * 1800; i++) {
            const int64_t hangs_ns = i % every < 30 ? (30 - i % every) * 10 * MS : 0;
            const int64_t delay_ns = send(&b, &busy_ns, i * INTERVAL_NS, i * 10 * MS + hangs_ns);

            longest_ns = delay_ns > longest_ns ? delay_ns : longest_ns;
        }
        assert_true(longest_ns < 1000 * MS);
    }
}

/* What hangs for longer than pieces are long is not one of bursts. */
static void test_far_apart(void **state)
{
    struct bursts b;
    int64_t busy_ns = 0;

    (void)state;
    bursts_init(&b, false);
    for (int i = 0; i < 10 * 500; i++)
        (void)send(&b, &busy_ns, i * INTERVAL_NS, (i / 500 + 1) * 20000 * MS);
    assert_false(b.paced);
}

/* A camera that sent bursts for a while, and none any more, is shown at once in the end. */
static void test_even_again(void **state)
{
    (void)state;
    for (int jitter = 0; jitter <= 30; jitter += 30) {
        struct bursts b;
        int64_t busy_ns = 0, delay_ns = 0;

        bursts_init(&b, false);
        for (int i = 0; i < 250; i++)
            (void)send(&b, &busy_ns, i * INTERVAL_NS, in_pieces(i));
        assert_true(b.paced);
        for (int i = 250; i < 5000; i++)
            delay_ns = send(&b, &busy_ns, i * INTERVAL_NS,
                            i * INTERVAL_NS + (jitter ? i * 7 % jitter : 0) * MS);
        assert_false(b.paced);
        assert_int_equal(delay_ns, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),    cmocka_unit_test(test_late),
        cmocka_unit_test(test_found),     cmocka_unit_test(test_camera),
        cmocka_unit_test(test_jumps),     cmocka_unit_test(test_forward),
        cmocka_unit_test(test_drift),     cmocka_unit_test(test_wrong_times),
        cmocka_unit_test(test_far_apart), cmocka_unit_test(test_even_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
