/* How the half2 kernels for stored frames are started. */
#include "cuda/kernel/half2_time.cuh"
#include "cuda/kernel/time_filter.cuh"

/* The scale of colours in which the squared difference is the argument of the range kernel. */
static float fixed_scale(const bilateral_params &p)
{
    const float log2e = 1.44269504f;

    return p.inv_sqrt2_sc * (p.lorentzian ? 1.0f : sqrtf(EXPONENT_OCTAVE * log2e));
}

/* From stored steps to colours at @scale, and back. */
static void set_colours(half2_time &t, const bilateral_params &p, float scale)
{
    const float step = scale * LEVEL, offset = 8388608.0f + 128.0f * TIME_LEVEL_STEPS;

    t.to_y1_y = p.a * step;
    t.to_y1_u = p.b * step;
    t.to_y1_v = p.c * step;
    t.to_u1_u = p.d * step;
    t.to_u1_v = p.e * step;
    t.to_v1_v = p.f * step;
    t.to_y1 = -offset * (t.to_y1_y + t.to_y1_u + t.to_y1_v);
    t.to_u1 = -offset * (t.to_u1_u + t.to_u1_v);
    t.to_v1 = -offset * t.to_v1_v;
    t.h.y_from_u1 = p.b / p.d;
    t.h.y_from_v1 = p.c / p.f - p.b * p.e / (p.d * p.f);
    t.h.y_scale = 1.0f / (p.a * scale);
    t.h.u_scale = 1.0f / (p.d * scale);
    t.h.u_from_v1 = -p.e / (p.d * p.f * scale);
    t.h.v_scale = 1.0f / (p.f * scale);
}

static half2_time make_params(const time_filter &f, float scale)
{
    const float log2e = 1.44269504f, square = COLOUR_SCALE * COLOUR_SCALE;
    const bilateral_params &p = f.p;
    half2_time t = {};

    t.h = half2_make_params(p);
    set_colours(t, p, scale);
    t.n_frames = f.n_frames;
    for (int i = 0; i < f.n_frames; i++) {
        t.frame[i] = f.frame[i];
        t.weight[i] = f.weight[i];
    }
    t.stride = f.stride;
    t.stride_c = f.stride_c;
    t.stride_luma = f.stride_luma;
    t.stride_count = f.stride_count;
    t.luma = f.luma;
    t.count = f.count;
    t.noise = f.noise;
    t.inv_two_sc2 = f.inv_two_sc2;
    t.sharpness = p.lorentzian ? LEAST_SHARE / square : -EXPONENT_OCTAVE * log2e / square;
    t.asks = time_filter_asks(f);
    return t;
}

/* Of shared memory, what needs no permission. Several such blocks fit into a multiprocessor. */
#define MOST_BYTES (48 * 1024)

cudaError_t half2_time_launch(const time_filter &f, cudaStream_t stream)
{
    const bilateral_params &p = f.p;
    const bool varies = f.luma || f.count || !half2_suits(&p);
    const half2_time_function kernel = p.lorentzian
                                           ? half2_time_lorentzian(p.radius, !p.disc, varies)
                                           : half2_time_gaussian(p.radius, !p.disc, varies);
    const int warps = p.warps ? p.warps : half2_rule(&p);
    const size_t pairs = half2_tile_pairs(&p, warps);
    size_t bytes = half2_shared_bytes(&p, warps);
    half2_time params = make_params(f, varies ? COLOUR_SCALE : fixed_scale(p));

    if (f.n_frames > 1 && !varies && bytes + (pairs + 1) * sizeof(uint2) <= MOST_BYTES) {
        params.second = uint32_t((bytes + sizeof(uint2) - 1) / sizeof(uint2));
        bytes = (params.second + pairs) * sizeof(uint2);
    }
    if (bytes > MOST_BYTES) {
        const cudaError_t status =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));

        if (status != cudaSuccess)
            return status;
    }
    return start_early(kernel, half2_grid(p, warps), dim3(WARP, warps), bytes, stream, params);
}
