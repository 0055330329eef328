/* The filters gaussian and box: any raw format of 8 bits, any radius, any GPU.
 *
 * DESIGN. Both are separable, and a mean along an axis is a product with a band of weights. So
 * tensor cores form both: first the means of columns, from weights times the picture, whose sums
 * lie in registers the way in which the second product, with the weights of rows, takes them. So
 * the radius hardly counts.
 *
 * Planes are filtered one by one, on their own grid. A tile has the bytes as memory has them. Two
 * bytes side by side are turned as one number on their way into registers, and taken apart there:
 * as a number of half precision a byte is a level times 2^-24, which tensor cores take like any
 * other. The bytes at even places make one picture and those at odd places another: luma and
 * chroma, or U and V. U and V beside luma are filtered as one picture, with weights for every other
 * column. In a plane with one kind of samples both are columns of one picture.
 *
 * Weights are in half precision too, and their sum is made 1 in single precision, so that one
 * colour stays what it is. Means of columns, less 128, are rounded to 1/16 at most: all in all a
 * level is off by less than 0.15.
 *
 * A warp filters 16 rows of a tile, 16 columns after another. It keeps the means of the columns
 * that the window of the next 16 reaches. Which columns of a product a lane has is a matter of the
 * order of weights; so it gets what lies side by side in the picture.
 *
 * Weights repeat in the registers of a factor, and are read as volatile: else the compiler keeps
 * one of each, and copies it before every product. */
#include "cuda/kernel/blur_params.h"
#include "cuda/kernel/blur_products.cuh"
#include "cuda/kernel/blur_tile.cuh"
#include "cuda/kernel/kernels.h"

/* By a thread of each warp: threads that ask for different constants wait for each other. */
template <class M>
static __device__ __forceinline__ void copy_tables(M &shared, const blur_params &p)
{
    constexpr int quads = 8 * M::steps; /* of a table */
    constexpr int axes = M::packed ? 2 : BLUR_AXES;

    if (threadIdx.x)
        return;
    if (threadIdx.y < axes)
        shared.centre[threadIdx.y] = p.centre[threadIdx.y];
#pragma unroll
    for (int axis = 0; axis < axes; axis++)
#pragma unroll
        for (int k = 0; k < quads / WARPS; k++) {
            const int i = threadIdx.y * (quads / WARPS) + k;

            reinterpret_cast<uint4 *>(shared.table[axis])[i] =
                reinterpret_cast<const uint4 *>(p.table[axis] + BLUR_MIDDLE - 16 * M::steps)[i];
        }
}

/* A warp's weights as they stand left of columns of samples: the sums of 16 rows, the first of
 * which reaches up to the first sample. A lane has the means of rows lane / 4 and 8 further. */
template <class M> struct left_factor {
    uint32_t weights[M::steps][4];
    float scale[2];
    float centre[4]; /* what sums begin with */

    __device__ __forceinline__ left_factor(const M &shared, const blur_params &p,
                                           const blur_plane &q, int y)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int row = threadIdx.x / 4 + 8 * i;
            const int axis = M::packed ? BLUR_OF_EACH : y + row == q.rows - 1 ? q.last : q.axis;
            const volatile uint32_t *const at =
                shared.weights(axis) + threadIdx.x % 4 * 2 - q.reach - row;

            scale[i] = p.scale[axis];
            for (int j = 0; j < 2; j++)
                centre[2 * i + j] = *static_cast<const volatile float *>(&shared.centre[axis]);
#pragma unroll
            for (int s = 0; s < M::steps; s++)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    weights[s][i + 2 * j] = at[16 * s + 8 * j];
        }
    }
};

/* Weights as they stand right of rows of means, of which 8 (STEPS - 1) are before the 16 that are
 * filtered: the sums of 16 columns, in two halves, of which a lane gets four that are side by side.
 * Of 16 means a lane has two, from column 2 (lane % 4) on, and those 8 further; where it has four
 * side by side, @APART is 2. */
