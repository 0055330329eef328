#include "snapshot.h"

#include "config-build.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_PNG
#include <png.h>
#endif

#include "colour.h"
#include "pictures_folder.h"
#include "thread.h"

#define MAX_SAME_SECOND 99

struct snapshot {
    pthread_t thread;
    struct frame before, after; /* own their memory */
    void (*done)(void *user);
    void *user;
    char name[SNAPSHOT_NAME_MAX + 1];
    atomic_bool ended; /* the rest stands */
    int result;
    char text[512], path[SNAPSHOT_PATH_MAX];
};

/* ---------------------------------------------------------------------- PNG */

#ifdef HAVE_PNG
static uint8_t level(double x)
{
    return (uint8_t)(x < 0.0 ? 0 : x > 255.0 ? 255 : lround(x));
}

/* Row @y of @f as R'G'B' bytes; chroma samples are repeated for the pixels that share them, and a
 * picture that has none is grey. */
static void rgb_row(const struct frame *f, double m[3][3], int y, uint8_t *rgb)
{
    const struct format_info *const info = &format_table[f->format];
    const double black = f->colour.range == COLOUR_LIMITED ? 16.0 : 0.0;
    struct samples s[3];

    for (int c = 0; c < info->components; c++)
        s[c] = frame_samples(f, c);
    for (int x = 0; x < f->width; x++) {
        double yuv[3] = {0.0, 0.0, 0.0};

        for (int c = 0; c < info->components; c++) {
            const int sx = c ? x >> info->hshift : x, sy = c ? y >> info->vshift : y;

            yuv[c] = s[c].base[(size_t)sy * s[c].stride + (size_t)(sx * s[c].step)] -
                     (c ? 128.0 : black);
        }
        for (int i = 0; i < 3; i++)
            rgb[3 * x + i] = level(m[i][0] * yuv[0] + m[i][1] * yuv[1] + m[i][2] * yuv[2]);
    }
}

static void write_rows(png_structp png, png_infop info, FILE *out, const struct frame *f,
                       uint8_t *row)
{
    double m[3][3];

    colour_to_rgb(f->colour, m);
    png_init_io(png, out);
    png_set_compression_level(png, 2); /* noise hardly gets smaller with more */
    png_set_filter(png, 0, PNG_FILTER_SUB);
    png_set_IHDR(png, info, (png_uint_32)f->width, (png_uint_32)f->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int y = 0; y < f->height; y++) {
        rgb_row(f, m, y, row);
        png_write_row(png, row);
    }
    png_write_end(png, NULL);
}

