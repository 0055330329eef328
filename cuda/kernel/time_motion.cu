/* The search for motion: engine/time/motion.h, to the bit.
 *
 * DESIGN. Samples of levels from 1 on have 10 bits and are compared in pairs; those of level 0 are
 * bytes, a quarter of what the contract calls a sample there, and are compared four at once. Most
 * candidates are 3x3 around an even vector: a thread that has them all loads each row of the frame
 * before once. A candidate that was there before can never win and is not compared again, so
 * what stands still costs a sixth of what moves. Cost and order of a candidate are one number, of
 * which the least is the first of the cheapest. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_device.cuh"

#define LANES 32
#define TILE_COLS 8 /* blocks of the search that a warp has side by side */
#define TILE_ROWS 4
#define GROUPS 6 /* of 3x3 candidates */
#define ORDERS 64
#define ALL 0xffffffffu

static __device__ __forceinline__ bool same(time_vector a, time_vector b)
{
    return a.x == b.x && a.y == b.y;
}

static __device__ __forceinline__ int apart(time_vector a, time_vector b)
{
    return abs(a.x - b.x) + abs(a.y - b.y);
}

static __device__ __forceinline__ time_vector plus(time_vector v, int x, int y)
{
    return {int16_t(v.x + x), int16_t(v.y + y)};
}

/* --- levels from 1 on: windows of 8x8 --- */

static __device__ __forceinline__ const uint32_t *pairs_at(const time_job &j, const uint16_t *level,
                                                           int k, int x, int y)
{
    return reinterpret_cast<const uint32_t *>(level + y * j.shape.level_stride[k] + x);
}

/* Adds the differences of two pairs of samples to two sums. */
static __device__ __forceinline__ uint32_t add_apart(uint32_t sums, uint32_t a, uint32_t b)
{
    return sums + __vmaxu2(a, b) - __vminu2(a, b);
}

static __device__ __forceinline__ uint32_t total(uint32_t sums)
{
    return (sums & 0xffff) + (sums >> 16);
}

/* The row of the frame before from 2 samples left of a window on, for shifts by @dx = -2 .. 2. */
struct shifted_row {
    uint32_t w[6], f[5];

    __device__ __forceinline__ explicit shifted_row(const uint32_t *at)
    {
        for (int i = 0; i < 6; i++)
            w[i] = __ldg(at + i);
        for (int i = 0; i < 5; i++)
            f[i] = __funnelshift_r(w[i], w[i + 1], 16);
    }

    __device__ __forceinline__ uint32_t pair(int dx, int i) const
    {
        return dx % 2 ? f[i + (dx + 1) / 2] : w[i + 1 + dx / 2];
    }
};

/* The SADs of the window at (@x, @y) with the 3x3 vectors around @centre, which is even. */
static __device__ __forceinline__ void compare_around(const time_job &j, int k, int x, int y,
                                                      time_vector centre, uint32_t sums[3][3])
{
    uint32_t now[8][4];

#pragma unroll
    for (int i = 0; i < 8; i++)
        for (int n = 0; n < 4; n++)
            now[i][n] = __ldg(pairs_at(j, j.now.level[k], k, x, y + i) + n);
#pragma unroll
    for (int i = 0; i < 10; i++) {
        const shifted_row row(
            pairs_at(j, j.before.level[k], k, x + centre.x - 2, y + centre.y - 1 + i));

#pragma unroll
        for (int dy = 0; dy < 3; dy++)
#pragma unroll
            for (int dx = 0; dx < 3; dx++)
#pragma unroll
                for (int n = 0; n < 4; n++)
                    if (i - dy >= 0 && i - dy < 8)
                        sums[dy][dx] = add_apart(sums[dy][dx], now[i - dy][n], row.pair(dx - 1, n));
    }
}

/* The block of a warp's lane, and where its window begins. */
struct place {
    int col, row, x, y;
    bool real;

    __device__ __forceinline__ place(const time_shape &s, int k, int lane)
        : col(blockIdx.x * TILE_COLS + lane % TILE_COLS),
          row(blockIdx.y * TILE_ROWS + lane / TILE_COLS)
    {
        real = col < s.cols[k] && row < s.rows[k];
        col = min(col, s.cols[k] - 1);
        row = min(row, s.rows[k] - 1);
        x = 4 * col - 2;
        y = 4 * row - 2;
    }
};

