/* How much noise there is: engine/time/noise_blocks.h, filter/noise.h and filter/tint.h.
 *
 * DESIGN. A thread block has the next eight blocks of 16x16 that are counted in a row. Its
 * threads fetch eight pixels each of both pictures, chroma repeated, to shared memory; then each
 * warp has a block. What is linear or quadratic there is one product of a matrix of bytes with
 * itself: its rows are the components of both pictures, ones, and the place. Sums weighed 1 3 3 1
 * go the same way, as low and high bytes. All sums are exact. Then a thread block follows the noise
 * from the counts and fills the tables of the frame, and another one finds the light's colour. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_device.cuh"

#define SIDE 16
#define INNER (SIDE / 2 - 2) /* cells whose neighbours are in the block */
#define PIXELS 8             /* that a thread fetches */
#define WORDS (PIXELS / 4)
#define WARPS 8 /* of a thread block */
#define WIDE (WARPS * SIDE)
#define ALL 0xffffffffu
#define FORM 4096 /* NOISE_FORM_SCALE */

#define PRODUCTS(C) ((C) * ((C) + 1) / 2) /* c_i c_j, i <= j */
enum { STILL, MOVED, SMOOTHED, MEASURES };

/* Rows of the matrix, by the lanes that have them: four each. */
enum { NOW = 0, BEFORE = 3, ONES = 6, PLACE = 7, MATRIX = 8 };

/* Pixels of the components, NOW and BEFORE. Four rows and then a gap of 16 bytes, so that lanes
 * with four rows each load from different banks. */
#define ROW_WORDS (WIDE / 4)
#define PLANE_WORDS (SIDE * ROW_WORDS + SIDE)

struct shared_blocks {
    alignas(16) uint32_t plane[ONES][PLANE_WORDS];
    int product[WARPS][2][MATRIX][MATRIX]; /* of pixels, and of sums */
    int64_t still[WARPS], left[WARPS][TIME_LEFT];
};

static __device__ __forceinline__ int word_at(int x, int y)
{
    return y * ROW_WORDS + y / 4 * 4 + x / 4;
}

/* A thread's pixels of each component. */
template <int C> struct half_row {
    uint32_t w[C][WORDS];
};

/* @N words of bytes from any @at on. */
template <int N> static __device__ __forceinline__ void load_words(const uint8_t *at, uint32_t *ret)
{
    const uint32_t *words =
        reinterpret_cast<const uint32_t *>(reinterpret_cast<uintptr_t>(at) & ~uintptr_t(3));
    const uint32_t shift = 8 * (reinterpret_cast<uintptr_t>(at) & 3);
    uint32_t next = __ldg(words);

#pragma unroll
    for (int i = 0; i < N; i++) {
        const uint32_t word = next;

        next = __ldg(words + i + 1);
        ret[i] = __funnelshift_r(word, next, shift);
    }
}

/* Eighths of a luma sample to luma samples that are whole samples of a component. */
static __device__ __forceinline__ int to_whole(int v, int shift)
{
    return (v + (4 << shift)) >> (3 + shift) << shift;
}

/* The pixels from (@x, @y) on in a picture, moved by @v to whole samples of each component. */
template <int C>
static __device__ __forceinline__ half_row<C> load(const time_shape &s, const time_picture &p,
                                                   int x, int y, time_vector v)
{
    half_row<C> r;

    load_words<WORDS>(p.luma + (y + to_whole(v.y, 0)) * s.stride + x + to_whole(v.x, 0), r.w[0]);
#pragma unroll
    for (int c = 1; c < C; c++) {
        const uint8_t *at = p.chroma[c - 1] +
                            ((y + to_whole(v.y, s.vshift)) >> s.vshift) * s.stride_c +
                            ((x + to_whole(v.x, s.hshift)) >> s.hshift);

        if (s.hshift) {
            load_words<1>(at, r.w[c]);
            r.w[c][1] = __byte_perm(r.w[c][0], 0, 0x3322);
            r.w[c][0] = __byte_perm(r.w[c][0], 0, 0x1100);
        } else {
            load_words<WORDS>(at, r.w[c]);
        }
    }
    return r;
}

template <int C>
static __device__ __forceinline__ void store(shared_blocks &b, int first, const half_row<C> &r,
                                             int x, int y)
{
#pragma unroll
    for (int c = 0; c < C; c++)
        *reinterpret_cast<uint2 *>(&b.plane[first + c][word_at(x, y)]) =
            make_uint2(r.w[c][0], r.w[c][1]);
}

