/* The CUDA engine: one GPU, several frames in flight.
 *
 * DESIGN. A frame in flight has a slot: a stream, events and device memory for the picture
 * before and after. Slots are used in turn, so frames leave in the order in which they came.
 * Device memory grows when a larger picture comes and is kept.
 *
 * There are three roads through the device. A frame that is filtered with those before it is
 * uploaded and downloaded on its slot's stream and filtered on that of the past (device_past.h). Of
 * the others, one that finds the device idle and lies in pinned memory takes the quick road
 * (strips.h); any other is uploaded, filtered and downloaded as a whole on its slot's stream.
 * Frames overlap there because slots do.
 *
 * Any failure of the device marks the engine as lost: from then on submit and collect return
 * -EIO without touching it, until the owner destroys the engine and creates it again. Some failures
 * stay with the process, a kernel that trapped above all: drivers give it no context any more.
 * They do give one to another process, so the engine is then made in one (engine/process.h). */
#include "engine/engine.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/autotune.h"
#include "cuda/device_frame.h"
#include "cuda/gpu.h"
#include "cuda/jpeg.h"
#include "cuda/kernel/bilateral.h"
#include "cuda/strips.h"
#include "cuda/device_past.h"
#include "engine/process.h"

/* Uploads, kernels and downloads of three frames overlap; the fourth is being filled. */
#define DEPTH 4

struct slot {
    cudaStream_t stream;
    cudaEvent_t uploaded, filtered, done;
    uint8_t *memory; /* the picture before, then after */
    size_t size;
    bool on_device; /* false: done at submit, without the device */
    struct time_knowledge knowledge;
};

struct pinned {
    uint8_t *memory;
    size_t size;
};

struct cuda_engine {
    struct engine base;
    struct slot slots[DEPTH];
    int first, n_in_flight; /* slots in use, from the oldest */
    struct strips strips;
    struct device_past past;
    const struct slot *collected; /* last; NULL: none */
    struct autotune autotune;
    struct pinned *pinned;
    size_t n_pinned;
    size_t size_told; /* of all pictures on the device when memory was told */
    uint64_t memory;  /* of the device, that the process has; 0 = not known */
    int gpu;          /* its number */
    char bus[20];     /* and PCI bus ID */
    bool started;
    bool lost;
};

static const struct engine_ops cuda_in_process;
static atomic_bool failed_before; /* in this process */

/* A CUDA status as -errno. The runtime remembers an error until it is asked for; it must not
 * be taken for one of the next launch. */
static int check(cudaError_t status)
{
    if (status != cudaSuccess)
        (void)cudaGetLastError();
    return bilateral_errno(status);
}

/* The GPU that @wanted names: its number. */
static int find_gpu(struct gpu *ret, const char *wanted, char *device, size_t size,
                    struct error *err)
{
    struct gpu gpus[GPUS_MAX];
    const int n = gpu_list(gpus, err), i = n < 0 ? n : gpu_choose(gpus, n, wanted, err);

    if (i < 0)
        return i;
    *ret = gpus[i];
    if (size && n > 1)
        (void)snprintf(device, size, "%s (device %d, %s)", ret->name, i, ret->bus);
    else if (size)
        (void)snprintf(device, size, "%s", ret->name);
    return i;
}

static int cuda_probe(const char *wanted, char *device, size_t size, struct error *err)
{
    struct gpu gpu;
    const int i = find_gpu(&gpu, wanted, device, size, err);

    return i < 0 ? i : 0;
}

static void slot_finish(struct slot *s)
{
    if (s->stream) {
        (void)cudaStreamSynchronize(s->stream);
        (void)cudaStreamDestroy(s->stream);
    }
    if (s->uploaded)
        (void)cudaEventDestroy(s->uploaded);
    if (s->filtered)
        (void)cudaEventDestroy(s->filtered);
    if (s->done)
        (void)cudaEventDestroy(s->done);
    if (s->memory)
        (void)cudaFree(s->memory);
    time_knowledge_finish(&s->knowledge);
}

/* Waiting for the event spins: one that sleeps wakes later than a frame takes, and sustained work
 * is slower by a tenth (2026-11, NVIDIA H200 in a virtual machine). */
