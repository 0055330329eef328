#include "pipeline/writer.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"

/* Readers get the last frame again after this long, or two frame intervals. */
#define HOLD_NS (100 * NS_PER_MS)
#define ROUND_NS (2 * NS_PER_S) /* the longest round: they show that the output is alive */

/* A window beside other outputs is not what a run is for. */
static bool needed(const struct writer *w)
{
    return !w->outlet.ops->card || w->outlet.config.alone;
}

int writer_open(struct writer *w, struct tally *tally, int number, const struct sink_ops *ops,
                const struct sink_config *config, bool wait, struct error *err)
{
    struct stream_output state;
    const int r = outlet_open(&w->outlet, tally->stream, ops, config, wait, err);

    if (r)
        return r;
    w->tally = tally;
    w->number = number;
    w->wants_card = outlet_wants_card(&w->outlet);
    outlet_state(&w->outlet, &state);
    tally_joined(tally, number, &state, needed(w));
    return 0;
}

/* Says what it is like. */
static void tell(struct writer *w)
{
    struct stream_output state;

    outlet_state(&w->outlet, &state);
    state.n_written = w->n_written;
    if (w->tally->on_demand && state.virtual_camera && state.readers < 0 && !w->logged_unknown) {
        log_info("%s: cannot tell whether anybody reads it; the camera stays on", state.name);
        w->logged_unknown = true;
    }
    tally_round(w->tally, w->number, &state);
}

static void leave(struct writer *w, int code, const struct error *err)
{
    if (code)
        (void)snprintf(w->outlet.trouble, sizeof(w->outlet.trouble), "%.319s", err->text);
    tell(w);
    tally_left(w->tally, w->number, needed(w), code, err);
}

/* There is nothing new: keeps the readers of a virtual camera going with the last picture. Before
 * the first and while the camera is gone it is the card that they get, as windows do. */
static int write_meanwhile(struct writer *w, struct error *err)
{
    const enum stream_state state = stream_state(w->tally->stream);

    /* It is not what the camera sees when it comes back. */
    if (state != STREAM_RUNS)
        w->last = NULL;
    if (w->last && outlet_holds(&w->outlet))
        return outlet_write(&w->outlet, w->last, NULL, err);
    if (!w->last && w->wants_card)
        return outlet_write_card(&w->outlet, state, err);
    return 0;
}

/* The frame that has been taken. One that was still being filtered when its camera went or was
 * released may not come after the card. */
static int show_new(struct writer *w, struct error *err)
{
    const bool old = w->wants_card && stream_outdated(w->tally->stream, w->slot->raw.t_capture_ns);
    const int64_t t_write_ns = now_ns();
    int r;

    w->last = old ? NULL : w->slot->result;
    if (old)
        return 0;
    r = outlet_write(&w->outlet, w->slot->result, &w->slot->raw, err);
    if (r == 0) {
        w->n_written++;
        tally_shown(w->tally, w->number, w->slot, t_write_ns);
    }
    return r;
}

void *writer_run(void *arg)
{
    struct writer *w = arg;
    struct stream *s = w->tally->stream;
    const int64_t two_ns = 2 * stream_interval_ns(s);
    const int64_t hold_ns = two_ns > HOLD_NS ? two_ns : HOLD_NS;
    const int64_t wait_ns = hold_ns < ROUND_NS ? hold_ns : ROUND_NS;
    struct error err = {.text = ""};
    int r = w->wants_card ? write_meanwhile(w, &err) : 0;

    while ((r == 0 || r == -EAGAIN) && !stream_stopping(s)) {
        const int taken = fan_take(w->tally->in, w->number, &w->slot, now_ns() + wait_ns);

        tell(w);
        if (taken == -EPIPE)
            break;
        r = taken ? write_meanwhile(w, &err) : show_new(w, &err);
    }
    leave(w, r == -EAGAIN || r == -ECANCELED ? 0 : r, &err);
    return NULL;
}
