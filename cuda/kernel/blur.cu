/* The filters gaussian and box: any raw format, any radius, any GPU.
 *
 * DESIGN. Both are separable, and a mean along an axis is a product with a band of weights. So
 * tensor cores form both: first the means of columns, from weights times the picture, whose sums
 * lie in registers the way in which the second product, with the weights of rows, takes them. So
 * the radius hardly counts.
 *
 * Planes are filtered one by one, on their own grid. The words of a row are taken apart into one
 * kind of samples each, in half precision: bytes become the low bits of 1024, which is left to be
 * taken off the sums. Weights are in half precision too, and their sum is made 1 in single
 * precision, so that one colour stays what it is. Means of columns are rounded to 1/16 at most,
 * less 128: all in all a level is off by less than 0.15.
 *
 * A warp filters 16 rows of half a tile, 16 columns after another. It keeps the means of the
 * columns that the window of the next 16 reaches. The bytes go to the picture by way of shared
 * memory, where the kinds come together again. */
#include "cuda/kernel/blur_params.h"
#include "cuda/kernel/blur_products.cuh"
#include "cuda/kernel/kernels.h"

#define WARP 32
#define ROWS 16                          /* of a warp */
#define WARP_BYTES (BLUR_TILE_BYTES / 2) /* of each row; two warps lie side by side */
#define MAX_WARPS 8
#define MAX_STEPS 5 /* of 16 rows or columns: 16 and the reach on both sides */
#define MIDDLE (16 * MAX_STEPS)
#define TABLE (2 * MIDDLE) /* pairs of weights: at a distance from the middle, and one more */
#define WEIGHTS (BLUR_MAX_REACH + 1)
#define CENTRE (1024.0f + 128.0f) /* what samples in tiles are more than the means of columns */
#define STAGE_STRIDE (WARP_BYTES + 16)
#define LOADS 4 /* under way at once */

#define STAGE_BYTES (ROWS * STAGE_STRIDE)

/* A block's shared memory; its warps' stages follow, and its tile. */
struct alignas(16) shared_part {
    uint32_t table[BLUR_AXES][TABLE];
    float weight[BLUR_AXES][WEIGHTS];
};

/* Rows of a tile. */
static __host__ __device__ __forceinline__ int tile_rows(const blur_plane &q, int warps)
{
    return warps / 2 * ROWS + 2 * q.reach;
}

/* Outside of the picture: what the nearest 16 bytes of a row have for those from @at on. */
static __device__ __forceinline__ void repeat_edge(const blur_plane &q, uint32_t word[4], int at)
{
    const int last = (q.bytes - 1) / 4 - at / 4; /* word that has the last sample */
    uint32_t edge = __byte_perm(word[0], 0, q.before);

    if (at >= 0) {
        const int k = (q.bytes - 1) / 4 % 4;
        const uint32_t w = k & 2 ? k & 1 ? word[3] : word[2] : k & 1 ? word[1] : word[0];

        edge = __byte_perm(w, 0, q.behind);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        word[i] = at < 0 || i > last ? edge
                  : i == last        ? __byte_perm(word[i], 0, q.last_word)
                                     : word[i];
}

/* Takes 16 bytes apart, which are those from @at on of a tile's row. */
static __device__ __forceinline__ void put_words(const blur_plane &q, const uint32_t word[4],
                                                 half *to, int at)
{
    uint32_t first[4], others[4];

#pragma unroll
    for (int i = 0; i < 4; i++) {
        first[i] = __byte_perm(word[i], 0x64646464, q.select[0]);
        others[i] = __byte_perm(word[i], 0x64646464, q.select[1]);
    }
    if (q.kinds == 1) {
        uint4 *const both = reinterpret_cast<uint4 *>(to + at);

        both[0] = make_uint4(first[0], others[0], first[1], others[1]);
        both[1] = make_uint4(first[2], others[2], first[3], others[3]);
        return;
    }
    *reinterpret_cast<uint4 *>(to + at / 2) = make_uint4(first[0], first[1], first[2], first[3]);
    if (q.kinds == 2) {
        *reinterpret_cast<uint4 *>(to + q.kind[1].tile + at / 2) =
            make_uint4(others[0], others[1], others[2], others[3]);
        return;
    }
    *reinterpret_cast<uint2 *>(to + q.kind[1].tile + at / 4) = make_uint2(
        __byte_perm(others[0], others[1], 0x5410), __byte_perm(others[2], others[3], 0x5410));
    *reinterpret_cast<uint2 *>(to + q.kind[2].tile + at / 4) = make_uint2(
        __byte_perm(others[0], others[1], 0x7632), __byte_perm(others[2], others[3], 0x7632));
}

/* Fills the tile; @x and @y are where the bytes begin that are filtered. */
static __device__ __forceinline__ void fill(const blur_plane &q, half *tile, int rows, int x, int y)
{
    const int n = q.moves * rows, threads = WARP * blockDim.y, last = (q.bytes - 1) / 16 * 16;

    for (int first = threadIdx.y * WARP + threadIdx.x; first < n; first += LOADS * threads) {
        uint4 loaded[LOADS];
        int row[LOADS], at[LOADS];

#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            const int i = min(first + k * threads, n - 1);

            row[k] = __umulhi(i, q.divide_by_moves);
            at[k] = 16 * (i - row[k] * q.moves);
            loaded[k] = *reinterpret_cast<const uint4 *>(
                q.in + size_t(min(max(y + row[k] - q.reach, 0), q.rows - 1)) * q.stride_in +
                min(max(x - q.margin + at[k], 0), last));
        }
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            const int from = x - q.margin + at[k];
            uint32_t word[4] = {loaded[k].x, loaded[k].y, loaded[k].z, loaded[k].w};

            if (first + k * threads >= n)
                break;
            if (from < 0 || from >= last)
                repeat_edge(q, word, from);
            put_words(q, word, tile + row[k] * q.stride, at[k]);
        }
    }
}

