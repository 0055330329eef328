/* Loaded before a program, lets the thread of a PipeWire connection sleep for a while each time it
 * is woken, as on a machine with too much to do, while the file that $SLOW_LOOP_WHILE names is
 * there. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static int is_loop(void)
{
    char name[16] = "";

    (void)pthread_getname_np(pthread_self(), name, sizeof(name));
    return !strcmp(name, "pipewire");
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
    static const struct timespec while_others_work = {.tv_nsec = 60000000};
    int (*real)(int, struct epoll_event *, int, int);
    const char *const file = getenv("SLOW_LOOP_WHILE");
    int n;

    *(void **)&real = dlsym(RTLD_NEXT, "epoll_wait");
    n = real(fd, events, max, timeout);
    if (n > 0 && file && access(file, F_OK) == 0 && is_loop())
        (void)nanosleep(&while_others_work, NULL);
    return n;
}
