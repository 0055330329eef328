/* The mean over frames: steps 3 and 4 of engine/time/average.h. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_judge.cuh"

#define DONE 40 /* above the sum of all counts: how many tiles are in it */

static_assert(BLOCKS == WIDE * HIGH / (BLOCK_CELLS * BLOCK_CELLS), "a warp reports");

/* --- the mean --- */

/* What is averaged in a cell: H = x - (x - P') n' / (n' + 1), in stored steps, as sums of x, both
 * guesses, and a number that has the light of both together, -g K of chroma and what rounds. */
struct mixed {
    float n, of_x, of_still[2], of_moved[2], light[3]; /* [1]: of chroma */
};

template <int C, bool WORDS>
static __device__ __forceinline__ mixed mix(const time_job &j, const guessed<C> &still,
                                            const guessed<C> &moved, time_vector v)
{
    const bool follows = v.x || v.y;
    float n = still.n, part = still.part, f = 0.0f, weight, gain;
    mixed ret;

    if (follows && moved.n > 0.0f) {
        const float bias = abs(v.x) + abs(v.y) > TIME_FAR ? 0.0f : 2.0f;
        const float worse = 4.0f * (moved.d - still.d) + 2.0f * (moved.r - still.r) + bias;

        f = 1.0f / (1.0f + __expf(worse));
        n += f * (moved.n - still.n);
        part += f * (moved.part - still.part);
    }
    weight = __fdividef(n, n + 1.0f);
    gain = __fdividef(part, 1.0f - part);
    ret.n = n;
    ret.of_x = steps_each<WORDS>() * (1.0f - weight);
    ret.of_moved[0] = f * weight;
    ret.of_still[0] = weight - ret.of_moved[0];
    ret.of_moved[1] = ret.of_moved[0] + gain * ret.of_moved[0];
    ret.of_still[1] = ret.of_still[0] + gain * ret.of_still[0];
#pragma unroll
    for (int c = 0; c < C; c++) {
        float l = still.l[c];

        if (follows)
            l += f * (moved.l[c] - l);
        if (c)
            l -= gain * j.zero[c];
        ret.light[c] = l * weight * TIME_LEVEL_STEPS + 0.5f; /* rounds to nearest */
    }
    return ret;
}

/* One sample, or two beside each other in a word: of the frame, and of both guesses. */
struct samples {
    uint32_t x, still, moved;
};

/* Two samples. */
template <class T> struct two;
template <> struct two<uint8_t> {
    using type = uint16_t;
};
template <> struct two<uint16_t> {
    using type = uint32_t;
};

/* @now: bytes, or words. */
template <bool TWO, bool KEPT, class T>
static __device__ __forceinline__ samples load(const T *now, const uint16_t *old,
                                               const uint16_t *state, bool kept)
{
    using pair = typename two<T>::type;
    samples r;

    if (TWO) {
        r.x = __ldg(reinterpret_cast<const pair *>(now));
        r.still = __ldg(reinterpret_cast<const uint32_t *>(old));
        r.moved = KEPT && kept ? *reinterpret_cast<const uint32_t *>(state) : r.still;
    } else {
        r.x = __ldg(now);
        r.still = __ldg(old);
        r.moved = KEPT && kept ? *state : r.still;
    }
    return r;
}

/* H in the low half of a number. */
template <bool KEPT>
static __device__ __forceinline__ uint32_t averaged(const mixed &m, int component, const samples &s,
                                                    uint32_t own, uint32_t half)
{
    const int chroma = component > 0;
    float h =
        m.of_x * number(s.x, own) + m.of_still[chroma] * number(s.still, half) + m.light[component];

    if (KEPT)
        h += m.of_moved[chroma] * number(s.moved, half);
    return __float_as_uint(__fadd_rd(fminf(fmaxf(h, 0.0f), 32767.0f), 8388608.0f));
}

template <bool TWO, bool KEPT, bool WORDS>
static __device__ __forceinline__ void store(const mixed &m, int component, const samples &s,
                                             uint16_t *to)
{
    const uint32_t low = WORDS ? LOW_HALF : LOW_BYTE, high = WORDS ? HIGH_HALF : HIGH_BYTE;
    const uint32_t first = averaged<KEPT>(m, component, s, low, LOW_HALF);

    if (TWO)
        *reinterpret_cast<uint32_t *>(to) =
            __byte_perm(first, averaged<KEPT>(m, component, s, high, HIGH_HALF), 0x5410);
    else
        *to = uint16_t(first);
}

/* Of a component of the frame. */
template <bool WORDS>
static __device__ __forceinline__ auto own_samples(const time_job &j, int component)
{
    if constexpr (WORDS)
        return j.words[component];
    else
        return component ? j.now.chroma[component - 1] : j.now.luma;
}

/* The samples of a cell, in rows of luma; the nearest ones where it reaches past the picture. */
template <int C> struct cell_samples {
    samples of[2][C];
};

