#pragma once
/* What the tensor kernel makes of its sums. Of each four lanes of a patch's row of pairs the even
 * ones have luma and weights, the odd ones chroma; two have copies, which finish another patch. */
#include "cuda/kernel/tensor_taps.cuh"

namespace
{

static __device__ __forceinline__ float reciprocal(float value)
{
    float r;

    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(value));
    return r;
}

/* The mean of values as a byte in the low bits: 1.5 * 2^23 has a unit of 1 in the last place. */
static __device__ __forceinline__ uint32_t mean(float sum, float weight)
{
    return __float_as_uint(__fmaf_rn(sum * SUM_SCALE, reciprocal(weight), 12582912.0f + 128.0f));
}

static __device__ __forceinline__ float from_lane(float value, int distance)
{
    return __shfl_xor_sync(0xffffffffu, value, distance);
}

/* __byte_perm() clears the selector's high bits, which takes an instruction. */
static __device__ __forceinline__ uint32_t permuted(uint32_t word, uint32_t select)
{
    uint32_t r;

    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(r) : "r"(word), "r"(select));
    return r;
}

/* A lane's sums of patch @j, or of the next one. */
struct pair_sums {
    float of[4];

    __device__ __forceinline__ pair_sums(const patch patches[PATCHES], int j, bool next)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            of[i] = next ? patches[j + 1].sums.of[i] : patches[j].sums.of[i];
    }
    /* Y0 and Y1 in even lanes, U and V in odd ones, in the low bytes. @by_rows: rows share chroma,
     * and that of this one is that of the row below, too, if there is a @next_row. */
    __device__ __forceinline__ uint32_t bytes(bool chroma, bool by_rows, bool next_row) const
    {
        float u = of[0] + of[2], v = of[1] + of[3]; /* in even lanes: luma and weights */
        float weight;

        if (by_rows) { /* the same for all lanes, which @next_row is not */
            const float u_below = from_lane(u, 8), v_below = from_lane(v, 8);

            u += next_row ? u_below : 0.0f;
            v += next_row ? v_below : 0.0f;
        }
        weight = from_lane(v, 1);
        return __byte_perm(mean(chroma ? u : of[0], chroma ? weight : of[1]),
                           mean(chroma ? v : of[2], chroma ? weight : of[3]), 0x0040);
    }
};

/* Two warps have sums of the same patches. Each gets the whole of half of them, the second one of
 * the later half, and has them as its first patches then. @shared: a place for PATCHES * WARP in
 * the tile, which the block's other warps may still be reading. Where warps share rows, a tile with
 * its halo is several times as large as all such places. */
static __device__ __forceinline__ void share_sums(patch patches[PATCHES], float4 *shared,
                                                  bool second)
{
    constexpr int half = PATCHES / 2;
    float4 *const given = shared + (second ? 0 : half * WARP) + threadIdx.x;
    const float4 *const got = shared + (second ? half * WARP : 0) + threadIdx.x;

    __syncthreads();
#pragma unroll
    for (int j = 0; j < half; j++) {
        const float *const early = patches[j].sums.of, *const late = patches[j + half].sums.of;

        given[j * WARP] = make_float4(second ? early[0] : late[0], second ? early[1] : late[1],
                                      second ? early[2] : late[2], second ? early[3] : late[3]);
#pragma unroll
        for (int i = 0; i < 4; i++)
            patches[j].sums.of[i] = second ? late[i] : early[i];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < half; j++) {
        const float4 other = got[j * WARP];

        patches[j].sums.of[0] += other.x;
        patches[j].sums.of[1] += other.y;
        patches[j].sums.of[2] += other.z;
        patches[j].sums.of[3] += other.w;
    }
}

/* Stores a warp's first @N patches, which begin at @x0, @y0. */
template <int N>
static __device__ __forceinline__ void finish_packed(const bilateral_params &p, const lane_place &l,
                                                     const patch patches[PATCHES], int x0, int y0)
{
    const bool chroma = l.t % 2, next = l.t / 2;
    const int x = x0 + PATCH * next + l.column(), y = y0 + l.row();
    const int columns = !chroma && y < p.row_end ? p.width - x : 0;
    uint8_t *const to = p.out[0].base + size_t(unsigned(y)) * p.out[0].stride + 2 * unsigned(x);

#pragma unroll
    for (int j = 0; j < N; j += 2) {
        const uint32_t own = pair_sums(patches, j, next).bytes(chroma, false, false);
        const uint32_t other = __shfl_xor_sync(0xffffffffu, own, 1);

        if (PATCH * j < columns)
            *reinterpret_cast<uint32_t *>(to + 2 * PATCH * j) =
                permuted(low_halves(own, other), p.repack);
    }
}

template <int N>
static __device__ __forceinline__ void finish_planar(const bilateral_params &p, const lane_place &l,
                                                     const patch patches[PATCHES], int x0, int y0)
{
    const bool chroma = l.t % 2, next = l.t / 2;
    const int x = x0 + PATCH * next + l.column(), y = y0 + l.row();
    const size_t row = unsigned(y) >> p.vshift;
    const bool stores = y < p.row_end && !(chroma && p.vshift && y % 2);
    const int columns = stores ? p.width - x : 0;
    uint8_t *const to = p.out[0].base + size_t(unsigned(y)) * p.out[0].stride + x;
    uint8_t *const to_u = p.out[1].base + row * p.out[1].stride + x / 2 * p.out[1].step;
    uint8_t *const to_v = p.out[2].base + row * p.out[2].stride + x / 2 * p.out[2].step;

#pragma unroll
    for (int j = 0; j < N; j += 2) {
        const size_t u = PATCH / 2 * j * p.out[1].step, v = PATCH / 2 * j * p.out[2].step;
        /* The last of an odd number of rows has chroma of its own. */
        const uint32_t own =
            pair_sums(patches, j, next).bytes(chroma, p.vshift, (y0 + l.row() | 1) < p.height);

        if (PATCH * j >= columns)
            continue;
        if (chroma) {
            to_u[u] = uint8_t(own);
            to_v[v] = uint8_t(own >> 8);
        } else {
            *reinterpret_cast<uint16_t *>(to + PATCH * j) = uint16_t(own);
        }
    }
}

} // namespace