/* Adds the product of 8x16 bytes and 16x8 bytes, of which the lane has four in row or column
 * lane / 4. It gets two sums beside each other in that row, from column lane % 4 * 2 on. */
static __device__ __forceinline__ void multiply(int2 &sum, uint32_t a, uint32_t b)
{
#if __CUDA_ARCH__ >= 750
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(sum.x), "+r"(sum.y)
        : "r"(a), "r"(b));
#else
    const int row = threadIdx.x / 4 % 8 * 4, column = threadIdx.x % 4 * 8;

    for (int i = 0; i < 4; i++) {
        const uint32_t v = __shfl_sync(ALL, a, row + i);

        sum.x = int(__dp4a(v, __shfl_sync(ALL, b, column + i), uint32_t(sum.x)));
        sum.y = int(__dp4a(v, __shfl_sync(ALL, b, column + 4 + i), uint32_t(sum.y)));
    }
#endif
}

/* Four rows of a row of the matrix: lane @part of four has those from 4 * @part on. */
struct lane_rows {
    uint32_t w[4][4];
};

template <int C>
static __device__ __forceinline__ lane_rows load_rows(const shared_blocks &b, int line, int part)
{
    const int x = threadIdx.x / 32 * SIDE;
    const bool real = line < ONES && line % BEFORE < C;
    lane_rows r;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t *const at = &b.plane[real ? line : NOW][word_at(x, 4 * part + i)];
        const uint4 v = *reinterpret_cast<const uint4 *>(at);
        const uint32_t own[4] = {v.x, v.y, v.z, v.w};

#pragma unroll
        for (int k = 0; k < 4; k++)
            r.w[i][k] = real            ? own[k]
                        : line == ONES  ? 0x01010101u
                        : line == PLACE ? 0x03020100u + 0x04040404u * k
                                        : 0;
    }
    return r;
}

/* Of the pixels themselves; as the place, columns are multiplied on the left, rows on the right. */
static __device__ __forceinline__ int2 multiply_pixels(const lane_rows &r, int line, int part)
{
    int2 sum = {0, 0};

#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int k = 0; k < 4; k++)
            multiply(sum, r.w[i][k],
                     line == PLACE ? 0x01010101u * uint32_t(4 * part + i) : r.w[i][k]);
    return sum;
}

/* The pixels of a row weighed 1 3 3 1 about the six cells inside, two in a word. */
static __device__ __forceinline__ void add_across(const uint32_t w[4], uint32_t ret[INNER / 2])
{
    const uint32_t weights = 0x01030301u;

#pragma unroll
    for (int k = 0; k < INNER / 2; k++)
        ret[k] = __dp4a(__funnelshift_r(w[k], w[k + 1], 8), weights, 0u) |
                 __dp4a(__funnelshift_r(w[k], w[k + 1], 24), weights, 0u) << 16;
}

/* Of 64 times E of the differences over the inner 6x6 cells, with 2^14 added, which does not change
 * a variance: lanes of NOW have the low bytes, those of BEFORE the high ones. */
static __device__ __forceinline__ int2 multiply_sums(const lane_rows &r, int line, int part)
{
    const int other = line < BEFORE ? 12 : line < ONES ? -12 : 0;
    const uint32_t inside = part == 0 ? 0xffff0000u : part == 3 ? 0x0000ffffu : ALL;
    uint32_t t[4][INNER / 2];
    int2 sum = {0, 0};

#pragma unroll
    for (int i = 0; i < 4; i++)
        add_across(r.w[i], t[i]);
#pragma unroll
    for (int k = 0; k < INNER / 2; k++) {
        const uint32_t above = __shfl_up_sync(ALL, t[3][k], 1);
        const uint32_t below = __shfl_down_sync(ALL, t[0][k], 1);
        uint32_t e[2] = {above + 3 * (t[0][k] + t[1][k]) + t[2][k],
                         t[1][k] + 3 * (t[2][k] + t[3][k]) + below};

#pragma unroll
        for (int i = 0; i < 2; i++) {
            const uint32_t apart = e[i] - __shfl_sync(ALL, e[i], threadIdx.x + other);

            e[i] = (line < BEFORE ? apart : 0 - apart) + 0x40004000u;
        }
        const uint32_t bytes = __byte_perm(e[0], e[1], line < BEFORE ? 0x6420 : 0x7531);
        const uint32_t own = line < ONES ? bytes : line == ONES ? 0x01010101u : 0;

        multiply(sum, own & inside, own & inside);
    }
    return sum;
}

