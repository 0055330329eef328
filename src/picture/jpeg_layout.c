#include "picture/jpeg_layout.h"

#include <errno.h>
#include <string.h>

/* What JPEGs without tables mean, as the video of some cameras is: counts and symbols (T.81, annex
 * K). */
static const uint8_t brightness_dc[] = {
    0, 1, 5,    1,    1,    1,    1,    1,    1,    0,    0,    0,    0,    0,
    0, 0, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,
};

static const uint8_t brightness_ac[] = {
    0,    2,    1,    3,    3,    2,    4,    3,    5,    5,    4,    4,    0,    0,    1,
    125,  0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51,
    0x61, 0x07, 0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15,
    0x52, 0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a,
    0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44,
    0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63,
    0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a,
    0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98,
    0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5,
    0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2,
    0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7,
    0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
};

static const uint8_t colour_dc[] = {
    0, 3, 1,    1,    1,    1,    1,    1,    1,    1,    1,    0,    0,    0,
    0, 0, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,
};

static const uint8_t colour_ac[] = {
    0,    2,    1,    2,    4,    4,    3,    4,    7,    5,    4,    4,    0,    1,    2,
    119,  0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07,
    0x61, 0x71, 0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23,
    0x33, 0x52, 0xf0, 0x15, 0x62, 0x72, 0xd1, 0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17,
    0x18, 0x19, 0x1a, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43,
    0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a,
    0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79,
    0x7a, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96,
    0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3,
    0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9,
    0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6,
    0xe7, 0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
};

static int u16(const uint8_t *p)
{
    return p[0] << 8 | p[1];
}

/* In the segments that follow, @p is behind the marker and @length what the segment says. */
static bool read_frame(struct jpeg_layout *l, const uint8_t *p, int length)
{
    int most_h = 1, most_v = 1;

    l->n_components = length > 7 ? p[7] : 0;
    if ((l->n_components != 1 && l->n_components != 3) || length != 8 + 3 * l->n_components ||
        p[2] != 8)
        return false;
    l->height = u16(p + 3);
    l->width = u16(p + 5);
    for (int c = 0; c < l->n_components; c++) {
        int h = p[9 + 3 * c] >> 4, v = p[9 + 3 * c] & 15;

        if (h < 1 || h > 4 || v < 1 || v > 4)
            return false;
        if (l->n_components == 1) /* coded block by block */
            h = v = 1;
        l->component[c].id = p[8 + 3 * c];
        l->component[c].blocks = h * v;
        l->component[c].quantizer = p[10 + 3 * c];
        most_h = h > most_h ? h : most_h;
        most_v = v > most_v ? v : most_v;
    }
    l->group_width = 8 * most_h;
    l->group_height = 8 * most_v;
    return l->height > 0 && l->width > 0;
}

static bool read_tables(struct jpeg_layout *l, const uint8_t *p, int length)
{
    for (int at = 2; at < length;) {
        const int class = p[at] >> 4, id = p[at] & 15;
        int n = 0;

        if (class > 1 || id >= JPEG_TABLES || length - at < 17)
            return false;
        for (int i = 1; i <= 16; i++)
            n += p[at + i];
        if (n > 256 || length - at - 17 < n)
            return false;
        l->table[class][id] = p + at + 1;
        at += 17 + n;
    }
    return true;
}

/* Notes in @ret which of them there are. */
static bool read_quantizers(bool ret[JPEG_TABLES], const uint8_t *p, int length)
{
    int at = 2;

    while (at < length) {
        const int id = p[at] & 15, n = 1 + 64 * (1 + (p[at] >> 4));

        if (id >= JPEG_TABLES || p[at] >> 4 > 1 || length - at < n)
            return false;
        ret[id] = true;
        at += n;
    }
    return true;
}

static bool read_scan(struct jpeg_layout *l, const uint8_t *p, int length)
{
    if (length < 3 || p[2] != l->n_components || length != 6 + 2 * l->n_components)
        return false;
    for (int c = 0; c < l->n_components; c++) {
        const uint8_t *q = p + 3 + 2 * c;

        if (q[0] != l->component[c].id || q[1] >> 4 >= JPEG_TABLES || (q[1] & 15) >= JPEG_TABLES)
            return false;
        l->component[c].dc_id = q[1] >> 4;
        l->component[c].ac_id = q[1] & 15;
    }
    p += length - 3; /* coefficients 0 to 63, of all bits */
    return p[0] == 0 && p[1] == 63 && p[2] == 0;
}

