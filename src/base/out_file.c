#include "base/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_id.h"

#define FLAGS (O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* A pipe can be opened for writing without waiting only while somebody reads it, and that may
 * well be this program for a moment. A reader can come later. */
static int open_pipe(const char *path)
{
    const int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const int fd = reader < 0 ? -1 : open(path, FLAGS);
    const int error = errno;

    if (reader >= 0)
        (void)close(reader);
    errno = error;
    return fd;
}

static int open_path(struct out_file *f)
{
    struct stat st = {.st_mode = 0};
    const bool exists = stat(f->path, &st) == 0;
    int fd;

    if (S_ISBLK(st.st_mode)) {
        errno = ENOTBLK;
        return -1;
    }
    fd = open(f->path, FLAGS | (exists ? 0 : O_CREAT), 0666);
    f->made = fd >= 0 && !exists;
    if (fd < 0 && errno == ENXIO && S_ISFIFO(st.st_mode))
        fd = open_pipe(f->path);
    /* What is no pipe might take half a piece. */
    if (fd >= 0 && !S_ISFIFO(st.st_mode))
        (void)fcntl(fd, F_SETFL, FLAGS & ~O_NONBLOCK);
    return fd;
}

int out_file_open(struct out_file *f, const char *what, const char *path, struct error *err)
{
    struct stat st;

    *f = (struct out_file){.what = what, .path = path, .own = strcmp(path, "-") != 0};
    f->name = f->own ? path : "standard output";
    f->fd = f->own ? open_path(f) : STDOUT_FILENO;
    if (f->fd < 0 || fstat(f->fd, &st)) {
        const int e = errno;

        f->fd = -1;
        return error_set(err, -e, "%s '%s': %s", what, f->name,
                         e == ENOTBLK ? "it is a block device" : strerror(e));
    }
    f->regular = S_ISREG(st.st_mode);
    return 0;
}

static int begin(struct out_file *f)
{
    if (f->own && f->regular && ftruncate(f->fd, 0))
        return -errno;
    f->begun = true;
    return 0;
}

int out_file_put(struct out_file *f, const char *piece, size_t bytes)
{
    size_t done = 0;
    int r = f->begun ? 0 : begin(f);

    /* The descriptor of standard output is others' as well, and may wait. */
    if (!r && !f->regular && !out_file_wait(f, -1, 0))
        r = -EAGAIN;
    while (!r && done < bytes) {
        const ssize_t n = write(f->fd, piece + done, bytes - done);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            r = -EIO;
        else if (errno != EINTR)
            r = -errno;
    }
    if (!r)
        f->whole += (off_t)bytes;
    else if (done && f->own && f->regular)
        (void)!ftruncate(f->fd, f->whole);
    return r;
}

bool out_file_wait(const struct out_file *f, int wake_fd, int ms)
{
    struct pollfd fds[2] = {{.fd = f->fd, .events = POLLOUT}, {.fd = wake_fd, .events = POLLIN}};

    return poll(fds, 2, ms) > 0 && fds[0].revents;
}

int out_file_close(struct out_file *f)
{
    int r = 0;

    if (!f->what || f->fd < 0 || !f->own)
        return 0;
    if (f->made && !f->begun)
        file_id_unlink(f->path, f->fd);
    if (close(f->fd))
        r = -errno;
    f->fd = -1;
    return r;
}
