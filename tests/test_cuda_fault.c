/* test-cuda-fault lost|trap: the whole program's pipeline while its GPU fails under it.
 *
 * lost: waiting for a frame fails, as when a device went, and then starting anew fails for want of
 *   memory. The CPU must take over, and the engine filter again when it can be made.
 * trap: a kernel traps, after which the driver gives this process no context any more. The CPU must
 *   take over, for good, without a flood of messages.
 * Either way every frame is accounted for, and the run ends when it is told to. */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "../cuda/lab/rungs.h"
#include "config.h"
#include "engine.h"
#include "log.h"
#include "pipeline.h"

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
    struct stats_header header;
    struct stats stats;

    pipeline_stats(p, &header, &stats);
    return !strcmp(header.engine, name);
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
    struct stats_header header;
    struct stats stats;

    pipeline_stats(p, &header, &stats);
    return stats.frames_out;
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

static bool play(struct pipeline *p, bool trap)
{
    bool good = filtered_by(p, "cuda") && flows(p);
    const int64_t t_fault = now_ns();

    if (trap) {
        lab_break_device(NULL);
    } else {
        refuse_streams = 1;
        lose_device = 1;
    }
    good = good && filtered_by(p, "simd");
    printf("the CPU took over after %.1f ms\n", (double)(now_ns() - t_fault) / 1e6);
    good = good && flows(p);
    if (!trap) {
        good = good && filtered_by(p, "cuda");
        printf("the GPU was back after %.1f ms\n", (double)(now_ns() - t_fault) / 1e6);
        good = good && flows(p);
    }
    return good;
}

int main(int argc, char **argv)
{
    const bool trap = argc > 1 && !strcmp(argv[1], "trap");
    const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct stats_header header;
    struct settings settings;
    struct stats s;
    struct pipeline *p;
    struct error err;
    char device[128];
    bool good;

    if (engine_cuda.probe(device, sizeof(device), &err)) {
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
    good = play(p, trap);
    pipeline_stop(p);
    pipeline_join(p);
    pipeline_stats(p, &header, &s);
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
