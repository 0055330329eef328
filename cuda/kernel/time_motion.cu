/* The search for motion: engine/time/motion.h, to the bit.
 *
 * DESIGN. Samples of levels from 1 on have 10 bits and are compared in pairs; those of level 0 are
 * bytes, a quarter of what the contract calls a sample there, and are compared four at once. Most
 * candidates are 3x3 around an even vector: a thread that has them all loads each row of the frame
 * before once. A candidate that was there before can never win and is not compared again, so
 * what stands still costs a sixth of what moves. What needs no vectors is done while the level
 * above is searched. Several threads share a block: with fewer each of them takes long, with more
 * they load the same rows more often. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_match.cuh"

#define TILE_COLS 8 /* blocks at the top that a warp has side by side */
#define TILE_ROWS 2
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

#define HALVES 2   /* threads of a block, each with half of the window's rows */
#define QUARTERS 4 /* or a quarter of them */

/* Adds up over the threads of a block. */
static __device__ __forceinline__ uint32_t add_halves(uint32_t v)
{
    return v + __shfl_xor_sync(ALL, v, 1);
}

static __device__ __forceinline__ uint32_t add_quarters(uint32_t v)
{
    v = add_halves(v);
    return v + __shfl_xor_sync(ALL, v, 2);
}

/* The SADs of a window, of which the thread has two rows from (@x, @y) on, with the 3x3 vectors
 * around @centre, which is even. */
static __device__ __forceinline__ void compare_around(const time_job &j, int k, int x, int y,
                                                      const uint32_t now[2][4], time_vector centre,
                                                      uint32_t sad[10])
{
    uint32_t sums[3][3] = {};

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const shifted_row row(
            pairs_at(j, j.before.level[k], k, x + centre.x - 2, y + centre.y - 1 + i));

#pragma unroll
        for (int dy = 0; dy < 3; dy++)
#pragma unroll
            for (int dx = 0; dx < 3; dx++)
#pragma unroll
                for (int n = 0; n < 4; n++)
                    if (i - dy >= 0 && i - dy < 2)
                        sums[dy][dx] = add_apart(sums[dy][dx], now[i - dy][n], row.pair(dx - 1, n));
    }
#pragma unroll
    for (int i = 0; i < 9; i += 2) { /* a whole SAD has 16 bits */
        const uint32_t next = i < 8 ? total(sums[(i + 1) / 3][(i + 1) % 3]) : 0;
        const uint32_t both = add_quarters(total(sums[i / 3][i % 3]) | next << 16);

        sad[i] = both & 0xffff;
        sad[i + 1] = both >> 16;
    }
}

/* Each warp has a row of the 5x5 candidates; two lanes share a block, each with half of the
 * window's rows. */
static __global__ void __launch_bounds__(160, 2) search_top(const time_job j)
{
    __shared__ uint32_t best[TILE_COLS * TILE_ROWS];
    const int k = TIME_TOP, i = threadIdx.x / 2, dy = int(threadIdx.y) - 2;
    const int col = blockIdx.x * TILE_COLS + i % TILE_COLS;
    const int row = blockIdx.y * TILE_ROWS + i / TILE_COLS;
    const bool real = col < j.shape.cols[k] && row < j.shape.rows[k];
    const int x = 4 * min(col, j.shape.cols[k] - 1) - 2;
    const int y = 4 * min(row, j.shape.rows[k] - 1) - 2 + threadIdx.x % 2 * 4;
    uint32_t now[4][4], sums[5] = {}, least = ALL;

    wait_for_before();
    let_next_start();
    if (dy == -2)
        best[i] = ALL;
    __syncthreads();
#pragma unroll
    for (int n = 0; n < 16; n++)
        now[n / 4][n % 4] = __ldg(pairs_at(j, j.now.level[k], k, x, y + n / 4) + n % 4);
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const shifted_row shifted(pairs_at(j, j.before.level[k], k, x - 2, y + dy + r));

#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int dx = -2; dx <= 2; dx++)
                sums[dx + 2] = add_apart(sums[dx + 2], now[r][n], shifted.pair(dx, n));
    }
#pragma unroll
    for (int dx = -2; dx <= 2; dx++) {
        const uint32_t sad = add_halves(total(sums[dx + 2]));
        const uint32_t cost = sad + 12 * (abs(dx) + abs(dy)) + (dx || dy ? 16 : 0);

        least = min(least, cost * ORDERS + (dy + 2) * 5 + dx + 2);
    }
    atomicMin(&best[i], least);
    __syncthreads();
    if (dy == -2 && threadIdx.x % 2 == 0 && real) {
        const int order = best[i] % ORDERS;

        j.vector[k][row * j.shape.cols[k] + col] = {int16_t(order % 5 - 2), int16_t(order / 5 - 2)};
    }
}

static __device__ __forceinline__ time_vector twice(const time_job &j, int k, int col, int row)
{
    const time_vector v = j.vector[k][clamp(row, j.shape.rows[k] - 1) * j.shape.cols[k] +
                                      clamp(col, j.shape.cols[k] - 1)];

    return {int16_t(2 * v.x), int16_t(2 * v.y)};
}

