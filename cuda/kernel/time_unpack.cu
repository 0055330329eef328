/* The first step of a frame: taken apart, with its pyramid.
 *
 * DESIGN. A thread block has 256x16 luma samples, which begin on multiples of those that a sample
 * of the highest level is made of; so it needs nothing of others. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_device.cuh"

#define THREADS_X 32
#define THREADS_Y 8

/* @N words, together. */
template <int N>
static __device__ __forceinline__ void load_words(const uint32_t *from, uint32_t *to)
{
    if (N == 1) {
        to[0] = __ldg(from);
    } else if (N == 2) {
        const uint2 v = __ldg(reinterpret_cast<const uint2 *>(from));

        to[0] = v.x, to[1 % N] = v.y;
    } else {
#pragma unroll
        for (int i = 0; i < N; i += 4) {
            const uint4 v = __ldg(reinterpret_cast<const uint4 *>(from + i));

            to[i] = v.x, to[(i + 1) % N] = v.y, to[(i + 2) % N] = v.z, to[(i + 3) % N] = v.w;
        }
    }
}

/* @N samples from (@x, @y) in the picture on, and what lies behind them if it ends before. @x is a
 * multiple of @N; rows begin on multiples of 16. */
template <int N>
static __device__ __forceinline__ void load(const bilateral_samples &s, int x, int y,
                                            uint32_t ret[N / 4])
{
    const uint8_t *row = s.base + size_t(y) * s.stride;
    const uint32_t *words = reinterpret_cast<const uint32_t *>(
        (reinterpret_cast<uintptr_t>(row) & ~uintptr_t(3)) + x * int(s.step));
    const uint32_t byte = reinterpret_cast<uintptr_t>(row) & 3;
    uint32_t w[N];

    if (s.step == 1) {
        load_words<N / 4>(words, ret);
    } else if (s.step == 2) {
        load_words<N / 2>(words, w);
#pragma unroll
        for (int i = 0; i < N / 4; i++)
            ret[i] = __byte_perm(w[2 * i], w[2 * i + 1], byte ? 0x7531 : 0x6420);
    } else {
        const uint32_t select = byte | (4 + byte) << 4;

        load_words<N>(words, w);
#pragma unroll
        for (int i = 0; i < N / 4; i++)
            ret[i] = __byte_perm(__byte_perm(w[4 * i], w[4 * i + 1], select),
                                 __byte_perm(w[4 * i + 2], w[4 * i + 3], select), 0x5410);
    }
}

/* The last multiple of @N in a row, or the nearest one to @x. */
template <int N> static __device__ __forceinline__ int begin_of(int x, int width)
{
    return clamp(x, (width - 1) & -N);
}

/* Samples from @x on, the nearest ones outside of the picture, from those that load() found at
 * begin_of() it. */
template <int N>
static __device__ __forceinline__ void repeat(int x, int width, uint32_t word[N / 4])
{
    const int from = begin_of<N>(x, width);
    const uint32_t first = word[0], last = word[N / 4 - 1];

    if (x >= 0 && x + N <= width)
        return;
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        uint32_t select = 0;

        for (int k = 0; k < 4; k++)
            select |= uint32_t(clamp(x + 4 * i + k, width - 1) - from) << 4 * k;
        word[i] = __byte_perm(first, last, select);
    }
}

template <int N>
static __device__ __forceinline__ void store(uint8_t *now, const uint32_t word[N / 4])
{
    if (N == 8)
        *reinterpret_cast<uint2 *>(now) = make_uint2(word[0], word[N / 4 - 1]);
    else
        *reinterpret_cast<uint32_t *>(now) = word[0];
}

/* As stored levels. */
template <int N>
static __device__ __forceinline__ void store(uint16_t *level, const uint32_t word[N / 4])
{
#pragma unroll
    for (int i = 0; i < N / 4; i++)
        reinterpret_cast<uint2 *>(level)[i] =
            make_uint2(__byte_perm(word[i], 0, 0x4140) * TIME_LEVEL_STEPS,
                       __byte_perm(word[i], 0, 0x4342) * TIME_LEVEL_STEPS);
}

