/* A JPEG of any bytes behind four that choose the picture that it is decoded to (columns / 2 - 1,
 * rows - 1, bytes between rows) and, by three bits, whether the decoder has met a JPEG before,
 * whether it has several threads, and whether there is a device, which makes all grey. The
 * library's own code is not watched by the sanitizer, so the bytes around the planes are looked at.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "picture/convert.h"

enum { GUARD = 64, GUARD_BYTE = 0x5a };

/* Planes of whole rows, GUARD bytes before and behind each. */
static void guarded_alloc(struct frame *f, size_t slack)
{
    for (int p = 0; p < 3; p++) {
        const size_t rows = (size_t)frame_plane_rows(f, p);
        uint8_t *memory;

        f->stride[p] = frame_row_bytes(f, p) + slack;
        memory = malloc(f->stride[p] * rows + 2 * GUARD);
        must(memory, "memory for a small picture");
        memset(memory, GUARD_BYTE, f->stride[p] * rows + 2 * GUARD);
        f->plane[p] = memory + GUARD;
    }
}

static void guarded_check(const struct frame *f)
{
    for (int p = 0; p < 3; p++) {
        const uint8_t *end = f->plane[p] + f->stride[p] * (size_t)frame_plane_rows(f, p);

        for (int i = 0; i < GUARD; i++)
            must(f->plane[p][i - GUARD] == GUARD_BYTE && end[i] == GUARD_BYTE,
                 "nothing is written beside a plane");
    }
}

static void decode(struct mjpeg *m, const struct frame *like, size_t slack, const struct frame *src)
{
    struct error err = {.text = ""};
    struct frame dst = frame_like(like);
    int r;

    guarded_alloc(&dst, slack);
    r = mjpeg_decode(m, src, &dst, &err);
    must(!r || (r == -EBADMSG && err.text[0]), "a JPEG is whole, or damaged in some way");
    guarded_check(&dst);
    for (int p = 0; p < 3; p++)
        free(dst.plane[p] - GUARD);
}

static bool ready(void)
{
    return true;
}

static int decode_grey(const uint8_t *jpeg, size_t size, const struct jpeg_planes *to)
{
    (void)jpeg, (void)size;
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < to->plane[p].rows; y++)
            memset(to->plane[p].base + (size_t)y * to->plane[p].stride, 128,
                   (size_t)to->plane[p].width);
    return 0;
}

static const struct jpeg_device device = {.ready = ready, .decode = decode_grey};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    const struct frame like = {.format = FRAME_I422,
                               .width = 2 + 2 * input_u8(&in),
                               .height = 1 + input_u8(&in),
                               .colour = {COLOUR_BT601, COLOUR_FULL}};
    const size_t slack = input_u8(&in);
    const int flags = input_u8(&in);
    struct frame src = {.format = FRAME_MJPG, .bytes = in.left};
    struct mjpeg *m;

    if (!in.left)
        return 0;
    src.plane[0] = malloc(in.left);
    must(src.plane[0] && !mjpeg_create(&m, flags & 2 ? 3 : 1, flags & 4 ? &device : NULL),
         "memory for a decoder");
    memcpy(src.plane[0], in.data, in.left);
    for (int i = 0; i <= (flags & 1); i++)
        decode(m, &like, slack, &src);
    mjpeg_destroy(m);
    free(src.plane[0]);
    return 0;
}
