/* Loaded before a program, makes each file's disk one of 600 KB. With CLAIMS=no in the environment
 * it cannot give space in advance, as that of many a memory stick. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK 4096
#define DISK (150 * BLOCK)

int fallocate(int fd, int mode, off_t offset, off_t n)
{
    const char *const claims = getenv("CLAIMS");

    errno = claims && !strcmp(claims, "no") ? EOPNOTSUPP : ENOSPC;
    return errno == EOPNOTSUPP || offset + n > DISK
               ? -1
               : (int)syscall(SYS_fallocate, fd, mode, offset, n);
}

int fstatvfs(int fd, struct statvfs *ret)
{
    struct stat st;

    if (fstat(fd, &st))
        return -1;
    memset(ret, 0, sizeof(*ret));
    ret->f_bsize = ret->f_frsize = BLOCK;
    ret->f_blocks = DISK / BLOCK;
    ret->f_bfree = ret->f_bavail = st.st_size < DISK ? (fsblkcnt_t)(DISK - st.st_size) / BLOCK : 0;
    return 0;
}

/* A disk takes what there is room for, and then nothing. */
ssize_t write(int fd, const void *bytes, size_t n)
{
    struct stat st;
    off_t at;

    if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
        at = lseek(fd, 0, SEEK_CUR);
        if (n && at >= DISK) {
            errno = ENOSPC;
            return -1;
        }
        if ((off_t)n > DISK - at)
            n = (size_t)(DISK - at);
    }
    return syscall(SYS_write, fd, bytes, n);
}