static cudaError_t slot_init(struct slot *s)
{
    cudaEvent_t *const events[] = {&s->uploaded, &s->filtered, &s->done};
    cudaError_t status = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);

    for (int i = 0; i < 3 && status == cudaSuccess; i++)
        status = cudaEventCreateWithFlags(events[i], cudaEventDisableTiming);
    return status;
}

/* Kernels load whole words, so also what lies behind rows and is never written. All is cleared
 * before the first copy to it, on whichever stream. */
static int slot_reserve(struct slot *s, size_t size)
{
    int r;

    if (size <= s->size)
        return 0;
    if (s->memory)
        (void)cudaFree(s->memory);
    s->memory = NULL;
    s->size = 0;
    r = check(cudaMalloc((void **)&s->memory, size));
    if (r == 0)
        r = check(cudaMemsetAsync(s->memory, 0, size, s->stream));
    if (r == 0)
        r = check(cudaStreamSynchronize(s->stream));
    if (r == 0)
        s->size = size;
    return r;
}

/* A thread's calls go to the GPU that it named last, and this one may not have named any. */
static int use_gpu(const struct cuda_engine *e)
{
    return check(cudaSetDevice(e->gpu));
}

static void cuda_destroy(struct engine *base)
{
    struct cuda_engine *e = (struct cuda_engine *)base;

    if (!e)
        return;
    (void)use_gpu(e);
    if (e->started)
        jpeg_engine_ends();
    strips_finish(&e->strips);
    device_past_finish(&e->past);
    for (int i = 0; i < DEPTH; i++)
        slot_finish(&e->slots[i]);
    for (size_t i = 0; i < e->n_pinned; i++)
        (void)cudaHostUnregister(e->pinned[i].memory);
    (void)cudaGetLastError();
    free(e->pinned);
    free(e);
}

/* The process' context keeps the GPU awake even when nothing is in it; and an error of a kernel
 * stays with it for good, so that only a new one can serve the next engine. */
static void cuda_release(void)
{
    (void)cudaDeviceReset();
    (void)cudaGetLastError();
}

/* Makes the context. */
static int start_work(struct cuda_engine *e, const char *wanted, struct gpu *gpu, struct error *err)
{
    cudaError_t status;

    e->gpu = find_gpu(gpu, wanted, e->base.device, sizeof(e->base.device), err);
    if (e->gpu < 0)
        return e->gpu;
    memcpy(e->bus, gpu->bus, sizeof(e->bus));
    status = cudaSetDevice(e->gpu);
    if (status == cudaSuccess)
        status = cudaFree(NULL);
    if (status != cudaSuccess)
        return error_set(err, check(status), "cannot start work on the %s: %s", e->base.device,
                         cudaGetErrorString(status));
    return 0;
}

static int create_here(struct engine **ret, const struct engine_config *config, struct error *err)
{
    struct cuda_engine *e = calloc(1, sizeof(*e));
    struct gpu gpu;
    int lock = -1, r;

    if (!e)
        return error_set(err, -ENOMEM, "out of memory for the CUDA engine");
    e->base.ops = &engine_cuda;
    e->base.depth = DEPTH;
    if (!*config->device)
        lock = gpu_lock();
    r = start_work(e, config->device, &gpu, err);
    if (lock >= 0)
        (void)close(lock);
    if (r)
        goto fail;
    r = bilateral_supported();
    if (r) {
        error_set(err, r, "this program has no code for the %s", e->base.device);
        goto fail;
    }
    r = check(strips_init(&e->strips));
    if (r == 0)
        r = device_past_init(&e->past);
    for (int i = 0; i < DEPTH && r == 0; i++)
        r = check(slot_init(&e->slots[i]));
    if (r) {
        error_set(err, r, "cannot start work on the %s: %s", e->base.device, strerror(-r));
        goto fail;
    }
    autotune_init(&e->autotune, config->autotune, gpu.name);
    e->started = true;
    jpeg_engine_starts(e->gpu);
    *ret = &e->base;
    return 0;
fail:
    cuda_destroy(&e->base);
    return r;
}

