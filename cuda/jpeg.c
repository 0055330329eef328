#include "cuda/jpeg.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"

/* As in nvjpeg.h, which is not needed to build the program: all of it since CUDA 11. */
enum { NVJPEG_SUCCESS = 0, NVJPEG_OUTPUT_YUV = 1, NVJPEG_MAX_COMPONENT = 4 };

struct nvjpeg_image {
    unsigned char *channel[NVJPEG_MAX_COMPONENT];
    size_t pitch[NVJPEG_MAX_COMPONENT];
};

struct nvjpeg {
    void *library;
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*state_create)(void *handle, void **state);
    int (*state_destroy)(void *state);
    int (*image_info)(void *handle, const unsigned char *data, size_t length, int *n_components,
                      int *subsampling, int widths[NVJPEG_MAX_COMPONENT],
                      int heights[NVJPEG_MAX_COMPONENT]);
    int (*decode)(void *handle, void *state, const unsigned char *data, size_t length, int output,
                  struct nvjpeg_image *to, cudaStream_t stream);
};

#define FAILURES_MAX 2

static const char *const sonames[] = {"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so.11"};

/* All is guarded by the lock. */
static struct {
    pthread_mutex_t lock;
    int n_engines, gpu;
    bool useless;   /* until another engine starts */
    int n_failures; /* which may have been why that engine failed */
    struct nvjpeg api;
    void *handle, *state; /* of nvJPEG */
    cudaStream_t stream;
    cudaEvent_t done;
    uint8_t *memory; /* of planes */
    size_t size;
} decoder = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool find_functions(struct nvjpeg *n)
{
    const struct {
        void *to;
        const char *name;
    } wanted[] = {
        {&n->create, "nvjpegCreateSimple"},          {&n->destroy, "nvjpegDestroy"},
        {&n->state_create, "nvjpegJpegStateCreate"}, {&n->state_destroy, "nvjpegJpegStateDestroy"},
        {&n->image_info, "nvjpegGetImageInfo"},      {&n->decode, "nvjpegDecode"},
    };

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        void *const symbol = dlsym(n->library, wanted[i].name);

        if (!symbol)
            return false;
        *(void **)wanted[i].to = symbol;
    }
    return true;
}

static void stop_work(void)
{
    if (decoder.state)
        (void)decoder.api.state_destroy(decoder.state);
    if (decoder.handle)
        (void)decoder.api.destroy(decoder.handle);
    if (decoder.done)
        (void)cudaEventDestroy(decoder.done);
    if (decoder.stream)
        (void)cudaStreamDestroy(decoder.stream);
    if (decoder.memory)
        (void)cudaFree(decoder.memory);
    (void)cudaGetLastError();
    decoder.state = decoder.handle = NULL;
    decoder.done = NULL;
    decoder.stream = NULL;
    decoder.memory = NULL;
    decoder.size = 0;
}

/* Waiting for the event sleeps: decoding takes longer than waking up. */
static bool make_decoder(void)
{
    return !decoder.api.create(&decoder.handle) &&
           !decoder.api.state_create(decoder.handle, &decoder.state) &&
           cudaStreamCreateWithFlags(&decoder.stream, cudaStreamNonBlocking) == cudaSuccess &&
           cudaEventCreateWithFlags(&decoder.done,
                                    cudaEventBlockingSync | cudaEventDisableTiming) == cudaSuccess;
}

/* The newest library that works with the driver; it stays loaded. */
static bool start_work(void)
{
    for (size_t i = 0; i < sizeof(sonames) / sizeof(sonames[0]); i++) {
        decoder.api.library = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
        if (!decoder.api.library)
            continue;
        if (find_functions(&decoder.api) && make_decoder()) {
            log_debug("JPEGs are decoded on the GPU, by %s", sonames[i]);
            return true;
        }
        log_debug("%s does not work here", sonames[i]);
        stop_work();
        (void)dlclose(decoder.api.library);
    }
    log_debug("no libnvjpeg: JPEGs are decoded on the CPU");
    return false;
}

void jpeg_engine_starts(int gpu)
{
    (void)pthread_mutex_lock(&decoder.lock);
    if (decoder.n_engines++ == 0)
        decoder.gpu = gpu;
    decoder.useless = decoder.n_failures >= FAILURES_MAX;
    (void)pthread_mutex_unlock(&decoder.lock);
}

