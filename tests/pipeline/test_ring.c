#include "tests/lib/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "pipeline/ring.h"

#define N_FRAMES 20000

struct bench {
    struct ring *ring;
    struct slot slots[8];
    struct slot *writer, *reader;
};

static void bench_init(struct bench *b, enum ring_policy policy, int capacity)
{
    memset(b, 0, sizeof(*b));
    assert_int_equal(ring_create(&b->ring, policy, capacity), 0);
    for (int i = 0; i < capacity; i++)
        ring_add(b->ring, &b->slots[i]);
    b->writer = &b->slots[capacity];
    b->reader = &b->slots[capacity + 1];
}

static void put(struct bench *b, uint64_t seq)
{
    b->writer->raw.seq = seq;
    assert_int_equal(ring_put(b->ring, &b->writer), 0);
}

static void test_latest_wins(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, RING_LATEST, 1);
    assert_int_equal(ring_take(b.ring, &b.reader, 0), -EAGAIN);
    for (uint64_t i = 0; i < 5; i++)
        put(&b, i);
    assert_int_equal(ring_take(b.ring, &b.reader, 0), 0);
    assert_int_equal(b.reader->raw.seq, 4);
    assert_int_equal(ring_dropped(b.ring), 4);
    assert_int_equal(ring_take(b.ring, &b.reader, now_ns() + 1000000), -EAGAIN);
    assert_int_equal(ring_take(b.ring, &b.reader, INT64_MIN), -EAGAIN);
    ring_destroy(b.ring);
}

static void test_order_is_kept(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, RING_LOSSLESS, 3);
    for (uint64_t i = 0; i < 3; i++)
        put(&b, i);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(ring_take(b.ring, &b.reader, 0), 0);
        assert_int_equal(b.reader->raw.seq, i);
    }
    ring_destroy(b.ring);
}

static void test_close_drains(void **state)
{
    struct bench b;
    struct slot *kept;

    (void)state;
    bench_init(&b, RING_LOSSLESS, 3);
    put(&b, 7);
    put(&b, 8);
    ring_close(b.ring);
    kept = b.writer;
    assert_int_equal(ring_put(b.ring, &b.writer), -EPIPE);
    assert_ptr_equal(b.writer, kept);
    assert_int_equal(ring_take(b.ring, &b.reader, INT64_MAX), 0);
    assert_int_equal(b.reader->raw.seq, 7);
    assert_int_equal(ring_discard(b.ring, &b.reader), 1);
    assert_int_equal(ring_take(b.ring, &b.reader, INT64_MAX), -EPIPE);
    ring_destroy(b.ring);
}

static void *write_all(void *arg)
{
    struct bench *b = arg;

    for (uint64_t i = 0; i < N_FRAMES; i++) {
        b->writer->raw.seq = i;
        if (ring_put(b->ring, &b->writer))
            break;
    }
    ring_close(b->ring);
    return NULL;
}

/* Lossless: everything arrives in order. Latest: what arrives and what was dropped make up
 * everything, still in order, and the last one always arrives. */
static void run_threads(enum ring_policy policy, int capacity)
{
    struct bench b;
    pthread_t writer;
    uint64_t n = 0, last = 0;

    bench_init(&b, policy, capacity);
    assert_int_equal(pthread_create(&writer, NULL, write_all, &b), 0);
    while (ring_take(b.ring, &b.reader, INT64_MAX) == 0) {
        if (policy == RING_LOSSLESS)
            assert_int_equal(b.reader->raw.seq, n);
        assert_true(n == 0 || b.reader->raw.seq > last);
        last = b.reader->raw.seq;
        n++;
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_int_equal(last, N_FRAMES - 1);
    assert_int_equal(n + ring_dropped(b.ring), N_FRAMES);
    if (policy == RING_LOSSLESS)
        assert_int_equal(ring_dropped(b.ring), 0);
    ring_destroy(b.ring);
}

static void test_two_threads(void **state)
{
    (void)state;
    run_threads(RING_LOSSLESS, 1);
    run_threads(RING_LOSSLESS, 3);
    run_threads(RING_LATEST, 1);
}

static void *close_soon(void *arg)
{
    ring_close(arg);
    return NULL;
}

static void test_close_wakes_a_waiting_writer(void **state)
{
    struct bench b;
    pthread_t closer;

    (void)state;
    bench_init(&b, RING_LOSSLESS, 1);
    put(&b, 0);
    assert_int_equal(pthread_create(&closer, NULL, close_soon, b.ring), 0);
    assert_int_equal(ring_put(b.ring, &b.writer), -EPIPE);
    assert_int_equal(pthread_join(closer, NULL), 0);
    ring_destroy(b.ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latest_wins),
        cmocka_unit_test(test_order_is_kept),
        cmocka_unit_test(test_close_drains),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_close_wakes_a_waiting_writer),
    };

    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
