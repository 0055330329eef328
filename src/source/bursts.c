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
 * but pauses. */
#include "source/bursts.h"

#define MS INT64_C(1000000)

#define PAUSE_NS (200 * MS)  /* without a picture, before a burst */
#define AHEAD_NS (150 * MS)  /* what the pictures of a burst run ahead of the clock */
#define ROUNDS 4             /* that a stream of bursts is known by */
#define DENSE 3              /* times as long as it takes, at least */
#define BACK_NS (1000 * MS)  /* times that go back by more, */
#define ON_NS (5000 * MS)    /* or on by more, begin again */
#define WILD (INT64_MAX / 4) /* no time of a stream, and too large to calculate with */
#define TAKE_BACK 50         /* of time, one part of which is taken back of a delay */

void bursts_init(struct bursts *b, bool pieces)
{
    *b = (struct bursts){.paced = pieces};
}

/* Counts the bursts of a stream that is not paced yet. */
static void look_for_bursts(struct bursts *b, int64_t step_ns, int64_t waited_ns)
{
    if (waited_ns < PAUSE_NS) {
        b->ahead_ns += step_ns - waited_ns;
        b->took_ns += waited_ns;
        return;
    }
    b->n_rounds =
        b->ahead_ns >= AHEAD_NS && b->ahead_ns >= DENSE * b->took_ns ? b->n_rounds + 1 : 0;
    b->ahead_ns = b->took_ns = 0;
    b->paced = b->n_rounds >= ROUNDS;
}

static int64_t pace(struct bursts *b, int64_t shown_ns, int64_t step_ns, int64_t t_ns)
{
    int64_t back_ns = step_ns > 0 ? step_ns / TAKE_BACK : 0;
    int64_t due_ns;

    back_ns = back_ns < b->late_ns ? back_ns : b->late_ns;
    b->base_ns -= back_ns;
    b->late_ns -= back_ns;
    due_ns = shown_ns + b->base_ns;
    if (due_ns >= t_ns)
        return due_ns;
    b->base_ns += t_ns - due_ns;
    b->late_ns += t_ns - due_ns;
    return t_ns;
}

int64_t bursts_due(struct bursts *b, int64_t shown_ns, int64_t t_ns)
{
    const bool was_paced = b->paced;
    int64_t step_ns;

    if (shown_ns < -WILD || shown_ns > WILD)
        return t_ns;
    step_ns = shown_ns - b->shown_last_ns;
    if (!b->begun || step_ns < -BACK_NS || step_ns > ON_NS) {
        b->begun = true;
        b->base_ns = t_ns - shown_ns;
        b->n_rounds = 0;
        b->late_ns = b->ahead_ns = b->took_ns = 0;
    } else if (!b->paced) {
        look_for_bursts(b, step_ns, t_ns - b->t_last_ns);
    }
    if (b->paced && !was_paced)
        b->base_ns = t_ns - shown_ns;
    b->t_last_ns = t_ns;
    b->shown_last_ns = shown_ns;
    return b->paced ? pace(b, shown_ns, step_ns, t_ns) : t_ns;
}
