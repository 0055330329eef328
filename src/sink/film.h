#pragma once
/* What a film has besides its pictures: sound, subtitles, chapters and what is said of it all, on
 * its way to another film as it is. Context: one thread at a time. */
#include <libavcodec/packet.h>

#include "video/input.h"

struct film {
    struct video_input in;
    AVStream *video; /* whose pictures come another way; NULL: there is no film */
    int *places;     /* of its streams in the new film, -1: left out */
    int64_t *last; /* dts of the last packet that went there, in its units; AV_NOPTS_VALUE: none */
    unsigned n_places;  /* of both; streams that turn up later are left out */
    int64_t shift_ns;   /* what recordings that were joined begin later than they say */
    int64_t t_end_ns;   /* of the packets so far */
    int cut;            /* what ended it before its end, a URL alone: the source tells of files */
    AVPacket *packet;   /* the next one */
    bool waiting;       /* it is for later */
    int64_t n_bytes;    /* that were copied */
    char left_out[128]; /* what the new film cannot hold, in words, or empty */
};

/* Makes streams and chapters in @to. @name stays open; where that is a URL, nobody waits for it
 * once
 * @stop_fd is readable. A failure needs film_close(), too. */
int film_open(struct film *f, const char *name, int stop_fd, AVFormatContext *to,
              struct error *err);
void film_close(struct film *f); /* accepts all zeros */

/* Writes to @to what comes until @t_ns from the start, INT64_MAX for all. An error of libav. */
int film_copy(struct film *f, AVFormatContext *to, int64_t t_ns);