/* Weights as products take them. */
static __device__ __forceinline__ void make_tables(shared_part &s)
{
    for (int i = threadIdx.y * WARP + threadIdx.x; i < BLUR_AXES * TABLE; i += WARP * blockDim.y) {
        const int axis = i / TABLE, distance = i - axis * TABLE - MIDDLE;
        const float *const weight = s.weight[axis];
        const int here = abs(distance), next = abs(distance + 1);
        const half2 pair = __floats2half2_rn(here > BLUR_MAX_REACH ? 0.0f : weight[here],
                                             next > BLUR_MAX_REACH ? 0.0f : weight[next]);

        s.table[axis][distance + MIDDLE] = *reinterpret_cast<const uint32_t *>(&pair);
    }
}

/* A warp's weights as they stand left of columns of samples: the sums of 16 rows, the first of
 * which reaches up to the first sample. A lane has the means of rows lane / 4 and 8 further. */
template <int STEPS> struct left_factor {
    uint32_t weights[STEPS][4];
    float scale[2];

    __device__ __forceinline__ left_factor(const blur_params &p, const blur_plane &q,
                                           const shared_part &shared, int y)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int row = threadIdx.x / 4 + 8 * i;
            const int axis = y + row == q.rows - 1 ? q.last : q.axis;
            const uint32_t *const at =
                shared.table[axis] + MIDDLE + threadIdx.x % 4 * 2 - q.reach - row;

            scale[i] = p.scale[axis];
#pragma unroll
            for (int s = 0; s < STEPS; s++)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    weights[s][i + 2 * j] = at[16 * s + 8 * j];
        }
    }
};

/* Weights as they stand right of rows of samples, of which @margin are before those that are
 * filtered: the sums of 16 columns, in two halves. A lane gets four that are side by side. */
template <int STEPS>
static __device__ __forceinline__ void make_right(uint32_t b[STEPS][4], const uint32_t *table,
                                                  int margin)
{
    const int n = threadIdx.x / 4;
    const uint32_t *const at = table + MIDDLE + threadIdx.x % 4 * 2 - margin - (n / 2 * 4 + n % 2);

#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            b[s][i] = at[16 * s + i % 2 * 8 - i / 2 * 2];
}

static __device__ __forceinline__ uint32_t two_means(float left, float right, float scale)
{
    const half2 h = __floats2half2_rn(left * scale - CENTRE, right * scale - CENTRE);

    return *reinterpret_cast<const uint32_t *>(&h);
}

/* A lane's view of one kind of samples in a tile. */
struct lane_view {
    const half *samples; /* of the first row of its warp */
    int stride, columns, row, last_row;
};

