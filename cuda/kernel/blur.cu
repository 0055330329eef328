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
 * columns that the window of the next 16 reaches. Which columns of a product a lane has is a matter
 * of the order of weights; so it gets what belongs into the same words of the picture. */
#include "cuda/kernel/blur_params.h"
#include "cuda/kernel/blur_products.cuh"
#include "cuda/kernel/kernels.h"

#define WARP 32
#define ROWS 16                          /* of a warp */
#define WARP_BYTES (BLUR_TILE_BYTES / 2) /* of each row; two warps lie side by side */
#define MAX_WARPS 8
#define MAX_STEPS 5                  /* of 16 rows or columns: 16 and the reach on both sides */
#define CENTRE (1024.0f + 128.0f)    /* what samples in tiles are more than the means of columns */
#define LOADS 4                      /* under way at once */
#define MIDDLE(steps) (16 * (steps)) /* of a table of pairs of weights */
#define TABLE(steps) (2 * MIDDLE(steps))

/* A block's shared memory; its tile follows. A table has at a distance from its middle the weight
 * there and the next one. */
struct alignas(16) shared_part {
    uint32_t table[BLUR_AXES][TABLE(MAX_STEPS)];
    float4 weight[sizeof(blur_params::weight) / sizeof(float4)];
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

/* What a thread loads of a tile at once; @x and @y are where the bytes begin that are filtered. */
struct moved {
    uint4 loaded[LOADS];
    int row[LOADS], at[LOADS];

    __device__ __forceinline__ moved(const blur_plane &q, int rows, int x, int y, int first)
    {
        const int n = q.moves * rows, last = (q.bytes - 1) / 16 * 16;

#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            const int i = min(first + k * int(WARP * blockDim.y), n - 1);

            row[k] = __umulhi(i, q.divide_by_moves);
            at[k] = 16 * (i - row[k] * q.moves);
            loaded[k] = *reinterpret_cast<const uint4 *>(
                q.in + size_t(min(max(y + row[k] - q.reach, 0), q.rows - 1)) * q.stride_in +
                min(max(x - q.margin + at[k], 0), last));
        }
    }
    __device__ __forceinline__ void put(const blur_plane &q, half *tile, int rows, int x, int first)
    {
        const int n = q.moves * rows, last = (q.bytes - 1) / 16 * 16;

#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            const int from = x - q.margin + at[k];
            uint32_t word[4] = {loaded[k].x, loaded[k].y, loaded[k].z, loaded[k].w};

            if (first + k * int(WARP * blockDim.y) >= n)
                break;
            if (from < 0 || from >= last)
                repeat_edge(q, word, from);
            put_words(q, word, tile + row[k] * q.stride, at[k]);
        }
    }
};

/* Weights as products take them. */
template <int STEPS> static __device__ __forceinline__ void make_tables(shared_part &s)
{
    const float *const weights = reinterpret_cast<const float *>(s.weight);

    for (int i = threadIdx.y * WARP + threadIdx.x; i < BLUR_AXES * TABLE(STEPS);
         i += WARP * blockDim.y) {
        const int axis = i / TABLE(STEPS), distance = i % TABLE(STEPS) - MIDDLE(STEPS);
        const float *const weight = weights + axis * BLUR_WEIGHTS;
        const int here = abs(distance), next = abs(distance + 1);
        const half2 pair = __floats2half2_rn(here > BLUR_MAX_REACH ? 0.0f : weight[here],
                                             next > BLUR_MAX_REACH ? 0.0f : weight[next]);

        s.table[axis][distance + MIDDLE(STEPS)] = *reinterpret_cast<const uint32_t *>(&pair);
    }
}

/* Fills the tile and makes the tables while its first bytes come. */
template <int STEPS>
static __device__ __forceinline__ void fill(const blur_params &p, const blur_plane &q,
                                            shared_part &shared, half *tile, int rows, int x, int y)
{
    const int thread = threadIdx.y * WARP + threadIdx.x;
    moved now(q, rows, x, y, thread);

    /* By a thread of each warp: threads that ask for different constants wait for each other. */
#pragma unroll 4
    for (int i = threadIdx.y; i < int(sizeof(p.weight) / sizeof(float4)); i += blockDim.y)
        if (threadIdx.x == 0)
            shared.weight[i] = reinterpret_cast<const float4 *>(p.weight)[i];
    __syncthreads();
    make_tables<STEPS>(shared);
    now.put(q, tile, rows, x, thread);
    for (int first = thread + LOADS * WARP * blockDim.y; first < q.moves * rows;
         first += LOADS * WARP * blockDim.y)
        moved(q, rows, x, y, first).put(q, tile, rows, x, first);
    __syncthreads();
}

