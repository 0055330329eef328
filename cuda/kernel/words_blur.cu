/* The filters gaussian and box of samples of 16 bits, in single precision.
 *
 * DESIGN. Planes are filtered one by one, on their own grid, along columns and then along rows.
 * The tile holds samples as they are, and the means of its columns go to shared memory beside it. A
 * thread forms 8 means side by side, so that a sample and a weight that were loaded serve 8; along
 * columns two by two, because samples come in pairs. Along rows the lanes of a warp lie below each
 * other; rows of means have an odd length, so that each lane reads another bank. */
#include "cuda/kernel/kernels.h"
#include "cuda/kernel/words_blur_params.h"
#include "cuda/kernel/words_pair.cuh"

#define WARP 32
#define WARPS 4
#define MEANS 8              /* of a thread */
#define ROWS (WARPS * MEANS) /* of a block, one for each lane of a warp */
#define WEIGHTS (2 * BLUR_MAX_REACH + 1)

/* A block's shared memory; the means of columns follow, and the tile. */
struct shared_part {
    float weight[BLUR_AXES][WEIGHTS]; /* the one in the middle is that of distance 0 */
};

static __host__ __device__ __forceinline__ int tile_rows(const words_plane &q)
{
    return ROWS + 2 * q.reach_y;
}

static __host__ __device__ __forceinline__ int mean_stride(const words_plane &q)
{
    return 2 * q.pairs + 1;
}

/* The means of windows that reach @reach to each side, along @N lines: @levels(level, j) gives the
 * samples that are @j from the first ones. Rounding is the same for all of them. */
template <int N, typename LEVELS>
static __device__ __forceinline__ void form_means(float mean[N][MEANS], const LEVELS &levels,
                                                  const float *weight, int reach)
{
    float near[MEANS] = {}; /* weights of the samples at hand, none outside of the window */

#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int b = 0; b < MEANS; b++)
            mean[i][b] = 0.0f;
#pragma unroll 4
    for (int j = -reach; j < reach + MEANS; j++) {
        float level[N];

        levels(level, j);
#pragma unroll
        for (int b = MEANS - 1; b > 0; b--)
            near[b] = near[b - 1];
        near[0] = j <= reach ? weight[j] : 0.0f;
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int b = 0; b < MEANS; b++)
                mean[i][b] = fmaf(near[b], level[i], mean[i][b]);
    }
}

/* Fills the tile, whose first sample is at (@x0, @y0). */
static __device__ __forceinline__ void fill(const words_plane &q, uint32_t *tile, int x0, int y0)
{
    const int n = tile_rows(q) * q.pairs;

#pragma unroll 4
    for (int i = threadIdx.y * WARP + threadIdx.x; i < n; i += WARP * WARPS) {
        const int row = __umulhi(i, q.divide_by_pairs), y = min(max(y0 + row, 0), q.rows - 1);

        tile[i] =
            load_pair(q.in + size_t(y) * q.stride_in, x0 + 2 * (i - row * q.pairs), q.columns);
    }
}

/* The means of all columns of the tile, whose middle begins in row @y0 of the plane. */
static __device__ __forceinline__ void mean_columns(const words_plane &q, const shared_part &shared,
                                                    const uint32_t *tile, float *to, int y0)
{
    for (int i = threadIdx.y * WARP + threadIdx.x; i < WARPS * q.pairs; i += WARP * WARPS) {
        const int group = __umulhi(i, q.divide_by_pairs), pair = i - group * q.pairs;
        const int first = group * MEANS, last_row = q.rows - 1 - y0 - first;
        const uint32_t *const from = tile + (first + q.reach_y) * q.pairs + pair;
        float mean[2][MEANS], last[2][MEANS];
        const auto levels = [&](float level[2], int j) {
            level[0] = centred(from[j * q.pairs], false);
            level[1] = centred(from[j * q.pairs], true);
        };

        form_means<2>(mean, levels, &shared.weight[q.axis_y][BLUR_MAX_REACH], q.reach_y);
        if (q.last != q.axis_y && last_row >= 0 && last_row < MEANS) {
            form_means<2>(last, levels, &shared.weight[q.last][BLUR_MAX_REACH], q.reach_y);
#pragma unroll
            for (int b = 0; b < MEANS; b++)
                for (int k = 0; k < 2 && b == last_row; k++)
                    mean[k][b] = last[k][b];
        }
#pragma unroll
        for (int b = 0; b < MEANS; b++)
#pragma unroll
            for (int k = 0; k < 2; k++)
                to[(first + b) * mean_stride(q) + 2 * pair + k] = mean[k][b];
    }
}