/* The middle of a group after the first, which is around 0: what the parent says, its neighbours on
 * this block's side, and the far ones. */
static __device__ __forceinline__ time_vector middle(const time_job &j, int k, int col, int row,
                                                     int group)
{
    const int sx = col % 2 ? 1 : -1, sy = row % 2 ? 1 : -1;
    int x = col / 2, y = row / 2;

    x += group == 2 ? sx : group == 4 ? -sx : 0;
    y += group == 3 ? sy : group == 5 ? -sy : 0;
    return twice(j, k + 1, x, y);
}

static __global__ void __launch_bounds__(128) search_between(const time_job j, int k)
{
    const int at = (blockIdx.x * blockDim.x + threadIdx.x) / QUARTERS;
    const int cols = j.shape.cols[k], n = cols * j.shape.rows[k];
    const int col = min(at, n - 1) % cols, row = min(at, n - 1) / cols;
    const int x = 4 * col - 2, y = 4 * row - 2 + threadIdx.x % QUARTERS * 2;
    time_vector v[GROUPS] = {}, best = {0, 0};
    uint32_t now[2][4] = {}, sad[10] = {}, least = ALL;

    if (j.searches) { /* always; why it is asked: time_start.cuh */
#pragma unroll
        for (int i = 0; i < 8; i++)
            now[i / 4][i % 4] = __ldg(pairs_at(j, j.now.level[k], k, x, y + i / 4) + i % 4);
        compare_around(j, k, x, y, now, v[0], sad);
    }
    wait_for_before();
    let_next_start();
#pragma unroll
    for (int i = 1; i < GROUPS; i++)
        v[i] = middle(j, k, col, row, i);
#pragma unroll
    for (int group = 0; group < GROUPS; group++) {
        bool again = false;

        for (int i = 0; i < group; i++)
            again |= same(v[group], v[i]);
        if (__all_sync(ALL, again))
            continue;
        if (group > 0)
            compare_around(j, k, x, y, now, v[group], sad);
#pragma unroll
        for (int i = 0; i < 9; i++) {
            const time_vector to = plus(v[group], i % 3 - 1, i / 3 - 1);
            const uint32_t cost = sad[i] + (to.x || to.y ? 40 : 0) + 4 * apart(to, v[1]);

            if (!again && cost < least) {
                least = cost;
                best = to;
            }
        }
    }
    if (threadIdx.x % QUARTERS == 0 && at < n)
        j.vector[k][at] = best;
}

/* --- level 0: windows of 16x16 --- */

#define OWN_ROWS (16 / HALVES)

static __device__ __forceinline__ uint32_t add_apart4(uint32_t sum, uint32_t a, uint32_t b)
{
    uint32_t r;

    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
    return r;
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
struct own_rows {
    int x, y;
    uint32_t now[OWN_ROWS][4];
};

/* The SAD of the whole window. */
static __device__ uint32_t compare(const time_job &j, const own_rows &q, time_vector v)
{
    uint32_t sum = 0;

#pragma unroll
    for (int i = 0; i < OWN_ROWS; i++) {
        uint32_t before[4];

        load_bytes<4>(j, j.before.luma, q.x + v.x, q.y + v.y + i, before);
#pragma unroll
        for (int n = 0; n < 4; n++)
            sum = add_apart4(sum, q.now[i][n], before[n]);
    }
    return add_halves(sum);
}

/* The same for the 3x3 vectors around @v, or only for the four beside it. */
template <bool ALL_OF_THEM>
static __device__ void compare_around(const time_job &j, const own_rows &q, time_vector v,
                                      uint32_t sad[10])
{
#pragma unroll
    for (int i = 0; i < 10; i++)
        sad[i] = 0;
#pragma unroll
    for (int i = 0; i < OWN_ROWS + 2; i++) {
        uint32_t row[5];

        load_bytes<5>(j, j.before.luma, q.x + v.x - 1, q.y + v.y - 1 + i, row);
#pragma unroll
        for (int dx = 0; dx < 3; dx++)
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const uint32_t word = __funnelshift_r(row[n], row[n + 1], 8 * dx);

#pragma unroll
                for (int dy = 0; dy < 3; dy++)
                    if (i - dy >= 0 && i - dy < OWN_ROWS && (ALL_OF_THEM || (dx + dy) % 2))
                        sad[dy * 3 + dx] = add_apart4(sad[dy * 3 + dx], q.now[i - dy][n], word);
            }
    }
#pragma unroll
    for (int i = 0; i < 9; i += 2) { /* a whole SAD has 16 bits */
        const uint32_t both = add_halves(sad[i] | sad[i + 1] << 16);

        sad[i] = both & 0xffff;
        sad[i + 1] = both >> 16;
    }
}

/* struct fit of engine/time/motion.c */
struct fit {
    int num, den;
    bool near_zero;