/* A warp's weights as they stand left of columns of samples: the sums of 16 rows, the first of
 * which reaches up to the first sample. A lane has the means of rows lane / 4 and 8 further. */
template <int STEPS> struct left_factor {
    uint32_t weights[STEPS][4];
    float centre[4]; /* what sums begin with */
    float scale[2];

    __device__ __forceinline__ left_factor(const blur_params &p, const blur_plane &q,
                                           const shared_part &shared, int y)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int row = threadIdx.x / 4 + 8 * i;
            const int axis = y + row == q.rows - 1 ? q.last : q.axis;
            const uint32_t *const at =
                shared.table[axis] + MIDDLE(STEPS) + threadIdx.x % 4 * 2 - q.reach - row;

            scale[i] = p.scale[axis];
            centre[2 * i] = centre[2 * i + 1] = -CENTRE * p.total[axis];
#pragma unroll
            for (int s = 0; s < STEPS; s++)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    weights[s][i + 2 * j] = at[16 * s + 8 * j];
        }
    }
};

/* Weights as they stand right of rows of samples, of which @margin are before those that are
 * filtered: the sums of 16 columns, in two halves. A lane gets four that are side by side, or two
 * and the two that are 8 columns further. */
template <int STEPS, bool APART>
static __device__ __forceinline__ void make_right(uint32_t b[STEPS][4], const uint32_t *table,
                                                  int margin)
{
    const int n = threadIdx.x / 4, first = APART ? n : n / 2 * 4 + n % 2;
    const uint32_t *const at = table + MIDDLE(STEPS) + threadIdx.x % 4 * 2 - margin - first;

#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            b[s][i] = at[16 * s + i % 2 * 8 - i / 2 * (APART ? 8 : 2)];
}

static __device__ __forceinline__ uint32_t two_halves(float left, float right)
{
    const half2 h = __floats2half2_rn(left, right);

    return *reinterpret_cast<const uint32_t *>(&h);
}

/* A lane's view of one kind of samples in a tile. */
struct lane_view {
    const half *samples; /* of the first row of its warp */
    int stride, columns, row, last_row;
};

/* The means of 16 columns, from @column on, as a left factor; times the sum of weights, less the
 * centre. */
template <int STEPS>
static __device__ __forceinline__ void mean_columns(uint32_t mean[4], const lane_view &v,
                                                    const left_factor<STEPS> &a, int column)
{
    /* What lies beyond the tile weighs nothing, but must be a number. */
    const half *const at = v.samples + min(column + int(threadIdx.x) / 16 * 8, v.columns - 8);
    float left[4], right[4];

#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        uint32_t m[4];

        load_turned(m, at + min(v.row + 16 * s, v.last_row) * v.stride);
        add_product(left, s ? left : a.centre, a.weights[s], m[0], m[1]);
        add_product(right, s ? right : a.centre, a.weights[s], m[2], m[3]);
    }
    mean[0] = two_halves(left[0], left[1]);
    mean[1] = two_halves(left[2], left[3]);
    mean[2] = two_halves(right[0], right[1]);
    mean[3] = two_halves(right[2], right[3]);
}

/* Two sums of differences from 128, and two more, as bytes. */
static __device__ __forceinline__ uint32_t four_bytes(const float a[2], const float b[2],
                                                      float scale)
{
    /* The sum of this and a level has it, rounded, as its low byte. */
    const float base = 8388608.0f + 128.0f;
    uint32_t level[4];

#pragma unroll
    for (int i = 0; i < 4; i++)
        level[i] = __float_as_uint(fmaf(i < 2 ? a[i] : b[i - 2], scale, base));
    return __byte_perm(__byte_perm(level[0], level[1], 0x0040),
                       __byte_perm(level[2], level[3], 0x0040), 0x5410);
}

