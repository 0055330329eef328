#include "cuda/gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pci.h"
#include "base/text.h"

#define LOCK_TRIES 100
#define LOCK_WAIT_MS 50

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
    struct pci_address address, other;
    char *end;
    long number;

    if (!*wanted)
        return roomiest(gpus, n);
    number = strtol(wanted, &end, 10);
    if (!*end)
        return number < n ? (int)number : not_here(gpus, n, wanted, err);
    if (pci_parse(&address, wanted))
        for (int i = 0; i < n; i++)
            if (pci_parse(&other, gpus[i].bus) && pci_same(&address, &other))
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