/* Each warp has a row of the 5x5 candidates. */
static __global__ void search_top(const time_job j)
{
    __shared__ uint32_t best[LANES];
    const int k = j.shape.top, lane = threadIdx.x, dy = int(threadIdx.y) - 2;
    const place p(j.shape, k, lane);
    uint32_t sums[5] = {}, least = ALL;

    wait_for_before();
    let_next_start();
    if (dy == -2)
        best[lane] = ALL;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const uint32_t *now = pairs_at(j, j.now.level[k], k, p.x, p.y + i);
        const shifted_row row(pairs_at(j, j.before.level[k], k, p.x - 2, p.y + dy + i));

#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int dx = -2; dx <= 2; dx++)
                sums[dx + 2] = add_apart(sums[dx + 2], __ldg(now + n), row.pair(dx, n));
    }
#pragma unroll
    for (int dx = -2; dx <= 2; dx++) {
        const uint32_t cost = total(sums[dx + 2]) + 12 * (abs(dx) + abs(dy)) + (dx || dy ? 16 : 0);

        least = min(least, cost * ORDERS + (dy + 2) * 5 + dx + 2);
    }
    atomicMin(&best[lane], least);
    __syncthreads();
    if (dy == -2 && p.real) {
        const int order = best[lane] % ORDERS;

        j.vector[k][p.row * j.shape.cols[k] + p.col] = {int16_t(order % 5 - 2),
                                                        int16_t(order / 5 - 2)};
    }
}

static __device__ __forceinline__ time_vector twice(const time_job &j, int k, int col, int row)
{
    const time_vector v = j.vector[k][clamp(row, j.shape.rows[k] - 1) * j.shape.cols[k] +
                                      clamp(col, j.shape.cols[k] - 1)];

    return {int16_t(2 * v.x), int16_t(2 * v.y)};
}

/* The middle of a group: 0, then what the parent says, its neighbours on this block's side, and
 * the far ones. */
static __device__ __forceinline__ time_vector middle(const time_job &j, int k, const place &p,
                                                     int group)
{
    const int sx = p.col % 2 ? 1 : -1, sy = p.row % 2 ? 1 : -1;
    int x = p.col / 2, y = p.row / 2;

    if (group == 0)
        return {0, 0};
    x += group == 2 ? sx : group == 4 ? -sx : 0;
    y += group == 3 ? sy : group == 5 ? -sy : 0;
    return twice(j, k + 1, x, y);
}

/* Each warp has a group. */
static __global__ void search_between(const time_job j, int k)
{
    __shared__ uint32_t best[LANES];
    const int lane = threadIdx.x, group = threadIdx.y;
    const place p(j.shape, k, lane);
    time_vector v;
    bool again = false;

    wait_for_before();
    let_next_start();
    if (group == 0)
        best[lane] = ALL;
    __syncthreads();
    v = middle(j, k, p, group);
    for (int i = 0; i < group; i++)
        again |= same(v, middle(j, k, p, i));
    if (!again) {
        const time_vector expected = middle(j, k, p, 1);
        uint32_t sums[3][3] = {}, least = ALL;

        compare_around(j, k, p.x, p.y, v, sums);
#pragma unroll
        for (int i = 0; i < 9; i++) {
            const time_vector at = plus(v, i % 3 - 1, i / 3 - 1);
            const uint32_t cost =
                total(sums[i / 3][i % 3]) + (at.x || at.y ? 40 : 0) + 4 * apart(at, expected);

            least = min(least, cost * ORDERS + group * 9 + i);
        }
        atomicMin(&best[lane], least);
    }
    __syncthreads();
    if (group == 0 && p.real) {
        const int order = best[lane] % ORDERS;

        v = middle(j, k, p, order / 9);
        j.vector[k][p.row * j.shape.cols[k] + p.col] =
            plus(v, order % 9 % 3 - 1, order % 9 / 3 - 1);
    }
}

/* --- level 0: windows of 16x16 --- */

#define QUARTERS 4 /* threads of a block, of which each has four rows of the window */
#define QUARTER_ROWS 4

