#pragma once
/* A file as libav reads it. Only what is in the file itself counts: nothing that it names, be it
 * another file or a place in a network, is opened. */
#include <libavformat/avformat.h>

#include "base/error.h"

struct video_input {
    AVFormatContext *format; /* NULL while there is none */
    AVIOContext *io;
    int fd;
};

/* Opens the regular file @name and finds out what is in it. A failure leaves nothing open.
 * -ENOENT and so on: of the file; -EINVAL: libav knows nothing that is like it. */
int video_input_open(struct video_input *in, const char *name, struct error *err);

/* Accepts what is all zeros, or not open. */
void video_input_close(struct video_input *in);

/* What libav means by @code, as a negative errno. */
int video_errno(int code);

/* The same in words, for the end of a message. */
const char *video_strerror(int code, char *text, size_t size);
