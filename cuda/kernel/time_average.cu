/* The mean over frames: engine/time/average.h, from what time_compare.cu found.
 *
 * DESIGN. A thread block has a tile of 32x16 cells, a thread two of them below each other, which
 * have one vector. Light needs E four cells beyond the tile, what it leaves one. Outside of the
 * picture each of these repeats its own nearest cell. The squares take the place of E once that is
 * added up. Cells outside are computed from the nearest ones too, but never stored, so that loads
 * need not wait for each other. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/time_predict.cuh"

#define WIDE 32 /* cells of a tile */
#define HIGH 16
#define BOX 7
#define E_HALO 4
#define E_WIDE (WIDE + 2 * E_HALO)
#define E_HIGH (HIGH + 2 * E_HALO)
#define L_WIDE (WIDE + 2)
#define L_HIGH (HIGH + 2)
#define RING (2 * (L_WIDE + HIGH)) /* cells around the tile */
#define CELLS 2                    /* of a thread */
#define THREADS (WIDE * HIGH / CELLS)
#define NEAR_WIDE (E_WIDE / BLOCK_CELLS) /* blocks */
#define NEAR_HIGH (E_HIGH / BLOCK_CELLS)
#define BLOCKS 32 /* of a tile: a warp */
#define ALL 0xffffffffu

static_assert(BLOCKS == WIDE * HIGH / (BLOCK_CELLS * BLOCK_CELLS), "a warp reports");

/* E, clamped; then |E - L|^2 and |e|^2. */
template <int C> union terms {
    float e[C][E_HIGH][E_WIDE];
    struct {
        float d[L_HIGH][L_WIDE], r[L_HIGH][L_WIDE];
    } square;
};

template <int C> struct tile {
    terms<C> of;
    float column[C][L_HIGH][E_WIDE]; /* sums over 7 rows */
    float nu2[256], most[256];       /* by luma; 2.5 nu */
    bool near[NEAR_HIGH][NEAR_WIDE]; /* blocks in which or beside which something moves */
    uint32_t counted[BLOCKS];        /* of each block */
};

/* The tile's first cell. */
static __device__ __forceinline__ int tile_x()
{
    return blockIdx.x * WIDE;
}

static __device__ __forceinline__ int tile_y()
{
    return blockIdx.y * HIGH;
}

/* A cell as one guess sees it. */
template <int C> struct guessed {
    float l[C], m, nu2; /* L in (Y1, U1, V1) */
    float d, n;         /* D and n' */
};

static __device__ __forceinline__ float4 load_cell(const time_cell *cells, const time_shape &s,
                                                   int cx, int cy)
{
    return __ldg(reinterpret_cast<const float4 *>(cells) + cy * s.cells_x + cx);
}

/* The mean luma of a cell, rounded. */
static __device__ __forceinline__ int luma_at(const time_job &j, int cx, int cy)
{
    return (__ldg(j.now.level[1] + cy * j.shape.level_stride[1] + cx) + 2) >> 2;
}

/* How many frames a guess is the mean of. */
static __device__ __forceinline__ float frames_at(const time_job &j, int cx, int cy, time_vector v)
{
    const int x = cx + ((v.x + 8) >> 4), y = cy + ((v.y + 8) >> 4);
    float m;

    if (x < 0 || y < 0 || x >= j.shape.cells_x || y >= j.shape.cells_y)
        return 0.0f;
    m = float(__ldg(j.old.count + y * j.shape.cells_x + x)) * j.inv_count_steps;
    return (v.x | v.y) & 7 ? fminf(m, 8.0f) : m;
}

static __device__ __forceinline__ float base_of(float m)
{
    return 1.0f + __fdividef(1.0f, fmaxf(m, 0.5f));
}

/* --- a guess --- */

