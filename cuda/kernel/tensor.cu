#include "cuda/kernel/tensor.h"

#include "cuda/kernel/form.h"

#define RESERVED_BYTES 1024 /* of shared memory, by the driver, for each block */
#define MOST_PARTS_SHIFT 2  /* log2 of the parts of a tile */

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

/* So many that its product with a row or column of a tile is exact, in whatever steps it comes. */
static float few_bits(float value)
{
    int exponent;
    const float mantissa = frexpf(value, &exponent);

    return ldexpf(roundf(ldexpf(mantissa, 16)), exponent - 16);
}

/* Features come from values. Half the square of a feature is an exponent in units of 2^-24. */
static void set_scales(tensor_params &h, const tensor_form &form)
{
    const bilateral_params &p = h.p;
    const float log2e = 1.44269504f;
    const float unit = p.lorentzian ? 1.0f : sqrtf(form.octave * 2.0f * log2e / 16777216.0f);
    const float color = p.inv_sqrt2_sc * unit / form.value_unit;

    h.to_f0_y = p.a * color;
    h.to_f0_u = p.b * color;
    h.to_f0_v = p.c * color;
    h.to_f1_u = p.d * color;
    h.to_f1_v = p.e * color;
    h.to_f2_v = p.f * color;
    h.to_place = few_bits(sqrtf(p.inv_two_ss2) * unit);
    h.octaves_per_r2 = p.inv_two_ss2 * log2e;
}

/* The columns of the rows from @top on of the windows' union that one of a patch's pixels sees, by
 * so many as a chunk has. */
static void find_columns(const bilateral_params &p, int top, int rows, int columns, int *ret_first,
                         int *ret_last)
{
    const int above = top - (PATCH - 1) - p.radius, below = top + rows - 1 - p.radius;
    const int widest = bilateral_half_width(&p, above > 0 ? above : below < 0 ? -below : 0);

    *ret_first = (p.radius - widest) / columns;
    *ret_last = (p.radius + PATCH - 1 + widest) / columns;
}

/* Such that both warps have about as many steps. */
static void set_split_row(tensor_params &h, int rows)
{
    int above = 0, below = h.p.radius & 1 ? (h.low_last - h.low_first) / 2 + 1 : 0;

    for (int i = 0; i < rows; i++)
        below += h.last_step[i] - h.first_step[i] + 1;
    for (h.split_row = 0; h.split_row < rows - 1; h.split_row++) {
        const int steps = h.last_step[h.split_row] - h.first_step[h.split_row] + 1;

        if (h.split_row > 0 && above + steps > below)
            break;
        above += steps;
        below -= steps;
    }
}

static void set_window(tensor_params &h)
{
    const int rows = h.p.radius / 2 + 1;

    for (int i = 0; i < int(sizeof(h.half_width)); i++)
        h.half_width[i] = int8_t(bilateral_half_width(&h.p, i));
    for (int i = 0; i < rows; i++) {
        int first, last;

        find_columns(h.p, PATCH * i, PATCH, 2, &first, &last);
        h.first_step[i] = int8_t(first / 2);
        h.last_step[i] = int8_t(last / 2);
        h.half_step[i] = last % 2 == 0;
    }
    find_columns(h.p, PATCH * rows, 2, PATCH, &h.low_first, &h.low_last);
    if (h.split)
        set_split_row(h, rows);
}

struct tile_shape {
    int columns, rows, most_warps;
};

/* Which rows the table of the window has: of a square those that the two rows left over need. */
static void set_window_rows(tensor_params &h)
{
    const bool whole = h.p.disc || h.p.lorentzian;

    h.window_first = whole ? 0 : 2 * (h.p.radius - 1);
    h.window_rows = whole || h.p.radius % 2 ? 2 * (h.p.radius + PATCH) - h.window_first : 0;
}

/* NULL: there is none for this window. */
static tensor_function known_square(const bilateral_params &p, const tensor_form &form)
{
    return p.disc || p.radius > MAX_KNOWN_RADIUS ? NULL : form.squares[p.radius];
}