static __device__ __forceinline__ uint32_t add_apart4(uint32_t sum, uint32_t a, uint32_t b)
{
    uint32_t r;

    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
    return r;
}

/* Adds up over the threads of a block. */
static __device__ __forceinline__ uint32_t add_quarters(uint32_t v)
{
    v += __shfl_xor_sync(ALL, v, 1);
    return v + __shfl_xor_sync(ALL, v, 2);
}

/* @N words of luma from any (@x, @y) on. */
template <int N>
static __device__ __forceinline__ void load_bytes(const time_job &j, const uint8_t *luma, int x,
                                                  int y, uint32_t ret[N])
{
    const uint32_t *at = reinterpret_cast<const uint32_t *>(luma + y * j.shape.stride + (x & ~3));
    uint32_t next = __ldg(at);

#pragma unroll
    for (int i = 0; i < N; i++) {
        const uint32_t word = next;

        next = __ldg(at + i + 1);
        ret[i] = __funnelshift_r(word, next, 8 * (x & 3));
    }
}

/* A thread's rows of the window. */
struct quarter {
    int x, y;
    uint32_t now[QUARTER_ROWS][4];
};

/* The SAD of the whole window. */
static __device__ uint32_t compare(const time_job &j, const quarter &q, time_vector v)
{
    uint32_t sum = 0;

#pragma unroll
    for (int i = 0; i < QUARTER_ROWS; i++) {
        uint32_t before[4];

        load_bytes<4>(j, j.before.luma, q.x + v.x, q.y + v.y + i, before);
#pragma unroll
        for (int n = 0; n < 4; n++)
            sum = add_apart4(sum, q.now[i][n], before[n]);
    }
    return add_quarters(sum);
}

/* The same for the 3x3 vectors around @v. */
static __device__ void compare_around(const time_job &j, const quarter &q, time_vector v,
                                      uint32_t sad[9])
{
#pragma unroll
    for (int i = 0; i < 9; i++)
        sad[i] = 0;
#pragma unroll
    for (int i = 0; i < QUARTER_ROWS + 2; i++) {
        uint32_t row[5];

        load_bytes<5>(j, j.before.luma, q.x + v.x - 1, q.y + v.y - 1 + i, row);
#pragma unroll
        for (int dx = 0; dx < 3; dx++)
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const uint32_t word = __funnelshift_r(row[n], row[n + 1], 8 * dx);

#pragma unroll
                for (int dy = 0; dy < 3; dy++)
                    if (i - dy >= 0 && i - dy < QUARTER_ROWS)
                        sad[dy * 3 + dx] = add_apart4(sad[dy * 3 + dx], q.now[i - dy][n], word);
            }
    }
#pragma unroll
    for (int i = 0; i < 9; i++)
        sad[i] = add_quarters(sad[i]);
}

/* struct fit of engine/time/motion.c */
struct fit {
    int num, den;
    bool flat;

    __device__ __forceinline__ fit(int l, int c, int r)
    {
        const int rise = max(l, r) - c;

        num = rise <= 0 ? 0 : min(max(l - r, -rise), rise);
        den = rise <= 0 ? 1 : 2 * rise;
        flat = rise <= 0 || 6 * rise < c;
    }

    __device__ __forceinline__ bool near_zero() const
    {
        return flat || 5 * abs(num) < den;
    }

    __device__ __forceinline__ int eighths() const
    {
        const int n = (16 * abs(num) + den) / (2 * den);

        return num < 0 ? -n : n;
    }
};

struct found {
    time_vector v;
    uint32_t sad, key;
};

static __device__ __forceinline__ void offer(found &best, time_vector v, time_vector expected,
                                             uint32_t sad, int order)
{
    const bool zero = !v.x && !v.y;
    const uint32_t cost = 4 * sad + (zero ? 0 : 230) + 11 * apart(v, expected);
    const uint32_t key = cost * 16 + (zero ? 0 : order);

    if (key < best.key)
        best = {v, sad, key};
}

/* The candidates beside the 3x3: 0, and what the neighbours say. All threads of a warp compare if
 * one has to. */
