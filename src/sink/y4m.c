/* YUV4MPEG2 to a file or a pipe.
 *
 * A file stays as it was until the first frame, and one that could not take a frame whole is cut
 * back to the last one that it did. A pipe is
 * written in pieces that poll() promises not to block on, so that a reader that stands still
 * cannot keep the program from ending; a frame cut short there is always an error.
 * The format has no tag for the matrix and means BT.601, so that is what frames must be in: R'G'B'
 * becomes 4:4:4 of full range, too. */
#include "sink/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/file_id.h"
#include "picture/words.h"

#define GRACE_NS (200 * NS_PER_MS) /* after a stop, for a slow reader to take its frame */

struct y4m_sink {
    struct sink base;
    const char *path; /* the caller's, as long as this lives */
    char file[128];   /* as messages call it, quotes included */
    char *header;     /* until it is written, before the first frame */
    int fd;
    int stop_fd;
    bool own;     /* opened here, not standard output */
    bool made;    /* there was no such file */
    bool regular; /* never makes poll() wait */
    bool failed;
    bool begun;           /* part of the present frame was written */
    int64_t t_give_up_ns; /* never, until a stop was seen */
    off_t whole;          /* bytes up to the end of the last whole frame */
    uint64_t n_frames;
    int depth;     /* bits that words are written with; 16 = as they are */
    uint8_t *rows; /* a plane, so written */
};

/* ----------------------------------------------------------------- writing */

/* Waits for room in a pipe. -ECANCELED once a stop is GRACE_NS old. */
static int wait_room(struct y4m_sink *y)
{
    for (;;) {
        const bool stopped = y->t_give_up_ns != INT64_MAX;
        struct pollfd fds[2] = {{.fd = y->fd, .events = POLLOUT},
                                {.fd = stopped ? -1 : y->stop_fd, .events = POLLIN}};
        const int r = poll(fds, 2, poll_ms(y->t_give_up_ns, now_ns()));

        if (r < 0 && errno != EINTR)
            return -errno;
        if (r > 0 && fds[0].revents)
            return 0; /* room, or an error that write() will name */
        if (r > 0 && fds[1].revents)
            y->t_give_up_ns = now_ns() + GRACE_NS;
        if (r == 0)
            return -ECANCELED;
    }
}

static int put(struct y4m_sink *y, const void *data, size_t bytes)
{
    const uint8_t *p = data;

    while (bytes) {
        const size_t piece = y->regular || bytes < PIPE_BUF ? bytes : PIPE_BUF;
        const int r = y->regular ? 0 : wait_room(y);
        ssize_t n;

        if (r)
            return r;
        n = write(y->fd, p, piece);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return n ? -errno : -EIO;
        y->begun = true;
        p += n;
        bytes -= (size_t)n;
    }
    return 0;
}

static int put_plane(struct y4m_sink *y, const struct frame *f, int plane)
{
    const size_t bytes = frame_row_bytes(f, plane);
    const int rows = frame_plane_rows(f, plane);

    if (y->rows) {
        for (int row = 0; row < rows; row++)
            words_narrow(y->rows + (size_t)row * bytes,
                         f->plane[plane] + (size_t)row * f->stride[plane], bytes, y->depth);
        return put(y, y->rows, bytes * (size_t)rows);
    }
    if (f->stride[plane] == bytes)
        return put(y, f->plane[plane], bytes * (size_t)rows);
    for (int row = 0; row < rows; row++) {
        const int r = put(y, f->plane[plane] + (size_t)row * f->stride[plane], bytes);

        if (r)
            return r;
    }
    return 0;
}

/* Says what @r means, and leaves whole frames alone in the file. */
static int fail(struct y4m_sink *y, int r, struct error *err)
{
    const bool cut = y->own && y->regular && y->whole > 0 && !ftruncate(y->fd, y->whole);

    y->failed = true;
    /* A stop is no failure, half a frame is one. */
    return error_set(err, r == -ECANCELED && y->begun ? -EIO : r,
                     "cannot write frame %" PRIu64 " to %s: %s; %s", y->n_frames + 1, y->file,
                     r == -ECANCELED ? "stopped while its reader took no data" : strerror(-r),
                     cut ? "the frames before it are whole" : "it may end with half a frame");
}

static int put_frame_line(struct y4m_sink *y, const char *tags)
{
    char line[sizeof("FRAME\n") + Y4M_LINE_MAX];

    return put(y, line, (size_t)snprintf(line, sizeof(line), "FRAME%s\n", tags));
}

static int write_header(struct y4m_sink *y, struct error *err)
{
    int r = y->own && y->regular && ftruncate(y->fd, 0) ? -errno : 0;

    if (!r)
        r = put(y, y->header, strlen(y->header));
    if (r) {
        y->failed = true;
        return error_set(err, r, "cannot write the header of %s: %s", y->file,
                         r == -ECANCELED ? "stopped while its reader took no data" : strerror(-r));
    }
    if (y->regular)
        y->whole = lseek(y->fd, 0, SEEK_CUR);
    free(y->header);
    y->header = NULL;
    return 0;
}