template <int STEPS, int APART> struct right_factor {
    uint32_t weights[STEPS][4];

    __device__ __forceinline__ right_factor(const uint32_t *table)
    {
        const int n = threadIdx.x / 4, column = n / 2 * 4 + n % 2;
        const int k = threadIdx.x % 4 * (APART == 2 ? 4 : 2);
        const volatile uint32_t *const at = table + k - 8 * (STEPS - 1) - column;

#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                weights[s][i] = at[16 * s + i % 2 * APART - i / 2 * 2];
    }
};

static __device__ __forceinline__ uint32_t two_halves(float left, float right)
{
    const half2 h = __floats2half2_rn(left, right);

    return *reinterpret_cast<const uint32_t *>(&h);
}

/* Of two pairs of bytes those at even places, or those at odd ones, as halves. */
static __device__ __forceinline__ uint32_t take(uint32_t pairs, int odd)
{
    return __byte_perm(pairs, 0, odd ? 0x4341 : 0x4240);
}

/* Four sums as bytes, the first of which is the lowest; @even and @odd make levels of them. */
static __device__ __forceinline__ uint32_t four_bytes(float a, float b, float c, float d,
                                                      float even, float odd)
{
    /* 2^23 and 128: with a level less 128 it has that level, rounded, as its low byte. Times 256
     * nothing else of it is left; what is left of the first one is taken off the last. */
    const uint32_t base = 0x4b000000;
    const float first = __uint_as_float(base + 128);
    const float last = __uint_as_float(base + 128 + (0x100 - (base >> 24)));

    return __float_as_uint(fmaf(a, even, first)) + __float_as_uint(fmaf(b, odd, first)) * 0x100 +
           __float_as_uint(fmaf(c, even, first)) * 0x10000 +
           __float_as_uint(fmaf(d, odd, last)) * 0x1000000;
}

/* A warp's part of a tile. */
template <class M> struct warp_part {
    const left_factor<M> &a;
    const half *samples; /* at this lane's row of 16 and its 8 of 16 pairs */

    __device__ __forceinline__ void load(uint32_t pairs[4], int s, int column) const
    {
        load_turned(pairs, samples + s * ROWS * M::stride / int(sizeof(half)) + column);
    }

    /* The means of 16 columns of each of two kinds, from @column on, as left factors. */
    __device__ __forceinline__ void mean_pairs(uint32_t even[4], uint32_t odd[4], int column) const
    {
        float sum[2][2][4];

#pragma unroll
        for (int s = 0; s < M::steps; s++) {
            uint32_t m[4];

            load(m, s, column);
#pragma unroll
            for (int kind = 0; kind < 2; kind++)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    add_product(sum[kind][i], s ? sum[kind][i] : a.centre, a.weights[s],
                                take(m[2 * i], kind), take(m[2 * i + 1], kind));
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            even[j] = two_halves(sum[0][j / 2][j % 2 * 2], sum[0][j / 2][j % 2 * 2 + 1]);
            odd[j] = two_halves(sum[1][j / 2][j % 2 * 2], sum[1][j / 2][j % 2 * 2 + 1]);
        }
    }

    /* The means of two times 16 columns, as two left factors. */
    __device__ __forceinline__ void mean_both(uint32_t mean[2][4], int column) const
    {
        float even[2][4], odd[2][4];

#pragma unroll
        for (int s = 0; s < M::steps; s++) {
            uint32_t m[4];

            load(m, s, column);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                add_product(even[i], s ? even[i] : a.centre, a.weights[s], take(m[2 * i], 0),
                            take(m[2 * i + 1], 0));
                add_product(odd[i], s ? odd[i] : a.centre, a.weights[s], take(m[2 * i], 1),
                            take(m[2 * i + 1], 1));
            }
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                mean[i][j] = two_halves(even[i][j % 2 * 2 + j / 2], odd[i][j % 2 * 2 + j / 2]);
    }
};

