/* YUV4MPEG2 files and pipes.
 *
 * Frames are lent from one buffer that holds the frame being read and what came with it; what
 * is left over moves to the front before the buffer is filled again. Interlaced files are
 * refused: a filter over both fields would mix two moments. Chroma siting (jpeg, mpeg2, paldv)
 * makes no difference to the filter. */
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "picture/words.h"

#define CHUNK (1 << 16) /* bytes that are read beyond the frame asked for */

struct y4m_source {
    struct source base;
    char file[128]; /* as messages call it, quotes included */
    int fd;
    int stop_fd;
    bool end; /* the file has no more bytes to read */
    uint8_t *buffer;
    size_t size, first, last; /* bytes [first, last) are read and not yet used */
    struct y4m_header header;
    char frame_tags[Y4M_LINE_MAX]; /* of the present frame: the buffer moves on */
    bool begun;                    /* its line was taken, its samples not yet */
    struct frame frame;
    size_t frame_bytes;
    uint64_t next;
    struct error broken; /* why no more frames come, or empty */
};

static const struct {
    const char *tag;
    enum frame_format format;
} colour_spaces[] = {
    {"C420", FRAME_I420},      {"C420jpeg", FRAME_I420}, {"C420mpeg2", FRAME_I420},
    {"C420paldv", FRAME_I420}, {"C422", FRAME_I422},     {"C444", FRAME_I444},
    {"Cmono", FRAME_GREY},
};

#define N_COLOUR_SPACES (sizeof(colour_spaces) / sizeof(colour_spaces[0]))

/* ----------------------------------------------------------------- reading */

/* Waits until there is something to read, the end included; with @timeout_ms 0 it only looks
 * whether to stop. */
static int wait_readable(const struct y4m_source *y, int timeout_ms, struct error *err)
{
    struct pollfd fds[2] = {{.fd = y->stop_fd, .events = POLLIN}, {.fd = y->fd, .events = POLLIN}};

    while (poll(fds, 2, timeout_ms) < 0)
        if (errno != EINTR)
            return error_set(err, -EIO, "cannot wait for %s: %s", y->file, strerror(errno));
    if (fds[0].revents)
        return error_set(err, -ECANCELED, "stopped reading %s", y->file);
    return 0;
}

/* Reads until the buffer holds @bytes, or the file ends. */
static int fill(struct y4m_source *y, size_t bytes, struct error *err)
{
    if (y->last - y->first >= bytes)
        return 0;
    memmove(y->buffer, y->buffer + y->first, y->last - y->first);
    y->last -= y->first;
    y->first = 0;
    while (y->last < bytes && !y->end) {
        const int r = wait_readable(y, -1, err);
        ssize_t n;

        if (r)
            return r;
        n = read(y->fd, y->buffer + y->last, y->size - y->last);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return error_set(err, -EIO, "cannot read %s: %s", y->file, strerror(errno));
        y->last += (size_t)n;
        y->end = n == 0;
    }
    return 0;
}

/* Takes one line of at most Y4M_LINE_MAX bytes from the buffer; its end becomes a '\0'. @ret is
 * NULL when there is no such line. */
static int take_line(struct y4m_source *y, char **ret, struct error *err)
{
    size_t have = 1;

    *ret = NULL;
    do {
        const int r = fill(y, have, err);
        uint8_t *nl;

        if (r)
            return r;
        nl = memchr(y->buffer + y->first, '\n', y->last - y->first);
        if (nl && nl - (y->buffer + y->first) < Y4M_LINE_MAX) {
            *nl = '\0';
            *ret = (char *)y->buffer + y->first;
            y->first = (size_t)(nl - y->buffer) + 1;
            return 0;
        }
        have = y->last - y->first + 1;
    } while (!y->end && have <= Y4M_LINE_MAX);
    return 0;
}

/* ------------------------------------------------------------------ header */

static int parse_ratio(const char *text, struct fraction *ret)
{
    char rest;

    if (text[strspn(text, "0123456789:")])
        return -EINVAL;
    if (sscanf(text, "%9" SCNu32 ":%9" SCNu32 "%c", &ret->num, &ret->den, &rest) != 2)
        return -EINVAL;
    if (!ret->num || !ret->den)
        *ret = (struct fraction){0, 0};
    return 0;
}

static int parse_side(const char *text, int *ret)
{
    char rest;

    return sscanf(text, "%9d%c", ret, &rest) == 1 ? 0 : -EINVAL;
}

/* "C422p10", "Cmono16". */
static bool parse_deep_space(struct y4m_source *y, const char *tag)
{
    static const struct {
        const char *tag;
        enum frame_format format;
    } deep[] = {{"C420p", FRAME_I420_16},
                {"C422p", FRAME_I422_16},
                {"C444p", FRAME_I444_16},
                {"Cmono", FRAME_GREY16}};

    for (size_t i = 0; i < sizeof(deep) / sizeof(deep[0]); i++)
        for (int depth = 9; depth <= 16; depth++) {
            char name[16];

            (void)snprintf(name, sizeof(name), "%s%d", deep[i].tag, depth);
            if (strcmp(tag, name))
                continue;
            y->base.format = deep[i].format;
            y->base.depth = depth;
            return true;
        }
    return false;
}