/* The strides: see struct tile. */
static void set_layout(tensor_params &h, const tensor_form &form, const tile_shape &tile)
{
    int plane, walks;

    h.tile_columns = tile.columns;
    h.tile_rows = tile.rows;
    h.pairs = tile.columns / 2 + h.p.radius + (h.p.radius & 1);
    h.divide_by_pairs = 0xffffffffu / unsigned(h.pairs) + 1;
    for (h.across_shift = 0; PATCH * form.patches << h.across_shift < tile.columns;)
        h.across_shift++;
    walks = tile.rows / PATCH << h.across_shift;
    h.split = 2 * walks <= tile.most_warps && !known_square(h.p, form);
    h.warps = h.split ? 2 * walks : walks < tile.most_warps ? walks : tile.most_warps;
    h.fill_step = h.warps * WARP / h.pairs;
    h.feature_stride = 2 * h.pairs % 4 ? 2 * h.pairs : 2 * h.pairs + 2;
    h.value_stride = 8 * ((2 * h.pairs + 7) / 8 | 1);
    plane = (tile.rows + 2 * h.p.radius) * h.value_stride;
    h.value_plane = plane + (64 + 32 - plane % 64) % 64;
    h.ones = h.value_stride + 16;
    h.window_stride = 2 * ((h.p.radius + 3) / 2 | 1);
    set_window_rows(h);
    h.fill_features = h.fill_step * h.feature_stride;
    h.fill_values = h.fill_step * h.value_stride;
    h.feature_row = PATCH * h.feature_stride * uint32_t(sizeof(uint4));
    h.value_row = PATCH * h.value_stride * uint32_t(sizeof(uint16_t));
}

static size_t shared_bytes(const tensor_params &h)
{
    return (h.tile_rows + 2 * h.p.radius) * h.feature_stride * sizeof(uint4) +
           (3 * h.value_plane + h.ones) * sizeof(uint16_t) +
           h.window_rows * h.window_stride * sizeof(uint2) + sizeof(uint4);
}

/* Large tiles load the fewest halo pixels, but two should fit into a multiprocessor, so that one is
 * filtered while the other is loaded. Where radii are small, four of half the size are as quick at
 * 1920x1080 and up to 4 % quicker at 3840x2160; where they are large, the halo of two small tiles
 * costs more than to wait for a single large one (2026-11, NVIDIA H200). Where rows of patches are
 * too few for the warps that a block may have, two warps share each, but not where the radius is
 * known, which makes up for it. Returns how many fit. */
static int choose_tile(tensor_params &h, const tensor_form &form)
{
    static const tile_shape large = {MAX_TILE_COLUMNS, MAX_TILE_ROWS, SOME_WARPS};
    static const struct {
        tile_shape tile;
        int fit, least_radius;
    } choices[] = {
        {{32, 32, 4}, 4, 0},          {large, 2, 0},
        {{32, 32, SOME_WARPS}, 2, 0}, {{MAX_TILE_COLUMNS, MAX_TILE_ROWS, MAX_WARPS}, 1, 19},
        {{32, 16, SOME_WARPS}, 2, 0}, {{32, 32, MAX_WARPS}, 1, 0},
        {{32, 16, SOME_WARPS}, 1, 0}};
    const size_t most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const size_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);

    for (const auto &choice : choices) {
        if (h.p.radius < choice.least_radius)
            continue;
        set_layout(h, form, choice.tile);
        if (shared_bytes(h) <= most && choice.fit * (shared_bytes(h) + RESERVED_BYTES) <= all)
            return choice.fit;
    }
    return 0;
}

/* Where tiles do not divide evenly among the multiprocessors, most of these would be idle at the
 * end. So the last rows of tiles are cut in parts, if that shortens it. A part has the places of
 * its tile, and its pixels are the same. It has work for at least half of a block's warps. Returns
 * how many rows of blocks there are. */
