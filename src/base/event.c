#include "base/event.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

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
