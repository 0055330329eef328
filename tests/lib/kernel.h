/* A Video4Linux device that lies, in place of the kernel's. The compiler includes this before the
 * sources of the camera and of the virtual camera, whose system calls then come here; the test's
 * own do not. Time is simulated, too, so that nothing waits. */
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define KERNEL_STOP_FD 999

enum kernel_device { KERNEL_CAMERA, KERNEL_LOOPBACK };

/* A device with the answers of @data: first four bytes for what it is (format, columns / 2 - 1,
 * rows - 1, and how many bytes at the end are used over and over), then one or more for each call:
 *   0..127    an honest answer
 *   128..191  the error of that number
 *   192..255  up to four values written over the honest answer, six bytes for each: where, what */
void kernel_start(enum kernel_device device, const uint8_t *data, size_t size);

/* Frames are stamped so long before they can be read, plus anything up to the jitter. */
void kernel_set_stamps(int64_t age_ns, int64_t jitter_ns);

/* Begins an operation, which must come to an end within a sane number of calls and of hours. */
void kernel_operation(void);

/* All that was opened or mapped must have been given back. */
void kernel_stop(void);

int kernel_open(const char *path, int flags);
int kernel_stat(const char *path, struct stat *st);
int kernel_fstat(int fd, struct stat *st);
int kernel_access(const char *path, int mode);
int kernel_ioctl(int fd, unsigned long request, void *arg);
int kernel_fcntl(int fd, int command, struct flock *lock);
int kernel_close(int fd);
void *kernel_mmap(size_t length, int fd);
int kernel_munmap(void *memory, size_t length);
int kernel_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns);
ssize_t kernel_read(int fd, void *buffer, size_t size);
ssize_t kernel_write(int fd, const void *buffer, size_t size);
int64_t kernel_now_ns(void);

#ifdef KERNEL_SIMULATED
#define open(path, flags) kernel_open(path, flags)
#define stat(path, st) kernel_stat(path, st)
#define fstat(fd, st) kernel_fstat(fd, st)
#define access(path, mode) kernel_access(path, mode)
#define ioctl(fd, request, arg) kernel_ioctl(fd, request, arg)
#define fcntl(fd, command, lock) kernel_fcntl(fd, command, lock)
#define close(fd) kernel_close(fd)
#define mmap(at, length, protection, flags, fd, offset) kernel_mmap(length, fd)
#define munmap(memory, length) kernel_munmap(memory, length)
#define poll(fds, n, ms) kernel_poll(fds, n, (ms)*INT64_C(1000000))
#define ppoll(fds, n, t, mask) kernel_poll(fds, n, (t)->tv_sec *INT64_C(1000000000) + (t)->tv_nsec)
#define read(fd, buffer, size) kernel_read(fd, buffer, size)
#define write(fd, buffer, size) kernel_write(fd, buffer, size)
#define now_ns() kernel_now_ns()
#endif
