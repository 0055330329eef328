#include "tests/lib/unit.h"

#include "tests/lib/jpegs.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/images.h"
#include "tests/lib/restarts.h"

static void encode(struct jpeg *j, int width, int height, int subsamp, const char *restarts,
                   int noise)
{
    uint64_t rng = 1;
    const tjhandle handle = tjInitCompress();
    unsigned char *rgb = malloc((size_t)(width * height * 3));

    assert_non_null(rgb);
    assert_in_range(noise, 0, 90);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            rgb[(y * width + x) * 3] = (unsigned char)(x * 255 / width);
            rgb[(y * width + x) * 3 + 1] = (unsigned char)(y * 255 / height);
            rgb[(y * width + x) * 3 + 2] =
                (unsigned char)(90 + (noise
                                          ? (int)(random_next(&rng) % (2 * (unsigned)noise)) - noise
                                          : 0));
        }
    jpeg_set_restarts(handle, restarts);
    assert_int_equal(
        tjCompress2(handle, rgb, width, 0, height, TJPF_RGB, &j->bytes, &j->size, subsamp, 95, 0),
        0);
    free(rgb);
    (void)tjDestroy(handle);
}

struct jpeg jpeg_encode_noisy(int width, int height, int subsamp, const char *restarts, int noise)
{
    struct jpeg j = {0};

    encode(&j, width, height, subsamp, restarts, noise);
    j.frame = (struct frame){.format = FRAME_MJPG,
                             .width = width,
                             .height = height,
                             .plane = {j.bytes},
                             .bytes = j.size};
    return j;
}

struct jpeg jpeg_encode(int width, int height, int subsamp, const char *restarts)
{
    return jpeg_encode_noisy(width, height, subsamp, restarts, 0);
}

void jpeg_leave_tables_out(struct jpeg *j)
{
    size_t at = 2;

    while (j->bytes[at + 1] != 0xda) {
        const size_t n = 2 + (size_t)(j->bytes[at + 2] << 8 | j->bytes[at + 3]);

        if (j->bytes[at + 1] != 0xc4) {
            at += n;
            continue;
        }
        j->size -= n;
        memmove(j->bytes + at, j->bytes + at + n, j->size - at);
    }
    j->frame.bytes = j->size;
}

void jpeg_insert(struct jpeg *j, size_t at, const void *bytes, size_t n)
{
    unsigned char *const more = tjAlloc((int)(j->size + n));

    assert_non_null(more);
    memcpy(more, j->bytes, at);
    memcpy(more + at, bytes, n);
    memcpy(more + at + n, j->bytes + at, j->size - at);
    tjFree(j->bytes);
    j->bytes = j->frame.plane[0] = more;
    j->size = j->frame.bytes = j->size + n;
}
