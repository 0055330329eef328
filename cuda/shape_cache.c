#include "cuda/shape_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "picture/frame.h"

#define FILE_NAME "cuda-shapes"
#define LAST_LINE "end"
#define MOST_BYTES 4096 /* more than a full table and a long key */
#define MOST_WARPS 8

static const int largest_radius[SHAPE_CLASSES] = {2, 4, 6, 10, 16, 32};

int shape_class(int radius)
{
    int class = 0;

    while (class < SHAPE_CLASSES - 1 && radius > largest_radius[class])
        class ++;
    return class;
}

int shape_class_radius(int class)
{
    return largest_radius[class];
}

const struct shape *shape_find(const struct shape_table *t, int width, int rows)
{
    for (int i = 0; i < t->n; i++)
        if (t->shapes[i].width == width && t->shapes[i].rows == rows)
            return &t->shapes[i];
    return NULL;
}

static void forget(struct shape_table *t, const struct shape *s)
{
    const int i = (int)(s - t->shapes);

    t->n--;
    memmove(&t->shapes[i], &t->shapes[i + 1], (size_t)(t->n - i) * sizeof(*s));
}

void shape_add(struct shape_table *t, const struct shape *s)
{
    const struct shape *known = shape_find(t, s->width, s->rows);

    if (known)
        forget(t, known);
    else if (t->n == SHAPES_MAX)
        forget(t, &t->shapes[0]);
    t->shapes[t->n++] = *s;
}

/* The program's folder, made if @make is set. A folder that others may write to is not used. */
static int open_folder(bool make)
{
    const char *home = secure_getenv("XDG_CACHE_HOME"), *below = "";
    char path[4096];
    struct stat st;
    int fd, base;

    /* The XDG specification has relative paths ignored. */
    if (!home || home[0] != '/') {
        home = secure_getenv("HOME");
        below = "/.cache";
    }
    if (!home || home[0] != '/')
        return -ENOENT;
    base = snprintf(path, sizeof(path), "%s%s", home, below);
    if (base < 0 || (size_t)base >= sizeof(path) - sizeof("/bilatcam"))
        return -ENAMETOOLONG;
    if (make)
        (void)mkdir(path, 0700);
    memcpy(path + base, "/bilatcam", sizeof("/bilatcam"));
    if (make)
        (void)mkdir(path, 0700);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)) {
        (void)close(fd);
        return -EPERM;
    }
    return fd;
}

static int read_whole(int fd, char *text, size_t size)
{
    size_t n = 0;
    ssize_t got;

    do {
        got = read(fd, text + n, size - n);
        if (got < 0 && errno != EINTR)
            return -errno;
        n += got > 0 ? (size_t)got : 0;
    } while (got && n < size);
    if (n == size || memchr(text, '\0', n))
        return -EBADMSG;
    text[n] = '\0';
    return 0;
}

static int read_file(char *text, size_t size)
{
    const int folder = open_folder(false);
    struct stat st;
    int fd, r;

    if (folder < 0)
        return folder;
    /* O_NONBLOCK: whoever put a pipe there shall not have the filter wait for it. */
    fd = openat(folder, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    r = fd < 0 ? -errno : 0;
    (void)close(folder);
    if (r)
        return r;
    r = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -EBADMSG : read_whole(fd, text, size);
    (void)close(fd);
    return r;
}

/* The next line of @at, which is made a string; NULL: no further whole line. */
static char *next_line(char **at)
{
    char *const line = *at, *const end = strchr(line, '\n');

    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return line;
}

static void format_shape(const struct shape *s, char *line, size_t size)
{
    int n = snprintf(line, size, "%dx%d", s->width, s->rows);

    for (int i = 0; i < SHAPE_CLASSES; i++)
        n += snprintf(line + n, size - (size_t)n, " %d", s->warps[i]);
}

static bool is_sound(const struct shape *s)
{
    for (int i = 0; i < SHAPE_CLASSES; i++)
        if (s->warps[i] < 0 || s->warps[i] > MOST_WARPS)
            return false;
    return s->width > 0 && s->width <= FRAME_MAX_SIDE && s->rows > 0 && s->rows <= FRAME_MAX_SIDE;
}

/* False unless the line is to the letter what is written for a shape. */
static bool parse_shape(const char *line, struct shape *s)
{
    char again[128];

    if (sscanf(line, "%dx%d %d %d %d %d %d %d", &s->width, &s->rows, &s->warps[0], &s->warps[1],
               &s->warps[2], &s->warps[3], &s->warps[4], &s->warps[5]) != 2 + SHAPE_CLASSES)
        return false;
    format_shape(s, again, sizeof(again));
    return is_sound(s) && !strcmp(line, again);
}

static int parse(char *text, const char *key, struct shape_table *ret)
{
    struct shape_table t = {0};
    const char *line = next_line(&text);

    if (!line)
        return -EBADMSG;
    if (strcmp(line, key))
        return -ESTALE;
    while ((line = next_line(&text)) && strcmp(line, LAST_LINE)) {
        if (t.n == SHAPES_MAX || !parse_shape(line, &t.shapes[t.n]))
            return -EBADMSG;
        t.n++;
    }
    if (!line || *text)
        return -EBADMSG;
    *ret = t;
    return 0;
}

int shape_cache_load(struct shape_table *ret, const char *key)
{
    char text[MOST_BYTES];
    const int r = read_file(text, sizeof(text));

    return r ? r : parse(text, key, ret);
}

static int write_file(int folder, const char *name, const struct shape_table *t, const char *key)
{
    const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file;
    bool failed;

    if (fd < 0)
        return -errno;
    file = fdopen(fd, "w");
    if (!file) {
        (void)close(fd);
        return -ENOMEM;
    }
    fprintf(file, "%s\n", key);
    for (int i = 0; i < t->n; i++) {
        char line[128];

        format_shape(&t->shapes[i], line, sizeof(line));
        fprintf(file, "%s\n", line);
    }
    fprintf(file, LAST_LINE "\n");
    failed = ferror(file);
    return fclose(file) || failed ? -EIO : 0;
}

int shape_cache_save(const struct shape_table *t, const char *key)
{
    const int folder = open_folder(true);
    char name[64];
    int r;

    if (folder < 0)
        return folder;
    /* No two threads have the same number: what has this name was left by one that died. */
    (void)snprintf(name, sizeof(name), FILE_NAME ".%d", (int)gettid());
    (void)unlinkat(folder, name, 0);
    r = write_file(folder, name, t, key);
    if (r == 0 && renameat(folder, name, folder, FILE_NAME))
        r = -errno;
    if (r)
        (void)unlinkat(folder, name, 0);
    (void)close(folder);
    return r;
}
