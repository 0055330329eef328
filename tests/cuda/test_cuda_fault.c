/* test-cuda-fault lost|trap: the whole program's pipeline while its GPU fails under it.
 *
 * lost: waiting for a frame fails, as when a device went, and then starting again fails for want of
 *   memory. The CPU must take over, and the engine filter again when it can be made.
 * trap: a kernel traps, after which the driver gives this process no context any more. The CPU must
 *   take over, and the engine filter again in a process of its own; once more when that is killed.
 * Either way every frame is accounted for, and the run ends when it is told to. */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "base/clock.h"
#include "base/log.h"
#include "cuda/lab/rungs.h"
#include "engine/process.h"
#include "engine/table.h"
#include "pipeline/pipeline.h"
#include "settings/settings.h"

#define LIMIT_MS 20000

/* The linker puts these in front of the runtime's own. */
cudaError_t __real_cudaEventSynchronize(cudaEvent_t event);
cudaError_t __real_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t event);
cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);

static atomic_int lose_device, refuse_streams; /* how many times yet */

static bool inject(atomic_int *times)
{
    if (atomic_fetch_sub(times, 1) > 0)
        return true;
    atomic_fetch_add(times, 1);
    return false;
}

cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t event)
{
    return inject(&lose_device) ? cudaErrorUnknown : __real_cudaEventSynchronize(event);
}

cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return inject(&refuse_streams) ? cudaErrorMemoryAllocation
                                   : __real_cudaStreamCreateWithFlags(stream, flags);
}

static bool engine_is(struct pipeline *p, const char *name)
{
    struct status s;

    pipeline_status(p, &s);
    return !strcmp(s.engine, name);
}

static bool filtered_by(struct pipeline *p, const char *name)
{
    for (int ms = 0; ms < LIMIT_MS; ms += 5) {
        if (engine_is(p, name))
            return true;
        (void)poll(NULL, 0, 5);
    }
    printf("FAIL engine %s does not filter within %d ms\n", name, LIMIT_MS);
    return false;
}

static uint64_t frames_out(struct pipeline *p)
{
    struct status s;

    pipeline_status(p, &s);
    return s.frames_out;
}

/* Frames still come out, in number. */
static bool flows(struct pipeline *p)
{
    const uint64_t n = frames_out(p);

    for (int ms = 0; ms < LIMIT_MS; ms += 5) {
        if (frames_out(p) > n + 60)
            return true;
        (void)poll(NULL, 0, 5);
    }
    printf("FAIL frames stand still\n");
    return false;
}

static void lose_device_once(void)
{
    refuse_streams = 1;
    lose_device = 1;
}

static void trap(void)
{
    lab_break_device(NULL);
}

/* Kills the process of the engine, the only one that this one has. */
static void kill_process(void)
{
    char path[64];
    int pid = 0;
    FILE *f;

    /* The thread that started it may be gone: then it is the first thread's. */
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    f = fopen(path, "re");
    if (!f || fscanf(f, "%d", &pid) != 1 || kill(pid, SIGKILL))
        printf("FAIL no process to kill\n");
    if (f)
        (void)fclose(f);
}

/* Whether frames go on through a failure, first on the CPU and then on the GPU again. */
static bool survives(struct pipeline *p, const char *what, void (*fail)(void))
{
    const int64_t t_fault = now_ns();
    bool good;

    fail();
    good = filtered_by(p, "simd");
    printf("%s: the CPU took over after %.1f ms\n", what, (double)(now_ns() - t_fault) / 1e6);
    good = good && flows(p) && filtered_by(p, "cuda");
    printf("%s: the GPU was back after %.1f ms\n", what, (double)(now_ns() - t_fault) / 1e6);
    return good && flows(p);
}

static bool play(struct pipeline *p, bool trapped)
{
    bool good = filtered_by(p, "cuda") && flows(p);

    if (!trapped)
        return good && survives(p, "device lost", lose_device_once);
    good = good && survives(p, "kernel trapped", trap);
    return good && survives(p, "process killed", kill_process);
}

int main(int argc, char **argv)
{
    const int process_status = engine_process_main(engine_table, argc, argv);
    const bool trapped = argc > 1 && !strcmp(argv[1], "trap");
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct settings settings;
    struct pipeline *p;
    struct status s;
    struct error err;
    char device[128];
    bool good;

    if (process_status >= 0)
        return process_status;
    if (engine_cuda.probe("", device, sizeof(device), &err)) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    settings_init(&settings);
    if (settings_set(&settings, "input", "test:", &err) ||
        settings_set(&settings, "size", "640x360", &err) ||
        settings_set(&settings, "fps", "120", &err) ||
        settings_set(&settings, "output", "null:", &err) ||
        settings_set(&settings, "engine", "cuda", &err) ||
        pipeline_open(&p, &settings, stop_fd, &err) || pipeline_start(p, &err)) {
        printf("FAIL %s\n", err.text);
        return 1;
    }
    good = play(p, trapped);
    pipeline_stop(p);
    pipeline_join(p);
    pipeline_status(p, &s);
    printf("%llu frames in = %llu out + %llu dropped + %llu bad\n", (unsigned long long)s.frames_in,
           (unsigned long long)s.frames_out, (unsigned long long)s.frames_dropped,
           (unsigned long long)s.frames_bad);
    if (s.frames_in != s.frames_out + s.frames_dropped + s.frames_bad) {
        printf("FAIL frames do not add up\n");
        good = false;
    }
    if (pipeline_close(p)) {
        printf("FAIL the run ended with an error\n");
        good = false;
    }
    (void)close(stop_fd);
    return !good;
}