/* The means of 16 columns, from @column on, as a left factor. */
template <int STEPS>
static __device__ __forceinline__ void mean_columns(uint32_t mean[4], const lane_view &v,
                                                    const left_factor<STEPS> &a, int column)
{
    /* What lies beyond the tile weighs nothing, but must be a number. */
    const half *const at = v.samples + min(column + int(threadIdx.x) / 16 * 8, v.columns - 8);
    float left[4] = {}, right[4] = {};

#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        uint32_t m[4];

        load_turned(m, at + min(v.row + 16 * s, v.last_row) * v.stride);
        add_product(left, a.weights[s], m[0], m[1]);
        add_product(right, a.weights[s], m[2], m[3]);
    }
    mean[0] = two_means(left[0], left[1], a.scale[0]);
    mean[1] = two_means(left[2], left[3], a.scale[1]);
    mean[2] = two_means(right[0], right[1], a.scale[0]);
    mean[3] = two_means(right[2], right[3], a.scale[1]);
}

/* Four samples that are side by side, from sums of differences from 128. */
template <int STEP>
static __device__ __forceinline__ void put_samples(uint8_t *to, const float sum[4], float scale)
{
    /* The sum of this and a level has it, rounded, as its low byte. */
    const float base = 8388608.0f + 128.0f;
    uint32_t level[4];

#pragma unroll
    for (int i = 0; i < 4; i++)
        level[i] = __float_as_uint(fmaf(sum[i], scale, base));
    if (STEP == 1) {
        *reinterpret_cast<uint32_t *>(to) =
            __byte_perm(__byte_perm(level[0], level[1], 0x0040),
                        __byte_perm(level[2], level[3], 0x0040), 0x5410);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            to[i * STEP] = uint8_t(level[i]);
    }
}

/* Filters one kind of samples in @bytes of a warp's rows. */
template <int STEPS, int RIGHT, int STEP>
static __device__ __forceinline__ void filter_kind(const lane_view &v, const left_factor<STEPS> &a,
                                                   const uint32_t b[STEPS][4], float scale,
                                                   int column, int bytes, uint8_t *to)
{
    uint32_t mean[RIGHT][4];

    to += threadIdx.x / 4 * STAGE_STRIDE + threadIdx.x % 4 * 4 * STEP;
#pragma unroll
    for (int s = 0; s < RIGHT - 1; s++)
        mean_columns<STEPS>(mean[s + 1], v, a, column + 16 * s);
#pragma unroll 1
    for (int x = 0; x < bytes; x += 16 * STEP) {
        float left[4] = {}, right[4] = {};

#pragma unroll
        for (int s = 0; s < RIGHT - 1; s++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                mean[s][i] = mean[s + 1][i];
        mean_columns<STEPS>(mean[RIGHT - 1], v, a, column + x / STEP + 16 * (RIGHT - 1));
#pragma unroll
        for (int s = 0; s < RIGHT; s++) {
            add_product(left, mean[s], b[s][0], b[s][1]);
            add_product(right, mean[s], b[s][2], b[s][3]);
        }
        const float upper[4] = {left[0], left[1], right[0], right[1]};
        const float lower[4] = {left[2], left[3], right[2], right[3]};

        put_samples<STEP>(to + x, upper, scale);
        put_samples<STEP>(to + x + 8 * STAGE_STRIDE, lower, scale);
    }
}

/* Copies a warp's rows to the plane. */
static __device__ __forceinline__ void store(const blur_plane &q, const uint8_t *from, int x, int y)
{
    const int row = threadIdx.x / 4, at = threadIdx.x % 4 * 16;

    if (x + at >= q.bytes)
        return;
#pragma unroll
    for (int i = 0; i < ROWS; i += 8)
        if (y + row + i < q.end)
            *reinterpret_cast<uint4 *>(q.out + size_t(y + row + i) * q.stride_out + x + at) =
                *reinterpret_cast<const uint4 *>(from + (row + i) * STAGE_STRIDE + at);
}

/* Filters a warp's part: @x and @y in the plane, @x0 bytes from where the tile's begin. */
template <int STEPS>
static __device__ __forceinline__ void
filter_part(const blur_params &p, const blur_plane &q, const shared_part &shared, const half *tile,
            lane_view v, int x0, int x, int y, uint8_t *stage)
{
    constexpr int SHARED = STEPS / 2 + 1; /* for half the reach */
    const left_factor<STEPS> a(p, q, shared, y);
    const int bytes = min(WARP_BYTES, q.bytes - x);
    uint32_t b[STEPS][4];

#pragma unroll 1
    for (int i = 0; i < q.kinds; i++) {
        const blur_kind &k = q.kind[i];
        const float scale = p.scale[k.axis];
        uint8_t *const to = stage + k.offset;

        v.samples = tile + k.tile;
        v.columns = k.columns;
        if (i < 2) /* V has what U has */
            make_right<STEPS>(b, shared.table[k.axis], k.margin);
        if (k.step == 4)
            filter_kind<STEPS, SHARED, 4>(v, a, b, scale, k.first + x0 / 4, bytes, to);
        else if (k.step == 2 && k.axis)
            filter_kind<STEPS, SHARED, 2>(v, a, b, scale, k.first + x0 / 2, bytes, to);
        else if (k.step == 2)
            filter_kind<STEPS, STEPS, 2>(v, a, b, scale, k.first + x0 / 2, bytes, to);
        else if (k.axis)
            filter_kind<STEPS, SHARED, 1>(v, a, b, scale, k.first + x0, bytes, to);
        else
            filter_kind<STEPS, STEPS, 1>(v, a, b, scale, k.first + x0, bytes, to);
    }
}

template <int STEPS>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, STEPS <= 3 ? 4 : 2)
    blur_kernel(const blur_params p)
{
    extern __shared__ uint4 memory[];
    shared_part &shared = *reinterpret_cast<shared_part *>(memory);
    uint8_t *const stages = reinterpret_cast<uint8_t *>(&shared + 1);
    uint8_t *const stage = stages + threadIdx.y * STAGE_BYTES;
    half *const tile = reinterpret_cast<half *>(stages + blockDim.y * STAGE_BYTES);
    const blur_plane &q = p.plane[blockIdx.z];
    const int strip = threadIdx.y / 2, x0 = threadIdx.y % 2 * WARP_BYTES;
    const int tile_x = blockIdx.x * BLUR_TILE_BYTES, x = tile_x + x0;
    const int tile_y = q.begin + blockIdx.y * (blockDim.y / 2 * ROWS), y = tile_y + strip * ROWS;
    const int rows = tile_rows(q, blockDim.y);

    if (tile_x >= q.bytes || tile_y >= q.end)
        return;
    /* Once only: threads that ask for different constants wait for each other. */
    for (int i = threadIdx.y * WARP + threadIdx.x; i < BLUR_AXES * WEIGHTS; i += WARP * blockDim.y)
        shared.weight[i / WEIGHTS][i % WEIGHTS] = p.weight[i / WEIGHTS][i % WEIGHTS];
    fill(q, tile, rows, tile_x, tile_y);
    __syncthreads();
    make_tables(shared);
    __syncthreads();
    if (x >= q.bytes || y >= q.end)
        return;

    const lane_view v = {tile, q.stride, 0, strip * ROWS + int(threadIdx.x) % 16, rows - 1};

    filter_part<STEPS>(p, q, shared, tile, v, x0, x, y, stage);
    __syncwarp();
    store(q, stage, x, y);
}

