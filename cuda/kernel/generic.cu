/* The kernel for every case: any raw format, any radius, any sigma, in single precision.
 *
 * DESIGN. A thread owns 2x2 pixels and goes over the union of their windows: a neighbour is
 * unpacked and transformed once and serves four weights. All sums are kept per pixel; only at
 * the end are they joined over the pixels that share a chroma sample, so that one kernel serves
 * every subsampling. The tile holds a neighbour in one word (Y, U, V bytes), because at radius
 * 32 floats would not fit the 48 KiB that every GPU has. The spatial weight is part of the
 * exponent; taps outside the window have minus infinity there. */
#include "cuda/kernel/kernels.h"

#define TILE_THREADS_X 32
#define TILE_THREADS_Y 4
#define TILE_W (2 * TILE_THREADS_X)
#define TILE_H (2 * TILE_THREADS_Y)

struct sums {
    float w, y, u, v; /* weights, and weighted Y1, U1, V1 */
};

static __device__ __forceinline__ float exp2_fast(float x)
{
    float r;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

static __device__ __forceinline__ uint32_t sample(const bilateral_samples &s, int x, int y)
{
    return s.base[size_t(y) * s.stride + size_t(x) * s.step];
}

/* The pixel nearest to (x, y) as one word. */
static __device__ uint32_t fetch(const bilateral_params &p, int x, int y)
{
    x = min(max(x, 0), p.width - 1);
    y = min(max(y, 0), p.height - 1);
    if (p.components == 1)
        return sample(p.in[0], x, y) | 0x808000;
    return sample(p.in[0], x, y) | sample(p.in[1], x >> p.hshift, y >> p.vshift) << 8 |
           sample(p.in[2], x >> p.hshift, y >> p.vshift) << 16;
}

/* Byte @i of @word less 128: the byte becomes the low mantissa bits of 2^23. */
static __device__ __forceinline__ float centred(uint32_t word, uint32_t i)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000, 0x7440 | i)) - (8388608.0f + 128.0f);
}

static __device__ __forceinline__ float3 transform(const bilateral_params &p, uint32_t word)
{
    const float y = centred(word, 0), u = centred(word, 1), v = centred(word, 2);

    return make_float3(p.a * y + p.b * u + p.c * v, p.d * u + p.e * v, p.f * v);
}

/* The spatial part of a weight at (|dx|, |dy|): its log2 for the Gaussian, itself for the
 * Lorentzian. */
static __device__ float spatial(const bilateral_params &p, int dx, int dy)
{
    const int r2 = dx * dx + dy * dy;
    const bool inside = p.disc ? r2 <= p.radius * p.radius : max(dx, dy) <= p.radius;
    const float log2_weight = -1.44269504f * p.inv_two_ss2 * float(r2);

    if (p.lorentzian)
        return inside ? exp2_fast(log2_weight) : 0.0f;
    return inside ? log2_weight : -INFINITY;
}

template <bool LORENTZIAN, bool MANHATTAN>
static __device__ __forceinline__ void tap(const bilateral_params &p, sums &s, const float3 &centre,
                                           const float3 &q, float space)
{
    const float dy = q.x - centre.x, du = q.y - centre.y, dv = q.z - centre.z;
    float w;

    if (MANHATTAN) {
        const float d = fabsf(p.common * dy + dv) + fabsf(p.common * dy + du) +
                        fabsf(dy + p.green_u1 * du + p.green_v1 * dv);

        w = LORENTZIAN ? __fdividef(space, 1.0f + d * d) : exp2_fast(space - d * d);
    } else if (LORENTZIAN)
        w = __fdividef(space, 1.0f + dy * dy + du * du + dv * dv);
    else
        w = exp2_fast(space - dv * dv - du * du - dy * dy);
    s.w += w;
    s.y += w * q.x;
    s.u += w * q.y;
    s.v += w * q.z;
}

/* Goes over the windows of the four pixels at tile position (tx, ty). */
template <bool LORENTZIAN, bool MANHATTAN>
static __device__ void sum_windows(const bilateral_params &p, const uint32_t *tile,
                                   const float *space, int tx, int ty, sums s[2][2])
{
    const int r = p.radius, stride = TILE_W + 2 * r, n = r + 2;
    float3 centre[2][2];

#pragma unroll
    for (int b = 0; b < 2; b++)
#pragma unroll
        for (int a = 0; a < 2; a++)
            centre[b][a] = transform(p, tile[(ty + b + r) * stride + tx + a + r]);
    for (int j = -r; j <= r + 1; j++) {
        const float *upper = &space[abs(j) * n], *lower = &space[abs(j - 1) * n];
        const int dy = min(abs(j), abs(j - 1));
        const int width = p.disc ? int(sqrtf(float(r * r - dy * dy))) : r;
        float left[2] = {upper[width + 1], lower[width + 1]};

        for (int i = -width; i <= width + 1; i++) {
            const float3 q = transform(p, tile[(ty + j + r) * stride + tx + i + r]);
            const float here[2] = {upper[abs(i)], lower[abs(i)]};

#pragma unroll
            for (int b = 0; b < 2; b++) {
                tap<LORENTZIAN, MANHATTAN>(p, s[b][0], centre[b][0], q, here[b]);
                tap<LORENTZIAN, MANHATTAN>(p, s[b][1], centre[b][1], q, left[b]);
                left[b] = here[b];
            }
        }
    }
}

