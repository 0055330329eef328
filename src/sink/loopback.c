/* DESIGN
 * Whole frames by write(): the one way in that behaves alike in all versions of the module.
 * The node is a camera for others only while somebody streams into it, so this sink streams
 * from open to close. Facts about the module below were measured with 0.12.7, 0.13.2 and
 * 0.15.0 (Linux 6.1, November 2026). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "picture/colour.h"
#include "sink/loopback_node.h"
#include "sink/loopback_readers.h"
#include "sink/sink.h"
#include "sink/turns.h"
#include "v4l2/node.h"

#define STUCK_NS NS_PER_S /* a write that may not go on for so long has failed */
#define MAX_FRAME_BYTES (2u * FRAME_MAX_SIDE * FRAME_MAX_SIDE) /* the largest YUYV picture */

struct loopback {
    struct sink base;
    char path[PATH_MAX];
    int fd, stop_fd;
    size_t size;     /* of a frame in the device */
    uint8_t *packed; /* room to put one together; the padding stays 0 */
    struct turns turns;
    struct loopback_readers readers;
    int64_t t_check_ns; /* when to look next at how others see the node; 0 = never looked */
    bool exclusive;     /* it was only a camera then, as it should be */
};

/* --- agreeing on the format --- */

static void set_rate(const struct loopback *l)
{
    struct v4l2_streamparm parm = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    int r;

    if (!l->turns.pace.num || !l->turns.pace.den)
        return;
    parm.parm.output.timeperframe.numerator = l->turns.pace.den;
    parm.parm.output.timeperframe.denominator = l->turns.pace.num;
    r = v4l2_call(l->fd, VIDIOC_S_PARM, &parm);
    if (r < 0) /* only what readers are told: pictures flow all the same */
        log_debug("setting the frame rate of '%s': %s", l->path, strerror(-r));
}

static struct v4l2_format wanted_format(const struct frame *picture)
{
    struct v4l2_format fmt = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    struct v4l2_pix_format *pix = &fmt.fmt.pix;

    pix->width = (uint32_t)picture->width;
    pix->height = (uint32_t)picture->height;
    pix->pixelformat = v4l2_fourcc_of(picture->format);
    pix->field = V4L2_FIELD_NONE;
    pix->priv = V4L2_PIX_FMT_PRIV_MAGIC; /* without it the kernel clears the last two below */
    if (picture->colour.matrix == COLOUR_RGB) {
        pix->colorspace = V4L2_COLORSPACE_SRGB;
        pix->quantization = V4L2_QUANTIZATION_FULL_RANGE;
        return fmt;
    }
    /* The one colour space whose defaults are limited-range BT.601, so that a reader that
     * looks at nothing else takes the pictures for what they are. Readers that look at
     * nothing at all assume the same. */
    pix->colorspace = V4L2_COLORSPACE_SMPTE170M;
    pix->ycbcr_enc = V4L2_YCBCR_ENC_601;
    pix->quantization = V4L2_QUANTIZATION_LIM_RANGE;
    return fmt;
}

static bool carried(int format)
{
    return format == FRAME_YUYV || format == FRAME_I420 || format == FRAME_RGB24 ||
           format == FRAME_BGR24;
}

static struct colour colour_of(enum frame_format format)
{
    return colour_in(format, (struct colour){COLOUR_BT601, COLOUR_LIMITED});
}

/* While other programs have the node open it keeps its format: 0.12 and 0.14 on hand back the old
 * one, 0.13 refuses. If it is one that can be written, pictures are fitted to it. */
static int take_kept_format(struct loopback *l, const struct v4l2_pix_format *pix,
                            struct error *err)
{
    struct frame *picture = &l->base.picture;
    const int format = v4l2_format_of(pix->pixelformat);

    if (!carried(format) || frame_size_problem((int)pix->width, (int)pix->height))
        return error_set(err, -EBUSY,
                         "'%s' stays at %s %ux%u while a program has it open: close what reads it "
                         "(fuser -v '%s' tells)",
                         l->path, v4l2_fourcc_name(pix->pixelformat).text, pix->width, pix->height,
                         l->path);
    log_warning("'%s' stays at %s %ux%u while a program has it open: pictures of %dx%d are fitted "
                "to it",
                l->path, format_table[format].name, pix->width, pix->height, picture->width,
                picture->height);
    picture->format = (enum frame_format)format;
    picture->width = (int)pix->width;
    picture->height = (int)pix->height;
    return 0;
}

