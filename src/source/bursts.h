#pragma once
/* When the pictures of a live stream are shown. A camera sends each one when it is taken, so that
 * it is shown at once. Streams that are made of pieces (HLS, DASH) send many at a time: these are
 * shown as far apart as they were taken. Pure arithmetic: the caller says what time it is, and
 * waits. */
#include <stdbool.h>
#include <stdint.h>

#define BURSTS_NO_TIME INT64_MIN /* of a picture that does not say when it was taken */

struct bursts {
    bool pieces;      /* it is known to come in bursts */
    bool paced;       /* pictures are held back till they are due */
    int n_rounds;     /* bursts in a row, each with a pause before it */
    int64_t ahead_ns; /* what the pictures since the last pause ran ahead of the clock, */
    int64_t took_ns;  /* and how long they took */
    int64_t round_ns, round_shown_ns; /* since then, pause included: by the clock, by their times */
    int64_t t_last_ns, shown_last_ns; /* of the last picture: when it came, and its own time */
    int64_t base_ns;                  /* what is added to a picture's own time; while it is paced */
    int64_t late_ns;     /* how much of that is only there because pictures came late */
    int64_t due_last_ns; /* when the last picture was shown */
    int64_t t_waited_ns; /* when a picture was last waited for, while it is paced */
    int64_t held_ns;     /* for how long pictures were held back since then, added up */
    int64_t t_burst_ns;  /* when that last was as much as in a burst */
    bool begun;
};

/* @pieces: the stream is known to come in bursts. */
void bursts_init(struct bursts *b, bool pieces);

/* When the picture that came at @t_ns and says @shown_ns is to be shown: not before @t_ns. The next
 * one is not asked about before that. */
int64_t bursts_due(struct bursts *b, int64_t shown_ns, int64_t t_ns);