void jpeg_engine_ends(void)
{
    (void)pthread_mutex_lock(&decoder.lock);
    if (--decoder.n_engines == 0)
        stop_work();
    (void)pthread_mutex_unlock(&decoder.lock);
}

static bool ready(void)
{
    bool is;

    (void)pthread_mutex_lock(&decoder.lock);
    is = decoder.n_engines && !decoder.useless;
    (void)pthread_mutex_unlock(&decoder.lock);
    return is;
}

/* Whether nvJPEG would write as many samples as there is room for. */
static bool planes_fit(const uint8_t *jpeg, size_t size, const struct jpeg_planes *to)
{
    int n, subsampling, width[NVJPEG_MAX_COMPONENT], height[NVJPEG_MAX_COMPONENT];
    bool fit = !decoder.api.image_info(decoder.handle, jpeg, size, &n, &subsampling, width, height);

    fit = fit && n == 3;
    for (int c = 0; c < 3 && fit; c++)
        fit = width[c] == to->plane[c].width && height[c] == to->plane[c].rows;
    return fit;
}

static bool reserve(size_t size)
{
    if (size <= decoder.size)
        return true;
    if (decoder.memory)
        (void)cudaFree(decoder.memory);
    decoder.memory = NULL;
    decoder.size = 0;
    if (cudaMalloc((void **)&decoder.memory, size) != cudaSuccess)
        return false;
    decoder.size = size;
    return true;
}

/* Rows of planes lie behind each other without gaps. */
static int decode_planes(const uint8_t *jpeg, size_t size, const struct jpeg_planes *to)
{
    struct nvjpeg_image image = {0};
    cudaError_t status = cudaSuccess;
    size_t at[4] = {0};

    for (int c = 0; c < 3; c++)
        at[c + 1] = at[c] + (size_t)to->plane[c].width * (size_t)to->plane[c].rows;
    if (!reserve(at[3]))
        return -EIO;
    for (int c = 0; c < 3; c++) {
        image.channel[c] = decoder.memory + at[c];
        image.pitch[c] = (size_t)to->plane[c].width;
    }
    if (decoder.api.decode(decoder.handle, decoder.state, jpeg, size, NVJPEG_OUTPUT_YUV, &image,
                           decoder.stream) != NVJPEG_SUCCESS)
        return -EINVAL;
    for (int c = 0; c < 3 && status == cudaSuccess; c++)
        status = cudaMemcpy2DAsync(to->plane[c].base, to->plane[c].stride, image.channel[c],
                                   image.pitch[c], image.pitch[c], (size_t)to->plane[c].rows,
                                   cudaMemcpyDeviceToHost, decoder.stream);
    if (status == cudaSuccess)
        status = cudaEventRecord(decoder.done, decoder.stream);
    if (status == cudaSuccess)
        status = cudaEventSynchronize(decoder.done);
    return status == cudaSuccess ? 0 : -EIO;
}

static int decode_locked(const uint8_t *jpeg, size_t size, const struct jpeg_planes *to)
{
    int r;

    if (!decoder.n_engines || decoder.useless || cudaSetDevice(decoder.gpu) != cudaSuccess)
        return -ENODEV;
    decoder.useless = !decoder.state && !start_work();
    if (decoder.useless)
        return -ENODEV;
    r = planes_fit(jpeg, size, to) ? decode_planes(jpeg, size, to) : -EINVAL;
    if (r == -EINVAL)
        log_debug("a JPEG that nvJPEG does not take: the CPU decodes some");
    if (r == -EIO || cudaStreamSynchronize(decoder.stream) != cudaSuccess) {
        log_debug("nvJPEG failed: JPEGs are decoded on the CPU");
        decoder.useless = true;
        decoder.n_failures++;
        stop_work();
        return -EIO;
    }
    return r;
}

static int decode(const uint8_t *jpeg, size_t size, const struct jpeg_planes *to)
{
    int r;

    (void)pthread_mutex_lock(&decoder.lock);
    r = decode_locked(jpeg, size, to);
    (void)pthread_mutex_unlock(&decoder.lock);
    return r;
}

const struct jpeg_device jpeg_on_gpu = {.ready = ready, .decode = decode};
