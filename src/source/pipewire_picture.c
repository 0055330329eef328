#include "source/pipewire_picture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <spa/buffer/meta.h>
#include <spa/param/buffers.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "v4l2/node.h"

#define STAMP_MAX_AGE_NS (5 * NS_PER_S) /* an older stamp is taken for nonsense */

static const struct spa_pod *meta(struct spa_pod_builder *b, enum spa_meta_type type, size_t size)
{
    return spa_pod_builder_add_object(b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
                                      SPA_PARAM_META_type, SPA_POD_Id(type), SPA_PARAM_META_size,
                                      SPA_POD_Int((int)size));
}

uint32_t pipewire_buffers(struct spa_pod_builder *b, enum frame_format format,
                          const struct spa_pod *ret[PIPEWIRE_MAX_BUFFER_PARAMS])
{
    const int planes = format_table[format].planes; /* 0 of a JPEG */

    ret[0] = spa_pod_builder_add_object(
        b, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(4, 1, 32), SPA_PARAM_BUFFERS_blocks,
        SPA_POD_CHOICE_RANGE_Int(1, 1, planes > 1 ? planes : 1), SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr));
    ret[1] = meta(b, SPA_META_Header, sizeof(struct spa_meta_header));
    ret[2] = meta(b, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform));
    return 3;
}

int pipewire_copy_init(struct pipewire_copy *c, const struct pipewire_picture *agreed)
{
    const size_t pixels = (size_t)agreed->frame.width * (size_t)agreed->frame.height;

    *c = (struct pipewire_copy){.frame = frame_like(&agreed->frame), .fourth = agreed->fourth};
    if (c->frame.format == FRAME_MJPG) {
        c->capacity = 3 * pixels + 65536; /* no JPEG needs more than what it decodes to */
        c->frame.plane[0] = malloc(c->capacity);
        return c->frame.plane[0] ? 0 : -ENOMEM;
    }
    if (c->fourth) {
        c->row = malloc(4 * (size_t)c->frame.width);
        if (!c->row)
            return -ENOMEM;
    }
    return frame_alloc(&c->frame);
}

void pipewire_copy_finish(struct pipewire_copy *c)
{
    free(c->row);
    frame_free(&c->frame);
}

/* The part of a buffer in which there is a picture, or a plane of it. */
struct part {
    const uint8_t *memory; /* or NULL: */
    int fd;
    off_t offset; /* in that file, which may be shorter than it was said to be */
    size_t size;
    int32_t stride;
    void *map; /* of our own, or NULL */
    size_t map_size;
};

/* Cameras that are no programs (V4L2, libcamera) give buffers of a driver, which PipeWire calls
 * MemFd too. */
static bool is_dma_buf(int fd)
{
    struct statfs st;

    return !fstatfs(fd, &st) && st.f_type == DMA_BUF_MAGIC;
}

/* A driver's buffer is as large as it says, and no map of more than that is to be had. */
static bool map_part(struct part *p)
{
    const size_t end = (size_t)p->offset + p->size;

    p->map = mmap(NULL, end, PROT_READ, MAP_SHARED, p->fd, 0);
    if (p->map == MAP_FAILED) {
        p->map = NULL;
        return false;
    }
    p->map_size = end;
    p->memory = (const uint8_t *)p->map + p->offset;
    return true;
}

/* A driver's buffer cannot be read() and cannot become shorter; memory of a program can, so it is
 * not read where it is mapped. Any other file could keep who reads it waiting. Where planes are
 * @apart, libcamera has all in one buffer of a driver and tells of each where it begins there, but
 * as the size of the memory that of the plane, so the library maps too little. False: there is no
 * picture. */