static int parse_colour_space(struct y4m_source *y, const char *tag, struct error *err)
{
    char allowed[160] = "";

    for (size_t i = 0; i < N_COLOUR_SPACES; i++) {
        if (!strcmp(tag, colour_spaces[i].tag)) {
            y->base.format = colour_spaces[i].format;
            y->base.depth = 0;
            return 0;
        }
        list_add(allowed, sizeof(allowed), ", ", colour_spaces[i].tag);
    }
    if (parse_deep_space(y, tag))
        return 0;
    return error_set(err, -EINVAL,
                     "%s has the colour space '%.33s'; allowed: %s, and C420p10, C422p10, C444p10 "
                     "and Cmono10 with any number from 9 to 16",
                     y->file, tag, allowed);
}

/* Tags that are not known here say nothing about the samples and are passed over. */
static int parse_tag(struct y4m_source *y, const char *tag, struct error *err)
{
    int r = 0;

    if (tag[0] == 'W')
        r = parse_side(tag + 1, &y->base.width);
    else if (tag[0] == 'H')
        r = parse_side(tag + 1, &y->base.height);
    else if (tag[0] == 'F')
        r = parse_ratio(tag + 1, &y->base.fps);
    else if (tag[0] == 'C')
        return parse_colour_space(y, tag, err);
    else if (tag[0] == 'I' && strchr("tbm", tag[1]) && tag[1])
        return error_set(err, -EINVAL, "%s is interlaced (%s); deinterlace it first", y->file, tag);
    else if (!strcmp(tag, "XCOLORRANGE=FULL"))
        y->base.colour.range = COLOUR_FULL;
    if (r)
        return error_set(err, -EINVAL, "%s has a broken header: '%.32s'", y->file, tag);
    return 0;
}

static int read_header(struct y4m_source *y, struct error *err)
{
    struct source *s = &y->base;
    const size_t magic = strlen(Y4M_MAGIC);
    const char *problem, *tag;
    char *line, *rest;
    int r = fill(y, magic + 1, err);

    if (r)
        return r;
    if (y->last == 0)
        return error_set(err, -EINVAL, "%s is empty", y->file);
    if (y->last <= magic || memcmp(y->buffer, Y4M_MAGIC, magic) ||
        !strchr(" \n", y->buffer[magic]) || !y->buffer[magic])
        return error_set(err, -EINVAL,
                         "%s is not a YUV4MPEG2 file (ffmpeg -i FILE out.y4m makes one)", y->file);
    r = take_line(y, &line, err);
    if (r)
        return r;
    if (!line && y->end)
        return error_set(err, -EINVAL, "%s ends in the middle of its header", y->file);
    if (!line)
        return error_set(err, -EINVAL, "%s has a header of more than %d bytes", y->file,
                         Y4M_LINE_MAX);
    (void)snprintf(y->header.tags, sizeof(y->header.tags), "%s", line + magic);
    for (rest = line + magic; (tag = strsep(&rest, " "));)
        if ((r = parse_tag(y, tag, err)))
            return r;
    if (!s->width || !s->height)
        return error_set(err, -EINVAL, "%s has a broken header: no width or no height", y->file);
    problem = frame_size_problem(s->width, s->height);
    if (problem)
        return error_set(err, -EINVAL, "%s is %dx%d: %s", y->file, s->width, s->height, problem);
    y->header.format = s->format;
    y->header.width = s->width;
    y->header.height = s->height;
    y->header.fps = s->fps;
    s->y4m = &y->header;
    return 0;
}

/* A file is what it is: requests that it does not meet are errors, but for the frame rate, which
 * is only a label. */
static int check_request(struct y4m_source *y, const struct source_config *config,
                         struct error *err)
{
    struct source *s = &y->base;

    if ((config->width && config->width != s->width) ||
        (config->height && config->height != s->height))
        return error_set(err, -EINVAL, "%s is %dx%d, not %dx%d; a file cannot be resized", y->file,
                         s->width, s->height, config->width, config->height);
    if (config->format >= 0 && config->format != (int)s->format)
        return error_set(err, -EINVAL, "%s is %s, not %s; a file's format cannot be chosen",
                         y->file, format_table[s->format].name, format_table[config->format].name);
    if (config->fps.num && config->fps.den)
        s->fps = config->fps;
    return 0;
}

/* --------------------------------------------------------------- open, close */