/* spread() of engine/time/noise_blocks.c: the covariance times n^2 in R'G'B'. Of each measure eight
 * lanes have a product each, and the sum at the end. A component is a row of the matrix, and
 * @other times the one BEFORE. Those of means are stored one by one, too. */
template <int C>
static __device__ void spread(const time_job &j, shared_blocks &b, int warp, int lane)
{
    const int(*const product)[MATRIX][MATRIX] = b.product[warp];
    const int measure = lane / 8, k = lane % 8;
    int64_t v = 0;

    if (measure < MEASURES && k < PRODUCTS(C)) {
        const int c = 0x211000 >> 4 * k & 15, d = 0x221210 >> 4 * k & 15;
        const int n = measure == SMOOTHED ? INNER * INNER : SIDE * SIDE;
        const int other = measure == STILL ? 0 : measure == MOVED ? -1 : 256;
        const int(*const m)[MATRIX] = product[measure == SMOOTHED];
        const int64_t p = m[c][d] + other * (m[c][BEFORE + d] + m[BEFORE + c][d]) +
                          int64_t(other * other) * m[BEFORE + c][BEFORE + d];
        const int64_t sum_c = m[ONES][c] + other * m[ONES][BEFORE + c];
        const int64_t sum_d = m[ONES][d] + other * m[ONES][BEFORE + d];

        v = n * p - sum_c * sum_d;
        if (measure == STILL) /* twice the distances from the middle */
            v = 85 * v -
                (2 * m[PLACE][c] - (SIDE - 1) * sum_c) * (2 * m[PLACE][d] - (SIDE - 1) * sum_d) -
                (2 * m[c][PLACE] - (SIDE - 1) * sum_c) * (2 * m[d][PLACE] - (SIDE - 1) * sum_d);
        if (measure == SMOOTHED)
            b.left[warp][2 + k] = v * j.form[0][0];
        v *= j.form[c][d] * (c == d ? 1 : 2);
    } else if (measure == SMOOTHED && k < NOISE_PAIRS) {
        b.left[warp][2 + k] = 0;
    }
    for (int i = 4; i; i /= 2)
        v += __shfl_xor_sync(ALL, v, i);
    if (k == 0 && measure < MEASURES)
        *(measure == STILL ? &b.still[warp] : &b.left[warp][measure - MOVED]) = v;
}

/* noise_first() of engine/time/noise_blocks.h */
static __device__ __forceinline__ int first_of(int row, int step)
{
    return 5 * row % step;
}

/* noise_bin() of filter/noise.h */
static __device__ __forceinline__ int bin_of(double variance)
{
    const int bin = int(__double_as_longlong(variance) >> 48) - ((1023 - 6) << 4);

    return variance <= 0.0 ? 0 : clamp(bin, TIME_BINS - 1);
}

#include "cuda/kernel/time_follow.cuh"
#include "cuda/kernel/time_tint.cuh"

/* Keeps the thread's pixels of both pictures, @now from (@x, @y) on, in column @to. */
template <int C>
static __device__ __forceinline__ void fetch(const time_job &j, shared_blocks &b,
                                             const half_row<C> &now, int x, int y, int to)
{
    const time_vector v = j.goes_on ? vector_at(j, x, y) : time_vector{0, 0};
    const half_row<C> before = j.goes_on ? load<C>(j.shape, j.before, x, y, v) : now;

    store<C>(b, NOW, now, to, y % SIDE);
    store<C>(b, BEFORE, before, to, y % SIDE);
}

/* A warp's block. */
template <int C> static __device__ __forceinline__ void gather(const time_job &j, shared_blocks &b)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, line = lane / 4, part = lane % 4;
    int(*const product)[MATRIX][MATRIX] = b.product[warp];
    const lane_rows rows = load_rows<C>(b, line, part);

    *reinterpret_cast<int2 *>(&product[0][line][2 * part]) = multiply_pixels(rows, line, part);
    *reinterpret_cast<int2 *>(&product[1][line][2 * part]) = multiply_sums(rows, line, part);
    __syncwarp();
    spread<C>(j, b, warp, lane);
}

/* noise_count() of block @k, whose sums have the place @at; returns whether what is left in means
 * is to be counted, too. */
