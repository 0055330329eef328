#pragma once
/* What the header of a JPEG says, and where its markers are (ITU-T T.81, annex B). For JPEGs as
 * cameras send them: Huffman coding, 8 bits, all components in one scan. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The second bytes of markers. Before the first block a segment follows each of them: two bytes of
 * its length, these two included, and then what it holds. */
enum {
    JPEG_SOF0 = 0xc0, /* start of frame: baseline, */
    JPEG_SOF1 = 0xc1, /* extended sequential, */
    JPEG_DHT = 0xc4,  /* a table, among others */
    JPEG_SOF15 = 0xcf,
    JPEG_RST0 = 0xd0,
    JPEG_RST7 = 0xd7,
    JPEG_SOI = 0xd8,
    JPEG_EOI = 0xd9,
    JPEG_SOS = 0xda, /* start of scan */
    JPEG_DQT = 0xdb, /* quantization tables */
    JPEG_DRI = 0xdd, /* restart interval */
    JPEG_APP0 = 0xe0,
    JPEG_APP15 = 0xef,
    JPEG_COM = 0xfe, /* a comment */
};

enum { JPEG_TABLES = 4 };

struct jpeg_layout {
    int width, height;
    int n_components; /* 1 or 3 */
    struct jpeg_component {
        int id;
        int blocks; /* of 8x8 samples in each group of blocks that are coded together */
        int quantizer, dc_id, ac_id; /* its tables */
    } component[3];
    int group_width, group_height; /* of such a group, in luma samples */
    int interval;                  /* so many groups are between two restart markers; 0 = none */
    size_t scan;                   /* where the start of scan is */
    size_t header;                 /* bytes before the first block */
    size_t height_at;              /* where in it the height is */
    /* Tables of DC and of AC: 16 counts of codes, of 1 to 16 bits, and the symbols of these; in the
     * JPEG, or those that all know. NULL: there is none. */
    const uint8_t *table[2][JPEG_TABLES];
    bool has_tables; /* it has some of its own */
};

enum { JPEG_TABLES_BYTES = 420 }; /* of those that all know, as a segment */

/* -EINVAL: @jpeg is not as told above. What it says is not compared with what a decoder makes of
 * it. */
int jpeg_layout_read(struct jpeg_layout *ret, const uint8_t *jpeg, size_t size);

/* Writes a JPEG without tables to @to, with those that all know: JPEG_TABLES_BYTES more. */
void jpeg_add_tables(const struct jpeg_layout *l, const uint8_t *jpeg, size_t size, uint8_t *to);

/* Groups of blocks in a row, and rows of them. */
int jpeg_groups_across(const struct jpeg_layout *l);
int jpeg_group_rows(const struct jpeg_layout *l);

/* Whether it means nothing to a decoder. */
static inline bool jpeg_is_comment(int marker)
{
    return marker == JPEG_COM || (marker >= JPEG_APP0 && marker <= JPEG_APP15);
}

static inline bool jpeg_is_restart(int marker)
{
    return marker >= JPEG_RST0 && marker <= JPEG_RST7;
}

/* Where the next marker is, at @at or behind it among the bytes of blocks, or @size. */
size_t jpeg_next_marker(const uint8_t *jpeg, size_t at, size_t size);
