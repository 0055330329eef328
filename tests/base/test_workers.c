/* A pool of threads. */
#include "tests/lib/unit.h"

#include <pthread.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals_are_blocked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
