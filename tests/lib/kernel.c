#include "tests/lib/kernel.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "picture/frame.h"
#include "tests/lib/input.h"

enum { FIRST_FD = 1000, MAX_FDS = 64, MAX_MAPPINGS = 64, MAX_BUFFERS = 8 };

#define INTERVAL_NS INT64_C(33333333)
#define MAX_MAPPING (16 << 20)
#define MAX_CALLS 1000000
#define MAX_NS (2 * INT64_C(3600000000000))
#define MAX_EVENTS 64 /* of the kernel's own queue */
#define NODE_PATH "/dev/video0"
#define JPEG_BYTES 256

static const uint32_t fourccs[] = {V4L2_PIX_FMT_YUYV,   V4L2_PIX_FMT_UYVY,  V4L2_PIX_FMT_NV12,
                                   V4L2_PIX_FMT_YUV420, V4L2_PIX_FMT_GREY,  V4L2_PIX_FMT_MJPEG,
                                   V4L2_PIX_FMT_RGB24,  V4L2_PIX_FMT_BGR24, V4L2_PIX_FMT_Y16};

static const int errors[] = {EINVAL, ENOTTY, EBUSY,  EIO,    EAGAIN, ENODEV,
                             ENOMEM, ENOSPC, EACCES, ENOENT, EPIPE,  EINTR};

enum { N_ERRORS = sizeof(errors) / sizeof(errors[0]) };

/* What the honest device is and does. */
static struct {
    enum kernel_device device;
    struct input script;
    const uint8_t *data; /* the script from its start */
    size_t size;
    size_t again;   /* how many bytes at its end are repeated */
    int interrupts; /* EINTR without anything else in between */
    int64_t now, t_operation;
    int calls; /* of this operation */
    bool open[MAX_FDS];
    struct {
        void *memory;
        size_t length;
    } mapping[MAX_MAPPINGS];
    struct v4l2_pix_format pix;
    int64_t age_ns, jitter_ns;
    uint32_t sequence, queue[MAX_BUFFERS], n_queued;
    bool frame_ready;
    int events, events_left;
} k;

static uint8_t next(void)
{
    if (!k.script.left && k.again)
        k.script = (struct input){k.data + k.size - k.again, k.again};
    return input_u8(&k.script);
}

void kernel_operation(void)
{
    k.calls = 0;
    k.t_operation = k.now;
    k.events_left = MAX_EVENTS;
}

void kernel_start(enum kernel_device device, const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct frame f;

    memset(&k, 0, sizeof(k));
    k.device = device;
    k.now = INT64_C(1000000000000);
    k.pix.pixelformat = fourccs[input_u8(&in) % (sizeof(fourccs) / sizeof(fourccs[0]))];
    k.pix.width = 2 + 2u * input_u8(&in);
    k.pix.height = 1 + input_u8(&in);
    k.again = input_u8(&in);
    if (k.again > in.left)
        k.again = in.left;
    k.script = in;
    k.data = in.data;
    k.size = in.left;
    f = (struct frame){
        .format = FRAME_RGB24, .width = (int)k.pix.width, .height = (int)k.pix.height};
    k.pix.sizeimage = (uint32_t)frame_layout_packed(&f); /* enough for the others as well */
    if (k.pix.sizeimage < JPEG_BYTES)
        k.pix.sizeimage = JPEG_BYTES;
    kernel_operation();
}

void kernel_set_stamps(int64_t age_ns, int64_t jitter_ns)
{
    k.age_ns = age_ns;
    k.jitter_ns = jitter_ns;
}

void kernel_stop(void)
{
    for (int i = 0; i < MAX_FDS; i++)
        must(!k.open[i], "every descriptor is closed");
    for (int i = 0; i < MAX_MAPPINGS; i++)
        must(!k.mapping[i].memory, "every buffer is unmapped");
}

int64_t kernel_now_ns(void)
{
    return k.now;
}

/* --- honest, or not --- */

/* What is next: 0 an honest answer, a negative errno, or the number of lies to tell. A signal does
 * not interrupt for ever. */
static int verdict(void)
{
    const uint8_t v = next();
    int error;

    must(++k.calls < MAX_CALLS && k.now - k.t_operation < MAX_NS, "every operation ends");
    if (v < 128)
        return 0;
    if (v >= 192)
        return 1 + v % 4;
    error = errors[v % N_ERRORS];
    k.interrupts = error == EINTR ? k.interrupts + 1 : 0;
    return k.interrupts > 3 ? 0 : -error;
}

static void lie(void *reply, size_t size, int n)
{
    for (; n > 0; n--) {
        const size_t low = next(), at = (low | (size_t)next() << 8) % size;
        uint8_t value[4];

        for (int i = 0; i < 4; i++)
            value[i] = next();
        memcpy((uint8_t *)reply + at, value, size - at < 4 ? size - at : 4);
    }
}

