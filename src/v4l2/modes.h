#pragma once
/* The modes of a camera - formats, sizes, frame rates - and the choice among them.
 *
 * Choosing is a pure function on a table, so that its tests are tables too.
 * Context: no state of its own; any thread. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "picture/frame.h"

/* From min to max in steps; min == max for a single value. */
struct v4l2_span {
    int min, max, step;
};

/* One row: a format at a size or a range of sizes, and one frame rate or a range of them. */
struct v4l2_mode {
    uint32_t fourcc;
    enum frame_format format;
    struct v4l2_span width, height;
    struct fraction fps_min, fps_max; /* both 0/0 where the camera does not tell */
};

struct v4l2_modes {
    struct v4l2_mode *mode; /* malloc()ed: free it */
    size_t n;
};

/* All modes of the camera behind @fd in formats that we read, in the driver's order.
 * -ENOMEM. */
int v4l2_modes_read(int fd, struct v4l2_modes *ret);

struct v4l2_request {
    int format;          /* enum frame_format; -1 = any */
    int width, height;   /* 0 = any */
    struct fraction fps; /* 0/0 = any */
};

struct v4l2_choice {
    const struct v4l2_mode *mode;
    int width, height;
    struct fraction fps; /* 0/0 = unknown */
};

/* The best of @modes: with a size asked for, the nearest to it, and of those the nearest to
 * the requested rate (30 fps if none was requested); with no size asked for, the nearest to
 * 1280x720 that about reaches the rate. Where that leaves several formats, those that cost
 * least and lose least come first: raw colour, then JPEG, then grey.
 * -EINVAL: none has the format. */
int v4l2_modes_choose(const struct v4l2_mode *modes, size_t n, const struct v4l2_request *request,
                      struct v4l2_choice *ret);

/* The rate in frames per 1000 s; 0 = unknown. */
int64_t v4l2_millifps(struct fraction fps);

/* Whether the rates differ by more than the like of 30 and 30000/1001. */
bool v4l2_fps_differ(struct fraction a, struct fraction b);
