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

/* What a thread averages of a component in a row: @N samples beside each other, the first half of
 * them in its first cell. Of the frame, bytes in one word or two in each, and of both guesses. */
template <int N> struct samples {
    uint32_t x[N / 2], still[N / 2], moved[N / 2];
};

/* Words of two samples each. */
template <int N>
static __device__ __forceinline__ void load_pairs(const uint16_t *from, uint32_t ret[N / 2])
{
    if (N == 4) {
        const uint2 both = __ldg(reinterpret_cast<const uint2 *>(from));

        ret[0] = both.x;
        ret[N / 2 - 1] = both.y;
    } else {
        ret[0] = __ldg(reinterpret_cast<const uint32_t *>(from));
    }
}

template <int N>
static __device__ __forceinline__ void load_own(const uint16_t *from, uint32_t ret[N / 2])
{
    load_pairs<N>(from, ret);
}

template <int N>
static __device__ __forceinline__ void load_own(const uint8_t *from, uint32_t ret[N / 2])
{
    ret[0] = N == 4 ? __ldg(reinterpret_cast<const uint32_t *>(from))
                    : __ldg(reinterpret_cast<const uint16_t *>(from));
}

/* @now: bytes, or words. @state, where guesses along the motion are, is written to. */
template <int N, bool KEPT, class T>
static __device__ __forceinline__ samples<N> load(const T *now, const uint16_t *old,
                                                  const uint16_t *state, bool kept)
{
    samples<N> r;

    load_own<N>(now, r.x);
    load_pairs<N>(old, r.still);
#pragma unroll
    for (int k = 0; k < N / 2; k++)
        r.moved[k] = KEPT && kept ? reinterpret_cast<const uint32_t *>(state)[k] : r.still[k];
    return r;
}

/* Sample @k as it is in the frame. */
template <int N, bool WORDS>
static __device__ __forceinline__ float own_number(const samples<N> &s, int k)
{
    return WORDS ? number(s.x[k / 2], k % 2 ? HIGH_HALF : LOW_HALF)
                 : number(s.x[0], LOW_BYTE + uint32_t(k));
}

/* H of sample @k in the low half of a number. */
template <int N, bool KEPT, bool WORDS>
static __device__ __forceinline__ uint32_t averaged(const mixed &m, int component,
                                                    const samples<N> &s, int k)
{
    const int chroma = component > 0;
    const uint32_t half = k % 2 ? HIGH_HALF : LOW_HALF;
    float h = m.of_x * own_number<N, WORDS>(s, k) +
              m.of_still[chroma] * number(s.still[k / 2], half) + m.light[component];

    if (KEPT)
        h += m.of_moved[chroma] * number(s.moved[k / 2], half);
    return __float_as_uint(__fadd_rd(fminf(fmaxf(h, 0.0f), 32767.0f), 8388608.0f));
}

template <int N, bool KEPT, bool WORDS>
static __device__ __forceinline__ void store(const mixed m[CELLS], int component,
                                             const samples<N> &s, uint16_t *to)
{
    uint32_t word[N / 2];

#pragma unroll
    for (int k = 0; k < N; k += 2)
        word[k / 2] = __byte_perm(
            averaged<N, KEPT, WORDS>(m[k * CELLS / N], component, s, k),
            averaged<N, KEPT, WORDS>(m[(k + 1) * CELLS / N], component, s, k + 1), 0x5410);
    if (N == 4)
        *reinterpret_cast<uint2 *>(to) = make_uint2(word[0], word[N / 2 - 1]);
    else
        *reinterpret_cast<uint32_t *>(to) = word[0];
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

#define LUMA (2 * CELLS) /* samples of a thread in a row */

/* The samples of a thread's cells, in rows of luma. Where the picture ends with the first of them,
 * the other one's are those beside it, which nobody reads; a thread past it has the nearest ones.
 */
template <int C, int HS> struct cell_samples {
    samples<LUMA> luma[2];
    samples<(LUMA >> HS)> chroma[2][C > 1 ? C - 1 : 1];
};

/* @kept: guesses along the motion lie where the mean will be; KEPT: they may. */
template <int C, int HS, int VS, bool KEPT, bool WORDS>
static __device__ __forceinline__ void load_levels(const time_job &j, int cx, int cy, bool kept,
                                                   cell_samples<C, HS> &ret)
{
    const time_shape &s = j.shape;

    cx = min(cx, (s.cells_x - 1) / CELLS * CELLS);
    cy = min(cy, s.cells_y - 1);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int y = min(2 * cy + i, s.height - 1), at = y * s.stride + 2 * cx;
        const int at_c = (y >> VS) * s.stride_c + (cx << (1 - HS));

        ret.luma[i] = load<LUMA, KEPT>(own_samples<WORDS>(j, 0) + at, j.old.level[0] + at,
                                       j.state.level[0] + at, kept);
#pragma unroll
        for (int c = 1; c < C && !(VS && i); c++)
            ret.chroma[i][c - 1] =
                load<(LUMA >> HS), KEPT>(own_samples<WORDS>(j, c) + at_c, j.old.level[c] + at_c,
                                         j.state.level[c] + at_c, kept);
    }
}

