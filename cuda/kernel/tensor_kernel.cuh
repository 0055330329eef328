#pragma once
/* The tensor kernel as a whole. */
#include "cuda/kernel/tensor_end.cuh"

/* A row of patches on its way through the rows of chunks. */
struct walk {
    lane_place lane;
    int radius, last;                /* row of chunks, from the top of the windows */
    uint32_t features_at, values_at; /* the lane's part of the first slot, in shared memory */
    patch patches[PATCHES];
    chunks c;

    /* From column @x and row @top of the tile on. */
    __device__ __forceinline__ walk(const tensor_params &h, const tile &t, int x, int top)
        : radius(h.p.radius), last((h.p.radius + 1) / 2)
    {
        const int chunk = threadIdx.x / 8, n = threadIdx.x % 8;
        const uint4 *const own = t.features + (top + radius + lane.row()) * h.feature_stride +
                                 t.odd + x + radius + lane.column();

#pragma unroll
        for (int j = 0; j < PATCHES; j++)
            start_patch(patches[j], own + PATCH * j, lane);
        features_at = shared_address(t.features + (top + n / 2) * h.feature_stride + t.odd + x +
                                     2 * chunk + n % 2);
        values_at = shared_address(t.values + lane.g % 4 * h.value_plane +
                                   (top + lane.t) * h.value_stride + x);
        pin(features_at);
        pin(values_at);
    }
    /* How far below the lane's pixels its neighbours in @row are. */
    __device__ __forceinline__ int distance(int row) const
    {
        return PATCH * row + lane.t - lane.row() - radius;
    }
    /* The place of @row from step @step on. Beyond the last row it is that of the last. */
    __device__ __forceinline__ uint32_t features_of(const tensor_params &h, int row, int step) const
    {
        return features_at + min(row, last) * h.feature_row +
               step * (PATCH * uint32_t(sizeof(uint4)));
    }
    __device__ __forceinline__ uint32_t values_of(const tensor_params &h, int row, int step) const
    {
        return values_at + min(row, last) * h.value_row +
               step * (PATCH * uint32_t(sizeof(uint16_t)));
    }
    __device__ __forceinline__ void begin(uint32_t features, uint32_t values)
    {
        c.next_features = features;
        c.next_values = values;
#pragma unroll
        for (int i = 0; i < SLOTS; i++)
            c.load_next(i);
    }
};

/* The columns of a square window that some pixels of a patch have and others have not. */
static __device__ __forceinline__ void set_sides(square_window &s, const lane_place &l)
{
    const bool second = l.g % 2;

    s.left = {{{second ? 0 : BOTH, second ? 0 : SECOND}, {BOTH, second ? SECOND : BOTH}}};
    s.right = {{{second ? BOTH : FIRST, BOTH}, {second ? FIRST : 0, second ? BOTH : 0}}};
}

/* @EDGE: some of the row's neighbours are above or below the window of some pixels. */
template <bool ODD, bool EDGE>
static __device__ __forceinline__ void walk_square_row(const tensor_params &h, walk &w,
                                                       square_window &s, int row)
{
    const bool within = !EDGE || abs(w.distance(row)) <= w.radius;

    /* Far below 0 outside the window. Two constants, because a register that is used twice would
     * be copied before each product. */
    s.rows[0] = within ? 0 : 0xbc00bc00;
    s.rows[1] = within ? 0 : 0xbbffbbff;
    if (EDGE) {
        pin(s.rows[0]);
        pin(s.rows[1]);
    }
    w.c.turn(w.features_of(h, row + 1, 0), w.values_of(h, row + 1, 0));
    add_pairs<false>(w.patches, w.c, 0, false, s.rows, s.left);
#pragma unroll 1
    for (int d = 1; !add_square<ODD>(w.patches, w.c, s, d); d += PATCHES)
        ;
}

template <bool ODD>
static __device__ __forceinline__ void walk_square(const tensor_params &h, walk &w)
{
    square_window s;

    s.last = w.radius / 2;
    set_sides(s, w.lane);
    w.begin(w.features_at, w.values_at);
#pragma unroll 1
    for (int row = 0; row <= w.last; row++)
        if (row == 0 || row >= w.radius / 2)
            walk_square_row<ODD, true>(h, w, s, row);
        else
            walk_square_row<ODD, false>(h, w, s, row);
}

/* The steps of a row of chunks; the row of neighbours that is nearest to one of the pixels has the
 * most columns. */
static __device__ __forceinline__ void set_steps(const tensor_params &h, const walk &w, int row,
                                                 disc_row &r)
{
    const int above = PATCH * row - w.radius - PATCH + 1, below = above + 2 * (PATCH - 1);
    const int widest = h.half_width[above > 0 ? above : below < 0 ? -below : 0];

    r.first = (w.radius - widest) / PATCH;
    r.last = (w.radius + PATCH - 1 + widest) / PATCH;
}

static __device__ __forceinline__ void walk_disc(const tensor_params &h, walk &w)
{
    disc_row r, next;

    set_steps(h, w, 0, next);
    w.begin(w.features_of(h, 0, next.first & ~1), w.values_of(h, 0, next.first & ~1));
#pragma unroll 1
    for (int row = 0; row <= w.last; row++) {
        const int begin = next.first & ~1;
        const float distance = float(PATCH * begin - w.radius - w.lane.column());
        const float width = float(h.half_width[min(abs(w.distance(row)), w.radius + 1)]);

        r.first = next.first;
        r.last = next.last;
        r.distance = __floats2half2_rn(distance, distance + 1.0f);
        r.width = __float2half2_rn(width);
        set_steps(h, w, min(row + 1, w.last), next);
        w.c.turn(w.features_of(h, row + 1, next.first & ~1),
                 w.values_of(h, row + 1, next.first & ~1));
#pragma unroll 1
        for (int d = begin; !add_disc(w.patches, w.c, r, d); d += PATCHES)
            ;
    }
}

/* Gaussian weights on tensor cores; a warp filters one row of patches after the other. Two blocks
 * of 128 registers a thread fit into a multiprocessor. */
template <bool SQUARE, bool ODD>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, 2) tensor_kernel(const tensor_params h)
{
/* The products in bfloat16 are there from compute capability 8.0 on. */
#if __CUDA_ARCH__ >= 800
    extern __shared__ uint4 shared[];
    const tile t(h, shared);
    const int across = h.tile_columns / WARP_COLUMNS, rows = across * (h.tile_rows / PATCH);

    fill<ODD>(h, t);
    __syncthreads();
    for (int i = threadIdx.y; i < rows; i += blockDim.y) {
        const int x = i % across * WARP_COLUMNS, top = i / across * PATCH;
        const int picture_x = blockIdx.x * h.tile_columns + x;
        const int picture_y = h.p.row_begin + blockIdx.y * h.tile_rows + top;

        if (picture_x >= h.p.width || picture_y >= h.p.row_end)
            continue;
        walk w(h, t, x, top);

        if (SQUARE)
            walk_square<ODD>(h, w);
        else
            walk_disc(h, w);
        if (h.p.packed)
            finish_packed(h.p, w.lane, w.patches, picture_x, picture_y);
        else
            finish_planar(h.p, w.lane, w.patches, picture_x, picture_y);
    }
#endif
}