/* 16 columns of a warp's rows from the means that @N factors have from @first on: a lane gets sums
 * of four side by side in the row lane / 4, and 8 rows further. */
template <int N, int COUNT, int APART>
static __device__ __forceinline__ void mean_rows(float sum[2][4], const uint32_t mean[COUNT][4],
                                                 int first, const right_factor<N, APART> &b)
{
    const float zero[4] = {};
    float left[4], right[4];

#pragma unroll
    for (int s = 0; s < N; s++) {
        add_product(left, s ? left : zero, mean[first + s], b.weights[s][0], b.weights[s][1]);
        add_product(right, s ? right : zero, mean[first + s], b.weights[s][2], b.weights[s][3]);
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            sum[i][j] = left[2 * i + j];
            sum[i][2 + j] = right[2 * i + j];
        }
}

static __device__ __forceinline__ void store_if(bool yes, uint32_t *to, uint32_t word)
{
    asm volatile(
        "{ .reg .pred yes; setp.ne.s32 yes, %0, 0; @yes st.global.u32 [%1], %2; }" ::"r"(int(yes)),
        "l"(__cvta_generic_to_global(to)), "r"(word)
        : "memory");
}
static __device__ __forceinline__ void store_if(bool yes, uint2 *to, uint2 words)
{
    asm volatile(
        "{ .reg .pred yes; setp.ne.s32 yes, %0, 0; @yes st.global.v2.u32 [%1], {%2, %3}; }" ::"r"(
            int(yes)),
        "l"(__cvta_generic_to_global(to)), "r"(words.x), "r"(words.y)
        : "memory");
}

/* A row that a lane stores, from byte @x on. The compiler moves nothing past a branch. Without one
 * it has products of many columns under way at once, which takes registers; where they are @SCARCE,
 * it shall not. */
template <bool SCARCE> struct lane_row {
    uint8_t *to;
    int left; /* bytes from there to the end of the row; none of one that is not stored */

    __device__ __forceinline__ lane_row(const blur_plane &q, int x, int y)
        : to(q.out + size_t(uint32_t(y)) * q.stride_out + x), left(y < q.end ? q.bytes - x : 0)
    {
        asm volatile("" : "+l"(to)); /* or it is formed for each word */
    }
    template <typename T> __device__ __forceinline__ void put(int at, T words) const
    {
        T *const place = reinterpret_cast<T *>(to + at);

        if (!SCARCE)
            store_if(at < left, place, words);
        else if (at < left)
            *place = words;
    }
};

/* Two kinds in a plane: a lane has 8 bytes of each 32. @N: steps of rows. */
template <int N, class M>
static __device__ __forceinline__ void filter_pairs(M &shared, const tile_source<M> &source,
                                                    const blur_params &p, const warp_part<M> &part,
                                                    int x, int y)
{
    constexpr int columns = M::bytes / 32;
    const blur_plane &q = source.q;
    const right_factor<N, 8> even(shared.weights(q.along[0])), odd(shared.weights(q.along[1]));
    const int at = x + threadIdx.x % 4 * 8, row = y + threadIdx.x / 4;
    const lane_row<M::scarce> out[2] = {{q, at, row}, {q, at, row + 8}};
    uint32_t mean[2][columns + N - 1][4];

#pragma unroll
    for (int s = 0; s < columns + N - 1; s++) {
        const int n = s - (N - 1);
        float e[2][4], o[2][4];

        source.wait(shared, 32 * s);
        part.mean_pairs(mean[0][s], mean[1][s], 16 * s);
        if (n < 0)
            continue;
        mean_rows<N, columns + N - 1>(e, mean[0], n, even);
        mean_rows<N, columns + N - 1>(o, mean[1], n, odd);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float es = p.scale[q.along[0]] * part.a.scale[i];
            const float os = p.scale[q.along[1]] * part.a.scale[i];

            out[i].put(32 * n, make_uint2(four_bytes(e[i][0], o[i][0], e[i][1], o[i][1], es, os),
                                          four_bytes(e[i][2], o[i][2], e[i][3], o[i][3], es, os)));
        }
    }
}

