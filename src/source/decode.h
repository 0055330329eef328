#pragma once
/* The pictures of the best video stream that libav finds in an input, one after the other.
 * Context: one thread at a time. */
#include <libavcodec/avcodec.h>

#include "base/error.h"
#include "video/input.h"

struct decoder {
    struct video_input in;
    AVStream *stream;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;         /* the picture, until the next one */
    int64_t n_shown;        /* whole pictures so far */
    uint64_t n_bad;         /* damaged ones, which are passed over */
    int n_gaps;             /* places where packets are missing, or recordings were joined */
    int n_fields;           /* pictures in a row, up to now, that say that they are interlaced */
    bool mixed;             /* what says so is not looked at any more */
    bool told_cut;          /* the warning of times that were too far apart is out */
    bool became_interlaced; /* set before it is opened: a live stream did that before */
    int64_t n_frames;       /* that its stream has, if the input says so; else 0 */
    int64_t n_packets; /* of the stream, so far, but for those that are only there for others */
    bool live;         /* without an end, so nothing is held back */
    bool drains;       /* there is nothing more to read */
    int cut;           /* libav's error that ended the reading; or 0 */
    int n_errors;      /* since then, without a picture */
};

/* @file is for messages; @threads decode at most, as many as suit it where that is 0; @stop_fd as
 * for video_input_open(). @d stays where it is, and a failure needs decoder_close(), too. -ENOENT
 * and so on: of the file; -EINVAL: there is no video in it that can be decoded. */
int decoder_open(struct decoder *d, const char *name, const char *file, int threads, int stop_fd,
                 struct error *err);
void decoder_close(struct decoder *d); /* accepts all zeros */

/* The next whole picture, in d->frame. A warning says where a film becomes interlaced, and that a
 * live stream does for the second time.
 *   -EPROTO     it does for the first time
 *   -ENODATA    the end of a whole file    -EBADMSG    that of one that is damaged: @err says how
 *   -ECANCELED  @stop_fd is readable; the next call goes on without a loss    -ENOMEM */
int decoder_next(struct decoder *d, const char *file, int stop_fd, struct error *err);
