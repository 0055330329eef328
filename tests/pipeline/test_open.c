/* Opening the pipeline while descriptors run out. */
#include "tests/lib/unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pipeline/pipeline.h"

static int n_left = -1; /* eventfds that can still be made; negative: any number */

int __real_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags);

int __wrap_eventfd(unsigned count, int flags)
{
    if (n_left == 0) {
        errno = EMFILE;
        return -1;
    }
    n_left -= n_left > 0;
    return __real_eventfd(count, flags);
}

static int count_descriptors(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(folder);
    while (readdir(folder))
        n++;
    (void)closedir(folder);
    return n;
}

static void test_descriptors_run_out(void **state)
{
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), before = count_descriptors();
    struct settings s;

    (void)state;
    settings_init(&s);
    (void)snprintf(s.input, sizeof(s.input), "test:");
    (void)snprintf(s.output, sizeof(s.output), "null:");
    (void)snprintf(s.engine, sizeof(s.engine), "simd");
    for (int n = 0; n < 3; n++) {
        struct pipeline *p = NULL;
        struct error err = {.text = ""};

        n_left = n;
        assert_int_equal(pipeline_open(&p, &s, stop_fd, &err), -EMFILE);
        assert_non_null(strstr(err.text, strerror(EMFILE)));
        assert_null(p);
        assert_int_equal(count_descriptors(), before);
    }
    n_left = -1;
    (void)close(stop_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
