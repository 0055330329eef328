/* A video filter of packed R'G'B'A bytes: block with the halo inside, weights in constant memory,
 * Lorentzian range; and the conversions that a YUYV stream needs around it. */
#include "cuda/lab/rungs.h"

#include <errno.h>

#define SIDE 32 /* threads and loaded pixels of a block, each way */
#define MAX_RADIUS 15

static __constant__ float space[(2 * MAX_RADIUS + 1) * (2 * MAX_RADIUS + 1)];

static __device__ __forceinline__ uint32_t to_byte(float value)
{
    return uint32_t(__float2int_rn(fminf(fmaxf(value, 0.0f), 255.0f)));
}

/* BT.601, limited range. */
static __device__ __forceinline__ uint32_t to_rgba(float y, float u, float v)
{
    y = 1.164384f * (y - 16.0f), u -= 128.0f, v -= 128.0f;
    return to_byte(y + 1.596027f * v) | to_byte(y - 0.391762f * u - 0.812968f * v) << 8 |
           to_byte(y + 2.017232f * u) << 16 | 0xff000000u;
}

static __global__ void yuyv_to_rgba(const bilateral_params p, uint32_t *rgba)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    uint32_t w;

    if (2 * x >= p.width)
        return;
    w = *reinterpret_cast<const uint32_t *>(p.in[0].base + size_t(y) * p.in[0].stride + 4 * x);
    reinterpret_cast<uint2 *>(rgba + size_t(y) * p.width)[x] = make_uint2(
        to_rgba(w & 255, w >> 8 & 255, w >> 24), to_rgba(w >> 16 & 255, w >> 8 & 255, w >> 24));
}

static __device__ __forceinline__ float3 unpack(uint32_t w)
{
    return make_float3(w & 255, w >> 8 & 255, w >> 16 & 255);
}

static __global__ void __launch_bounds__(SIDE *SIDE)
    filter_rgba(const bilateral_params p, const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t tile[SIDE][SIDE];
    const int r = p.radius, inner = SIDE - 2 * r, tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * inner + tx - r, y = blockIdx.y * inner + ty - r;
    const float k = p.inv_sqrt2_sc * p.inv_sqrt2_sc;
    const float *s = space;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    tile[ty][tx] = in[size_t(min(max(y, 0), p.height - 1)) * p.width + min(max(x, 0), p.width - 1)];
    __syncthreads();
    if (tx < r || ty < r || tx >= SIDE - r || ty >= SIDE - r || x >= p.width || y >= p.height)
        return;
    const float3 centre = unpack(tile[ty][tx]);

    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            const float3 q = unpack(tile[ty + dy][tx + dx]);
            const float dr = q.x - centre.x, dg = q.y - centre.y, db = q.z - centre.z;
            const float w = *s++ / (1.0f + (dr * dr + dg * dg + db * db) * k);

            sum.x += w * q.x, sum.y += w * q.y, sum.z += w * q.z, sum.w += w;
        }
    out[size_t(y) * p.width + x] = to_byte(sum.x / sum.w) | to_byte(sum.y / sum.w) << 8 |
                                   to_byte(sum.z / sum.w) << 16 | 0xff000000u;
}

static __global__ void rgba_to_yuyv(const bilateral_params p, const uint32_t *rgba)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

    if (2 * x >= p.width)
        return;
    const uint2 w = reinterpret_cast<const uint2 *>(rgba + size_t(y) * p.width)[x];
    const float3 a = unpack(w.x), b = unpack(w.y);
    const float3 m = make_float3((a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2);
    const uint32_t y0 = to_byte(16.0f + 0.256788f * a.x + 0.504129f * a.y + 0.097906f * a.z);
    const uint32_t y1 = to_byte(16.0f + 0.256788f * b.x + 0.504129f * b.y + 0.097906f * b.z);
    const uint32_t u = to_byte(128.0f - 0.148223f * m.x - 0.290993f * m.y + 0.439216f * m.z);
    const uint32_t v = to_byte(128.0f + 0.439216f * m.x - 0.367788f * m.y - 0.071427f * m.z);

    *reinterpret_cast<uint32_t *>(p.out[0].base + size_t(y) * p.out[0].stride + 4 * x) =
        y0 | u << 8 | y1 << 16 | v << 24;
}

/* The weights of a square window, kept until the next radius. */
static cudaError_t set_weights(const bilateral_params *p)
{
    static int radius;
    float table[(2 * MAX_RADIUS + 1) * (2 * MAX_RADIUS + 1)], *t = table;

    if (radius == p->radius)
        return cudaSuccess;
    radius = p->radius;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++)
            *t++ = expf(-p->inv_two_ss2 * float(dx * dx + dy * dy));
    return cudaMemcpyToSymbol(space, table, (t - table) * sizeof(*t));
}

extern "C" int rung_rgba_in(const bilateral_params *p, uint32_t *pictures, cudaStream_t stream)
{
    const int inner = SIDE - 2 * p->radius;
    const dim3 rows((p->width / 2 + 127) / 128, p->height);
    uint32_t *const filtered = pictures + size_t(p->width) * p->height;
    cudaError_t status;

    if (p->radius > MAX_RADIUS || p->disc)
        return -EINVAL;
    status = set_weights(p);
    if (status != cudaSuccess)
        return bilateral_errno(status);
    yuyv_to_rgba<<<rows, 128, 0, stream>>>(*p, pictures);
    filter_rgba<<<dim3((p->width + inner - 1) / inner, (p->height + inner - 1) / inner),
                  dim3(SIDE, SIDE), 0, stream>>>(*p, pictures, filtered);
    rgba_to_yuyv<<<rows, 128, 0, stream>>>(*p, filtered);
    return bilateral_errno(cudaGetLastError());
}

extern "C" int rung_rgba(const bilateral_params *p, cudaStream_t stream)
{
    static uint32_t *pictures; /* kept until the size changes */
    static size_t pixels;
    const size_t n = size_t(p->width) * p->height;

    if (pixels != n) {
        (void)cudaFree(pictures);
        pixels = n;
        if (cudaMalloc(&pictures, 2 * n * sizeof(*pictures)) != cudaSuccess)
            return bilateral_errno(cudaGetLastError());
    }
    return rung_rgba_in(p, pictures, stream);
}
