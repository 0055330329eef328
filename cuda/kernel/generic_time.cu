/* The kernel for stored frames in every case: any format, any sigma, in single precision. It is
 * that of generic.cu but for the tile, which holds 16 bits of each component, the range sigma,
 * which each pixel has for itself, and the frames, one or more. Thread blocks are
 * as large as shared memory allows. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_filter.cuh"
#include "cuda/kernel/time_start.cuh"

#define MAX_THREADS 128
#define LOG2E 1.44269504f

struct sums {
    float w, y, u, v; /* weights, and weighted samples */
};

struct tone {
    float y, u, v; /* Y1, U1, V1 */
};

static __device__ __forceinline__ float exp2_fast(float x)
{
    float r;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

static __device__ __forceinline__ uint2 fetch(const time_filter &f, const time_stored &s, int x,
                                              int y)
{
    const bilateral_params &p = f.p;
    uint32_t luma;
    int at;

    x = min(max(x, 0), p.width - 1);
    y = min(max(y, 0), p.height - 1);
    luma = s.level[0][y * f.stride + x];
    if (p.components == 1)
        return make_uint2(luma | uint32_t(128 * f.steps) << 16, 128 * f.steps);
    at = (y >> p.vshift) * f.stride_c + (x >> p.hshift);
    return make_uint2(luma | uint32_t(s.level[1][at]) << 16, s.level[2][at]);
}

/* How stored samples become levels less 128. */
struct units {
    float level, middle;

    __device__ __forceinline__ explicit units(const time_filter &f)
        : level(1.0f / float(f.steps)), middle(8388608.0f + 128.0f * float(f.steps))
    {
    }

    __device__ __forceinline__ float centred(uint32_t word, uint32_t selector) const
    {
        return (__uint_as_float(__byte_perm(word, 0x4b000000, selector)) - middle) * level;
    }
};

static __device__ __forceinline__ tone transform(const bilateral_params &p, const units &in,
                                                 uint2 entry)
{
    const float y = in.centred(entry.x, 0x7410), u = in.centred(entry.x, 0x7432);
    const float v = in.centred(entry.y, 0x7410);

    return {p.a * y + p.b * u + p.c * v, p.d * u + p.e * v, p.f * v};
}

/* The spatial part of a weight: its log2 for the Gaussian, itself for the Lorentzian. */
static __device__ float spatial(const bilateral_params &p, int dx, int dy)
{
    const int r2 = dx * dx + dy * dy;
    const bool inside = p.disc ? r2 <= p.radius * p.radius : max(dx, dy) <= p.radius;
    const float log2_weight = -LOG2E * p.inv_two_ss2 * float(r2);

    if (p.lorentzian)
        return inside ? exp2_fast(log2_weight) : 0.0f;
    return inside ? log2_weight : -INFINITY;
}

/* A pixel that is filtered. */
struct centre {
    tone c;
    float inv; /* 1 / (2 sigma_color^2), times log2 e for the Gaussian */
    sums s, part;
};

template <bool MANHATTAN>
static __device__ __forceinline__ float squared_distance(const bilateral_params &p, float dy,
                                                         float du, float dv)
{
    const float green = dy + p.green_u1 * du + p.green_v1 * dv;
    const float d = fabsf(p.common * dy + dv) + fabsf(p.common * dy + du) + fabsf(green);

    return MANHATTAN ? d * d : dy * dy + du * du + dv * dv;
}

template <bool LORENTZIAN, bool MANHATTAN>
static __device__ __forceinline__ void tap(const bilateral_params &params, centre &p, const tone &q,
                                           float space)
{
    const float dy = q.y - p.c.y, du = q.u - p.c.u, dv = q.v - p.c.v;
    const float d2 = squared_distance<MANHATTAN>(params, dy, du, dv);
    const float w =
        LORENTZIAN ? __fdividef(space, 1.0f + d2 * p.inv) : exp2_fast(space - d2 * p.inv);

    p.part.w += w;
    p.part.y += w * dy;
    p.part.u += w * du;
    p.part.v += w * dv;
}

/* Goes over the windows of the four pixels whose tile begins at @tile. */
template <bool LORENTZIAN, bool MANHATTAN>
static __device__ __forceinline__ void add_windows(const bilateral_params &p, const units &in,
                                                   const uint2 *tile, int stride,
                                                   const float *space, centre c[2][2])
{
    const int r = p.radius, n = r + 2;

    for (int j = -r; j <= r + 1; j++) {
        const float *upper = &space[abs(j) * n], *lower = &space[abs(j - 1) * n];
        float left[2] = {upper[r + 1], lower[r + 1]};

        for (int i = -r; i <= r + 1; i++) {
            const tone q = transform(p, in, tile[(j + r) * stride + i + r]);
            const float here[2] = {upper[abs(i)], lower[abs(i)]};

#pragma unroll
            for (int b = 0; b < 2; b++) {
                tap<LORENTZIAN, MANHATTAN>(p, c[b][0], q, here[b]);
                tap<LORENTZIAN, MANHATTAN>(p, c[b][1], q, left[b]);
                left[b] = here[b];
            }
        }
    }
}

static __device__ __forceinline__ float inv_two_sc2_at(const time_filter &f, int x, int y)
{
    const int cx = min(x, f.p.width - 1) / 2, cy = min(y, f.p.height - 1) / 2;
    float inv = f.inv_two_sc2;

    if (f.luma)
        inv = f.noise->inv_two_sc2[(f.luma[cy * f.stride_luma + cx] + 2) >> 2];
    if (f.count)
        inv *= f.noise->inv_share[f.count[cy * f.stride_count + cx]];
    return inv * (f.p.lorentzian ? 1.0f : LOG2E);
}

static __device__ __forceinline__ void store_sample(const bilateral_params &p, int component, int x,
                                                    int y, float level)
{
    const bilateral_samples &to = p.out[component];
    uint8_t *const at = to.base + size_t(y) * to.stride + size_t(x) * to.step;

    if (p.words)
        *reinterpret_cast<uint16_t *>(at) =
            uint16_t(__float2int_rn(fminf(fmaxf(256.0f * level, 0.0f), 65535.0f)));
    else
        *at = uint8_t(__float2int_rn(fminf(fmaxf(level, 0.0f), 255.0f)));
}

/* The mean difference of samples, back from (Y1, U1, V1). */
static __device__ __forceinline__ float3 restore(const bilateral_params &p, const sums &s)
{
    const float v = s.v / p.f, u = (s.u - p.e * v) / p.d, y = (s.y - p.b * u - p.c * v) / p.a;
    const float scale = 1.0f / s.w;

    return make_float3(y * scale, u * scale, v * scale);
}

static __device__ __forceinline__ void add(sums &to, const sums &s, float weight)
{
    to.w += weight * s.w;
    to.y += weight * s.y;
    to.u += weight * s.u;
    to.v += weight * s.v;
}

static __device__ void store(const time_filter &f, int x, int y, centre c[2][2])
{
    const bilateral_params &p = f.p;
    const time_stored &from = f.frame[0];
    const bool two_rows = y + 1 < p.height;
    const units in(f);

#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < 2 || two_rows)
            store_sample(p, 0, x + i % 2, y + i / 2,
                         float(from.level[0][(y + i / 2) * f.stride + x + i % 2]) * in.level +
                             restore(p, c[i / 2][i % 2].s).x);
    if (p.components == 1)
        return;
    for (int b = 0; b < 2 && p.hshift; b++)
        add(c[b][0].s, c[b][1].s, 1.0f);
    if (p.vshift && two_rows)
        add(c[0][0].s, c[1][0].s, 1.0f);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int column = (x + i % 2) >> p.hshift, row = (y + i / 2) >> p.vshift;
        const float3 mean = restore(p, c[i / 2][i % 2].s);

        if ((i % 2 && p.hshift) || (i / 2 && (p.vshift || !two_rows)))
            continue;
        store_sample(p, 1, column, row,
                     float(from.level[1][row * f.stride_c + column]) * in.level + mean.y);
        store_sample(p, 2, column, row,
                     float(from.level[2][row * f.stride_c + column]) * in.level + mean.z);
    }
}