/* @kept: guesses along the motion lie where the mean will be; KEPT: they may. */
template <int C, int HS, int VS, bool KEPT, bool WORDS>
static __device__ __forceinline__ void load_levels(const time_job &j, int cx, int cy, bool kept,
                                                   cell_samples<C> &ret)
{
    const time_shape &s = j.shape;

    cx = min(cx, s.cells_x - 1);
    cy = min(cy, s.cells_y - 1);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int y = min(2 * cy + i, s.height - 1), at = y * s.stride + 2 * cx;
        const int at_c = (y >> VS) * s.stride_c + (cx << (1 - HS));

        ret.of[i][0] = load<true, KEPT>(own_samples<WORDS>(j, 0) + at, j.old.level[0] + at,
                                        j.state.level[0] + at, kept);
#pragma unroll
        for (int c = 1; c < C && !(VS && i); c++)
            ret.of[i][c] = load<!HS, KEPT>(own_samples<WORDS>(j, c) + at_c, j.old.level[c] + at_c,
                                           j.state.level[c] + at_c, kept);
    }
}

template <int C, int HS, int VS, bool KEPT, bool WORDS>
static __device__ __forceinline__ void store_levels(const time_job &j, const mixed &m, int cx,
                                                    int cy, const cell_samples<C> &from)
{
    const time_shape &s = j.shape;

#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int y = 2 * cy + i, at_c = (y >> VS) * s.stride_c + (cx << (1 - HS));

        if (y >= s.height)
            continue;
        store<true, KEPT, WORDS>(m, 0, from.of[i][0], j.state.level[0] + y * s.stride + 2 * cx);
#pragma unroll
        for (int c = 1; c < C && !(VS && i); c++)
            store<!HS, KEPT, WORDS>(m, c, from.of[i][c], j.state.level[c] + at_c);
    }
}

/* A sample as it is stored. */
template <bool WORDS>
static __device__ __forceinline__ uint16_t level_of(const time_job &j, int component, int at)
{
    const uint32_t own = own_samples<WORDS>(j, component)[at];

    return uint16_t(WORDS ? own >> 1 : own * TIME_LEVEL_STEPS);
}

/* A frame that begins is its own mean; one that was there before leaves all as it was. */
template <int C, int HS, int VS, bool WORDS>
static __device__ __forceinline__ uint32_t store_known(const time_job &j, int cx, int cy)
{
    const time_shape &s = j.shape;

    for (int i = 0; i < 4; i++) {
        const int x = 2 * cx + i % 2, y = 2 * cy + i / 2;
        const int at = y * s.stride + x, at_c = (y >> VS) * s.stride_c + (x >> HS);

        if (y >= s.height)
            continue;
        j.state.level[0][at] = j.goes_on ? j.old.level[0][at] : level_of<WORDS>(j, 0, at);
        for (int c = 1; c < C; c++)
            j.state.level[c][at_c] = j.goes_on ? j.old.level[c][at_c] : level_of<WORDS>(j, c, at_c);
    }
    return j.goes_on ? j.old.count[cy * s.cells_x + cx] : uint32_t(MEAN_COUNT_ONE);
}

/* --- what the host gets to know of the counts --- */

/* @count: the counts of a thread's cells in 1/MEAN_COUNT_STEPS, of as many luma samples each as
 * they have. */
template <int C>
static __device__ __forceinline__ void report(const time_job &j, tile<C> &t, uint32_t count)
{
    const time_shape &s = j.shape;
    const int i = threadIdx.x, blocks = WIDE / BLOCK_CELLS;
    const int x = 2 * tile_x() + i % blocks * TIME_BLOCK;
    const int y = 2 * tile_y() + i / blocks * TIME_BLOCK;

    for (int away = 1; away < BLOCK_CELLS; away *= 2)
        count += __shfl_xor_sync(ALL, count, away);
    if (i % BLOCK_CELLS == 0)
        atomicAdd(&t.counted[i / (WIDE * BLOCK_CELLS / CELLS) * blocks + i % WIDE / BLOCK_CELLS],
                  count);
    __syncthreads();
    if (i >= BLOCKS)
        return;
    count = t.counted[i];
    if (x < s.width && y < s.height) {
        const uint32_t n = uint32_t(min(TIME_BLOCK, s.width - x) * min(TIME_BLOCK, s.height - y) *
                                    MEAN_COUNT_STEPS);

        j.report->counts[y / TIME_BLOCK * s.cols[0] + x / TIME_BLOCK] =
            uint8_t((4 * count + n) / (2 * n));
    }
    for (int away = BLOCKS / 2; away; away /= 2)
        count += __shfl_xor_sync(ALL, count, away);
    if (i > 0)
        return;
    const unsigned long long own = 1ull << DONE | count;
    const unsigned long long all = atomicAdd(&j.noise->counted, own) + own;

    if (all >> DONE == gridDim.x * gridDim.y) {
        j.report->counted = all & ((1ull << DONE) - 1);
        j.noise->counted = 0;
    }
}

/* --- all of it --- */

/* Whether anything moves in the tile's blocks and those near them; returns whether it does in the
 * thread's own. */
