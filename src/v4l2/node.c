#include "v4l2/node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "config-build.h"
#include "v4l2/hints.h"

/* An older stamp is taken for nonsense: no driver holds frames for so long. */
#define STAMP_MAX_AGE_NS (5 * NS_PER_S)

#define JPEG_MIN_BYTES 128 /* less than the headers and tables of any picture */

int v4l2_call(int fd, unsigned long request, void *arg)
{
    int r;

    do
        r = ioctl(fd, request, arg);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

static int open_error(const char *path, int code, struct error *err)
{
    switch (code) {
    case -ENOENT:
    case -ENXIO:
    case -ENODEV:
        return error_set(err, code,
                         "cannot open '%s': there is no such device "
                         "(bilatcam --list-devices shows what there is)",
                         path);
    case -EACCES:
    case -EPERM:
        return error_set(err, -EACCES, "cannot open '%s': permission denied: " HINT_PERMISSION,
                         path);
    case -EBUSY:
        return error_set(err, code,
                         "cannot open '%s': it is in use by another program (fuser -v '%s' "
                         "tells which)",
                         path, path);
    default:
        return error_set(err, code, "cannot open '%s': %s", path, strerror(-code));
    }
}

int v4l2_open(const char *path, int flags, struct error *err)
{
    struct stat st;
    int fd;

    /* Looked at before opening: opening a pipe would wait for its other end. */
    if (stat(path, &st) < 0)
        return open_error(path, -errno, err);
    if (!S_ISCHR(st.st_mode))
        return error_set(err, -EINVAL,
                         "'%s' is not a video device (bilatcam --list-devices shows those)", path);
    fd = open(path, flags | O_CLOEXEC);
    return fd < 0 ? open_error(path, -errno, err) : fd;
}

static enum v4l2_kind kind_of(const struct v4l2_node *n)
{
    const uint32_t camera = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;

    if (!strcmp(n->driver, V4L2_LOOPBACK_DRIVER))
        return V4L2_KIND_LOOPBACK;
    /* It offers formats that are not those of the sensor at its other end, YUYV among them. */
    if (n->caps & V4L2_CAP_IO_MC)
        return V4L2_KIND_SENSOR;
    return (n->caps & camera) == camera ? V4L2_KIND_CAMERA : V4L2_KIND_OTHER;
}

int v4l2_identify(int fd, struct v4l2_node *ret)
{
    struct v4l2_capability cap = {0};
    struct v4l2_node n = {0};
    const int r = v4l2_call(fd, VIDIOC_QUERYCAP, &cap);

    if (r < 0)
        return r;
    memcpy(n.card, cap.card, sizeof(cap.card));
    memcpy(n.driver, cap.driver, sizeof(cap.driver));
    (void)utf8_printable(n.card);
    (void)utf8_printable(n.driver);
    n.caps = cap.capabilities & V4L2_CAP_DEVICE_CAPS ? cap.device_caps : cap.capabilities;
    n.kind = kind_of(&n);
    *ret = n;
    return 0;
}

bool v4l2_is_called(const struct v4l2_node *n, const char *name)
{
    char shown[2 * sizeof(n->card)];

    (void)snprintf(shown, sizeof(shown), "%s", name);
    return !strcmp(n->card, utf8_printable(shown));
}

/* The lock is that of a file: it says nothing to the driver and to other programs. It belongs to
 * the open descriptor, and so ends with the process at the latest. */
int v4l2_claim(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    /* Where locks are not allowed at all, the driver alone says who may write. */
    return fcntl(fd, F_OFD_SETLK, &lock) < 0 && errno == EAGAIN ? -EBUSY : 0;
}

bool v4l2_claimed(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

int v4l2_format_of(uint32_t fourcc)
{
    switch (fourcc) {
    case V4L2_PIX_FMT_YUYV:
        return FRAME_YUYV;
    case V4L2_PIX_FMT_UYVY:
        return FRAME_UYVY;
    case V4L2_PIX_FMT_NV12:
        return FRAME_NV12;
    case V4L2_PIX_FMT_YUV420:
        return FRAME_I420;
    case V4L2_PIX_FMT_GREY:
        return FRAME_GREY;
    case V4L2_PIX_FMT_RGB24:
        return FRAME_RGB24;
    case V4L2_PIX_FMT_BGR24:
        return FRAME_BGR24;
    case V4L2_PIX_FMT_Y16:
        return FRAME_GREY16;
#ifdef HAVE_MJPEG
    case V4L2_PIX_FMT_MJPEG:
    case V4L2_PIX_FMT_JPEG:
        return FRAME_MJPG;
#endif
    default:
        return -1;
    }
}

uint32_t v4l2_fourcc_of(enum frame_format format)
{
    switch (format) {
    case FRAME_YUYV:
        return V4L2_PIX_FMT_YUYV;
    case FRAME_UYVY:
        return V4L2_PIX_FMT_UYVY;
    case FRAME_NV12:
        return V4L2_PIX_FMT_NV12;
    case FRAME_I420:
        return V4L2_PIX_FMT_YUV420;
    case FRAME_GREY:
        return V4L2_PIX_FMT_GREY;
    case FRAME_RGB24:
        return V4L2_PIX_FMT_RGB24;
    case FRAME_BGR24:
        return V4L2_PIX_FMT_BGR24;
    case FRAME_GREY16:
        return V4L2_PIX_FMT_Y16;
    case FRAME_MJPG:
        return V4L2_PIX_FMT_MJPEG;
    default:
        return 0;
    }
}

struct v4l2_fourcc_name v4l2_fourcc_name(uint32_t fourcc)
{
    struct v4l2_fourcc_name name = {""};

    for (int i = 0; i < 4; i++) {
        /* The top bit marks big-endian variants; it is no part of the letters. */
        const uint32_t c = fourcc >> 8 * i & (i == 3 ? 0x7f : 0xff);

        name.text[i] = (char)(c > ' ' && c < 0x7f ? c : c == ' ' ? '\0' : '?');
    }
    return name;
}

struct colour v4l2_colour(const struct v4l2_pix_format *pix)
{
    uint32_t space = pix->colorspace;
    uint32_t encoding = pix->ycbcr_enc;
    uint32_t range = pix->quantization;
    const bool rgb =
        pix->pixelformat == V4L2_PIX_FMT_RGB24 || pix->pixelformat == V4L2_PIX_FMT_BGR24;
    const bool grey = pix->pixelformat == V4L2_PIX_FMT_GREY || pix->pixelformat == V4L2_PIX_FMT_Y16;

    /* JFIF fixes both, and the fields of a compressed stream are often not filled in. */
    if (pix->pixelformat == V4L2_PIX_FMT_MJPEG || pix->pixelformat == V4L2_PIX_FMT_JPEG)
        return (struct colour){COLOUR_BT601, COLOUR_FULL};

    if (space == V4L2_COLORSPACE_DEFAULT)
        space = V4L2_MAP_COLORSPACE_DEFAULT(false, false);
    if (encoding == V4L2_YCBCR_ENC_DEFAULT)
        encoding = V4L2_MAP_YCBCR_ENC_DEFAULT(space);
    if (range == V4L2_QUANTIZATION_DEFAULT)
        /* Grey is what the sensor gives: the whole range, as R'G'B' has it. */
        range = V4L2_MAP_QUANTIZATION_DEFAULT(rgb || grey, space, encoding);

    return (struct colour){
        /* BT.2020 and SMPTE 240M, which no webcam has, are closer to BT.709. */
        .matrix = rgb ? COLOUR_RGB
                  : encoding == V4L2_YCBCR_ENC_601 || encoding == V4L2_YCBCR_ENC_XV601
                      ? COLOUR_BT601
                      : COLOUR_BT709,
        .range = range == V4L2_QUANTIZATION_FULL_RANGE ? COLOUR_FULL : COLOUR_LIMITED,
    };
}

/* In the single-planar API the planes follow each other, and the one stride that is told is
 * that of the first; a plane of half the bytes in a row has half of it. */
static void set_strides(struct frame *f, size_t bytesperline)
{
    const size_t first = frame_row_bytes(f, 0);

    for (int p = 0; p < format_table[f->format].planes; p++)
        f->stride[p] = (bytesperline ? bytesperline : first) * frame_row_bytes(f, p) / first;
}

int v4l2_layout(const struct v4l2_pix_format *pix, struct frame *ret, size_t *ret_bytes,
                struct error *err)
{
    const int format = v4l2_format_of(pix->pixelformat);
    const int width = pix->width > FRAME_MAX_SIDE ? FRAME_MAX_SIDE + 1 : (int)pix->width;
    const int height = pix->height > FRAME_MAX_SIDE ? FRAME_MAX_SIDE + 1 : (int)pix->height;
    struct frame f = {.width = width, .height = height, .colour = v4l2_colour(pix)};
    const char *problem = frame_size_problem(width, height);
    size_t bytes = 0;

    if (format < 0 || !format_table[format].planes)
        return error_set(err, -EINVAL, "pixel format %s is not a raw format that bilatcam reads",
                         v4l2_fourcc_name(pix->pixelformat).text);
    if (problem)
        return error_set(err, -EINVAL, "a picture of %ux%u cannot be used: %s", pix->width,
                         pix->height, problem);
    f.format = (enum frame_format)format;
    set_strides(&f, pix->bytesperline);

    for (int p = 0; p < format_table[format].planes; p++) {
        const size_t row = frame_row_bytes(&f, p);

        if (f.stride[p] < row)
            return error_set(err, -EINVAL, "rows of %u bytes are too short for %s %dx%d",
                             pix->bytesperline, format_table[format].name, width, height);
        bytes += f.stride[p] * (size_t)frame_plane_rows(&f, p);
        if (p == format_table[format].planes - 1)
            bytes -= f.stride[p] - row; /* drivers need not send the padding of the last row */
    }
    if (pix->sizeimage < bytes)
        return error_set(err, -EINVAL, "buffers of %u bytes are too small for %s %dx%d, %zu bytes",
                         pix->sizeimage, format_table[format].name, width, height, bytes);
    *ret = f;
    *ret_bytes = bytes;
    return 0;
}

int64_t v4l2_timestamp(uint32_t buffer_flags, struct timeval stamp, int64_t now)
{
    int64_t t;

    if ((buffer_flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) != V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        return now;
    /* What cannot be a time would not fit below, either. */
    if (stamp.tv_sec < 0 || stamp.tv_sec > now / NS_PER_S || stamp.tv_usec < 0 ||
        stamp.tv_usec >= NS_PER_S / NS_PER_US)
        return now;
    t = stamp.tv_sec * NS_PER_S + stamp.tv_usec * NS_PER_US;
    return t > now || t < now - STAMP_MAX_AGE_NS || t <= 0 ? now : t;
}

bool v4l2_jpeg_plausible(const uint8_t *data, size_t bytes)
{
    return bytes >= JPEG_MIN_BYTES && data[0] == 0xff && data[1] == 0xd8;
}