static int cuda_create(struct engine **ret, const struct engine_config *config, struct error *err)
{
    const int r = create_here(ret, config, err);

    if (r == 0 || r == -ENOMEM || !failed_before)
        return r;
    return engine_process_create(ret, &cuda_in_process, config, &engine_process_limits, err);
}

static int cuda_pin(struct engine *base, void *memory, size_t bytes)
{
    struct cuda_engine *e = (struct cuda_engine *)base;
    struct pinned *more = realloc(e->pinned, (e->n_pinned + 1) * sizeof(*more));
    int r;

    if (!more)
        return -ENOMEM;
    e->pinned = more;
    r = use_gpu(e);
    if (r == 0)
        r = check(cudaHostRegister(memory, bytes, cudaHostRegisterPortable));
    if (r == 0)
        e->pinned[e->n_pinned++] = (struct pinned){memory, bytes};
    return r;
}

static void cuda_unpin(struct engine *base, void *memory)
{
    struct cuda_engine *e = (struct cuda_engine *)base;

    for (size_t i = 0; i < e->n_pinned; i++) {
        if (e->pinned[i].memory != memory)
            continue;
        (void)use_gpu(e);
        (void)check(cudaHostUnregister(memory));
        e->pinned[i] = e->pinned[--e->n_pinned];
        return;
    }
}

static bool is_pinned(const struct cuda_engine *e, const struct frame *f)
{
    for (int i = 0; i < format_table[f->format].planes; i++) {
        const uint8_t *const end = f->plane[i] +
                                   f->stride[i] * ((size_t)frame_plane_rows(f, i) - 1) +
                                   frame_row_bytes(f, i);
        size_t k = 0;

        while (k < e->n_pinned &&
               (f->plane[i] < e->pinned[k].memory || end > e->pinned[k].memory + e->pinned[k].size))
            k++;
        if (k == e->n_pinned)
            return false;
    }
    return true;
}

static int filter_whole(cudaStream_t stream, const struct bilateral_params *p,
                        const struct frame *in, const struct frame *before,
                        const struct frame *after, const struct frame *out)
{
    int r = check(device_copy_rows(before, in, 0, in->height, cudaMemcpyHostToDevice, stream));

    if (r == 0)
        r = bilateral_launch(p, stream);
    if (r == 0)
        r = check(device_copy_rows(out, after, 0, in->height, cudaMemcpyDeviceToHost, stream));
    return r;
}

/* Has @to wait for what @from has to do by now. */
static cudaError_t follow(cudaStream_t to, cudaStream_t from, cudaEvent_t event)
{
    const cudaError_t status = cudaEventRecord(event, from);

    return status == cudaSuccess ? cudaStreamWaitEvent(to, event, 0) : status;
}

/* A frame that is filtered with those before it. */
static int filter_in_time(struct cuda_engine *e, struct slot *s, const struct frame *in,
                          const struct frame *before, const struct frame *after,
                          const struct frame *out, const struct filter *filter, bool goes_on)
{
    int r = check(device_copy_rows(before, in, 0, in->height, cudaMemcpyHostToDevice, s->stream));

    if (r == 0)
        r = check(follow(e->past.stream, s->stream, s->uploaded));
    if (r == 0)
        r = device_past_filter(&e->past, before, after, filter, goes_on, &s->knowledge);
    if (r == 0)
        r = check(follow(s->stream, e->past.stream, s->filtered));
    if (r == 0)
        r = check(device_copy_rows(out, after, 0, in->height, cudaMemcpyDeviceToHost, s->stream));
    return r ? r : check(cudaEventRecord(s->done, s->stream));
}

static int start(struct cuda_engine *e, struct slot *s, const struct frame *in,
                 const struct frame *out, const struct filter *filter, bool goes_on)
{
    struct frame before, after;
    struct bilateral_params p;
    const size_t size = device_frame(&before, in, NULL);
    bool quick;
    int r = slot_reserve(s, size + device_frame(&after, out, NULL));

    if (r)
        return r;
    (void)device_frame(&before, in, s->memory);
    (void)device_frame(&after, out, s->memory + size);
    if (filter_looks_back(filter))
        return filter_in_time(e, s, in, &before, &after, out, filter, goes_on);
    r = bilateral_prepare(&p, &before, &after, filter);
    if (r)
        return r;
    quick = e->n_in_flight == 0 && is_pinned(e, in) && is_pinned(e, out);
    r = autotune_choose(&e->autotune, &p, quick ? strips_rows(in->height) : in->height,
                        e->strips.kernel);
    if (r)
        return r;
    if (quick) {
        r = strips_start(&e->strips, &p, in, &before, &after, out);
        return r ? r : check(cudaEventRecord(s->done, e->strips.download));
    }
    r = filter_whole(s->stream, &p, in, &before, &after, out);
    return r ? r : check(cudaEventRecord(s->done, s->stream));
}