/* Filters one kind of samples, @N times 16 columns from @column on: of each a lane has four in the
 * row lane / 4, and 8 rows further. */
template <int STEPS, int RIGHT, int N>
static __device__ __forceinline__ void
filter_kind(uint32_t bytes[N][2], const lane_view &v, const left_factor<STEPS> &a,
            const uint32_t b[STEPS][4], float scale, int column)
{
    const float zero[4] = {}, upper = scale * a.scale[0], lower = scale * a.scale[1];
    uint32_t mean[RIGHT][4];

#pragma unroll
    for (int s = 0; s < RIGHT - 1; s++)
        mean_columns<STEPS>(mean[s], v, a, column + 16 * s);
#pragma unroll
    for (int i = 0; i < N; i++) {
        float left[4], right[4];

        mean_columns<STEPS>(mean[(i + RIGHT - 1) % RIGHT], v, a, column + 16 * (i + RIGHT - 1));
#pragma unroll
        for (int s = 0; s < RIGHT; s++) {
            const uint32_t *const m = mean[(i + s) % RIGHT];

            add_product(left, s ? left : zero, m, b[s][0], b[s][1]);
            add_product(right, s ? right : zero, m, b[s][2], b[s][3]);
        }
        bytes[i][0] = four_bytes(left, right, upper);
        bytes[i][1] = four_bytes(left + 2, right + 2, lower);
    }
}

/* Where a lane stores its two rows of a warp's part, from byte @x on. */
struct lane_store {
    uint8_t *to;
    uint32_t below; /* bytes to the other row */
    int left, rows; /* bytes from there to the end of a row, and rows to store */

    __device__ __forceinline__ lane_store(const blur_plane &q, int x, int y)
        : to(q.out + size_t(y + threadIdx.x / 4) * q.stride_out + x), below(8 * q.stride_out),
          left(q.bytes - x), rows((q.end - y - int(threadIdx.x) / 4 + 7) / 8)
    {
    }
    template <typename T> __device__ __forceinline__ void put(int at, int i, T words) const
    {
        if (at < left && i < rows)
            *reinterpret_cast<T *>(to + (at + i * below)) = words;
    }
};

/* Y, U and V in one plane: a lane has 8 bytes, and those 32 further. */
template <int STEPS>
static __device__ __forceinline__ void
filter_three(const blur_params &p, const blur_plane &q, const shared_part &shared, lane_view v,
             const left_factor<STEPS> &a, int x0, int x, int y)
{
    const half *const first = v.samples;
    const int at = threadIdx.x % 4 * 8;
    uint32_t luma[2][2], uv[2][1][2], b[STEPS][4];

    v.columns = q.kind[0].columns;
    make_right<STEPS, false>(b, shared.table[BLUR_OF_EACH], q.kind[0].margin);
    filter_kind<STEPS, STEPS, 2>(luma, v, a, b, p.scale[BLUR_OF_EACH], q.kind[0].first + x0 / 2);
    make_right<STEPS, true>(b, shared.table[BLUR_OF_SHARED], q.kind[1].margin);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const blur_kind &k = q.kind[1 + i];

        v.samples = first + k.tile;
        v.columns = k.columns;
        filter_kind<STEPS, STEPS / 2 + 1, 1>(uv[i], v, a, b, p.scale[BLUR_OF_SHARED],
                                             k.first + x0 / 4);
    }
    const lane_store out(q, x, y);

#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const uint32_t two = __byte_perm(uv[0][0][i], uv[1][0][i], n ? 0x7362 : 0x5140);

            out.put(at + 32 * n, i,
                    make_uint2(__byte_perm(luma[n][i], two, q.join),
                               __byte_perm(luma[n][i], two, q.join + 0x2222)));
        }
}

/* U and V in one plane: a lane has 8 bytes of each 32. */
template <int STEPS>
static __device__ __forceinline__ void filter_two(const blur_params &p, const blur_plane &q,
                                                  const shared_part &shared, lane_view v,
                                                  const left_factor<STEPS> &a, int x0, int x, int y)
{
    const half *const first = v.samples;
    const int at = threadIdx.x % 4 * 8;
    uint32_t uv[2][2][2], b[STEPS][4];

    make_right<STEPS, false>(b, shared.table[BLUR_OF_SHARED], q.kind[0].margin);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        v.samples = first + q.kind[i].tile;
        v.columns = q.kind[i].columns;
        filter_kind<STEPS, STEPS / 2 + 1, 2>(uv[i], v, a, b, p.scale[BLUR_OF_SHARED],
                                             q.kind[i].first + x0 / 2);
    }
    const lane_store out(q, x, y);

