#include "video/timeline.h"

#include <errno.h>
#include <libavutil/common.h>
#include <stdlib.h>

#define S_NS INT64_C(1000000000)
#define BACK_NS S_NS        /* times that go back by more are those of another recording */
#define NEAR_NS (10 * S_NS) /* what streams of one recording are apart, at most */
#define SKEW_NS S_NS        /* what their ends are */

void timeline_finish(struct timeline *t)
{
    free(t->places);
}

/* Makes places for all streams up to number @i. */
static int make_places(struct timeline *t, unsigned i)
{
    struct timeline_place *more;

    if (i < t->n_places)
        return 0;
    more = realloc(t->places, (i + 1) * sizeof(*more));
    if (!more)
        return -ENOMEM;
    t->places = more;
    while (t->n_places <= i)
        more[t->n_places++] = (struct timeline_place){.t_last_ns = TIMELINE_NO_TIME};
    return 0;
}

static bool is_near(int64_t a_ns, int64_t b_ns, int64_t limit_ns)
{
    const int64_t d = av_sat_sub64(a_ns, b_ns);

    return d < limit_ns && d > -limit_ns;
}

/* Whether another stream of the same recording went on meanwhile. */
static bool is_pause(const struct timeline *t, const struct timeline_place *s, int64_t t_ns)
{
    for (unsigned i = 0; i < t->n_places; i++) {
        const struct timeline_place *o = &t->places[i];

        if (o != s && o->part == s->part && o->t_last_ns != TIMELINE_NO_TIME &&
            t_ns > av_sat_sub64(o->t_last_ns, NEAR_NS) &&
            t_ns < av_sat_add64(av_sat_sub64(o->t_end_ns, o->shift_ns), NEAR_NS))
            return true;
    }
    return false;
}

static bool is_other_recording(const struct timeline *t, const struct timeline_place *s,
                               int64_t t_ns)
{
    const int64_t pause_ns = av_sat_sub64(av_sat_add64(t_ns, s->shift_ns), s->t_end_ns);

    return av_sat_sub64(t_ns, s->t_last_ns) < -BACK_NS ||
           (pause_ns > t->on_ns && !is_pause(t, s, t_ns));
}

/* The stream goes on with another recording: one that another stream has begun, or the next. The
 * pictures go on without a gap, and sound goes by them, or a little more would be between the two
 * with each recording. */
static void change(struct timeline *t, struct timeline_place *s, bool leads, int64_t t_ns)
{
    const int64_t own_ns = av_sat_sub64(s->t_end_ns, t_ns);

    if (s->part == t->part || !is_near(av_sat_add64(t_ns, t->shift_ns), t->t_end_ns, NEAR_NS)) {
        t->part++;
        t->shift_ns = own_ns;
        if (t_ns > s->t_last_ns && !t->cut_ns) {
            t->cut_ns = av_sat_sub64(t_ns, s->t_last_ns);
            t->t_cut_ns = s->t_end_ns;
        }
    } else if (leads && is_near(own_ns, t->shift_ns, SKEW_NS)) {
        t->shift_ns = own_ns;
    }
    s->part = t->part;
}

int timeline_follow(struct timeline *t, const struct timeline_packet *p, int64_t *ret_shift_ns)
{
    struct timeline_place *s;
    int r = make_places(t, p->stream);

    if (r)
        return r;
    s = &t->places[p->stream];
    if (p->t_ns == TIMELINE_NO_TIME || !p->steady) {
        *ret_shift_ns = p->steady ? s->shift_ns : t->shift_ns;
        return 0;
    }
    if (s->t_last_ns == TIMELINE_NO_TIME)
        s->part = t->part;
    else if (is_other_recording(t, s, p->t_ns))
        change(t, s, p->leads, p->t_ns);
    if (s->part == t->part)
        s->shift_ns = t->shift_ns;
    s->t_last_ns = p->t_ns;
    s->t_end_ns = av_sat_add64(av_sat_add64(p->t_ns, s->shift_ns), p->long_ns);
    if (s->part == t->part)
        t->t_end_ns = s->t_end_ns;
    *ret_shift_ns = s->shift_ns;
    return 0;
}
