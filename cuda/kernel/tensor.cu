#include "cuda/kernel/tensor.h"

#include <pthread.h>

#include "cuda/kernel/form.h"

#define MOST_PARTS_SHIFT 2 /* log2 of the parts of a tile */

static_assert(BILATERAL_ROWS_STEP % MAX_TILE_ROWS == 0, "tiles begin where strips do");

/* Of so many devices it is kept what code there is for them. An engine that failed may be made
 * again on another one. */
#define MOST_DEVICES 64

/* 0 where the device cannot be asked. */
static int device_attribute(cudaDeviceAttr attribute)
{
    int device = 0, value = 0;

    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&value, attribute, device) != cudaSuccess)
        return 0;
    return value;
}

static half2 both(float value)
{
    return __float2half2_rn(value);
}

/* Features come from samples. Half the square of a feature is an exponent in units of 2^-24. */
static void set_scales(tensor_params &h, const tensor_form &form)
{
    const bilateral_params &p = h.p;
    const float log2e = 1.44269504f;
    const float unit = p.lorentzian ? 1.0f : sqrtf(form.octave * 2.0f * log2e / 16777216.0f);
    const float color = p.inv_sqrt2_sc * unit / form.sample_unit;
    const float zero = -color * form.sample_of_128;
    const float place = unit / PLACE_UNIT;

    h.f0_y = both(p.a * color);
    h.f0_u = both(p.b * color);
    h.f0_v = both(p.c * color);
    h.y_128 = both(form.sample_of_128);
    h.f0_128 = both((p.b + p.c) * zero);
    h.f12_u = __floats2half2_rn(p.d * color, 0.0f);
    h.f12_v = __floats2half2_rn(p.e * color, p.f * color);
    h.f12_128 = __floats2half2_rn((p.d + p.e) * zero, p.f * zero);
    h.place_factor = __half2float(__float2half_rn(p.inv_two_ss2 * place * place));
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
    if (h.l.split)
        set_split_row(h, rows);
}

static tile_use use_of(const bilateral_params &p, const tensor_form &form, bool known)
{
    return {p.radius, known, p.disc || p.lorentzian, form.patches};
}

static shared_memory device_memory()
{
    return {size_t(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)),
            size_t(device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor))};
}

/* What there is for a device; zeroed: nothing, or it cannot be asked. */
struct device_code {
    int capability; /* ten times that which kernels were compiled for */
    enum form form;
};

static device_code ask_device(int device)
{
    const auto any = reinterpret_cast<const void *>(tensor_f16().kernels[0][0]);
    cudaFuncAttributes of_any;
    cudaDeviceProp is;

    if (cudaFuncGetAttributes(&of_any, any) != cudaSuccess ||
        cudaGetDeviceProperties(&is, device) != cudaSuccess)
        return {};
    return {of_any.ptxVersion, form_for(10 * is.major + is.minor, of_any.ptxVersion, is.name)};
}

/* Asks once for each device. */
static device_code code_of_this_device()
{
    static device_code known[MOST_DEVICES];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    device_code code = {};
    int device = 0;

    if (cudaGetDevice(&device) != cudaSuccess)
        return code;
    if (device >= MOST_DEVICES)
        return ask_device(device);
    pthread_mutex_lock(&lock);
    if (!known[device].capability)
        known[device] = ask_device(device);
    code = known[device];
    pthread_mutex_unlock(&lock);
    return code;
}

/* The kernel that knows the radius. NULL: there is none, or it was made for another memory. */
static tensor_function known_kernel(const bilateral_params &p, const tensor_form &form)
{
    const shared_memory is = device_memory();
    const shared_memory known = known_memory(code_of_this_device().capability / 10);

    if (p.radius > (p.disc ? MAX_KNOWN_DISC : MAX_KNOWN_SQUARE) || is.block != known.block ||
        is.all != known.all || !known_wins(!p.disc, use_of(p, form, false), is))
        return NULL;
    return p.disc ? form.discs[p.radius] : form.squares[p.radius];
}

/* Where tiles do not divide evenly among the multiprocessors, most of these would be idle at the
 * end. So the last rows of tiles are cut in parts, if that shortens it. A part has the places of
 * its tile, and its pixels are the same. It has work for at least half of a block's warps. Returns
 * how many rows of blocks there are. */
static int set_parts(tensor_params &h, int across)
{
    const int rows = (h.p.row_end - h.p.row_begin + h.l.tile_rows - 1) / h.l.tile_rows;
    const int all = device_attribute(cudaDevAttrMultiProcessorCount);
    const int left = all ? across * rows % all : 0;
    int least = 1 << MOST_PARTS_SHIFT; /* of such turns; a tile takes that many */
    const int warps = h.l.tile_rows / PATCH
                      << h.l.across_shift + h.l.split; /* with work, of a tile */

    h.whole_rows = rows;
    h.parts_shift = 0;
    for (int shift = 1; shift <= MOST_PARTS_SHIFT && left; shift++) {
        const int turns = ((left << shift) + all - 1) / all << MOST_PARTS_SHIFT - shift;

        if (turns < least && warps >> shift >= h.l.warps / 2) {
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
    h.l = choose_layout(use_of(p, form, known_kernel(p, form)), device_memory());
    across = (p.width + h.l.tile_columns - 1) / h.l.tile_columns;
    *ret_blocks = dim3(across, set_parts(h, across));
    set_window(h);
    return h;
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

    return suits ? choose_layout(use_of(p, kernels_for(p, form), false), device_memory()).fit : 0;
}

extern "C" bool tensor_suits(const bilateral_params *p)
{
    return tiles_that_fit(*p, code_of_this_device().form) > 0;
}

extern "C" bool tensor_wins(const bilateral_params *p)
{
    const enum form form = code_of_this_device().form;
    const int tiles = tiles_that_fit(*p, form);

    return tiles > 0 && p->radius >= form_least_radius(form, p->lorentzian, p->disc, tiles);
}

static tensor_function kernel_for(const tensor_params &h, const tensor_form &form)
{
    const tensor_function known = known_kernel(h.p, form);

    return known ? known : (h.l.split ? form.split : form.kernels)[!h.p.disc][h.p.radius & 1];
}

static cudaError_t launch(const bilateral_params &p, const tensor_form &form, cudaStream_t stream)
{
    dim3 grid;
    const tensor_params h = make_params(p, form, &grid);
    const tensor_function kernel = kernel_for(h, form);
    const dim3 block(WARP, h.l.warps);
    const size_t bytes = h.l.bytes;

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
    return launch(*p, kernels_for(*p, code_of_this_device().form), stream);
}

extern "C" cudaError_t tensor_launch_f16(const bilateral_params *p, cudaStream_t stream)
{
    return launch(*p, tensor_f16(), stream);
}