#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int n = 0; n < 2; n++)
            out.put(at + 32 * n, i,
                    make_uint2(__byte_perm(uv[0][n][i], uv[1][n][i], q.join),
                               __byte_perm(uv[0][n][i], uv[1][n][i], q.join + 0x2222)));
}

/* One kind: a lane has 4 bytes of each 16. */
template <int STEPS, int RIGHT>
static __device__ __forceinline__ void filter_one(const blur_params &p, const blur_plane &q,
                                                  const shared_part &shared, lane_view v,
                                                  const left_factor<STEPS> &a, int x0, int x, int y)
{
    const int at = threadIdx.x % 4 * 4;
    uint32_t bytes[4][2], b[STEPS][4];

    v.columns = q.kind[0].columns;
    make_right<STEPS, false>(b, shared.table[q.kind[0].axis], q.kind[0].margin);
    filter_kind<STEPS, RIGHT, 4>(bytes, v, a, b, p.scale[q.kind[0].axis], q.kind[0].first + x0);
    const lane_store out(q, x, y);

#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int n = 0; n < 4; n++)
            out.put(at + 16 * n, i, bytes[n][i]);
}

/* @PACKED: Y, U and V are in one plane, of which everything is a constant then. */
template <int STEPS, bool PACKED>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, STEPS <= 3 ? 4 : 2)
    blur_kernel(const __grid_constant__ blur_params p)
{
    extern __shared__ uint4 memory[];
    shared_part &shared = *reinterpret_cast<shared_part *>(memory);
    half *const tile = reinterpret_cast<half *>(&shared + 1);
    const blur_plane &q = p.plane[PACKED ? 0 : blockIdx.z];
    const int strip = threadIdx.y / 2, x0 = threadIdx.y % 2 * WARP_BYTES;
    const int tile_x = blockIdx.x * BLUR_TILE_BYTES, x = tile_x + x0;
    const int tile_y = q.begin + blockIdx.y * (blockDim.y / 2 * ROWS), y = tile_y + strip * ROWS;
    const int rows = tile_rows(q, blockDim.y);

    if (tile_x >= q.bytes || tile_y >= q.end)
        return;
    fill<STEPS>(p, q, shared, tile, rows, tile_x, tile_y);
    if (x >= q.bytes || y >= q.end)
        return;

    const lane_view v = {tile, q.stride, 0, strip * ROWS + int(threadIdx.x) % 16, rows - 1};
    const left_factor<STEPS> a(p, q, shared, y);

    if (PACKED)
        filter_three<STEPS>(p, q, shared, v, a, x0, x, y);
    else if (q.kinds == 2)
        filter_two<STEPS>(p, q, shared, v, a, x0, x, y);
    else if (q.kind[0].axis == BLUR_OF_SHARED)
        filter_one<STEPS, STEPS / 2 + 1>(p, q, shared, v, a, x0, x, y);
    else
        filter_one<STEPS, STEPS>(p, q, shared, v, a, x0, x, y);
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
            const size_t bytes =
                sizeof(shared_part) + size_t(q.stride) * tile_rows(q, *ret_warps) * sizeof(half);

            *ret_bytes = bytes > *ret_bytes ? bytes : *ret_bytes;
        }
        if (*ret_bytes <= size_t(most))
            break;
    }
    return status;
}

extern "C" cudaError_t blur_launch(const bilateral_params *p, cudaStream_t stream)
{
    static void (*const kernels[][2])(blur_params) = {
        {blur_kernel<2, false>, blur_kernel<2, true>},
        {blur_kernel<3, false>, blur_kernel<3, true>},
        {blur_kernel<4, false>, blur_kernel<4, true>},
        {blur_kernel<5, false>, blur_kernel<5, true>}};
    const auto kernel = kernels[(p->radius - 1) / 8][p->packed];
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
