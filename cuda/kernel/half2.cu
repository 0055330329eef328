#include "cuda/kernel/half2.h"

/* Two halves as bits, low one first. (The host side of old toolkits lacks functions of half2.) */
static uint32_t pack(__half_raw low, __half_raw high)
{
    return low.x | uint32_t(high.x) << 16;
}

/* The colour transform rounds to half precision; the way back must undo what was done. */
static void set_colour(half2_params &h, float scale)
{
    const bilateral_params &p = h.p;
    const half a = __float2half_rn(p.a * scale), b = __float2half_rn(p.b * scale);
    const half c = __float2half_rn(p.c * scale), d = __float2half_rn(p.d * scale);
    const half e = __float2half_rn(p.e * scale), f = __float2half_rn(p.f * scale);
    const float fa = __half2float(a), fb = __half2float(b), fc = __half2float(c);
    const float fd = __half2float(d), fe = __half2float(e), ff = __half2float(f);

    h.green_u1 = pack(__float2half_rn(p.green_u1), __float2half_rn(p.green_u1));
    h.green_v1 = pack(__float2half_rn(p.green_v1), __float2half_rn(p.green_v1));
    h.to_y1_y = pack(a, a);
    h.to_y1_u = pack(b, b);
    h.to_y1_v = pack(c, c);
    h.to_uv1 = pack(d, f);
    h.to_u1_v = pack(e, __float2half_rn(0.0f));
    h.y_from_u1 = fb / fd;
    h.y_from_v1 = fc / ff - fb * fe / (fd * ff);
    h.y_scale = 1.0f / fa;
    h.u_scale = 1.0f / fd;
    h.u_from_v1 = -fe / (fd * ff);
    h.v_scale = 1.0f / ff;
}

half2_params half2_make_params(const bilateral_params &p)
{
    const float log2e = 1.44269504f;
    half2_params h = {};

    h.p = p;
    if (p.packed) {
        const bool uyvy = p.in[1].base < p.in[0].base;

        h.p.in[0].base = uyvy ? p.in[1].base : p.in[0].base;
        h.p.out[0].base = uyvy ? p.out[1].base : p.out[0].base;
        h.select_y = uyvy ? 0x4341 : 0x4240;
        h.select_uv = uyvy ? 0x4240 : 0x4341;
    }
    set_colour(h, p.inv_sqrt2_sc * (p.lorentzian ? 1.0f : sqrtf(EXPONENT_OCTAVE * log2e)));
    h.octaves_per_r2 = p.inv_two_ss2 * log2e;
    h.divide_by_columns = 0xffffffffu / uint32_t(WARP + (p.radius + 1) / 2 * 2) + 1;
    for (int i = 0; i < MAX_RADIUS + 3; i++)
        h.half_width[i] = int8_t(bilateral_half_width(&p, i));
    return h;
}

/* The integer reciprocal fails at 1 + d2 / (2 sc^2) = 31100, which the most distant samples, those
 * of limited BT.709, reach at a sigma-color of 4.53, or of 7.85 where the distance is a sum. */
extern "C" bool half2_suits(const bilateral_params *p)
{
    const float least = !p->lorentzian ? 0.5f : p->manhattan ? 8.0f : 5.0f;

    return p->components == 3 && p->hshift == 1 && p->sigma_color >= least &&
           p->sigma_color <= bilateral_most_sigma(p);
}

size_t half2_tile_pairs(const bilateral_params *p, int warps)
{
    return size_t(WARP + (p->radius + 1) / 2 * 2) * size_t(ROWS * warps + 2 * p->radius);
}

extern "C" size_t half2_shared_bytes(const bilateral_params *p, int warps)
{
    const int radius = p->radius;
    const int reach = (radius + 1) / 2, span = 2 * radius + 1, n = radius / 2;
    const size_t entries = half2_tile_pairs(p, warps);

    return (entries + size_t(2 * n + 1) * span) * sizeof(uint2) +
           size_t(reach) * span * sizeof(uint32_t);
}

dim3 half2_grid(const bilateral_params &p, int warps)
{
    const int rows = ROWS * warps;

    return dim3((p.width / 2 + WARP - 1) / WARP, (p.row_end - p.row_begin + rows - 1) / rows);
}

/* Tall blocks load the fewest halo rows: to radius 16 the tallest is the best or within 4 % of it
 * at 1920x1080 and 3840x2160 (bilatcam-lab shapes, 2026-11, NVIDIA H200). But each multiprocessor
 * should have several, and beyond radius 16 the tallest would not fit the 64 KiB of sm_75, which
 * costs the H200 up to 8 % at radius 32. */
extern "C" int half2_rule(const bilateral_params *p)
{
    int warps = p->radius <= UNROLLED_RADII ? MAX_WARPS : MAX_WARPS / 2;
    int device = 0, processors = 1;

    /* Where the device cannot be asked, the launch fails and says why. */
    if (cudaGetDevice(&device) == cudaSuccess)
        (void)cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    for (; warps > 2; warps /= 2) {
        const dim3 grid = half2_grid(*p, warps);

        if (grid.x * grid.y >= 3u * unsigned(processors))
            break;
    }
    return warps;
}

extern "C" cudaError_t half2_launch(const bilateral_params *p, cudaStream_t stream)
{
    const half2_function kernel = p->manhattan    ? half2_manhattan(p->radius, p->lorentzian)
                                  : p->lorentzian ? half2_lorentzian(p->radius, !p->disc)
                                                  : half2_gaussian(p->radius, !p->disc);
    const int warps = p->warps ? p->warps : half2_rule(p);
    const size_t bytes = half2_shared_bytes(p, warps);

    if (bytes > 48 * 1024) {
        const cudaError_t status =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));

        if (status != cudaSuccess)
            return status;
    }
    kernel<<<half2_grid(*p, warps), dim3(WARP, warps), bytes, stream>>>(half2_make_params(*p));
    return cudaGetLastError();
}