template <int C, bool ALONG>
static __device__ __forceinline__ void load_clamped(const time_job &j, tile<C> &t)
{
    const time_shape &s = j.shape;

#pragma unroll 4
    for (int i = threadIdx.x; i < E_WIDE * E_HIGH; i += THREADS) {
        const int row = i / E_WIDE, column = i % E_WIDE;
        const int cx = clamp(tile_x() - E_HALO + column, s.cells_x - 1);
        const int cy = clamp(tile_y() - E_HALO + row, s.cells_y - 1);
        const bool near =
            ALONG &&
            t.near[(cy - tile_y() + E_HALO) / BLOCK_CELLS][(cx - tile_x() + E_HALO) / BLOCK_CELLS];
        const float4 cell = load_cell(near ? j.moved : j.still, s, cx, cy);
        const float most = t.most[luma_at(j, cx, cy)], e[3] = {cell.x, cell.y, cell.z};

#pragma unroll
        for (int c = 0; c < C; c++)
            t.of.e[c][row][column] = fminf(fmaxf(e[c], -most), most);
    }
}

#define STRIP (L_HIGH / 2) /* rows of a thread */

template <int C> static __device__ __forceinline__ void add_columns(tile<C> &t)
{
    for (int i = threadIdx.x; i < 2 * C * E_WIDE; i += THREADS) {
        const int c = i / E_WIDE % C, column = i % E_WIDE, from = i / (C * E_WIDE) * STRIP;
        float value[BOX], sum = 0.0f;

#pragma unroll
        for (int k = 0; k < BOX - 1; k++)
            sum += value[k] = t.of.e[c][from + k][column];
#pragma unroll
        for (int k = 0; k < STRIP; k++) {
            sum += value[(k + BOX - 1) % BOX] = t.of.e[c][from + k + BOX - 1][column];
            t.column[c][from + k][column] = sum;
            sum -= value[k % BOX];
        }
    }
}

/* L of the cell at (@x, @y) of the tile with a border of one, and the squares of what it leaves. */
template <int C, bool ALONG>
static __device__ __forceinline__ void take_light(const time_job &j, tile<C> &t, int x, int y,
                                                  guessed<C> &ret)
{
    const time_shape &s = j.shape;
    const int cx = clamp(tile_x() - 1 + x, s.cells_x - 1);
    const int cy = clamp(tile_y() - 1 + y, s.cells_y - 1);
    float light[C], c2 = 0.0f, noise, keep, d = 0.0f;
    const bool near =
        ALONG && t.near[(y - 1 + E_HALO) / BLOCK_CELLS][(x - 1 + E_HALO) / BLOCK_CELLS];
    const float4 cell = load_cell(near ? j.moved : j.still, s, cx, cy);
    const float e[3] = {cell.x, cell.y, cell.z};

    ret.m = frames_at(j, cx, cy, ALONG ? vector_at(j, 2 * cx, 2 * cy) : time_vector{0, 0});
    ret.nu2 = t.nu2[luma_at(j, cx, cy)];
#pragma unroll
    for (int c = 0; c < C; c++) {
        float sum = 0.0f;

#pragma unroll
        for (int k = 0; k < BOX; k++)
            sum += t.column[c][y][x + k];
        light[c] = sum * (1.0f / (BOX * BOX));
        c2 += light[c] * light[c];
    }
    noise = __ldg(&j.noise->three_kappa) * ret.nu2 * base_of(ret.m);
    keep = c2 > noise ? 1.0f - __fdividef(noise, c2) : 0.0f;
#pragma unroll
    for (int c = 0; c < C; c++) {
        ret.l[c] = keep * light[c];
        d += (e[c] - ret.l[c]) * (e[c] - ret.l[c]);
    }
    if (cx == tile_x() - 1 + x && cy == tile_y() - 1 + y) {
        t.of.square.d[y][x] = d;
        t.of.square.r[y][x] = cell.w;
    }
}

/* The cell @i of those around the tile. */
static __device__ __forceinline__ int2 ring_cell(int i)
{
    if (i < 2 * L_WIDE)
        return make_int2(i % L_WIDE, i / L_WIDE * (L_HIGH - 1));
    i -= 2 * L_WIDE;
    return make_int2(i / HIGH * (L_WIDE - 1), 1 + i % HIGH);
}

static __device__ __forceinline__ float believed(float m, float d, float r, float rho)
{
    const float base = base_of(m);

    if (m <= 0.0f)
        return 0.0f;
    return __fdividef(1.0f, __fdividef(1.0f, m) + 6.0f * fmaxf(0.0f, d - 1.5f * rho * base) +
                                fmaxf(0.0f, r - 2.0f * base));
}

