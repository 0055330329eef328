#pragma once
/* The arithmetic of the half2 kernel: weights, and sums over columns and edges of the window.
 * The design is told in half2.h. */
#include "cuda/kernel/half2.h"

struct half_sums {
    half2 w, y, u, v;
};

struct sums {
    float w0, w1, y0, y1, u, v;
};

struct pair {
    half2 y, uv;
};

/* A pair that is filtered, where the range sigma varies: squared differences are multiplied by
 * @sharp, and by -1 for the Gaussian. */
struct sharp_pair : pair {
    half2 sharp;
};

/* A pair that is filtered by the sum of absolute differences of R', G' and B': of U1 and V1, which
 * are what B' and R' have more than Y1, so much is what G' has. */
struct manhattan_pair : pair {
    half2 green_u, green_v;
};

struct neighbour {
    half2 y, swapped, uv;
};

struct edge_neighbour {
    half2 y, u, v;
};

static __device__ __forceinline__ uint32_t bits(half2 h)
{
    return *reinterpret_cast<uint32_t *>(&h);
}

static __device__ __forceinline__ half2 from_bits(uint32_t b)
{
    return *reinterpret_cast<half2 *>(&b);
}

/* 2^(exponent) for both halves of the exponent @c - @d^2, in its own unit. */
static __device__ __forceinline__ half2 exponential(half2 d, half2 c)
{
    return from_bits(bits(__hfma2_sat(__hneg2(d), d, c)) << 4);
}

/* @space / @x for both halves, @x in 1..31000. */
static __device__ __forceinline__ half2 quotient(half2 space, half2 x)
{
    const half2 r = from_bits(0x77a077a0u - bits(x));

    return __hmul2(__hmul2(space, r), __hfma2(__hneg2(x), r, __float2half2_rn(2.0f)));
}

/* The range sigma's part of what saturates at 1: LEAST_SHARE + @d2 * @sharp. */
#define LEAST_SHARE (1.0f / 16384)

/* @space / (@x / LEAST_SHARE) for both halves, @x in LEAST_SHARE..1: @space by its quotient. */
static __device__ __forceinline__ half2 sharp_quotient(half2 space, half2 d2, half2 sharp)
{
    const half2 x = __hfma2_sat(d2, sharp, __float2half2_rn(LEAST_SHARE));
    const half2 r = from_bits(0x77a077a0u - bits(x)), least = from_bits(0x3fa03fa0u - bits(x));

    return __hmul2(__hmul2(space, least), __hfma2(__hneg2(x), r, __float2half2_rn(2.0f)));
}

/* The weights of the four taps between a pair and a neighbouring pair, from their differences.
 * @space is the spatial part of those of the direct taps, and of the swapped ones: as exponents,
 * the latter less the former, for the Gaussian; as weights for the Lorentzian. */
template <bool LORENTZIAN>
static __device__ __forceinline__ void weigh(const pair &, const uint2 &space, half2 du, half2 dv,
                                             half2 dy, half2 dy_swapped, half2 &w, half2 &w_swapped)
{
    if (LORENTZIAN) {
        const half2 x = __hfma2(dv, dv, __hfma2(du, du, __float2half2_rn(1.0f)));

        w = quotient(from_bits(space.x), __hfma2(dy, dy, x));
        w_swapped = quotient(from_bits(space.y), __hfma2(dy_swapped, dy_swapped, x));
    } else {
        const half2 x = __hfma2(__hneg2(dv), dv, __hfma2(__hneg2(du), du, from_bits(space.x)));

        w = exponential(dy, x);
        w_swapped = exponential(dy_swapped, __hadd2(x, from_bits(space.y)));
    }
}

/* The distance of two colours that differ by @dy and, of the three channels, by as much more. */
static __device__ __forceinline__ half2 manhattan(half2 dy, half2 red, half2 green, half2 blue)
{
    return __hadd2(__hadd2(__habs2(__hadd2(dy, red)), __habs2(__hadd2(dy, blue))),
                   __habs2(__hadd2(dy, green)));
}