static int y4m_write(struct sink *s, const struct frame *f, const struct frame *before,
                     struct error *err)
{
    struct y4m_sink *y = (struct y4m_sink *)s;
    int r;

    (void)before;
    if (y->failed)
        return error_set(err, -EIO, "%s has failed before", y->file);
    r = y->header ? write_header(y, err) : 0;
    if (r)
        return r;
    y->begun = false;
    r = put_frame_line(y, f->y4m_tags ? f->y4m_tags : "");
    for (int p = 0; !r && p < format_table[f->format].planes; p++)
        r = put_plane(y, f, p);
    if (r)
        return fail(y, r, err);
    y->n_frames++;
    if (y->regular)
        y->whole = lseek(y->fd, 0, SEEK_CUR);
    return 0;
}

/* --------------------------------------------------------------- open, close */

/* Existing pipes and character devices are written to as well; a disk is not a file. */
static int open_file(struct y4m_sink *y, const char *name, struct error *err)
{
    struct stat st;

    y->own = strcmp(name, "-") != 0;
    if (y->own) {
        (void)snprintf(y->file, sizeof(y->file), "'%.120s'", name);
        y->made = stat(name, &st) != 0;
        if (!y->made && S_ISBLK(st.st_mode))
            return error_set(err, -EINVAL, "cannot write %s: it is a block device", y->file);
        /* Non-blocking matters for a named pipe: opening one would wait for its reader. */
        y->fd = open(name, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    } else {
        (void)snprintf(y->file, sizeof(y->file), "standard output");
        y->fd = STDOUT_FILENO;
    }
    if (y->fd < 0 && errno == ENXIO)
        return error_set(err, -ENXIO,
                         "cannot open %s: nothing reads this pipe; start its reader first",
                         y->file);
    if (y->fd < 0 || fstat(y->fd, &st)) {
        const int e = errno;

        return error_set(err, -e, "cannot open %s: %s", y->file, strerror(e));
    }
    y->regular = S_ISREG(st.st_mode);
    if (isatty(y->fd))
        return error_set(err, -EINVAL, "%s is a terminal; redirect it to a file or pipe", y->file);
    return 0;
}

/* The planar format nearest to @format: no sample is lost. */
static int planar(enum frame_format format)
{
    switch (format) {
    case FRAME_YUYV:
    case FRAME_UYVY:
        return FRAME_I422;
    case FRAME_NV12:
        return FRAME_I420;
    case FRAME_RGB24:
    case FRAME_BGR24:
        return FRAME_I444;
    default:
        return (int)format;
    }
}

static const char *colour_space(enum frame_format format)
{
    switch (format) {
    case FRAME_I420_16:
        return "420p";
    case FRAME_I422_16:
        return "422p";
    case FRAME_I444_16:
        return "444p";
    case FRAME_I420:
        return "420jpeg";
    case FRAME_I422:
        return "422";
    case FRAME_I444:
        return "444";
    default:
        return "mono";
    }
}

static void set_picture(struct y4m_sink *y, const struct sink_config *config)
{
    struct frame *p = &y->base.picture;

    *p = frame_like(&config->picture);
    p->format = (enum frame_format)planar(config->format >= 0 ? (enum frame_format)config->format
                                                              : p->format);
    p->colour.matrix = COLOUR_BT601;
    (void)frame_layout_packed(p);
    y->depth = config->depth ? config->depth : 16;
}

/* Room for a plane whose words are narrowed. */
static int make_rows(struct y4m_sink *y, struct error *err)
{
    const struct frame *p = &y->base.picture;

    if (format_table[p->format].bytes == 1 || y->depth == 16)
        return 0;
    y->rows = malloc(p->stride[0] * (size_t)p->height);
    return y->rows ? 0
                   : error_set(err, -ENOMEM, "out of memory for pictures of %dx%d", p->width,
                               p->height);
}

/* What is true of the pictures that are written, in the words of the header. */
struct own_tag {
    char text[32];
    bool differs; /* from what the source's header says */
};

enum { N_OWN_TAGS = 4 };

static void make_own_tags(struct own_tag own[N_OWN_TAGS], const struct frame *p, int depth,
                          const struct sink_config *config)
{
    const bool words = format_table[p->format].bytes > 1;
    const struct fraction fps = config->fps;
    const struct y4m_header *h = config->y4m;
    const bool differs[N_OWN_TAGS] = {h && h->width != p->width, h && h->height != p->height,
                                      h && (h->fps.num != fps.num || h->fps.den != fps.den),
                                      h && h->format != p->format};
    int n;

    (void)snprintf(own[0].text, sizeof(own[0].text), "W%d", p->width);
    (void)snprintf(own[1].text, sizeof(own[1].text), "H%d", p->height);
    (void)snprintf(own[2].text, sizeof(own[2].text), "F%" PRIu32 ":%" PRIu32, fps.den ? fps.num : 0,
                   fps.num ? fps.den : 0);
    n = snprintf(own[3].text, sizeof(own[3].text), "C%s", colour_space(p->format));
    if (words)
        (void)snprintf(own[3].text + n, sizeof(own[3].text) - (size_t)n, "%d", depth);
    for (int i = 0; i < N_OWN_TAGS; i++)
        own[i].differs = differs[i];
}

/* Which of @own a tag of the source's header is about, or NULL. The comment that repeats the
 * chroma siting counts as that. */
static const struct own_tag *own_tag_for(const struct own_tag own[N_OWN_TAGS], const char *tag)
{
    if (!strncmp(tag, "XYSCSS=", 7))
        return &own[N_OWN_TAGS - 1];
    for (int i = 0; i < N_OWN_TAGS; i++)
        if (own[i].text[0] == tag[0])
            return &own[i];
    return NULL;
}

/* The tags of the source's header to the byte, but for those that are no longer true: these go,
 * and what is true follows at the end. */
static int keep_tags(char *text, size_t size, const char *tags, const struct own_tag *own)
{
    size_t n = 0;

    for (const char *tag = tags; *tag;) {
        const size_t length = 1 + strcspn(tag + 1, " ");
        const struct own_tag *o = own_tag_for(own, tag + 1);

        if (!o || !o->differs)
            n += (size_t)snprintf(text + n, size - n, "%.*s", (int)length, tag);
        tag += length;
    }
    for (int i = 0; i < N_OWN_TAGS; i++)
        if (own[i].differs)
            n += (size_t)snprintf(text + n, size - n, " %s", own[i].text);
    return (int)n;
}

static int make_header(struct y4m_sink *y, const struct sink_config *config, struct error *err)
{
    const struct frame *p = &y->base.picture;
    struct own_tag own[N_OWN_TAGS];
    char tags[Y4M_LINE_MAX + sizeof(own)];
    int n;

    make_own_tags(own, p, y->depth, config);
    if (config->y4m)
        n = keep_tags(tags, sizeof(tags), config->y4m->tags, own);
    else
        n = snprintf(tags, sizeof(tags), " %s %s %s Ip A0:0 %s XCOLORRANGE=%s", own[0].text,
                     own[1].text, own[2].text, own[3].text,
                     p->colour.range == COLOUR_FULL ? "FULL" : "LIMITED");
    if (asprintf(&y->header, Y4M_MAGIC "%.*s\n", n, tags) >= 0)
        return 0;
    y->header = NULL;
    return error_set(err, -ENOMEM, "out of memory for the header of %s", y->file);
}

/* What was written is only safe once the disk has it, but that may take seconds, which a
 * program that was told to stop does not have. */
static bool must_sync(const struct y4m_sink *y)
{
    return y->regular && !y->header && !y->failed && !event_rung(y->stop_fd);
}

static int y4m_close(struct sink *s, struct error *err)
{
    struct y4m_sink *y = (struct y4m_sink *)s;
    int r = 0;

    if (!y)
        return 0;
    if (y->fd >= 0 && y->made && y->header)
        file_id_unlink(y->path, y->fd);
    if (y->fd >= 0 && must_sync(y) && fsync(y->fd))
        r = -errno;
    if (y->fd >= 0 && y->own && close(y->fd) && !r)
        r = -errno;
    if (r)
        (void)error_set(err, r, "cannot finish %s: %s; frames may be lost", y->file, strerror(-r));
    free(y->header);
    free(y->rows);
    free(y);
    return r;
}

static int y4m_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    struct y4m_sink *y;
    int r;

    if (config->format >= 0 && !format_table[config->format].planes)
        return error_usage(err, "'%.120s' takes raw frames, not %s", config->name,
                           format_table[config->format].name);
    y = calloc(1, sizeof(*y));
    if (!y)
        return error_set(err, -ENOMEM, "out of memory for '%.120s'", config->name);
    y->base.ops = &sink_y4m;
    y->fd = -1;
    y->t_give_up_ns = INT64_MAX;
    y->stop_fd = config->stop_fd;
    y->path = config->name;
    set_picture(y, config);
    r = make_rows(y, err);
    if (!r)
        r = open_file(y, config->name, err);
    if (!r)
        r = make_header(y, config, err);
    if (r) {
        (void)y4m_close(&y->base, NULL);
        return r;
    }
    (void)snprintf(y->base.name, sizeof(y->base.name), "%s", y->file);
    *ret = &y->base;
    return 0;
}

static bool y4m_words(const struct sink_config *config)
{
    return config->format < 0;
}

const struct sink_ops sink_y4m = {
    .name = "y4m",
    .words = y4m_words,
    .open = y4m_open,
    .write = y4m_write,
    .close = y4m_close,
};
