/* Handing slots to several readers, of which each goes at its own pace. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "pipeline/fan.h"

#define N_FRAMES 20000
#define N_READERS 3

struct bench {
    struct fan *fan;
    struct slot slots[16];
    struct slot *writer;
    uint64_t seq[N_READERS][N_FRAMES]; /* what each reader got */
    int n[N_READERS];
    uint64_t n_shown;
};

static struct bench bench;

static struct bench *bench_init(enum ring_policy policy, int n_readers)
{
    struct bench *b = &bench;
    const int n = fan_capacity(policy, n_readers);

    memset(b, 0, sizeof(*b));
    assert_int_equal(fan_create(&b->fan, policy, n_readers), 0);
    for (int i = 0; i < n; i++)
        fan_add(b->fan, &b->slots[i]);
    b->writer = &b->slots[n];
    return b;
}

static void put(struct bench *b, uint64_t seq)
{
    b->writer->raw.seq = seq;
    assert_int_equal(fan_put(b->fan, &b->writer), 0);
}

/* The frame that @reader gets now; -EAGAIN or -EPIPE. */
static int take(struct bench *b, int reader)
{
    struct slot *slot = NULL;
    const int r = fan_take(b->fan, reader, &slot, 0);

    if (r)
        return r;
    (void)fan_show(b->fan, slot);
    return (int)slot->raw.seq;
}

/* A reader that takes nothing loses its own frames only, and never holds up the writer. */
static void test_slow_reader(void **state)
{
    struct bench *b = bench_init(RING_LATEST, 3);

    (void)state;
    put(b, 0);
    assert_int_equal(take(b, 1), 0); /* and is not seen again for a while */
    for (int i = 0; i < 50; i++) {
        assert_int_equal(take(b, 0), i);
        assert_int_equal(take(b, 0), -EAGAIN);
        put(b, (uint64_t)i + 1);
        if (i % 10 == 0)
            assert_int_equal(take(b, 2), i + 1);
    }
    assert_int_equal(take(b, 1), 50);
    assert_int_equal(take(b, 1), -EAGAIN);
    assert_int_equal(take(b, 2), 50);
    assert_int_equal(fan_dropped(b->fan), 0); /* somebody has shown each of them */
    fan_destroy(b->fan);
}

/* What one reader holds stays as it is until it takes the next. */
static void test_held(void **state)
{
    struct bench *b = bench_init(RING_LATEST, 2);
    struct slot *held = NULL;

    (void)state;
    put(b, 7);
    assert_int_equal(fan_take(b->fan, 0, &held, 0), 0);
    for (uint64_t i = 8; i < 20; i++) {
        put(b, i);
        assert_ptr_not_equal(b->writer, held);
        assert_int_equal(take(b, 1), i);
    }
    assert_int_equal(held->raw.seq, 7);
    fan_destroy(b->fan);
}

static void test_dropped(void **state)
{
    struct bench *b = bench_init(RING_LATEST, 2);
    struct slot *slot = NULL;

    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        put(b, i);
    assert_int_equal(fan_dropped(b->fan), 4);
    assert_int_equal(fan_take(b->fan, 0, &slot, 0), 0);
    assert_int_equal(fan_take(b->fan, 1, &slot, 0), 0);
    assert_true(fan_show(b->fan, slot));
    assert_false(fan_show(b->fan, slot));
    put(b, 5);
    fan_leave(b->fan, 0);
    fan_leave(b->fan, 1);
    assert_int_equal(fan_dropped(b->fan), 5); /* the last, too */
    assert_int_equal(fan_put(b->fan, &b->writer), -EPIPE);
    fan_destroy(b->fan);
}

static void test_close_drains(void **state)
{
    struct bench *b = bench_init(RING_LOSSLESS, 2);

    (void)state;
    put(b, 0);
    fan_close(b->fan);
    assert_int_equal(fan_put(b->fan, &b->writer), -EPIPE);
    assert_int_equal(take(b, 0), 0);
    assert_int_equal(take(b, 0), -EPIPE);
    assert_int_equal(take(b, 1), 0);
    assert_int_equal(take(b, 1), -EPIPE);
    fan_destroy(b->fan);
}

static void *write_all(void *arg)
{
    struct bench *b = arg;

    for (uint64_t i = 0; i < N_FRAMES; i++) {
        b->writer->raw.seq = i;
        if (fan_put(b->fan, &b->writer))
            break;
    }
    fan_close(b->fan);
    return NULL;
}

static void *read_all(void *arg)
{
    struct bench *b = &bench;
    const int reader = *(const int *)arg;
    struct slot *slot;

    while (fan_take(b->fan, reader, &slot, now_ns() + 10 * NS_PER_S) == 0) {
        b->seq[reader][b->n[reader]++] = slot->raw.seq;
        if (fan_show(b->fan, slot))
            (void)__atomic_add_fetch(&b->n_shown, 1, __ATOMIC_RELAXED);
        if (reader == 2 && b->n[2] == N_FRAMES / 2)
            break; /* it fails half way */
    }
    fan_leave(b->fan, reader);
    return NULL;
}

/* Lossless: everything gets everywhere. Latest: in order, the last to all, and what nobody showed
 * is counted. */
static void run_threads(enum ring_policy policy)
{
    struct bench *b = bench_init(policy, N_READERS);
    pthread_t writer, readers[N_READERS];
    int numbers[N_READERS];

    for (int i = 0; i < N_READERS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&readers[i], NULL, read_all, &numbers[i]), 0);
    }
    assert_int_equal(pthread_create(&writer, NULL, write_all, b), 0);
    assert_int_equal(pthread_join(writer, NULL), 0);
    for (int i = 0; i < N_READERS; i++)
        assert_int_equal(pthread_join(readers[i], NULL), 0);
    for (int i = 0; i < N_READERS; i++)
        for (int k = 0; k < b->n[i]; k++)
            if (policy == RING_LOSSLESS)
                assert_int_equal(b->seq[i][k], k);
            else
                assert_true(k == 0 || b->seq[i][k] > b->seq[i][k - 1]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(b->seq[i][b->n[i] - 1], N_FRAMES - 1);
    assert_int_equal(b->n_shown + fan_dropped(b->fan), N_FRAMES);
    if (policy == RING_LOSSLESS)
        assert_int_equal(fan_dropped(b->fan), 0);
    fan_destroy(b->fan);
}

static void test_threads(void **state)
{
    (void)state;
    run_threads(RING_LOSSLESS);
    run_threads(RING_LATEST);
}

static void *leave_soon(void *arg)
{
    fan_leave(arg, 0);
    return NULL;
}

/* The last reader that goes wakes a writer who waits for it. */
static void test_last_reader_leaves(void **state)
{
    struct bench *b = bench_init(RING_LOSSLESS, 1);
    pthread_t leaver;

    (void)state;
    for (int i = 0; i < fan_capacity(RING_LOSSLESS, 1); i++)
        put(b, (uint64_t)i);
    assert_int_equal(pthread_create(&leaver, NULL, leave_soon, b->fan), 0);
    assert_int_equal(fan_put(b->fan, &b->writer), -EPIPE);
    assert_int_equal(pthread_join(leaver, NULL), 0);
    fan_destroy(b->fan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_reader), cmocka_unit_test(test_held),
        cmocka_unit_test(test_dropped),     cmocka_unit_test(test_close_drains),
        cmocka_unit_test(test_threads),     cmocka_unit_test(test_last_reader_leaves),
    };

    return cmocka_run_group_tests_name("fan", tests, NULL, NULL);
}
