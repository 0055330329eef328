#include "base/file_id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MAX_LINKS 40 /* as the kernel's */

static void keep_stat(const struct stat *st, struct file_id *ret)
{
    *ret = (struct file_id){
        .type = st->st_mode & S_IFMT, .dev = st->st_dev, .ino = st->st_ino, .rdev = st->st_rdev};
}

/* The length of the part of @path that names the folder, the last slash included. */
static size_t folder_length(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Replaces @path, PATH_MAX bytes, by what the symbolic link there says. 0: it is no link. */
static int follow_link(char *path)
{
    char target[PATH_MAX];
    const ssize_t n = readlink(path, target, sizeof(target));
    const size_t length = n > 0 && target[0] != '/' ? folder_length(path) : 0;

    if (n < 0)
        return errno == ENOENT ? 0 : -errno;
    if (length + (size_t)n >= PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(path + length, target, (size_t)n);
    path[length + (size_t)n] = '\0';
    return 1;
}

/* The folder and the name of a file that is not there; @path is a copy to work on. */
static int find_place(char *path, struct file_id *ret)
{
    const char *name;
    struct stat st;
    size_t length;
    int r = 1;

    for (int i = 0; r > 0 && i < MAX_LINKS; i++)
        r = follow_link(path);
    if (r)
        return r > 0 ? -ELOOP : r;
    length = folder_length(path);
    name = path + length;
    if (!*name)
        return length ? -EISDIR : -ENOENT;
    if (strlen(name) > NAME_MAX)
        return -ENAMETOOLONG;
    *ret = (struct file_id){.type = 0};
    (void)snprintf(ret->name, sizeof(ret->name), "%.*s", NAME_MAX, name);
    path[length] = '\0';
    if (stat(length ? path : ".", &st))
        return -errno;
    ret->dev = st.st_dev;
    ret->ino = st.st_ino;
    return 0;
}

int file_id_get(const char *path, int dash_fd, struct file_id *ret)
{
    const bool dash = !strcmp(path, "-");
    struct file_id place;
    char copy[PATH_MAX];
    struct stat st;
    int r;

    if (!(dash ? fstat(dash_fd, &st) : stat(path, &st))) {
        keep_stat(&st, ret);
        return 0;
    }
    if (dash || errno != ENOENT)
        return -errno;
    if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
        return -ENAMETOOLONG;
    r = find_place(copy, &place);
    if (r == 0)
        *ret = place;
    return r;
}

bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
    return a->dev == b->dev && a->ino == b->ino && !strcmp(a->name, b->name);
}

bool file_id_is_null(const struct file_id *id)
{
    return S_ISCHR(id->type) && id->rdev == makedev(1, 3);
}

void file_id_unlink(const char *path, int fd)
{
    char *const there = realpath(path, NULL);
    struct stat own, st;

    if (there && !fstat(fd, &own) && !lstat(there, &st) && own.st_dev == st.st_dev &&
        own.st_ino == st.st_ino)
        (void)unlink(there);
    free(there);
}