/* 0 or -1 and errno, as a system call returns it. */
static int returned(int r)
{
    if (r >= 0)
        return r;
    errno = -r;
    return -1;
}

/* --- the honest device --- */

static int query_buffer(struct v4l2_buffer *b)
{
    if (b->index >= MAX_BUFFERS)
        return -EINVAL;
    b->length = k.pix.sizeimage;
    return 0;
}

static int queue_buffer(const struct v4l2_buffer *b)
{
    if (b->index >= MAX_BUFFERS || k.n_queued == MAX_BUFFERS)
        return -EINVAL;
    k.queue[k.n_queued++] = b->index;
    return 0;
}

static int dequeue_buffer(struct v4l2_buffer *b)
{
    const int64_t t = k.now - k.age_ns - k.jitter_ns * (k.sequence % 8) / 8;

    if (!k.frame_ready || !k.n_queued)
        return -EAGAIN;
    k.frame_ready = false;
    b->index = k.queue[0];
    memmove(k.queue, k.queue + 1, --k.n_queued * sizeof(k.queue[0]));
    b->bytesused = k.pix.sizeimage;
    b->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    b->timestamp.tv_sec = t / 1000000000;
    b->timestamp.tv_usec = t % 1000000000 / 1000;
    b->sequence = k.sequence++;
    return 0;
}

static void set_rate(struct v4l2_streamparm *parm)
{
    struct v4l2_fract *interval = k.device == KERNEL_CAMERA ? &parm->parm.capture.timeperframe
                                                            : &parm->parm.output.timeperframe;

    parm->parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
    interval->numerator = 1;
    interval->denominator = 30;
}

static int take_event(struct v4l2_event *e)
{
    static const uint32_t readers = 1;

    if (!k.events)
        return -ENOENT;
    k.events--;
    e->type = V4L2_EVENT_PRIVATE_START + 0x08E00000 + 1;
    memcpy(&e->u, &readers, sizeof(readers));
    return 0;
}

static int identify(struct v4l2_capability *cap)
{
    const bool camera = k.device == KERNEL_CAMERA;

    memcpy(cap->driver, camera ? "uvcvideo" : "v4l2 loopback", camera ? 9 : 14);
    memcpy(cap->card, "Simulated", 10);
    cap->device_caps = camera ? V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING : V4L2_CAP_VIDEO_OUTPUT;
    cap->capabilities = cap->device_caps | V4L2_CAP_DEVICE_CAPS;
    return 0;
}

static int enum_size(struct v4l2_frmsizeenum *size)
{
    size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
    size->discrete.width = k.pix.width;
    size->discrete.height = k.pix.height;
    return size->index ? -EINVAL : 0;
}

static int enum_interval(struct v4l2_frmivalenum *interval)
{
    interval->type = V4L2_FRMIVAL_TYPE_DISCRETE;
    interval->discrete = (struct v4l2_fract){1, 30};
    return interval->index ? -EINVAL : 0;
}

static int answer(unsigned long request, void *arg)
{
    switch (request) {
    case VIDIOC_QUERYCAP:
        return identify(arg);
    case VIDIOC_ENUM_FMT:
        ((struct v4l2_fmtdesc *)arg)->pixelformat = k.pix.pixelformat;
        return ((struct v4l2_fmtdesc *)arg)->index ? -EINVAL : 0;
    case VIDIOC_ENUM_FRAMESIZES:
        return enum_size(arg);
    case VIDIOC_ENUM_FRAMEINTERVALS:
        return enum_interval(arg);
    case VIDIOC_S_FMT:
    case VIDIOC_G_FMT:
        ((struct v4l2_format *)arg)->fmt.pix = k.pix;
        return 0;
    case VIDIOC_S_PARM:
    case VIDIOC_G_PARM:
        set_rate(arg);
        return 0;
    case VIDIOC_QUERYBUF:
        return query_buffer(arg);
    case VIDIOC_QBUF:
        return queue_buffer(arg);
    case VIDIOC_DQBUF:
        return dequeue_buffer(arg);
    case VIDIOC_SUBSCRIBE_EVENT:
        k.events = 1;
        return 0;
    case VIDIOC_DQEVENT:
        return take_event(arg);
    case VIDIOC_REQBUFS:
    case VIDIOC_STREAMON:
    case VIDIOC_STREAMOFF:
        return 0;
    default:
        return -ENOTTY;
    }
}

/* --- the calls --- */

static bool is_open(int fd)
{
    return fd >= FIRST_FD && fd < FIRST_FD + MAX_FDS && k.open[fd - FIRST_FD];
}

