#include "filter/thread_count.h"

#include <math.h>

#define AIM (1.0 / 3.0) /* of the room */
#define FEWER 0.7       /* of that: what fewer threads must hold */

static int change(struct thread_count *t, double n, int most)
{
    *t = (struct thread_count){.n = n < 1.0 ? 1 : n < most ? (int)n : most};
    return t->n;
}

int thread_count_step(struct thread_count *t, int most, int64_t filter_ns, int64_t room_ns,
                      bool limited)
{
    const double aim = AIM * (double)room_ns;
    double fewer;

    if (limited || room_ns <= 0 || t->n < 1 || t->n > most)
        return change(t, most, most);
    if ((double)filter_ns > aim)
        return change(t, ceil(t->n * (double)filter_ns / aim), most);
    if (filter_ns > t->longest_ns)
        t->longest_ns = filter_ns;
    if (++t->n_frames < THREAD_COUNT_FRAMES)
        return t->n;
    fewer = ceil(t->n * (double)t->longest_ns / (FEWER * aim));
    return change(t, fewer < t->n ? fewer : t->n, most);
}
