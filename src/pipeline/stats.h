#pragma once
/* What happened so far: counts and how long things took. One short lock, no allocation after
 * create; every thread adds, main reads a snapshot. */
#include <stdbool.h>
#include <stdint.h>

#include "picture/frame.h"
#include "settings/status.h"

/* Durations in buckets whose width grows with the value (32 to an octave), so that any
 * percentile is right to within 2 % and the size is fixed. From 1 us to an hour; what is
 * outside counts as the nearest. */
#define HISTOGRAM_BUCKETS (32 * 32)

struct histogram {
    uint64_t n;
    int64_t max_ns;
    uint32_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, int64_t ns);

/* The duration that @percent % of all do not exceed; 0 when there are none. */
int64_t histogram_percentile(const struct histogram *h, double percent);

/* What parts of a frame's way are timed. */
enum span {
    SPAN_WAIT,    /* from the camera's stamp until the frame was read */
    SPAN_CONVERT, /* camera layout to working layout */
    SPAN_FILTER,
    SPAN_WRITE,
    SPAN_LATENCY, /* from the camera's stamp to the end of the write: camera and added */
    SPAN_CAMERA,  /* the camera's own delay */
    SPAN_ADDED,   /* from when the frame could be read to the end of the write: the budget's */
    N_SPANS
};

struct stats {
    uint64_t frames_in;        /* all that the source had: delivered, dropped and bad */
    uint64_t frames_out;       /* written to the sinks */
    uint64_t frames_dropped;   /* lost before or between the stages */
    uint64_t frames_bad;       /* damaged */
    uint64_t frames_not_shown; /* delivered, but not written; reported as dropped */
    uint64_t reconnects;
    int radius_requested, radius_min_used, radius_last; /* -1 = no frame yet */
    int64_t t_first_ns, t_last_ns;                      /* ends of the first and last write */
    double noisy_error, filtered_error; /* squared, summed over all samples, against the truth */
    struct histogram span[N_SPANS];     /* since the start */
    struct timing second;               /* the last in which frames came out */
    int64_t t_second_ns;                /* when that ended; 0 = not yet */
};

struct stats_recorder;

int stats_create(struct stats_recorder **ret);
void stats_destroy(struct stats_recorder *r);

/* The source's counts so far. Context: the capture thread. */
void stats_input(struct stats_recorder *r, uint64_t in, uint64_t dropped, uint64_t bad,
                 uint64_t reconnects);

/* One frame has left. Times in ns by span. Context: an output thread. */
void stats_output(struct stats_recorder *r, const int64_t span_ns[N_SPANS], int radius_requested,
                  int radius, int64_t t_now_ns);

/* One has left after newer ones: it counts, and its times do not. Context: an output thread. */
void stats_late(struct stats_recorder *r);

/* @n frames that were delivered are not shown: they count as dropped. */
void stats_not_shown(struct stats_recorder *r, uint64_t n);

/* Squared errors of one frame against its truth. Context: an output thread. */
void stats_quality(struct stats_recorder *r, double noisy_error, double filtered_error);

void stats_snapshot(struct stats_recorder *r, struct stats *ret);

/* How much of one core the program takes, in percent, since this was called a second ago or longer,
 * by the processor time that it has taken in all. 0: not known yet. */
double stats_processor(struct stats_recorder *r, int64_t processor_ns, int64_t t_now_ns);

/* Makes the counts add up: frames_in = frames_out + frames_dropped + frames_bad. Frames on their
 * way are not counted yet; when the run has @ended, they are dropped. */
void stats_balance(struct stats *s, bool ended);

/* Says in @ret what was counted and measured; the rest of it stays. */
void stats_fill_status(const struct stats *s, int64_t t_now_ns, struct status *ret);
