#include "filter/frame_interval.h"

#define STALL_NS 1000000000
#define JITTER_FRAMES 5 /* stamps that jitter are rarely off to the same side for longer */
#define BURST_NS 1000000000

/* Stamps that jitter must not make the budget waver with them: too long an interval makes the next
 * one too short. A camera that has changed its rate is off to the same side every time. No jitter
 * makes two intervals in a row more than twice as long, and the first one is only compared with
 * what the camera announced. */
static void smooth(struct frame_interval *f, double interval)
{
    const double off = interval - f->ns;
    const bool first = f->n_off == 0;
    double weight = 0.05;

    f->n_off = (off > 0.0) == f->off_above ? f->n_off + 1 : 1;
    f->off_above = off > 0.0;
    if (off > f->ns && (first || f->n_off > 1))
        weight = 0.5;
    else if (f->n_off > JITTER_FRAMES)
        weight = 0.2;
    f->ns += weight * off;
}

/* A server may begin with pictures that it has kept, all at once, which says nothing of those to
 * come. A camera that is four times as fast as it was stays so. */
static bool in_burst(struct frame_interval *f, double interval, int64_t t_capture_ns)
{
    if (interval >= f->ns / 4.0)
        f->t_burst_ns = 0;
    else if (!f->t_burst_ns)
        f->t_burst_ns = f->t_last_ns;
    return f->t_burst_ns && t_capture_ns - f->t_burst_ns < BURST_NS;
}

/* Frames lost on the way do not count as a slower camera. A pause, a clock that stands still or
 * runs back says nothing. */
void frame_interval_step(struct frame_interval *f, int64_t t_capture_ns, uint64_t seq)
{
    const int64_t dt = t_capture_ns - f->t_last_ns;
    const uint64_t frames = seq - f->last_seq;

    if (f->started && dt > 0 && dt < STALL_NS && seq > f->last_seq && frames < 100) {
        const double interval = (double)dt / (double)frames;

        if (f->ns <= 0.0)
            f->ns = interval;
        else if (!in_burst(f, interval, t_capture_ns))
            smooth(f, interval);
    }
    f->started = true;
    f->t_last_ns = t_capture_ns;
    f->last_seq = seq;
}
