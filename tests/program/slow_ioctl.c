/* Preloaded, it makes every question to a video device take a minute, which no signal ends, as
 * drivers do that wait for their hardware. */
#include <errno.h>
#include <linux/ioctl.h>
#include <time.h>
#include <unistd.h>

int ioctl(int fd, unsigned long request, ...);

int ioctl(int fd, unsigned long request, ...)
{
    struct timespec left = {.tv_sec = 60};

    (void)fd;
    if (_IOC_TYPE(request) == 'V') {
        (void)!write(STDERR_FILENO, "slow\n", 5);
        while (nanosleep(&left, &left) && errno == EINTR)
            ;
    }
    errno = ENOTTY;
    return -1;
}