/* D and n' of a thread's cells, from (@x, @y) of the tile with its border on. */
template <int C>
static __device__ __forceinline__ void judge(const time_job &j, const tile<C> &t, int x, int y,
                                             guessed<C> ret[CELLS])
{
    const int left = max(x - 1, 1 - tile_x()), right = min(x + 1, j.shape.cells_x - tile_x());
    const int top = 1 - tile_y(), bottom = j.shape.cells_y - tile_y();
    const float rho = __ldg(&j.noise->rho);
    float d[CELLS + 2], r[CELLS + 2];

#pragma unroll
    for (int k = 0; k < CELLS + 2; k++) {
        const int row = min(max(y - 1 + k, top), bottom);
        const float *const of_d = t.of.square.d[row], *const of_r = t.of.square.r[row];

        d[k] = of_d[left] + of_d[x] + of_d[right];
        r[k] = of_r[left] + of_r[x] + of_r[right];
    }
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        const float inv = __fdividef(1.0f / 9, ret[k].nu2);

        ret[k].d = (d[k] + d[k + 1] + d[k + 2]) * inv;
        ret[k].n = believed(ret[k].m, ret[k].d, (r[k] + r[k + 1] + r[k + 2]) * inv, rho);
    }
}

template <int C, bool ALONG>
static __device__ __forceinline__ void make_guess(const time_job &j, tile<C> &t, int x, int y,
                                                  guessed<C> ret[CELLS])
{
    __syncthreads();
    load_clamped<C, ALONG>(j, t);
    __syncthreads();
    add_columns<C>(t);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        ret[k] = {};
        take_light<C, ALONG>(j, t, x, y + k, ret[k]);
    }
    if (threadIdx.x < RING) {
        const int2 at = ring_cell(threadIdx.x);
        guessed<C> unused;

        take_light<C, ALONG>(j, t, at.x, at.y, unused);
    }
    __syncthreads();
    judge<C>(j, t, x, y, ret);
}

/* --- the mean --- */

/* What is averaged in a cell: n', the share of the guess along the motion, and the light of both
 * together in Y'CbCr, in stored steps. */
struct mixed {
    float n, f, light[3];
    float weight; /* of what was there before */
};

template <int C>
static __device__ __forceinline__ mixed mix(const time_job &j, const guessed<C> &still,
                                            const guessed<C> &moved, bool follows)
{
    mixed ret = {still.n, 0.0f, {}, 0.0f};
    float l[3] = {};

    if (follows && moved.n > 0.0f) {
        const float better = __fdividef(moved.d - still.d, __ldg(&j.noise->rho));

        ret.f = 1.0f / (1.0f + __expf(3.0f * better + 1.0f));
        ret.n += ret.f * (moved.n - still.n);
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
        l[c] = still.l[c] * TIME_LEVEL_STEPS;
        if (follows)
            l[c] += ret.f * (moved.l[c] * TIME_LEVEL_STEPS - l[c]);
    }
    ret.weight = __fdividef(ret.n, ret.n + 1.0f);
    ret.light[2] = l[2] * j.inv_f;
    ret.light[1] = (l[1] - j.e * ret.light[2]) * j.inv_d;
    ret.light[0] = (l[0] - j.b * ret.light[1] - j.c * ret.light[2]) * j.inv_a;
    return ret;
}

/* H = x - (x - P) n' / (n' + 1) of one sample, of which @still and @moved are guesses. */
static __device__ __forceinline__ uint32_t averaged(const mixed &m, int component, float x,
                                                    float still, float moved)
{
    const float p = still + m.f * (moved - still) + m.light[component];
    const float level = x * TIME_LEVEL_STEPS;
    const float h = level - (level - p) * m.weight;

    return min(__float2uint_rd(fmaxf(h + 0.5f, 0.0f)), 32767u);
}

/* One sample, or two beside each other in a word: of the frame, and of both guesses. */
struct samples {
    uint32_t x, still, moved;
};

