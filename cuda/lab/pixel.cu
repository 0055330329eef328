/* The lower rungs: one thread per pixel pair, in the ways that come to mind first. */
#include "cuda/lab/rungs.h"

#include <errno.h>

#define BLOCK_X 32
#define BLOCK_Y 8
#define MAX_RADIUS 32
#define SPACE_SIDE (MAX_RADIUS + 1)
#define RANGE_STEPS 4096
#define RANGE_END 12.0f /* exponent at which a weight counts as 0 */

static __device__ float space_table[SPACE_SIDE * SPACE_SIDE];
static __device__ float range_table[RANGE_STEPS];

struct colours {
    float3 rgb, yuv;
};

/* R'G'B' of the Cholesky form: any colour space in which distances are those of R'G'B'. */
static __device__ __forceinline__ colours expand(const bilateral_params &p, float y, float u,
                                                 float v)
{
    return {make_float3(p.a * y + p.b * u + p.c * v, p.d * u + p.e * v, p.f * v),
            make_float3(y, u, v)};
}

struct from_picture {
    const bilateral_params &p;

    __device__ __forceinline__ colours at(int x, int y) const
    {
        const uint8_t *row;

        x = min(max(x, 0), p.width - 1);
        y = min(max(y, 0), p.height - 1);
        row = p.in[0].base + size_t(y) * p.in[0].stride;
        return expand(p, row[2 * x], row[x / 2 * 4 + 1], row[x / 2 * 4 + 3]);
    }
};

/* A tile with its halo: words Y U V 0. */
struct from_tile {
    const bilateral_params &p;
    const uint32_t *tile;
    int x0, y0, stride;

    __device__ __forceinline__ colours at(int x, int y) const
    {
        const uint32_t word = tile[(y - y0) * stride + x - x0];

        return expand(p, word & 255, word >> 8 & 255, word >> 16);
    }
};

struct computed {
    const bilateral_params &p;

    __device__ __forceinline__ float weight(int dx, int dy, float d2) const
    {
        return expf(-float(dx * dx + dy * dy) * p.inv_two_ss2 -
                    d2 * p.inv_sqrt2_sc * p.inv_sqrt2_sc);
    }
};

struct looked_up {
    const bilateral_params &p;
    const float *space, *range;

    __device__ __forceinline__ float weight(int dx, int dy, float d2) const
    {
        const float step = (RANGE_STEPS - 1) / RANGE_END * p.inv_sqrt2_sc * p.inv_sqrt2_sc;

        return space[abs(dy) * SPACE_SIDE + abs(dx)] *
               range[min(__float2int_rn(d2 * step), RANGE_STEPS - 1)];
    }
};

static __device__ __forceinline__ uint32_t to_byte(float value)
{
    return uint32_t(__float2int_rn(fminf(fmaxf(value, 0.0f), 255.0f)));
}

template <class SOURCE, class WEIGHTS>
static __device__ float4 sum_window(const bilateral_params &p, const SOURCE &source,
                                    const WEIGHTS &weights, int x, int y)
{
    const colours centre = source.at(x, y);
    float4 s = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    for (int dy = -p.radius; dy <= p.radius; dy++)
        for (int dx = -p.radius; dx <= p.radius; dx++) {
            if (p.disc && dx * dx + dy * dy > p.radius * p.radius)
                continue;
            const colours q = source.at(x + dx, y + dy);
            const float r = q.rgb.x - centre.rgb.x, g = q.rgb.y - centre.rgb.y;
            const float b = q.rgb.z - centre.rgb.z;
            const float w = weights.weight(dx, dy, r * r + g * g + b * b);

            s.x += w * q.yuv.x;
            s.y += w * q.yuv.y;
            s.z += w * q.yuv.z;
            s.w += w;
        }
    return s;
}

