/* What CUDA sees, and how much of its memory is free or this process', as NVIDIA's management
 * library tells, which comes with the driver and makes no context on a GPU to say so. */
#include "cuda/gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "base/text.h"

/* Of nvml.h, which toolkits install apart from the rest. */
struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_process {
    unsigned int pid;
    unsigned long long memory; /* bytes; all bits set = not known */
    unsigned int gpu_instance, compute_instance;
};

#define PROCESSES_MAX 256 /* on one GPU */

struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_bus)(const char *bus, void **device);
    int (*memory)(void *device, struct nvml_memory *ret);
};

static bool find(void *library, const char *name, void *function)
{
    *(void **)function = dlsym(library, name);
    return *(void **)function;
}

static bool nvml_open(struct nvml *m)
{
    m->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!m->library)
        return false;
    if (find(m->library, "nvmlInit_v2", &m->init) &&
        find(m->library, "nvmlShutdown", &m->shutdown) &&
        find(m->library, "nvmlDeviceGetHandleByPciBusId_v2", &m->by_bus) &&
        find(m->library, "nvmlDeviceGetMemoryInfo", &m->memory) && !m->init())
        return true;
    (void)dlclose(m->library);
    return false;
}

static void nvml_close(struct nvml *m)
{
    (void)m->shutdown();
    (void)dlclose(m->library);
}

static void ask_for_room(struct gpu *gpus, int n)
{
    struct nvml m;

    if (!nvml_open(&m))
        return;
    for (int i = 0; i < n; i++) {
        struct nvml_memory memory;
        void *device;

        if (!m.by_bus(gpus[i].bus, &device) && !m.memory(device, &memory))
            gpus[i].free = memory.free;
    }
    nvml_close(&m);
}

static uint64_t own_memory_on(const struct nvml *m, void *device)
{
    int (*list)(void *device, unsigned int *n, struct nvml_process *ret);
    struct nvml_process processes[PROCESSES_MAX];
    unsigned int n = PROCESSES_MAX;

    if (!find(m->library, "nvmlDeviceGetComputeRunningProcesses_v2", &list) ||
        list(device, &n, processes))
        return 0;
    for (unsigned int i = 0; i < n; i++)
        if (processes[i].pid == (unsigned int)getpid())
            return processes[i].memory == ~0ULL ? 0 : processes[i].memory;
    return 0;
}

uint64_t gpu_own_memory(const char *bus)
{
    struct nvml m;
    void *device;
    uint64_t bytes = 0;

    if (!nvml_open(&m))
        return 0;
    if (!m.by_bus(bus, &device))
        bytes = own_memory_on(&m, device);
    nvml_close(&m);
    return bytes;
}

static int find_driver(struct error *err)
{
    int driver = 0, runtime = 0;

    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
        return error_set(err, -ENODEV, "no NVIDIA driver");
    (void)cudaRuntimeGetVersion(&runtime);
    if (driver / 1000 < runtime / 1000)
        return error_set(err, -ENODEV,
                         "the NVIDIA driver supports CUDA %d.%d, this program needs %d.%d",
                         driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    return 0;
}

static int describe(struct gpu *ret, int i, struct error *err)
{
    struct cudaDeviceProp properties;
    const cudaError_t status = cudaGetDeviceProperties(&properties, i);

    if (status != cudaSuccess)
        return error_set(err, -ENODEV, "cannot ask the NVIDIA GPU what it is: %s",
                         cudaGetErrorString(status));
    *ret = (struct gpu){0};
    (void)snprintf(ret->name, sizeof(ret->name), "%.99s", properties.name);
    (void)utf8_printable(ret->name);
    (void)snprintf(ret->bus, sizeof(ret->bus), "%04x:%02x:%02x.0", (unsigned)properties.pciDomainID,
                   (unsigned)properties.pciBusID, (unsigned)properties.pciDeviceID);
    return 0;
}

int gpu_list(struct gpu *ret, struct error *err)
{
    int n = 0, r = find_driver(err);
    cudaError_t status;

    if (r)
        return r;
    status = cudaGetDeviceCount(&n);
    if (status != cudaSuccess || n == 0) {
        (void)cudaGetLastError();
        return error_set(err, -ENODEV, "no usable NVIDIA GPU: %s",
                         status == cudaSuccess ? "none found" : cudaGetErrorString(status));
    }
    if (n > GPUS_MAX)
        n = GPUS_MAX;
    for (int i = 0; i < n && r == 0; i++)
        r = describe(&ret[i], i, err);
    if (r == 0 && n > 1)
        ask_for_room(ret, n);
    return r ? r : n;
}
