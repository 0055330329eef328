#include "devices.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

int devices_watch(void)
{
    const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    if (fd < 0)
        return -errno;
    /* Permissions follow a node's creation: that is IN_ATTRIB. */
    if (inotify_add_watch(fd, "/dev", IN_CREATE | IN_DELETE | IN_ATTRIB | IN_MOVED_TO) < 0) {
        const int r = -errno;

        (void)close(fd);
        return r;
    }
    return fd;
}

bool devices_changed(int fd)
{
    char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    bool changed = false;
    ssize_t n;

    while ((n = read(fd, buffer, sizeof(buffer))) > 0)
        for (ssize_t i = 0; i < n;) {
            const struct inotify_event *e = (const struct inotify_event *)(void *)(buffer + i);

            /* "v4l" is the folder of stable names; an overflow has lost something. */
            changed = changed || e->mask & IN_Q_OVERFLOW ||
                      (e->len && (!strncmp(e->name, "video", 5) || !strcmp(e->name, "v4l")));
            i += (ssize_t)(sizeof(*e) + e->len);
        }
    return changed;
}
