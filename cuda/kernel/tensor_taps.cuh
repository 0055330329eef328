#pragma once
/* The inner loop of the tensor kernel: weights and sums of a warp's patches. */
#include "cuda/kernel/tensor_tile.cuh"

namespace
{

/* A lane has rows g and g + 8 of each product: the two pixels of a pair, g % 2 of the two pairs in
 * row g / 2 of the patch. */
struct lane_place {
    int g, t;

    __device__ __forceinline__ lane_place() : g(threadIdx.x / 4), t(threadIdx.x % 4)
    {
    }
    __device__ __forceinline__ int column() const
    {
        return 2 * (g % 2);
    }
    __device__ __forceinline__ int row() const
    {
        return g / 2;
    }
    /* Whether its neighbour in the products of weights and values is 1, and no sample. */
    __device__ __forceinline__ bool sums_ones() const
    {
        return g % 4 == 1;
    }
};

struct patch {
    uint32_t features[2]; /* of both pixels, with the constants of p's side */
    struct sums sums;
};

/* Turns word t of an entry into that of p's side, where places have their factor, and the norm
 * gives way to what it is multiplied by. The constant is rounded to half precision, and the factor
 * of 1/2 + 2^-11 sees to it that no exponent gets beyond ONE by that; by the rounding of places
 * some get a few units beyond it. */
struct own_side {
    uint32_t select, factors, terms;

    __device__ __forceinline__ own_side(int t, float place_factor)
    {
        const uint32_t one = bits(__float2half2_rn(ONE / 16777216.0f));

        if (LORENTZIAN) {
            select = t < 2 ? 0x3210 : 0x1032;
            factors = t == 0 ? 0xc000c000 : t == 1 ? 0x0000c000 : BOTH;
            terms = t == 3 ? SECOND : 0;
            return;
        }
        select = t == 3 ? 0x1010 : 0x3210;
        factors = t == 0   ? BOTH
                  : t == 1 ? bits(__float2half2_rn(place_factor))
                  : t == 2 ? FIRST
                           : 0xb8010000;
        terms = t < 2 ? 0 : t == 2 ? 0xb8000000 : low_halves(0xb800, one);
    }
    __device__ __forceinline__ void keep()
    {
        pin(select);
        pin(factors);
        pin(terms);
    }
    __device__ __forceinline__ uint32_t of(uint32_t word) const
    {
        return bits(
            __hfma2(from_bits(__byte_perm(word, 0, select)), from_bits(factors), from_bits(terms)));
    }
};

/* A warp's patches; @at is the entry of this lane's row of the matrices of the first two. */
static __device__ __forceinline__ void start_patches(patch p[PATCHES], uint32_t at,
                                                     const own_side &side)
{
#pragma unroll
    for (int j = 0; j < PATCHES; j += 2) {
        uint32_t words[4];

        load_matrices(words, at + PATCH * j * uint32_t(sizeof(uint4)));
#pragma unroll
        for (int i = 0; i < 4; i++)
            p[j + i / 2].features[i % 2] = side.of(words[i]);
        p[j].sums.start();
        p[j + 1].sums.start();
    }
}

#define SLOTS (PATCHES / 2)
#define SLOT_FEATURES (2 * PATCH * uint32_t(sizeof(uint4)))
#define SLOT_VALUES (2 * PATCH * uint32_t(sizeof(uint16_t)))

/* Chunks of a row of the tile in registers. A pair of chunks is 4 columns; patch j meets pair d + j
 * at step d. So PATCHES pairs are needed at a time, and each new one takes the place of one that no
 * patch needs any more. A slot has two pairs, which are loaded at once. */
struct chunks {
    uint32_t features[SLOTS][4];
    uint32_t values[SLOTS][4];
    uint32_t features_at, values_at;     /* what comes next of this row, in shared memory */
    uint32_t next_features, next_values; /* the row that follows it */

