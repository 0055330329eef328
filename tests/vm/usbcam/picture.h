#pragma once
/* The pictures that the camera gives, and the damaged ones. A picture is made of squares of one
 * colour each, aligned to JPEG's blocks: those come out of any decoder as they went in, so that
 * MJPG, too, can be compared to the last bit. */
#include <stddef.h>
#include <stdint.h>

struct bytes {
    uint8_t *data; /* to be freed by the caller */
    size_t size;
};

/* Picture @number as YUYV, BT.601 limited range. Width and height are multiples of 16. */
struct bytes picture_yuyv(unsigned number, int width, int height);

/* The same as JPEG, which has full range: what it decodes to becomes, rounded to limited range,
 * exactly what picture_yuyv() gives. */
struct bytes picture_jpeg(unsigned number, int width, int height);

/* Noise, the same every time. */
struct bytes picture_garbage(size_t size);
