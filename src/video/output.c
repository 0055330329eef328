#include "video/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CHUNK (1 << 16) /* bytes that are written at once */
#define CLAIM (1 << 20) /* bytes that are claimed at once where there are as many */
/* What the end of a film takes: titles and chapters, and a place in the index for each frame and
 * what is heard with it. */
#define END_BYTES (1 << 15)
#define END_BYTES_PER_FRAME 128
#define MAX_LINKS 40 /* that lead to each other, as Linux has it */
#define N_NAMES 1000 /* that are tried for the file beside */

/* Why a file of @size may not be, as an errno; or 0. */
static int check_limit(int64_t size)
{
    struct rlimit limit;

    return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
                   (uint64_t)size > limit.rlim_cur
               ? EFBIG
               : 0;
}

/* Asks the disk for so many bytes behind what is written. Returns an errno, or 0. */
static int claim_bytes(struct video_output *out, int64_t n)
{
    struct statvfs disk;

    if (!fallocate(out->fd, FALLOC_FL_KEEP_SIZE, out->size, n)) {
        out->claimed = out->size + n;
        return 0;
    }
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    return !fstatvfs(out->fd, &disk) && disk.f_bavail * disk.f_frsize < (uint64_t)n ? ENOSPC : 0;
}

bool video_output_take(struct video_output *out, int size, bool picture)
{
    const int64_t held = out->n_taken + size - out->size;
    const int64_t end = out->n_end + (picture ? END_BYTES_PER_FRAME : 0);
    const int64_t n = END_BYTES + end + (held > 0 ? held : 0);

    if (!out->full)
        out->full = check_limit(out->size + n);
    if (!out->full && out->size + n > out->claimed && claim_bytes(out, n + CLAIM))
        out->full = claim_bytes(out, n);
    if (out->full)
        return false;
    out->n_taken += size;
    out->n_end = end;
    return true;
}

#if LIBAVFORMAT_VERSION_MAJOR < 61
typedef uint8_t lent_byte;
#else
typedef const uint8_t lent_byte;
#endif

static int write_bytes(void *opaque, lent_byte *buffer, int size)
{
    struct video_output *out = opaque;
    int done = 0;

    while (done < size) {
        const ssize_t n = write(out->fd, buffer + done, (size_t)(size - done));

        if (n < 0 && errno != EINTR)
            return AVERROR(errno);
        done += n > 0 ? (int)n : 0;
    }
    out->at += size;
    out->size = out->at > out->size ? out->at : out->size;
    return size;
}

static int64_t seek_bytes(void *opaque, int64_t offset, int whence)
{
    struct video_output *out = opaque;
    const off_t at = whence == AVSEEK_SIZE ? -1 : lseek(out->fd, offset, whence & ~AVSEEK_FORCE);

    if (at >= 0)
        out->at = at;
    return at < 0 ? AVERROR(whence == AVSEEK_SIZE ? ENOSYS : errno) : (int64_t)at;
}

/* Whether it is a link of somebody else in a folder that all write to, which the kernel would not
 * follow there: it may lead to a file that is only ours to overwrite. */
static bool is_trap(const char *path)
{
    const char *const slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    struct stat link, in;

    if (slash)
        (void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash + 1 - path), path);
    return !lstat(path, &link) && !stat(folder, &in) && (in.st_mode & S_ISVTX) &&
           (in.st_mode & S_IWOTH) && link.st_uid != geteuid() && link.st_uid != in.st_uid;
}

/* The name that the file gets in the end: where links lead, also if nothing is there yet. */
static int choose_name(struct video_output *out, const char *name)
{
    char target[PATH_MAX];
    ssize_t n;

    if (snprintf(out->path, sizeof(out->path), "%s", name) >= (int)sizeof(out->path))
        return -ENAMETOOLONG;
    for (int i = 0; (n = readlink(out->path, target, sizeof(target))) > 0; i++) {
        const char *const slash = strrchr(out->path, '/');
        const size_t stem = *target == '/' || !slash ? 0 : (size_t)(slash + 1 - out->path);

        if (i == MAX_LINKS)
            return -ELOOP;
        if (is_trap(out->path))
            return -EACCES;
        if (stem + (size_t)n >= sizeof(out->path))
            return -ENAMETOOLONG;
        memcpy(out->path + stem, target, (size_t)n);
        out->path[stem + (size_t)n] = '\0';
    }
    return 0;
}

