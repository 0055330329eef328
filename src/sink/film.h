#pragma once
/* What a film has besides its pictures: sound, subtitles, chapters, fonts, a cover and what is said
 * of it all, on its way to another film as it is. Context: one thread at a time. */
#include <libavcodec/packet.h>

#include "video/input.h"
#include "video/output.h"

/* What becomes of a stream. */
struct film_place {
    int to;       /* its stream in the new film; -1: it is left out */
    int64_t last; /* dts of the last packet that was written; AV_NOPTS_VALUE: none */
    bool shown;   /* there was one that is not there for others alone */
};

struct film {
    struct video_input in;
    AVStream *video; /* whose pictures come another way; NULL: there is no film */
    struct film_place *places;
    unsigned n_places;  /* streams that turn up later are left out */
    AVPacket *packet;   /* the next one */
    bool waiting;       /* it is for later */
    int64_t t_end_ns;   /* of the sound so far */
    int cut;            /* what ended it before its end, a URL alone: the source tells of files */
    uint64_t n_wild;    /* packets of sound that are left out: their times are no times */
    uint64_t n_damaged; /* packets that cannot be written */
    char left_out[128]; /* what the new film cannot hold, in words, or empty */
};

/* Makes streams and chapters in @to. @name stays open; where that is a URL, nobody waits for it
 * once @stop_fd is readable. A failure needs film_close(), too. */
int film_open(struct film *f, const char *name, int stop_fd, AVFormatContext *to,
              struct error *err);
void film_close(struct film *f); /* accepts all zeros */

/* Writes to @to what comes until @t_ns from the start, INT64_MAX for all, as far as the file @out
 * of it has room. An error of libav. */
int film_copy(struct film *f, AVFormatContext *to, struct video_output *out, int64_t t_ns);
