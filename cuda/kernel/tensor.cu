#include "cuda/kernel/tensor.h"

#define RESERVED_BYTES 1024 /* of shared memory, by the driver, for each block */

static_assert(BILATERAL_ROWS_STEP % MAX_TILE_ROWS == 0, "tiles begin where strips do");

/* 0 where the device cannot be asked. */
static int device_attribute(cudaDeviceAttr attribute)
{
    int device = 0, value = 0;

    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&value, attribute, device) != cudaSuccess)
        return 0;
    return value;
}

/* The greatest |dx| in the window at row distance @distance, or -1. */
static int half_width(const bilateral_params &p, int distance)
{
    int v = p.radius;

    if (distance > p.radius)
        return -1;
    while (p.disc && v * v + distance * distance > p.radius * p.radius)
        v--;
    return v;
}

/* Features come from values, which carry a factor of 2^100. Half the square of a feature is an
 * exponent in units of 2^-24. */
static void set_scales(tensor_params &h)
{
    const bilateral_params &p = h.p;
    const float log2e = 1.44269504f;
    const float unit = sqrtf(EXPONENT_OCTAVE * 2.0f * log2e / 16777216.0f);
    const float color = p.inv_sqrt2_sc * unit * exp2f(-100.0f);

    h.to_f0_y = p.a * color;
    h.to_f0_u = p.b * color;
    h.to_f0_v = p.c * color;
    h.to_f1_u = p.d * color;
    h.to_f1_v = p.e * color;
    h.to_f2_v = p.f * color;
    h.to_place = sqrtf(p.inv_two_ss2) * unit;
}

static int tile_rows_with_halo(const bilateral_params &p, int tile_rows)
{
    return tile_rows + 2 * p.radius + 2 * (p.radius & 1);
}

/* The strides: see struct tile. */
static void set_layout(tensor_params &h, int tile_columns, int tile_rows)
{
    const int odd = h.p.radius & 1;
    int plane;

    h.tile_columns = tile_columns;
    h.tile_rows = tile_rows;
    h.pairs = tile_columns / 2 + h.p.radius + 2 * odd;
    h.divide_by_pairs = 0xffffffffu / unsigned(h.pairs) + 1;
    h.warps = tile_columns / WARP_COLUMNS * (tile_rows / PATCH);
    h.warps = h.warps < MAX_WARPS ? h.warps : MAX_WARPS;
    h.fill_step = h.warps * WARP / h.pairs;
    h.feature_stride = 2 * h.pairs % 4 ? 2 * h.pairs : 2 * h.pairs + 2;
    h.value_stride = 8 * ((2 * h.pairs + 7) / 8 | 1);
    plane = tile_rows_with_halo(h.p, tile_rows) * h.value_stride;
    h.value_plane = plane + (64 + 32 - plane % 64) % 64;
    h.feature_row = PATCH * h.feature_stride * uint32_t(sizeof(uint4));
    h.value_row = PATCH * h.value_stride * uint32_t(sizeof(uint16_t));
}

/* The inner loop loads up to 8 columns more than it needs. */
static size_t shared_bytes(const tensor_params &h)
{
    return tile_rows_with_halo(h.p, h.tile_rows) * h.feature_stride * sizeof(uint4) +
           4 * h.value_plane * sizeof(uint16_t) + 4 * sizeof(uint4);
}

/* Large tiles load the fewest halo pixels, but two should fit into a multiprocessor. False: none
 * fits. */
static bool choose_tile(tensor_params &h)
{
    const size_t most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const size_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);

    set_layout(h, MAX_TILE_COLUMNS, MAX_TILE_ROWS);
    if (2 * (shared_bytes(h) + RESERVED_BYTES) <= all)
        return true;
    for (int rows = MAX_TILE_ROWS; rows >= MAX_TILE_ROWS / 2; rows /= 2) {
        set_layout(h, WARP_COLUMNS, rows);
        if (shared_bytes(h) <= most)
            return true;
    }
    return false;
}

static tensor_params make_params(const bilateral_params &p)
{
    tensor_params h = {};

    h.p = p;
    if (p.packed) {
        h.p.in[0].base = p.in[1].base < p.in[0].base ? p.in[1].base : p.in[0].base;
        h.p.out[0].base = p.out[1].base < p.out[0].base ? p.out[1].base : p.out[0].base;
    }
    set_scales(h);
    choose_tile(h);
    for (int i = 0; i < int(sizeof(h.half_width)); i++)
        h.half_width[i] = int8_t(half_width(p, i));
    return h;
}

/* The constant of a pixel is the coarser the larger its features are, and small weights are lost by
 * that. With these bounds, weights down to 2^-11 count for colours that R'G'B' can hold, down to
 * 1/4 for the most distant samples. Large sigma-colors: see half2_suits(). */
extern "C" bool tensor_suits(const bilateral_params *p)
{
    tensor_params h = {};

    h.p = *p;
    set_scales(h);
    return !p->lorentzian && p->components == 3 && p->hshift == 1 && p->radius >= 2 &&
           p->sigma_color >= 5.0f && p->sigma_color <= (p->radius <= 16 ? 64.0f : 40.0f) &&
           (MAX_TILE_COLUMNS / 2 + p->radius) * h.to_place <= 0.1f &&
           device_attribute(cudaDevAttrComputeCapabilityMajor) >= 8 && choose_tile(h);
}

/* Small windows leave too much of the chunks unused (bilatcam-lab radii, 2026-11, NVIDIA H200). */
extern "C" bool tensor_wins(const bilateral_params *p)
{
    return p->radius >= (p->disc ? 8 : 4) && tensor_suits(p);
}

extern "C" cudaError_t tensor_launch(const bilateral_params *p, cudaStream_t stream)
{
    const tensor_function kernel = tensor_bf16(!p->disc, p->radius & 1);
    const tensor_params h = make_params(*p);
    const int rows = p->row_end - p->row_begin;
    const dim3 grid((p->width + h.tile_columns - 1) / h.tile_columns,
                    (rows + h.tile_rows - 1) / h.tile_rows);
    const dim3 block(WARP, h.warps);
    const size_t bytes = shared_bytes(h);

    if (bytes > 48 * 1024) {
        const cudaError_t status =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));

        if (status != cudaSuccess)
            return status;
    }
    kernel<<<grid, block, bytes, stream>>>(h);
    return cudaGetLastError();
}