template <int C> static __device__ __forceinline__ bool find_moving(const time_job &j, tile<C> &t)
{
    const int i = threadIdx.x, x = i % MOVES_WIDE, y = i / MOVES_WIDE;
    const int col = tile_x() / BLOCK_CELLS - 2 + x, row = tile_y() / BLOCK_CELLS - 2 + y;
    bool moves = false;

    if (y >= MOVES_HIGH)
        return false;
    if (j.goes_on && col >= 0 && row >= 0 && col < j.shape.cols[0] && row < j.shape.rows[0])
        moves = moves_at(j, col, row);
    t.moves[y][x] = moves;
    return moves && x > 1 && x < MOVES_WIDE - 2 && y > 1 && y < MOVES_HIGH - 2;
}

template <int C> static __device__ __forceinline__ void fill_tables(const time_job &j, tile<C> &t)
{
    for (int k = threadIdx.x; k < 256; k += THREADS) {
        const float nu2 = __ldg(&j.noise->nu2[k]);

        t.nu2[k] = nu2;
        t.nu[k] = sqrtf(nu2);
    }
    if (threadIdx.x == 0)
        t.white = j.noise->white;
}

/* The mean in a thread's cells from (@cx, @cy) on; samples are on their way while guesses are
 * judged. MOVES: something moves in the tile. */
template <int C, int HS, int VS, bool WORDS, bool MOVES>
static __device__ __forceinline__ void average_cells(const time_job &j, tile<C> &t, int cx, int cy,
                                                     const fetched &at_rest, float n[CELLS])
{
    const time_shape &s = j.shape;
    const int x = cx - tile_x() + 1, y = cy - tile_y() + 1;
    const time_vector v =
        MOVES ? vector_at(j, clamp(2 * cx, s.width - 1), clamp(2 * cy, s.height - 1))
              : time_vector{0, 0};
    const bool follows = v.x || v.y;
    guessed<C> still[CELLS], moved[CELLS];
    cell_samples<C> from[CELLS];

    make_guess<C, false>(j, t, x, y, at_rest, still);
    if (MOVES) {
        const fetched along = fetch<C, true>(j, t, x, y);

        judge<C>(j, t, x, y, false, still);
        make_guess<C, true>(j, t, x, y, along, moved);
    }
#pragma unroll
    for (int k = 0; k < CELLS; k++)
        load_levels<C, HS, VS, MOVES, WORDS>(j, cx, cy + k, follows, from[k]);
    judge<C>(j, t, x, y, (v.x | v.y) & 7, MOVES ? moved : still);
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        const mixed m = mix<C, WORDS>(j, still[k], MOVES ? moved[k] : still[k], v);

        n[k] = m.n;
        if (cx < s.cells_x && cy + k < s.cells_y)
            store_levels<C, HS, VS, MOVES, WORDS>(j, m, cx, cy + k, from[k]);
    }
}

/* How a count is stored. */
static __device__ __forceinline__ uint32_t count_of(const time_job &j, float n)
{
    return mean_count_of(fminf(n + 1.0f, float(j.frames)));
}

template <int C, int HS, int VS, bool WORDS>
static __global__ void __launch_bounds__(THREADS, 4) average(const time_job j)
{
    __shared__ tile<C> t;
    const time_shape &s = j.shape;
    const int cx = tile_x() + threadIdx.x % WIDE, cy = tile_y() + threadIdx.x / WIDE * CELLS;
    float n[CELLS] = {};
    uint32_t counted = 0;

    let_next_start();
    if (threadIdx.x < BLOCKS)
        t.counted[threadIdx.x] = 0;
    /* Vectors and what stands still are there, the noise is not. */
    const bool moves = __syncthreads_or(find_moving<C>(j, t)), changes = j.goes_on && is_new(j);
    fetched at_rest;

    if (changes) {
        at_rest = fetch<C, false>(j, t, cx - tile_x() + 1, cy - tile_y() + 1);
        add_colours<C>(t, at_rest);
    }
    if (changes && moves)
        find_near<C>(t);
    wait_for_before();
    fill_tables<C>(j, t);
    if (changes && moves)
        average_cells<C, HS, VS, WORDS, true>(j, t, cx, cy, at_rest, n);
    else if (changes)
        average_cells<C, HS, VS, WORDS, false>(j, t, cx, cy, at_rest, n);
#pragma unroll
    for (int k = 0; k < CELLS; k++)
        if (cx < s.cells_x && cy + k < s.cells_y) {
            const uint32_t count =
                changes ? count_of(j, n[k]) : store_known<C, HS, VS, WORDS>(j, cx, cy + k);

            j.state.count[(cy + k) * s.cells_x + cx] = uint8_t(count);
            counted += uint32_t(mean_count_frames(uint8_t(count)) * MEAN_COUNT_STEPS) *
                       uint32_t(2 * min(2, s.height - 2 * (cy + k)));
        }
    report<C>(j, t, counted);
}

extern "C" int time_average(const time_job *j, cudaStream_t stream)
{
    const time_shape &s = j->shape;
    const dim3 grid((s.cells_x + WIDE - 1) / WIDE, (s.cells_y + HIGH - 1) / HIGH);

    return bilateral_errno(start_early(FOR_JOB(average, *j), grid, THREADS, 0, stream, *j));
}