static int set_format(struct loopback *l, struct error *err)
{
    struct frame *picture = &l->base.picture;
    struct v4l2_format fmt = wanted_format(picture);
    struct error why;
    size_t least;
    int r = v4l2_call(l->fd, VIDIOC_S_FMT, &fmt);

    /* What S_FMT returns as sizeimage is a whole number of pages up to 0.13, but readers are
     * told, and hold frames against, what G_FMT returns. */
    if (!r || r == -EBUSY)
        r = v4l2_call(l->fd, VIDIOC_G_FMT, &fmt);
    if (r < 0)
        return error_set(err, r, "setting %s %dx%d on '%s': %s", format_table[picture->format].name,
                         picture->width, picture->height, l->path, strerror(-r));
    if (fmt.fmt.pix.width != (uint32_t)picture->width ||
        fmt.fmt.pix.height != (uint32_t)picture->height ||
        fmt.fmt.pix.pixelformat != v4l2_fourcc_of(picture->format)) {
        r = take_kept_format(l, &fmt.fmt.pix, err);
        if (r < 0)
            return r;
    }

    /* 0.12 reckons the chroma of an odd number of rows too small. */
    r = v4l2_layout(&fmt.fmt.pix, picture, &least, &why);
    if (r < 0)
        return error_set(err, r, "'%s': %s", l->path, why.text);
    if (fmt.fmt.pix.sizeimage > MAX_FRAME_BYTES)
        return error_set(err, -EINVAL, "'%s' wants frames of %u bytes", l->path,
                         fmt.fmt.pix.sizeimage);
    picture->colour = colour_of(picture->format);
    l->size = fmt.fmt.pix.sizeimage;
    l->packed = calloc(1, l->size);
    return l->packed ? 0 : error_set(err, -ENOMEM, "out of memory for '%s'", l->path);
}

/* --- the operations --- */

static int loopback_close(struct sink *s, struct error *err)
{
    struct loopback *l = (struct loopback *)s;
    int type = V4L2_BUF_TYPE_VIDEO_OUTPUT;

    (void)err;
    if (!l)
        return 0;
    if (l->fd >= 0) {
        /* 0.13 counts streams, and does not count one out that is only closed. */
        (void)v4l2_call(l->fd, VIDIOC_STREAMOFF, &type);
        (void)close(l->fd);
    }
    free(l->packed);
    free(l);
    return 0;
}

static int choose_picture(struct loopback *l, const struct sink_config *config, struct error *err)
{
    struct frame *picture = &l->base.picture;

    *picture = frame_like(&config->picture);
    picture->format = config->format < 0 ? FRAME_YUYV : (enum frame_format)config->format;
    picture->colour = colour_of(picture->format);
    if (!carried((int)picture->format))
        return error_usage(err, "a virtual camera carries yuyv, yu12, rgb24 or bgr24, not %s",
                           format_table[picture->format].name);
    return 0;
}

static struct loopback *loopback_create(const struct sink_config *config)
{
    struct loopback *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->base.ops = &sink_v4l2loopback;
    l->fd = -1;
    l->stop_fd = config->stop_fd;
    l->turns = turns_of(config);
    return l;
}

static int take_node(struct loopback *l, const char *name, struct error *err)
{
    struct v4l2_node n;

    l->fd = loopback_node_open(name, l->stop_fd, l->path, &n, err);
    if (l->fd < 0)
        return l->fd;
    (void)snprintf(l->base.name, sizeof(l->base.name), "%.32s (%.120s)", n.card, l->path);
    return 0;
}

static int loopback_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    struct loopback *l = loopback_create(config);
    int type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
    int r;

    if (!l)
        return error_set(err, -ENOMEM, "cannot open '%s': out of memory", config->name);
    r = choose_picture(l, config, err);
    if (r < 0)
        goto error;
    r = take_node(l, config->name, err);
    if (r < 0)
        goto error;
    set_rate(l);
    r = set_format(l, err);
    if (r < 0)
        goto error;
    /* Counts us in as a writer, so that 0.12 counts us out again even if we are killed. From
     * 0.14 on it fails, because there write() itself does all this. */
    (void)v4l2_call(l->fd, VIDIOC_STREAMON, &type);
    loopback_readers_init(&l->readers, l->path, l->fd);
    turns_tell(&l->turns, l->path);
    *ret = &l->base;
    return 0;

