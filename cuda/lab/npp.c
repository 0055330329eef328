#include "cuda/lab/npp.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define REPLICATE 2 /* the border: NPP_BORDER_REPLICATE */
#define MAX_TAPS 65

/* NppiSize and NppiPoint. */
struct pair {
    int x, y;
};

/* NppStreamContext, of NPP 10.1 and later. */
struct context {
    cudaStream_t stream;
    int device, multiprocessors, threads_per_multiprocessor, threads_per_block;
    size_t shared_bytes;
    int major, minor;
    unsigned flags;
    int reserved;
};

typedef int gaussian_function(const uint8_t *in, int in_stride, struct pair size,
                              struct pair offset, uint8_t *out, int out_stride, struct pair region,
                              int taps, const float *kernel, int border, struct context context);
typedef int box_function(const uint8_t *in, int in_stride, struct pair size, struct pair offset,
                         uint8_t *out, int out_stride, struct pair region, struct pair mask,
                         struct pair anchor, int border, struct context context);
typedef int bilateral_function(const uint8_t *in, int in_stride, struct pair size,
                               struct pair offset, uint8_t *out, int out_stride, struct pair region,
                               int radius, int step, float variance_colour, float variance_space,
                               int border, struct context context);

static struct {
    bool tried;
    void *library;
    gaussian_function *gaussian;
    box_function *box;
    bilateral_function *bilateral;

    struct context context;

    /* Weights that were last asked for, on the device. */
    float *weights;
    int radius;
    float inv_two_ss2;
} npp;

static void describe_device(void)
{
    struct context c = {0};
    int shared = 0;

    (void)cudaGetDevice(&c.device);
    (void)cudaDeviceGetAttribute(&c.multiprocessors, cudaDevAttrMultiProcessorCount, c.device);
    (void)cudaDeviceGetAttribute(&c.threads_per_multiprocessor,
                                 cudaDevAttrMaxThreadsPerMultiProcessor, c.device);
    (void)cudaDeviceGetAttribute(&c.threads_per_block, cudaDevAttrMaxThreadsPerBlock, c.device);
    (void)cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlock, c.device);
    (void)cudaDeviceGetAttribute(&c.major, cudaDevAttrComputeCapabilityMajor, c.device);
    (void)cudaDeviceGetAttribute(&c.minor, cudaDevAttrComputeCapabilityMinor, c.device);
    c.shared_bytes = (size_t)shared;
    npp.context = c;
}

static void load(void)
{
    static const char *const sonames[] = {"libnppif.so.13", "libnppif.so.12", "libnppif.so.11"};

    for (size_t i = 0; i < sizeof(sonames) / sizeof(sonames[0]) && !npp.library; i++) {
        npp.library = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
        if (npp.library)
            printf("peer: %s\n", sonames[i]);
    }
    if (!npp.library) {
        printf("no libnppif here: rungs of NPP are left out\n");
        return;
    }
    describe_device();
    *(void **)&npp.gaussian = dlsym(npp.library, "nppiFilterGaussAdvancedBorder_8u_C1R_Ctx");
    *(void **)&npp.box = dlsym(npp.library, "nppiFilterBoxBorder_8u_C1R_Ctx");
    *(void **)&npp.bilateral = dlsym(npp.library, "nppiFilterBilateralGaussBorder_8u_C1R_Ctx");
}

bool npp_here(void)
{
    if (!npp.tried)
        load();
    npp.tried = true;
    return npp.library != NULL;
}

static struct context context_of(cudaStream_t stream)
{
    struct context c = npp.context;

    c.stream = stream;
    (void)cudaStreamGetFlags(stream, &c.flags);
    return c;
}

static int make_weights(const struct bilateral_params *p)
{
    float weight[MAX_TAPS], sum = 0.0F;

    if (npp.weights && npp.radius == p->radius && npp.inv_two_ss2 == p->inv_two_ss2)
        return 0;
    for (int i = 0; i <= 2 * p->radius; i++) {
        const float distance = (float)(i - p->radius);

        weight[i] = expf(-distance * distance * p->inv_two_ss2);
        sum += weight[i];
    }
    for (int i = 0; i <= 2 * p->radius; i++)
        weight[i] /= sum;
    if (!npp.weights && cudaMalloc((void **)&npp.weights, sizeof(weight)) != cudaSuccess)
        return -ENOMEM;
    npp.radius = -1;
    if (cudaMemcpy(npp.weights, weight, sizeof(weight), cudaMemcpyHostToDevice) != cudaSuccess)
        return -ENOMEM;
    npp.radius = p->radius;
    npp.inv_two_ss2 = p->inv_two_ss2;
    return 0;
}

int npp_gaussian(const struct bilateral_params *p, cudaStream_t stream)
{
    const struct pair size = {p->width, p->height}, none = {0, 0};
    int r = npp.gaussian ? make_weights(p) : -ENOTSUP;

    if (r == 0 && npp.gaussian(p->in[0].base, (int)p->in[0].stride, size, none, p->out[0].base,
                               (int)p->out[0].stride, size, 2 * p->radius + 1, npp.weights,
                               REPLICATE, context_of(stream)))
        r = -ENOTSUP;
    return r;
}

int npp_box(const struct bilateral_params *p, cudaStream_t stream)
{
    const struct pair size = {p->width, p->height}, none = {0, 0};
    const struct pair mask = {2 * p->radius + 1, 2 * p->radius + 1},
                      middle = {p->radius, p->radius};

    return npp.box && npp.box(p->in[0].base, (int)p->in[0].stride, size, none, p->out[0].base,
                              (int)p->out[0].stride, size, mask, middle, REPLICATE,
                              context_of(stream)) == 0
               ? 0
               : -ENOTSUP;
}

int npp_bilateral(const struct bilateral_params *p, cudaStream_t stream)
{
    const struct pair size = {p->width, p->height}, none = {0, 0};
    const float sigma = p->sigma_color / p->a; /* of levels, where ours is of colours */

    return npp.bilateral &&
                   npp.bilateral(p->in[0].base, (int)p->in[0].stride, size, none, p->out[0].base,
                                 (int)p->out[0].stride, size, p->radius, 1, sigma * sigma,
                                 0.5F / p->inv_two_ss2, REPLICATE, context_of(stream)) == 0
               ? 0
               : -ENOTSUP;
}
