/* The bilateral filter of frames of 16 bits, and of those of 8 that no quicker kernel takes
 * (words_kernel.cuh). */
#include "cuda/kernel/kernels.h"
#include "cuda/kernel/words_kernel.cuh"

template <bool COLOUR, bool BYTES, bool LORENTZIAN, bool MANHATTAN>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, COLOUR ? 3 : 4)
    words_kernel(const bilateral_params p, const tile_shape t)
{
    extern __shared__ float2 shared[];
    __shared__ window_tables tables;
    float *const tile = reinterpret_cast<float *>(shared);
    const int r = p.radius, x = blockIdx.x * WARP + threadIdx.x;
    const int y0 = p.row_begin + blockIdx.y * ROWS * blockDim.y, y = y0 + ROWS * threadIdx.y;
    const auto store = [&](int component, int x, int y, float word) {
        uint8_t *const row = p.out[component].base + size_t(y) * p.out[component].stride;

        if (BYTES)
            row[x] = uint8_t(__float2int_rn(fminf(fmaxf(word / 256.0f, 0.0f), 255.0f)));
        else
            reinterpret_cast<uint16_t *>(row)[x] =
                uint16_t(__float2int_rn(fminf(fmaxf(word, 0.0f), 65535.0f)));
    };
    centre c[ROWS] = {};

    make_tables(p, tables);
    for (int k = 0; k < t.fills; k++) {
        /* That which has the pixels themselves comes first. */
        const int first = (k + r / t.columns) % t.fills * t.columns - r, odd = first & 1;
        const int end = min(first + t.columns, r + 1);
        const float *from = tile + (ROWS * threadIdx.y + r) * t.stride + odd + threadIdx.x;

        __syncthreads();
        fill<COLOUR, BYTES>(p, p.in, t, tile, blockIdx.x * WARP + first - odd, y0 - r);
        __syncthreads();
#pragma unroll
        for (int b = 0; b < ROWS && k == 0; b++)
            c[b].colour = colour_at<COLOUR>(t, from - first + b * t.stride);
        for (int i = first; i < end && y < p.row_end; i++, from++)
            sum_column<COLOUR, LORENTZIAN, MANHATTAN, false>(
                p, t, from, &tables.space[r], tables.space[r + i], tables.reach[r + i], c);
    }
    if (y >= p.row_end)
        return;
    store_luma(p, x, y, c, store);
    if (COLOUR)
        store_chroma(p, x, y, c, store);
}

template <bool BYTES> static auto choose_kernel(const bilateral_params &p)
{
    static void (*const colour[2][2])(bilateral_params, tile_shape) = {
        {words_kernel<true, BYTES, false, false>, words_kernel<true, BYTES, false, true>},
        {words_kernel<true, BYTES, true, false>, words_kernel<true, BYTES, true, true>}};
    static void (*const grey[2])(bilateral_params, tile_shape) = {
        words_kernel<false, BYTES, false, false>, words_kernel<false, BYTES, true, false>};

    return p.components == 1 ? grey[p.lorentzian != 0]
                             : colour[p.lorentzian != 0][p.manhattan != 0];
}

extern "C" bool words_suits(const bilateral_params *p)
{
    return p->words || (!p->packed && p->in[p->components / 2].step == 1);
}

extern "C" cudaError_t words_launch(const bilateral_params *given, cudaStream_t stream)
{
    const float sqrt_log2e = 1.20112241f;
    bilateral_params p = *given;
    /* Levels of 8 bits are 256 of these. R', G' and B' of grey are the same. */
    const float scale = p.inv_sqrt2_sc * (p.lorentzian ? 1.0f : sqrt_log2e) / 256.0f *
                        (p.components == 1 && p.manhattan ? 3.0f : 1.0f);
    const auto kernel = p.words ? choose_kernel<false>(p) : choose_kernel<true>(p);
    const int warps = choose_warps(p);
    const tile_shape t = choose_shape(p, warps);

    p.a *= scale, p.b *= scale, p.c *= scale, p.d *= scale, p.e *= scale, p.f *= scale;
    kernel<<<dim3((p.width + WARP - 1) / WARP,
                  (p.row_end - p.row_begin + ROWS * warps - 1) / (ROWS * warps)),
             dim3(WARP, warps), tile_bytes(p, t), stream>>>(p, t);
    return cudaGetLastError();
}
