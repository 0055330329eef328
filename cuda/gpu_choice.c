#include "cuda/gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define LOCK_TRIES 100
#define LOCK_WAIT_MS 50

/* The domain and the function may be left out, as in nvidia-smi and lspci. */
static bool read_bus(const char *text, unsigned bus[4])
{
    int end = 0;

    bus[0] = bus[3] = 0;
    if (sscanf(text, "%x:%x:%x%n", &bus[0], &bus[1], &bus[2], &end) != 3) {
        bus[0] = 0;
        if (sscanf(text, "%x:%x%n", &bus[1], &bus[2], &end) != 2)
            return false;
    }
    text += end;
    if (*text == '.' && sscanf(text, ".%x%n", &bus[3], &end) == 1)
        text += end;
    return !*text;
}

static bool is_at(const struct gpu *gpu, const unsigned wanted[4])
{
    unsigned bus[4];

    return read_bus(gpu->bus, bus) && !memcmp(bus, wanted, sizeof(bus));
}

static int roomiest(const struct gpu *gpus, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if (gpus[i].free > gpus[best].free)
            best = i;
    return best;
}

static int not_here(const struct gpu *gpus, int n, const char *wanted, struct error *err)
{
    char list[160] = "";

    for (int i = 0; i < n; i++) {
        char one[40];

        (void)snprintf(one, sizeof(one), "%d (%s)", i, gpus[i].bus);
        list_add(list, sizeof(list), ", ", one);
    }
    return error_set(err, -ENODEV, "there is no GPU '%s' here, but %s", wanted, list);
}

int gpu_choose(const struct gpu *gpus, int n, const char *wanted, struct error *err)
{
    unsigned bus[4];
    char *end;
    long number;

    if (!*wanted || !strcmp(wanted, "auto"))
        return roomiest(gpus, n);
    number = strtol(wanted, &end, 10);
    if (!*end)
        return number < n ? (int)number : not_here(gpus, n, wanted, err);
    if (read_bus(wanted, bus))
        for (int i = 0; i < n; i++)
            if (is_at(&gpus[i], bus))
                return i;
    return not_here(gpus, n, wanted, err);
}

/* The lock is on the program's own file, which a service's sandbox shows, too. */
int gpu_lock(void)
{
    const struct timespec wait = timespec_of(LOCK_WAIT_MS * NS_PER_MS);
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
        if (!flock(fd, LOCK_EX | LOCK_NB))
            return fd;
        (void)nanosleep(&wait, NULL);
    }
    if (fd >= 0)
        (void)close(fd);
    return -1;
}
