#pragma once
/* One time for all that an input gives. Recordings that were joined have times of their own each:
 * where those go back, or on by more than a pause can take, the next recording begins where the
 * last one ended. Pure arithmetic: whoever reads the same packets gets the same times. */
#include <stdbool.h>
#include <stdint.h>

#define TIMELINE_NO_TIME INT64_MIN

struct timeline_place {
    int part;          /* which of the recordings the stream's packets are from */
    int64_t t_last_ns; /* of its last packet, as that says; or TIMELINE_NO_TIME */
    int64_t t_end_ns;  /* where that ends, on the time of all */
    int64_t shift_ns;  /* what is added to its times */
};

struct timeline {
    int64_t on_ns; /* no pause takes longer */
    struct timeline_place *places;
    unsigned n_places;
    int part; /* the newest one, from 0 on; of that stream which began it are: */
    int64_t shift_ns, t_end_ns;
    int64_t cut_ns;   /* how much the first step took that was too long for a pause; 0: none was */
    int64_t t_cut_ns; /* and where it was, on the time of all */
};

struct timeline_packet {
    unsigned stream;
    bool steady;     /* there are many of them, as of pictures and sound */
    bool leads;      /* it is of the pictures, which all else goes by */
    int64_t t_ns;    /* when it is due, as it says; or TIMELINE_NO_TIME */
    int64_t long_ns; /* how long it is shown */
};

void timeline_finish(struct timeline *t); /* accepts all zeros */

/* Says what is to be added to the times of the packet. -ENOMEM. */
int timeline_follow(struct timeline *t, const struct timeline_packet *p, int64_t *ret_shift_ns);