#define COLUMNS 8 /* of a thread, which has two rows of them: four cells */
#define CELLS (COLUMNS / 2)

/* The thread's samples. */
template <int C, int HS, int VS> struct piece {
    static constexpr int n_c = COLUMNS >> HS, rows_c = C == 1 ? 0 : 2 - VS;
    uint32_t luma[2][COLUMNS / 4], chroma[2][2][n_c / 4];
};

#define WIDE (THREADS_X * COLUMNS) /* luma samples of a thread block */
#define HIGH (2 * THREADS_Y)

static_assert(WIDE >> TIME_TOP << TIME_TOP == WIDE && HIGH >> TIME_TOP << TIME_TOP == HIGH &&
                  TIME_PAD >> TIME_TOP << TIME_TOP == TIME_PAD,
              "whole samples of all levels");

/* A thread block's part of each level. */
struct pyramid {
    uint16_t of[TIME_TOP + 1][HIGH / 2][WIDE / 2];
};

/* Level 1 from two rows of luma that begin at begin_of() @x; the nearest cells outside. */
static __device__ __forceinline__ void sum_cells(const time_job &j, pyramid &p, int x, int y,
                                                 const uint32_t row[2][COLUMNS / 4])
{
    const time_shape &s = j.shape;
    uint2 *const to =
        reinterpret_cast<uint2 *>(j.now.level[1] + (y >> 1) * s.level_stride[1] + (x >> 1));
    const int from = begin_of<COLUMNS>(x, s.width) / 2;
    uint32_t sum[CELLS], all[CELLS];

#pragma unroll
    for (int i = 0; i < CELLS; i++) {
        const uint32_t pair = i % 2 ? 0x01010000u : 0x0101u;

        all[i] = sum[i] = __dp4a(row[0][i / 2], pair, __dp4a(row[1][i / 2], pair, 0u));
    }
    if (x < 0 || x + COLUMNS > s.width)
#pragma unroll
        for (int i = 0; i < CELLS; i++) {
            const int at = clamp((x >> 1) + i, s.cells_x - 1) - from;

            all[i] = at == 0 ? sum[0] : at == 1 ? sum[1] : at == 2 ? sum[2] : sum[3];
        }
    *to = make_uint2(all[0] | all[1] << 16, all[2] | all[3] << 16);
    *reinterpret_cast<uint2 *>(&p.of[1][threadIdx.y][CELLS * threadIdx.x]) = *to;
}

