/* DESIGN
 * The driver fills a handful of mapped buffers. read() waits for one, takes all that are
 * full, gives the older ones back and lends the newest in place until release(): whoever is
 * slow loses frames, never time. A buffer is either with the driver (queued), or lent, or
 * waiting for another try because giving it back failed; none is ever forgotten. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "source/camera.h"
#include "source/live.h"
#include "v4l2/hints.h"
#include "v4l2/node.h"

#define WANTED_BUFFERS 4 /* one lent, one being filled, two for jitter */

#define START_NS (3 * NS_PER_S) /* to the first frame: USB cameras take up to two seconds */

static int map_buffer(struct camera *c, uint32_t index, struct error *err)
{
    struct v4l2_buffer b = {
        .index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    struct camera_buffer *buffer = &c->buffer[index];
    const int r = v4l2_call(c->fd, VIDIOC_QUERYBUF, &b);

    if (r < 0)
        return camera_error(c, "asking for a buffer", r, err);
    if (b.length < c->least_bytes)
        return error_set(err, -EINVAL, "'%s' has buffers of %u bytes for frames of %zu", c->path,
                         b.length, c->least_bytes);
    /* Writable as well, because some drivers refuse anything else. */
    buffer->memory = mmap(NULL, b.length, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, b.m.offset);
    if (buffer->memory == MAP_FAILED)
        return camera_error(c, "mapping a buffer", -errno, err);
    buffer->length = b.length;
    return 0;
}

static int map_buffers(struct camera *c, struct error *err)
{
    struct v4l2_requestbuffers req = {
        .count = WANTED_BUFFERS, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    int r = v4l2_call(c->fd, VIDIOC_REQBUFS, &req);

    if (r < 0)
        return camera_error(c, "asking for buffers", r, err);
    if (req.count < 2)
        return error_set(err, -EIO, "'%s' has only %u buffer, and two are needed", c->path,
                         req.count);
    c->n_buffers = req.count < CAMERA_MAX_BUFFERS ? req.count : CAMERA_MAX_BUFFERS;
    for (uint32_t i = 0; !r && i < c->n_buffers; i++)
        r = map_buffer(c, i, err);
    return r;
}

/* --- buffers --- */

static int queue(struct camera *c, uint32_t index)
{
    struct v4l2_buffer b = {
        .index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    const int r = v4l2_call(c->fd, VIDIOC_QBUF, &b);

    c->buffer[index].queued = !r;
    return r;
}

/* Also the further try for those that could not be given back when it was time. */
static int queue_all(struct camera *c, struct error *err)
{
    for (uint32_t i = 0; i < c->n_buffers; i++) {
        int r = 0;

        if (!c->buffer[i].queued && (int)i != c->lent)
            r = queue(c, i);
        if (r < 0)
            return camera_error(c, "queueing a buffer", r, err);
    }
    return 0;
}

static int dequeue(struct camera *c, struct v4l2_buffer *ret)
{
    struct v4l2_buffer b = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    const int r = v4l2_call(c->fd, VIDIOC_DQBUF, &b);

    if (r < 0)
        return r;
    if (b.index >= c->n_buffers)
        return -EIO;
    c->buffer[b.index].queued = false;
    if (c->started && b.sequence > c->next_sequence)
        c->base.n_dropped += b.sequence - c->next_sequence;
    c->next_sequence = b.sequence + 1;
    c->started = true;
    *ret = b;
    return 0;
}

static bool whole(const struct camera *c, const struct v4l2_buffer *b)
{
    const struct camera_buffer *buffer = &c->buffer[b->index];

    if (b->flags & V4L2_BUF_FLAG_ERROR || b->bytesused > buffer->length)
        return false;
    if (c->layout.format == FRAME_MJPG)
        return v4l2_jpeg_plausible(buffer->memory, b->bytesused);
    return b->bytesused >= c->least_bytes;
}

/* The newest whole frame of those that are ready; -EAGAIN: none. */
static int take_newest(struct camera *c, struct v4l2_buffer *ret)
{
    bool have = false;
    int r = 0;

    for (uint32_t i = 0; !r && i < c->n_buffers; i++) {
        struct v4l2_buffer b;

        r = dequeue(c, &b);
        if (r < 0)
            break;
        if (!whole(c, &b)) {
            c->base.n_bad++;
            (void)queue(c, b.index);
            continue;
        }
        if (have) {
            c->base.n_dropped++;
            (void)queue(c, ret->index);
        }
        *ret = b;
        have = true;
    }
    if (have)
        return 0; /* an error will be met again by the next call */
    return r ? r : -EAGAIN;
}

/* --- the operations --- */

static void camera_close(struct source *s)
{
    struct camera *c = (struct camera *)s;
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    struct v4l2_requestbuffers none = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
                                       .memory = V4L2_MEMORY_MMAP};

    if (!c)
        return;
    if (c->fd >= 0 && c->n_buffers)
        (void)v4l2_call(c->fd, VIDIOC_STREAMOFF, &type);
    /* What stays mapped keeps the device busy even after close(). */
    for (uint32_t i = 0; i < c->n_buffers; i++)
        if (c->buffer[i].memory != MAP_FAILED)
            (void)munmap(c->buffer[i].memory, c->buffer[i].length);
    if (c->fd >= 0 && c->n_buffers)
        (void)v4l2_call(c->fd, VIDIOC_REQBUFS, &none);
    if (c->fd >= 0)
        (void)close(c->fd);
    free(c);
}

/* @name is a path, "auto", or what the camera calls itself. */
static int find_path(struct camera *c, const char *name, struct error *err)
{
    const bool automatic = !strcmp(name, "auto");
    int r;

    if (!automatic && strchr(name, '/')) {
        if (snprintf(c->path, sizeof(c->path), "%s", name) >= (int)sizeof(c->path))
            return error_set(err, -ENOENT, "cannot open '%s': the name is too long", name);
        return 0;
    }
    r = v4l2_find_camera(automatic ? NULL : name, c->path, sizeof(c->path));
    if (r == -EACCES)
        return error_set(err, r, "no camera found that may be opened: " HINT_PERMISSION);
    if (r < 0 && !automatic)
        return error_set(err, -ENODEV,
                         "no camera or file is called '%s': bilatcam --list-devices shows cameras",
                         name);
    if (r < 0)
        return error_set(err, -ENODEV, "no camera found: " HINT_NO_CAMERA);
    return 0;
}

static int start(struct camera *c, struct error *err)
{
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    int r = queue_all(c, err);

    if (r < 0)
        return r;
    r = v4l2_call(c->fd, VIDIOC_STREAMON, &type);
    return r < 0 ? camera_error(c, "starting the stream", r, err) : 0;
}

static struct camera *camera_create(const struct source_config *config)
{
    struct camera *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->base.ops = &source_v4l2;
    c->base.live = true;
    c->stop_fd = config->stop_fd;
    c->fd = -1;
    c->lent = -1;
    for (int i = 0; i < CAMERA_MAX_BUFFERS; i++)
        c->buffer[i].memory = MAP_FAILED;
    return c;
}

static int camera_open(struct source **ret, const struct source_config *config, struct error *err)
{
    struct camera *c = camera_create(config);
    int r;

    if (!c)
        return error_set(err, -ENOMEM, "cannot open '%s': out of memory", config->name);
    r = find_path(c, config->name, err);
    if (r < 0)
        goto error;
    r = c->fd = v4l2_open(c->path, O_RDWR | O_NONBLOCK, err);
    if (r < 0)
        goto error;
    r = camera_setup(c, config, err);
    if (r < 0)
        goto error;
    c->timeout_ns = source_hang_ns(c->base.fps);
    r = map_buffers(c, err);
    if (r < 0)
        goto error;
    r = start(c, err);
    if (r < 0)
        goto error;
    if (!config->again)
        source_warn(&c->base, config);
    if (strcmp(config->name, "auto"))
        (void)snprintf(c->base.reopen, sizeof(c->base.reopen), "%s", config->name);
    else if (!v4l2_stable_name(c->path, c->base.reopen, sizeof(c->base.reopen)))
        (void)snprintf(c->base.reopen, sizeof(c->base.reopen), "%.1000s", c->path);
    log_debug("%s: %s %dx%d, %u buffers", c->base.name, format_table[c->base.format].name,
              c->base.width, c->base.height, c->n_buffers);
    *ret = &c->base;
    return 0;

error:
    camera_close(&c->base);
    return r;
}

static void camera_release(struct source *s)
{
    struct camera *c = (struct camera *)s;
    const int lent = c->lent;

    c->lent = -1;
    if (lent >= 0)
        (void)queue(c, (uint32_t)lent); /* read() retries a failure and reports it */
}

static int silent(const struct camera *c, struct error *err)
{
    return error_set(err, -ETIMEDOUT, "camera '%s' gives no pictures", c->path);
}

/* Waits until the driver has something to say: 0 a frame, 1 only an error condition. */
static int wait_for_driver(const struct camera *c, int64_t deadline, struct error *err)
{
    struct pollfd fd[2] = {{.fd = c->fd, .events = POLLIN}, {.fd = c->stop_fd, .events = POLLIN}};

    for (;;) {
        const int n = poll(fd, 2, poll_ms(deadline, now_ns()));

        if (n < 0 && errno != EINTR)
            return error_set(err, -EIO, "waiting for '%s': %s", c->path, strerror(errno));
        if (n > 0 && fd[1].revents)
            return error_set(err, -ECANCELED, "stopped");
        if (n > 0)
            return fd[0].revents & POLLIN ? 0 : 1;
        if (n == 0)
            return silent(c, err);
    }
}

static void describe(struct camera *c, const struct v4l2_buffer *b, struct frame *ret)
{
    *ret = c->layout;
    if (ret->format == FRAME_MJPG) {
        ret->plane[0] = c->buffer[b->index].memory;
        ret->bytes = b->bytesused;
    } else {
        frame_attach(ret, c->buffer[b->index].memory);
    }
    ret->t_capture_ns = v4l2_timestamp(b->flags, b->timestamp, now_ns());
    /* Some drivers leave the number at 0. */
    ret->seq = b->sequence ? b->sequence : c->n_lent;
    c->n_lent++;
}

static int camera_read(struct source *s, struct frame *ret, struct error *err)
{
    struct camera *c = (struct camera *)s;
    const int64_t deadline = now_ns() + (c->started ? c->timeout_ns : START_NS);
    struct v4l2_buffer b = {0};
    int r;

    camera_release(s);
    for (;;) {
        int trouble;

        r = queue_all(c, err);
        if (r < 0)
            return r;
        trouble = wait_for_driver(c, deadline, err);
        if (trouble < 0)
            return trouble;
        r = take_newest(c, &b);
        if (!r)
            break;
        if (r != -EAGAIN)
            return camera_error(c, "reading", r, err);
        /* poll() would say the same at once, again and again. */
        if (trouble)
            return camera_error(c, "waiting", -EIO, err);
        /* Nor does it tell of time while there is something, if only damaged pictures. */
        if (now_ns() >= deadline)
            return silent(c, err);
    }
    c->lent = (int)b.index;
    describe(c, &b, ret);
    return 0;
}

static int camera_truth(const struct source *s, uint64_t seq, struct frame *clean)
{
    (void)s;
    (void)seq;
    (void)clean;
    return -ENOTSUP;
}

const struct source_ops source_v4l2 = {
    .name = "v4l2",
    .device = true,
    .reopens = true,
    .open = camera_open,
    .close = camera_close,
    .read = camera_read,
    .release = camera_release,
    .truth = camera_truth,
};