    __device__ __forceinline__ fit(int l, int c, int r)
    {
        const int rise = max(l, r) - c, apart = abs(l - r);

        num = rise <= 0 ? 0 : min(max(l - r, -rise), rise);
        den = rise <= 0 ? 1 : 2 * rise;
        near_zero = rise <= 0 || 6 * rise < c || 5 * apart < 2 * rise ||
                    (2 * apart < rise && 4 * apart < c);
    }

    __device__ __forceinline__ int eighths() const
    {
        const int n = (16 * abs(num) + den) / (2 * den);

        return num < 0 ? -n : n;
    }

    /* motion_weight() of the rise there, which is twice `den`: SADs are of luma here, not of four
     * times that */
    __device__ __forceinline__ uint16_t weight() const
    {
        const int bits = 33 - __clz(den);

        return uint16_t(min(1 << max(bits / 2 - 3, 0), TIME_HEAVIEST));
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
static __device__ void try_others(const time_job &j, const own_rows &q, int col, int row,
                                  time_vector expected, found &best)
{
    const time_vector all[5] = {{0, 0},
                                twice(j, 1, col - 1, row),
                                twice(j, 1, col + 1, row),
                                twice(j, 1, col, row - 1),
                                twice(j, 1, col, row + 1)};

#pragma unroll
    for (int i = 0; i < 5; i++) {
        const time_vector v = all[i];
        bool again = abs(v.x - expected.x) <= 1 && abs(v.y - expected.y) <= 1;

        for (int k = 0; k < i; k++)
            again |= same(v, all[k]);
        if (__all_sync(ALL, again))
            continue;
        const uint32_t sad = compare(j, q, v);

        if (!again)
            offer(best, v, expected, sad, i ? 9 + i : 0);
    }
}

static __device__ time_match with_fraction(const time_job &j, const own_rows &q, const found &best,
                                           bool is_middle, uint32_t sad[10])
{
    if (!__all_sync(ALL, is_middle)) {
        uint32_t beside[10];

        compare_around<false>(j, q, best.v, beside);
#pragma unroll
        for (int i = 1; i < 9; i += 2)
            sad[i] = is_middle ? sad[i] : beside[i];
    }
    const fit x(sad[3], best.sad, sad[5]), y(sad[1], best.sad, sad[7]);

    time_match ret = {{0, 0}, x.weight(), y.weight()};

    if (best.v.x || best.v.y || !x.near_zero || !y.near_zero)
        ret.v = {int16_t(8 * best.v.x + x.eighths()), int16_t(8 * best.v.y + y.eighths())};
    return ret;
}

static __global__ void __launch_bounds__(128) search_full(const time_job j)
{
    const int part = threadIdx.x % HALVES;
    const int at = (blockIdx.x * blockDim.x + threadIdx.x) / HALVES;
    const int cols = j.shape.cols[0], n = cols * j.shape.rows[0];
    const int col = min(at, n - 1) % cols, row = min(at, n - 1) / cols;
    own_rows q = {};
    uint32_t sad[10];
    found best = {{0, 0}, 0, ALL};

    q.x = TIME_BLOCK * col - TIME_BLOCK / 2;
    q.y = TIME_BLOCK * row - TIME_BLOCK / 2 + part * OWN_ROWS;
    if (j.searches) /* likewise */
#pragma unroll
        for (int i = 0; i < OWN_ROWS; i++)
            load_bytes<4>(j, j.now.luma, q.x, q.y + i, q.now[i]);
    wait_for_before();
    let_next_start();
    const time_vector expected = twice(j, 1, col, row);

    compare_around<true>(j, q, expected, sad);
#pragma unroll
    for (int i = 0; i < 9; i++)
        offer(best, plus(expected, i % 3 - 1, i / 3 - 1), expected, sad[i], 1 + i);
    try_others(j, q, col, row, expected, best);
    const time_match match = with_fraction(j, q, best, same(best.v, expected), sad);

    if (part == 0 && at < n)
        put_match(j, at, match);
}

extern "C" int time_search(const time_job *j, cudaStream_t stream)
{
    const time_shape &s = j->shape;
    cudaError_t status;

    if (!j->searches || !j->goes_on)
        return 0;
    const dim3 grid((s.cols[TIME_TOP] + TILE_COLS - 1) / TILE_COLS,
                    (s.rows[TIME_TOP] + TILE_ROWS - 1) / TILE_ROWS);

    status = start_early(search_top, grid, dim3(2 * TILE_COLS * TILE_ROWS, 5), 0, stream, *j);
    for (int k = TIME_TOP - 1; k > 0 && status == cudaSuccess; k--)
        status = start_early(search_between, (s.cols[k] * s.rows[k] * QUARTERS + 127) / 128, 128, 0,
                             stream, *j, k);
    if (status == cudaSuccess)
        status = start_early(search_full, (s.cols[0] * s.rows[0] * HALVES + 127) / 128, 128, 0,
                             stream, *j);
    if (status == cudaSuccess)
        status = start_early(smooth, (s.cols[0] * s.rows[0] + 31) / 32, 32 * SMOOTH_WARPS, 0,
                             stream, *j);
    return bilateral_errno(status);
}