/* The folder's rights alone would allow to replace a file that must not be written to. */
static int may_replace(const struct video_output *out, const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return -EINVAL;
    return faccessat(AT_FDCWD, out->path, W_OK, AT_EACCESS) ? -errno : 0;
}

/* Without the owner's right or root's its group may be another one, which must not read it then. */
static void keep_rights(const struct video_output *out, const struct stat *st)
{
    const bool kept =
        !fchown(out->fd, st->st_uid, st->st_gid) || !fchown(out->fd, (uid_t)-1, st->st_gid);

    (void)fchmod(out->fd, st->st_mode & (kept ? 0777 : 0707));
}

/* Makes the file beside that one. A program that was killed leaves its own, and in a container the
 * next one may have the same number: then another name is taken. In a folder that others write to,
 * what has the name may be a link of theirs. */
static int make_beside(struct video_output *out)
{
    const char *const slash = strrchr(out->path, '/');
    const char *const base = slash ? slash + 1 : out->path;
    char count[16] = "";

    for (int i = 1; i <= N_NAMES; i++) {
        if (snprintf(out->beside, sizeof(out->beside), "%.*s.bilatcam-%d%s-%.200s",
                     (int)(base - out->path), out->path, (int)getpid(), count,
                     base) >= (int)sizeof(out->beside))
            return -ENAMETOOLONG;
        out->fd = open(out->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       out->replaces ? 0600 : 0666);
        if (out->fd >= 0)
            return 0;
        if (errno != EEXIST)
            return -errno;
        (void)snprintf(count, sizeof(count), "-%d", i);
    }
    return -EEXIST;
}

int video_output_open(struct video_output *out, const char *name, struct error *err)
{
    uint8_t *buffer;
    struct stat st;
    int r;

    *out = (struct video_output){.fd = -1};
    r = choose_name(out, name);
    out->replaces = !r && !stat(out->path, &st);
    if (out->replaces)
        r = may_replace(out, &st);
    r = r ? r : make_beside(out);
    if (!r && out->replaces)
        keep_rights(out, &st);
    if (r)
        return error_set(err, r, "cannot write '%.120s': %s", name,
                         r == -EINVAL ? "it is no file" : strerror(-r));
    buffer = av_malloc(CHUNK);
    out->io =
        buffer ? avio_alloc_context(buffer, CHUNK, 1, out, NULL, write_bytes, seek_bytes) : NULL;
    if (out->io)
        return 0;
    av_free(buffer);
    video_output_discard(out);
    return error_set(err, -ENOMEM, "out of memory for '%.120s'", name);
}

static void free_io(struct video_output *out)
{
    if (out->io)
        av_freep(&out->io->buffer);
    avio_context_free(&out->io);
}

int video_output_keep(struct video_output *out, bool sync)
{
    int r;

    avio_flush(out->io);
    r = out->io->error < 0 ? out->io->error : 0;
    if (!r && out->claimed)
        (void)!ftruncate(out->fd, out->size); /* gives back what was claimed beyond it */
    if (!r && sync && fsync(out->fd))
        r = -errno;
    if (!r && rename(out->beside, out->path))
        r = -errno;
    if (!r) {
        (void)close(out->fd);
        out->fd = -1;
    }
    free_io(out);
    return r;
}

void video_output_discard(struct video_output *out)
{
    free_io(out);
    if (out->fd <= 0)
        return;
    (void)unlink(out->beside);
    (void)close(out->fd);
    out->fd = -1;
}

const char *video_output_left(const struct video_output *out)
{
    return out->replaces ? "the file is as it was" : "no file is left";
}