static int lose(struct cuda_engine *e)
{
    failed_before = true;
    e->lost = true;
    return -EIO;
}

static int cuda_submit(struct engine *base, const struct frame *in, struct frame *out,
                       const struct filter *filter)
{
    struct cuda_engine *e = (struct cuda_engine *)base;
    struct slot *s = &e->slots[(e->first + e->n_in_flight) % DEPTH];
    bool goes_on;
    int r = 0;

    if (e->lost)
        return -EIO;
    if (e->n_in_flight == DEPTH)
        return -EBUSY;
    if (!engine_takes(in->format, filter))
        return -EINVAL;
    goes_on = past_goes_on(&e->past.chain, in, filter);
    s->on_device = filter->radius > 0 || filter_looks_back(filter);
    s->knowledge.noise = s->knowledge.counts = false;
    s->knowledge.frames = 0;
    if (s->on_device)
        r = use_gpu(e);
    if (s->on_device && r == 0)
        r = start(e, s, in, out, filter, goes_on);
    else
        frame_copy(out, in);
    if (r == 0)
        e->n_in_flight++;
    if (r == -EIO || r == -ENODEV)
        return lose(e);
    return r;
}

static int cuda_collect(struct engine *base)
{
    struct cuda_engine *e = (struct cuda_engine *)base;
    struct slot *s = &e->slots[e->first];

    if (e->lost)
        return -EIO;
    if (e->n_in_flight == 0)
        return -EAGAIN;
    if (s->on_device && (use_gpu(e) || check(cudaEventSynchronize(s->done))))
        return lose(e);
    e->collected = s;
    e->first = (e->first + 1) % DEPTH;
    e->n_in_flight--;
    return 0;
}

static void cuda_forget(struct engine *base)
{
    past_forget(&((struct cuda_engine *)base)->past.chain);
}

/* Asks how much memory the process has, if that of pictures changed. Each slot gets its own with
 * its first frame, so the time to ask is when all had their turn. */
static void measure_memory(struct cuda_engine *e)
{
    size_t size = e->past.size;

    for (int i = 0; i < DEPTH; i++)
        size += e->slots[i].size;
    if (e->first != 0 || size == e->size_told)
        return;
    e->memory = gpu_own_memory(e->bus);
    e->size_told = size;
}

static void cuda_report(struct engine *base, struct engine_report *ret)
{
    struct cuda_engine *e = (struct cuda_engine *)base;

    *ret = (struct engine_report){0};
    if (e->collected)
        time_knowledge_tell(&e->collected->knowledge, ret);
    measure_memory(e);
    ret->device_memory = e->memory;
}

const struct engine_ops engine_cuda = {
    .name = "cuda",
    .help = "NVIDIA GPU",
    .on_device = true,
    .jpegs = &jpeg_on_gpu,
    .probe = cuda_probe,
    .create = cuda_create,
    .destroy = cuda_destroy,
    .release = cuda_release,
    .pin = cuda_pin,
    .unpin = cuda_unpin,
    .submit = cuda_submit,
    .collect = cuda_collect,
    .pass = engine_pass_nothing, /* a frame that passed is as if lost */
    .forget = cuda_forget,
    .report = cuda_report,
};

static const struct engine_ops cuda_in_process = {
    .name = "cuda",
    .on_device = true,
    .create = cuda_create,
    .destroy = engine_process_destroy,
    .release = engine_release_nothing, /* its process is gone */
    .pin = engine_process_pin,
    .unpin = engine_process_unpin,
    .submit = engine_process_submit,
    .collect = engine_process_collect,
    .pass = engine_process_pass,
    .forget = engine_process_forget,
    .report = engine_process_report,
};