static void ignore_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void jump_back(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static int write_png(FILE *out, const struct frame *f)
{
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, jump_back, ignore_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    uint8_t *const row = malloc(3 * (size_t)f->width);
    volatile int r = -ENOMEM;

    if (info && row) {
        errno = 0;
        if (!setjmp(png_jmpbuf(png))) {
            write_rows(png, info, out, f, row);
            r = 0;
        } else {
            r = errno ? -errno : -EIO;
        }
    }
    png_destroy_write_struct(&png, &info);
    free(row);
    return r;
}

/* -------------------------------------------------------------------- files */

struct pair {
    char path[2][SNAPSHOT_PATH_MAX]; /* before, after */
    int fd[2];
};

/* Makes both files of @stem, or none. */
static int make_files(struct pair *p, const char *folder, const char *stem)
{
    static const char *const kinds[2] = {"before", "after"};

    for (int i = 0; i < 2; i++) {
        const size_t size = sizeof(p->path[i]);
        int r;

        if (snprintf(p->path[i], size, "%s/%s-%s.png", folder, stem, kinds[i]) >= (int)size) {
            r = -ENAMETOOLONG;
        } else {
            p->fd[i] = open(p->path[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
            r = p->fd[i] < 0 ? -errno : 0;
        }
        if (r && i) {
            (void)close(p->fd[0]);
            (void)unlink(p->path[0]);
        }
        if (r)
            return r;
    }
    return 0;
}

/* Names after the time; a second snapshot of the same second gets a number. */
static int make_pair(struct pair *p, const char *folder, char *stem, size_t size)
{
    const time_t now = time(NULL);
    char second[32];
    struct tm tm;
    int r = -EEXIST;

    (void)strftime(second, sizeof(second), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
    for (int i = 1; r == -EEXIST && i <= MAX_SAME_SECOND; i++) {
        if (i == 1)
            (void)snprintf(stem, size, "bilatcam-%s", second);
        else
            (void)snprintf(stem, size, "bilatcam-%s-%d", second, i);
        r = make_files(p, folder, stem);
    }
    return r;
}

static int write_file(int fd, const struct frame *f)
{
    FILE *const out = fdopen(fd, "wb");
    int r;

    if (!out) {
        r = -errno;
        (void)close(fd);
        return r;
    }
    r = write_png(out, f);
    if (fclose(out) && !r)
        r = -errno;
    return r;
}

static int save(struct snapshot *s, const char *folder, char *stem, size_t size)
{
    struct pair p;
    int r, second;

    if (*s->name) {
        (void)snprintf(stem, size, "%s", s->name);
        r = make_files(&p, folder, stem);
    } else {
        r = make_pair(&p, folder, stem, size);
    }
    if (r)
        return r;
    memcpy(s->path, p.path[1], sizeof(s->path));
    r = write_file(p.fd[0], &s->before);
    second = write_file(p.fd[1], &s->after);
    if (!r)
        r = second;
    for (int i = 0; r && i < 2; i++)
        (void)unlink(p.path[i]);
    return r;
}

static void describe(struct snapshot *s)
{
    char folder[PATH_MAX], stem[SNAPSHOT_NAME_MAX + 1];
    const char *hint = "";
    int r;

    pictures_folder(folder, sizeof(folder));
    r = s->result = save(s, folder, stem, sizeof(stem));
    if (r == -EROFS)
        hint = " (a service needs a ReadWritePaths= for it, see man bilatcam)";
    if (r)
        (void)snprintf(s->text, sizeof(s->text), "no snapshot%s%s%s in '%.300s': %s%s",
                       *s->name ? " '" : "", s->name, *s->name ? "'" : "", folder, strerror(-r),
                       hint);
    else
        (void)snprintf(s->text, sizeof(s->text), "%s-before.png, -after.png\nin %.300s", stem,
                       folder);
}
#else
static void describe(struct snapshot *s)
{
    s->result = -ENOTSUP;
    (void)snprintf(s->text, sizeof(s->text), "no snapshot: built without libpng");
}
#endif

/* ------------------------------------------------------------------- thread */

static void *snapshot_main(void *arg)
{
    struct snapshot *s = arg;

    describe(s);
    atomic_store(&s->ended, true);
    if (s->done)
        s->done(s->user);
    return NULL;
}

/* A name of the user's own must not lead out of the folder, nor hide in it. */
static bool plain(const char *name)
{
    for (const char *c = name; *c; c++)
        if (*c == '/' || (unsigned char)*c < ' ' || *c == 127)
            return false;
    return *name != '.';
}

int snapshot_check_name(const char *name, struct error *err)
{
    const size_t length = strlen(name);

    if (length > SNAPSHOT_NAME_MAX)
        return error_set(err, -EINVAL,
                         "no snapshot '%.24s...': the name has %zu bytes, at most %d "
                         "are allowed",
                         name, length, SNAPSHOT_NAME_MAX);
    if (!plain(name))
        return error_set(err, -EINVAL,
                         "no snapshot '%s': must be a plain file name that begins with no dot",
                         name);
    return 0;
}

static void destroy(struct snapshot *s)
{
    frame_free(&s->before);
    frame_free(&s->after);
    free(s);
}

int snapshot_start(struct snapshot **ret, const struct frame *before, const struct frame *after,
                   const char *name, void (*done)(void *user), void *user)
{
    struct snapshot *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return -ENOMEM;
    (void)snprintf(s->name, sizeof(s->name), "%s", name ? name : "");
    s->done = done;
    s->user = user;
    s->before = frame_like(before);
    s->after = frame_like(after);
    r = frame_alloc(&s->before);
    if (!r)
        r = frame_alloc(&s->after);
    if (!r) {
        frame_copy(&s->before, before);
        frame_copy(&s->after, after);
        r = thread_start(&s->thread, "snapshot", snapshot_main, s);
    }
    if (r) {
        destroy(s);
        return r;
    }
    *ret = s;
    return 0;
}

bool snapshot_ended(struct snapshot *s)
{
    return atomic_load(&s->ended);
}

int snapshot_finish(struct snapshot *s, char *text, size_t size, char *path, size_t path_size)
{
    int r;

    (void)pthread_join(s->thread, NULL);
    (void)snprintf(text, size, "%s", s->text);
    if (path)
        (void)snprintf(path, path_size, "%s", s->path);
    r = s->result;
    destroy(s);
    return r;
}
