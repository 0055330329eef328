#pragma once
/* Which encoder serves a file, and what it takes. Context: one thread at a time. */
#include <libavcodec/avcodec.h>

#include "base/error.h"
#include "picture/frame.h"
#include "sink/sink.h"

struct encoder {
    const AVCodec *codec;
    char options[256];
    enum AVPixelFormat pixels; /* what it takes */
    enum AVPixelFormat planes; /* where that is another one, what libswscale makes it of */
    enum frame_format format;  /* what the sink takes for it, */
    bool rgb;                  /* which is planes of G', B' and R' */
    int depth;                 /* bits of a sample in planes, if the sink takes 16; else 0 */
    char x265[192];            /* what libx265 is told by options of its own, or empty */
    bool full;                 /* it takes full range alone */
    AVCodecContext *context;
};

/* Chooses by the ending of the file's name, or by @asked, "NAME[:OPTIONS]", and the pictures that
 * come. -EINVAL: there is no such encoder, or it does not take them. */
int encoder_choose(struct encoder *e, const struct sink_config *config, struct error *err);

/* Whether libswscale makes R'G'B' for it, of other colours or of planes. */
bool encoder_makes_rgb(const struct encoder *e);

/* Makes e->context, which the caller may change before encoder_start(). @threads encode at most, as
 * many as suit it where that is 0. -ENOMEM. */
int encoder_prepare(struct encoder *e, const struct frame *picture, int threads);

/* Has it say what the film said of its pictures, as far as that is still true. @from_rgb: its
 * matrix is that of R'G'B'. */
void encoder_keep_tags(struct encoder *e, const struct film_tags *tags, bool from_rgb);

/* Has it say the shape of the film's samples alone, as a single picture can. */
void encoder_keep_aspect(struct encoder *e, const struct film_tags *tags);

/* -EINVAL: the encoder refuses, for the reason that is told. */
int encoder_start(struct encoder *e, const char *file, struct error *err);

void encoder_finish(struct encoder *e); /* accepts all zeros */
