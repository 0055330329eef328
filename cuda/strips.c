/* DESIGN. A strip's kernel needs rows of its neighbours, so it starts when the next strip has
 * arrived; the one before has by then. Kernels of neighbouring strips run on two streams, so
 * that one fills the multiprocessors which the end of the other leaves idle.
 *
 * Downloads by the copy engine were quicker than kernels that store to host memory, but for
 * radius 10 at 1920x1080; and about 8 strips the best number there, 12 at 3840x2160: more cost
 * the CPU's time to start them (2026-11, NVIDIA H200, PCIe 5 x16). */
#include "cuda/strips.h"

#include "cuda/device_frame.h"

/* A strip's height is more than a radius. The least of them makes 7 strips of 1080 rows, STRIPS_MAX
 * of 2160 (2026-11, NVIDIA H200). */
#define ROWS_LEAST 160

cudaError_t strips_init(struct strips *s)
{
    cudaStream_t *const streams[] = {&s->upload, &s->kernel[0], &s->kernel[1], &s->download};
    cudaError_t status = cudaSuccess;

    for (int i = 0; i < 4 && status == cudaSuccess; i++)
        status = cudaStreamCreateWithFlags(streams[i], cudaStreamNonBlocking);
    for (int i = 0; i < STRIPS_MAX && status == cudaSuccess; i++) {
        status = cudaEventCreateWithFlags(&s->arrived[i], cudaEventDisableTiming);
        if (status == cudaSuccess)
            status = cudaEventCreateWithFlags(&s->filtered[i], cudaEventDisableTiming);
    }
    return status;
}

void strips_finish(struct strips *s)
{
    const cudaStream_t streams[] = {s->upload, s->kernel[0], s->kernel[1], s->download};

    for (int i = 0; i < 4; i++)
        if (streams[i]) {
            (void)cudaStreamSynchronize(streams[i]);
            (void)cudaStreamDestroy(streams[i]);
        }
    for (int i = 0; i < STRIPS_MAX; i++) {
        if (s->arrived[i])
            (void)cudaEventDestroy(s->arrived[i]);
        if (s->filtered[i])
            (void)cudaEventDestroy(s->filtered[i]);
    }
}

int strips_rows(int height)
{
    const int least = (height + STRIPS_MAX - 1) / STRIPS_MAX;
    int rows = (least + BILATERAL_ROWS_STEP - 1) / BILATERAL_ROWS_STEP * BILATERAL_ROWS_STEP;

    rows = rows > ROWS_LEAST ? rows : ROWS_LEAST;
    return rows < height ? rows : height;
}

/* Filters strip @i, rows @first to @end, when strip @needed has arrived, and downloads it. */
static int filter_strip(struct strips *s, struct bilateral_params *p, int i, int needed, int first,
                        int end, const struct frame *after, const struct frame *out)
{
    const cudaStream_t stream = s->kernel[i % 2];
    cudaError_t status = cudaStreamWaitEvent(stream, s->arrived[needed], 0);
    int r;

    if (status != cudaSuccess)
        return bilateral_errno(status);
    p->row_begin = first;
    p->row_end = end;
    r = bilateral_launch(p, stream);
    if (r)
        return r;
    status = cudaEventRecord(s->filtered[i], stream);
    if (status == cudaSuccess)
        status = cudaStreamWaitEvent(s->download, s->filtered[i], 0);
    if (status == cudaSuccess)
        status = device_copy_rows(out, after, first, end, cudaMemcpyDeviceToHost, s->download);
    return bilateral_errno(status);
}

int strips_start(struct strips *s, const struct bilateral_params *params, const struct frame *in,
                 const struct frame *before, const struct frame *after, const struct frame *out)
{
    const int height = in->height, rows = strips_rows(height);
    struct bilateral_params p = *params;
    int r = 0;

    for (int i = 0, y = 0; y < height && r == 0; i++, y += rows) {
        const int end = y + rows < height ? y + rows : height;
        cudaError_t status =
            device_copy_rows(before, in, y, end, cudaMemcpyHostToDevice, s->upload);

        if (status == cudaSuccess)
            status = cudaEventRecord(s->arrived[i], s->upload);
        r = bilateral_errno(status);
        if (r == 0 && i > 0)
            r = filter_strip(s, &p, i - 1, i, y - rows, y, after, out);
        if (r == 0 && end == height)
            r = filter_strip(s, &p, i, i, y, end, after, out);
    }
    return r;
}
