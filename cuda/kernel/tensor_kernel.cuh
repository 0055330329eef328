#pragma once
/* The tensor kernel as a whole. */
#include "cuda/kernel/tensor_end.cuh"
#include "cuda/kernel/tensor_low.cuh"

namespace
{

#ifdef __CUDA_ARCH__
#define ARCH_MAJOR (__CUDA_ARCH__ / 100)
#else
#define ARCH_MAJOR 9 /* any */
#endif

/* Where the radius is known, the layout is, too. */
template <bool SQUARE, int RADIUS>
static constexpr tensor_layout known_layout = choose_layout({RADIUS, true, !SQUARE, PATCHES},
                                                            known_memory(ARCH_MAJOR));

/* Whether such a kernel is taken. */
template <bool SQUARE, int RADIUS>
static constexpr bool is_taken = known_wins(SQUARE, {RADIUS, false, !SQUARE, PATCHES},
                                            known_memory(ARCH_MAJOR));

/* Whether there is a table of the window. */
template <bool SQUARE, bool ODD, int RADIUS>
static constexpr bool has_table =
    RADIUS > 0 ? known_layout<SQUARE, RADIUS>.window_rows > 0 : !SQUARE || ODD;

/* An entry of the tile. */
static __device__ __forceinline__ const uint4 *entry(const tile &t, int column, int row)
{
    return t.features + row * t.l.feature_stride + t.odd + column;
}

/* A sample in the plane of the lane's column of sums: Y, 1, U, V. */
static __device__ __forceinline__ const uint16_t *samples(const tile &t, const lane_place &l,
                                                          int column, int row)
{
    const int plane = 0x9c >> 2 * (l.g % 4) & 3;

    return t.values + plane * t.l.value_plane + (l.sums_ones() ? 0 : row * t.l.value_stride) +
           column;
}

/* Where row of patches @i is in the tile. */
struct patches_place {
    int x, top;

    __device__ __forceinline__ patches_place(const tensor_layout &l, int i)
        : x((i & (1 << l.across_shift) - 1) * (PATCH * PATCHES)), top((i >> l.across_shift) * PATCH)
    {
    }
};

/* What a row of patches begins with: the lane's part in shared memory. */
struct corner {
    uint32_t own, features, values;
    uint32_t values_step; /* from row to row of chunks: ones are the same in all */

    __device__ __forceinline__ corner(const tile &t, const patches_place &at)
    {
        const lane_place l;
        const int x = at.x, top = at.top;
        const int matrix = threadIdx.x / 8, n = threadIdx.x % 8;

        own =
            shared_address(entry(t, x + t.radius + PATCH * (matrix / 2) + 2 * (n % 2) + matrix % 2,
                                 top + t.radius + n / 2));
        features = shared_address(entry(t, x + 2 * matrix + n % 2, top + n / 2));
        values = shared_address(samples(t, l, x, top + l.t));
        values_step = l.sums_ones() ? 0 : t.l.value_row;
    }
    __device__ __forceinline__ void keep()
    {
        pin(own);
        pin(features);
        pin(values);
        pin(values_step);
    }
    /* So many rows of patches further down. */
    __device__ __forceinline__ void move_down(const tile &t, int rows)
    {
        own += rows * t.l.feature_row;
        features += rows * t.l.feature_row;
        values += rows * values_step;
    }
};

/* A row of patches on its way through the rows of chunks. */
struct walk {
    lane_place lane;
    int x, top, radius;                /* @x, @top: from the tile's corner */
    int last;                          /* whole row of chunks of the windows */
    int own_first, own_last;           /* those that this warp goes through */
    uint32_t features_row, values_row; /* the lane's part of the next row, in shared memory */
    uint32_t values_step;
    patch patches[PATCHES];
    chunks c;

