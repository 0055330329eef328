#pragma once
/* Video4Linux: what the camera source, the virtual camera sink and the device list share.
 *
 * The kernel's own vocabulary (struct v4l2_pix_format and friends) ends here: outside, there
 * are frames, colours and modes. Functions that can fail return a negative errno.
 * Context: no state of its own; any thread. */
#include <linux/videodev2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/types.h>

#include "base/error.h"
#include "picture/frame.h"

#define V4L2_LOOPBACK_DRIVER "v4l2 loopback"

enum v4l2_kind {
    V4L2_KIND_CAMERA,   /* gives pictures by streaming */
    V4L2_KIND_LOOPBACK, /* made by v4l2loopback, whatever it can do at the moment */
    V4L2_KIND_SENSOR,   /* of a chain that somebody has to set up first, as libcamera does */
    V4L2_KIND_OTHER,    /* metadata, radio, codecs, output */
};

struct v4l2_node {
    char path[32];   /* "/dev/video0"; empty if only a descriptor is known */
    char card[33];   /* what it calls itself, as utf8_printable() leaves it */
    char driver[17]; /* likewise */
    uint32_t caps;   /* of this node, not of the whole device */
    enum v4l2_kind kind;
};

/* ioctl() repeated while signals interrupt it: 0 or a negative errno. */
int v4l2_call(int fd, unsigned long request, void *arg);

/* Opens the device @path, close-on-exec: a descriptor, or a negative errno with a text that
 * says what to do. */
int v4l2_open(const char *path, int flags, struct error *err);

/* What the device behind @fd is. -ENOTTY: not Video4Linux at all. */
int v4l2_identify(int fd, struct v4l2_node *ret);

/* Whether @name is what it calls itself, as that is shown or as it is. */
bool v4l2_is_called(const struct v4l2_node *n, const char *name);

/* Claims the node behind @fd, open for writing, until that is closed, against everybody else who
 * calls this. -EBUSY: another has it. */
int v4l2_claim(int fd);

/* Whether another has claimed it. @fd may be open for reading only. */
bool v4l2_claimed(int fd);

/* The format of a pixel format code, or -1 if this build does not read it; and back. */
int v4l2_format_of(uint32_t fourcc);
uint32_t v4l2_fourcc_of(enum frame_format format);

/* The four letters of a code, printable whatever it is. */
struct v4l2_fourcc_name {
    char text[5];
} v4l2_fourcc_name(uint32_t fourcc);

/* Matrix and range of what @pix describes, the kernel's defaults filled in. */
struct colour v4l2_colour(const struct v4l2_pix_format *pix);

/* Sets everything in @ret but the planes from @pix, for frame_attach() on a buffer, and
 * @ret_bytes to the least that a whole frame has. A raw format only.
 * -EINVAL: a size that no engine takes, or rows or a buffer too short for it. */
int v4l2_layout(const struct v4l2_pix_format *pix, struct frame *ret, size_t *ret_bytes,
                struct error *err);

/* When the frame with this time stamp was taken: @now if the stamp is of another clock or
 * cannot be true. */
int64_t v4l2_timestamp(uint32_t buffer_flags, struct timeval stamp, int64_t now);

/* Whether @data can be a JPEG. Damage further in is for the decoder to find. */
bool v4l2_jpeg_plausible(const uint8_t *data, size_t bytes);

/* --- finding devices (list.c) --- */

#define V4L2_MAX_NODES 256

/* The N of all videoN in @folder, in order: how many. */
size_t v4l2_node_numbers(const char *folder, int number[V4L2_MAX_NODES]);

/* The name of the node at @path that survives being plugged in elsewhere or in another order:
 * by-id or by-path. False: there is none, and @ret is undefined. */
bool v4l2_stable_name(const char *path, char *ret, size_t size);

/* The first camera in the order of node numbers that gives a format we read and, unless @name is
 * NULL, is so called; never a virtual one. -ENODEV: none; -EACCES: none, but there is one that
 * this user may not open. */
int v4l2_find_camera(const char *name, char *ret_path, size_t size);

/* A v4l2loopback node: one labelled "bilatcam" before others, a free one before one in use.
 * -ENODEV, -EACCES as above. */
int v4l2_find_loopback(char *ret_path, size_t size);

/* The devices of cameras that only libcamera reads, which may have dozens: how many. */
int v4l2_find_sensors(dev_t ret[V4L2_MAX_NODES]);

/* All cameras and virtual cameras, for people to read, after @n_others that are none of
 * Video4Linux. @unread: there is a sensor that is none of them. */
void v4l2_list(FILE *out, int n_others, bool unread);
