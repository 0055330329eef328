#pragma once
/* What the half2 kernels make of their sums. */
#include "cuda/kernel/half2_tile.cuh"

static __device__ __forceinline__ void flush(const half2_params &h, sums &to, half_sums &s)
{
    const float2 w = __half22float2(s.w), y = __half22float2(s.y);
    const float2 u = __half22float2(s.u), v = __half22float2(s.v);

    to.w0 += w.x;
    to.w1 += w.y;
    to.y0 += y.x - h.y_from_u1 * u.x - h.y_from_v1 * v.x;
    to.y1 += y.y - h.y_from_u1 * u.y - h.y_from_v1 * v.y;
    to.u += u.x + u.y;
    to.v += v.x + v.y;
    s = {};
}

static __device__ __forceinline__ uint32_t to_byte(float value)
{
    uint32_t r;

    asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(r) : "f"(value));
    return r;
}

/* The mean chroma of @s, whose pixels weigh @w together, about that of the output pair. */
static __device__ __forceinline__ uint2 chroma(const half2_params &h, const sums &s, float u,
                                               float v)
{
    const float scale = __fdividef(1.0f, s.w0 + s.w1);

    return make_uint2(to_byte(u + (h.u_scale * s.u + h.u_from_v1 * s.v) * scale),
                      to_byte(v + h.v_scale * s.v * scale));
}

static __device__ __forceinline__ uint32_t luma(const half2_params &h, const sums &s, float y0,
                                                float y1)
{
    return to_byte(y0 + h.y_scale * s.y0 * __fdividef(1.0f, s.w0)) |
           to_byte(y1 + h.y_scale * s.y1 * __fdividef(1.0f, s.w1)) << 8;
}

template <bool LORENTZIAN>
constexpr int most_taps = LORENTZIAN ? FLUSH_TAPS_LORENTZIAN : FLUSH_TAPS_GAUSSIAN;

/* Whether sums outgrow half precision, so that a thread keeps others in single precision. */
template <bool LORENTZIAN, int RADIUS>
constexpr bool long_sums = RADIUS == 0 ||
                           (2 * RADIUS + 1) * (2 * RADIUS + 1) > most_taps<LORENTZIAN>;
