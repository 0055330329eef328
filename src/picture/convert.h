#pragma once
/* From one picture layout to another: the camera's to the working layout of the engines (this
 * is the one copy a captured frame takes), and the working layout to what a sink wants.
 * Context: any thread; the frames are the caller's. */
#include "base/error.h"
#include "picture/frame.h"

/* The layout in which frames of @format are filtered: itself, but YUYV for UYVY, 4:2:2 planes for
 * MJPG, for packed R'G'B' planes of G', B' and R', and where @depth is 8 no samples of 16 bits. */
enum frame_format working_format(enum frame_format format, int depth);

/* Writes @src to @dst, both raw and of equal size, in the format and colour of @dst. Chroma is
 * replicated where @dst has more of it, averaged (rounded to nearest, rows
 * first) where it has less, and 128 where @src is grey. Samples of 16 bits are rounded to 8, and 8
 * are 16 with nothing added. Samples that need no change are copied exactly. */
void convert_frame(struct frame *dst, const struct frame *src);

/* The same on the threads of @w. */
struct workers;
void convert_frame_by(struct workers *w, struct frame *dst, const struct frame *src);

/* Decoder of MJPG frames (mjpeg.c). One per thread. */
struct mjpeg;

struct jpeg_planes {
    struct jpeg_plane {
        uint8_t *base;
        size_t stride;
        int width, rows;
    } plane[3];
};

/* What decodes JPEGs elsewhere than on the CPU, to the same samples. Context: any thread. */
struct jpeg_device {
    /* Whether it is worth asking. */
    bool (*ready)(void);

    /* Decodes a JPEG of three components whose every block is there. -ENODEV: it is not ready any
     * more. -EINVAL: it cannot take this one, or its planes are not as in @to. -EIO. Then what is
     * in @to is undefined. */
    int (*decode)(const uint8_t *jpeg, size_t size, const struct jpeg_planes *to);
};

/* Uses @n_threads (1 or more, the caller's among them) for JPEGs that have restart markers, and
 * @device, if it is not NULL, where it can. -ENOMEM; -ENOTSUP: the program was built without it. */
int mjpeg_create(struct mjpeg **ret, int n_threads, const struct jpeg_device *device);
void mjpeg_destroy(struct mjpeg *m); /* accepts NULL */

/* Decodes the JPEG @src to the planes of @dst (4:2:2 planes, full range, the camera's size),
 * without a detour over R'G'B'. -EBADMSG: not a whole JPEG of that size, @dst is undefined and
 * @err says why. -ENOMEM. */
int mjpeg_decode(struct mjpeg *m, const struct frame *src, struct frame *dst, struct error *err);