template <bool TWO>
static __device__ __forceinline__ samples load(const uint8_t *now, const uint16_t *old,
                                               const uint16_t *state, int at, bool kept)
{
    samples r;

    if (TWO) {
        r.x = __ldg(reinterpret_cast<const uint16_t *>(now + at));
        r.still = __ldg(reinterpret_cast<const uint32_t *>(old + at));
        r.moved = kept ? *reinterpret_cast<const uint32_t *>(state + at) : r.still;
    } else {
        r.x = __ldg(now + at);
        r.still = __ldg(old + at);
        r.moved = kept ? state[at] : r.still;
    }
    return r;
}

template <bool TWO>
static __device__ __forceinline__ void store(const mixed &m, int component, const samples &s,
                                             uint16_t *to)
{
    const uint32_t first = averaged(m, component, number(s.x, LOW_BYTE), number(s.still, LOW_HALF),
                                    number(s.moved, LOW_HALF));

    if (TWO)
        *reinterpret_cast<uint32_t *>(to) =
            first | averaged(m, component, number(s.x, HIGH_BYTE), number(s.still, HIGH_HALF),
                             number(s.moved, HIGH_HALF))
                        << 16;
    else
        *to = uint16_t(first);
}

/* @kept: guesses along the motion lie where the mean will be. */
template <int C, int HS, int VS>
static __device__ __forceinline__ void store_levels(const time_job &j, const mixed &m, int cx,
                                                    int cy, bool kept)
{
    const time_shape &s = j.shape;
    const bool both = 2 * cy + 1 < s.height;
    samples of[2][C];

#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int y = 2 * cy + (i && both), at_c = (y >> VS) * s.stride_c + (cx << (1 - HS));

        of[i][0] =
            load<true>(j.now.luma, j.old.level[0], j.state.level[0], y * s.stride + 2 * cx, kept);
#pragma unroll
        for (int c = 1; c < C && !(VS && i); c++)
            of[i][c] = load<!HS>(j.now.chroma[c - 1], j.old.level[c], j.state.level[c], at_c, kept);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int y = 2 * cy + i, at_c = (y >> VS) * s.stride_c + (cx << (1 - HS));

        if (i && !both)
            continue;
        store<true>(m, 0, of[i][0], j.state.level[0] + y * s.stride + 2 * cx);
#pragma unroll
        for (int c = 1; c < C && !(VS && i); c++)
            store<!HS>(m, c, of[i][c], j.state.level[c] + at_c);
    }
}

/* A frame that begins is its own mean; one that was there before leaves all as it was. */
template <int C, int HS, int VS>
static __device__ __forceinline__ uint32_t store_known(const time_job &j, int cx, int cy)
{
    const time_shape &s = j.shape;

    for (int i = 0; i < 4; i++) {
        const int x = 2 * cx + i % 2, y = 2 * cy + i / 2;
        const int at = y * s.stride + x, at_c = (y >> VS) * s.stride_c + (x >> HS);

        if (y >= s.height)
            continue;
        j.state.level[0][at] =
            j.goes_on ? j.old.level[0][at] : uint16_t(j.now.luma[at] * TIME_LEVEL_STEPS);
        for (int c = 1; c < C; c++)
            j.state.level[c][at_c] = j.goes_on
                                         ? j.old.level[c][at_c]
                                         : uint16_t(j.now.chroma[c - 1][at_c] * TIME_LEVEL_STEPS);
    }
    return j.goes_on ? j.old.count[cy * s.cells_x + cx] : uint32_t(j.count_steps);
}

/* --- what the host gets to know of the counts --- */

/* @count: the stored counts of a thread's cells, of as many luma samples each as they have. */
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
        const uint32_t n =
            uint32_t(min(TIME_BLOCK, s.width - x) * min(TIME_BLOCK, s.height - y) * j.count_steps);

        j.report->counts[y / TIME_BLOCK * s.cols[0] + x / TIME_BLOCK] =
            uint8_t((4 * count + n) / (2 * n));
    }
    for (int away = BLOCKS / 2; away; away /= 2)
        count += __shfl_xor_sync(ALL, count, away);
    if (i > 0)
        return;
    atomicAdd(&j.noise->counted, (unsigned long long)count);
    __threadfence();
    if (atomicAdd(&j.noise->average_done, 1u) == gridDim.x * gridDim.y - 1) {
        __threadfence();
        j.report->counted = atomicExch(&j.noise->counted, 0ull);
        j.noise->average_done = 0;
    }
}

