/* A pool of threads. */
#include "tests/lib/unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/workers.h"

#define N_THREADS 4

static pthread_barrier_t all_here; /* so that each thread takes one item */
static atomic_int n_wrong, n_calls;

static void look(void *arg, int worker, int item)
{
    char name[32] = "", expected[32];
    sigset_t blocked;

    (void)arg, (void)item;
    (void)pthread_barrier_wait(&all_here);
    atomic_fetch_add(&n_calls, 1);
    if (!worker) /* the caller */
        return;
    (void)snprintf(expected, sizeof(expected), "filter-%d", worker);
    (void)pthread_getname_np(pthread_self(), name, sizeof(name));
    (void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (strcmp(name, expected) || !sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGHUP))
        atomic_fetch_add(&n_wrong, 1);
}

/* A signal that one of them took would interrupt nothing of what main waits for. */
static void test_signals_are_blocked(void **state)
{
    struct workers *w = NULL;
    sigset_t blocked;

    (void)state;
    assert_int_equal(pthread_barrier_init(&all_here, NULL, N_THREADS), 0);
    assert_int_equal(workers_create(&w, "filter", N_THREADS), 0);
    workers_run(w, look, NULL, N_THREADS);
    workers_destroy(w);
    (void)pthread_barrier_destroy(&all_here);
    assert_int_equal(n_calls, N_THREADS);
    assert_int_equal(n_wrong, 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    assert_false(sigismember(&blocked, SIGTERM));
}

static atomic_int n_calls_of[N_THREADS];

static void count(void *arg, int worker, int item)
{
    (void)arg, (void)item;
    atomic_fetch_add(&n_calls_of[worker], 1);
}

/* Those that have a job wait for each other, so that all must come. */
static void meet(void *arg, int worker, int item)
{
    count(arg, worker, item);
    (void)pthread_barrier_wait(&all_here);
}

static void test_as_many_as_asked_for(void **state)
{
    struct workers *w = NULL;

    (void)state;
    assert_int_equal(workers_create(&w, "filter", N_THREADS), 0);
    assert_int_equal(workers_used(w), N_THREADS);
    for (int n = N_THREADS; n >= 1; n--) {
        memset(n_calls_of, 0, sizeof(n_calls_of));
        workers_use(w, n);
        assert_int_equal(workers_used(w), n);
        assert_int_equal(pthread_barrier_init(&all_here, NULL, (unsigned)n), 0);
        workers_run(w, meet, NULL, n);
        (void)pthread_barrier_destroy(&all_here);
        for (int i = 0; i < N_THREADS; i++)
            assert_int_equal(n_calls_of[i], i < n);
    }
    /* A few items, none of which is lost, and all threads again. */
    memset(n_calls_of, 0, sizeof(n_calls_of));
    for (int n = 1; n <= N_THREADS; n++)
        for (int i = 0; i < 500; i++) {
            workers_use(w, n);
            workers_run(w, count, NULL, 1 + i % 3);
        }
    for (int i = 1; i < N_THREADS; i++)
        n_calls_of[0] += n_calls_of[i];
    assert_int_equal(n_calls_of[0], N_THREADS * (500 * 2 - 1));
    workers_destroy(w);
}

#define MOST_CPUS 64
static cpu_set_t seen[MOST_CPUS];

static void look_where(void *arg, int worker, int item)
{
    (void)arg, (void)item;
    (void)sched_getaffinity(0, sizeof(seen[worker]), &seen[worker]);
    (void)pthread_barrier_wait(&all_here);
}

/* Where each of @n threads may run: to `seen`. */
static void look_where_all_are(int n)
{
    struct workers *w = NULL;

    assert_int_equal(pthread_barrier_init(&all_here, NULL, (unsigned)n), 0);
    assert_int_equal(workers_create(&w, "filter", n), 0);
    workers_run(w, look_where, NULL, n);
    workers_destroy(w);
    (void)pthread_barrier_destroy(&all_here);
}

static void test_off_the_callers_processor(void **state)
{
    cpu_set_t all, taken;
    int n;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    n = CPU_COUNT(&all);
    n = n < MOST_CPUS ? n : MOST_CPUS;
    CPU_ZERO(&taken);
    look_where_all_are(n);
    assert_true(CPU_EQUAL(&seen[0], &all));
    for (int i = 1; i < n; i++) {
        if (n == CPU_COUNT(&all))
            assert_int_equal(CPU_COUNT(&seen[i]), 1);
        CPU_OR(&taken, &taken, &seen[i]);
    }
    assert_int_equal(CPU_COUNT(&taken), CPU_COUNT(&all) - 1);
    if (n > 2) {
        look_where_all_are(2);
        assert_int_equal(CPU_COUNT(&seen[1]), CPU_COUNT(&all) - 1);
    }
}

/* A pool that has run before follows the caller's processors, and has all where they are too few.
 */
static void test_fewer_processors(void **state)
{
    struct workers *w = NULL;
    cpu_set_t all, one;
    int cpu = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(pthread_barrier_init(&all_here, NULL, 2), 0);
    assert_int_equal(workers_create(&w, "filter", 2), 0);
    workers_run(w, look_where, NULL, 2);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    workers_run(w, look_where, NULL, 2);
    assert_true(CPU_EQUAL(&seen[1], &one));
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    workers_run(w, look_where, NULL, 2);
    assert_int_equal(CPU_COUNT(&seen[1]),
                     CPU_COUNT(&all) > 1 ? CPU_COUNT(&all) - 1 : CPU_COUNT(&all));
    workers_destroy(w);
    (void)pthread_barrier_destroy(&all_here);
}

/* More threads than processors stay where the system puts them. */
static void test_too_many_for_that(void **state)
{
    cpu_set_t all;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    if (CPU_COUNT(&all) >= MOST_CPUS)
        skip();
    look_where_all_are(CPU_COUNT(&all) + 1);
    for (int i = 0; i <= CPU_COUNT(&all); i++)
        assert_true(CPU_EQUAL(&seen[i], &all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals_are_blocked),
        cmocka_unit_test(test_as_many_as_asked_for),
        cmocka_unit_test(test_off_the_callers_processor),
        cmocka_unit_test(test_fewer_processors),
        cmocka_unit_test(test_too_many_for_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