/* The weight of one tap at distance @d. */
template <bool LORENTZIAN>
static __device__ __forceinline__ half2 weigh_distance(half2 space, half2 d)
{
    return LORENTZIAN ? quotient(space, __hfma2(d, d, __float2half2_rn(1.0f)))
                      : exponential(d, space);
}

template <bool LORENTZIAN>
static __device__ __forceinline__ void weigh(const manhattan_pair &p, const uint2 &space, half2 du,
                                             half2 dv, half2 dy, half2 dy_swapped, half2 &w,
                                             half2 &w_swapped)
{
    const half2 green = __hfma2(p.green_u, du, __hmul2(p.green_v, dv));
    const half2 direct = from_bits(space.x), other = from_bits(space.y);

    w = weigh_distance<LORENTZIAN>(direct, manhattan(dy, dv, green, du));
    w_swapped = weigh_distance<LORENTZIAN>(LORENTZIAN ? other : __hadd2(direct, other),
                                           manhattan(dy_swapped, dv, green, du));
}

/* The weight of one tap; @d2 is the squared difference. */
template <bool LORENTZIAN>
static __device__ __forceinline__ half2 weigh_sharply(half2 space, half2 d2, half2 sharp)
{
    return LORENTZIAN ? sharp_quotient(space, d2, sharp)
                      : from_bits(bits(__hfma2_sat(d2, sharp, space)) << 4);
}

/* The same; here @space is of the swapped taps alone, too. */
template <bool LORENTZIAN>
static __device__ __forceinline__ void weigh(const sharp_pair &p, const uint2 &space, half2 du,
                                             half2 dv, half2 dy, half2 dy_swapped, half2 &w,
                                             half2 &w_swapped)
{
    const half2 x = __hfma2(dv, dv, __hmul2(du, du));

    w = weigh_sharply<LORENTZIAN>(from_bits(space.x), __hfma2(dy, dy, x), p.sharp);
    w_swapped =
        weigh_sharply<LORENTZIAN>(from_bits(space.y), __hfma2(dy_swapped, dy_swapped, x), p.sharp);
}

/* The four taps between a pair and a neighbouring pair. */
template <bool LORENTZIAN, class PAIR>
static __device__ __forceinline__ void add_pair(half_sums &s, const PAIR &p, const neighbour &q,
                                                const uint2 &space)
{
    const half2 duv = __hsub2(q.uv, p.uv);
    const half2 du = __low2half2(duv), dv = __high2half2(duv);
    const half2 dy = __hsub2(q.y, p.y), dy_swapped = __hsub2(q.swapped, p.y);
    half2 w, w_swapped, both;

    weigh<LORENTZIAN>(p, space, du, dv, dy, dy_swapped, w, w_swapped);
    both = __hadd2(w, w_swapped);
    s.w = __hadd2(s.w, both);
    s.y = __hfma2(w, dy, s.y);
    s.y = __hfma2(w_swapped, dy_swapped, s.y);
    s.u = __hfma2(both, du, s.u);
    s.v = __hfma2(both, dv, s.v);
}

/* The weight of one tap for each pixel of a pair. */
template <bool LORENTZIAN>
static __device__ __forceinline__ half2 weigh_edge(const pair &, uint32_t space, half2 du, half2 dv,
                                                   half2 dy)
{
    if (LORENTZIAN)
        return quotient(from_bits(space),
                        __hfma2(dy, dy, __hfma2(dv, dv, __hfma2(du, du, __float2half2_rn(1.0f)))));
    return exponential(dy, __hfma2(__hneg2(dv), dv, __hfma2(__hneg2(du), du, from_bits(space))));
}

template <bool LORENTZIAN>
static __device__ __forceinline__ half2 weigh_edge(const sharp_pair &p, uint32_t space, half2 du,
                                                   half2 dv, half2 dy)
{
    return weigh_sharply<LORENTZIAN>(from_bits(space),
                                     __hfma2(dy, dy, __hfma2(dv, dv, __hmul2(du, du))), p.sharp);
}