static int set_parts(tensor_params &h, int across)
{
    const int rows = (h.p.row_end - h.p.row_begin + h.tile_rows - 1) / h.tile_rows;
    const int all = device_attribute(cudaDevAttrMultiProcessorCount);
    const int left = all ? across * rows % all : 0;
    int least = 1 << MOST_PARTS_SHIFT; /* of such turns; a tile takes that many */
    const int warps = h.tile_rows / PATCH << h.across_shift + h.split; /* with work, of a tile */

    h.whole_rows = rows;
    h.parts_shift = 0;
    for (int shift = 1; shift <= MOST_PARTS_SHIFT && left; shift++) {
        const int turns = ((left << shift) + all - 1) / all << MOST_PARTS_SHIFT - shift;

        if (turns < least && warps >> shift >= h.warps / 2) {
            least = turns;
            h.parts_shift = shift;
        }
    }
    if (h.parts_shift)
        h.whole_rows -= (left + across - 1) / across;
    return h.whole_rows + (rows - h.whole_rows << h.parts_shift);
}

static tensor_params make_params(const bilateral_params &p, const tensor_form &form,
                                 dim3 *ret_blocks)
{
    tensor_params h = {};
    int across;

    h.p = p;
    if (p.packed) {
        h.p.in[0].base = p.in[1].base < p.in[0].base ? p.in[1].base : p.in[0].base;
        h.p.out[0].base = p.out[1].base < p.out[0].base ? p.out[1].base : p.out[0].base;
    }
    set_scales(h, form);
    choose_tile(h, form);
    across = (p.width + h.tile_columns - 1) / h.tile_columns;
    *ret_blocks = dim3(across, set_parts(h, across));
    set_window(h);
    return h;
}

/* Asks once: the engine has one device. */
static enum form device_form()
{
    static int known; /* one more than the form */
    int form = __atomic_load_n(&known, __ATOMIC_RELAXED) - 1;

    if (form < 0) {
        cudaDeviceProp device;

        if (cudaGetDeviceProperties(&device, 0) != cudaSuccess)
            return FORM_NONE;
        form = form_for(10 * device.major + device.minor, device.name);
        __atomic_store_n(&known, form + 1, __ATOMIC_RELAXED);
    }
    return static_cast<enum form>(form);
}

static const tensor_form &kernels_for(const bilateral_params &p, enum form form)
{
    if (p.lorentzian)
        return tensor_lorentzian();
    return form == FORM_BF16 ? tensor_bf16() : tensor_f16();
}

/* The constant of a pixel is the coarser the larger its features are, and small weights are lost by
 * that. With these bounds, weights down to 2^-11 count for colours that R'G'B' can hold, down to
 * 1/4 for the most distant samples. */
static int tiles_that_fit(const bilateral_params &p, enum form form)
{
    const float sigmas = (MAX_TILE_COLUMNS / 2 + p.radius) * sqrtf(2.0f * p.inv_two_ss2);
    const bool suits = (form == FORM_BF16 || (form == FORM_F16 && !p.lorentzian)) &&
                       p.components == 3 && p.hshift == 1 && p.radius >= 2 &&
                       p.sigma_color >= 5.0f && p.sigma_color <= bilateral_most_sigma(&p) &&
                       sigmas <= 30.0f;
    tensor_params h = {};

    h.p = p;
    return suits ? choose_tile(h, kernels_for(p, form)) : 0;
}

extern "C" bool tensor_suits(const bilateral_params *p)
{
    return tiles_that_fit(*p, device_form()) > 0;
}

extern "C" bool tensor_wins(const bilateral_params *p)
{
    const enum form form = device_form();
    const int tiles = tiles_that_fit(*p, form);

    return tiles > 0 && p->radius >= form_least_radius(form, p->lorentzian, p->disc, tiles);
}

static tensor_function kernel_for(const tensor_params &h, const tensor_form &form)
{
    const tensor_function known = known_square(h.p, form);

    return known ? known : (h.split ? form.split : form.kernels)[!h.p.disc][h.p.radius & 1];
}

static cudaError_t launch(const bilateral_params &p, const tensor_form &form, cudaStream_t stream)
{
    dim3 grid;
    const tensor_params h = make_params(p, form, &grid);
    const tensor_function kernel = kernel_for(h, form);
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

extern "C" cudaError_t tensor_launch(const bilateral_params *p, cudaStream_t stream)
{
    return launch(*p, kernels_for(*p, device_form()), stream);
}

extern "C" cudaError_t tensor_launch_f16(const bilateral_params *p, cudaStream_t stream)
{
    return launch(*p, tensor_f16(), stream);
}
