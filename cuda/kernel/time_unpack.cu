/* The first steps of a frame: taken apart, and its pyramid. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_device.cuh"

#define THREADS_X 32
#define THREADS_Y 8

/* @N samples from (@x, @y) on, the nearest ones outside of the picture. Within it @x is a multiple
 * of @N and rows begin on multiples of 16. */
template <int N>
static __device__ void load(const bilateral_samples &s, int x, int y, int width, int height,
                            uint32_t ret[N / 4])
{
    const uint8_t *row = s.base + size_t(clamp(y, height - 1)) * s.stride;
    const uint32_t *words = reinterpret_cast<const uint32_t *>(
        (reinterpret_cast<uintptr_t>(row) & ~uintptr_t(3)) + x * int(s.step));
    const uint32_t byte = reinterpret_cast<uintptr_t>(row) & 3;

    if (x < 0 || x + N > width) {
        for (int i = 0; i < N; i++)
            ret[i / 4] = (i % 4 ? ret[i / 4] : 0) |
                         uint32_t(__ldg(row + clamp(x + i, width - 1) * int(s.step)))
                             << 8 * (i % 4);
        return;
    }
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        if (s.step == 1) {
            ret[i] = __ldg(words + i);
        } else if (s.step == 2) {
            ret[i] =
                __byte_perm(__ldg(words + 2 * i), __ldg(words + 2 * i + 1), byte ? 0x7531 : 0x6420);
        } else {
            const uint32_t select = byte | (4 + byte) << 4;

            const uint32_t *at = words + 4 * i;

            ret[i] = __byte_perm(__byte_perm(__ldg(at), __ldg(at + 1), select),
                                 __byte_perm(__ldg(at + 2), __ldg(at + 3), select), 0x5410);
        }
    }
}

/* Writes @N samples, as levels too if @level; whether they are others than @before. */
template <int N>
static __device__ bool store(uint8_t *now, const uint8_t *before, uint16_t *level,
                             const uint32_t word[N / 4])
{
    bool differs = false;

#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        reinterpret_cast<uint32_t *>(now)[i] = word[i];
        differs |= before && __ldg(reinterpret_cast<const uint32_t *>(before) + i) != word[i];
        if (level)
            reinterpret_cast<uint2 *>(level)[i] =
                make_uint2(__byte_perm(word[i], 0, 0x1404), __byte_perm(word[i], 0, 0x3424));
    }
    return differs;
}

/* Chroma of a thread's luma samples from (@x, @y) on; N of each component. */
template <int N> static __device__ bool unpack_chroma(const time_job &j, int x, int y)
{
    const time_shape &s = j.shape;
    const int column = x >> s.hshift, row = y >> s.vshift, at = row * s.stride_c + column;
    const int width = s.width >> s.hshift, height = ((s.height - 1) >> s.vshift) + 1;
    const bool inside = x >= 0 && x < s.width && y >= 0 && y < s.height;
    bool differs = false;

    if (y & ((1 << s.vshift) - 1))
        return false;
    for (int c = 0; c < 2; c++) {
        uint32_t word[N / 4];

        load<N>(j.in[1 + c], column, row, width, height, word);
        differs |= store<N>(j.now.chroma[c] + at, j.goes_on ? j.before.chroma[c] + at : nullptr,
                            inside && !j.averages ? j.state.level[1 + c] + at : nullptr, word);
    }
    return differs;
}

#define COLUMNS 8 /* of a thread */