static __device__ void try_others(const time_job &j, const quarter &q, int col, int row,
                                  time_vector expected, found &best)
{
    time_vector tried[5];

#pragma unroll
    for (int i = 0; i < 5; i++) {
        const int dx = i == 1 ? -1 : i == 2 ? 1 : 0, dy = i == 3 ? -1 : i == 4 ? 1 : 0;
        const time_vector v = i ? twice(j, 1, col + dx, row + dy) : time_vector{0, 0};
        bool again = abs(v.x - expected.x) <= 1 && abs(v.y - expected.y) <= 1;

        tried[i] = v;
        for (int k = 0; k < i; k++)
            again |= same(v, tried[k]);
        if (__all_sync(ALL, again))
            continue;
        const uint32_t sad = compare(j, q, v);

        if (!again)
            offer(best, v, expected, sad, i ? 9 + i : 0);
    }
}

static __device__ time_vector with_fraction(const time_job &j, const quarter &q, const found &best,
                                            bool is_middle, const uint32_t sad[9])
{
    uint32_t l = sad[3], r = sad[5], u = sad[1], d = sad[7];

    if (!__all_sync(ALL, is_middle)) {
        const uint32_t side[4] = {
            compare(j, q, plus(best.v, -1, 0)), compare(j, q, plus(best.v, 1, 0)),
            compare(j, q, plus(best.v, 0, -1)), compare(j, q, plus(best.v, 0, 1))};

        l = is_middle ? l : side[0];
        r = is_middle ? r : side[1];
        u = is_middle ? u : side[2];
        d = is_middle ? d : side[3];
    }
    const fit x(l, best.sad, r), y(u, best.sad, d);

    if (!best.v.x && !best.v.y && x.near_zero() && y.near_zero())
        return {0, 0};
    return {int16_t(8 * best.v.x + x.eighths()), int16_t(8 * best.v.y + y.eighths())};
}

static __global__ void __launch_bounds__(128) search_full(const time_job j)
{
    const int quarter_of = threadIdx.x % QUARTERS;
    const int at = (blockIdx.x * blockDim.x + threadIdx.x) / QUARTERS;
    const int cols = j.shape.cols[0], n = cols * j.shape.rows[0];
    const int col = min(at, n - 1) % cols, row = min(at, n - 1) / cols;
    quarter q;
    uint32_t sad[9];
    found best = {{0, 0}, 0, ALL};

    wait_for_before();
    let_next_start();
    const time_vector expected = twice(j, 1, col, row);

    q.x = TIME_BLOCK * col - TIME_BLOCK / 2;
    q.y = TIME_BLOCK * row - TIME_BLOCK / 2 + quarter_of * QUARTER_ROWS;
#pragma unroll
    for (int i = 0; i < QUARTER_ROWS; i++)
        load_bytes<4>(j, j.now.luma, q.x, q.y + i, q.now[i]);
    compare_around(j, q, expected, sad);
#pragma unroll
    for (int i = 0; i < 9; i++)
        offer(best, plus(expected, i % 3 - 1, i / 3 - 1), expected, sad[i], 1 + i);
    try_others(j, q, col, row, expected, best);
    const time_vector v = with_fraction(j, q, best, same(best.v, expected), sad);

    if (quarter_of == 0 && at < n)
        j.vector[0][at] = v;
}

extern "C" int time_search(const time_job *j, cudaStream_t stream)
{
    const time_shape &s = j->shape;
    const int r = j->averages ? time_build_levels(*j, stream) : 0;
    cudaError_t status = cudaSuccess;

    if (r || !j->searches || !j->goes_on)
        return r;
    for (int k = s.top; k > 0 && status == cudaSuccess; k--) {
        const dim3 grid((s.cols[k] + TILE_COLS - 1) / TILE_COLS,
                        (s.rows[k] + TILE_ROWS - 1) / TILE_ROWS);

        if (k == s.top)
            status = start_early(search_top, grid, dim3(LANES, 5), 0, stream, *j);
        else
            status = start_early(search_between, grid, dim3(LANES, GROUPS), 0, stream, *j, k);
    }
    if (status == cudaSuccess)
        status = start_early(search_full, (s.cols[0] * s.rows[0] * QUARTERS + 127) / 128, 128, 0,
                             stream, *j);
    return bilateral_errno(status);
}