static bool is_quantized(const struct jpeg_layout *l, const bool quantizers[JPEG_TABLES])
{
    for (int c = 0; c < l->n_components; c++)
        if (l->component[c].quantizer >= JPEG_TABLES || !quantizers[l->component[c].quantizer])
            return false;
    return true;
}

/* A segment before the scan. False: it is none that is known here, or wrong. */
static bool read_segment(struct jpeg_layout *l, bool quantizers[JPEG_TABLES], int marker,
                         const uint8_t *p, int length)
{
    switch (marker) {
    case JPEG_SOF0:
    case JPEG_SOF1:
        return !l->height && read_frame(l, p, length);
    case JPEG_DHT:
        l->has_tables = true;
        return read_tables(l, p, length);
    case JPEG_DQT:
        return read_quantizers(quantizers, p, length);
    case JPEG_DRI:
        l->interval = length == 4 ? u16(p + 2) : 0;
        return length == 4;
    default:
        return jpeg_is_comment(marker);
    }
}

int jpeg_layout_read(struct jpeg_layout *ret, const uint8_t *jpeg, size_t size)
{
    struct jpeg_layout l = {
        .table = {{brightness_dc, colour_dc}, {brightness_ac, colour_ac}},
    };
    bool quantizers[JPEG_TABLES] = {false};
    size_t at = 2;

    if (size < 2 || jpeg[0] != 0xff || jpeg[1] != JPEG_SOI)
        return -EINVAL;
    while (at + 4 <= size && jpeg[at] == 0xff) {
        const uint8_t *p = jpeg + at + 2;
        const int marker = jpeg[at + 1], length = u16(p);

        if (marker == 0xff) { /* fills */
            at++;
            continue;
        }
        if (length < 2 || (size_t)length > size - at - 2)
            break;
        if (marker == JPEG_SOF0 || marker == JPEG_SOF1)
            l.height_at = at + 5;
        if (marker == JPEG_SOS) {
            l.scan = at;
            l.header = at + 2 + (size_t)length;
            if (!l.height || !is_quantized(&l, quantizers) || !read_scan(&l, p, length))
                break;
            *ret = l;
            return 0;
        }
        if (!read_segment(&l, quantizers, marker, p, length))
            break;
        at += 2 + (size_t)length;
    }
    return -EINVAL;
}

static uint8_t *add_table(uint8_t *to, int class_and_id, const uint8_t *table, size_t size)
{
    *to = (uint8_t)class_and_id;
    memcpy(to + 1, table, size);
    return to + 1 + size;
}

void jpeg_add_tables(const struct jpeg_layout *l, const uint8_t *jpeg, size_t size, uint8_t *to)
{
    const int length = JPEG_TABLES_BYTES - 2;
    const uint8_t head[] = {0xff, JPEG_DHT, length >> 8, length & 255};

    memcpy(to, jpeg, l->scan);
    to += l->scan;
    memcpy(to, head, sizeof(head));
    to = add_table(to + sizeof(head), 0x00, brightness_dc, sizeof(brightness_dc));
    to = add_table(to, 0x10, brightness_ac, sizeof(brightness_ac));
    to = add_table(to, 0x01, colour_dc, sizeof(colour_dc));
    to = add_table(to, 0x11, colour_ac, sizeof(colour_ac));
    memcpy(to, jpeg + l->scan, size - l->scan);
}

int jpeg_groups_across(const struct jpeg_layout *l)
{
    return (l->width + l->group_width - 1) / l->group_width;
}

int jpeg_group_rows(const struct jpeg_layout *l)
{
    return (l->height + l->group_height - 1) / l->group_height;
}

/* Among the bytes of blocks 0xff is followed by 0 or, to fill, by another. */
size_t jpeg_next_marker(const uint8_t *jpeg, size_t at, size_t size)
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