    __device__ __forceinline__ walk(const corner &begin, const own_side &side, int radius,
                                    const patches_place &at)
        : x(at.x), top(at.top), radius(radius), last(radius / 2), own_first(0), own_last(last),
          features_row(begin.features), values_row(begin.values), values_step(begin.values_step)
    {
        start_patches(patches, begin.own, side);
        pin(features_row);
        pin(values_row);
        pin(values_step);
    }
    /* Leaves the rows of chunks from @split_row on to another warp, or those before it. */
    __device__ __forceinline__ void split(const tile &t, int split_row, bool second)
    {
        if (!second) {
            own_last = split_row - 1;
            return;
        }
        own_first = split_row;
        features_row += own_first * t.l.feature_row;
        values_row += own_first * values_step;
    }
    /* How far below the lane's pixels @row is, from the top of the windows. */
    __device__ __forceinline__ int distance(int row) const
    {
        return row - lane.row() - radius;
    }
    /* Whether the lane's neighbours in a row of chunks are neither above nor below the windows. */
    __device__ __forceinline__ bool inside_rows(int row) const
    {
        return abs(distance(PATCH * row + lane.t)) <= radius;
    }
    /* Loads what the first row begins with, at @step. */
    __device__ __forceinline__ void begin(int step)
    {
        name(step);
        c.begin();
    }
    /* Goes on to @row; the one that follows it, or the last one again, begins at @next_step. */
    __device__ __forceinline__ void turn(const tile &t, int row, int next_step)
    {
        c.turn();
        if (row < own_last) {
            features_row += t.l.feature_row;
            values_row += values_step;
        }
        name(next_step);
    }
    __device__ __forceinline__ void name(int step)
    {
        c.next_features = features_row + step * (SLOT_FEATURES / 2);
        c.next_values = values_row + step * (SLOT_VALUES / 2);
    }
    __device__ __forceinline__ void flush()
    {
#pragma unroll
        for (int j = 0; j < PATCHES; j++)
            patches[j].sums.flush();
    }
};

/* @all: of the neighbours in columns that all pixels of a patch see. */
static __device__ __forceinline__ void set_factors(square_window &s, const lane_place &l,
                                                   uint32_t all)
{
    const bool second = l.g % 2;
    const uint32_t one = all & FIRST, other = all & SECOND;

    s.left = {{{second ? 0 : all, second ? 0 : other}, {all, second ? other : all}}};
    s.middle = {{{all, all}, {all, all}}};
    s.right = {{{second ? all : one, all}, {second ? one : 0, second ? all : 0}}};
}

/* Of neighbours that are above or below the windows. Their two words are unlike, so that both stay
 * in registers. */
static __device__ __forceinline__ void set_rows(uint32_t rows[2], bool inside)
{
    rows[0] = inside ? 0 : 0xbc00bc00;
    rows[1] = inside ? 0 : 0xbbffbbff;
    pin(rows[0]);
    pin(rows[1]);
}

/* @EDGE: some of the row's neighbours are above or below the window of some pixels. */
template <bool ODD, bool EDGE>
static __device__ __forceinline__ void walk_square_row(walk &w, square_window &s, int row)
{
    uint32_t all = BOTH;

    if (EDGE) {
        all = w.inside_rows(row) ? BOTH : 0;
        pin(all);
    }
    set_factors(s, w.lane, all);
    add_pairs<false>(w.patches, w.c, 0, false, factors_only(s.left));
#pragma unroll 1
    for (int left = s.between; !add_square<ODD>(w.patches, w.c, s, left); left -= PATCHES)
        ;
}

/* The same pair by pair. */
template <bool ODD, int RADIUS>
static __device__ __forceinline__ void walk_square_in_pairs(const tile &t, walk &w)
{
    constexpr int last = RADIUS / 2, steps = last + 1 + ODD;
    square_window s;
    row_pairs c;

    set_factors(s, w.lane, BOTH);
    s.keep();
    c.features_at = w.features_row;
    c.values_at = w.values_row;
    c.load(0);
#pragma unroll 1
    for (int row = 0; row <= last; row++) {
        const uint32_t features_step = row < last ? t.l.feature_row : 0;
        const uint32_t values_step = row < last ? w.values_step : 0;

        if (row == 0 || row == last) {
            set_rows(s.rows, w.inside_rows(row));
            add_square_row<ODD, true, steps>(w.patches, c, s, features_step, values_step);
        } else {
            add_square_row<ODD, false, steps>(w.patches, c, s, features_step, values_step);
        }
        w.flush();
    }
}

template <bool ODD> static __device__ __forceinline__ void walk_square(const tile &t, walk &w)
{
    square_window s;

    s.between = w.last - 1;
    w.begin(0);
#pragma unroll 1
    for (int row = w.own_first; row <= w.own_last; row++) {
        w.turn(t, row, 0);
        if (row == 0 || row == w.last)
            walk_square_row<ODD, true>(w, s, row);
        else
            walk_square_row<ODD, false>(w, s, row);
        w.flush();
    }
}

static __device__ __forceinline__ void walk_disc(const tensor_params &h, const tile &t, walk &w)
{
    int first = h.first_step[w.own_first];

    w.begin(first & ~1);
#pragma unroll 1
    for (int row = w.own_first; row <= w.own_last; row++) {
        const int begin = first & ~1, between = h.last_step[row] - begin;
        const bool skip = first % 2, half = h.half_step[row];
        window_row r(t, w.lane, PATCH * begin, w.distance(PATCH * row + w.lane.t));

        first = h.first_step[min(row + 1, w.own_last)];
        w.turn(t, row, first & ~1);
#pragma unroll 1
        for (int left = between; !add_disc(w.patches, w.c, r, skip && left == between, half, left);)
            left -= PATCHES;
        w.flush();
    }
}

/* The last two rows of the windows, where the radius is odd. */
template <bool SQUARE, int RADIUS>
static __device__ __forceinline__ void walk_low_row(const tensor_params &h, const tile &t, walk &w)
{
    constexpr int n_chunks = (RADIUS + 1) / 2 + 1; /* in a square, where the radius is known */
    const int row = PATCH * (w.last + 1), first = SQUARE ? 0 : h.low_first;
    const int last = SQUARE ? (w.radius + 1) / 2 : h.low_last;
    const int matrix = threadIdx.x / 8, n = threadIdx.x % 8;
    const int own = 2 * (w.lane.t % 2); /* the lane's columns of a chunk */
    const int distance = w.distance(row + w.lane.t / 2);
    low_chunks c;

    c.features_at =
        shared_address(entry(t, w.x + PATCH * (first + matrix) + n % 4, w.top + row + n / 4));
    c.values_at =
        shared_address(samples(t, w.lane, w.x + PATCH * first + own, w.top + row + w.lane.t / 2));
    if constexpr (has_table<SQUARE, true, RADIUS>) {
        window_row r(t, w.lane, PATCH * first + own, distance);

        if constexpr (SQUARE && RADIUS > 0)
            add_known_low_row<n_chunks>(w.patches, c, [&](int) { return r.next_low(); });
        else
            add_low_row(w.patches, c, r, last + 1 - first);
    } else {
        const low_square s(w.lane);
        uint32_t rows[2];

        set_rows(rows, distance <= RADIUS);
        add_known_low_row<n_chunks>(w.patches, c,
                                    [&](int k) { return s.masked(k, n_chunks, rows); });
    }
    w.flush();
}

template <bool SQUARE, bool ODD, int RADIUS>
static __device__ __forceinline__ void walk_rows(const tensor_params &h, const tile &t, walk &w)
{
    if constexpr (SQUARE && RADIUS > 0)
        walk_square_in_pairs<ODD, RADIUS>(t, w);
    else if (SQUARE)
        walk_square<ODD>(t, w);
    else
        walk_disc(h, t, w);
    if (ODD && w.own_last == w.last)
        walk_low_row<SQUARE, RADIUS>(h, t, w);
}

/* Stores a walk's first @N patches. */
template <int N>
static __device__ __forceinline__ void finish(const tensor_params &h, const walk &w, int picture_x,
                                              int picture_y)
{
    if (h.p.packed)
        finish_packed<N>(h.p, w.lane, w.patches, picture_x, picture_y);
    else
        finish_planar<N>(h.p, w.lane, w.patches, picture_x, picture_y);
}

/* A thread's part of a tile. */
template <bool SQUARE, bool ODD, int RADIUS>
static __device__ __forceinline__ void make_tile(const tensor_params &h, const tile &t,
                                                 const part &own)
{
    constexpr int rows = RADIUS > 0 ? known_layout<SQUARE, RADIUS>.fill_rows : MOST_AT_ONCE;
    constexpr int at_once = rows < MOST_AT_ONCE ? rows : MOST_AT_ONCE;

    fill<ODD, has_table<SQUARE, ODD, RADIUS>, at_once>(h, t, own);
}

/* Row of patches @i of a tile. @begin: what it begins with, where the radius is known. */
template <bool SQUARE, bool ODD, int RADIUS>
static __device__ __forceinline__ void filter_patches(const tensor_params &h, const tile &t,
                                                      const corner *begin, const own_side &side,
                                                      int i)
{
    const part own(h, t.l);
    const patches_place at(t.l, i);
    const int picture_x = blockIdx.x * t.l.tile_columns + at.x;
    const int picture_y = own.picture_top + at.top;

    if (at.top >= own.rows || picture_x >= h.p.width || picture_y >= h.p.row_end)
        return;
    walk w(RADIUS > 0 ? *begin : corner(t, at), side, t.radius, at);

    walk_rows<SQUARE, ODD, RADIUS>(h, t, w);
    finish<PATCHES>(h, w, picture_x, picture_y);
}

/* Weights on tensor cores; a warp filters one row of patches after the other. */
template <bool SQUARE, bool ODD>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, 1) tensor_kernel(const tensor_params h)
{
#if HAS_FORM
    extern __shared__ uint4 shared[];
    const tensor_layout l = h.l;
    const part own(h, l);
    const tile t(l, own, shared, h.p.radius, ODD);

    if (own.picture_top >= h.p.row_end)
        return;
    make_tile<SQUARE, ODD, 0>(h, t, own);
    __syncthreads();
    const own_side side(lane_place().t, h.place_factor);

    for (int i = threadIdx.y; i < l.walks; i += l.warps)
        filter_patches<SQUARE, ODD, 0>(h, t, NULL, side, i);
#endif
}

