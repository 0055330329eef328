#include "base/event.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"

int event_open(void)
{
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    return fd < 0 ? -errno : fd;
}

void event_close(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

void event_ring(int fd)
{
    const int error = errno;

    (void)!write(fd, &(uint64_t){1}, sizeof(uint64_t));
    errno = error;
}

bool event_clear(int fd)
{
    uint64_t n;

    return read(fd, &n, sizeof(n)) == sizeof(n);
}

bool event_rung(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

bool event_wait(int fd, int64_t t_ns)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int n;

    do {
        const int64_t now = now_ns();
        const struct timespec left = timespec_of(t_ns > now ? t_ns - now : 0);

        n = ppoll(&p, 1, &left, NULL);
    } while (n < 0 && errno == EINTR);
    return n > 0;
}