template <int C, int HS, int VS>
static __device__ __forceinline__ void load_piece(const time_job &j, int x, int y,
                                                  piece<C, HS, VS> &p)
{
    using part = piece<C, HS, VS>;
    const time_shape &s = j.shape;
    const int from = begin_of<COLUMNS>(x, s.width), cy = clamp(y >> 1, s.cells_y - 1);
    const int from_c = begin_of<part::n_c>(x >> HS, s.width >> HS);

    /* Outside of the picture, of the nearest cells. */
#pragma unroll
    for (int i = 0; i < 2; i++)
        load<COLUMNS>(j.in[0], from, min(2 * cy + i, s.height - 1), p.luma[i]);
#pragma unroll
    for (int i = 0; i < part::rows_c; i++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            load<part::n_c>(j.in[1 + c], from_c, clamp((y >> VS) + i, (s.height - 1) >> VS),
                            p.chroma[i][c]);
}

/* From samples of cells to those of the thread's place. */
template <int C, int HS, int VS>
static __device__ __forceinline__ void repeat_piece(const time_shape &s, int x, int y,
                                                    piece<C, HS, VS> &p)
{
    using part = piece<C, HS, VS>;

#pragma unroll
    for (int k = 0; k < COLUMNS / 4; k++) {
        p.luma[1][k] = y < 0 ? p.luma[0][k] : p.luma[1][k];
        p.luma[0][k] = y >= s.height ? p.luma[1][k] : p.luma[0][k];
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
        repeat<COLUMNS>(x, s.width, p.luma[i]);
#pragma unroll
    for (int i = 0; i < part::rows_c; i++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            repeat<part::n_c>(x >> HS, s.width >> HS, p.chroma[i][c]);
}

/* What `before` has there. It is asked for with the frame's own samples, not behind them. */
template <int C, int HS, int VS>
static __device__ __forceinline__ void load_before(const time_job &j, int x, int y,
                                                   piece<C, HS, VS> &p)
{
    using part = piece<C, HS, VS>;
    const time_shape &s = j.shape;
    const int at = y * s.stride + x, at_c = (y >> VS) * s.stride_c + (x >> HS);

#pragma unroll
    for (int i = 0; i < 2; i++)
        load_words<COLUMNS / 4>(
            reinterpret_cast<const uint32_t *>(j.before.luma + at + i * s.stride), p.luma[i]);
#pragma unroll
    for (int i = 0; i < part::rows_c; i++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            load_words<part::n_c / 4>(
                reinterpret_cast<const uint32_t *>(j.before.chroma[c] + at_c + i * s.stride_c),
                p.chroma[i][c]);
}

template <int C, int HS, int VS>
static __device__ __forceinline__ bool differ(const piece<C, HS, VS> &a, const piece<C, HS, VS> &b)
{
    using part = piece<C, HS, VS>;
    bool differs = false;

#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int k = 0; k < COLUMNS / 4; k++)
            differs |= a.luma[i][k] != b.luma[i][k];
#pragma unroll
    for (int i = 0; i < part::rows_c; i++)
#pragma unroll
        for (int k = 0; k < part::n_c / 4; k++)
            differs |=
                a.chroma[i][0][k] != b.chroma[i][0][k] || a.chroma[i][1][k] != b.chroma[i][1][k];
    return differs;
}

/* Into `now`. */
template <int C, int HS, int VS>
static __device__ __forceinline__ void store_now(const time_job &j, int x, int y,
                                                 const piece<C, HS, VS> &p)
{
    using part = piece<C, HS, VS>;
    const time_shape &s = j.shape;
    const int at = y * s.stride + x, at_c = (y >> VS) * s.stride_c + (x >> HS);

#pragma unroll
    for (int i = 0; i < 2; i++)
        store<COLUMNS>(j.now.luma + at + i * s.stride, p.luma[i]);
#pragma unroll
    for (int i = 0; i < part::rows_c; i++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            store<part::n_c>(j.now.chroma[c] + at_c + i * s.stride_c, p.chroma[i][c]);
}

/* Into `state`, inside of the picture. */
template <int C, int HS, int VS>
static __device__ __forceinline__ void store_state(const time_job &j, int x, int y,
                                                   const piece<C, HS, VS> &p)
{
    using part = piece<C, HS, VS>;
    const time_shape &s = j.shape;
    const int at = y * s.stride + x, at_c = (y >> VS) * s.stride_c + (x >> HS);

#pragma unroll
    for (int i = 0; i < 2; i++)
        if (y + i < s.height)
            store<COLUMNS>(j.state.level[0] + at + i * s.stride, p.luma[i]);
#pragma unroll
    for (int i = 0; i < part::rows_c; i++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            if (y + i < s.height)
                store<part::n_c>(j.state.level[1 + c] + at_c + i * s.stride_c, p.chroma[i][c]);
}

/* A row of the thread's samples of 16 bits, which lie one byte before their upper ones. */
struct word_row {
    const uint8_t *from;
    uint16_t *to;
    int n; /* samples in the picture, from the thread's first one on; less than 1: none */

    __device__ __forceinline__ word_row(const bilateral_samples &in, uint16_t *plane, int stride,
                                        int width, int height, int x, int y)
        : from(in.base - 1 + size_t(min(y, height - 1)) * in.stride + 2 * x),
          to(plane + y * stride + x), n(y < height ? width - x : 0)
    {
    }
    /* Whether pair @i of samples differs. */
    __device__ __forceinline__ bool differs(int i, uint32_t a, uint32_t b) const
    {
        return (a ^ b) & (2 * i + 1 < n ? ~0u : 2 * i < n ? 0xffffu : 0);
    }
};

/* The samples themselves to @to, inside of the picture. Returns whether others were there, if it
 * @compares. */
template <int C, int HS, int VS>
static __device__ __forceinline__ bool take_words(const time_job &j, uint16_t *const to[3], int x,
                                                  int y, bool compares)
{
    using part = piece<C, HS, VS>;
    constexpr int rows = 2 + 2 * part::rows_c;
    const time_shape &s = j.shape;
    uint32_t now[rows][COLUMNS / 2], before[rows][COLUMNS / 2];
    bool differs = false;
    const auto row_at = [&](int k) {
        const int c = k < 2 ? 0 : 1 + k % 2;

        return c ? word_row(j.in[c], to[c], s.stride_c, s.width >> HS, (s.height + VS) >> VS,
                            x >> HS, (y >> VS) + (k - 2) / 2)
                 : word_row(j.in[0], to[0], s.stride, s.width, s.height, x, y + k);
    };

#pragma unroll
    for (int k = 0; k < rows; k++) {
        const word_row row = row_at(k);

        if (k < 2)
            load_words<COLUMNS / 2>(reinterpret_cast<const uint32_t *>(row.from), now[k]);
        else
            load_words<part::n_c / 2>(reinterpret_cast<const uint32_t *>(row.from), now[k]);
#pragma unroll
        for (int i = 0; i < (k < 2 ? COLUMNS : part::n_c) / 2; i++)
            before[k][i] =
                compares && row.n > 0 ? reinterpret_cast<const uint32_t *>(row.to)[i] : 0;
    }
#pragma unroll
    for (int k = 0; k < rows; k++) {
        const word_row row = row_at(k);

#pragma unroll
        for (int i = 0; i < (k < 2 ? COLUMNS : part::n_c) / 2; i++) {
            differs |= compares && row.differs(i, now[k][i], before[k][i]);
            if (row.n > 0)
                reinterpret_cast<uint32_t *>(row.to)[i] = now[k][i];
        }
    }
    return differs;
}

template <int C, int HS, int VS, bool WORDS>
static __device__ __forceinline__ bool unpack_cells(const time_job &j, pyramid &levels, int x,
                                                    int y)
{
    const bool inside = x >= 0 && x < j.shape.width && y >= 0 && y < j.shape.height;
    piece<C, HS, VS> p, before;
    bool differs = false;

    if (!j.measures && !inside)
        return false;
    if (WORDS && inside && j.measures)
        differs = take_words<C, HS, VS>(j, j.words, x, y, j.goes_on);
    if (WORDS && inside && !j.averages)
        take_words<C, HS, VS>(j, j.state.level, x, y, false);
    if (WORDS && !j.measures)
        return false;
    load_piece(j, x, y, p);
    if (j.measures && j.goes_on)
        load_before(j, x, y, before);
    if (j.measures)
        sum_cells(j, levels, x, y, p.luma);
    repeat_piece(j.shape, x, y, p);
    if (!WORDS && inside && !j.averages)
        store_state(j, x, y, p);
    if (!j.measures)
        return false;
    store_now(j, x, y, p);
    return differs || (j.goes_on && differ(p, before));
}

/* Samples that windows reach around level @k: a window's own, and as far as vectors lead, half as
 * far as at the level below; even. */
static_assert(TIME_LEVEL_PAD - 8 >= (3 << (TIME_TOP - 1)) - 2, "vectors of level 1");
static __device__ __forceinline__ int reach_of(int k)
{
    return (8 + ((TIME_LEVEL_PAD - 8) >> (k - 1)) + 1) & ~1;
}

/* Samples @first to @last - 1 of a row or column of some level, of which a thread block has those
 * from @begin on; and from where to where it stores them, with the padding if it is beside that. */
struct range {
    int begin, first, last, from, to;

    __device__ __forceinline__ range(int block, int size, int k, int samples)
    {
        begin = (block * size - TIME_PAD) >> k;
        first = max(begin, 0);
        last = min(begin + (size >> k), samples);
        from = first > 0 ? first : -reach_of(k);
        to = last < samples ? last : samples + reach_of(k);
    }

    /* Where in its part the block has sample @i, or the nearest one. */
    __device__ __forceinline__ int nearest(int i) const
    {
        return min(max(i, first), last - 1) - begin;
    }
};

/* Level @k from the one below it. */
static __device__ __forceinline__ void build_level(const time_job &j, pyramid &p, int k)
{
    const time_shape &s = j.shape;
    const int width = s.level_width[k], height = s.level_height[k];
    const range across(blockIdx.x, WIDE, k, width);
    const range down(blockIdx.y, HIGH, k, height);
    const int thread = threadIdx.y * THREADS_X + threadIdx.x;
    const int column = thread % (WIDE >> k), row = thread / (WIDE >> k);
    const int x = across.begin + column, y = down.begin + row;

    if (x >= 0 && x < width && y >= 0 && y < height && row < HIGH >> k) {
        const int right = 2 * column + (2 * x + 1 < s.level_width[k - 1]);
        const int below = 2 * row + (2 * y + 1 < s.level_height[k - 1]);
        const uint16_t *const upper = p.of[k - 1][2 * row], *const lower = p.of[k - 1][below];

        p.of[k][row][column] = uint16_t(
            (upper[2 * column] + upper[right] + lower[2 * column] + lower[right] + 2) >> 2);
    }
    __syncthreads();
    if (across.first >= across.last || down.first >= down.last)
        return;
    for (int to_y = down.from + int(threadIdx.y); to_y < down.to; to_y += THREADS_Y)
        for (int to_x = across.from + 2 * int(threadIdx.x); to_x < across.to;
             to_x += 2 * THREADS_X) {
            const uint16_t *const at = p.of[k][down.nearest(to_y)];

            *reinterpret_cast<uint32_t *>(j.now.level[k] + to_y * s.level_stride[k] + to_x) =
                at[across.nearest(to_x)] | uint32_t(at[across.nearest(to_x + 1)]) << 16;
        }
}

template <int C, int HS, int VS, bool WORDS>
static __global__ void __launch_bounds__(THREADS_X *THREADS_Y) unpack(const time_job j)
{
    __shared__ pyramid levels;
    const int x = blockIdx.x * WIDE + COLUMNS * threadIdx.x - TIME_PAD;
    const int y = blockIdx.y * HIGH + 2 * threadIdx.y - TIME_PAD;
    const bool real = x < j.shape.stride - TIME_PAD && y < j.shape.height + TIME_PAD;

    if (!j.averages || !j.goes_on)
        wait_for_before();
    let_next_start();
    const bool differs = __syncthreads_or(real && unpack_cells<C, HS, VS, WORDS>(j, levels, x, y));

    /* Thousands of writes to one place would take longer than all the rest. */
    if (differs && threadIdx.x + threadIdx.y == 0 &&
        *const_cast<const volatile uint32_t *>(&j.noise->changed) != j.number)
        j.noise->changed = j.number;
#pragma unroll
    for (int k = 2; k <= TIME_TOP; k++)
        if (j.averages)
            build_level(j, levels, k);
    end_after_before();
}

static int blocks(int n, int per_block)
{
    return (n + per_block - 1) / per_block;
}

extern "C" int time_unpack(const time_job *j, cudaStream_t stream)
{
    const time_shape &s = j->shape;
    const dim3 grid(blocks(s.stride / COLUMNS, THREADS_X),
                    blocks((s.height + 1) / 2 + TIME_PAD, THREADS_Y));

    return bilateral_errno(
        start_early(FOR_JOB(unpack, *j), grid, dim3(THREADS_X, THREADS_Y), 0, stream, *j));
}