static bool find_part(const struct spa_data *d, bool apart, struct part *ret)
{
    const struct spa_chunk chunk = *(const volatile struct spa_chunk *)d->chunk;
    const int fd = d->type == SPA_DATA_MemFd ? (int)d->fd : -1;
    const bool dma_buf = fd >= 0 && is_dma_buf(fd);
    const bool inside = chunk.offset <= d->maxsize && chunk.size <= d->maxsize - chunk.offset;

    *ret = (struct part){.fd = fd,
                         .offset = (off_t)d->mapoffset + chunk.offset,
                         .size = chunk.size,
                         .stride = chunk.stride};
    if (chunk.flags & SPA_CHUNK_FLAG_CORRUPTED || chunk.size > d->maxsize || !(inside || apart))
        return false;
    if (dma_buf && !inside)
        return map_part(ret);
    if (d->type != SPA_DATA_MemPtr && !dma_buf)
        return fd >= 0 && fcntl(fd, F_GET_SEALS) >= 0;
    if (inside && d->data)
        ret->memory = (const uint8_t *)d->data + chunk.offset;
    return ret->memory != NULL;
}

/* Tells a driver that its buffer is read from now on, or no more. */
static void sync_part(const struct part *p, uint64_t when)
{
    struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_READ | when};

    if (p->memory && p->fd >= 0)
        (void)ioctl(p->fd, DMA_BUF_IOCTL_SYNC, &sync);
}

static bool read_part(const struct part *p, size_t at, uint8_t *to, size_t size)
{
    if (at > p->size || size > p->size - at)
        return false;
    if (p->memory)
        memcpy(to, p->memory + at, size);
    return p->memory || pread(p->fd, to, size, p->offset + (off_t)at) == (ssize_t)size;
}

static bool read_rows(const struct part *p, size_t at, size_t stride, uint8_t *to, size_t to_stride,
                      size_t bytes, int rows)
{
    if (stride == bytes && to_stride == bytes)
        return read_part(p, at, to, bytes * (size_t)rows);
    for (int y = 0; y < rows; y++)
        if (!read_part(p, at + (size_t)y * stride, to + (size_t)y * to_stride, bytes))
            return false;
    return true;
}

/* Where planes lie in a buffer, which has @size bytes of them. */
struct planes {
    size_t at[3], stride[3], size;
};

/* @stride is that of the first plane, and the others have their share of it; 0: rows follow without
 * a gap. */
static struct planes planes_by_stride(const struct frame *f, size_t stride)
{
    struct planes ret = {.size = 0};

    for (int i = 0; i < format_table[f->format].planes; i++) {
        const size_t bytes = frame_row_bytes(f, i);

        ret.at[i] = ret.size;
        ret.stride[i] = stride ? stride * bytes / frame_row_bytes(f, 0) : bytes;
        ret.size += ret.stride[i] * (size_t)frame_plane_rows(f, i);
    }
    return ret;
}

/* As GStreamer has them, which tells no stride: rows of whole words of four bytes, and luma of an
 * even number of rows where chroma follows. */
static struct planes planes_of_gstreamer(const struct frame *f)
{
    struct planes ret = {.size = 0};
    const int planes = format_table[f->format].planes;

    for (int i = 0; i < planes; i++) {
        const int rows = frame_plane_rows(f, i);

        ret.at[i] = ret.size;
        ret.stride[i] = (frame_row_bytes(f, i) + 3) / 4 * 4;
        ret.size += ret.stride[i] * (size_t)(i == 0 && planes > 1 ? (rows + 1) / 2 * 2 : rows);
    }
    return ret;
}

/* The gap after the last row may be missing. */
static bool read_plane(struct frame *f, int plane, const struct part *p, size_t at, size_t stride)
{
    return read_rows(p, at, stride, f->plane[plane], f->stride[plane], frame_row_bytes(f, plane),
                     frame_plane_rows(f, plane));
}

static bool read_planes(struct frame *f, const struct part *p, size_t stride)
{
    const struct planes gstreamer = planes_of_gstreamer(f);
    const bool told = stride && stride != gstreamer.stride[0];
    const struct planes planes =
        !told && p->size == gstreamer.size ? gstreamer : planes_by_stride(f, stride);
    bool whole = true;

    for (int i = 0; i < format_table[f->format].planes && whole; i++)
        whole = read_plane(f, i, p, planes.at[i], planes.stride[i]);
    return whole;
}

/* Each plane is a part. libcamera tells the stride of the first one of all; another's own is taken
 * where so many such rows are there. */