/* The same with a radius that the compiler knows: there are registers for what rows of patches
 * begin with, which is made while the tile is being filled. */
template <bool SQUARE, int RADIUS>
static __global__ void __launch_bounds__(known_layout<SQUARE, RADIUS>.warps *WARP,
                                         known_layout<SQUARE, RADIUS>.fit)
    tensor_known_kernel(const tensor_params h)
{
#if HAS_FORM
    extern __shared__ uint4 shared[];
    constexpr bool odd = RADIUS % 2 != 0;
    constexpr tensor_layout l = known_layout<SQUARE, RADIUS>;
    const part own(h, l);
    const tile t(l, own, shared, RADIUS, odd);
    int i = threadIdx.y;

    if (!is_taken<SQUARE, RADIUS> || own.picture_top >= h.p.row_end)
        return;
    make_tile<SQUARE, odd, RADIUS>(h, t, own);
    corner begin(t, patches_place(l, i));
    own_side side(lane_place().t, h.place_factor);

    begin.keep();
    if (!odd || l.walks == l.warps) /* else too few registers are left */
        side.keep();
    __syncthreads();
    if constexpr (l.walks == l.warps)
        filter_patches<SQUARE, odd, RADIUS>(h, t, &begin, side, i);
    else
        for (; i < l.walks; i += l.warps) { /* which leads straight down */
            filter_patches<SQUARE, odd, RADIUS>(h, t, &begin, side, i);
            begin.move_down(t, l.warps >> l.across_shift);
        }
#endif
}