template <bool LORENTZIAN, bool MANHATTAN>
static __global__ void __launch_bounds__(MAX_THREADS)
    generic_time(const time_filter f, bool only_unsuited)
{
    extern __shared__ uint2 tile[];
    const int r = f.p.radius, stride = 2 * blockDim.x + 2 * r, rows = 2 * blockDim.y + 2 * r;
    const int x0 = blockIdx.x * 2 * blockDim.x, y0 = f.p.row_begin + blockIdx.y * 2 * blockDim.y;
    const int tx = 2 * threadIdx.x, ty = 2 * threadIdx.y, n = r + 2;
    float *space = reinterpret_cast<float *>(tile + stride * rows);
    const units in(f);
    centre c[2][2] = {};

    /* After the other kernel there is mostly nothing to do. What tells that is there, so thread
     * blocks come and go while that one ends. */
    if (!only_unsuited)
        wait_for_before();
    end_after_before();
    if (only_unsuited && !f.noise->unsuited)
        return;
    for (int j = threadIdx.y; j < n; j += blockDim.y)
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            space[j * n + i] = spatial(f.p, i, j);
    for (int k = 0; k < f.n_frames; k++) {
        __syncthreads();
        for (int j = threadIdx.y; j < rows; j += blockDim.y)
            for (int i = threadIdx.x; i < stride; i += blockDim.x)
                tile[j * stride + i] = fetch(f, f.frame[k], x0 + i - r, y0 + j - r);
        __syncthreads();
        for (int i = 0; i < 4; i++) {
            centre &p = c[i / 2][i % 2];

            if (k == 0) {
                p.c = transform(f.p, in, tile[(ty + i / 2 + r) * stride + tx + i % 2 + r]);
                p.inv = inv_two_sc2_at(f, x0 + tx + i % 2, y0 + ty + i / 2);
            }
            p.part = {};
        }
        add_windows<LORENTZIAN, MANHATTAN>(f.p, in, tile + ty * stride + tx, stride, space, c);
        for (int i = 0; i < 4; i++)
            add(c[i / 2][i % 2].s, c[i / 2][i % 2].part, f.weight[k]);
    }
    if (x0 + tx < f.p.width && y0 + ty < f.p.row_end)
        store(f, x0 + tx, y0 + ty, c);
}

