#include "picture/snapshot.h"

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

#include "base/clock.h"
#include "base/pictures_folder.h"
#include "base/text.h"
#include "base/thread.h"
#include "picture/colour.h"
#include "picture/snapshot_files.h"

#define MAX_SAME_SECOND 99
#define GIVE_UP_NS (300 * NS_PER_MS) /* how long it may take to notice that it is too late */

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

/* Those of the whole program, the window's as well: what its end waits for. */
static struct {
    pthread_once_t once;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    int n;          /* being written */
    int n_canceled; /* that gave up */
} in_hand = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_bool giving_up; /* the program ends and does not wait any longer */

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
    const double unit = info->bytes > 1 ? 1.0 / 256.0 : 1.0;

    for (int x = 0; x < f->width; x++) {
        double yuv[3] = {0.0, 0.0, 0.0};

        for (int c = 0; c < info->components; c++) {
            const int sx = c ? x >> info->hshift : x, sy = c ? y >> info->vshift : y;

            yuv[c] = frame_sample(f, c, sx, sy) * unit - colour_zero(f->colour, c);
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
        if (atomic_load(&giving_up)) {
            errno = ECANCELED;
            png_error(png, "stopped");
        }
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

/* Calls them after the time; a second snapshot of the same second gets a number. */
static int publish_by_time(struct snapshot_files *f, const char *folder, time_t now, char *stem,
                           size_t size)
{
    char second[32];
    struct tm tm;
    int r = -EEXIST;

    (void)strftime(second, sizeof(second), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
    for (int i = 1; r == -EEXIST && i <= MAX_SAME_SECOND; i++) {
        if (i == 1)
            (void)snprintf(stem, size, "bilatcam-%s", second);
        else
            (void)snprintf(stem, size, "bilatcam-%s-%d", second, i);
        r = snapshot_files_publish(f, folder, stem);
    }
    return r;
}

/* Writes the whole of it to the disk: a name promises that. Closes *@fd. */
static int write_file(int *fd, const struct frame *f)
{
    FILE *const out = fdopen(*fd, "wb");
    int r;

    if (!out)
        return -errno;
    *fd = -1;
    r = write_png(out, f);
    if (!r && (fflush(out) || (fsync(fileno(out)) && errno != EINVAL)))
        r = -errno;
    if (fclose(out) && !r)
        r = -errno;
    return r;
}

static int save(struct snapshot *s, const char *folder, char *stem, size_t size)
{
    const time_t now = time(NULL);
    struct snapshot_files f;
    int r = snapshot_files_create(&f, folder);

    if (r)
        return r;
    r = write_file(&f.fd[0], &s->before);
    if (!r)
        r = write_file(&f.fd[1], &s->after);
    if (!r && atomic_load(&giving_up))
        r = -ECANCELED;
    if (!r && *s->name) {
        (void)snprintf(stem, size, "%s", s->name);
        r = snapshot_files_publish(&f, folder, stem);
    } else if (!r) {
        r = publish_by_time(&f, folder, now, stem, size);
    }
    snapshot_files_discard(&f);
    memcpy(s->path, f.path[1], sizeof(s->path));
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

static void init_in_hand(void)
{
    (void)condition_init(&in_hand.changed);
}

static void take_in_hand(void)
{
    (void)pthread_once(&in_hand.once, init_in_hand);
    (void)pthread_mutex_lock(&in_hand.lock);
    in_hand.n++;
    (void)pthread_mutex_unlock(&in_hand.lock);
}

static void put_down(bool canceled)
{
    (void)pthread_mutex_lock(&in_hand.lock);
    in_hand.n--;
    in_hand.n_canceled += canceled;
    (void)pthread_cond_broadcast(&in_hand.changed);
    (void)pthread_mutex_unlock(&in_hand.lock);
}

/* Context: with the lock. */
static bool wait_for_all(int64_t limit_ns)
{
    const struct timespec until = timespec_of(now_ns() + limit_ns);
    int r = 0;

    while (in_hand.n && !r)
        r = pthread_cond_timedwait(&in_hand.changed, &in_hand.lock, &until);
    return !in_hand.n;
}

int snapshots_end(int64_t limit_ns)
{
    int r = 0;

    (void)pthread_once(&in_hand.once, init_in_hand);
    (void)pthread_mutex_lock(&in_hand.lock);
    if (in_hand.n) {
        r = 1;
        if (!wait_for_all(limit_ns)) {
            atomic_store(&giving_up, true);
            if (!wait_for_all(GIVE_UP_NS))
                r = -ETIMEDOUT;
            else if (in_hand.n_canceled)
                r = -ECANCELED;
        }
    }
    (void)pthread_mutex_unlock(&in_hand.lock);
    return r;
}

static void *snapshot_main(void *arg)
{
    struct snapshot *s = arg;

    describe(s);
    put_down(s->result == -ECANCELED);
    atomic_store(&s->ended, true);
    if (s->done)
        s->done(s->user);
    return NULL;
}

/* A name of the user's own must not lead out of the folder, nor hide in it, and is the same where
 * it is shown. */
static bool plain(const char *name)
{
    char shown[SNAPSHOT_NAME_MAX + 1];

    (void)snprintf(shown, sizeof(shown), "%s", name);
    return *name != '.' && !strchr(name, '/') && !strcmp(utf8_printable(shown), name);
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
        take_in_hand();
        r = thread_start(&s->thread, "snapshot", snapshot_main, s);
        if (r)
            put_down(false);
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
