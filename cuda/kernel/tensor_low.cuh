#pragma once
/* The last two rows of the union of a patch's windows, where the radius is odd: chunks of 4 columns
 * by 2 rows. */
#include "cuda/kernel/tensor_taps.cuh"

namespace
{

/* Patch j meets chunk c + j. */
struct low_chunks {
    uint32_t features[PATCHES + 1];
    uint32_t values[PATCHES + 1];
    uint32_t features_at, values_at; /* those of the first one, in shared memory */

    template <int N> __device__ __forceinline__ void load()
    {
#pragma unroll
        for (int i = 0; i < PATCHES; i += 4)
            load_matrices(features + i, features_at + PATCH * i * uint32_t(sizeof(uint4)));
        if (N > PATCHES)
            load_matrix(features[PATCHES], features_at + PATCH * PATCHES * uint32_t(sizeof(uint4)));
#pragma unroll
        for (int i = 0; i < N; i++)
            load_4_bytes(values[i], values_at + PATCH * i * uint32_t(sizeof(uint16_t)));
        features_at += SLOT_FEATURES;
        values_at += SLOT_VALUES;
    }
};

/* @n chunks from the first one on. */
static __device__ __forceinline__ void add_low_row(patch p[PATCHES], low_chunks &c, window_row &r,
                                                   int n)
{
#pragma unroll 1
    for (; n > 1; n -= 2) {
        const mask m = r.next_low();

        c.load<PATCHES + 1>();
#pragma unroll
        for (int j = 0; j < PATCHES; j++)
            add_pair<false>(p[j], c.features + j, c.values + j, m);
    }
    if (n > 0) {
        const mask m = r.next_low();

        c.load<PATCHES>();
#pragma unroll
        for (int j = 0; j < PATCHES; j++)
            add_pair<true>(p[j], c.features + j, c.values + j, m);
    }
}

/* Ones for those of two columns, the first of which is @distance beyond an edge, that are not
 * before it, or not behind it. */
static __device__ __forceinline__ uint32_t ones_from(int distance)
{
    return distance >= 0 ? BOTH : distance == -1 ? SECOND : 0;
}

static __device__ __forceinline__ uint32_t ones_up_to(int distance)
{
    return distance < 0 ? BOTH : distance == 0 ? FIRST : 0;
}

/* Factors for the two rows that are left over in an odd square of known size, of whose chunks some
 * pixels do not see all of the first one and of the last two. */
struct low_square {
    uint32_t first[2], last_but_one[2], last[2];

    __device__ __forceinline__ low_square(const lane_place &l)
    {
        /* From the even pixel to the lane's columns, in the first four, which are a chunk's. */
        uint32_t to_columns = 2 * (l.t % 2) - l.column();

        pin(to_columns); /* or all this is kept from one row of patches to the next */
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int distance = int(to_columns) - i;

            first[i] = ones_from(distance);
            last_but_one[i] = ones_up_to(distance - 2);
            last[i] = ones_up_to(distance + 2);
        }
    }
    /* Of chunks @k and @k + 1 of @n. @rows: terms that say the same of rows. */
    __device__ __forceinline__ mask masked(int k, int n, const uint32_t rows[2]) const
    {
        mask m = {{}, {{{rows[0], rows[1]}, {rows[0], rows[1]}}}};

#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 2; j++)
                m.factors.of[j][i] = k + j == 0       ? first[i]
                                     : k + j == n - 2 ? last_but_one[i]
                                     : k + j == n - 1 ? last[i]
                                                      : BOTH;
        return m;
    }
};

/* Where the compiler knows that there are @N chunks, each is loaded once. @masks gives the mask of
 * chunks k and k + 1, for each even k in turn. */
template <int N, typename MASKS>
static __device__ __forceinline__ void add_known_low_row(patch p[PATCHES], const low_chunks &c,
                                                         MASKS masks)
{
    constexpr int all = PATCHES + N - 1;
    uint32_t features[(all + 3) / 4 * 4], values[all];

#pragma unroll
    for (int i = 0; i < all; i += 4)
        load_matrices(features + i, c.features_at + PATCH * i * uint32_t(sizeof(uint4)));
#pragma unroll
    for (int i = 0; i < all; i++)
        load_4_bytes(values[i], c.values_at + PATCH * i * uint32_t(sizeof(uint16_t)));
#pragma unroll
    for (int k = 0; k < N; k += 2) {
        const mask m = masks(k);

#pragma unroll
        for (int j = 0; j < PATCHES; j++)
            if (k + 1 < N)
                add_pair<false>(p[j], features + k + j, values + k + j, m);
            else
                add_pair<true>(p[j], features + k + j, values + k + j, m);
    }
}

} // namespace
