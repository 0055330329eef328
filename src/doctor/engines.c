/* What filters: the GPU, and if not, why not; the CPU. */
#include <string.h>

#include "doctor/checkup.h"

#define NVIDIA_VERSION "/sys/module/nvidia/version"
#define PCI "/sys/bus/pci/devices"

static bool is_nvidia_gpu(const struct checkup *c, const char *device)
{
    char path[sizeof(PCI) + 300], vendor[16], class[16];

    (void)snprintf(path, sizeof(path), PCI "/%s/vendor", device);
    (void)system_line(c, path, vendor, sizeof(vendor));
    (void)snprintf(path, sizeof(path), PCI "/%s/class", device);
    (void)system_line(c, path, class, sizeof(class));
    return !strcmp(vendor, "0x10de") && !strncmp(class, "0x03", 4);
}

static bool have_nvidia_gpu(const struct checkup *c)
{
    DIR *dir = system_folder(c, PCI);
    const struct dirent *e;
    bool found = false;

    while (dir && !found && (e = readdir(dir)))
        found = is_nvidia_gpu(c, e->d_name);
    if (dir)
        (void)closedir(dir);
    return found;
}

/* The GPU is there but @why keeps it from filtering. */
static void explain_gpu(const struct checkup *c, const char *why)
{
    char driver[64];

    if (!system_line(c, NVIDIA_VERSION, driver, sizeof(driver))) {
        report_note(c, "an NVIDIA GPU is here but not used: %s%s", why,
                    system_has(c, "/sys/module/nouveau") ? " (nouveau has no CUDA)" : "");
        report_fix(c, system_has(c, "/usr/bin/apt-get")
                          ? "sudo apt-get install nvidia-driver, then restart"
                          : "install NVIDIA's driver, then restart");
        return;
    }
    report_note(c, "an NVIDIA GPU with driver %s is here but not used: %s", driver, why);
    if (c->container && !system_has(c, "/dev/nvidiactl"))
        report_fix(c, "start the container with --gpus all (NVIDIA Container Toolkit)");
    else
        report_fix(c, "nvidia-smi tells whether the driver works; a newer one may be needed, "
                      "then restart");
}

static bool check_gpu(const struct checkup *c, const struct engine_ops *cuda)
{
    char device[128] = "", driver[64];
    struct error err;
    const bool works = !cuda->missing && !cuda->probe("", device, sizeof(device), &err);

    if (works) {
        (void)system_line(c, NVIDIA_VERSION, driver, sizeof(driver));
        report_ok(c, "GPU: %s%s%s", device, *driver ? ", driver " : "", driver);
    } else if (!have_nvidia_gpu(c)) {
        report_ok(c, "no NVIDIA GPU: the CPU filters");
    } else if (!cuda->missing) {
        explain_gpu(c, err.text);
    } else {
        report_note(c, "an NVIDIA GPU is here, but this bilatcam is built without CUDA");
        report_fix(c, "install the CUDA Toolkit and build bilatcam again");
    }
    return works;
}

static bool check_cpu(const struct checkup *c, const struct engine_ops *simd)
{
    char device[128] = "";
    struct error err;

    if (simd->probe("", device, sizeof(device), &err)) {
        report_problem(c, "the CPU engine does not work: %s", err.text);
        report_fix(c, "unset BILATCAM_CPU");
        return false;
    }
    report_ok(c, "CPU: %s", device);
    return true;
}

void check_engines(struct checkup *c)
{
    const bool gpu = check_gpu(c, engine_find(c->system->engines, "cuda"));
    const bool cpu = check_cpu(c, engine_find(c->system->engines, "simd"));

    c->engine = gpu || cpu;
}