error:
    (void)loopback_close(&l->base, NULL);
    return r;
}

/* Programs that look for cameras pass over a node that takes pictures as well. 0.13 makes it one
 * when another writer leaves, whom it had let in, until our stream begins again. */
static void check_exclusive(struct loopback *l)
{
    const int64_t now = now_ns();
    const bool first = !l->t_check_ns;
    int type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
    struct v4l2_node n;

    if (now < l->t_check_ns || v4l2_identify(l->fd, &n))
        return;
    l->t_check_ns = now + NS_PER_S;
    if (!(n.caps & V4L2_CAP_VIDEO_OUTPUT)) {
        l->exclusive = true;
    } else if (l->exclusive) {
        l->exclusive = false; /* once: it interrupts readers */
        (void)v4l2_call(l->fd, VIDIOC_STREAMOFF, &type);
        (void)v4l2_call(l->fd, VIDIOC_STREAMON, &type);
    } else if (first) {
        log_warning("%s was made without exclusive_caps=1: browsers and Zoom may not list it",
                    l->base.name);
    }
}

/* The frame as the device wants it: in the caller's memory if it lies right there. */
static const uint8_t *arrange(struct loopback *l, const struct frame *f)
{
    struct frame packed = l->base.picture;
    size_t bytes = 0;
    bool right = true;

    for (int p = 0; p < format_table[packed.format].planes; p++) {
        right = right && f->stride[p] == packed.stride[p] && f->plane[p] == f->plane[0] + bytes;
        bytes += packed.stride[p] * (size_t)frame_plane_rows(f, p);
    }
    if (right && bytes == l->size)
        return f->plane[0];
    frame_attach(&packed, l->packed);
    frame_copy(&packed, f);
    return l->packed;
}

static int write_error(const struct loopback *l, int code, struct error *err)
{
    switch (code) {
    case -ENODEV:
        return error_set(err, code, "'%s' is gone", l->path);
    case -EBUSY:  /* from 0.14 on */
    case -EINVAL: /* 0.13 */
        return error_set(err, -EBUSY, "'%s' has another program writing to it", l->path);
    default:
        return error_set(err, -EIO, "writing to '%s': %s", l->path, strerror(-code));
    }
}

/* Waits until a write may go on, which no version of the module asks for today. */
static int wait_for_room(const struct loopback *l, int64_t deadline, struct error *err)
{
    struct pollfd p[2] = {{.fd = l->fd, .events = POLLOUT}, {.fd = l->stop_fd, .events = POLLIN}};
    const int ms = poll_ms(deadline, now_ns());
    const int n = ms ? poll(p, 2, ms) : 0;

    if (n > 0 && p[1].revents)
        return error_set(err, -ECANCELED, "stopped");
    if (n > 0 && p[0].revents & POLLOUT)
        return 0;
    return n < 0 && errno == EINTR ? 0 : write_error(l, -EAGAIN, err);
}

static int loopback_write(struct sink *s, const struct frame *f, const struct frame *before,
                          struct error *err)
{
    struct loopback *l = (struct loopback *)s;
    const uint8_t *data = arrange(l, f);
    ssize_t n;
    int r = turns_wait(&l->turns, err);
    const int64_t deadline = now_ns() + STUCK_NS;

    (void)before;
    if (r < 0)
        return r;
    while ((n = write(l->fd, data, l->size)) < 0) {
        if (errno == EAGAIN)
            r = wait_for_room(l, deadline, err);
        else if (errno != EINTR)
            r = write_error(l, -errno, err);
        if (r < 0)
            return r;
    }
    /* The rest cannot follow: every write() is a frame of its own. */
    if ((size_t)n < l->size)
        return error_set(err, -EIO, "'%s' took only %zd of %zu bytes: its format was changed",
                         l->path, n, l->size);
    check_exclusive(l);
    return 0;
}

static int loopback_count_readers(struct sink *s)
{
    return loopback_readers_count(&((struct loopback *)s)->readers);
}

const struct sink_ops sink_v4l2loopback = {
    .name = "v4l2loopback",
    .device = true,
    .virtual_camera = true,
    .open = loopback_open,
    .write = loopback_write,
    .readers = loopback_count_readers,
    .close = loopback_close,
};
