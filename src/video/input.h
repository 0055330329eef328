#pragma once
/* A file or a URL as libav reads it. Only what is there itself counts: a file names no other file
 * and no place in a network that would be opened, and what a network says no file. */
#include <libavformat/avformat.h>

#include "base/error.h"
#include "video/timeline.h"

/* What films are written with have no more in a second, so that pauses of half an hour fit an MP4.
 */
#define VIDEO_TICKS 1000000

struct video_input {
    AVFormatContext *format; /* NULL while there is none */
    AVIOContext *io;         /* of a file */
    int fd;
    bool list;          /* of other files, so that it is not opened */
    int stop_fd;        /* readable once nothing is waited for any more */
    int64_t t_limit_ns; /* when what the network is asked for takes too long */
    bool follows;       /* what is read gets the times of timeline */
    struct timeline timeline;
    uint32_t elsewhere[16]; /* ids of streams that another file has */
    int n_elsewhere;
    int64_t end_us; /* how far all streams go that were read so far, as they say */
};

/* Opens the regular file or URL @name and finds out what is in it; @in stays where it is until it
 * is closed. A failure leaves nothing open. -ENOENT and so on: of the file; -EINVAL: libav knows
 * nothing that is like it; -EIO: of the network. */
int video_input_open(struct video_input *in, const char *name, int stop_fd, struct error *err);

/* Accepts what is all zeros, or not open. */
void video_input_close(struct video_input *in);

/* As av_read_frame(), which a readable stop_fd ends, and a network that gives nothing for long. Of
 * recordings that were joined each begins where the last one ended, but in what is live. */
int video_input_read(struct video_input *in, AVPacket *packet);

/* Whether a step in the times of a stream may be too long for a pause, unless another stream goes
 * on meanwhile. */
bool video_input_may_jump(const struct video_input *in);

/* When the input begins; 0 where it does not say. */
int64_t video_input_start_us(const struct video_input *in);

/* How long after @start_us time @t in units of @base is; INT64_MIN: it is none, or so far away that
 * nothing could be calculated with it. What it returns may be added up twice. */
int64_t video_ns(int64_t t, AVRational base, int64_t start_us);

/* Whether another file has what is in the stream, of which nothing is read. Of files alone. */
bool video_input_elsewhere(const struct video_input *in, const AVStream *s);

/* Whether it is like a camera: it goes on without an end, at its own pace. Over HTTP that is what
 * tells neither how long nor how large it is; any other network is live. */
bool video_input_live(const struct video_input *in);

/* Whether it is a list of pieces, of which a network sends each one at once. */
bool video_input_in_pieces(const struct video_input *in);

/* What libav means by @code, as a negative errno. */
int video_errno(int code);

/* The same in words, for the end of a message. */
const char *video_strerror(int code, char *text, size_t size);