/* --- all of it --- */

/* Tables, and whether anything moves in the tile. */
template <int C> static __device__ __forceinline__ bool prepare(const time_job &j, tile<C> &t)
{
    const int i = threadIdx.x;
    bool moves = false;

    if (i < BLOCKS)
        t.counted[i] = 0;
    for (int k = i; k < 256; k += THREADS) {
        const float nu2 = __ldg(&j.noise->nu2[k]);

        t.nu2[k] = nu2;
        t.most[k] = 2.5f * sqrtf(nu2);
    }
    if (j.searches && j.goes_on && i < NEAR_WIDE * NEAR_HIGH) {
        const int col = clamp(tile_x() / BLOCK_CELLS - 1 + i % NEAR_WIDE, j.shape.cols[0] - 1);
        const int row = clamp(tile_y() / BLOCK_CELLS - 1 + i / NEAR_WIDE, j.shape.rows[0] - 1);
        const bool own = col * BLOCK_CELLS >= tile_x() && col * BLOCK_CELLS < tile_x() + WIDE &&
                         row * BLOCK_CELLS >= tile_y() && row * BLOCK_CELLS < tile_y() + HIGH;

        moves = own && moves_at(j, col, row);
        t.near[i / NEAR_WIDE][i % NEAR_WIDE] = moves_near(j, col, row);
    }
    return __syncthreads_or(moves);
}

template <int C, int HS, int VS>
static __global__ void __launch_bounds__(THREADS, 5) average(const time_job j)
{
    __shared__ tile<C> t;
    const time_shape &s = j.shape;
    const int x = threadIdx.x % WIDE + 1, y = threadIdx.x / WIDE * CELLS + 1;
    const bool moves = prepare<C>(j, t), changes = j.goes_on && is_new(j);
    const int cx = tile_x() - 1 + x, cy = tile_y() - 1 + y;
    guessed<C> still[CELLS];
    mixed m[CELLS] = {};
    uint32_t counted = 0;
    bool follows = false;

    let_next_start();
    if (changes) {
        make_guess<C, false>(j, t, x, y, still);
        if (moves) {
            const time_vector v =
                vector_at(j, clamp(2 * cx, s.width - 1), clamp(2 * cy, s.height - 1));
            guessed<C> moved[CELLS];

            follows = v.x || v.y;
            make_guess<C, true>(j, t, x, y, moved);
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                m[k] = mix<C>(j, still[k], moved[k], follows);
        } else {
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                m[k] = mix<C>(j, still[k], still[k], false);
        }
    }
#pragma unroll
    for (int k = 0; k < CELLS; k++)
        if (cx < s.cells_x && cy + k < s.cells_y) {
            uint32_t count;

            if (changes) {
                store_levels<C, HS, VS>(j, m[k], cx, cy + k, follows);
                count =
                    min(__float2uint_rd(
                            fminf(m[k].n + 1.0f, float(j.frames)) * float(j.count_steps) + 0.5f),
                        255u);
            } else {
                count = store_known<C, HS, VS>(j, cx, cy + k);
            }
            j.state.count[(cy + k) * s.cells_x + cx] = uint8_t(count);
            counted += count * uint32_t(2 * min(2, s.height - 2 * (cy + k)));
        }
    report<C>(j, t, counted);
}

extern "C" int time_average(const time_job *j, cudaStream_t stream)
{
    const time_shape &s = j->shape;
    const dim3 grid((s.cells_x + WIDE - 1) / WIDE, (s.cells_y + HIGH - 1) / HIGH);
    const auto kernel = s.components == 1 ? average<1, 0, 0>
                        : !s.hshift       ? average<3, 0, 0>
                        : !s.vshift       ? average<3, 1, 0>
                                          : average<3, 1, 1>;

    kernel<<<grid, THREADS, 0, stream>>>(*j);
    return bilateral_errno(cudaGetLastError());
}
