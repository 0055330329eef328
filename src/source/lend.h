#pragma once
/* What libav decoded, as frames of the program: in place where the layout is one that the program
 * has, else by libswscale; upright; all of them as the first one was.
 * Context: one thread at a time. */
#include <libavutil/frame.h>

#include "base/error.h"
#include "picture/frame.h"
#include "picture/turn.h"

struct lender {
    struct frame frame; /* what is lent: format, size and colour stay as they were first */
    bool reduced;       /* what comes has more than 8 bits to a sample */
    struct turn turn;

    struct frame raw; /* before the turn; no planes of its own */
    int pixel_format; /* of libav, in which it can be lent; -1 = none */
    struct SwsContext *scaler;
    struct frame scaled, turnable, turned; /* own their memory */
};

/* Finds out how frames like @first are lent; @file is for messages. A failure needs
 * lender_finish(), too. -EINVAL: frames of that size cannot be filtered. -ENOMEM. */
int lender_init(struct lender *l, const AVFrame *first, const char *file, struct error *err);
void lender_finish(struct lender *l); /* accepts all zeros */

/* Has l->frame show @f, which stays the caller's and as it is meanwhile. -ENOMEM. */
int lender_take(struct lender *l, const AVFrame *f);