static bool read_parts(struct frame *f, const struct part *parts, size_t stride)
{
    const struct planes share = planes_by_stride(f, stride);
    bool whole = true;

    for (int i = 0; i < format_table[f->format].planes && whole; i++) {
        const size_t bytes = frame_row_bytes(f, i), rows = (size_t)frame_plane_rows(f, i);
        const size_t own = parts[i].stride > 0 ? (size_t)parts[i].stride : 0;
        const bool fits = own >= bytes && own * (rows - 1) + bytes <= parts[i].size;

        whole = read_plane(f, i, &parts[i], 0, fits ? own : share.stride[i]);
    }
    return whole;
}

static bool read_without_fourth(struct pipewire_copy *c, const struct part *p, size_t stride)
{
    const size_t bytes = 4 * (size_t)c->frame.width;

    for (int y = 0; y < c->frame.height; y++) {
        const uint8_t *in = c->row + (c->fourth == PIPEWIRE_FOURTH_FIRST);
        uint8_t *out = c->frame.plane[0] + (size_t)y * c->frame.stride[0];

        if (!read_part(p, (size_t)y * (stride ? stride : bytes), c->row, bytes))
            return false;
        for (int x = 0; x < c->frame.width; x++, in += 4, out += 3)
            memcpy(out, in, 3);
    }
    return true;
}

/* What is told may be the size of the buffer, as by libcamera: more than any JPEG has. */
static bool read_jpeg(struct pipewire_copy *c, const struct part *p)
{
    c->frame.bytes = p->size < c->capacity ? p->size : c->capacity;
    return read_part(p, 0, c->frame.plane[0], c->frame.bytes) &&
           v4l2_jpeg_plausible(c->frame.plane[0], c->frame.bytes);
}

static uint32_t read_transform(const struct spa_buffer *b)
{
    const struct spa_meta_videotransform *const shared =
        spa_buffer_find_meta_data(b, SPA_META_VideoTransform, sizeof(*shared));

    return shared ? *(const volatile uint32_t *)&shared->transform : SPA_META_TRANSFORMATION_None;
}

/* A stamp of another clock, or none, is now. */
static int64_t believable(int64_t pts)
{
    const int64_t now = now_ns();

    return pts > 0 && pts <= now && pts > now - STAMP_MAX_AGE_NS ? pts : now;
}

static bool read_picture(struct pipewire_copy *c, const struct part *parts, int n)
{
    const size_t row = c->fourth ? 4 * (size_t)c->frame.width : frame_row_bytes(&c->frame, 0);
    const size_t stride = parts[0].stride > 0 ? (size_t)parts[0].stride : 0;

    if (parts[0].stride < 0 || (stride && stride < row))
        return false;
    return c->fourth ? read_without_fourth(c, parts, stride)
           : n > 1   ? read_parts(&c->frame, parts, stride)
                     : read_planes(&c->frame, parts, stride);
}

bool pipewire_copy_take(struct pipewire_copy *c, const struct spa_buffer *b)
{
    const struct spa_meta_header *const shared =
        spa_buffer_find_meta_data(b, SPA_META_Header, sizeof(*shared));
    const int planes = format_table[c->frame.format].planes;
    const int n = planes > 1 && b->n_datas >= (uint32_t)planes ? planes : 1;
    struct spa_meta_header header = {.flags = 0};
    struct part parts[3] = {0};
    bool whole;

    if (shared)
        header = *(const volatile struct spa_meta_header *)shared;
    whole = b->n_datas > 0 && !(header.flags & SPA_META_HEADER_FLAG_CORRUPTED);
    for (int i = 0; i < n && whole; i++)
        whole = find_part(&b->datas[i], n > 1, &parts[i]);
    c->frame.t_capture_ns = believable(header.pts);
    for (int i = 0; i < n; i++)
        sync_part(&parts[i], DMA_BUF_SYNC_START);
    whole =
        whole && (c->frame.format == FRAME_MJPG ? read_jpeg(c, parts) : read_picture(c, parts, n));
    for (int i = 0; i < n; i++) {
        sync_part(&parts[i], DMA_BUF_SYNC_END);
        if (parts[i].map)
            (void)munmap(parts[i].map, parts[i].map_size);
    }
    if (whole)
        c->transform = read_transform(b);
    return whole;
}
