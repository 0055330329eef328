/* Devices that are released, with a file in the place of a device. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "v4l2/device_retry.h"

#define LIMIT_MS 20000

static char path[] = "/tmp/test-devices-XXXXXX";

static void use(int flags)
{
    const int fd = open(path, flags);

    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

/* How long to wait after the news that are there, in ms; -1: there are none. */
static int64_t wait_ms(struct device_release *r)
{
    const int64_t due = device_release_due(r);

    return due == INT64_MAX ? -1 : (due - now_ns() + 999999) / 1000000;
}

static bool readable(const struct device_release *r, int timeout_ms)
{
    struct pollfd fd = {.fd = r->fd, .events = POLLIN};

    return poll(&fd, 1, timeout_ms) > 0;
}

/* Only who may have written counts, and only while it is watched. */
static void test_what_counts(void **state)
{
    struct device_release r;

    (void)state;
    device_release_init(&r);
    assert_int_equal(wait_ms(&r), -1);
    use(O_RDWR);
    device_release_watch(&r, path);
    assert_true(r.fd >= 0);
    use(O_RDONLY);
    assert_false(readable(&r, 0));
    assert_int_equal(wait_ms(&r), -1);
    use(O_RDWR);
    assert_true(readable(&r, LIMIT_MS));
    assert_in_range(wait_ms(&r), 1, 500);
    assert_false(readable(&r, 0)); /* else whoever polls would not come to rest */
    device_release_stop(&r);
    use(O_RDWR);
    assert_int_equal(wait_ms(&r), -1);
}

/* More of them do not put off what is due. */
static void test_one_after_the_other(void **state)
{
    struct device_release r;
    int64_t due;

    (void)state;
    device_release_init(&r);
    device_release_watch(&r, path);
    use(O_RDWR);
    due = device_release_due(&r);
    assert_int_not_equal(due, INT64_MAX);
    for (int i = 0; i < 10; i++) {
        use(O_RDWR);
        assert_int_equal(device_release_due(&r), due);
    }
    device_release_stop(&r);
}

/* Alarm after alarm is false, as when two programs wait for one device and each takes the attempts
 * of the other for news: they become rare, but not so rare that one which is true is missed. */
static void test_false_alarms(void **state)
{
    struct device_release r;
    int64_t last = 0;

    (void)state;
    device_release_init(&r);
    for (int i = 0; i < 7; i++) {
        int64_t wait;

        device_release_watch(&r, path);
        use(O_RDWR);
        wait = wait_ms(&r);
        assert_true(i < 5 ? wait > last : wait <= 8000);
        last = wait;
    }
    assert_true(last > 5000);
    device_release_stop(&r);
}

/* A device that is no path is any; one that is not there cannot be watched. */
static void test_names(void **state)
{
    struct device_release r;

    (void)state;
    device_release_init(&r);
    device_release_watch(&r, "auto");
    assert_true(r.fd >= 0);
    device_release_watch(&r, "/dev/there-is-no-such-device");
    assert_true(r.fd < 0);
    assert_int_equal(wait_ms(&r), -1);
    device_release_stop(&r);
}

static void test_retry(void **state)
{
    struct device_retry d;
    int64_t now = now_ns();

    (void)state;
    device_retry_init(&d, &retry_device);
    assert_int_equal(device_retry_due(&d), 0);
    device_retry_fails(&d, -ENODEV, path);
    device_retry_fails(&d, -ENODEV, path);
    assert_true(device_retry_due(&d) >= now + d.pauses.pause_ns);
    assert_int_equal(d.pauses.pause_ns, 2 * retry_device.first_ns);
    assert_true(d.release.fd < 0);
    device_retry_heed(&d, 0); /* that is no news */
    assert_int_equal(d.pauses.pause_ns, 2 * retry_device.first_ns);
    device_retry_heed(&d, 1);
    assert_int_equal(device_retry_due(&d), 0);
    device_retry_fails(&d, -ENODEV, path);
    device_retry_heed(&d, 1);
    assert_true(device_retry_due(&d) >= now + retry_device.first_ns);
    assert_int_equal(d.pauses.pause_ns, retry_device.first_ns);
}

static void test_retry_of_a_busy_device(void **state)
{
    struct device_retry d;

    (void)state;
    device_retry_init(&d, &retry_device);
    device_retry_fails(&d, -EBUSY, path);
    d.pauses.t_next_ns = INT64_MAX;
    assert_int_equal(device_retry_due(&d), INT64_MAX);
    use(O_RDWR);
    assert_true(readable(&d.release, LIMIT_MS));
    assert_true(device_retry_due(&d) < INT64_MAX);
    d.pauses.t_next_ns = 5;
    assert_int_equal(device_retry_due(&d), 5);
    device_release_stop(&d.release);
}

static int prepare(void **state)
{
    (void)state;
    return close(mkstemp(path));
}

static int clean_up(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_counts),  cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_false_alarms), cmocka_unit_test(test_names),
        cmocka_unit_test(test_retry),        cmocka_unit_test(test_retry_of_a_busy_device),
    };

    return cmocka_run_group_tests_name("devices", tests, prepare, clean_up);
}