/* The same where there are two warps for each row of patches: the first goes through the upper rows
 * of chunks, the second through the others, and each stores half of the patches. */
template <bool SQUARE, bool ODD>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, 1)
    tensor_split_kernel(const tensor_params h)
{
#if HAS_FORM
    extern __shared__ uint4 shared[];
    const tensor_layout l = h.l;
    const part own(h, l);
    const tile t(l, own, shared, h.p.radius, ODD);
    /* The vote tells the compiler that it is the same for all of a warp. */
    const bool second = __any_sync(0xffffffffu, threadIdx.y >= l.warps / 2);
    const int i = threadIdx.y - (second ? l.warps / 2 : 0);
    const patches_place at(l, i);
    const int picture_x = blockIdx.x * l.tile_columns + at.x;
    const int picture_y = own.picture_top + at.top;

    if (own.picture_top >= h.p.row_end)
        return;
    make_tile<SQUARE, ODD, 0>(h, t, own);
    __syncthreads();
    if (at.top >= own.rows || picture_x >= h.p.width || picture_y >= h.p.row_end)
        return; /* both warps do */
    walk w(corner(t, at), own_side(lane_place().t, h.place_factor), t.radius, at);

    w.split(t, h.split_row, second);
    walk_rows<SQUARE, ODD, 0>(h, t, w);
    share_sums(w.patches, reinterpret_cast<float4 *>(shared) + i * (PATCHES * WARP), second);
    finish<PATCHES / 2>(h, w, picture_x + (second ? PATCH * PATCHES / 2 : 0), picture_y);
#endif
}

} // namespace
