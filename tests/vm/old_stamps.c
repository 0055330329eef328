/* A library to be preloaded: makes the stamps of all frames that a program gets from a camera older
 * by OLD_STAMPS_MS, as those of cameras are that stamp the beginning of the exposure. */
#include <dlfcn.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>

static void make_older(struct v4l2_buffer *b, long ms)
{
    b->timestamp.tv_sec -= ms / 1000;
    b->timestamp.tv_usec -= ms % 1000 * 1000;
    if (b->timestamp.tv_usec < 0) {
        b->timestamp.tv_sec--;
        b->timestamp.tv_usec += 1000000;
    }
}

int ioctl(int fd, unsigned long request, ...)
{
    int (*next)(int, unsigned long, void *);
    const char *ms = getenv("OLD_STAMPS_MS");
    va_list list;
    void *arg;
    int r;

    *(void **)&next = dlsym(RTLD_NEXT, "ioctl");
    va_start(list, request);
    arg = va_arg(list, void *);
    va_end(list);
    r = next(fd, request, arg);
    if (r == 0 && ms && request == VIDIOC_DQBUF)
        make_older(arg, strtol(ms, NULL, 10));
    return r;
}
