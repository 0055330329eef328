#pragma once
/* What libav decoded, as frames of the program: in place where the layout is one that the program
 * has, else by libswscale; samples of more than 8 bits in words of 16; upright, also if they are
 * turned in another way from some picture on; all of them as the first one was. Context: one thread
 * at a time. */
#include <libavutil/frame.h>

#include "base/error.h"
#include "picture/frame.h"
#include "picture/turn.h"

struct lender {
    struct frame frame; /* what is lent: format, size and colour stay as they were first */
    bool reduced;       /* what comes has more bits to a sample than 8, which are lent */
    int depth;          /* bits that a sample of 16 has of what comes; or 0 */
    struct turn turn;

    struct frame raw;          /* before the turn; no planes of its own */
    enum AVPixelFormat pixels; /* the same for libav, but for words, which it has as they come */
    bool in_place;             /* what comes in that layout is in the right colours, too */
    struct SwsContext *scaler;
    /* What is made of it on the way to frame, if need be, in this order; they own their memory. */
    struct frame own, turnable, turned, upright;
};

/* Finds out how frames like @first are lent, with @depth as in struct source_config; @file is for
 * messages. A failure needs lender_finish(), too. -EINVAL: frames of that size cannot be filtered.
 * -ENOMEM. */
int lender_init(struct lender *l, const AVFrame *first, int depth, const char *file,
                struct error *err);
void lender_finish(struct lender *l); /* accepts all zeros */

/* Has l->frame show @f, which stays the caller's and as it is meanwhile. -ENOMEM. */
int lender_take(struct lender *l, const AVFrame *f);