static __device__ __forceinline__ void add(sums &to, const sums &s)
{
    to.w += s.w;
    to.u += s.u;
    to.v += s.v;
}

static __device__ __forceinline__ void store(const bilateral_samples &to, int x, int y, float value)
{
    to.base[size_t(y) * to.stride + size_t(x) * to.step] =
        uint8_t(__float2int_rn(fminf(fmaxf(value + 128.0f, 0.0f), 255.0f)));
}

/* The samples of the sums: back from (Y1, U1, V1). */
static __device__ __forceinline__ float3 restore(const bilateral_params &p, const sums &s)
{
    const float v = s.v / p.f, u = (s.u - p.e * v) / p.d, y = (s.y - p.b * u - p.c * v) / p.a;
    const float scale = 1.0f / s.w;

    return make_float3(y * scale, u * scale, v * scale);
}

static __device__ __forceinline__ void store_block(const bilateral_params &p, int x, int y,
                                                   sums s[2][2])
{
    const bool two_rows = y + 1 < p.height;

#pragma unroll
    for (int b = 0; b < 2; b++)
#pragma unroll
        for (int a = 0; a < 2; a++)
            if (b == 0 || two_rows)
                store(p.out[0], x + a, y + b, restore(p, s[b][a]).x);
    if (p.components == 1)
        return;
    if (p.hshift) {
        add(s[0][0], s[0][1]);
        add(s[1][0], s[1][1]);
    }
    if (p.vshift && two_rows)
        add(s[0][0], s[1][0]);
#pragma unroll
    for (int b = 0; b < 2; b++)
#pragma unroll
        for (int a = 0; a < 2; a++) {
            const float3 mean = restore(p, s[b][a]);

            if ((a && p.hshift) || (b && (p.vshift || !two_rows)))
                continue;
            store(p.out[1], (x + a) >> p.hshift, (y + b) >> p.vshift, mean.y);
            store(p.out[2], (x + a) >> p.hshift, (y + b) >> p.vshift, mean.z);
        }
}

template <bool LORENTZIAN, bool MANHATTAN>
static __global__ void __launch_bounds__(TILE_THREADS_X *TILE_THREADS_Y)
    generic_kernel(const bilateral_params p)
{
    extern __shared__ uint32_t shared[];
    const int r = p.radius, stride = TILE_W + 2 * r, rows = TILE_H + 2 * r, n = r + 2;
    const int x0 = blockIdx.x * TILE_W, y0 = p.row_begin + blockIdx.y * TILE_H;
    const int tx = 2 * threadIdx.x, ty = 2 * threadIdx.y;
    float *space = reinterpret_cast<float *>(shared + stride * rows);
    sums s[2][2] = {};

    for (int j = threadIdx.y; j < rows; j += TILE_THREADS_Y)
        for (int i = threadIdx.x; i < stride; i += TILE_THREADS_X)
            shared[j * stride + i] = fetch(p, x0 + i - r, y0 + j - r);
    for (int j = threadIdx.y; j < n; j += TILE_THREADS_Y)
        for (int i = threadIdx.x; i < n; i += TILE_THREADS_X)
            space[j * n + i] = spatial(p, i, j);
    __syncthreads();
    if (x0 + tx >= p.width || y0 + ty >= p.row_end)
        return;
    sum_windows<LORENTZIAN, MANHATTAN>(p, shared, space, tx, ty, s);
    store_block(p, x0 + tx, y0 + ty, s);
}

extern "C" cudaError_t generic_launch(const bilateral_params *given, cudaStream_t stream)
{
    static void (*const kernels[2][2])(bilateral_params) = {
        {generic_kernel<false, false>, generic_kernel<false, true>},
        {generic_kernel<true, false>, generic_kernel<true, true>}};
    const float sqrt_log2e = 1.20112241f;
    bilateral_params p = *given;
    const int r = p.radius, n = r + 2;
    const size_t bytes = ((TILE_W + 2 * r) * (TILE_H + 2 * r) + n * n) * sizeof(float);
    const float scale = p.inv_sqrt2_sc * (p.lorentzian ? 1.0f : sqrt_log2e);
    const dim3 grid((p.width + TILE_W - 1) / TILE_W,
                    (p.row_end - p.row_begin + TILE_H - 1) / TILE_H);
    const dim3 block(TILE_THREADS_X, TILE_THREADS_Y);

    p.a *= scale, p.b *= scale, p.c *= scale, p.d *= scale, p.e *= scale, p.f *= scale;
    kernels[p.lorentzian != 0][p.manhattan != 0]<<<grid, block, bytes, stream>>>(p);
    return cudaGetLastError();
}

extern "C" cudaError_t generic_supported(void)
{
    cudaFuncAttributes attributes;

    return cudaFuncGetAttributes(&attributes, (generic_kernel<false, false>));
}
