#pragma once
/* A picture: pixel format, planes, strides, colour description, timestamps.
 *
 * A frame never owns its samples: `plane` points into a ring slot, a mapped camera buffer or
 * a test's array. Samples are Y'CbCr of 8 or 16 bits, or R'G'B', of which G' takes the place of
 * luma and B' and R' that of chroma. Widths are even; heights are any. A chroma plane of a
 * vertically subsampled format has (height + 1) / 2 rows, the last of which belongs to one luma row
 * where the height is odd. Context: plain data, no thread of its own. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_MAX_SIDE 16384
#define FRAME_ALIGN 64      /* bytes; alignment of planes and strides that frame_layout() makes */
#define FRAME_COUNT_BLOCK 8 /* luma samples, each way, that share one of a frame's counts */

enum frame_format {
    FRAME_YUYV,    /* packed 4:2:2, Y0 U Y1 V */
    FRAME_UYVY,    /* packed 4:2:2, U Y0 V Y1 */
    FRAME_NV12,    /* 4:2:0, a Y plane and a plane of U V pairs */
    FRAME_I420,    /* 4:2:0, three planes; V4L2 calls it YU12 */
    FRAME_I422,    /* 4:2:2, three planes */
    FRAME_I444,    /* 4:4:4, three planes */
    FRAME_GREY,    /* Y alone */
    FRAME_RGB24,   /* packed, R G B; engines take it as FRAME_I444 (convert.h) */
    FRAME_BGR24,   /* the same, B G R */
    FRAME_GREY16,  /* the same as without 16, in words of the machine's order: an 8-bit */
    FRAME_I420_16, /* sample times 256 is the same level */
    FRAME_I422_16,
    FRAME_I444_16,
    FRAME_MJPG, /* one compressed JPEG in plane[0], `bytes` long */
    FRAME_N_FORMATS
};

/* Where the samples of one component (0 Y or G, 1 U or B, 2 V or R) lie in a format. */
struct component_layout {
    uint8_t plane;
    uint8_t offset; /* bytes from the start of a row */
    uint8_t step;   /* bytes from one sample to the next */
};

struct format_info {
    const char *name;   /* as on the command line: "yuyv" */
    uint8_t planes;     /* 0 for compressed formats */
    uint8_t components; /* 1 or 3; 0 for compressed formats */
    uint8_t bytes;      /* of a sample; 0 for compressed formats */
    uint8_t hshift;     /* log2 of luma columns per chroma column */
    uint8_t vshift;     /* log2 of luma rows per chroma row */
    struct component_layout component[3];
};

extern const struct format_info format_table[FRAME_N_FORMATS];

enum colour_matrix {
    COLOUR_BT601,
    COLOUR_BT709,
    COLOUR_BT2020, /* with non-constant luminance */
    COLOUR_RGB     /* no matrix: G', B' and R' */
};
enum colour_range { COLOUR_LIMITED, COLOUR_FULL };

struct colour {
    enum colour_matrix matrix;
    enum colour_range range;
};

struct frame {
    enum frame_format format;
    int width, height; /* luma samples */
    struct colour colour;
    uint8_t *plane[3];
    size_t stride[3];     /* bytes from one row to the next, at least the row's own bytes */
    size_t bytes;         /* length of plane[0], compressed formats only */
    int64_t t_capture_ns; /* CLOCK_MONOTONIC, when the camera had the frame */
    int64_t t_show_ns;    /* from the start of the stream, where the source knows times */
    uint64_t seq;         /* the source's frame number, from 0 */
    const char *y4m_tags; /* of its FRAME line in a YUV4MPEG2 stream; or NULL */

    /* Of how many frames it is the mean, in halves of a frame, rounded, for each block: rows of
     * blocks from the top, partial ones at the right and the lower edge. NULL: not known. */
    const uint8_t *counts;
};

struct fraction {
    uint32_t num, den; /* 0/0 = unknown */
};

/* One component of a frame as a strided array: sample (x, y) is base[y * stride + x * step]. */
struct samples {
    uint8_t *base;
    size_t stride;
    int step;
    int width, height;
};

struct samples frame_samples(const struct frame *f, int component);

/* The sample at column @x and row @y of a component, of 8 or 16 bits. */
int frame_sample(const struct frame *f, int component, int x, int y);

/* The same in levels, 0..255 and a part of one, and its upper 8 bits. */
double frame_level(const struct frame *f, int component, int x, int y);
int frame_byte(const struct frame *f, int component, int x, int y);

/* The nearest of the columns, or rows, 0 .. @n - 1: outside of a picture its edge is repeated. */
static inline int frame_nearest(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Bytes that hold samples in a row of @plane of a picture with @width columns. */
size_t format_row_bytes(const struct format_info *info, int plane, int width);

/* Rows of @plane, and bytes that hold samples in each of them. */
int frame_plane_rows(const struct frame *f, int plane);
size_t frame_row_bytes(const struct frame *f, int plane);

/* Sets the strides of @f from its format, width and height and returns the bytes that all
 * planes take together; frame_attach() then points the planes into memory of that size,
 * aligned to FRAME_ALIGN. A raw format only. */
size_t frame_layout(struct frame *f);
void frame_attach(struct frame *f, void *memory);

/* The same with rows packed without padding, in plane order: the layout of files and of a
 * v4l2loopback buffer. */
size_t frame_layout_packed(struct frame *f);

/* frame_layout() in fresh memory, which @f->plane[0] then owns: release with frame_free().
 * -ENOMEM. */
int frame_alloc(struct frame *f);
void frame_free(struct frame *f);

/* Copies the samples, not the padding, between frames of equal format and size. */
void frame_copy(struct frame *dst, const struct frame *src);

/* Blocks in each row and column of `counts`, and their bytes. */
int frame_count_columns(const struct frame *f);
int frame_count_rows(const struct frame *f);
size_t frame_counts_size(const struct frame *f);

/* The sum of the squared differences of all samples of two frames of equal format and size. */
double frame_squared_error(const struct frame *a, const struct frame *b);

/* Whether two frames have the same format, size and colour. */
bool frame_alike(const struct frame *a, const struct frame *b);

/* Format, size and colour of @like, without its planes. */
struct frame frame_like(const struct frame *like);

/* The format called @name on the command line, or -1. */
int format_from_name(const char *name);

/* The same layout with samples of @bytes, 1 or 2; @format itself where there is none. */
enum frame_format format_with_bytes(enum frame_format format, int bytes);

/* Whether engines take frames of @format: raw ones, but for packed R'G'B'. */
bool format_filtered(enum frame_format format);

/* NULL when @width x @height is a size that every engine takes, else why not. */
const char *frame_size_problem(int width, int height);
