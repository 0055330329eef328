#pragma once
/* The inner loop of the tensor kernel: weights and sums of a warp's patches. */
#include "cuda/kernel/tensor_tile.cuh"

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
};

struct patch {
    uint32_t features[2]; /* of both pixels, with the constants of p's side */
    float sums[4];        /* columns 2t and 2t + 1 of (Y, 1, U, V), for both pixels */
};

/* The features of the lane's pixels: word t of their entries, in which the norm gives place to what
 * it is multiplied by. The constant is rounded to half precision, and the factor of 1/2 + 2^-11
 * sees to it that no exponent gets beyond EXPONENT_ONE by that. */
static __device__ __forceinline__ void start_patch(patch &p, const uint4 *at, const lane_place &l)
{
    const uint32_t first = reinterpret_cast<const uint32_t *>(at)[l.t];
    const uint32_t second = reinterpret_cast<const uint32_t *>(at + 1)[l.t];
    const half2 one = __float2half2_rn(EXPONENT_ONE / 16777216.0f);
    const uint32_t minus_half = 0xb800b800;
    const uint32_t constants =
        bits(__hfma2(from_bits(low_halves(first, second)), from_bits(0xb801b801), one));
    /* Lanes 2 have f0 and -1/2, lanes 3 have -1/2 and the constant. */
    const uint32_t low = __byte_perm(minus_half, constants, l.t == 3 ? 0x5410 : 0x1010);
    const uint32_t high = __byte_perm(minus_half, constants, l.t == 3 ? 0x7610 : 0x1010);
    const uint32_t select = l.t < 2 ? 0x3210 : l.t == 2 ? 0x7610 : 0x7654;

    p.features[0] = __byte_perm(first, low, select);
    p.features[1] = __byte_perm(second, high, select);
#pragma unroll
    for (int i = 0; i < 4; i++)
        p.sums[i] = 0.0f;
}

#define SLOTS (PATCHES / 2)

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
        features_at += 8 * sizeof(uint4);
        values_at += 8 * sizeof(uint16_t);
    }
    __device__ __forceinline__ void load_next(int slot)
    {
        load_matrices(features[slot], next_features + slot * 8 * uint32_t(sizeof(uint4)));
        load_16_bytes(values[slot], next_values + slot * 8 * uint32_t(sizeof(uint16_t)));
    }
    /* Goes on to the next row, whose first pairs are loaded, and names the one that follows it. */
    __device__ __forceinline__ void turn(uint32_t following_features, uint32_t following_values)
    {
        features_at = next_features + SLOTS * 8 * uint32_t(sizeof(uint4));
        values_at = next_values + SLOTS * 8 * uint32_t(sizeof(uint16_t));
        next_features = following_features;
        next_values = following_values;
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

/* Factors of weights, of columns 0 and 1 of a chunk: 0 outside the window, else 1. */
struct mask {
    uint32_t of[2][2]; /* [chunk of a pair][pixel] */
};

#define BOTH 0x3c003c00u
#define FIRST 0x00003c00u
#define SECOND 0x3c000000u

/* The weights of a chunk for both pixels of a lane. */
static __device__ __forceinline__ void weigh(uint32_t w[2], const uint32_t features[2],
                                             uint32_t chunk, const uint32_t rows[2],
                                             const uint32_t mask[2])
{
    uint32_t exponents[2];

    multiply_features(exponents, features, chunk, rows);
#pragma unroll
    for (int i = 0; i < 2; i++)
        w[i] = bits(__hmul2_sat(from_bits(exponents[i]), from_bits(mask[i])));
}

/* A step: adds to each patch a pair of chunks, or the first one of a pair. @first is the place of
 * the first patch's pair. */
template <bool HALF>
static __device__ __forceinline__ void add_pairs(patch p[PATCHES], chunks &c, int first, bool last,
                                                 const uint32_t rows[2], const mask &m)
{
#pragma unroll
    for (int j = 0; j < PATCHES; j++) {
        const int k = (first + j) % PATCHES;
        const uint32_t *const features = c.features[k / 2] + k % 2 * 2;
        const uint32_t *const values = c.values[k / 2] + k % 2 * 2;
        uint32_t w[2], more[2];

        weigh(w, p[j].features, features[0], rows, m.of[0]);
        if (HALF) {
            add_8(p[j].sums, w, values[0]);
        } else {
            weigh(more, p[j].features, features[1], rows, m.of[1]);
            add_16(p[j].sums, w, more, values[0], values[1]);
        }
        c.refill(first, j, last);
    }
}

/* What a row of chunks needs to know of a square window. */
struct square_window {
    uint32_t rows[2]; /* added to exponents */
    mask left, right;
    int last; /* step with the last pairs */
};

/* Steps from @d on, of which the first has the slots from I + 1 on; true: that was all. */
template <bool ODD, int I = 0>
static __device__ __forceinline__ bool add_square(patch p[PATCHES], chunks &c,
                                                  const square_window &s, int d)
{
    const int slot = (I + 1) % PATCHES;
    const mask all = {{{BOTH, BOTH}, {BOTH, BOTH}}};

    if (d == s.last) {
        if (ODD) {
            add_pairs<false>(p, c, slot, false, s.rows,
                             {{{BOTH, BOTH}, {s.right.of[0][0], s.right.of[0][1]}}});
            add_pairs<true>(p, c, (slot + 1) % PATCHES, true, s.rows,
                            {{{s.right.of[1][0], s.right.of[1][1]}, {}}});
        } else {
            add_pairs<false>(p, c, slot, true, s.rows, s.right);
        }
        return true;
    }
    add_pairs<false>(p, c, slot, false, s.rows, all);
    if constexpr (I + 1 < PATCHES)
        return add_square<ODD, I + 1>(p, c, s, d + 1);
    return false;
}

/* What is within @width columns of the lane's pixels; @distance is that of the first pixel from
 * the pair's first columns. */
static __device__ __forceinline__ mask inside(half2 distance, half2 width)
{
    mask m;

#pragma unroll
    for (int chunk = 0; chunk < 2; chunk++)
#pragma unroll
        for (int pixel = 0; pixel < 2; pixel++) {
            const half2 d = __hadd2(distance, __float2half2_rn(float(2 * chunk - pixel)));

            m.of[chunk][pixel] = bits(__hle2(__habs2(d), width));
        }
    return m;
}

/* Steps of a row of a window whose rows have a width each. */
struct disc_row {
    int first, last;
    half2 distance, width; /* see inside() */
};

/* Steps from @d on; true: that was all. */
template <int I = 0>
static __device__ __forceinline__ bool add_disc(patch p[PATCHES], chunks &c, disc_row &r, int d)
{
    const uint32_t rows[2] = {0, 0};

    if (d == r.last) {
        add_pairs<false>(p, c, I, true, rows, inside(r.distance, r.width));
        return true;
    }
    if (I > 0 || d >= r.first)
        add_pairs<false>(p, c, I, false, rows, inside(r.distance, r.width));
    r.distance = __hadd2(r.distance, __float2half2_rn(float(PATCH)));
    if constexpr (I + 1 < PATCHES)
        return add_disc<I + 1>(p, c, r, d + 1);
    return false;
}