/* One kind: a lane has 4 bytes of each 16. */
template <int N, class M>
static __device__ __forceinline__ void filter_one(M &shared, const tile_source<M> &source,
                                                  const blur_params &p, const warp_part<M> &part,
                                                  int x, int y)
{
    constexpr int columns = M::bytes / 16;
    const blur_plane &q = source.q;
    const right_factor<N, 2> b(shared.weights(q.along[0]));
    const int at = x + threadIdx.x % 4 * 4, row = y + threadIdx.x / 4;
    const lane_row<M::scarce> out[2] = {{q, at, row}, {q, at, row + 8}};
    uint32_t mean[columns + N - 1][4];

#pragma unroll
    for (int s = 0; s < columns + N - 1; s += 2) {
        source.wait(shared, 16 * s);
        part.mean_both(mean + s, 8 * s);
#pragma unroll
        for (int n = max(s - (N - 1), 0); n < s + 2 - (N - 1); n++) {
            float sum[2][4];

            mean_rows<N, columns + N - 1>(sum, mean, n, b);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const float scale = p.scale[q.along[0]] * part.a.scale[i];

                out[i].put(16 * n,
                           four_bytes(sum[i][0], sum[i][1], sum[i][2], sum[i][3], scale, scale));
            }
        }
    }
}

template <int STEPS, bool PACKED>
static __global__ void __launch_bounds__(THREADS, PACKED      ? 2
                                                  : STEPS > 3 ? 3
                                                              : 4)
    blur_kernel(const __grid_constant__ blur_params p)
{
    using memory = block_memory<STEPS, PACKED>;
    __shared__ memory shared;
    const blur_plane &q = p.plane[PACKED ? 0 : blockIdx.z];
    const int x = blockIdx.x * memory::bytes, tile_y = q.begin + blockIdx.y * (WARPS * ROWS);
    const int strip = threadIdx.y * ROWS, y = tile_y + strip;
    const tile_source<memory> source = {q, x - memory::margin, tile_y - q.reach};

    if (x >= q.bytes || tile_y >= q.end)
        return;
    source.move(shared);
    copy_tables(shared, p);
    __syncthreads();

    const left_factor<memory> a(shared, p, q, y);
    const warp_part<memory> part = {
        a, reinterpret_cast<const half *>(
               &shared.tile[strip + threadIdx.x % 16][threadIdx.x / 16 * 16])};

    if (PACKED)
        filter_pairs<STEPS>(shared, source, p, part, x, y);
    else if (q.pairs)
        filter_pairs<STEPS / 2 + 1>(shared, source, p, part, x, y);
    else
        filter_one<STEPS / 2 * 2 + 1>(shared, source, p, part, x, y);
}

template <int STEPS, bool PACKED>
static void launch(const blur_params &b, int rows, cudaStream_t stream)
{
    constexpr int bytes = block_memory<STEPS, PACKED>::bytes;

    blur_kernel<STEPS, PACKED><<<dim3((b.plane[0].bytes + bytes - 1) / bytes,
                                      (rows + WARPS * ROWS - 1) / (WARPS * ROWS), b.planes),
                                 dim3(WARP, WARPS), 0, stream>>>(b);
}

extern "C" cudaError_t blur_launch(const bilateral_params *p, cudaStream_t stream)
{
    static void (*const launches[][2])(const blur_params &, int,
                                       cudaStream_t) = {{launch<2, false>, launch<2, true>},
                                                        {launch<3, false>, launch<3, true>},
                                                        {launch<4, false>, launch<4, true>},
                                                        {launch<5, false>, launch<5, true>}};
    blur_params b;

    blur_params_init(&b, p);
    launches[BLUR_STEPS(p->radius) - 2][p->packed](b, p->row_end - p->row_begin, stream);
    return cudaGetLastError();
}