template <int C>
static __device__ __forceinline__ bool count(const time_job &j, const shared_blocks &b, int k,
                                             time_sums &at)
{
    const int *const sums = b.product[k][0][ONES];
    const int c = noise_class(sums[NOW] / (SIDE * SIDE));
    const int64_t still = b.still[k], moved = b.left[k][0];
    const double own = double(still) / (85.0 * 65536.0 * FORM);
    const double between = double(moved) / (2.0 * 65536.0 * FORM);
    const int bin = bin_of(between), known = bin_of(j.noise->variance[c]);
    const time_sums before = at;

    atomicAdd(&j.noise->blocks[c][bin_of(j.goes_on ? fmin(own, between) : own)], 1u);
#pragma unroll
    for (int i = 0; i < C; i++)
        at.of[i] = sums[NOW + i];
    if (!j.goes_on)
        return false;
    if (still <= 85 * moved)
        atomicAdd(&j.noise->flat[c], 1u);
    if (C > 1)
        vote<C>(j, SIDE * SIDE, sums + NOW, sums + BEFORE, before.of, bin, known);
    /* noise_is_quiet() */
    return c < NOISE_CLASSES && bin >= NOISE_SEEN && bin < TIME_BINS - 1 && bin <= known;
}

/* Adds what is left of the @quiet blocks: a bit for each, and a thread for each sum. */
static __device__ __forceinline__ void count_left(const time_job &j, const shared_blocks &b,
                                                  uint32_t quiet)
{
    const int i = threadIdx.x;
    int64_t sum = 0;

    for (int k = 0; k < WARPS; k++)
        sum += quiet >> k & 1 ? b.left[k][i] : 0;
    if (quiet)
        atomicAdd(&j.noise->left[i], (unsigned long long)sum);
}

template <int C> static __global__ void __launch_bounds__(32 * WARPS, 4) measure(const time_job j)
{
    __shared__ shared_blocks b;
    const int i = threadIdx.x, to = i % SIDE * PIXELS, step = j.noise_step;
    const int columns = j.shape.height < SIDE ? 0 : j.shape.width / SIDE;
    const int first = first_of(blockIdx.y, step) + int(blockIdx.x) * WARPS * step;
    const int fetched = first + to / SIDE * step;
    const int x = SIDE * fetched + to % SIDE, y = blockIdx.y * SIDE + i / SIDE;
    half_row<C> now = {};

    if (!j.averages || !j.goes_on) /* else the frame is unpacked when this starts */
        wait_for_before();
    if (fetched < columns)
        now = load<C>(j.shape, j.now, x, y, time_vector{0, 0});
    wait_for_before();
    let_next_start();
    if (fetched < columns)
        fetch<C>(j, b, now, x, y, to);
    __syncthreads();
    if (first + i / 32 * step < columns)
        gather<C>(j, b);
    __syncthreads();
    static_assert(TIME_LEFT == WARPS, "a thread for each block, and then for each sum");
    if (i < WARPS) {
        const int column = first + i * step;
        const bool counts = column < columns && is_new(j);
        const bool quiet =
            counts && count<C>(j, b, i, j.sums[blockIdx.y * (j.shape.width / SIDE) + column]);

        count_left(j, b, __ballot_sync((1u << WARPS) - 1, quiet));
    }
}

/* Has the next kernel begin at once: all before measure() is done then. Of its two thread blocks
 * one follows the noise, the other finds how the light changes its colour. */
static __global__ void __launch_bounds__(32 * FOLLOW_WARPS) follow(const time_job j)
{
    let_next_start();
    if (blockIdx.x == 0)
        time_follow_noise(j);
    else
        time_find_tint(j);
}

extern "C" int time_measure(const time_job *j, cudaStream_t stream)
{
    const int all = max(j->shape.width / SIDE, 1), rows = max(j->shape.height / SIDE, 1);
    const int columns = (all + j->noise_step - 1) / j->noise_step;
    const dim3 grid((columns + WARPS - 1) / WARPS, rows);
    const auto kernel = j->shape.components == 1 ? measure<1> : measure<3>;
    cudaError_t status = start_early(kernel, grid, 32 * WARPS, 0, stream, *j);

    if (status == cudaSuccess)
        status = start_early(follow, 2, 32 * FOLLOW_WARPS, 0, stream, *j);
    return bilateral_errno(status);
}