template <bool LORENTZIAN>
static __device__ __forceinline__ half2 weigh_edge(const manhattan_pair &p, uint32_t space,
                                                   half2 du, half2 dv, half2 dy)
{
    const half2 green = __hfma2(p.green_u, du, __hmul2(p.green_v, dv));

    return weigh_distance<LORENTZIAN>(from_bits(space), manhattan(dy, dv, green, du));
}

/* One tap for each pixel of a pair. */
template <bool LORENTZIAN, class PAIR>
static __device__ __forceinline__ void add_edge(half_sums &s, const PAIR &p,
                                                const edge_neighbour &q, uint32_t space)
{
    const half2 dy = __hsub2(q.y, p.y);
    const half2 du = __hsub2(q.u, __low2half2(p.uv)), dv = __hsub2(q.v, __high2half2(p.uv));
    const half2 w = weigh_edge<LORENTZIAN>(p, space, du, dv, dy);

    s.w = __hadd2(s.w, w);
    s.y = __hfma2(w, dy, s.y);
    s.u = __hfma2(w, du, s.u);
    s.v = __hfma2(w, dv, s.v);
}

static __device__ __forceinline__ pair load_pair(const uint2 *at)
{
    const uint2 e = *at;

    return {from_bits(e.x), from_bits(e.y)};
}

static __device__ __forceinline__ neighbour load_neighbour(const uint2 *at)
{
    const pair q = load_pair(at);

    /* A funnel shift: of a byte permutation the compiler makes several copies. */
    return {q.y, from_bits(__funnelshift_l(bits(q.y), bits(q.y), 16)), q.uv};
}

/* The right pixel of the pair @reach columns to the left, and the left pixel of the one as far
 * to the right. */
static __device__ __forceinline__ edge_neighbour load_edge(const uint2 *at, int reach)
{
    const uint2 left = at[-reach], right = at[reach];

    return {from_bits(__byte_perm(left.x, right.x, 0x5432)),
            from_bits(__byte_perm(left.y, right.y, 0x5410)),
            from_bits(__byte_perm(left.y, right.y, 0x7632))};
}

/* Adds column @c of the window, rows -@height to @height; @at is the entry of the first of the
 * four output pairs. */
template <bool LORENTZIAN, class PAIR>
static __device__ __forceinline__ void add_column(half_sums s[ROWS], const PAIR p[ROWS],
                                                  const uint2 *at, int stride, const uint2 *space,
                                                  int height)
{
    neighbour q[ROWS];

    at -= height * stride;
    space -= height;
#pragma unroll
    for (int k = 0; k < ROWS - 1; k++, at += stride)
        q[k] = load_neighbour(at);
#pragma unroll 4
    for (int i = 0; i <= 2 * height; i++, at += stride) {
        const uint2 here = space[i];

        q[ROWS - 1] = load_neighbour(at);
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            add_pair<LORENTZIAN>(s[k], p[k], q[k], here);
#pragma unroll
        for (int k = 0; k < ROWS - 1; k++)
            q[k] = q[k + 1];
    }
}

/* Adds rows @first to @last of the edge at distance 2 * @reach - 1. */
template <bool LORENTZIAN, class PAIR>
static __device__ __forceinline__ void
add_edge_rows(half_sums s[ROWS], const PAIR p[ROWS], const uint2 *at, int stride,
              const uint32_t *space, int reach, int first, int last)
{
    edge_neighbour q[ROWS];

    at += first * stride;
#pragma unroll
    for (int k = 0; k < ROWS - 1; k++, at += stride)
        q[k] = load_edge(at, reach);
#pragma unroll 4
    for (int i = first; i <= last; i++, at += stride) {
        const uint32_t here = space[i];

        q[ROWS - 1] = load_edge(at, reach);
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            add_edge<LORENTZIAN>(s[k], p[k], q[k], here);
#pragma unroll
        for (int k = 0; k < ROWS - 1; k++)
            q[k] = q[k + 1];
    }
}