/* Two samples from differences from 32768. */
static __device__ __forceinline__ uint32_t two_words(float left, float right)
{
    return uint32_t(__float2int_rn(fminf(left + 32768.0f, 65535.0f))) |
           uint32_t(__float2int_rn(fminf(right + 32768.0f, 65535.0f))) << 16;
}

/* The means of rows, to the plane; @x0 and @y0 are where the block's begin. */
static __device__ __forceinline__ void mean_rows(const words_plane &q, const shared_part &shared,
                                                 const float *means, int x0, int y0)
{
    const int y = y0 + threadIdx.x;

    for (int i = threadIdx.y * MEANS; i < WORDS_BLUR_COLUMNS; i += WARPS * MEANS) {
        const float *const from = means + threadIdx.x * mean_stride(q) + q.margin + i;
        float mean[1][MEANS];

        if (x0 + i >= q.columns || y >= q.end)
            return;
        form_means<1>(
            mean, [&](float level[1], int j) { level[0] = from[j]; },
            &shared.weight[q.axis_x][BLUR_MAX_REACH], q.reach_x);
        *reinterpret_cast<uint4 *>(q.out + size_t(y) * q.stride_out + (x0 + i) * sizeof(uint16_t)) =
            make_uint4(two_words(mean[0][0], mean[0][1]), two_words(mean[0][2], mean[0][3]),
                       two_words(mean[0][4], mean[0][5]), two_words(mean[0][6], mean[0][7]));
    }
}

static __global__ void __launch_bounds__(WARP *WARPS) words_blur_kernel(const words_blur_params p)
{
    extern __shared__ shared_part memory[];
    shared_part &shared = memory[0];
    const words_plane &q = p.plane[blockIdx.z];
    const int x0 = blockIdx.x * WORDS_BLUR_COLUMNS, y0 = q.begin + blockIdx.y * ROWS;
    float *const means = reinterpret_cast<float *>(&shared + 1);
    uint32_t *const tile = reinterpret_cast<uint32_t *>(means + ROWS * mean_stride(q));

    if (x0 >= q.columns || y0 >= q.end)
        return;
    for (int i = threadIdx.y * WARP + threadIdx.x; i < BLUR_AXES * WEIGHTS; i += WARP * WARPS)
        shared.weight[i / WEIGHTS][i % WEIGHTS] =
            p.weight[i / WEIGHTS][abs(i % WEIGHTS - BLUR_MAX_REACH)];
    fill(q, tile, x0 - q.margin, y0 - q.reach_y);
    __syncthreads();
    mean_columns(q, shared, tile, means, y0);
    __syncthreads();
    mean_rows(q, shared, means, x0, y0);
}

extern "C" cudaError_t words_blur_launch(const bilateral_params *p, cudaStream_t stream)
{
    words_blur_params b;
    size_t bytes;

    words_blur_params_init(&b, p);
    /* That of luma is the largest. */
    bytes = sizeof(shared_part) + ROWS * mean_stride(b.plane[0]) * sizeof(float) +
            tile_rows(b.plane[0]) * b.plane[0].pairs * sizeof(uint32_t);
    words_blur_kernel<<<dim3((p->width + WORDS_BLUR_COLUMNS - 1) / WORDS_BLUR_COLUMNS,
                             (p->row_end - p->row_begin + ROWS - 1) / ROWS, b.planes),
                        dim3(WARP, WARPS), bytes, stream>>>(b);
    return cudaGetLastError();
}