static int open_file(struct y4m_source *y, const char *name, struct error *err)
{
    struct stat st;

    if (!strcmp(name, "-")) {
        (void)snprintf(y->file, sizeof(y->file), "standard input");
        y->fd = STDIN_FILENO;
    } else {
        (void)snprintf(y->file, sizeof(y->file), "'%.120s'", name);
        /* Non-blocking matters for a named pipe: opening one would wait for its writer. */
        y->fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    if (y->fd < 0 || fstat(y->fd, &st)) {
        const int e = errno;

        return error_set(err, -e, "cannot open %s: %s", y->file, strerror(e));
    }
    if (S_ISDIR(st.st_mode))
        return error_set(err, -EISDIR, "cannot read %s: it is a directory", y->file);
    return 0;
}

static int grow_buffer(struct y4m_source *y, size_t size)
{
    uint8_t *buffer = realloc(y->buffer, size);

    if (!buffer)
        return -ENOMEM;
    y->buffer = buffer;
    y->size = size;
    return 0;
}

static int prepare_frames(struct y4m_source *y, struct error *err)
{
    y->frame = (struct frame){.format = y->base.format,
                              .width = y->base.width,
                              .height = y->base.height,
                              .colour = y->base.colour};
    y->frame_bytes = frame_layout_packed(&y->frame);
    if (grow_buffer(y, y->frame_bytes + Y4M_LINE_MAX + CHUNK))
        return error_set(err, -ENOMEM, "out of memory for frames of %dx%d", y->base.width,
                         y->base.height);
    return 0;
}

static void y4m_close(struct source *s)
{
    struct y4m_source *y = (struct y4m_source *)s;

    if (!y)
        return;
    if (y->fd > STDIN_FILENO)
        (void)close(y->fd);
    free(y->buffer);
    free(y);
}

static int y4m_open(struct source **ret, const struct source_config *config, struct error *err)
{
    struct y4m_source *y = calloc(1, sizeof(*y));
    int r;

    if (!y)
        return error_set(err, -ENOMEM, "out of memory for '%.120s'", config->name);
    y->base.ops = &source_y4m;
    y->base.format = FRAME_I420; /* what a header without a C tag means */
    y->fd = -1;
    y->stop_fd = config->stop_fd;
    r = open_file(y, config->name, err);
    if (r)
        goto error;
    (void)snprintf(y->base.name, sizeof(y->base.name), "%s", y->file);
    r = grow_buffer(y, Y4M_LINE_MAX);
    if (r) {
        (void)error_set(err, r, "out of memory for %s", y->file);
        goto error;
    }
    r = read_header(y, err);
    if (!r)
        r = check_request(y, config, err);
    if (!r)
        r = prepare_frames(y, err);
    if (r)
        goto error;
    *ret = &y->base;
    return 0;
error:
    y4m_close(&y->base);
    return r;
}

/* -------------------------------------------------------------------- frames */

static int read_frame_line(struct y4m_source *y, struct error *err)
{
    char *line;
    int r = fill(y, 1, err);

    if (r)
        return r;
    if (y->first == y->last)
        return error_set(err, -ENODATA, "the end of %s", y->file);
    r = take_line(y, &line, err);
    if (r)
        return r;
    if (!line && y->end && y->last - y->first < Y4M_LINE_MAX)
        return error_set(err, -EBADMSG, "%s ends in the middle of frame %" PRIu64 ": in its header",
                         y->file, y->next + 1);
    if (!line || strncmp(line, "FRAME", 5) || (line[5] && line[5] != ' '))
        return error_set(err, -EBADMSG, "%s is broken at frame %" PRIu64 ": no FRAME line there",
                         y->file, y->next + 1);
    (void)snprintf(y->frame_tags, sizeof(y->frame_tags), "%s", line + 5);
    y->frame.y4m_tags = y->frame_tags;
    y->begun = true;
    return 0;
}

static int read_samples(struct y4m_source *y, struct error *err)
{
    const int r = fill(y, y->frame_bytes, err);
    const size_t have = y->last - y->first;

    if (r)
        return r;
    if (have < y->frame_bytes)
        return error_set(err, -EBADMSG,
                         "%s ends in the middle of frame %" PRIu64
                         ": %zu of its %zu bytes are there",
                         y->file, y->next + 1, have, y->frame_bytes);
    if (y->base.depth)
        words_widen(y->buffer + y->first, y->frame_bytes, y->base.depth);
    frame_attach(&y->frame, y->buffer + y->first);
    y->first += y->frame_bytes;
    y->begun = false;
    return 0;
}

static int y4m_read(struct source *s, struct frame *ret, struct error *err)
{
    struct y4m_source *y = (struct y4m_source *)s;
    struct error why;
    int r;

    if (y->broken.text[0])
        return error_set(err, -EBADMSG, "%s", y->broken.text);
    r = wait_readable(y, 0, &why);
    if (!r && !y->begun)
        r = read_frame_line(y, &why);
    if (!r)
        r = read_samples(y, &why);
    if (r == -EBADMSG)
        y->broken = why;
    if (r)
        return error_set(err, r, "%s", why.text);
    y->frame.seq = y->next++;
    y->frame.t_capture_ns = now_ns();
    *ret = y->frame;
    return 0;
}

static void y4m_release(struct source *s)
{
    (void)s;
}

static int y4m_truth(const struct source *s, uint64_t seq, struct frame *clean)
{
    (void)s;
    (void)seq;
    (void)clean;
    return -ENOTSUP;
}

const struct source_ops source_y4m = {
    .name = "y4m",
    .file = true,
    .open = y4m_open,
    .close = y4m_close,
    .read = y4m_read,
    .release = y4m_release,
    .truth = y4m_truth,
};
