#include "picture/snapshot_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int snapshot_files_create(struct snapshot_files *f, const char *folder)
{
    int r = 0;

    *f = (struct snapshot_files){.fd = {-1, -1}};
    for (int i = 0; i < 2 && !r; i++) {
        const int n =
            snprintf(f->temporary[i], sizeof(f->temporary[i]), "%s/.bilatcam-XXXXXX", folder);

        if (n >= (int)sizeof(f->temporary[i]))
            r = -ENAMETOOLONG;
        else if ((f->fd[i] = mkostemp(f->temporary[i], O_CLOEXEC)) < 0)
            r = -errno;
        if (r)
            f->temporary[i][0] = '\0';
    }
    if (r)
        snapshot_files_discard(f);
    return r;
}

/* Gives @from the new name @to. Where the file system cannot promise that nothing is written over,
 * an empty file of ours keeps the name free for the moment that it takes. */
static int rename_new(const char *from, const char *to)
{
    int fd, e;

    if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    (void)close(fd);
    if (!rename(from, to))
        return 0;
    e = errno;
    (void)unlink(to);
    return -e;
}

int snapshot_files_publish(struct snapshot_files *f, const char *folder, const char *stem)
{
    static const char *const kinds[2] = {"before", "after"};
    int r;

    for (int i = 0; i < 2; i++)
        if (snprintf(f->path[i], sizeof(f->path[i]), "%s/%s-%s.png", folder, stem, kinds[i]) >=
            (int)sizeof(f->path[i]))
            return -ENAMETOOLONG;
    r = rename_new(f->temporary[0], f->path[0]);
    if (r)
        return r;
    r = rename_new(f->temporary[1], f->path[1]);
    if (r && rename(f->path[0], f->temporary[0]))
        (void)unlink(f->path[0]);
    if (!r)
        f->temporary[0][0] = f->temporary[1][0] = '\0';
    return r;
}

void snapshot_files_discard(struct snapshot_files *f)
{
    for (int i = 0; i < 2; i++) {
        if (f->fd[i] >= 0)
            (void)close(f->fd[i]);
        f->fd[i] = -1;
        if (f->temporary[i][0])
            (void)unlink(f->temporary[i]);
        f->temporary[i][0] = '\0';
    }
}
