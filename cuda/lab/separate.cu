/* Conversion as a kernel of its own before and after the filter, which then works on planes. */
#include "cuda/lab/rungs.h"

#include "cuda/kernel/kernels.h"

static __global__ void unpack(const bilateral_params p, uint8_t *y, uint8_t *u, uint8_t *v)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    uint32_t w;

    if (2 * x >= p.width)
        return;
    w = *reinterpret_cast<const uint32_t *>(p.in[0].base + size_t(row) * p.in[0].stride + 4 * x);
    *reinterpret_cast<uint16_t *>(y + size_t(row) * p.width + 2 * x) = __byte_perm(w, 0, 0x4420);
    u[size_t(row) * p.width / 2 + x] = w >> 8;
    v[size_t(row) * p.width / 2 + x] = w >> 24;
}

static __global__ void pack(const bilateral_params p, const uint8_t *y, const uint8_t *u,
                            const uint8_t *v)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;

    if (2 * x >= p.width)
        return;
    *reinterpret_cast<uint32_t *>(p.out[0].base + size_t(row) * p.out[0].stride + 4 * x) =
        y[size_t(row) * p.width + 2 * x] | u[size_t(row) * p.width / 2 + x] << 8 |
        y[size_t(row) * p.width + 2 * x + 1] << 16 | v[size_t(row) * p.width / 2 + x] << 24;
}

extern "C" int rung_separate(const bilateral_params *p, cudaStream_t stream)
{
    static uint8_t *planes; /* before and after; kept until the size changes */
    static size_t pixels;
    const size_t n = size_t(p->width) * p->height;
    const dim3 grid((p->width / 2 + 127) / 128, p->height);
    const uint32_t width = uint32_t(p->width);
    bilateral_params q = *p;

    if (pixels != n) {
        (void)cudaFree(planes);
        pixels = n;
        if (cudaMalloc(&planes, 4 * n) != cudaSuccess)
            return bilateral_errno(cudaGetLastError());
    }
    q.packed = 0;
    q.in[0] = {planes, width, 1};
    q.in[1] = {planes + n, width / 2, 1};
    q.in[2] = {planes + n + n / 2, width / 2, 1};
    for (int i = 0; i < 3; i++)
        q.out[i] = {q.in[i].base + 2 * n, q.in[i].stride, 1};
    unpack<<<grid, 128, 0, stream>>>(*p, q.in[0].base, q.in[1].base, q.in[2].base);
    (void)generic_launch(&q, stream);
    pack<<<grid, 128, 0, stream>>>(*p, q.out[0].base, q.out[1].base, q.out[2].base);
    return bilateral_errno(cudaGetLastError());
}