/* The largest thread block whose tile fits. */
static cudaError_t choose_block(int radius, dim3 *ret, size_t *ret_bytes)
{
    int device = 0, most = 0;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    for (int x = 32, y = 4; x >= 8; x /= 2, y = x == 8 ? 2 : 4) {
        *ret = dim3(x, y);
        *ret_bytes = (2 * x + 2 * radius) * (2 * y + 2 * radius) * sizeof(uint2) +
                     (radius + 2) * (radius + 2) * sizeof(float);
        if (*ret_bytes <= size_t(most))
            break;
    }
    return status;
}

cudaError_t generic_time_launch(const time_filter &f, bool only_unsuited, cudaStream_t stream)
{
    static void (*const kernels[2][2])(time_filter, bool) = {
        {generic_time<false, false>, generic_time<false, true>},
        {generic_time<true, false>, generic_time<true, true>}};
    const auto kernel = kernels[f.p.lorentzian != 0][f.p.manhattan != 0];
    size_t bytes;
    dim3 block;
    cudaError_t status = choose_block(f.p.radius, &block, &bytes);

    if (status == cudaSuccess && bytes > 48 * 1024)
        status =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
    if (status != cudaSuccess)
        return status;
    return start_early(kernel,
                       dim3((f.p.width + 2 * block.x - 1) / (2 * block.x),
                            (f.p.row_end - f.p.row_begin + 2 * block.y - 1) / (2 * block.y)),
                       block, bytes, stream, f, only_unsuited);
}
