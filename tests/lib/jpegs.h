#pragma once
/* JPEGs for tests, by libturbojpeg. */
#include <turbojpeg.h>

#include "picture/frame.h"

struct jpeg {
    unsigned char *bytes; /* release with tjFree() */
    unsigned long size;
    struct frame frame;
};

/* A picture of slow changes. @restarts: rows of blocks between restart markers, or with a B behind
 * it blocks; NULL: there are none. */
struct jpeg jpeg_encode(int width, int height, int subsamp, const char *restarts);

/* With up to @noise levels (90 at most) to either side in one channel. */
struct jpeg jpeg_encode_noisy(int width, int height, int subsamp, const char *restarts, int noise);

/* As some cameras do, because all know them. */
void jpeg_leave_tables_out(struct jpeg *j);

/* Puts @n bytes before what is at @at. */
void jpeg_insert(struct jpeg *j, size_t at, const void *bytes, size_t n);
