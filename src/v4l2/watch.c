#include "v4l2/watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "v4l2/node.h"

/* A program that closes a device is noticed before the driver is: it needs a moment. The last pause
 * is what a camera that is really free waits for its turn after many false alarms. */
static const struct retry_limits alarm_limits = {
    .first_ns = 500 * NS_PER_MS,
    .last_ns = 8 * NS_PER_S,
    .steady_ns = 10 * NS_PER_S,
};

static bool is_video(const char *name)
{
    return !strncmp(name, "video", 5);
}

int devices_watch(void)
{
    /* Permissions follow a node's creation: that is IN_ATTRIB. */
    const uint32_t events = IN_CREATE | IN_DELETE | IN_ATTRIB | IN_MOVED_TO;
    const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    int r;

    if (fd < 0)
        return -errno;
    if (inotify_add_watch(fd, "/dev", events) >= 0)
        return fd;
    r = -errno;
    (void)close(fd);
    return r;
}

/* "v4l" is the folder of stable names; an overflow has lost something. What happens to a watched
 * device itself comes without a name. */
static bool is_news(const struct inotify_event *e)
{
    if (e->mask & IN_Q_OVERFLOW)
        return true;
    return e->len ? is_video(e->name) || !strcmp(e->name, "v4l") : !!(e->mask & IN_CLOSE_WRITE);
}

bool devices_changed(int fd)
{
    char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    bool changed = false;
    ssize_t n;

    while ((n = read(fd, buffer, sizeof(buffer))) > 0)
        for (ssize_t i = 0; i < n;) {
            const struct inotify_event *e = (const struct inotify_event *)(void *)(buffer + i);

            changed = changed || is_news(e);
            i += (ssize_t)(sizeof(*e) + e->len);
        }
    return changed;
}

void device_release_init(struct device_release *r)
{
    *r = (struct device_release){.fd = -1, .alarms.t_next_ns = INT64_MAX};
}

/* Each device by itself: /dev as a whole also tells of whoever closes /dev/null. Programs that only
 * look, as udev does and as we do, open for reading. */
static void watch_video(int fd)
{
    int number[V4L2_MAX_NODES];
    const size_t n = v4l2_node_numbers("/dev", number);

    for (size_t i = 0; i < n; i++) {
        char path[32];

        (void)snprintf(path, sizeof(path), "/dev/video%d", number[i]);
        (void)inotify_add_watch(fd, path, IN_CLOSE_WRITE);
    }
}

/* Where it cannot be watched, the pauses between attempts are all there is. */
void device_release_watch(struct device_release *r, const char *name)
{
    device_release_stop(r);
    retry_works(&r->alarms, now_ns());
    r->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (r->fd < 0)
        return;
    if (*name != '/')
        watch_video(r->fd);
    else if (inotify_add_watch(r->fd, name, IN_CLOSE_WRITE) < 0)
        device_release_stop(r);
}

void device_release_stop(struct device_release *r)
{
    if (r->fd >= 0)
        (void)close(r->fd);
    r->fd = -1;
    r->alarms.t_next_ns = INT64_MAX;
}

int64_t device_release_due(struct device_release *r)
{
    if (r->fd >= 0 && devices_changed(r->fd) && r->alarms.t_next_ns == INT64_MAX)
        (void)retry_fails(&r->alarms, &alarm_limits, now_ns());
    return r->alarms.t_next_ns;
}
