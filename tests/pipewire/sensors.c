/* Loaded before a program, shows it the folder that $SENSORS names in the place of /dev, where each
 * /dev/videoN that it asks is a node of a camera that only libcamera reads. */
#undef _FORTIFY_SOURCE /* with it, open() is one of the C library's own */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define REAL(name) (*(void **)&real = dlsym(RTLD_NEXT, name))

static const char *moved(const char *path, char *ret, size_t size)
{
    const char *const folder = getenv("SENSORS");

    if (!folder || strncmp(path, "/dev/video", strlen("/dev/video")) != 0)
        return path;
    (void)snprintf(ret, size, "%s/%s", folder, path + strlen("/dev/"));
    return ret;
}

DIR *opendir(const char *path)
{
    const char *const folder = getenv("SENSORS");
    DIR *(*real)(const char *);

    REAL("opendir");
    return real(folder && !strcmp(path, "/dev") ? folder : path);
}

int stat(const char *path, struct stat *ret)
{
    char other[4096];

    return fstatat(AT_FDCWD, moved(path, other, sizeof(other)), ret, 0);
}

int open(const char *path, int flags, ...)
{
    char other[4096];
    va_list args;
    mode_t mode = 0;

    va_start(args, flags);
    if (flags & (O_CREAT | O_TMPFILE))
        mode = va_arg(args, mode_t);
    va_end(args);
    return openat(AT_FDCWD, moved(path, other, sizeof(other)), flags, mode);
}

/* What programs built with _FORTIFY_SOURCE call; by the size of offsets it is one or the other. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

int __open64_2(const char *path, int flags)
{
    return open(path, flags);
}

int ioctl(int fd, unsigned long request, ...)
{
    int (*real)(int, unsigned long, ...);
    struct v4l2_capability *cap;
    va_list args;
    void *arg;

    va_start(args, request);
    arg = va_arg(args, void *);
    va_end(args);
    if (!getenv("SENSORS") || request != VIDIOC_QUERYCAP) {
        REAL("ioctl");
        return real(fd, request, arg);
    }
    cap = arg;
    *cap = (struct v4l2_capability){.driver = "ipu6", .card = "ipu6"};
    cap->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING | V4L2_CAP_IO_MC;
    return 0;
}
