#include "tests/vm/usbcam/picture.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#include "tests/lib/restarts.h"

#define SQUARE 16

static void *must_alloc(size_t size)
{
    void *memory = malloc(size);

    if (!memory)
        err(1, "memory");
    return memory;
}

/* A number that looks random (the finalizer of MurmurHash3). */
static uint32_t scramble(uint32_t x)
{
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

/* Component @c at (@x, @y), limited range. Neighbours differ little enough to be filtered. */
static uint8_t colour_at(unsigned number, int c, int x, int y)
{
    const uint32_t square = (uint32_t)(y / SQUARE) << 16 | (uint32_t)(x / SQUARE);
    const uint32_t random = scramble(scramble(square) + number * 3 + (uint32_t)c);

    return c ? (uint8_t)(108 + random % 41) : (uint8_t)(60 + random % 121);
}

struct bytes picture_yuyv(unsigned number, int width, int height)
{
    const size_t size = (size_t)width * (size_t)height * 2;
    uint8_t *data = must_alloc(size), *p = data;

    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            *p++ = colour_at(number, 0, x, y);
            *p++ = colour_at(number, 1 + x % 2, x, y);
        }
    return (struct bytes){data, size};
}

static uint8_t full_range(uint8_t value, int c)
{
    return c ? (uint8_t)(((value - 128) * 255 + 128 * 224 + 112) / 224)
             : (uint8_t)(((value - 16) * 255 + 109) / 219);
}

struct bytes picture_jpeg(unsigned number, int width, int height)
{
    const size_t luma = (size_t)width * (size_t)height;
    uint8_t *planes = must_alloc(2 * luma);
    const uint8_t *plane[3] = {planes, planes + luma, planes + luma + luma / 2};
    unsigned char *jpeg = NULL;
    unsigned long size = 0;
    tjhandle encoder = tjInitCompress();
    uint8_t *p = planes;
    struct bytes result;

    for (int c = 0; c < 3; c++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x += c ? 2 : 1)
                *p++ = full_range(colour_at(number, c, x, y), c);
    if (encoder)
        jpeg_set_restarts(encoder, "1"); /* as many cameras send them */
    /* At this quality the mean of a block is kept exactly. */
    if (!encoder || tjCompressFromYUVPlanes(encoder, plane, width, NULL, height, TJSAMP_422, &jpeg,
                                            &size, 95, TJFLAG_ACCURATEDCT))
        errx(1, "JPEG: %s", tjGetErrorStr2(encoder));
    result = (struct bytes){must_alloc(size), size};
    memcpy(result.data, jpeg, size);
    tjFree(jpeg);
    (void)tjDestroy(encoder);
    free(planes);
    return result;
}

struct bytes picture_garbage(size_t size)
{
    struct bytes noise = {must_alloc(size), size};

    for (size_t i = 0; i < size; i++)
        noise.data[i] = (uint8_t)scramble((uint32_t)i);
    return noise;
}
