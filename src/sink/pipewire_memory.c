#include "sink/pipewire_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Nobody makes it shorter under us, and nobody but this mapping writes: not all systems have the
 * latter, which is from Linux 5.1. */
static void seal(int fd)
{
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL);
}

int pipewire_memory_share(struct spa_data *d, size_t size)
{
    const int fd = memfd_create("bilatcam-picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *memory = MAP_FAILED;
    int r;

    d->type = SPA_DATA_MemFd;
    d->flags = SPA_DATA_FLAG_READABLE;
    d->fd = -1;
    d->mapoffset = 0;
    d->maxsize = 0;
    d->data = NULL;
    if (fd < 0)
        return -errno;
    /* Pages that are not there are an error here; later they would be the end of the program. */
    r = -posix_fallocate(fd, 0, (off_t)size);
    if (r == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        r = r ? r : -errno;
        (void)close(fd);
        return r;
    }
    seal(fd);
    d->fd = fd;
    d->maxsize = (uint32_t)size;
    d->data = memory;
    return 0;
}

void pipewire_memory_drop(struct spa_data *d)
{
    if (!d->data)
        return;
    (void)munmap(d->data, d->maxsize);
    (void)close((int)d->fd);
    d->data = NULL;
    d->fd = -1;
}