int kernel_ioctl(int fd, unsigned long request, void *arg)
{
    const int v = verdict();
    int r = v;

    must(is_open(fd), "calls go to an open descriptor");
    if (v < 0)
        return returned(v);
    r = answer(request, arg);
    if (v > 0) {
        lie(arg, _IOC_SIZE(request), v);
        r = 0;
    }
    return returned(r);
}

int kernel_open(const char *path, int flags)
{
    const int v = verdict();
    int i = 0;

    (void)path;
    (void)flags;
    if (v < 0)
        return returned(v);
    while (i < MAX_FDS && k.open[i])
        i++;
    must(i < MAX_FDS, "few descriptors are open at a time");
    k.open[i] = true;
    return FIRST_FD + i;
}

/* Somebody else's lock is told as one for writing, which the caller has asked about. */
int kernel_fcntl(int fd, int command, struct flock *lock)
{
    const int v = verdict();

    must(is_open(fd), "calls go to an open descriptor");
    if (v == 0 && command == F_OFD_GETLK)
        lock->l_type = F_UNLCK;
    return returned(v < 0 ? v : 0);
}

int kernel_close(int fd)
{
    must(is_open(fd), "a descriptor is closed once");
    k.open[fd - FIRST_FD] = false;
    return 0;
}

int kernel_stat(const char *path, struct stat *st)
{
    const int v = verdict();

    (void)path;
    memset(st, 0, sizeof(*st));
    st->st_mode = v > 0 ? S_IFIFO : S_IFCHR;
    st->st_rdev = makedev(81, 0);
    return returned(v < 0 ? v : 0);
}

int kernel_fstat(int fd, struct stat *st)
{
    must(is_open(fd), "calls go to an open descriptor");
    return kernel_stat(NODE_PATH, st);
}

int kernel_access(const char *path, int mode)
{
    const int v = verdict();

    (void)path;
    (void)mode;
    return returned(v < 0 ? v : 0);
}

/* Ends where the driver said that it does: what is read behind that is found. */
void *kernel_mmap(size_t length, int fd)
{
    const int v = verdict();
    int i = 0;

    must(is_open(fd), "calls go to an open descriptor");
    while (i < MAX_MAPPINGS && k.mapping[i].memory)
        i++;
    if (v < 0 || !length || length > MAX_MAPPING || i == MAX_MAPPINGS) {
        errno = v < 0 ? -v : EINVAL;
        return MAP_FAILED;
    }
    k.mapping[i].memory = malloc(length);
    k.mapping[i].length = length;
    must(k.mapping[i].memory, "memory for a buffer");
    memset(k.mapping[i].memory, 0x80, length);
    if (length > 1)
        memcpy(k.mapping[i].memory, "\xff\xd8", 2);
    return k.mapping[i].memory;
}

int kernel_munmap(void *memory, size_t length)
{
    int i = 0;

    while (i < MAX_MAPPINGS && k.mapping[i].memory != memory)
        i++;
    must(memory && i < MAX_MAPPINGS && k.mapping[i].length == length,
         "what is unmapped was mapped");
    free(memory);
    k.mapping[i].memory = NULL;
    return 0;
}

/* Ready means all that was asked for. Three kinds of lies: the time passes, only an error is there,
 * or the other descriptor, that of the stop, is ready. */
int kernel_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
    const int v = verdict();
    const bool event = fds[0].events & POLLPRI;
    nfds_t ready = 0;

    for (nfds_t i = 0; i < n; i++)
        fds[i].revents = 0;
    if (v < 0) {
        k.now += INTERVAL_NS;
        return returned(v);
    }
    if (event && (!k.events || --k.events_left < 0))
        return 0;
    if (v == 1 || fds[0].fd == KERNEL_STOP_FD) {
        must(timeout_ns >= 0, "nothing waits for ever");
        k.now += timeout_ns;
        return 0;
    }
    if (v > 2 && n > 1)
        ready = 1;
    k.now += INTERVAL_NS;
    k.frame_ready = true;
    fds[ready].revents = v == 2 ? POLLERR : fds[ready].events;
    return 1;
}

ssize_t kernel_read(int fd, void *buffer, size_t size)
{
    const int v = verdict();

    must(is_open(fd), "calls go to an open descriptor");
    if (v <= 0)
        return returned(v < 0 ? v : -EAGAIN);
    memset(buffer, 0x80, size);
    return (ssize_t)size;
}

ssize_t kernel_write(int fd, const void *buffer, size_t size)
{
    const int v = verdict();

    must(is_open(fd), "calls go to an open descriptor");
    bytes_touch(buffer, size);
    return v < 0 ? returned(v) : v > 0 ? (ssize_t)(size / 2) : (ssize_t)size;
}