/* As many warps as fit. */
static cudaError_t choose_warps(const blur_params &b, int *ret_warps, size_t *ret_bytes)
{
    int device = 0, most = 0;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    for (*ret_warps = MAX_WARPS; *ret_warps >= 2; *ret_warps -= 2) {
        *ret_bytes = 0;
        for (int i = 0; i < b.planes; i++) {
            const blur_plane &q = b.plane[i];
            const size_t bytes = sizeof(shared_part) + size_t(*ret_warps) * STAGE_BYTES +
                                 size_t(q.stride) * tile_rows(q, *ret_warps) * sizeof(half);

            *ret_bytes = bytes > *ret_bytes ? bytes : *ret_bytes;
        }
        if (*ret_bytes <= size_t(most))
            break;
    }
    return status;
}

extern "C" cudaError_t blur_launch(const bilateral_params *p, cudaStream_t stream)
{
    static void (*const kernels[])(blur_params) = {blur_kernel<2>, blur_kernel<3>, blur_kernel<4>,
                                                   blur_kernel<5>};
    const auto kernel = kernels[(p->radius - 1) / 8];
    cudaError_t status;
    blur_params b;
    size_t bytes;
    int warps, rows;

    blur_params_init(&b, p);
    status = choose_warps(b, &warps, &bytes);
    if (status == cudaSuccess && bytes > 48 * 1024)
        status =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
    if (status != cudaSuccess)
        return status;
    rows = warps / 2 * ROWS;
    kernel<<<dim3((b.plane[0].bytes + BLUR_TILE_BYTES - 1) / BLUR_TILE_BYTES,
                  (p->row_end - p->row_begin + rows - 1) / rows, b.planes),
             dim3(WARP, warps), bytes, stream>>>(b);
    return cudaGetLastError();
}