    __device__ __forceinline__ void load(int slot)
    {
        load_matrices(features[slot], features_at);
        load_16_bytes(values[slot], values_at);
        features_at += SLOT_FEATURES;
        values_at += SLOT_VALUES;
    }
    __device__ __forceinline__ void load_next(int slot)
    {
        load_matrices(features[slot], next_features + slot * SLOT_FEATURES);
        load_16_bytes(values[slot], next_values + slot * SLOT_VALUES);
    }
    __device__ __forceinline__ void begin()
    {
#pragma unroll
        for (int i = 0; i < SLOTS; i++)
            load_next(i);
    }
    /* Goes on to the next row, whose first pairs are loaded. */
    __device__ __forceinline__ void turn()
    {
        features_at = next_features + SLOTS * SLOT_FEATURES;
        values_at = next_values + SLOTS * SLOT_VALUES;
    }
    /* Loads what there is room for after patch @j has had its pair of a step that began at pair
     * @first of the slots. In the last step of a row that is what the next row begins with. */
    __device__ __forceinline__ void refill(int first, int j, bool last)
    {
        const int k = (first + j) % PATCHES;

        if (j == 0 && first % 2)
            load(k / 2);
        else if (last && (k % 2 || (first % 2 && j == PATCHES - 1)))
            load_next(k / 2);
    }
};

/* What is inside the window, for columns 0 and 1 of a chunk. */
struct words_of_pair {
    uint32_t of[2][2]; /* [chunk of a pair][pixel] */
};

/* As factors of weights, 0 and 1 or spatial weights, it costs the least where a register or two
 * hold it, as terms of exponents where each word is another register (2026-11, NVIDIA H200). Such a
 * term is 0 inside; outside it is negative or no number, which is saturated to 0. */
struct mask {
    words_of_pair factors, terms;
};

static __device__ __forceinline__ mask factors_only(const words_of_pair &factors)
{
    return {factors, {}};
}

static __device__ __forceinline__ mask terms_only(const words_of_pair &terms)
{
    return {{{{BOTH, BOTH}, {BOTH, BOTH}}}, terms};
}

/* The weights of a chunk for both pixels of a lane. */
static __device__ __forceinline__ void weigh(uint32_t w[2], const uint32_t features[2],
                                             uint32_t chunk, const mask &m, int i)
{
    uint32_t products[2];

    multiply_halves(products, features, chunk, m.terms.of[i]);
    w[0] = weights(from_bits(products[0]), from_bits(m.factors.of[i][0]));
    w[1] = weights(from_bits(products[1]), from_bits(m.factors.of[i][1]));
}

/* Adds two chunks to a patch, or the first of them. */
template <bool HALF>
static __device__ __forceinline__ void add_pair(patch &p, const uint32_t features[2],
                                                const uint32_t values[2], const mask &m)
{
    uint32_t w[2], more[2];

    weigh(w, p.features, features[0], m, 0);
    if (HALF) {
        p.sums.add_8(w, values[0]);
    } else {
        weigh(more, p.features, features[1], m, 1);
        p.sums.add_16(w, more, values[0], values[1]);
    }
}

/* A step: adds its pair to each patch. @first is the place of the first patch's pair. */
template <bool HALF>
static __device__ __forceinline__ void add_pairs(patch p[PATCHES], chunks &c, int first, bool last,
                                                 const mask &m)
{
#pragma unroll
    for (int j = 0; j < PATCHES; j++) {
        const int k = (first + j) % PATCHES;

        add_pair<HALF>(p[j], c.features[k / 2] + k % 2 * 2, c.values[k / 2] + k % 2 * 2, m);
        c.refill(first, j, last);
    }
}

/* What a row of chunks needs to know of a square window. */
struct square_window {
    words_of_pair left, middle, right; /* factors */
    uint32_t rows[2];                  /* terms that say the same of rows, where factors do not */
    int between; /* the steps from the first, which needs the left mask, to the right one */

    /* In registers, for all rows of chunks: up to 1 % quicker where the radius is known. */
    __device__ __forceinline__ void keep()
    {
        pin(left.of[0][0]);
        pin(left.of[0][1]);
        pin(left.of[1][1]);
        pin(right.of[0][0]);
        pin(right.of[1][0]);
        pin(right.of[1][1]);
    }
    /* @EDGE: the terms count. */
    template <bool EDGE> __device__ __forceinline__ mask masked(const words_of_pair &columns) const
    {
        if (EDGE)
            return {columns, {{{rows[0], rows[1]}, {rows[0], rows[1]}}}};
        return factors_only(columns);
    }
    /* In an odd window's last step but one, and in the last one, which has one chunk. */
    __device__ __forceinline__ words_of_pair right_begins() const
    {
        return {{{middle.of[0][0], middle.of[0][1]}, {right.of[0][0], right.of[0][1]}}};
    }
    __device__ __forceinline__ words_of_pair right_ends() const
    {
        return {{{right.of[1][0], right.of[1][1]}, {}}};
    }
};

/* The end of a row whose last pairs begin at pair @slot of the slots. */
template <bool ODD>
static __device__ __forceinline__ void end_square_row(patch p[PATCHES], chunks &c,
                                                      const square_window &s, int slot)
{
    if (ODD) {
        add_pairs<false>(p, c, slot, false, factors_only(s.right_begins()));
        add_pairs<true>(p, c, (slot + 1) % PATCHES, true, factors_only(s.right_ends()));
    } else {
        add_pairs<false>(p, c, slot, true, factors_only(s.right));
    }
}

/* Steps after the first one, of which the next has the slots from I + 1 on and @left come before
 * the last one; true: that was all. */
template <bool ODD, int I = 0>
static __device__ __forceinline__ bool add_square(patch p[PATCHES], chunks &c,
                                                  const square_window &s, int left)
{
    if (left == I) {
        end_square_row<ODD>(p, c, s, (I + 1) % PATCHES);
        return true;
    }
    add_pairs<false>(p, c, (I + 1) % PATCHES, false, factors_only(s.middle));
    if constexpr (I + 1 < PATCHES)
        return add_square<ODD, I + 1>(p, c, s, left);
    return false;
}

/* Pairs of chunks in registers, each of which meets all patches that need it. The first slot of a
 * row has a place of its own, because it is loaded while the row before ends. */
struct row_pairs {
    uint32_t features[3][4];
    uint32_t values[3][4];
    uint32_t features_at, values_at; /* of the row, in shared memory */