static __global__ void unpack(const time_job j)
{
    const time_shape &s = j.shape;
    const int x = COLUMNS * (blockIdx.x * THREADS_X + threadIdx.x) - TIME_PAD;
    const int y = blockIdx.y * THREADS_Y + threadIdx.y - TIME_PAD;
    const int at = y * s.stride + x;
    const bool inside = x >= 0 && x < s.width && y >= 0 && y < s.height;
    uint32_t word[COLUMNS / 4];
    bool differs;

    if (x >= s.stride - TIME_PAD || y >= s.height + TIME_PAD)
        return;
    load<COLUMNS>(j.in[0], x, y, s.width, s.height, word);
    differs = store<COLUMNS>(j.now.luma + at, j.goes_on ? j.before.luma + at : nullptr,
                             inside && !j.averages ? j.state.level[0] + at : nullptr, word);
    if (s.components == 3)
        differs |= s.hshift ? unpack_chroma<COLUMNS / 2>(j, x, y) : unpack_chroma<COLUMNS>(j, x, y);
    if (differs)
        j.noise->changed = j.number;
}

/* A sample of level K, from luma. */
template <int K> static __device__ int level_sample(const time_job &j, int x, int y)
{
    const int right = min(2 * x + 1, j.shape.level_width[K - 1] - 1);
    const int below = min(2 * y + 1, j.shape.level_height[K - 1] - 1);

    return (level_sample<K - 1>(j, 2 * x, 2 * y) + level_sample<K - 1>(j, right, 2 * y) +
            level_sample<K - 1>(j, 2 * x, below) + level_sample<K - 1>(j, right, below) + 2) >>
           2;
}

template <> __device__ int level_sample<0>(const time_job &j, int x, int y)
{
    return 4 * __ldg(j.now.luma + y * j.shape.stride + x);
}

/* The sum of the four samples of a word. */
static __device__ __forceinline__ uint32_t sum_word(const uint8_t *luma, uint32_t sum)
{
    return __dp4a(__ldg(reinterpret_cast<const uint32_t *>(luma)), 0x01010101u, sum);
}

/* Within the picture level 1 is a sum of four. */
template <> __device__ int level_sample<2>(const time_job &j, int x, int y)
{
    const uint8_t *luma = j.now.luma + 4 * y * j.shape.stride + 4 * x;
    uint32_t sum = 2;

    if (2 * x + 1 >= j.shape.level_width[1] || 2 * y + 1 >= j.shape.level_height[1]) {
        const int right = min(2 * x + 1, j.shape.level_width[1] - 1);
        const int below = min(2 * y + 1, j.shape.level_height[1] - 1);

        return (level_sample<1>(j, 2 * x, 2 * y) + level_sample<1>(j, right, 2 * y) +
                level_sample<1>(j, 2 * x, below) + level_sample<1>(j, right, below) + 2) >>
               2;
    }
    for (int i = 0; i < 4; i++)
        sum = sum_word(luma + i * j.shape.stride, sum);
    return int(sum >> 2);
}

/* Two samples of level 1 from an even @x on. */
static __device__ uint32_t level_1_pair(const time_job &j, int x, int y)
{
    const uint32_t *luma =
        reinterpret_cast<const uint32_t *>(j.now.luma + 2 * y * j.shape.stride + 2 * x);
    const uint32_t above = __ldg(luma), below = __ldg(luma + j.shape.stride / 4);

    return __dp4a(above, 0x0101u, __dp4a(below, 0x0101u, 0u)) |
           __dp4a(above, 0x01010000u, __dp4a(below, 0x01010000u, 0u)) << 16;
}

static __device__ int any_level_sample(const time_job &j, int level, int x, int y)
{
    x = clamp(x, j.shape.level_width[level] - 1);
    y = clamp(y, j.shape.level_height[level] - 1);
    switch (level) {
    case 1:
        return level_sample<1>(j, x, y);
    case 2:
        return level_sample<2>(j, x, y);
    case 3:
        return level_sample<3>(j, x, y);
    default:
        return level_sample<4>(j, x, y);
    }
}

