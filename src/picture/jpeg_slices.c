#include "picture/jpeg_slices.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* The second bytes of JPEG's markers. Before the first block a segment follows each of them: two
 * bytes of its length, these two included, and then what it holds. */
enum {
    MARKER_SOF0 = 0xc0, /* start of frame: baseline, */
    MARKER_SOF1 = 0xc1, /* extended sequential, */
    MARKER_DHT = 0xc4,  /* a table, among others */
    MARKER_SOF15 = 0xcf,
    MARKER_RST0 = 0xd0,
    MARKER_RST7 = 0xd7,
    MARKER_SOI = 0xd8,
    MARKER_EOI = 0xd9,
    MARKER_SOS = 0xda, /* start of scan */
    MARKER_DRI = 0xdd, /* restart interval */
};

struct layout {
    int width, height;
    int block_width,
        block_height; /* of what is coded together: 8 or more samples of luma each way */
    int interval;     /* so many blocks are between two restart markers */
};

static bool is_restart(int marker)
{
    return marker >= MARKER_RST0 && marker <= MARKER_RST7;
}

static int u16(const uint8_t *p)
{
    return p[0] << 8 | p[1];
}

/* @p is behind the marker, @length what the segment says. */
static bool read_frame(struct layout *l, const uint8_t *p, int length)
{
    if (length != 8 + 3 * 3 || p[2] != 8 || p[7] != 3)
        return false;
    l->height = u16(p + 3);
    l->width = u16(p + 5);
    for (int c = 0; c < 3; c++) {
        const int h = p[9 + 3 * c] >> 4, v = p[9 + 3 * c] & 15;

        if (h < 1 || h > 4 || v < 1 || v > 4)
            return false;
        l->block_width = 8 * h > l->block_width ? 8 * h : l->block_width;
        l->block_height = 8 * v > l->block_height ? 8 * v : l->block_height;
    }
    return l->height > 0 && l->width > 0;
}

/* What is before the first block. */
static bool read_header(struct jpeg_slices *s, struct layout *l, const uint8_t *jpeg, size_t size)
{
    size_t at = 2;

    while (at + 4 <= size && jpeg[at] == 0xff) {
        const uint8_t *p = jpeg + at + 2;
        const int marker = jpeg[at + 1], length = u16(p);

        /* Others have no length: decoders would look for the next marker elsewhere. */
        if (marker < MARKER_SOF0 || is_restart(marker) || marker == MARKER_SOI ||
            marker == MARKER_EOI || marker == 0xff)
            return false;
        if (length < 2 || (size_t)length > size - at - 2)
            return false;
        at += 2 + (size_t)length;
        if (marker == MARKER_SOF0 || marker == MARKER_SOF1) {
            s->height_at = (size_t)(p + 3 - jpeg);
            if (l->height || !read_frame(l, p, length))
                return false;
        } else if (marker == MARKER_DRI && length == 4) {
            l->interval = u16(p + 2);
        } else if (marker == MARKER_SOS) {
            s->header = at;
            return l->height && l->interval && length > 2 && p[2] == 3;
        } else if (marker >= MARKER_SOF0 && marker <= MARKER_SOF15 && marker != MARKER_DHT) {
            return false;
        }
    }
    return false;
}

/* Where the next marker is, or @size. Among the bytes of blocks 0xff is followed by 0 or, to fill,
 * by another. */
static size_t next_marker(const uint8_t *jpeg, size_t at, size_t size)
{
    while (at + 1 < size) {
        const uint8_t *p = memchr(jpeg + at, 0xff, size - 1 - at);

        if (!p)
            break;
        if (p[1] && p[1] != 0xff)
            return (size_t)(p - jpeg);
        at = (size_t)(p - jpeg) + (p[1] ? 1 : 2);
    }
    return size;
}

/* Ends the slice before the marker at @at and begins the next, which begins with row @y. */
static void cut(struct jpeg_slices *s, int y, size_t at, int n_restarts)
{
    struct jpeg_slice *next = &s->slice[s->n];

    next[-1].height = y - next[-1].y;
    next[-1].to = at;
    *next = (struct jpeg_slice){.y = y, .from = at + 2, .n_restarts = n_restarts};
    s->n++;
}

int jpeg_slices_find(struct jpeg_slices *ret, const uint8_t *jpeg, size_t size, int n_max)
{
    struct jpeg_slices s = {.n = 1};
    struct layout l = {0};
    int64_t across, rows;
    size_t at;
    int n = 0; /* restart markers met */

    if (!read_header(&s, &l, jpeg, size))
        return -EINVAL;
    across = (l.width + l.block_width - 1) / l.block_width;
    rows = (l.height + l.block_height - 1) / l.block_height;
    s.slice[0].from = s.header;
    for (at = next_marker(jpeg, s.header, size); at < size && is_restart(jpeg[at + 1]);
         at = next_marker(jpeg, at + 2, size)) {
        const int64_t blocks = (int64_t)l.interval * (n + 1), row = blocks / across;

        if (jpeg[at + 1] - MARKER_RST0 != n % 8 || blocks >= across * rows)
            return -EINVAL;
        n++;
        if (blocks % across == 0 && row * n_max >= s.n * rows)
            cut(&s, (int)row * l.block_height, at, n);
    }
    if (at == size || jpeg[at + 1] != MARKER_EOI || n != (across * rows - 1) / l.interval ||
        s.n < 2)
        return -EINVAL;
    s.slice[s.n - 1].height = l.height - s.slice[s.n - 1].y;
    s.slice[s.n - 1].to = at;
    *ret = s;
    return 0;
}

size_t jpeg_slices_size(const struct jpeg_slices *s, int i)
{
    return s->header + s->slice[i].to - s->slice[i].from + 2;
}

void jpeg_slices_write(const struct jpeg_slices *s, int i, const uint8_t *jpeg, uint8_t *to)
{
    const struct jpeg_slice *slice = &s->slice[i];
    const size_t size = jpeg_slices_size(s, i);

    memcpy(to, jpeg, s->header);
    to[s->height_at] = (uint8_t)(slice->height >> 8);
    to[s->height_at + 1] = (uint8_t)slice->height;
    memcpy(to + s->header, jpeg + slice->from, slice->to - slice->from);
    to[size - 2] = 0xff;
    to[size - 1] = MARKER_EOI;
    /* Restart markers count from 0 again. */
    for (size_t at = next_marker(to, s->header, size); at < size - 2;
         at = next_marker(to, at + 2, size))
        to[at + 1] = (uint8_t)(MARKER_RST0 + ((to[at + 1] - MARKER_RST0 - slice->n_restarts) & 7));
}