    static __device__ __forceinline__ int place(int slot)
    {
        return slot ? 1 + slot % 2 : 0;
    }
    __device__ __forceinline__ void load(int slot)
    {
        load_matrices(features[place(slot)], features_at + slot * SLOT_FEATURES);
        load_16_bytes(values[place(slot)], values_at + slot * SLOT_VALUES);
    }
};

/* Adds pair @k of a row to the patch for which that is step @step of @STEPS. */
template <bool ODD, bool EDGE, int STEPS>
static __device__ __forceinline__ void add_square_pair(patch &p, const row_pairs &c,
                                                       const square_window &s, int k, int step)
{
    const uint32_t *const features = c.features[c.place(k / 2)] + k % 2 * 2;
    const uint32_t *const values = c.values[c.place(k / 2)] + k % 2 * 2;

    if (ODD && step == STEPS - 1)
        add_pair<true>(p, features, values, s.masked<EDGE>(s.right_ends()));
    else if (ODD && step == STEPS - 2)
        add_pair<false>(p, features, values, s.masked<EDGE>(s.right_begins()));
    else if (!ODD && step == STEPS - 1)
        add_pair<false>(p, features, values, s.masked<EDGE>(s.right));
    else
        add_pair<false>(p, features, values, s.masked<EDGE>(step ? s.middle : s.left));
}

/* @features_step and @values_step lead to the next row. */
template <bool ODD, bool EDGE, int STEPS>
static __device__ __forceinline__ void add_square_row(patch p[PATCHES], row_pairs &c,
                                                      const square_window &s,
                                                      uint32_t features_step, uint32_t values_step)
{
    constexpr int pairs = PATCHES + STEPS - 1, last = (pairs - 1) / 2;

#pragma unroll
    for (int k = 0; k < pairs; k++) {
        if (k % 2 == 0 && k / 2 < last)
            c.load(k / 2 + 1);
        if (k == 2 * last) {
            c.features_at += features_step;
            c.values_at += values_step;
            c.load(0);
        }
#pragma unroll
        for (int j = PATCHES - 1; j >= 0; j--)
            if (k - j >= 0 && k - j < STEPS)
                add_square_pair<ODD, EDGE, STEPS>(p[j], c, s, k, k - j);
    }
}

/* What a row's neighbours count for a lane's pixels. */
struct window_row {
    uint32_t at; /* in shared memory */

    /* From column @column of the windows' union on, @dy rows below the lane's pixels. */
    __device__ __forceinline__ window_row(const tile &t, const lane_place &l, int column, int dy)
        : at(shared_address(t.window + (2 * abs(dy) + l.g % 2) * t.l.window_stride + column / 2))
    {
    }
    /* Of the next two chunks. */
    __device__ __forceinline__ mask next()
    {
        words_of_pair m;

        load_16_bytes(m.of[0], at);
        at += uint32_t(sizeof(m));
        return LORENTZIAN ? factors_only(m) : terms_only(m);
    }
    /* Of the next two chunks of 4 columns by 2 rows. */
    __device__ __forceinline__ mask next_low()
    {
        words_of_pair m;

        load_8_bytes(m.of[0], at);
        load_8_bytes(m.of[1], at + uint32_t(sizeof(m)));
        at += 2 * uint32_t(sizeof(m));
        return LORENTZIAN ? factors_only(m) : terms_only(m);
    }
};

/* Steps of which the next has the slots from I on and @left come before the last one; true: that
 * was all. @skip: in the next one there is nothing. @half: in the last one there is one chunk. */
template <int I = 0>
static __device__ __forceinline__ bool add_disc(patch p[PATCHES], chunks &c, window_row &r,
                                                bool skip, bool half, int left)
{
    const mask m = r.next();

    if (left == I) {
        if (half)
            add_pairs<true>(p, c, I, true, m);
        else
            add_pairs<false>(p, c, I, true, m);
        return true;
    }
    if (!skip)
        add_pairs<false>(p, c, I, false, m);
    if constexpr (I + 1 < PATCHES)
        return add_disc<I + 1>(p, c, r, false, half, left);
    return false;
}

} // namespace