/* Two samples of a level. */
static __device__ void build(const time_job &j, int level, int word, int row)
{
    const time_shape &s = j.shape;
    const int x = 2 * word - TIME_LEVEL_PAD, y = row - TIME_LEVEL_PAD;

    uint32_t *to = reinterpret_cast<uint32_t *>(j.now.level[level] + y * s.level_stride[level] + x);

    if (2 * word >= s.level_stride[level] || y >= s.level_height[level] + TIME_LEVEL_PAD)
        return;
    if (level == 1 && x >= 0 && x + 1 < s.level_width[1])
        *to = level_1_pair(j, x, clamp(y, s.level_height[1] - 1));
    else
        *to = uint32_t(any_level_sample(j, level, x, y)) |
              uint32_t(any_level_sample(j, level, x + 1, y)) << 16;
}

/* The even samples of a row of four, weighed 1 2 1 with those above and below; and the odd ones
 * from the one to the left on. */
struct weighed_row {
    uint32_t even, odd, left;
};

static __device__ __forceinline__ weighed_row weigh_rows(const uint8_t *p, int stride)
{
    uint32_t even[2] = {0, 0}, odd[2] = {0, 0};

#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int k = -1; k <= 1; k++) {
            const uint32_t word = *reinterpret_cast<const uint32_t *>(p + k * stride + 4 * i - 4);

            even[i] += (word & 0xff00ff) << (k == 0);
            odd[i] += (word >> 8 & 0xff00ff) << (k == 0);
        }
    return {even[1], odd[1], __funnelshift_r(odd[0], odd[1], 16)};
}

/* The mean luma around four samples. */
static __device__ void smooth(const time_job &j, int word, int row)
{
    const time_shape &s = j.shape;
    const int at = row * s.stride + 4 * word;
    const uint8_t *p = j.now.luma + at;
    uint32_t even, odd, next = 0;

    if (4 * word >= s.width || row >= s.height)
        return;
    const weighed_row w = weigh_rows(p, s.stride);

    for (int k = -1; k <= 1; k++)
        next += p[k * s.stride + 4] << (k == 0);
    even = (w.left + 2 * w.even + w.odd + 0x80008) >> 4 & 0xff00ff;
    odd = (w.even + 2 * w.odd + (w.even >> 16 | next << 16) + 0x80008) >> 4 & 0xff00ff;
    *reinterpret_cast<uint32_t *>(j.now.around + at) = even | odd << 8;
}

/* How a launch that makes levels is divided: each of them has thread blocks of its own. */
struct division {
    int columns[TIME_MAX_LEVEL + 1], end[TIME_MAX_LEVEL + 1];
};

static __global__ void build_levels(const time_job j, const division d)
{
    int level = 0, block = blockIdx.x, word, row;

    while (block >= d.end[level])
        level++;
    if (level)
        block -= d.end[level - 1];
    word = block % d.columns[level] * THREADS_X + threadIdx.x;
    row = block / d.columns[level] * THREADS_Y + threadIdx.y;
    if (level == 0)
        smooth(j, word, row);
    else
        build(j, level, word, row);
}

static int blocks(int n, int per_block)
{
    return (n + per_block - 1) / per_block;
}

extern "C" int time_unpack(const time_job *j, cudaStream_t stream)
{
    const dim3 grid(blocks(j->shape.stride / COLUMNS, THREADS_X),
                    blocks(j->shape.height + 2 * TIME_PAD, THREADS_Y));

    unpack<<<grid, dim3(THREADS_X, THREADS_Y), 0, stream>>>(*j);
    return bilateral_errno(cudaGetLastError());
}

int time_build_levels(const time_job &j, cudaStream_t stream)
{
    const time_shape &s = j.shape;
    division d = {};
    int n = 0, top = j.averages ? s.top : 0;

    for (int level = 0; level <= top; level++) {
        const int width = level ? s.level_stride[level] : s.width;
        const int height = s.level_height[level] + (level ? 2 * TIME_LEVEL_PAD : 0);

        d.columns[level] = blocks(width, (level ? 2 : 4) * THREADS_X);
        n += d.columns[level] * blocks(height, THREADS_Y);
        d.end[level] = n;
    }
    build_levels<<<n, dim3(THREADS_X, THREADS_Y), 0, stream>>>(j, d);
    return bilateral_errno(cudaGetLastError());
}