template <class SOURCE, class WEIGHTS>
static __device__ void filter_pair(const bilateral_params &p, const SOURCE &source,
                                   const WEIGHTS &weights)
{
    const int x = 2 * (blockIdx.x * BLOCK_X + threadIdx.x), y = blockIdx.y * BLOCK_Y + threadIdx.y;

    if (x >= p.width || y >= p.height)
        return;
    const float4 s0 = sum_window(p, source, weights, x, y);
    const float4 s1 = sum_window(p, source, weights, x + 1, y);
    const uint32_t u = to_byte((s0.y + s1.y) / (s0.w + s1.w));
    const uint32_t v = to_byte((s0.z + s1.z) / (s0.w + s1.w));

    *reinterpret_cast<uint32_t *>(p.out[0].base + size_t(y) * p.out[0].stride + 2 * x) =
        to_byte(s0.x / s0.w) | u << 8 | to_byte(s1.x / s1.w) << 16 | v << 24;
}

static __global__ void naive(const bilateral_params p)
{
    filter_pair(p, from_picture{p}, computed{p});
}

static __global__ void tables_global(const bilateral_params p)
{
    filter_pair(p, from_picture{p}, looked_up{p, space_table, range_table});
}

static __global__ void tables_shared(const bilateral_params p)
{
    __shared__ float space[SPACE_SIDE * SPACE_SIDE], range[RANGE_STEPS];
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;

    for (int i = thread; i < SPACE_SIDE * SPACE_SIDE; i += BLOCK_X * BLOCK_Y)
        space[i] = space_table[i];
    for (int i = thread; i < RANGE_STEPS; i += BLOCK_X * BLOCK_Y)
        range[i] = range_table[i];
    __syncthreads();
    filter_pair(p, from_picture{p}, looked_up{p, space, range});
}

static __global__ void tile(const bilateral_params p)
{
    extern __shared__ uint32_t words[];
    const int r = p.radius, stride = 2 * BLOCK_X + 2 * r, rows = BLOCK_Y + 2 * r;
    const int x0 = blockIdx.x * 2 * BLOCK_X - r, y0 = blockIdx.y * BLOCK_Y - r;

    for (int j = threadIdx.y; j < rows; j += BLOCK_Y)
        for (int i = threadIdx.x; i < stride; i += BLOCK_X) {
            const float3 c = from_picture{p}.at(x0 + i, y0 + j).yuv;

            words[j * stride + i] = uint32_t(c.x) | uint32_t(c.y) << 8 | uint32_t(c.z) << 16;
        }
    __syncthreads();
    filter_pair(p, from_tile{p, words, x0, y0, stride}, computed{p});
}

static __global__ void fill_tables(const bilateral_params p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int dx = i % SPACE_SIDE, dy = i / SPACE_SIDE;

    if (i < SPACE_SIDE * SPACE_SIDE)
        space_table[i] = expf(-float(dx * dx + dy * dy) * p.inv_two_ss2);
    if (i < RANGE_STEPS)
        range_table[i] = i < RANGE_STEPS - 1 ? expf(-RANGE_END * i / (RANGE_STEPS - 1)) : 0.0f;
}

static int launch(void (*kernel)(bilateral_params), const bilateral_params *p, size_t shared,
                  bool tables, cudaStream_t stream)
{
    static float filled_for; /* the lab has one thread and one stream */
    const dim3 block(BLOCK_X, BLOCK_Y);
    const dim3 grid((p->width / 2 + BLOCK_X - 1) / BLOCK_X, (p->height + BLOCK_Y - 1) / BLOCK_Y);

    if (tables && filled_for != p->inv_two_ss2) {
        fill_tables<<<(RANGE_STEPS + 255) / 256, 256, 0, stream>>>(*p);
        filled_for = p->inv_two_ss2;
    }
    kernel<<<grid, block, shared, stream>>>(*p);
    return bilateral_errno(cudaGetLastError());
}

extern "C" int rung_naive(const bilateral_params *p, cudaStream_t stream)
{
    return launch(naive, p, 0, false, stream);
}

extern "C" int rung_tables_global(const bilateral_params *p, cudaStream_t stream)
{
    return launch(tables_global, p, 0, true, stream);
}

extern "C" int rung_tables_shared(const bilateral_params *p, cudaStream_t stream)
{
    return launch(tables_shared, p, 0, true, stream);
}

extern "C" int rung_tile(const bilateral_params *p, cudaStream_t stream)
{
    const int r = p->radius;

    return launch(tile, p, sizeof(uint32_t) * (2 * BLOCK_X + 2 * r) * (BLOCK_Y + 2 * r), false,
                  stream);
}