template <int C, int HS, int VS, bool KEPT, bool WORDS>
static __device__ __forceinline__ void store_levels(const time_job &j, const mixed m[CELLS], int cx,
                                                    int cy, const cell_samples<C, HS> &from)
{
    const time_shape &s = j.shape;

#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int y = 2 * cy + i, at_c = (y >> VS) * s.stride_c + (cx << (1 - HS));

        if (y >= s.height)
            continue;
        store<LUMA, KEPT, WORDS>(m, 0, from.luma[i], j.state.level[0] + y * s.stride + 2 * cx);
#pragma unroll
        for (int c = 1; c < C && !(VS && i); c++)
            store<(LUMA >> HS), KEPT, WORDS>(m, c, from.chroma[i][c - 1], j.state.level[c] + at_c);
    }
}

/* A sample as it is stored. */
template <bool WORDS>
static __device__ __forceinline__ uint16_t level_of(const time_job &j, int component, int at)
{
    const uint32_t own = own_samples<WORDS>(j, component)[at];

    return uint16_t(WORDS ? own >> 1 : own * TIME_LEVEL_STEPS);
}

/* A frame that begins is its own mean, as a still of a show is; one that was there before leaves
 * all as it was. */
template <int C, int HS, int VS, bool WORDS>
static __device__ __forceinline__ uint32_t store_known(const time_job &j, int cx, int cy)
{
    const time_shape &s = j.shape;
    const bool stays = j.goes_on && !__ldcg(&j.noise->starts_again);

    for (int i = 0; i < 4; i++) {
        const int x = 2 * cx + i % 2, y = 2 * cy + i / 2;
        const int at = y * s.stride + x, at_c = (y >> VS) * s.stride_c + (x >> HS);

        if (y >= s.height)
            continue;
        j.state.level[0][at] = stays ? j.old.level[0][at] : level_of<WORDS>(j, 0, at);
        for (int c = 1; c < C; c++)
            j.state.level[c][at_c] = stays ? j.old.level[c][at_c] : level_of<WORDS>(j, c, at_c);
    }
    return stays ? j.old.count[cy * s.cells_x + cx] : uint32_t(MEAN_COUNT_ONE);
}

/* --- what the host gets to know of the counts --- */

/* @count: the counts of a thread's cells in 1/MEAN_COUNT_STEPS, of as many luma samples each as
 * they have. */
template <int C>
static __device__ __forceinline__ void report(const time_job &j, tile<C> &t, uint32_t count)
{
    const time_shape &s = j.shape;
    const int i = threadIdx.x, blocks = WIDE / BLOCK_CELLS, lanes = BLOCK_CELLS / CELLS;
    const int x = 2 * tile_x() + i % blocks * TIME_BLOCK;
    const int y = 2 * tile_y() + i / blocks * TIME_BLOCK;

    for (int away = 1; away < lanes; away *= 2)
        count += __shfl_xor_sync(ALL, count, away);
    if (i % lanes == 0)
        atomicAdd(&t.counted[i / LANES / BLOCK_CELLS * blocks + i % LANES / lanes], count);
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
    if (threadIdx.x < sizeof(t.bounds) / sizeof(float))
        reinterpret_cast<float *>(&t.bounds)[threadIdx.x] =
            __ldg(reinterpret_cast<const float *>(&j.noise->bounds) + threadIdx.x);
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
    guessed<C> still[CELLS], moved[CELLS];
    cell_samples<C, HS> from;
    mixed m[CELLS];

    make_guess<C, false>(j, t, x, y, at_rest, still);
    if (MOVES) {
        const fetched along = fetch<C, true>(j, t, x, y);

        judge<C>(j, t, x, y, false, still);
        make_guess<C, true>(j, t, x, y, along, moved);
    }
    load_levels<C, HS, VS, MOVES, WORDS>(j, cx, cy, v.x || v.y, from);
    judge<C>(j, t, x, y, (v.x | v.y) & 7, MOVES ? moved : still);
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        m[k] = mix<C, WORDS>(j, still[k], MOVES ? moved[k] : still[k], v);
        n[k] = m[k].n;
    }
    if (cx < s.cells_x && cy < s.cells_y)
        store_levels<C, HS, VS, MOVES, WORDS>(j, m, cx, cy, from);
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
    const int cx = tile_x() + threadIdx.x % LANES * CELLS, cy = tile_y() + threadIdx.x / LANES;
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
        if (cx + k < s.cells_x && cy < s.cells_y) {
            const uint32_t count =
                changes ? count_of(j, n[k]) : store_known<C, HS, VS, WORDS>(j, cx + k, cy);

            j.state.count[cy * s.cells_x + cx + k] = uint8_t(count);
            counted += uint32_t(mean_count_frames(uint8_t(count)) * MEAN_COUNT_STEPS) *
                       uint32_t(2 * min(2, s.height - 2 * cy));
        }
    report<C>(j, t, counted);
}

extern "C" int time_average(const time_job *j, cudaStream_t stream)
{
    const time_shape &s = j->shape;
    const dim3 grid((s.cells_x + WIDE - 1) / WIDE, (s.cells_y + HIGH - 1) / HIGH);

    return bilateral_errno(start_early(FOR_JOB(average, *j), grid, THREADS, 0, stream, *j));
}
