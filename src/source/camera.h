#pragma once
/* Private to the camera source: its state, shared by camera.c (buffers and frames) and
 * camera_setup.c (agreeing with the driver on what frames look like).
 * Context: the capture thread; main while it opens. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "picture/frame.h"
#include "source/source.h"

#define CAMERA_MAX_BUFFERS 32 /* VIDEO_MAX_FRAME of the kernel */

struct camera_buffer {
    void *memory; /* MAP_FAILED: not mapped */
    size_t length;
    bool queued;
};

struct camera {
    struct source base;
    char path[PATH_MAX];
    int fd, stop_fd;
    struct frame layout; /* what frames look like; raw formats: with strides */
    size_t least_bytes;  /* of a whole frame; 0 for compressed formats */
    struct camera_buffer buffer[CAMERA_MAX_BUFFERS];
    uint32_t n_buffers;
    int lent;               /* index, or -1 */
    bool started;           /* a frame has come */
    uint32_t next_sequence; /* what the driver should give next, once started */
    uint64_t n_lent;
    int64_t timeout_ns; /* between frames */
};

/* Checks that @c->fd is a camera, agrees with it on format, size and rate, and fills in
 * @c->base and @c->layout. @c->path and @c->fd are set before. */
int camera_setup(struct camera *c, const struct source_config *config, struct error *err);

/* The error to return when @what failed with @code, which it had no reason to: -ENODEV if
 * the camera is gone, -EBUSY, else -EIO. */
int camera_error(const struct camera *c, const char *what, int code, struct error *err);
