#include "sink/loopback_node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/log.h"
#include "v4l2/hints.h"

#define WATCH_MS 1200  /* a writer that is alive repeats its frame every second */
#define MAX_ATTEMPTS 8 /* nodes that others may take while we look */

/* From 0.13 on there is a file in sysfs that tells the state. */
static bool module_tells_writers(int fd)
{
    char path[64];
    struct stat st;

    if (fstat(fd, &st) < 0)
        return false;
    (void)snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/state", major(st.st_rdev),
                   minor(st.st_rdev));
    return !access(path, F_OK);
}

/* Whether somebody feeds the node: reads from it like any client for a while. */
static bool frames_arrive(const char *path, int stop_fd)
{
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    const int fd = v4l2_open(path, O_RDONLY | O_NONBLOCK, NULL);
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
    bool arrive = false;
    uint8_t byte;

    if (fd < 0)
        return false;
    if (!v4l2_call(fd, VIDIOC_STREAMON, &type)) {
        /* At most two old frames are still there, whole ones however little is read. */
        for (int i = 0; i < 3 && read(fd, &byte, 1) > 0; i++)
            ;
        arrive = poll(p, 2, WATCH_MS) > 0 && p[0].revents & POLLIN;
    }
    (void)close(fd);
    return arrive;
}

static int busy_error(const char *path, struct error *err)
{
    return error_set(err, -EBUSY,
                     "'%s' has another program writing to it: stop that one "
                     "(fuser -v '%s' tells which), or take another node",
                     path, path);
}

static int not_loopback_error(const char *path, const struct v4l2_node *n, struct error *err)
{
    return error_set(err, -EINVAL,
                     "'%s' is not a v4l2loopback node (driver %s): "
                     "bilatcam --list-devices shows those",
                     path, n->driver);
}

/* Makes sure that @fd is a node that nobody else is writing to. */
static int check_node(const char *path, int fd, int stop_fd, struct v4l2_node *n, struct error *err)
{
    const int r = v4l2_identify(fd, n);

    if (r < 0 && r != -ENOTTY)
        return error_set(err, r, "'%s' does not say what it is: %s", path, strerror(-r));
    if (r < 0 || n->kind != V4L2_KIND_LOOPBACK) {
        if (r < 0)
            (void)snprintf(n->driver, sizeof(n->driver), "none");
        return not_loopback_error(path, n, err);
    }
    if (!(n->caps & V4L2_CAP_VIDEO_OUTPUT) && n->caps & V4L2_CAP_VIDEO_CAPTURE &&
        (module_tells_writers(fd) || frames_arrive(path, stop_fd)))
        return busy_error(path, err);
    return 0;
}

/* Looks whether the node is free. Opens it only for reading: programs that wait for it, of which
 * this may be one, go by who closes it after writing. */
static int look(const char *path, int stop_fd, struct v4l2_node *n, struct error *err)
{
    const int fd = v4l2_open(path, O_RDONLY, err);
    int r;

    if (fd < 0)
        return fd;
    r = v4l2_claimed(fd) ? busy_error(path, err) : check_node(path, fd, stop_fd, n, err);
    (void)close(fd);
    return r;
}

/* Opens the node for writing and claims it. */
static int open_claimed(const char *path, struct error *err)
{
    const int fd = v4l2_open(path, O_RDWR, err);

    if (fd < 0 || v4l2_claim(fd) == 0)
        return fd;
    (void)close(fd);
    return busy_error(path, err);
}

/* Makes 0.12.7 forget a writer that has left: one that only used write() is never counted
 * out, and the node can then do nothing at all, or only give its last picture. It does so only
 * where nobody else has the node open, ourselves included. */
static int reset(const char *path, struct error *err)
{
    int type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
    const int fd = open_claimed(path, err);

    if (fd < 0)
        return fd;
    (void)v4l2_call(fd, VIDIOC_STREAMON, &type); /* fails, but registers a writer */
    (void)close(fd);                             /* counts it out */
    log_debug("'%s' was stuck after its last writer and has been reset", path);
    return 0;
}

/* Opens the node at @path if it is free. Others may have been quicker since it was looked at, so
 * what counts is what is seen through the descriptor that has the claim, and that is written to. */
static int take(const char *path, int stop_fd, struct v4l2_node *n, struct error *err)
{
    int fd, r = look(path, stop_fd, n, err);

    if (r == 0 && !(n->caps & V4L2_CAP_VIDEO_OUTPUT))
        r = reset(path, err);
    if (r < 0)
        return r;
    fd = open_claimed(path, err);
    if (fd < 0)
        return fd;
    r = check_node(path, fd, stop_fd, n, err);
    if (r == 0)
        return fd;
    (void)close(fd);
    return r;
}

static int find_path(const char *name, char path[PATH_MAX], struct error *err)
{
    int r;

    if (strcmp(name, "auto")) {
        if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
            return error_set(err, -ENOENT, "cannot open '%s': the name is too long", name);
        return 0;
    }
    r = v4l2_find_loopback(path, PATH_MAX);
    if (r == -EACCES)
        return error_set(err, r, "no v4l2loopback node found that may be opened: " HINT_PERMISSION);
    if (r < 0)
        return error_set(err, -ENODEV, "no v4l2loopback node found: " HINT_MODPROBE);
    return 0;
}

int loopback_node_open(const char *name, int stop_fd, char ret_path[PATH_MAX],
                       struct v4l2_node *ret, struct error *err)
{
    char refused[PATH_MAX] = "";

    /* With "auto", a node that another bilatcam took in this moment is not the best any more. */
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        int r = find_path(name, ret_path, err);

        if (r < 0)
            return r;
        if (!strcmp(ret_path, refused))
            break;
        r = take(ret_path, stop_fd, ret, err);
        if (r != -EBUSY)
            return r;
        memcpy(refused, ret_path, sizeof(refused));
    }
    return -EBUSY;
}
