#include "source/pipewire_picture.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "v4l2/node.h"

#define STAMP_MAX_AGE_NS (5 * NS_PER_S) /* an older stamp is taken for nonsense */

/* Whether the memory that is mapped is there: a shorter file would end the program. */
static bool has_memory(const struct spa_data *d)
{
    struct stat st;

    if (!d->data)
        return false;
    return d->type != SPA_DATA_MemFd || fstat((int)d->fd, &st) != 0 || !S_ISREG(st.st_mode) ||
           (uint64_t)st.st_size >= (uint64_t)d->mapoffset + d->maxsize;
}

/* Sets strides from that of the first plane, and returns the bytes that a whole picture has: the
 * padding of the last row may be missing. 0: rows are too short. */
static size_t lay_out(struct frame *f, int32_t stride, enum pipewire_fourth fourth)
{
    const size_t first = fourth ? 4 * (size_t)f->width : frame_row_bytes(f, 0);
    size_t bytes = 0;

    if (stride < 0 || (stride && (size_t)stride < first))
        return 0;
    for (int i = 0; i < format_table[f->format].planes; i++) {
        const size_t row = i == 0 ? first : frame_row_bytes(f, i);

        f->stride[i] = stride ? (size_t)stride * row / first : row;
        if (i == format_table[f->format].planes - 1)
            bytes -= f->stride[i] - row;
        bytes += f->stride[i] * (size_t)frame_plane_rows(f, i);
    }
    return bytes;
}

/* A stamp of another clock, or none, is now. */
static int64_t stamp_of(const struct spa_meta_header *header)
{
    const int64_t now = now_ns();

    return header && header->pts > 0 && header->pts <= now && header->pts > now - STAMP_MAX_AGE_NS
               ? header->pts
               : now;
}

bool pipewire_picture_of(const struct pipewire_picture *agreed, const struct spa_buffer *b,
                         struct frame *ret)
{
    const struct spa_meta_header *const header =
        spa_buffer_find_meta_data(b, SPA_META_Header, sizeof(*header));
    const struct spa_data *const d = &b->datas[0];
    struct spa_chunk chunk;
    size_t bytes;

    if (b->n_datas < 1 || !has_memory(d))
        return false;
    chunk = *(const volatile struct spa_chunk *)d->chunk;
    if (chunk.flags & SPA_CHUNK_FLAG_CORRUPTED ||
        (header && header->flags & SPA_META_HEADER_FLAG_CORRUPTED) || chunk.offset > d->maxsize ||
        chunk.size > d->maxsize - chunk.offset)
        return false;
    *ret = agreed->frame;
    ret->plane[0] = (uint8_t *)d->data + chunk.offset;
    ret->bytes = chunk.size;
    ret->t_capture_ns = stamp_of(header);
    if (ret->format == FRAME_MJPG)
        return v4l2_jpeg_plausible(ret->plane[0], ret->bytes);
    bytes = lay_out(ret, chunk.stride, agreed->fourth);
    if (!bytes || chunk.size < bytes)
        return false;
    frame_attach(ret, ret->plane[0]);
    return true;
}

void pipewire_pack(struct frame *dst, const struct frame *src, enum pipewire_fourth fourth)
{
    for (int y = 0; y < src->height; y++) {
        const uint8_t *in =
            src->plane[0] + (size_t)y * src->stride[0] + (fourth == PIPEWIRE_FOURTH_FIRST);
        uint8_t *out = dst->plane[0] + (size_t)y * dst->stride[0];

        for (int x = 0; x < src->width; x++, in += 4, out += 3) {
            out[0] = in[0];
            out[1] = in[1];
            out[2] = in[2];
        }
    }
    dst->t_capture_ns = src->t_capture_ns;
    dst->seq = src->seq;
}
