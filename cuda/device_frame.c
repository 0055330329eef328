#include "cuda/device_frame.h"

#define DEVICE_ALIGN 256 /* what cudaMalloc gives */
#define STRIDE_ALIGN 16

static size_t align_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

size_t device_frame(struct frame *ret, const struct frame *f, uint8_t *memory)
{
    size_t size = 0;

    *ret = frame_like(f);
    for (int i = 0; i < format_table[f->format].planes; i++) {
        const size_t row = frame_row_bytes(f, i);
        const bool good = f->stride[i] % STRIDE_ALIGN == 0 && f->stride[i] - row < DEVICE_ALIGN;

        ret->stride[i] = good ? f->stride[i] : align_up(row, STRIDE_ALIGN);
        ret->plane[i] = memory ? memory + size : NULL;
        size += align_up(ret->stride[i] * (size_t)frame_plane_rows(f, i), DEVICE_ALIGN);
    }
    return size;
}

static cudaError_t copy_plane_rows(const struct frame *to, const struct frame *from, int plane,
                                   int first, int end, enum cudaMemcpyKind kind,
                                   cudaStream_t stream)
{
    const size_t row = frame_row_bytes(from, plane), rows = (size_t)(end - first);
    const size_t stride_to = to->stride[plane], stride_from = from->stride[plane];
    uint8_t *const dst = to->plane[plane] + (size_t)first * stride_to;
    const uint8_t *const src = from->plane[plane] + (size_t)first * stride_from;

    if (stride_to == stride_from && (row == stride_to || kind == cudaMemcpyHostToDevice))
        return cudaMemcpyAsync(dst, src, (rows - 1) * stride_from + row, kind, stream);
    return cudaMemcpy2DAsync(dst, stride_to, src, stride_from, row, rows, kind, stream);
}

cudaError_t device_copy_rows(const struct frame *to, const struct frame *from, int first, int end,
                             enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const struct format_info *info = &format_table[from->format];
    cudaError_t status = cudaSuccess;

    for (int i = 0; i < info->planes && status == cudaSuccess; i++) {
        const int shift = i ? info->vshift : 0;

        status = copy_plane_rows(to, from, i, first >> shift, (end + shift) >> shift, kind, stream);
    }
    return status;
}
