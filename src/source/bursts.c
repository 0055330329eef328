/* DESIGN
 *
 * Where every picture is shown as soon as it comes, the newest one of a burst replaces all others.
 * So the first picture of a burst is shown at once, and what its time and the clock differ by is
 * added to the times of those that follow. One that comes later than it is due makes the stream
 * later by as much, or else its burst would be lost after each slow answer of a server. That is
 * taken back slowly, so that the delay does not add up.
 *
 * A network that hung for a moment sends a burst as well, and a camera's delay must not grow by
 * it. A stream is taken for one of bursts where several come in a row, with nothing between them
 * but pauses, and its times go on as the clock does.
 *
 * While a picture is held back, nobody sees when the next ones come. But where none had to be
 * waited for in a while, each came before it was due, so the delay is longer than it need be, by
 * clocks that differ or whatever else. It is shortened slowly then, until one is waited for. A
 * stream that was only found to be one of bursts is no longer taken for it where that does not
 * help, or where what it sends is even again. */
#include "source/bursts.h"

#define MS INT64_C(1000000)

#define PAUSE_NS (200 * MS)   /* without a picture, before a burst */
#define AHEAD_NS (150 * MS)   /* what the pictures of a burst run ahead of the clock */
#define ROUNDS 4              /* that a stream of bursts is known by */
#define DENSE 3               /* times as long as it takes, at least */
#define BACK_NS (1000 * MS)   /* times that go back by more, */
#define ON_NS (5000 * MS)     /* or on by more, begin again */
#define WILD (INT64_MAX / 4)  /* no time of a stream, and too large to calculate with */
#define TAKE_BACK 50          /* of time, one part of which is taken back of a delay */
#define HOLD_NS (1000 * MS)   /* for one picture, at most: its time has jumped */
#define ROUND_NS (15000 * MS) /* from one burst to the next, at most */
#define LOST_NS (60000 * MS)  /* without a wait for a picture, after which it was no burst */

void bursts_init(struct bursts *b, bool pieces)
{
    *b = (struct bursts){.pieces = pieces, .paced = pieces};
}

/* Counts the bursts of a stream that is not paced yet. */
static void look_for_bursts(struct bursts *b, int64_t step_ns, int64_t waited_ns)
{
    bool burst;

    b->round_ns += waited_ns;
    b->round_shown_ns += step_ns;
    if (waited_ns < PAUSE_NS) {
        b->ahead_ns += step_ns - waited_ns;
        b->took_ns += waited_ns;
        return;
    }
    burst = b->ahead_ns >= AHEAD_NS && b->ahead_ns >= DENSE * b->took_ns;
    burst = burst && b->round_ns <= ROUND_NS && b->round_shown_ns < 2 * b->round_ns;
    b->n_rounds = burst ? b->n_rounds + 1 : 0;
    b->ahead_ns = b->took_ns = b->round_ns = b->round_shown_ns = 0;
    b->paced = b->n_rounds >= ROUNDS;
}

/* The picture is shown at once, and those that follow by it. */
static void anchor(struct bursts *b, int64_t shown_ns, int64_t t_ns)
{
    b->base_ns = t_ns - shown_ns;
    b->late_ns = b->held_ns = 0;
    b->n_rounds = 0;
    b->ahead_ns = b->took_ns = b->round_ns = b->round_shown_ns = 0;
    b->t_waited_ns = b->t_burst_ns = t_ns;
}

/* Notes whether the picture was waited for, or was there before the last one was shown. */
static void note_wait(struct bursts *b, int64_t step_ns, int64_t t_ns)
{
    const bool waited = t_ns - b->due_last_ns > step_ns / 4;

    if (waited || b->late_ns)
        b->t_waited_ns = t_ns;
    if (!waited)
        return;
    if (b->held_ns >= AHEAD_NS)
        b->t_burst_ns = t_ns;
    b->held_ns = 0;
}

/* How much of the delay is taken back with a picture. */
static int64_t take_back(const struct bursts *b, int64_t step_ns, int64_t t_ns)
{
    const int64_t ret = step_ns > 0 ? step_ns / TAKE_BACK : 0;

    if (t_ns - b->t_waited_ns > ROUND_NS)
        return ret;
    return ret < b->late_ns ? ret : b->late_ns;
}

static int64_t pace(struct bursts *b, int64_t shown_ns, int64_t step_ns, int64_t t_ns)
{
    int64_t back_ns, due_ns;

    note_wait(b, step_ns, t_ns);
    back_ns = take_back(b, step_ns, t_ns);
    b->base_ns -= back_ns;
    b->late_ns -= back_ns < b->late_ns ? back_ns : b->late_ns;
    due_ns = shown_ns + b->base_ns;
    if (due_ns > t_ns + HOLD_NS) {
        anchor(b, shown_ns, t_ns);
        return t_ns;
    }
    if (due_ns >= t_ns) {
        b->held_ns += due_ns - t_ns;
        return due_ns;
    }
    b->base_ns += t_ns - due_ns;
    b->late_ns += t_ns - due_ns;
    return t_ns;
}

/* Whether a stream that was taken for one of bursts has shown to be none. */
static bool is_even(const struct bursts *b, int64_t t_ns)
{
    return t_ns - b->t_waited_ns > LOST_NS ||
           (b->t_waited_ns == t_ns && t_ns - b->t_burst_ns > ROUND_NS);
}

int64_t bursts_due(struct bursts *b, int64_t shown_ns, int64_t t_ns)
{
    const bool was_paced = b->paced;
    int64_t step_ns, ret = t_ns;

    if (shown_ns < -WILD || shown_ns > WILD)
        return t_ns;
    step_ns = shown_ns - b->shown_last_ns;
    if (!b->begun || step_ns < -BACK_NS || step_ns > ON_NS) {
        b->begun = true;
        step_ns = 0;
        anchor(b, shown_ns, t_ns);
    } else if (!b->paced) {
        look_for_bursts(b, step_ns, t_ns - b->t_last_ns);
    }
    if (b->paced && !was_paced)
        anchor(b, shown_ns, t_ns);
    if (b->paced)
        ret = pace(b, shown_ns, step_ns, t_ns);
    if (b->paced && !b->pieces && is_even(b, t_ns)) {
        b->paced = false;
        anchor(b, shown_ns, t_ns);
        ret = t_ns;
    }
    b->t_last_ns = t_ns;
    b->shown_last_ns = shown_ns;
    b->due_last_ns = ret;
    return ret;
}
