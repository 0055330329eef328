#include "video/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (1 << 16) /* bytes that are read at once */

int video_errno(int code)
{
    return code == AVERROR(ENOMEM) || code == AVERROR(EIO) ? code : -EINVAL;
}

const char *video_strerror(int code, char *text, size_t size)
{
    if (code == AVERROR_INVALIDDATA)
        (void)snprintf(text, size, "it is damaged, or of a kind that libav does not know");
    else if (code == AVERROR_EOF)
        (void)snprintf(text, size, "it ends too early");
    else if (av_strerror(code, text, size))
        (void)snprintf(text, size, "libav's error %d", code);
    return text;
}

static int read_bytes(void *opaque, uint8_t *buffer, int size)
{
    const struct video_input *in = opaque;
    ssize_t n;

    do
        n = read(in->fd, buffer, (size_t)size);
    while (n < 0 && errno == EINTR);
    return n > 0 ? (int)n : n ? AVERROR(errno) : AVERROR_EOF;
}

static int64_t seek_bytes(void *opaque, int64_t offset, int whence)
{
    const struct video_input *in = opaque;
    struct stat st;
    off_t at;

    if (whence == AVSEEK_SIZE)
        return fstat(in->fd, &st) ? AVERROR(errno) : (int64_t)st.st_size;
    at = lseek(in->fd, offset, whence & ~AVSEEK_FORCE);
    return at < 0 ? AVERROR(errno) : (int64_t)at;
}

static int open_file(struct video_input *in, const char *name, struct error *err)
{
    struct stat st;

    in->fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &st)) {
        const int e = errno;

        return error_set(err, -e, "cannot open '%.120s': %s", name, strerror(e));
    }
    if (!S_ISREG(st.st_mode))
        return error_set(err, -EINVAL, "cannot read '%.120s': it is no file", name);
    if (!st.st_size)
        return error_set(err, -EINVAL, "'%.120s' is empty", name);
    return 0;
}

static int open_format(struct video_input *in)
{
    uint8_t *buffer = av_malloc(CHUNK);
    AVDictionary *options = NULL;
    int r;

    in->io = buffer ? avio_alloc_context(buffer, CHUNK, 0, in, read_bytes, NULL, seek_bytes) : NULL;
    in->format = avformat_alloc_context();
    if (!in->io || !in->format) {
        if (!in->io)
            av_free(buffer);
        return AVERROR(ENOMEM);
    }
    in->format->pb = in->io;
    /* A playlist would have other files opened, also such as its author may not read. */
    r = av_dict_set(&options, "protocol_whitelist", "none", 0);
    if (r >= 0)
        r = avformat_open_input(&in->format, NULL, NULL, &options);
    av_dict_free(&options);
#if LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 15, 100)
    /* Later versions tell decoders by themselves how the picture is to be turned. */
    if (r >= 0)
        av_format_inject_global_side_data(in->format);
#endif
    return r;
}

int video_input_open(struct video_input *in, const char *name, struct error *err)
{
    char why[AV_ERROR_MAX_STRING_SIZE];
    int r;

    /* What it would print names no file, and says what users cannot use. */
    av_log_set_level(AV_LOG_QUIET);
    *in = (struct video_input){.fd = -1};
    r = open_file(in, name, err);
    if (!r) {
        r = open_format(in);
        if (r >= 0)
            r = avformat_find_stream_info(in->format, NULL);
        r = r >= 0 ? 0
                   : error_set(err, video_errno(r), "cannot read '%.120s': %s", name,
                               video_strerror(r, why, sizeof(why)));
    }
    if (r)
        video_input_close(in);
    return r;
}

void video_input_close(struct video_input *in)
{
    avformat_close_input(&in->format);
    if (in->io)
        av_freep(&in->io->buffer);
    avio_context_free(&in->io);
    if (in->fd > 0)
        (void)close(in->fd);
    in->fd = -1;
}
