/* How the half2 kernels for stored frames are started. */
#include "cuda/kernel/half2_time.cuh"
#include "cuda/kernel/time_filter.cuh"

static half2_time make_params(const time_filter &f)
{
    const float log2e = 1.44269504f, square = COLOUR_SCALE * COLOUR_SCALE;
    const bilateral_params &p = f.p;
    half2_time t = {};

    t.h = half2_make_params(p);
    t.h.y_from_u1 = p.b / p.d;
    t.h.y_from_v1 = p.c / p.f - p.b * p.e / (p.d * p.f);
    t.h.y_scale = 1.0f / (p.a * COLOUR_SCALE);
    t.h.u_scale = 1.0f / (p.d * COLOUR_SCALE);
    t.h.u_from_v1 = -p.e / (p.d * p.f * COLOUR_SCALE);
    t.h.v_scale = 1.0f / (p.f * COLOUR_SCALE);
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

cudaError_t half2_time_launch(const time_filter &f, cudaStream_t stream)
{
    const bilateral_params &p = f.p;
    const half2_time_function kernel = p.lorentzian ? half2_time_lorentzian(p.radius, !p.disc)
                                                    : half2_time_gaussian(p.radius, !p.disc);
    const int warps = p.warps ? p.warps : half2_rule(&p);
    const size_t bytes = half2_shared_bytes(&p, warps);

    if (bytes > 48 * 1024) {
        const cudaError_t status =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));

        if (status != cudaSuccess)
            return status;
    }
    return start_early(kernel, half2_grid(p, warps), dim3(WARP, warps), bytes, stream,
                       make_params(f));
}
