#pragma once
/* Frames in device memory, and copies between them and the caller's. Context: any thread. */
#include <cuda_runtime_api.h>

#include "picture/frame.h"

/* Lays a frame like @f out from @memory on (NULL: only measures); returns the bytes it takes. The
 * stride is that of @f where that is as good, because one long copy is quicker than one of many
 * rows. */
size_t device_frame(struct frame *ret, const struct frame *f, uint8_t *memory);

/* Starts copying luma rows @first to @end, and the chroma rows that belong to them, between
 * frames of equal format and size. @first is even. The padding of a device frame may be written,
 * that of the caller's is not. */
cudaError_t device_copy_rows(const struct frame *to, const struct frame *from, int first, int end,
                             enum cudaMemcpyKind kind, cudaStream_t stream);
